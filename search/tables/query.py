"""A query of one table as structure, compiled to parameterized SQL: the safe way for whoever does not write SQL himself.

In: a TableQuery, whose names and values nobody has checked, and the Table it is of. Out: a SELECT in which every identifier is one
of the catalogue's, quoted, every operator and function one of a closed list, every value bound.

    compiled(TableQuery("endpoints", group_by=("method",), aggregates=(Aggregate("avg", "ms"),)), table)

Errors are QueryError; they begin with the part of the query that is wrong (`columns`, `filters`, ...) and name what was meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from search.errors import QueryError
from search.tables.conditions import NUMBERS, FilterValue, condition
from search.tables.models import Column, Table, Value
from search.tables.names import choice, column_named, got, quoted
from search.tables.periods import PERIODS, Grouping, grouping

MAX_LIMIT = 200
FUNCTIONS = ("count", "count_distinct", "sum", "avg", "min", "max", "median")
_OF_NUMBERS = frozenset({"sum", "avg", "median"})
_MAX_PARTS = 20  # filters, groups, aggregates, orders
_MAX_COLUMNS = 200
_LONGEST_NAME = 80
_FORMS = {
    "count": "COUNT({})",
    "count_distinct": "COUNT(DISTINCT {})",
    "sum": "SUM({})",
    "avg": "AVG({})",
    "min": "MIN({})",
    "max": "MAX({})",
}

Parameters = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a column; `op` and what it takes: `search.tables.conditions`. All filters of a query must hold."""

    column: str
    op: str
    value: FilterValue = None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function over the rows of a group. column: "" for `count`, which then counts rows. name: of the result's column."""

    function: str
    column: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What rows are ordered by: a column, a group or the name of an aggregate. Rows without a value come last."""

    by: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class TableQuery:
    """What to read of a table. Without columns, groups and aggregates: all columns of the rows that pass the filters.

    group_by: columns, or periods of dates such as month(created); see `search.tables.periods`.
    """

    table: str
    columns: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    group_by: tuple[str, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    order_by: tuple[Order, ...] = ()
    limit: int = 50


@dataclass(frozen=True, slots=True)
class _Item:
    """A column of the result. also: other names that an order may call it by. sorts: what it is ordered by, "" for itself."""

    name: str
    sql: str
    also: tuple[str, ...] = ()
    sorts: str = ""

    @property
    def selected(self) -> str:
        return self.sql if self.sql == quoted(self.name) else f"{self.sql} AS {quoted(self.name)}"


def compiled(query: TableQuery, table: Table) -> tuple[str, Parameters]:
    """The query as one SELECT with its parameters. Raises QueryError, which begins with the part that is wrong."""
    plan = _Plan(query, table)
    limit = f" LIMIT {_limit(query.limit)}"
    return plan.select() + plan.order() + ("" if query.aggregates and not query.group_by else limit), plan.parameters


def counting(query: TableQuery, table: Table) -> tuple[str, Parameters]:
    """A SELECT of how many rows the query gives without its limit. Raises QueryError."""
    plan = _Plan(query, table)
    return f"SELECT COUNT(*) FROM ({plan.select()})", plan.parameters


def counting_without(query: TableQuery, table: Table, groups: Sequence[Sequence[int]]) -> tuple[str, Parameters]:
    """A SELECT of one row: how many rows the table has, then how many pass when the first group of filters is left out, ...

    groups: numbers of filters. Raises QueryError.
    """
    conditions = _conditions(query, table)
    counts = [f"(SELECT COUNT(*) FROM {quoted(table.name)})"]
    parameters: list[Value] = []
    for left_out in groups:
        where, values = _where([each for at, each in enumerate(conditions) if at not in left_out])
        counts.append(f"(SELECT COUNT(*) FROM {quoted(table.name)}{where})")
        parameters += values
    return f"SELECT {', '.join(counts)}", tuple(parameters)


class _Plan:
    """A checked query: its result's columns, its conditions, where its rows come from."""

    def __init__(self, query: TableQuery, table: Table) -> None:
        parts = {name: getattr(query, name) for name in ("filters", "group_by", "aggregates", "order_by")}
        for name, several in (*parts.items(), ("columns", query.columns)):
            most = _MAX_COLUMNS if name == "columns" else _MAX_PARTS
            if len(several) > most:
                raise QueryError(f"{name}: got {len(several)}, want {most} at most")
        self._query = query
        self._table = table
        self._groups = [_group(wish, table) for wish in dict.fromkeys(query.group_by)]
        self._medians: list[Column] = []
        self._reserved = {column.name.casefold() for column in table.columns}
        grouped = bool(query.group_by or query.aggregates)
        self._items = self._grouped_items() if grouped else self._plain_items()
        self._where, self.parameters = _where(_conditions(query, table))

    def select(self) -> str:
        """The SELECT without order and limit."""
        listed = ", ".join(item.selected for item in self._items)
        groups = ", ".join(dict.fromkeys(group.sql for group in self._groups))
        return f"SELECT {listed} FROM {self._source()}" + (f" GROUP BY {groups}" if groups else "")

    def order(self) -> str:
        """The ORDER BY; equal groups go by their names."""
        terms = [_ordered(self._ordering(order), descending=order.descending) for order in self._query.order_by]
        terms += [_ordered(group.sorts or quoted(group.name), descending=False) for group in self._groups]
        return f" ORDER BY {', '.join(dict.fromkeys(terms))}" if terms else ""

    def _plain_items(self) -> list[_Item]:
        wishes = self._query.columns or tuple(column.name for column in self._table.columns)
        columns = dict.fromkeys(column_named(wish, self._table, "columns").name for wish in wishes)
        return [_Item(name, quoted(name)) for name in columns]

    def _grouped_items(self) -> list[_Item]:
        for wish in self._query.columns:
            if wish.casefold() not in {group.name.casefold() for group in self._groups}:
                column = column_named(wish, self._table, "columns")
                if column.name not in {group.name for group in self._groups}:
                    raise QueryError(
                        f"columns: got {got(wish)}, which is neither grouped nor aggregated: put it into group_by, or give it a "
                        "function in aggregates, or leave columns out"
                    )
        items = [_Item(group.name, group.sql, sorts=group.sorts) for group in self._groups]
        items += [self._aggregate(wish) for wish in self._query.aggregates]
        seen: set[str] = set()
        for item in items:
            if item.name.casefold() in seen:
                raise QueryError(f"aggregates: got the name {got(item.name)} twice, want another one in `as`")
            seen.add(item.name.casefold())
        return items

    def _aggregate(self, wish: Aggregate) -> _Item:
        function = choice(wish.function, FUNCTIONS, "aggregates: function")
        if wish.column in ("", "*"):
            if function != "count":
                raise QueryError(f"aggregates: column: missing, want the column to take {function} of")
            return _Item(_alias(wish, "count"), "COUNT(*)", ("count(*)", "count()", "count", "rows"))
        column = column_named(wish.column, self._table, "aggregates: column")
        self._check_type(function, column)
        name = _alias(wish, f"{function}_{column.name}")
        also = (f"{function}({column.name})", f"{function}_{column.name}")
        if function != "median":
            return _Item(name, _FORMS[function].format(quoted(column.name)), also)
        if column not in self._medians:
            self._medians.append(column)
        value, (rank, many) = quoted(column.name), map(quoted, self._median_names(column))
        middle = f"AVG(CASE WHEN {rank} IN (({many} + 1) / 2, ({many} + 2) / 2) THEN {value} END)"
        return _Item(name, middle, also)

    def _check_type(self, function: str, column: Column) -> None:
        if function in _OF_NUMBERS and column.type not in NUMBERS:
            numbers = [other.name for other in self._table.columns if other.type in NUMBERS]
            known = f"the columns with numbers are {', '.join(numbers[:30])}" if numbers else f"{self._table.name} has none"
            raise QueryError(
                f"aggregates: {function} wants a column of numbers, and {got(column.name)} is of type {column.type}; {known}"
            )
        if column.type == "blob" and not function.startswith("count"):
            raise QueryError(f"aggregates: {function} wants text, numbers or dates, and {got(column.name)} holds binary data")

    def _source(self) -> str:
        """The table with its conditions. For a median, which SQLite lacks, each row comes with its rank and their number."""
        plain = f"{quoted(self._table.name)}{self._where}"
        if not self._medians:
            return plain
        partition = ", ".join(dict.fromkeys(group.sql for group in self._groups))
        over = f"PARTITION BY {partition}" if partition else ""
        used = [group.column for group in self._groups]
        used += [column_named(a.column, self._table, "aggregates") for a in self._query.aggregates if a.column not in ("", "*")]
        inner = [quoted(column.name) for column in dict.fromkeys(used)]
        for column in self._medians:
            value, (rank, many) = quoted(column.name), map(quoted, self._median_names(column))
            ordered = f"{over} ORDER BY {value} IS NULL, {value}".strip()
            inner += [f"ROW_NUMBER() OVER ({ordered}) AS {rank}", f"COUNT({value}) OVER ({over}) AS {many}"]
        return f"(SELECT {', '.join(inner)} FROM {plain})"

    def _median_names(self, column: Column) -> tuple[str, str]:
        """Names for the rank of a value and for the number of values, which no column of the table has."""
        mark = str(self._medians.index(column) + 1)
        while {f"rank_{mark}", f"many_{mark}"} & self._reserved:
            mark += "_"
        return f"rank_{mark}", f"many_{mark}"

    def _ordering(self, order: Order) -> str:
        wish = order.by.strip().strip('"`').casefold()
        by_name = [item for item in self._items if item.name.casefold() == wish]
        by_other = [item for item in self._items if wish.replace(" ", "") in map(str.casefold, item.also)]
        if found := [*by_name, *by_other]:
            return found[0].sorts or quoted(found[0].name)
        if not (self._query.group_by or self._query.aggregates):
            return quoted(column_named(order.by, self._table, "order_by").name)
        if wish in self._reserved:
            raise QueryError(
                f"order_by: got {got(order.by)}, which is neither grouped nor aggregated; "
                f"want one of {', '.join(item.name for item in self._items)}"
            )
        return quoted(choice(order.by, [item.name for item in self._items], "order_by"))


def _group(wish: str, table: Table) -> Grouping:
    """A column, or a period of one."""
    known = {column.name.casefold() for column in table.columns}
    function, _, rest = wish.strip().partition("(")
    if rest.endswith(")") and wish.strip().casefold() not in known:
        period = choice(function, PERIODS, "group_by")
        return grouping(period, column_named(rest[:-1], table, "group_by"))
    column = column_named(wish, table, "group_by")
    return Grouping(column.name, quoted(column.name), column)


def _conditions(query: TableQuery, table: Table) -> list[tuple[str, Parameters]]:
    found = []
    for number, wish in enumerate(query.filters, 1):
        column = column_named(wish.column, table, "filters: column")
        try:
            found.append(condition(column, wish.op, wish.value))
        except QueryError as error:
            which = f"filter {number}: " if len(query.filters) > 1 else ""
            raise QueryError(f"filters: {which}{error}", error.hint) from None
    return found


def _where(conditions: Sequence[tuple[str, Parameters]]) -> tuple[str, Parameters]:
    where = " AND ".join(sql for sql, _ in conditions)
    return f" WHERE {where}" if where else "", tuple(value for _, values in conditions for value in values)


def _alias(wish: Aggregate, otherwise: str) -> str:
    name = " ".join(wish.name.split()) or otherwise
    if not wish.name.strip():
        return name[:_LONGEST_NAME]
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise QueryError(f"aggregates: as: got {got(wish.name)}, want a name of at most {_LONGEST_NAME} characters")
    return name


def _ordered(sql: str, *, descending: bool) -> str:
    return f"{sql} DESC" if descending else f"{sql} NULLS LAST"


def _limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise QueryError(f"limit: got {limit!r}, want 1 to {MAX_LIMIT}")
    return limit


def table_named(name: str, tables: Iterable[Table]) -> Table:
    """The table with a name. Raises QueryError, which names the nearest one."""
    by_name = {table.name: table for table in tables}
    if not by_name:
        raise QueryError(f"table: got {got(name)}, and there is no table", "no file of the library holds a table")
    return by_name[choice(name, [*by_name], "table")]


__all__ = [
    "FUNCTIONS",
    "MAX_LIMIT",
    "Aggregate",
    "Filter",
    "Order",
    "TableQuery",
    "compiled",
    "counting",
    "counting_without",
    "table_named",
]
