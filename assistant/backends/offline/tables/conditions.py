"""The conditions of a question over tables: values that it names, comparisons with numbers, times, what is missing.

In: a Sentence, and Meanings, which says what a link means beside the tables already chosen. Out: Conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from assistant.backends.offline.tables.kinds import DURATION
from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.marks import Mark
from assistant.backends.offline.tables.meanings import Meanings
from assistant.backends.offline.tables.models import Condition, Scalar
from assistant.backends.offline.tables.periods import Window
from assistant.backends.offline.tables.phrases import table_phrases
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.sentence import Sentence
from assistant.backends.offline.tables.states import State
from assistant.backends.offline.tables.vocabulary import UNITS, name_words, stem, unit_said, units_in

_WORDED = (
    ("starts with", re.compile(r"\b(?:start(?:s|ing)?|begin(?:s|ning)?) with(?: the (?:letter|word|prefix))?\s*$", re.IGNORECASE)),
    ("ends with", re.compile(r"\bend(?:s|ing)? (?:with|in)(?: the (?:letter|word|suffix))?\s*$", re.IGNORECASE)),
    (
        "contains",
        re.compile(r"\b(?:contain(?:s|ing)?|includ(?:e|es|ing)|with the word|have|has)(?: the (?:word|text))?\s*$", re.IGNORECASE),
    ),
)
_LIKE = {"ends with": "contains"}  # what query_table has for it, where the end cannot be tested
_OPPOSITE = {"=": "!=", "in": "not in", ">": "<=", "<": ">=", ">=": "<", "<=": ">"}
_NEAR = 4  # words between "not" and what it denies
_SHUT = frozenset({"closed", "shut", "geschlossen", "zu"})  # the opposite of what a column of yes and no says of days
_LASTING = {"took", "takes", "take", "taken", "lasted", "dauerte", "dauern"}
_UNIT_WORDS = {"euro", "euros", "percent", "dollar", "dollars", "prozent", "pound", "pounds", "yen"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison as it is said. link: of what, None where only a unit says it. things: what is counted, "more than 3 sales"."""

    mark: Mark
    link: Link | None
    unit: str
    things: Link | None = None


def find_comparisons(sentence: Sentence, is_numeric: Callable[[Link | None], bool]) -> list[Comparison]:
    """The comparisons with numbers, each taken with what it is of."""
    found = []
    for mark in sentence.marks_of("compare"):
        sentence.take(mark)
        behind, before = sentence.after(mark.last + 1, gap=1), sentence.before(mark.first - 1, gap=2)
        unit = sentence.lower(mark.last + 1)
        link = things = None
        if isinstance(before, Link) and is_numeric(before) and not before.is_value:
            link = before
        elif unit_said(unit) and isinstance(behind, Link) and behind.last == mark.last + 1:
            pass  # "two seconds": the unit, not a column of that kind
        elif isinstance(behind, Link) and is_numeric(behind):
            link = behind
        elif isinstance(behind, Link) and not behind.is_value:
            things = behind
        if unit_said(unit) or unit in _UNIT_WORDS:
            sentence.taken.add(mark.last + 1)
        else:
            unit = ""
        sentence.take(*(each for each in (link, things) if each))
        found.append(Comparison(mark, link, unit, things))
    return found


def flags(sentence: Sentence, schema: Schema) -> Iterator[tuple[Link, Ref, Scalar, Scalar | None]]:
    """The links that mean a column of yes and no, with the two values as the column has them, None for no value."""
    for link in sentence.links:
        if link.is_value or link.candidates[0].is_table:
            continue
        ref = link.candidates[0].ref
        pair = schema.yes_and_no(ref)
        if pair is not None:
            yield link, ref, *pair


class Conditions:
    """Turns what a sentence says into tests of columns."""

    def __init__(self, sentence: Sentence, meanings: Meanings) -> None:
        self.sentence, self.meanings, self.schema = sentence, meanings, meanings.schema
        self.words = table_phrases(sentence.language)
        self.unsure: list[str] = []

    def all(self, comparisons: list[Comparison], windows: list[Window], states: list[State]) -> list[Condition]:
        """Every test, once; the tables of each are in play for the next."""
        found: list[Condition] = []
        for tests in (
            self.compared(comparisons),
            self.flagged(),
            self.named(),
            self.timed(windows),
            self.stated(states),
            self.missing(),
        ):
            for test in tests:
                found.append(test)
                self.meanings.choose(test.ref.table)
        return list(dict.fromkeys(found))

    def compared(self, comparisons: list[Comparison]) -> Iterator[Condition]:
        """Tests against numbers; those that count things are left out."""
        for each in comparisons:
            ref = self._compared_column(each)
            if each.things and not ref:
                continue
            if ref is None:
                self.unsure.append(self.words.no_column)
                continue
            scale = units_in(unit_said(each.unit), self.schema.unit(ref)) or 1.0  # "two seconds" of a column in ms
            numbers = tuple(int(number) if number.is_integer() else number for number in (n * scale for n in each.mark.numbers))
            operator = each.mark.what
            if self._is_denied(each.mark.first):
                operator = _OPPOSITE.get(operator, operator)
            said = self._written(each.mark.first, each.mark.last + (1 if each.unit else 0))
            yield Condition(ref, operator, numbers if operator == "between" else numbers[0], said)

    def _compared_column(self, each: Comparison) -> Ref | None:
        if each.link is not None:
            return self.meanings.column(each.link, numeric=True)
        in_play = [ref for table in self.meanings.in_play() for ref in self.schema.columns(table) if self.schema.is_measure(ref)]
        near = [self.sentence.lower(index) for index in range(each.mark.first - 2, each.mark.first + 2)]
        kind = each.mark.quality or (DURATION if set(near) & _LASTING else ())
        meant = self.meanings.by_quality(kind, numeric=True) if kind else None
        if each.unit and meant is None:
            said = [ref for ref in in_play if _is_in(each.unit, self.schema.unit(ref).lower())]
            alike = [ref for ref in in_play if units_in(unit_said(each.unit), self.schema.unit(ref))]
            meant = next(iter((*said, *alike)), None)
        if kind or meant:
            return meant
        if each.things is not None:
            return None
        return in_play[0] if len(in_play) == 1 else None

    def flagged(self) -> Iterator[Condition]:
        """Tests of columns that hold yes or no: "open on Saturday" over a column saturday."""
        for link, ref, yes, no in flags(self.sentence, self.schema):
            if not self.meanings.is_asked(link) and not self.sentence.is_taken(link) and self.meanings.is_reached(ref.table):
                denial = next((mark for mark in self.sentence.marks_of("not") if 0 < link.first - mark.last <= _NEAR), None)
                self.sentence.take(*([denial] if denial else []))
                value = no if bool(denial) != self._is_shut(link) else yes
                self.sentence.take(link)
                word = self.words.no if value == no else self.words.yes
                said = f"= {word}" if isinstance(value, int) else ""  # 1 and 0 say little
                yield Condition(ref, "is null" if value is None else "=", value, said)

    def _is_shut(self, link: Link) -> bool:
        """Whether "closed" is said of a flag: "closed on Saturday" over a column saturday."""
        words = range(link.first - _NEAR, link.last + 2)
        shut = [index for index in words if self.sentence.lower(index) in _SHUT and not link.first <= index <= link.last]
        self.sentence.taken.update(shut)
        return bool(shut)

    def timed(self, windows: list[Window]) -> Iterator[Condition]:
        """Tests against times."""
        for window in windows:
            ref = self._dated_column(window)
            if ref is None:
                self.unsure.append(self.words.no_dates)
            elif self.schema.is_year(ref):
                yield from _years(ref, window, self._written(window.first, window.last))
            else:
                yield from _dates(ref, window, self._written(window.first, window.last))

    def _written(self, first: int, last: int) -> str:
        return self.sentence.text[self.sentence.tokens[first].start : self.sentence.tokens[last].end]

    def _dated_column(self, window: Window) -> Ref | None:
        def dated(ref: Ref) -> bool:
            return self.schema.is_date(ref) or (self.schema.is_year(ref) and window.years)

        before = self.sentence.before(window.first - 1, gap=1)
        if isinstance(before, Link):
            said = [ref for ref in before.columns() if dated(ref)]
            if said:
                self.sentence.take(before)
                return self.meanings.nearest(said)
        free = [link for link in self.sentence.links if any(dated(ref) for ref in link.columns()) and not link.is_value]
        if free:
            self.sentence.take(free[0])
            return self.meanings.nearest([ref for ref in free[0].columns() if dated(ref)])
        for table in self.meanings.in_play():
            said = [ref for ref in self.schema.columns(table) if dated(ref)]
            if said:
                if len(said) > 1:
                    self.unsure.append(self.words.time_of.format(column=said[0].column))
                return said[0]
        return None

    def named(self) -> Iterator[Condition]:
        """Tests for the values that are named; several of one column are alternatives."""
        found: dict[tuple[Ref, str], list[Scalar]] = {}
        for link in self.sentence.links:
            if not link.is_value or self.sentence.is_taken(link):
                continue
            if self._is_explained(link):
                self.sentence.take(link)
                continue
            test = self._test(link)
            if test is None:
                continue
            self.sentence.take(link)
            found.setdefault((test.ref, test.op), []).append(test.value)  # type: ignore[arg-type]
        for (ref, operator), values in found.items():
            if len(values) == 1:
                yield Condition(ref, operator, values[0])
            elif operator in {"=", "!="}:
                yield Condition(ref, "in" if operator == "=" else "not in", tuple(dict.fromkeys(values)))
            else:
                yield from (Condition(ref, operator, value) for value in values)

    def _is_explained(self, link: Link) -> bool:
        """Whether another value follows in brackets: "Los Angeles (LAX)" names one thing twice."""
        behind = self.sentence.item(link.last + 1) if link.last + 1 < len(self.sentence.tokens) else None
        between = self.sentence.text[self.sentence.tokens[link.last].end :].lstrip()
        return isinstance(behind, Link) and behind.is_value and between.startswith("(")

    def _test(self, link: Link) -> Condition | None:
        text = self.sentence.text
        start = self.sentence.tokens[link.first].start - (1 if link.quoted else 0)
        worded = next((operator for operator, pattern in _WORDED if link.quoted and pattern.search(text[:start])), "=")
        if worded == "contains" and link.candidates:
            worded = "="
        beside = self._beside(link)
        held = [each for each in link.candidates if each.value is not None or link.quoted]
        refs = [each.ref for each in held if self.meanings.is_reached(each.ref.table)]
        if link.candidates and not refs:
            self._take_part_of_name(link)
            return None
        agreed = [ref for ref in beside if ref in refs] if beside else []
        worded_by = self.sentence.lower(link.first - 1)
        if not agreed and worded_by in {"from", "to"}:  # "from JFK to LAX" over from_airport and to_airport
            agreed = [ref for ref in refs if worded_by in name_words(ref.column)]
        ref = self.meanings.nearest(agreed or refs) if refs else None
        if ref is None and link.quoted:
            texts = [each for each in beside if self.schema.column(each).type == "text"]
            ref = self.meanings.nearest(texts) if texts else self.meanings.label()
        if ref is None:
            return None
        value: Scalar = next((each.value for each in link.candidates if each.ref == ref and each.value is not None), link.quoted)
        denied = self._is_denied(link.first)
        worded = _LIKE.get(worded, worded)
        return Condition(ref, _OPPOSITE.get(worded, worded) if denied else worded, value)

    def _take_part_of_name(self, link: Link) -> None:
        """Leave out a value of tables that nothing connects, where it is a word of the table's own name: "Kosten in Hamburg"."""
        named = {stem(word) for word in name_words(self.meanings.base)}
        if {stem(self.sentence.lower(index)) for index in range(link.first, link.last + 1)} <= named:
            self.sentence.take(link)

    def _beside(self, link: Link) -> list[Ref]:
        """The columns that are named right before or behind a value: "domain X", "the X service"."""
        place = link.first - 1
        start = self.sentence.tokens[link.first].start - (1 if link.quoted else 0)
        for _, pattern in _WORDED:
            worded = pattern.search(self.sentence.text[:start]) if link.quoted else None
            if worded:
                place = max((i for i, token in enumerate(self.sentence.tokens) if token.end <= worded.start()), default=place)
        for near in (self.sentence.before(place, gap=3), self.sentence.after(link.last + 1, gap=0)):
            if isinstance(near, Link) and not near.is_value:
                named = self._owned(near) or near.columns() or [ref for table in near.tables for ref in self.schema.label(table)]
                both = [ref for ref in named if ref in [each.ref for each in link.candidates]]
                labels = [ref for table in near.tables for ref in self.schema.label(table)]
                both = both or [ref for ref in labels if ref in [each.ref for each in link.candidates]]
                if both or not link.candidates:
                    if not self.meanings.is_asked(near):
                        self.sentence.take(near)
                    return both or named
        return []

    def _owned(self, link: Link) -> list[Ref]:
        """The columns of a table that is named right before: "journals whose names"."""
        before = self.sentence.before(link.first - 1, gap=2)
        tables = before.tables if isinstance(before, Link) else []
        return [ref for ref in link.columns() if ref.table in tables]

    def stated(self, states: list[State]) -> Iterator[Condition]:
        """Tests for what a filled or an empty cell says: "still open", "unpaid"."""
        for state in states:
            refs = [ref for ref in state.refs if self.meanings.base in {"", ref.table}]
            ref = self.meanings.nearest(refs)
            if ref is None:
                self.sentence.taken.difference_update((state.at, *state.denial))
            else:
                yield Condition(ref, "is not null" if state.filled else "is null")

    def missing(self) -> Iterator[Condition]:
        """Tests for no value: "without a phone", "have no phone"."""
        for mark in self.sentence.marks_of("not"):
            behind = self.sentence.after(mark.last + 1, gap=3)
            if not isinstance(behind, Link) or behind.is_value or self.sentence.is_taken(behind):
                continue
            refs = [ref for ref in behind.columns() if self.schema.column(ref).nulls]
            if refs and not behind.tables:
                self.sentence.take(mark, behind)
                yield Condition(self.meanings.nearest(refs) or refs[0], "is null")

    def _is_denied(self, index: int) -> bool:
        """Whether a word is said not to be: "not in Paris", "other than cash"."""
        for mark in self.sentence.marks_of("not"):
            if mark.last < index <= mark.last + 4 and all(
                self.sentence.is_filler(place) or self.sentence.item(place) is None for place in range(mark.last + 1, index)
            ):
                self.sentence.take(mark)
                return True
        return False


def _is_in(said: str, unit: str) -> bool:
    """Whether a unit as it is said ("euros", "min") is that of a column."""
    return bool(unit) and (
        unit in {said, unit_said(said)} or said in UNITS.get(unit, ("", frozenset[str]()))[1] or (unit, said) == ("%", "percent")
    )


def _years(ref: Ref, window: Window, said: str) -> Iterator[Condition]:
    first = int(window.start[:4]) if window.start else None
    last = int(window.end[:4]) if window.end else None
    if first is not None and first == last:
        yield Condition(ref, "=", first, said)
        return
    if first is not None:
        yield Condition(ref, ">=", first, said)
    if last is not None:
        yield Condition(ref, "<=", last, said)


def _dates(ref: Ref, window: Window, said: str) -> Iterator[Condition]:
    """From the first moment of the first day until before the day after the last: right for days and for moments."""
    if window.start:
        yield Condition(ref, ">=", window.start, said)
    if window.end:
        yield Condition(ref, "<", (date.fromisoformat(window.end) + timedelta(days=1)).isoformat(), said)
