"""Whether the numbers of an answer stand in what it was made from.

In: the answer with everything blanked that is not its own figure (citations, verified quotations); texts that may be relied on.
Out: a Figure for each number, found or not. 1,234.5 and 1.234,5 and 1 234.5 are one number, 3.40 and 3.4 too; a date is found
in any order and with the month as a word; a version such as 3.12.1 or a time is found as a whole. A separator that may group or
divide ("1.234") is read both ways on both sides. What a source says in words ("three", 十二) is found for a figure; number words
of the answer are not checked. Nothing is converted: 300 s does not stand for 5 minutes. What SQL or arithmetic gave may be rounded
(262.4 for 262.38461) and a share of it said in per cent: `computed`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assistant.citations.computed import Computed, is_computed, numbers, own_words

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio",
            "february feb februar février febrero febbraio",
            "march mar märz mars marzo",
            "april apr avril abril aprile",
            "may mai mayo maggio",
            "june jun juni juin junio giugno",
            "july jul juli juillet julio luglio",
            "august aug août agosto",
            "september sep sept septembre septiembre settembre",
            "october oct oktober okt octobre octubre ottobre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre diciembre dicembre",
        ),
        1,
    )
    for name in names.split()
}
_WORDS = {
    name: number
    for number, names in enumerate(
        (
            "zero null",
            "one eins",
            "two zwei both",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn",
            "eleven elf",
            "twelve zwölf dozen",
            "thirteen dreizehn",
            "fourteen vierzehn",
            "fifteen fünfzehn",
            "sixteen sechzehn",
            "seventeen siebzehn",
            "eighteen achtzehn",
            "nineteen neunzehn",
            "twenty zwanzig",
        )
    )
    for name in names.split()
} | {"thirty": 30, "dreißig": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100, "thousand": 1000}
_HAN_DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_HAN = re.compile(f"[{''.join((*_HAN_DIGITS, *_HAN_UNITS))}万萬]{{1,12}}")
_NAMED = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"\w+(?:[.,:'’/@+\-–_]\w+)*")
_SCRAMBLED = re.compile(r"[a-z]\d+[a-z]+\d|\d[a-z]+\d+[a-z]+\d", re.IGNORECASE)
_ATOM = re.compile(
    rf"""
      (?P<iso>(?<!\d)(?P<iy>\d{{4}})(?:[-/._](?=\d{{1,2}}[-/._]\d)|年\s?)(?P<im>\d{{1,2}})(?:[-/._]|月\s?)(?P<id>\d{{1,2}})(?![\d]|[.,]\d))
    | (?P<local>(?<![\d.,])(?P<la>\d{{1,2}})[./-](?P<lb>\d{{1,2}})[./-](?P<ly>\d{{4}})(?![\d]|[.,]\d))
    | (?P<dmy>(?<![\d.,])(?P<dd>\d{{1,2}})(?:\.|st|nd|rd|th)?\ (?:of\ |de\ )?(?P<dm>{_MONTH})\b\.?
        (?:(?:,|\ de)?\ (?P<dy>\d{{4}})(?!\d))?)
    | (?P<mdy>\b(?P<mm>{_MONTH})\.?\ (?P<md>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.,:]?\d)(?:,?\ (?P<my>\d{{4}})(?!\d))?)
    | (?P<time>(?<![\d:.,])\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?![\d:])(?:\s?[ap]\.?m\b)?)
    | (?P<spaced>(?<![\d.,])\d{{1,3}}(?:[ \u00a0\u2009\u202f]\d{{3}})+(?:[.,]\d+)?(?!\d))
    | (?P<number>(?:(?<![\w.)\]])\.)?\d+(?:[.,'’٫٬]\d+)*)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’٬])\d{3})(?:\1\d{3})*(?:(?!\1)[.,٫](\d+))?")
_LAKHS = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_DECIMAL = re.compile(r"(\d*)[.,٫](\d+)")
_SIGNED = re.compile(r"[ \t\u00a0(\[=:|,;/'\"“„][-\u2212]")
_LISTED = re.compile(
    r"^[ \t>#*_|+-]{0,40}\(?(?:(?:step|option|part|schritt|teil|étape|paso)[ \t]+)?(\d{1,3})"
    r"(?:[.)](?=\D|$)|:(?!\d)|[ \t]*\||(?=[ \t]+[–—-][ \t]))",
    re.MULTILINE | re.IGNORECASE,
)
_PER_CENT = re.compile(r"[ \t\u00a0\u202f]?(?:%|٪|per ?cent\b|prozent\b|pour ?cent\b|por ?ciento\b)", re.IGNORECASE)
# Values of results that name things in the conversation, and hold no fact.
_HANDLES = frozenset({"key", "set"})


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of an answer, characters `start` to `end`."""

    start: int
    end: int
    text: str
    found: bool


class Facts:
    """All numbers of the texts that an answer may rely on."""

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._numbers: set[str] = set()
        self._dates: set[tuple[int, int, int]] = set()
        self._days: set[tuple[int, int]] = set()
        self._computed = Computed()

    def add(self, text: str) -> None:
        """Take in the numbers of a text."""
        text = _western(text)
        for token in _TOKEN.finditer(text):
            if any(character.isdigit() for character in token[0]):
                self._tokens.add(_folded(token[0]))
        for word in _NAMED.findall(text):
            if word.lower() in _WORDS:
                self._numbers.add(str(_WORDS[word.lower()]))
        self._numbers.update(str(_han(match[0])) for match in _HAN.finditer(text))
        for atom in _atoms(text):
            self._take(atom, text)

    def add_result(self, content: str) -> None:
        """Take in the values of a tool result, JSON or plain text."""
        if is_computed(content):
            self._add_computed(content)
            return
        for value in values(content, without=_HANDLES):
            self.add(value)

    def add_rows(self, text: str) -> None:
        """Take in the rows of a query, or the value of a calculation, as evidence keeps them."""
        self.add(text)
        self._computed.add_from(text)

    def _add_computed(self, content: str) -> None:
        for value in numbers(content):
            if isinstance(value, Decimal):
                self._computed.add(value)
            # After a space a minus sign is one.
            self.add(f" {value:f}" if isinstance(value, Decimal) else f" {value}")

    def _take(self, atom: re.Match[str], text: str) -> None:
        dates = _dates(atom)
        for year, month, day in dates:
            self._numbers |= {str(month), str(day), f"{month:02}", f"{day:02}"}
            if year:
                self._numbers.add(str(year))
                self._dates.add((year, month, day))
            else:
                self._days.add((month, day))
        if atom["time"]:
            self._numbers |= _clock(atom[0])
        elif not dates:
            readings = _readings(atom[0])
            self._numbers |= readings | {part for part in re.split(r"\D+", atom[0]) if part and atom["spaced"]}
            self._numbers |= {reading.lstrip("0") or "0" for reading in readings if reading.isdigit()}
            if _is_negative(text, atom.start()):
                self._numbers |= {f"-{reading}" for reading in readings}

    def has_token(self, token: str) -> bool:
        """Whether a word with digits in it stands in a text as it is."""
        return _folded(token) in self._tokens

    def has(self, atom: re.Match[str], text: str) -> bool:
        """Whether a number stands in a text, in any of its readings."""
        dates = _dates(atom)
        if dates:
            return any(self._has_date(*date) for date in dates) or (bool(atom["local"]) and self.has_token(atom[0]))
        if atom["time"]:
            return bool(_clock(atom[0]) & self._numbers)
        sign = "-" if _is_negative(text, atom.start()) else ""
        if any(sign + reading in self._numbers for reading in _readings(atom[0])):
            return True
        percent = _PER_CENT.match(text, atom.end()) is not None
        if any(self._computed.holds(written, negative=bool(sign), percent=percent) for written in _as_written(atom[0])):
            return True
        return bool(atom["spaced"]) and all(part in self._numbers for part in re.split(r"[ \u00a0\u2009\u202f]", atom[0]))

    def _has_date(self, year: int, month: int, day: int) -> bool:
        if (year, month, day) in self._dates:
            return True
        if year:
            return (month, day) in self._days and str(year) in self._numbers
        return (month, day) in self._days or any(date[1:] == (month, day) for date in self._dates)


def check_figures(answer: str, facts: Facts) -> list[Figure]:
    """Every number of an answer, by position. The numbering of lists, and of tables' rows, is none."""
    answer = _western(answer)
    skipped = _list_numbers(answer)
    # Of names alone: whether a mere number has its sign, or a date its year, is told by its parts.
    named = (token for token in _TOKEN.finditer(answer) if _NAMED.search(token[0]))
    whole = {token.start(): token.end() for token in named if facts.has_token(token[0])}
    figures: list[Figure] = []
    covered = 0
    tokens = iter(sorted(whole.items()))
    token = next(tokens, None)
    for atom in _atoms(answer, scrambled=True):
        while token is not None and token[1] <= atom.start():
            token = next(tokens, None)
        if atom.start() in skipped or atom.start() < covered:
            continue
        # A word such as ARC-4012 that stands in a source as it is counts as one number.
        if token is not None and token[0] <= atom.start() and atom.end() <= token[1]:
            covered = token[1]
            figures.append(Figure(token[0], token[1], answer[token[0] : token[1]], found=True))
        else:
            figures.append(Figure(atom.start(), atom.end(), atom[0], facts.has(atom, answer)))
    return figures


def values(content: str, *, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """The strings and numbers of a JSON text as written, a text that is no JSON as it is; not what stands under these names, and of
    the result of a query or a calculation only what it found.
    """
    try:
        pending: list[Any] = [own_words(json.loads(content, parse_float=str, parse_int=str))]
    except (ValueError, RecursionError):
        yield content
        return
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            for name, inner in value.items():
                if name not in without:
                    pending += (inner, name)
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str):
            yield value


def _western(text: str) -> str:
    """Text with the decimal digits of all scripts as 0 to 9, each in its place."""
    if text.isascii():
        return text
    return re.sub(r"(?![0-9])\d", lambda digit: str(unicodedata.decimal(digit[0])), text)


def _folded(token: str) -> str:
    return token.casefold().replace("–", "-").replace("’", "'")


def _atoms(text: str, *, scrambled: bool = False) -> Iterator[re.Match[str]]:
    """The numbers of a text; without those inside names such as a1b2c3, which would lend their digits to anything."""
    names = iter([] if scrambled else [match.span() for match in re.finditer(r"\w+", text) if _SCRAMBLED.search(match[0])])
    name = next(names, None)
    for atom in _ATOM.finditer(text):
        while name is not None and name[1] <= atom.start():
            name = next(names, None)
        if name is None or not name[0] <= atom.start():
            yield atom


def _dates(atom: re.Match[str]) -> list[tuple[int, int, int]]:
    """The days that a date may mean, as (year, month, day); year 0 where it names none."""
    if atom["iso"]:
        candidates = [(int(atom["iy"]), int(atom["im"]), int(atom["id"]))]
    elif atom["local"]:
        one, two, year = int(atom["la"]), int(atom["lb"]), int(atom["ly"])
        candidates = [(year, two, one), (year, one, two)]
    elif atom["dmy"]:
        candidates = [(int(atom["dy"] or 0), _MONTHS[atom["dm"].lower()], int(atom["dd"]))]
    elif atom["mdy"]:
        candidates = [(int(atom["my"] or 0), _MONTHS[atom["mm"].lower()], int(atom["md"]))]
    else:
        return []
    return [date for date in candidates if 1 <= date[1] <= 12 and 1 <= date[2] <= 31]


def _clock(text: str) -> set[str]:
    """The ways of writing a time: without seconds, and of twelve hours; the hour alone when it is full."""
    hour, minute, *second = (int(part) for part in re.findall(r"\d+", text))
    if text[-1:] in "mM":
        hour = hour % 12 + (12 if "p" in text.lower() else 0)
    ways = {f"{hour}:{minute:02}"}
    if second:
        ways = {f"{hour}:{minute:02}:{second[0]:02}"} | ways
    elif not minute:
        ways.add(str(hour))
    return ways


def _readings(text: str) -> set[str]:
    """The numbers that a notation may mean, in one spelling each; a code with leading zeros or several points as it is."""
    text = re.sub(r"\s", "'", text)
    if text.isdigit():
        return {text}
    readings = {text}
    grouped = _GROUPED.fullmatch(text)
    if grouped:
        whole = re.sub(r"\D", "", text[: grouped.start(2) - 1] if grouped[2] else text)
        readings.add(_number(whole, grouped[2] or ""))
    if _LAKHS.fullmatch(text):
        whole, _, fraction = text.replace(",", "").partition(".")
        readings.add(_number(whole, fraction))
    if decimal := _DECIMAL.fullmatch(text):
        # Three digits may be a group: their last zero is not dropped.
        readings.add(f"{int(decimal[1])}.{decimal[2]}" if grouped else _number(decimal[1], decimal[2]))
    return readings


def _as_written(text: str) -> Iterator[Decimal]:
    """The numbers that a notation may mean, with as many decimal places as it has."""
    text = re.sub(r"\s", "'", text)
    if text.isdigit():
        yield Decimal(text)
        return
    if grouped := _GROUPED.fullmatch(text):
        whole = re.sub(r"\D", "", text[: grouped.start(2) - 1] if grouped[2] else text)
        yield Decimal(f"{whole}.{grouped[2]}" if grouped[2] else whole)
    if _LAKHS.fullmatch(text):
        yield Decimal(text.replace(",", ""))
    if decimal := _DECIMAL.fullmatch(text):
        yield Decimal(f"{decimal[1] or 0}.{decimal[2]}")


def _number(whole: str, fraction: str) -> str:
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _is_negative(text: str, at: int) -> bool:
    """Whether a sign stands before a number. At the start of a line it may as well be the mark of a list."""
    return bool(_SIGNED.fullmatch(text[max(0, at - 2) : at]))


def _list_numbers(answer: str) -> set[int]:
    """Where numbers stand that only number: 1, and those that follow one of them."""
    seen = {0}
    places = set()
    for match in _LISTED.finditer(answer):
        number = int(match[1])
        if number - 1 in seen:
            seen.add(number)
            places.add(match.start(1))
    return places


def _han(text: str) -> int:
    """A number in Chinese characters, by units (三十一) or digit by digit (二〇二六)."""
    total = section = digit = 0
    for character in text:
        if character in _HAN_DIGITS:
            digit = digit * 10 + _HAN_DIGITS[character]
        elif character in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[character]
            digit = 0
        else:
            total, section, digit = (section + digit or 1) * 10_000, 0, 0
    return total + section + digit
