"""Numbers in words, English and German: "ten", "a hundred thousand", "zweiundzwanzig", "hunderttausend".

In: a text. Out: its value. Nothing here knows what is counted.
"""

from __future__ import annotations

import re

_LINES = (
    "one eins eine einen ein", "two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben", "eight acht",
    "nine neun", "ten zehn", "eleven elf", "twelve zwölf", "thirteen dreizehn", "fourteen vierzehn", "fifteen fünfzehn",
    "sixteen sechzehn", "seventeen siebzehn", "eighteen achtzehn", "nineteen neunzehn", "twenty zwanzig",
)  # fmt: skip
_TENS = (
    "thirty dreißig dreissig", "forty vierzig", "fifty fünfzig", "sixty sechzig", "seventy siebzig", "eighty achtzig",
    "ninety neunzig",
)  # fmt: skip
_VALUES = {word: value for value, line in enumerate(_LINES, 1) for word in line.split()} | {
    word: 10 * value for value, line in enumerate(_TENS, 3) for word in line.split()
}
_SCALES = {
    **dict.fromkeys(("hundred", "hundert"), 100),
    **dict.fromkeys(("thousand", "tausend"), 1000),
    **dict.fromkeys(("million", "millions", "millionen"), 1_000_000),
}
# Words that count things by themselves; "ein" and "eine" are articles more often.
SMALL = {word: value for word, value in (_VALUES | {"hundred": 100}).items() if word not in {"ein", "eine", "einen"}}
_ATOM = "|".join(sorted((*_VALUES, *_SCALES), key=len, reverse=True))
_WORD = rf"(?:{_ATOM})(?:(?:und)?(?:{_ATOM}))*"
# "a" and "ein" only before what they count: "a hundred", "eine Million".
IN_WORDS = rf"(?:(?:an? )?{_WORD}(?:(?:[ -]| and )(?:{_WORD}))*(?!\w))(?<!\ban)(?<!\bein)(?<!\beine)(?<!\beinen)"
# "Slower than a second".
ONE_UNIT = (
    r"(?:an?|eine?)(?=\s+(?:millisecond|second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr"
    r"|kilo(?:gram)?|gram|ton|mile|kilomet(?:re|er)|met(?:re|er)|dollar|euro|pound)\b)"
)
_PARTS = re.compile(_ATOM)


def value_of(text: str) -> float | None:
    """The value of a number in words, None where it is none."""
    lowered = text.strip().lower()
    if lowered in {"a", "an", "ein", "eine"}:
        return 1.0
    if not re.fullmatch(IN_WORDS, lowered):
        return None
    whole = part = 0
    for word in _PARTS.findall(lowered):
        if word in _VALUES:
            part += _VALUES[word]
        elif _SCALES[word] == 100:
            part = max(part, 1) * 100
        else:
            whole, part = whole + max(part, 1) * _SCALES[word], 0
    return float(whole + part)
