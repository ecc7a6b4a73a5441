"""A question over tables as it was read: what is asked for, of which columns, under which conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assistant.backends.offline.tables.schema import Ref

Function = Literal["", "count", "count_distinct", "sum", "avg", "min", "max", "median"]
Scalar = str | int | float


@dataclass(frozen=True, slots=True)
class Measure:
    """A function of a column; "count" of a table's rows has none; "" is the column itself. table: whose rows are counted."""

    function: Function
    table: str
    ref: Ref | None = None

    @property
    def name(self) -> str:
        """What its column of the result is called."""
        if self.ref is None:
            return f"count_{self.table}"
        return f"{self.function}_{self.ref.column}" if self.function else self.ref.column


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of a column. op: as query_table has them. value: a scalar, a tuple of them, or None for "is null".

    said: how it is told, where it is of a number or a time (the words of the question), or of yes and no.
    """

    ref: Ref
    op: str
    value: Scalar | tuple[Scalar, ...] | None = None
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """A column whose values rows are put together by. unit: of a date's ("month"), "" for the value itself."""

    ref: Ref
    unit: str = ""

    @property
    def name(self) -> str:
        """What its column of the result is called."""
        return f"{self.unit}({self.ref.column})" if self.unit else self.ref.column


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of the rows. limit: how many are wanted, 0 for all."""

    by: Measure | Group
    high: bool = True
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """A question over tables.

    table: where it starts. select: columns that are asked for, where rows are listed. having: tests of measures. over: the rows
    that are found first, whose values of `link[0]` are then those of `link[1]`. without: tables that must hold no such row.
    also: tables that must hold one. spread: rows are counted first and the counts averaged. ratio: the first measure over the
    second. spoilt: the column of the groups was to be added up, and is kept as text. unsure: which of two readings was taken, in
    words. unread: words of the question that no table knows. unused: words that these tables know, though nothing was made of
    them. doubt: how many words these are. certain: how surely the names in the question are meant.
    """

    table: str
    select: tuple[Ref, ...] = ()
    measures: tuple[Measure, ...] = ()
    groups: tuple[Group, ...] = ()
    conditions: tuple[Condition, ...] = ()
    having: tuple[tuple[Measure, str, Scalar], ...] = ()
    ranking: Ranking | None = None
    over: Reading | None = None
    link: tuple[Ref, Ref] | None = None
    without: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    spread: bool = False
    ratio: bool = False
    spoilt: bool = False
    language: str = "en"
    unsure: tuple[str, ...] = field(default=())
    unread: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    doubt: float = 0.0
    certain: float = 0.0

    @property
    def tables(self) -> tuple[str, ...]:
        """Every table that is needed, the first one first."""
        named = [measure.table for measure in self._measures()]
        return tuple(dict.fromkeys([self.table, *named, *(ref.table for ref in self._refs()), *self.also]))

    @property
    def all_tables(self) -> set[str]:
        """The tables of the rows that are found first as well."""
        return {*self.tables, *(self.over.tables if self.over else ())}

    @property
    def refs(self) -> set[Ref]:
        """Every column that is asked for, tested, or ordered by."""
        ranked = [self.ranking.by.ref] if self.ranking and isinstance(self.ranking.by, Group) else []
        return {*self._refs(), *ranked, *(self.over.refs if self.over else ())}

    def _refs(self) -> list[Ref]:
        return [
            *self.select,
            *(group.ref for group in self.groups),
            *(measure.ref for measure in self._measures() if measure.ref),
            *(condition.ref for condition in self.conditions),
        ]

    def _measures(self) -> list[Measure]:
        ranked = [self.ranking.by] if self.ranking and isinstance(self.ranking.by, Measure) else []
        return [*self.measures, *ranked, *(measure for measure, _, _ in self.having)]
