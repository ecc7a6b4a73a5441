"""What a question asks of tables, word by word: how many, the average of, the most, the top 5, per, more than.

In: the text of a question and its words. Out: Marks, each with its place. What they are asked of is for `asking` to find.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from assistant.backends.offline.tables.kinds import HOW, PAYING, PAYING_ASKED, SCALES, Scale
from assistant.backends.offline.tables.mark_words import (
    COMPARISONS,
    DIRECTIONS,
    EXTREMES,
    LIMIT,
    LOW_SIDES,
    PLAIN,
    RATED_SIDES,
    SMALL_NUMBER,
    SOME,
    WITH_LIMIT,
)
from assistant.backends.offline.tables.naming import Token
from assistant.backends.offline.tables.numerals import SMALL, value_of

Kind = Literal[
    "order", "aggregate", "count", "most", "limit", "group", "distinct", "compare", "not", "ask", "share", "how", "paying", "versus"
]


@dataclass(frozen=True, slots=True)
class Mark:
    """Words `first` to `last` that ask.

    what: the function of an aggregate, the operator of a comparison, the direction of an order, the text of others. high: which
    end a superlative or limit wants. count: of a limit. numbers: of a comparison. quality: words of columns that a superlative
    means by itself.
    """

    kind: Kind
    first: int
    last: int
    what: str = ""
    high: bool = True
    count: int = 0
    numbers: tuple[float, ...] = ()
    quality: tuple[str, ...] = ()


_PAYING_VERB = re.compile(r"\w+")


def find_marks(text: str, tokens: Sequence[Token], *, language: str) -> list[Mark]:
    """All marks of a text, by place; where two overlap, the one that is tried first stays. language: of how numbers are written."""
    finder = _Finder(text, tokens, language)
    finder.find_orders_and_comparisons()
    finder.find_limits()
    finder.find_superlatives()
    finder.find_adjectives()
    for kind, what, pattern in PLAIN:
        for match in finder.matches(pattern):
            finder.add(match, Mark(cast("Kind", kind), 0, 0, what or match[0]))
    return sorted(finder.marks, key=lambda mark: mark.first)


class _Finder:
    """The marks of one text. What stands in quotation marks asks nothing."""

    def __init__(self, text: str, tokens: Sequence[Token], language: str) -> None:
        self.tokens, self.language = tokens, language
        self.marks: list[Mark] = []
        lowered = text.lower() if len(text.lower()) == len(text) else text
        quoted = {place for token in tokens if token.quoted for place in range(token.start, token.end)}
        self._lowered = "".join(" " if place in quoted else char for place, char in enumerate(lowered))

    def matches(self, pattern: str) -> list[re.Match[str]]:
        """Where a pattern stands."""
        return list(re.finditer(pattern, self._lowered, re.MULTILINE))

    def add(self, match: re.Match[str], mark: Mark) -> None:
        """Keep a mark, with the words that it covers, where none of them is one already."""
        inside = [i for i, token in enumerate(self.tokens) if token.start < match.end() and token.end > match.start()]
        if inside and not any(each.first <= inside[-1] and inside[0] <= each.last for each in self.marks):
            self.marks.append(Mark(mark.kind, inside[0], inside[-1], mark.what, mark.high, mark.count, mark.numbers, mark.quality))

    def find_orders_and_comparisons(self) -> None:
        """Find "from highest to lowest", "more than 400,000", "between 5 and 10"."""
        for what, pattern in DIRECTIONS:
            for match in self.matches(pattern):
                self.add(match, Mark("order", 0, 0, what))
        for pattern, operator in COMPARISONS:
            for match in self.matches(pattern):
                written = [match[name] for name in ("number", "other") if name in match.re.groupindex]
                numbers = [number for text in written if (number := read_number(text, language=self.language)) is not None]
                if len(numbers) == len(written):
                    kind = next((scale.kind for scale in SCALES if _compares(scale, match[0])), ())
                    self.add(match, Mark("compare", 0, 0, operator, numbers=tuple(numbers), quality=kind))

    def find_limits(self) -> None:
        """Find "top 5", "the last 3"."""
        for match in self.matches(LIMIT):
            side = match["side"]
            quality = ("rating", "score") if side in RATED_SIDES else ()
            self.add(match, Mark("limit", 0, 0, side, side not in LOW_SIDES, count_of(match["n"]), quality=quality))

    def find_superlatives(self) -> None:
        """Find "slowest", "most", "the 3 highest", "four … with the fewest"."""
        ordered = any(mark.kind == "order" for mark in self.marks)
        for scale in SCALES:
            for words, high in ((scale.highest, True), (scale.lowest, False)):
                for match in self.matches(rf"\b(?:{words})\b") if words else ():
                    if not (ordered and match[0] in {"first", "zuerst"}):  # "best first" is an order
                        self.add(match, Mark("most", 0, 0, match[0], high, quality=scale.kind))
        for pattern, high in EXTREMES:
            for match in self.matches(pattern):
                self.add(match, Mark("most", 0, 0, match[0], high))
        for match in self.matches(WITH_LIMIT):
            self.add(match, Mark("limit", 0, 0, "", count=count_of(match["n"])))
        for mark in [mark for mark in self.marks if mark.kind == "most"]:
            for place in (mark.first - 1, mark.last + 1):
                if 0 <= place < len(self.tokens) and re.fullmatch(SMALL_NUMBER, self.tokens[place].lower):
                    count = count_of(self.tokens[place].lower)
                    self.marks.append(Mark("limit", place, place, "", high=mark.high, count=count))
                    break
        self._find_some()

    def _find_some(self) -> None:
        """Find "which three …", where an order is asked for that says no number."""
        kinds = {mark.kind for mark in self.marks}
        for match in self.matches(SOME) if "most" in kinds and "limit" not in kinds else ():
            place = next(i for i, token in enumerate(self.tokens) if token.start == match.start("n"))
            if not any(mark.first <= place <= mark.last for mark in self.marks):
                self.marks.append(Mark("limit", place, place, "", count=count_of(match["n"])))

    def find_adjectives(self) -> None:
        """Find "how slow", and the verbs of paying."""
        for scale in SCALES:
            for match in self.matches(rf"{HOW}(?:{scale.plain})\b") if scale.plain else ():
                self.add(match, Mark("how", 0, 0, match[0], quality=scale.kind))
        for match in self.matches(PAYING):
            self.add(match, Mark("paying", 0, 0, match[0]))
        for match in self.matches(PAYING_ASKED):
            verb = _PAYING_VERB.match(match.string, match.end())
            if verb:
                self.add(verb, Mark("paying", 0, 0, verb[0]))


def count_of(text: str) -> int:
    """A small number in digits or as a word."""
    return int(text) if text.isdigit() else SMALL[text]


def _compares(scale: Scale, text: str) -> bool:
    patterns = [pattern for pattern in (scale.higher, scale.lower) if pattern]
    return any(re.search(rf"\b(?:{pattern})\b", text) for pattern in patterns)


def read_number(text: str, *, language: str) -> float | None:
    """A number as people write it: 400,000, 400.000 (German), 1.5, 2k, 3 million, ten thousand; None where it is none."""
    match = re.fullmatch(r"([-−]?)[$€£]?\s?(\d[\d.,]*)\s?(k|thousand|tsd|m|million|mio)?", text.strip().lower())
    if not match:
        return value_of(text)
    digits = match[2].strip(".,")
    group, point = (".", ",") if language == "de" else (",", ".")
    if re.fullmatch(rf"\d{{1,3}}(?:\{group}\d{{3}})+(?:\{point}\d+)?", digits):
        digits = digits.replace(group, "")
    digits = digits.replace(",", ".")
    if digits.count(".") > 1:
        return None
    scale = {"k": 1e3, "thousand": 1e3, "tsd": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6}.get(match[3] or "", 1.0)
    return float(digits) * scale * (-1 if match[1] else 1)
