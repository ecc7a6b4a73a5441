"""From what a question says is measured to columns: "total queries", "number of endpoints", "highest average response time".

In: an Asking that has read its Sentence, Meanings. Out: Measures, and what a ranking goes by.
"""

from __future__ import annotations

from collections.abc import Sequence

from assistant.backends.offline.tables.asked import Ranked, Spec
from assistant.backends.offline.tables.asking import Asking
from assistant.backends.offline.tables.conditions import Comparison
from assistant.backends.offline.tables.linking import Candidate, Link
from assistant.backends.offline.tables.meanings import Meanings
from assistant.backends.offline.tables.models import Function, Group, Measure, Scalar
from assistant.backends.offline.tables.schema import Ref
from assistant.backends.offline.tables.vocabulary import name_words, stem, unit_said

RATES = frozenset({"avg", "median"})
COUNTS = frozenset({"count", "count_distinct"})


class Measuring:
    """Decides what is measured. comparisons: a column that is compared is not added up."""

    def __init__(self, asking: Asking, meanings: Meanings, comparisons: Sequence[Comparison]) -> None:
        self.asking, self.meanings, self.schema = asking, meanings, meanings.schema
        self._comparisons = comparisons
        self.spoilt: Ref | None = None  # a column of numbers that is kept as text was to be measured

    def measure(self, spec: Spec) -> Measure | None:
        """The column and function that a spec means."""
        if spec.quality:
            ref = self.meanings.by_quality(spec.quality, numeric=bool(spec.functions))
            if ref is not None or spec.link is None:
                return Measure(spec.functions[0] if spec.functions else "", ref.table, ref) if ref else None
        counted_in = self._counted_in(spec)
        if counted_in is not None:
            return Measure("sum", counted_in.table, counted_in)
        if spec.link is None:
            table = next(iter(self.meanings.in_play()), "") if spec.counted else ""
            return Measure("count", table) if table else None
        function: Function = next((each for each in spec.functions if each != "sum"), "sum" if spec.functions else "")
        link = self._of_table(spec.link) if function and not spec.counted else spec.link
        compared = any(each.link == link for each in self._comparisons)
        if (function or spec.counted) and not spec.distinct:
            self.spoilt = self.spoilt or self._spoilt(link)
        number = self._number(link, function, counted=spec.counted) if not (spec.counted and (spec.distinct or compared)) else None
        if number is not None:
            return number
        if function in {"min", "max"} or (spec.counted and compared):
            ref = self.meanings.column(link)
            return (
                Measure(function if function in {"min", "max"} else "count", ref.table, ref if function else None) if ref else None
            )
        return self.count(link, distinct=spec.distinct) if spec.counted or function == "sum" else None

    def _counted_in(self, spec: Spec) -> Ref | None:
        """The column that has the unit of "how many kilometres": these are added up, and no rows counted."""
        sentence = self.asking.sentence
        places = [mark.last + 1 for mark in sentence.marks if mark.first == spec.at and mark.kind == "count"]
        word = sentence.lower(places[0]) if spec.counted and places else ""
        if not word or any(link.first <= places[0] <= link.last and link.columns() for link in sentence.links):
            return None
        unit = unit_said(word)
        for table in self.meanings.in_play() if unit else ():
            for ref in self.schema.columns(table):
                if self.schema.is_measure(ref) and not self.schema.is_rate(ref) and self.schema.unit(ref).lower() == unit:
                    sentence.taken.add(places[0])
                    return ref
        return None

    def _spoilt(self, link: Link) -> Ref | None:
        """The column of numbers that is text because of some of its values."""
        ref = self.meanings.column(link) if not link.is_value and not self.meanings.tables(link) else None
        return ref if ref is not None and self.schema.is_spoilt(ref) else None

    def _of_table(self, named: Link) -> Link:
        """The column that is named beside its table: "total revenue in 2024" over a table of that name with such a column."""
        tables = [] if self.asking.is_numeric(named) else self.meanings.tables(named)
        for link in self.asking.sentence.free_links() if tables else ():
            if self.asking.is_numeric(link) and any(ref.table in tables for ref in link.columns()):
                self.asking.sentence.take(link)
                return link
        for table in tables:  # "average latency" over a table of that name with one measure
            numbers = [ref for ref in self.schema.columns(table) if self.schema.is_measure(ref)]
            if len(numbers) == 1:
                return Link(named.first, named.last, (Candidate(numbers[0], named.score),))
        return named

    def _number(self, link: Link, function: Function, *, counted: bool) -> Measure | None:
        """A column of numbers, added up where it is counted."""
        if not self.asking.is_numeric(link):
            return None
        ref = self.meanings.column(link, numeric=True)
        if ref is None or not self.schema.is_measure(ref):
            return None
        return Measure(function or ("sum" if counted else ""), ref.table, ref)

    def count(self, link: Link, *, distinct: bool) -> Measure | None:
        """How many there are of a thing: rows of the table of that name, or different values of the column."""
        tables = self.meanings.tables(link)
        if tables and not distinct:
            return Measure("count", min(tables, key=lambda table: -self.meanings.support.get(table, 0.0)))
        repeated = self._repeated(link, tables)
        if tables and not link.columns() and repeated is not None:
            return Measure("count_distinct", repeated.table, repeated)
        if tables and not link.columns():
            key = self.schema.key(tables[0])
            return (
                Measure("count", tables[0])
                if key is None or self.schema.is_unique(key)
                else Measure("count_distinct", key.table, key)
            )
        ref = self.meanings.column(link)
        if ref is None:
            return None
        if self.schema.is_date(ref) or (self.schema.is_unique(ref) and not distinct):
            return Measure("count", ref.table)
        return Measure("count_distinct", ref.table, ref)

    def _repeated(self, link: Link, tables: Sequence[str]) -> Ref | None:
        """The column that holds what a table is called by, several times: carrier_code in carrier_codes."""
        said = {stem(self.asking.sentence.lower(index)) for index in range(link.first, link.last + 1)}
        refs = [ref for table in tables[:1] for ref in self.schema.columns(table) if not self.schema.is_unique(ref)]
        return next((ref for ref in refs if said <= set(map(stem, name_words(ref.column)))), None)

    def order(self, ranked: Ranked, measures: Sequence[Measure], *, together: bool) -> Measure | Group | None:
        """What a ranking goes by."""
        if ranked.common and ranked.entity:
            ref = self.meanings.column(ranked.entity)
            return Measure("count", ref.table) if ref else None
        if ranked.by is None:
            return measures[0] if measures and not together else None if measures else self._main(ranked.entity)
        measure = self.measure(ranked.by) if not self._is_row(ranked) or not ranked.by.quality else self._sized(ranked.by)
        if measure is not None or ranked.by.link is None:
            return measure
        return self._plain_order(ranked, ranked.by.link)

    def _is_row(self, ranked: Ranked) -> bool:
        """Whether what is ranked is what the order is said of: "the largest invoices"."""
        return ranked.entity is not None and ranked.by is not None and ranked.by.link == ranked.entity

    def _sized(self, by: Spec) -> Measure | None:
        """What a size means of rows: a column of that kind, else the amount or the one number that they have."""
        ref = self.meanings.by_quality(by.quality)
        return Measure("", ref.table, ref) if ref else self._main(by.link)

    def _main(self, thing: Link | None) -> Measure | None:
        """What the rows of a table go by where nothing says it: their amount of money, else their only number."""
        for table in self.meanings.tables(thing)[:1] if thing is not None else ():
            numbers = [ref for ref in self.schema.columns(table) if self.schema.is_measure(ref)]
            money = [ref for ref in numbers if self.schema.is_money(ref)]
            for refs in (money, numbers):
                if len(refs) == 1:
                    return Measure("", table, refs[0])
        return None

    def _plain_order(self, ranked: Ranked, link: Link) -> Measure | Group | None:
        """A ranking by something that is no number: a name, a date, how many there are of a thing."""
        ref = self.meanings.column(link)
        if ranked.plain:
            ref = ref or next((self.schema.label(table)[0] for table in self.meanings.tables(link)), None)
            return Group(ref) if ref else None
        if ref and self.schema.is_when(ref):
            return Measure("", ref.table, ref)
        return self.count(link, distinct=False)

    def having(self) -> tuple[tuple[Measure, str, Scalar], ...]:
        """Tests of how many there are: "more than 3 sales"."""
        tests: list[tuple[Measure, str, Scalar]] = []
        for each in self._comparisons:
            measure = self.count(each.things, distinct=False) if each.things is not None and each.link is None else None
            if measure is not None and each.mark.what != "between":
                number = each.mark.numbers[0]
                tests.append((measure, each.mark.what, int(number) if number.is_integer() else number))
        return tuple(tests)
