"""What the catalogue lets one conclude of tables: which column names a row, which is a measure, which tables belong together.

In: search.tables.models.Table. Out: Schema. Conclusions are drawn from names, types and counts of different values; no row is read.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from assistant.backends.offline.tables.kinds import CURRENCIES, MONEY
from assistant.backends.offline.tables.surroundings import words_around
from assistant.backends.offline.tables.vocabulary import UNITS, likeness, name_words, stem
from assistant.backends.offline.wording import words_of
from search.tables.models import Column, Table

_NUMBERS = frozenset({"integer", "real"})
_DATES = frozenset({"date", "datetime"})
_DECLARED_DATES = ("DATE", "TIMESTAMP")
_ID = re.compile(r"(?!(?:pa|sa|la|ac|av|gr|vo|sk)id\b)[a-z]{0,3}id|key|uuid")  # "paid" is no id
_YEARS = (1500, 2200)
_GENERIC_TABLE = words_of(
    """code codes list lists table tables data info record records export exports log logs history detail details snapshot snapshots
    daily sheet tab tabelle liste daten übersicht overview extract auszug all my"""
)
# Names that columns of unrelated tables share.
_COMMON = frozenset(
    stem(word)
    for word in words_of(
        """name title description status type date year month day time created updated homepage url email phone address city state
        country comment note text count population area length number amount price cost rating value category notes unit color
        first last middle user"""
    )
)
_NAMING = frozenset(map(stem, ("name", "title", "label", "username")))
_YES_AND_NO = (("yes", "no"), ("y", "n"), ("true", "false"), ("ja", "nein"), ("j", "n"), ("t", "f"), ("on", "off"), ("1", "0"))
_YES = frozenset({*(yes for yes, _ in _YES_AND_NO), "x", "✓", "✔", "wahr"})
_SPOILT = re.compile(r"no numbers|decimal|thousands|several units")
_RATED_UNITS = frozenset({"%", "ms", "s", "min", "°c"})
_RATED = frozenset(
    map(stem, words_of("price preis rate rating score grade note csat nps percent share average mean temperature age alter mood"))
)
_SHARED = 0.8
_NAMED = 0.7  # likeness from which a word of a name says a kind
_NO_JOIN = 9.0


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of a table."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class Join:
    """Two columns whose equal values connect tables. cost: the less sure, the higher."""

    left: Ref
    right: Ref
    cost: float


class Schema:
    """Tables, and what follows from their names and counts."""

    def __init__(
        self, tables: Sequence[Table], titles: Mapping[int, str] | None = None, *, shared: frozenset[str] | None = None
    ) -> None:
        """titles: of the documents that the tables are from, by their ids. shared: words that the names of tables begin with."""
        self.tables = {table.name: table for table in tables}
        self._columns = {Ref(table.name, column.name): column for table in tables for column in table.columns}
        self._prefixes = {table.name: _prefix([column.name for column in table.columns]) for table in tables}
        self._labels: dict[str, tuple[Ref, ...]] = {}
        self._shared = _prefix([table.name for table in tables]) if shared is None else shared
        self._titles = titles or {}

    @cached_property
    def parts(self) -> tuple[Schema, ...]:
        """What a question can be about: tables that joins connect, then each of these alone."""
        of = {name: [name] for name in self.tables}
        for join in self.joins:
            one, other = of[join.left.table], of[join.right.table]
            if one is not other:
                one += other
                of.update(dict.fromkeys(other, one))
        groups = list({id(group): group for group in of.values()}.values())
        alone = [[name] for group in groups if len(group) > 1 for name in group]
        return tuple(
            Schema([self.tables[name] for name in names], self._titles, shared=self._shared) for names in (*groups, *alone)
        )

    @cached_property
    def has_times(self) -> bool:
        """Whether a column holds days, moments or years."""
        return any(self.is_date(ref) or self.is_year(ref) for ref in self._columns)

    @cached_property
    def around(self) -> dict[str, frozenset[str]]:
        """Around which tables each stem stands."""
        found: dict[str, set[str]] = {}
        for table in self.tables.values():
            for word in words_around(table, title=self._titles.get(table.document_id, "")):
                found.setdefault(word, set()).add(table.name)
        return {word: frozenset(tables) for word, tables in found.items()}

    @cached_property
    def named(self) -> frozenset[str]:
        """The stems of all words of names."""
        names = (*self.tables, *(ref.column for ref in self._columns))
        return frozenset(stem(word) for name in names for word in name_words(name))

    def columns(self, table: str) -> list[Ref]:
        """The columns of a table, in its order."""
        return [Ref(table, column.name) for column in self.tables[table].columns]

    def refs(self) -> Iterable[Ref]:
        """All columns."""
        return self._columns

    def column(self, ref: Ref) -> Column:
        """What the catalogue says of a column."""
        return self._columns[ref]

    def table_words(self, table: str) -> tuple[list[str], list[str]]:
        """The words of a table's name that must be said, and those that may."""
        # A sheet is called by its own name, "the invoices"; its file's may be said as well.
        own = name_words(self.tables[table].label) or name_words(table)
        words = [word for word in dict.fromkeys(own) if word not in self._shared and not word.isdigit()] or own
        needed = [word for word in words if word not in _GENERIC_TABLE and word not in _OPTIONAL] or words
        return needed, [word for word in name_words(table) if word not in needed]

    def column_words(self, ref: Ref) -> tuple[list[str], list[str]]:
        """The words of a column's name that must be said, and those that may: units, the table's name, what all begin with."""
        words = name_words(ref.column)
        if len(words) == 1 and self.is_id(ref):
            return [*self.table_words(ref.table)[0], "id"], words if words != ["id"] else []
        may = set(self._prefixes[ref.table]) | {word for word in words if word in _OPTIONAL}
        if len(words) > 1 and words[-1] in UNITS:
            may.add(words[-1])
        own = {stem(word) for word in self.table_words(ref.table)[0]}
        may |= {word for word in words if stem(word) in own}
        needed = [word for word in words if word not in may]
        if not needed:
            needed = [word for word in words if word not in self._prefixes[ref.table]] or words
        return needed, [word for word in words if word not in needed]

    def unit(self, ref: Ref) -> str:
        """The unit of a column's values: the one it was written with, else the one its name ends with."""
        words = name_words(ref.column)
        named = UNITS[words[-1]][0] if len(words) > 1 and words[-1] in UNITS and self.is_number(ref) else ""
        return self.column(ref).unit or named

    def is_number(self, ref: Ref) -> bool:
        """Whether the values are numbers."""
        return self.column(ref).type in _NUMBERS

    def is_date(self, ref: Ref) -> bool:
        """Whether the values are days or moments."""
        column = self.column(ref)
        return column.type in _DATES or (column.type == "text" and column.declared.upper().startswith(_DECLARED_DATES))

    def is_when(self, ref: Ref) -> bool:
        """Whether the values come one after the other in time: days, moments, years, times of the day."""
        return self.is_date(ref) or self.is_year(ref) or self.column(ref).type == "time"

    def is_year(self, ref: Ref) -> bool:
        """Whether the values are whole numbers that can only be years."""
        column = self.column(ref)
        low, high = column.minimum, column.maximum
        if column.type != "integer" or not isinstance(low, int) or not isinstance(high, int):
            return column.type == "integer" and "year" in name_words(ref.column)
        return _YEARS[0] <= low <= high <= _YEARS[1]

    def is_id(self, ref: Ref) -> bool:
        """Whether the values only tell rows apart."""
        return bool(_ID.fullmatch(name_words(ref.column)[-1])) if name_words(ref.column) else False

    def is_measure(self, ref: Ref) -> bool:
        """Whether numbers are worth adding up or comparing: no years, no ids."""
        return self.is_number(ref) and not self.is_id(ref) and not self.is_year(ref)

    def yes_and_no(self, ref: Ref) -> tuple[str | int, str | int | None] | None:
        """The values that mean yes and no, as the column has them, None for an empty cell; None where it is no such column."""
        column = self.column(ref)
        if column.type == "boolean" or (
            column.type == "integer" and (column.distinct, column.minimum, column.maximum) == (2, 0, 1)
        ):
            return 1, 0
        said = {value.lower(): value for value in column.values}
        if column.distinct == 1 and column.nulls and len(said) == 1 and set(said) <= _YES:
            return next(iter(said.values())), None  # an "x" or nothing
        pair = next((pair for pair in _YES_AND_NO if set(pair) == set(said)), None)
        return (said[pair[0]], said[pair[1]]) if pair else None

    def is_spoilt(self, ref: Ref) -> bool:
        """Whether a few values or the way they are written kept a column of numbers as text."""
        column = self.column(ref)
        return column.type == "text" and column.note.startswith("kept as text") and bool(_SPOILT.search(column.note))

    def is_rate(self, ref: Ref) -> bool:
        """Whether numbers are averaged rather than added up, by their unit or name: per cent, prices, ratings, response times."""
        words = set(map(stem, name_words(ref.column)))
        return self.unit(ref).lower() in _RATED_UNITS or bool(words & _RATED)

    def is_money(self, ref: Ref) -> bool:
        """Whether the values are amounts of money: by their unit, where they have none by their name."""
        unit = self.unit(ref).lower()
        if not self.is_measure(ref) or unit:
            return self.is_measure(ref) and (unit in CURRENCIES or unit in {"€", "$", "£", "¥"})
        return any(likeness(word, each) >= _NAMED for word in MONEY for each in name_words(ref.column))

    def is_unique(self, ref: Ref) -> bool:
        """Whether every row has its own value."""
        column, rows = self.column(ref), self.tables[ref.table].rows
        return rows > 0 and column.nulls == 0 and column.distinct == rows

    def key(self, table: str) -> Ref | None:
        """The column that tells rows apart: an id, else any with different values."""
        unique = [ref for ref in self.columns(table) if self.is_unique(ref) and not self.is_measure(ref)]
        named = [ref for ref in unique if self.is_id(ref)]
        return next(iter((*named, *unique)), None)

    def label(self, table: str) -> tuple[Ref, ...]:
        """The columns by which a person calls a row: a name, first and last name, else what the table is named after."""
        if table not in self._labels:
            self._labels[table] = self._label(table)
        return self._labels[table]

    def _label(self, table: str) -> tuple[Ref, ...]:
        refs = self.columns(table)
        words = {ref: [stem(word) for word in self.column_words(ref)[0]] for ref in refs}
        whole = {ref: [stem(word) for word in name_words(ref.column)] for ref in refs}
        persons = [ref for ref in refs if whole[ref] in ([stem("first"), stem("name")], [stem("last"), stem("name")])]
        own = [stem(word) for word in self.table_words(table)[0]]

        def rank(ref: Ref) -> tuple[int, int]:
            named = words[ref][-1:] and words[ref][-1] in _NAMING
            after = self.column(ref).type == "text" and whole[ref] == own
            return (3 if named and len(words[ref]) == 1 else 2 if after else 1 if named else 0, int(self.is_unique(ref)))

        texts = [ref for ref in refs if self.column(ref).type == "text"]
        best = max(texts, key=lambda ref: (rank(ref), -refs.index(ref)), default=None)
        if best and rank(best)[0] >= (1 if len(persons) < 2 else 3):
            return (best,)
        if len(persons) > 1:
            return tuple(persons)
        key = self.key(table)
        if best and self.is_unique(best) and not (key and self.is_id(key)):
            return (best,)
        return (key,) if key else tuple(refs[:1])

    @cached_property
    def joins(self) -> list[Join]:
        """The pairs of columns that connect tables, at most one for two tables in each sense."""
        found: dict[tuple[str, str], Join] = {}
        alike: dict[str, list[Ref]] = {}  # by the last word of the name, which columns that connect have in common
        for ref in self._columns:
            last = self._stems(ref)[-1]
            alike.setdefault("id" if _ID.fullmatch(last) else last, []).append(ref)
        for one, other in (pair for refs in alike.values() for pair in combinations(refs, 2)):
            if one.table == other.table:
                continue
            left, right = sorted((one, other), key=lambda ref: ref.table)
            cost = min(self._cost(left, right), self._cost(right, left))
            pair = (left.table, right.table)
            if cost < _NO_JOIN and (pair not in found or cost < found[pair].cost):
                found[pair] = Join(left, right, cost)
        return sorted(found.values(), key=lambda join: (join.left.table, join.right.table))

    def _cost(self, many: Ref, one: Ref) -> float:
        """How unsure it is that values of `many` are those of `one`; _NO_JOIN where nothing says so."""
        left, right = self.column(many), self.column(one)
        if (left.type in _NUMBERS) != (right.type in _NUMBERS) or left.type == "real" or left.type in _DATES:
            return _NO_JOIN
        if self._apart(left, right):
            return _NO_JOIN
        unique = self.is_unique(one)
        words = self._stems(many)
        keys = [self._stems(one)]
        table = [stem(word) for word in self.table_words(one.table)[0]]
        if self.is_id(one) and len(keys[0]) == 1:
            keys = [[*table, "id"], *([] if keys[0] == ["id"] else keys)]
        suffix = any(key and words[-len(key) :] == key for key in keys)
        short = self.is_id(one) and unique and any(words[-len(key) :] == key[-2:] for key in keys if len(key) > 2)
        same = many.column.casefold() == one.column.casefold() and self._stems(one) != ["id"]
        common = all(word in _COMMON for word in words) and not set(words) & set(table)
        if same and not common and (self.is_id(one) or self.label(one.table) == (one,)):
            return 1.0 if unique else 1.5
        if suffix and unique and not common and (self.is_id(one) or self._stems(one) == table):
            return 1.1
        if same and not common and (unique or set(left.values) & set(right.values)):
            return 1.2 if unique else 2.6
        return 1.4 if short else _NO_JOIN

    def _stems(self, ref: Ref) -> list[str]:
        own = name_words(ref.table)
        prefix = {word for word in self._prefixes[ref.table] if not any(likeness(each, word) for each in own if each != word)}
        words = [word for word in name_words(ref.column) if word not in prefix]
        stems = ["id" if _ID.fullmatch(word) and len(words) > 1 else stem(word) for word in words or name_words(ref.column)]
        return stems or [ref.column.casefold()]

    @staticmethod
    def _apart(left: Column, right: Column) -> bool:
        """Whether the values of two columns cannot meet."""
        if left.values and right.values and not set(left.values) & set(right.values):
            return True
        for low, high in ((left.minimum, right.maximum), (right.minimum, left.maximum)):
            if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
                return True
        return False

    def path(self, tables: Sequence[str]) -> list[Join] | None:
        """The joins that connect tables, the first one first; None where they cannot be."""
        reached, path = {tables[0]}, list[Join]()
        for table in tables[1:]:
            if table in reached:
                continue
            way = self._way(reached, table)
            if way is None:
                return None
            path += way
            reached |= {ref.table for join in way for ref in (join.left, join.right)}
        return path

    def _way(self, reached: set[str], goal: str) -> list[Join] | None:
        """The cheapest joins from any table of a set to another."""
        heap: list[tuple[float, int, str, list[Join]]] = [(0.0, 0, table, []) for table in sorted(reached)]
        seen: set[str] = set()
        tick = len(heap)
        while heap:
            cost, _, table, way = heapq.heappop(heap)
            if table == goal:
                return way
            if table in seen:
                continue
            seen.add(table)
            for join in self.joins:
                ends = (join.left.table, join.right.table)
                if table in ends:
                    other = ends[1] if ends[0] == table else ends[0]
                    step = Join(join.left, join.right, join.cost) if ends[0] == table else Join(join.right, join.left, join.cost)
                    tick += 1
                    heapq.heappush(heap, (cost + join.cost, tick, other, [*way, step]))
        return None


_OPTIONAL = frozenset(["of", "the", "at", "in", "by", "is", "has", "code", "id", "on", "a", "and", "per"])


def _prefix(names: Sequence[str]) -> frozenset[str]:
    """Words that nearly all of several names begin with, one after the other: they tell nothing apart."""
    if len(names) < 3:
        return frozenset()
    words, prefix = [name_words(name) for name in names], list[str]()
    for place in range(2):
        counts = Counter(each[place] for each in words if len(each) > place + 1 and each[:place] == prefix)
        word, count = counts.most_common(1)[0] if counts else ("", 0)
        if count < _SHARED * len(names):
            break
        prefix.append(word)
    return frozenset(prefix)
