"""The words by which people ask of tables: how many, the average of, the most, the top 5, per, more than; English and German.

In: the text of a question and its words. Out: Marks, each with its place. What they are asked of is for `reading` to find.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.backends.offline.tables.linking import Token

Kind = Literal["order", "aggregate", "count", "most", "limit", "group", "distinct", "compare", "not", "ask", "share"]

_NUMBER_WORDS = {
    word: number
    for number, words in enumerate(
        "one|eins two|zwei three|drei four|vier five|fünf six|sechs seven|sieben eight|acht nine|neun ten|zehn".split(), 1
    )
    for word in words.split("|")
} | {"twelve": 12, "zwölf": 12, "fifteen": 15, "twenty": 20, "zwanzig": 20, "fifty": 50, "hundred": 100}
_N = rf"(?P<n>\d{{1,3}}|{'|'.join(_NUMBER_WORDS)})"
_HIGH = "most highest largest biggest greatest maximum meiste[nrs]? höchste[nrs]? größte[nrs]? höchster"
_LOW = "least fewest lowest smallest wenigste[nrs]? niedrigste[nrs]? kleinste[nrs]? geringste[nrs]?"
# Superlatives that say what they compare: direction, words of the columns they may mean.
_QUALITIES: tuple[tuple[str, bool, str], ...] = (
    ("slowest|langsamste[nrs]?", True, "time duration latency response elapsed"),
    ("fastest|quickest|schnellste[nrs]?", False, "time duration latency response elapsed"),
    ("longest|längste[nrs]?", True, "length duration time elapsed"),
    ("shortest|kürzeste[nrs]?", False, "length duration time elapsed"),
    ("oldest|earliest|älteste[nrs]?|früheste[nrs]?", False, "date year created introduced founded birth time"),
    (
        "newest|latest|most recent(?:ly)?|youngest|neueste[nrs]?|jüngste[nrs]?|neusten?",
        True,
        "date year created introduced founded birth time",
    ),
    ("cheapest|billigste[nrs]?|günstigste[nrs]?", False, "price cost amount fare fee"),
    ("most expensive|priciest|costliest|teuerste[nrs]?", True, "price cost amount fare fee"),
    ("heaviest|schwerste[nrs]?", True, "weight mass"),
    ("lightest|leichteste[nrs]?", False, "weight mass"),
    ("tallest|höchstgelegene[nrs]?", True, "height altitude elevation"),
    ("best|highest rated|top rated|beste[nrs]?", True, "rating score grade punctuality"),
    ("worst|lowest rated|schlechteste[nrs]?", False, "rating score grade punctuality"),
    ("most populous|most populated", True, "population"),
    ("least populous|least populated", False, "population"),
)
_UP = "more|greater|higher|larger|longer|bigger|older|heavier|later|mehr|größer|höher|länger"
_DOWN = "less|fewer|lower|smaller|shorter|faster|lighter|weniger|kleiner|kürzer|niedriger"
_NUMBER = r"(?P<number>[-−]?[$€£]?\s?\d[\d.,]*\d(?:\s?(?:k|m|million|thousand|mio|tsd)\b)?|[-−]?[$€£]?\s?\d(?:\s?(?:k|m|million|thousand)\b)?)"
_COMPARING: tuple[tuple[str, str], ...] = (
    (rf"\b(?:no|not) (?:{_UP}) than\s+{_NUMBER}", "<="),
    (rf"\b(?:no|not) (?:{_DOWN}) than\s+{_NUMBER}", ">="),
    (rf"\b(?:(?:{_UP})(?: in [a-z]+)? (?:than|als)|over|above|exceed(?:s|ing|ed)?|über)\s+{_NUMBER}", ">"),
    (rf"\b(?:(?:{_DOWN})(?: in [a-z]+)? (?:than|als)|under|below|unter)\s+{_NUMBER}", "<"),
    (rf"\b(?:at least|at minimum|mindestens|a minimum of|minimum of)\s+{_NUMBER}", ">="),
    (rf"\b(?:at most|up to|at maximum|höchstens|maximal|a maximum of)\s+{_NUMBER}", "<="),
    (rf"\b(?:between|zwischen)\s+{_NUMBER}\s+(?:and|und|to|-)\s+{_NUMBER.replace('number', 'other')}", "between"),
    (rf"{_NUMBER}\s+(?:or more|or above|or higher|oder mehr)\b", ">="),
    (rf"{_NUMBER}\s+(?:or less|or fewer|or below|or lower|oder weniger)\b", "<="),
    (rf"(?:>=|≥)\s*{_NUMBER}", ">="),
    (rf"(?:<=|≤)\s*{_NUMBER}", "<="),
    (rf">\s*{_NUMBER}", ">"),
    (rf"<\s*{_NUMBER}", "<"),
    (rf"\b(?:exactly|equal(?:s)? to|equal|equals|genau|of exactly)\s+{_NUMBER}", "="),
)
_DIRECTIONS = (
    ("down", r"\b(?:in )?(?:descending|absteigend\w*)(?: order)?\b"),
    ("up", r"\b(?:in )?(?:ascending|alphabetical\w*|aufsteigend\w*|chronological\w*)(?: order)?\b"),
    ("down", r"\b(?:from )?(?:the )?(?:high|larg|great|bigg|long|new|lat|old)(?:e?st|est) to (?:the )?(?:low|small|short|old|earli|new|young)(?:e?st|est)\b|\bmost to (?:the )?(?:least|fewest)\b"),
    ("up", r"\b(?:from )?(?:the )?(?:low|small|short|earli)(?:e?st|est) to (?:the )?(?:high|larg|great|bigg|long|lat|new)(?:e?st|est)\b|\b(?:least|fewest) to (?:the )?most\b"),
    ("down", r"\b(?:highest|largest|longest|newest|latest|most recent)\b(?=(?: \w+){0,4} first\b)"),
    ("up", r"\b(?:lowest|smallest|shortest|earliest|oldest)\b(?=(?: \w+){0,4} first\b)"),
)  # fmt: skip
_PATTERNS: tuple[tuple[Kind, str, str], ...] = (
    ("aggregate", "avg", r"(?<!do )(?<!does )\b(?:average[sd]?|(?:arithmetic )?mean(?! by\b|\?|$)|avg|durchschnitt\w*|mittelwert\w*|mittlere\w*|im schnitt)\b"),
    ("aggregate", "median", r"\bmedian\w*"),
    ("aggregate", "sum", r"\b(?:sums?(?: of)?|totals?|in total|combined|together|altogether|summe\w*|insgesamt|zusammen|gesamt\w*)\b"),
    ("aggregate", "min", r"\b(?:minimum|minimal\w*|min)\b"),
    ("aggregate", "max", r"\b(?:maximum|maximal\w*|max)\b"),
    ("count", "", r"\b(?:how many|number of|no\. of|counts? of|count(?= (?:the|all|how)\b)|^count\b|counts?|wie ?viele|anzahl(?: der| von| an)?|zahl der)\b"),
    ("group", "", r"\b(?:monthly|quarterly|yearly|annual(?:ly)?|weekly|daily|hourly|per|for (?:each|every|all(?= \w+s\b.*\brespective))|in each|of each|by each|at each|from each|each|every|group(?:ed)? by|broken down by|by|across|for different|je|pro|nach|für jede[nrsm]?|jede[nrsm]?)\b"),
    ("distinct", "", r"\b(?:distinct|different|unique|verschiedene[nrs]?|unterschiedliche[nrs]?)\b"),
    ("not", "", r"\b(?:not|n['’]t|no|without|except|excluding|other than|never|nicht|kein\w*|ohne|außer)\b"),
    ("ask", "", r"\b(?:which|what|who|whose|list|show|give|return|find|display|name|get|welche[nrsm]?|was|wer|wessen|zeige?|liste|nenne)\b"),
    ("share", "", r"\b(?:ratio of|ratio between|verhältnis (?:von|der)|quotient of)(?: the)?\b"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark:
    """Words `first` to `last` that ask.

    what: the function of an aggregate, the operator of a comparison, the text of others. high: which end a superlative or limit
    wants. count: of a limit. numbers: of a comparison. quality: words of columns that a superlative means by itself.
    """

    kind: Kind
    first: int
    last: int
    what: str = ""
    high: bool = True
    count: int = 0
    numbers: tuple[float, ...] = ()
    quality: tuple[str, ...] = ()


def find_marks(text: str, tokens: Sequence[Token], *, language: str) -> list[Mark]:
    """All marks of a text, by place; where two overlap, the one that is tried first stays. language: of how numbers are written."""
    # An unquoted text of the same length: names in quotation marks ask nothing.
    lowered = "".join(
        " " if any(token.quoted and token.start <= place < token.end for token in tokens) else char
        for place, char in enumerate(text.lower() if len(text.lower()) == len(text) else text)
    )
    marks: list[Mark] = []

    def add(match: re.Match[str], kind: Kind, what: str = "", **more: object) -> None:
        inside = [index for index, token in enumerate(tokens) if token.start < match.end() and token.end > match.start()]
        if inside and not any(mark.first <= inside[-1] and inside[0] <= mark.last for mark in marks):
            marks.append(Mark(kind, inside[0], inside[-1], what, **more))  # type: ignore[arg-type]

    for what, pattern in _DIRECTIONS:
        for match in re.finditer(pattern, lowered):
            add(match, "order", what)
    for pattern, operator in _COMPARING:
        for match in re.finditer(pattern, lowered):
            numbers = tuple(number for name in ("number", "other") if (number := _group(match, name, language)) is not None)
            if len(numbers) == (2 if operator == "between" else 1):
                add(match, "compare", operator, numbers=numbers)
    for match in re.finditer(rf"\b(?P<side>top|first|bottom|last|best|worst|ersten?|obersten|letzten|besten)\s+{_N}\b", lowered):
        high = match["side"] not in {"bottom", "worst", "last"}
        quality = ("rating", "score") if match["side"] in {"best", "worst", "besten"} else ()
        add(match, "limit", match["side"], high=high, count=count_of(match["n"]), quality=quality)
    for words, high, quality in _QUALITIES:
        for match in re.finditer(rf"\b(?:{words})\b", lowered):
            add(match, "most", match[0], high=high, quality=tuple(quality.split()))
    for words, high in ((_HIGH, True), (_LOW, False)):
        for match in re.finditer(
            rf"\b(?:{words.replace(' ', '|')})\b(?: common| frequent(?:ly)?| often| frequently used)?", lowered
        ):
            add(match, "most", match[0], high=high)
    for match in re.finditer(rf"(?<![\w.,/-]){_N}(?=\s+(?:\w+\s+){{0,3}}?(?:with|mit)\b)", lowered):
        add(match, "limit", "", count=count_of(match["n"]))
    for mark in [mark for mark in marks if mark.kind == "most"]:
        for place in (mark.first - 1, mark.last + 1):  # "the 3 slowest", "the slowest 3"
            if 0 <= place < len(tokens) and re.fullmatch(_N, tokens[place].lower):
                marks.append(Mark("limit", place, place, "", high=mark.high, count=count_of(tokens[place].lower)))
                break
    for kind, what, pattern in _PATTERNS:
        for match in re.finditer(pattern, lowered, re.MULTILINE):
            add(match, kind, what or match[0])
    return sorted(marks, key=lambda mark: mark.first)


def count_of(text: str) -> int:
    """A small number in digits or as a word."""
    return int(text) if text.isdigit() else _NUMBER_WORDS[text]


def _group(match: re.Match[str], name: str, language: str) -> float | None:
    try:
        text = match[name]
    except IndexError:
        return None
    return read_number(text, language=language)


def read_number(text: str, *, language: str) -> float | None:
    """A number as people write it: 400,000, 400.000 (German), 1.5, 2k, 3 million; None where it is none."""
    match = re.fullmatch(r"([-−]?)[$€£]?\s?(\d[\d.,]*)\s?(k|thousand|tsd|m|million|mio)?", text.strip().lower())
    if not match:
        return None
    digits = match[2].strip(".,")
    group, point = (".", ",") if language == "de" else (",", ".")
    if re.fullmatch(rf"\d{{1,3}}(?:\{group}\d{{3}})+(?:\{point}\d+)?", digits):
        digits = digits.replace(group, "")
    digits = digits.replace(",", ".")
    if digits.count(".") > 1:
        return None
    scale = {"k": 1e3, "thousand": 1e3, "tsd": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6}.get(match[3] or "", 1.0)
    return float(digits) * scale * (-1 if match[1] else 1)
