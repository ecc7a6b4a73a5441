"""What `search.tables.query` promises: structure becomes one SELECT whose names are the catalogue's and whose values are bound."""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.errors import QueryError
from search.tables.models import Column, Table
from search.tables.query import (
    FUNCTIONS,
    Aggregate,
    Filter,
    Order,
    TableQuery,
    compiled,
    counting,
    counting_without,
    table_named,
)

COLUMNS = (
    Column("team", "text"),
    Column("hits", "integer"),
    Column("ms", "real", header="Response (ms)"),
    Column("day", "date"),
    Column("at", "datetime"),
    Column("open", "time"),
    Column("ok", "boolean"),
    Column("raw", "blob"),
    Column('odd "name"', "text"),
)
TABLE = Table(1, "calls", 1, "tables/calls.csv", "", 0, COLUMNS, ())
SQL_TYPES = {"integer": "INTEGER", "boolean": "INTEGER", "real": "REAL", "blob": "BLOB"}
Row = tuple[Any, ...]


def filled(rows: list[Row], columns: tuple[Column, ...] = COLUMNS) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    listed = ", ".join('"' + c.name.replace('"', '""') + '" ' + SQL_TYPES.get(c.type, "TEXT") for c in columns)
    connection.execute(f"CREATE TABLE calls ({listed})")
    connection.executemany(f"INSERT INTO calls VALUES ({', '.join('?' * len(columns))})", rows)
    return connection


ROWS: list[Row] = [
    ("Nord", 5, 1.5, "2026-01-31", "2026-01-31T23:59:59", "09:30:00", 1, b"x", "a"),
    ("nord", 7, 2.5, "2026-02-01", "2026-02-01 00:00:00", "09:30:30", 0, None, "b"),
    ("Süd", 1, None, "2026-02-28", "2026-03-05T10:00:00", "10:00:00", 1, None, "c"),
    ("50%_off", None, -3.0, None, None, None, None, None, None),
    (None, 9, 4.0, "2026-12-28", "2026-12-28T08:15:00", "23:59:59", 0, None, "d"),
]


def rows_of(query: TableQuery, rows: list[Row] | None = None) -> list[Row]:
    sql, parameters = compiled(query, TABLE)
    return filled(ROWS if rows is None else rows).execute(sql, parameters).fetchall()


def teams(*filters: Filter) -> list[str | None]:
    return [row[0] for row in rows_of(TableQuery("calls", columns=("team",), filters=filters))]


def test_a_query_without_more_gives_all_columns_in_their_order() -> None:
    sql, parameters = compiled(TableQuery("calls"), TABLE)
    assert sql.endswith('"raw", "odd ""name""" FROM "calls" LIMIT 50')
    assert parameters == ()
    assert rows_of(TableQuery("calls")) == ROWS


def test_values_are_bound_and_never_part_of_the_sql() -> None:
    sql, parameters = compiled(TableQuery("calls", filters=(Filter("team", "=", "x'; DROP TABLE calls; --"),)), TABLE)
    assert sql.endswith('WHERE "team" = ? LIMIT 50')
    assert parameters == ("x'; DROP TABLE calls; --",)


@pytest.mark.parametrize(
    ("op", "value", "found"),
    [
        ("=", "nord", ["nord"]),
        ("!=", "nord", ["Nord", "Süd", "50%_off"]),
        ("<>", "nord", ["Nord", "Süd", "50%_off"]),
        ("in", ("nord", "Süd"), ["nord", "Süd"]),
        ("in", '["nord", "Süd"]', ["nord", "Süd"]),
        ("in", "nord", ["nord"]),
        ("NOT  IN", ("nord", "Süd"), ["Nord", "50%_off"]),
        ("contains", "OR", ["Nord", "nord"]),
        ("contains", "%", ["50%_off"]),
        ("contains", "0_", []),
        ("contains", "%_O", ["50%_off"]),
        ("starts with", "NO", ["Nord", "nord"]),
        ("starts with", "sÜ", ["Süd"]),
        ("starts with", "ü", []),
        ("is null", None, [None]),
        ("is not null", "", ["Nord", "nord", "Süd", "50%_off"]),
        ("between", ("N", "T"), ["Nord", "Süd"]),
    ],
)
def test_text_is_compared(op: str, value: Any, found: list[str | None]) -> None:
    assert teams(Filter("team", op, value)) == found


@pytest.mark.parametrize(
    ("column", "op", "value", "found"),
    [
        ("hits", ">=", "7", ["nord", None]),
        ("hits", "=", "5.0", ["Nord"]),
        ("hits", "<", 10**30, ["Nord", "nord", "Süd", None]),
        ("ms", "between", ("-3", 1.5), ["Nord", "50%_off"]),
        ("ms", "in", ("2.5", "4"), ["nord", None]),
        ("ok", "=", True, ["Nord", "Süd"]),
        ("ok", "=", "no", ["nord", None]),
        ("raw", "is not null", None, ["Nord"]),
    ],
)
def test_values_are_taken_as_the_column_holds_them(column: str, op: str, value: Any, found: list[str | None]) -> None:
    assert teams(Filter(column, op, value)) == found


@pytest.mark.parametrize(
    ("column", "op", "value", "found"),
    [
        ("day", "=", "2026-02-01", ["nord"]),
        ("day", "=", "2026-2-1", ["nord"]),
        ("day", "=", "2026-02-01T00:00:00Z", ["nord"]),
        ("day", "=", "2026-02", ["nord", "Süd"]),
        ("day", "<=", "2026-02", ["Nord", "nord", "Süd"]),
        ("day", ">", "2026-02", [None]),
        ("day", "<", "2026-02", ["Nord"]),
        ("day", "!=", "2026", []),
        ("day", "=", "2026-12", [None]),
        ("day", ">=", "9999", []),
        ("day", "<=", "9999-12-31", ["Nord", "nord", "Süd", None]),
        ("day", "in", ("2026-02-01", "2026-01"), ["Nord", "nord"]),
        ("day", "not in", ("2026-02-01", "2026-01"), ["Süd", None]),
        ("day", "between", ("2026-02-01", "2026-02"), ["nord", "Süd"]),
        ("day", "starts with", "2026-02", ["nord", "Süd"]),
        ("at", "<=", "2026-01-31", ["Nord"]),
        ("at", "=", "2026-02-01", ["nord"]),
        ("at", ">", "2026-02", ["Süd", None]),
        ("at", ">=", "2026-02-01 00:00", ["nord", "Süd", None]),
        ("at", "=", "2026-03-05T10:00", ["Süd"]),
        ("at", "<", "2026-01-31T23:59:59", []),
        ("at", "<=", "9999-12-31", ["Nord", "nord", "Süd", None]),
        ("open", "=", "9:30", ["Nord", "nord"]),
        ("open", "=", "09:30:30", ["nord"]),
        ("open", "<=", "23:59", ["Nord", "nord", "Süd", None]),
    ],
)
def test_a_date_stands_for_its_whole_period(column: str, op: str, value: Any, found: list[str | None]) -> None:
    assert teams(Filter(column, op, value)) == found


@pytest.mark.parametrize(
    ("period", "column", "groups"),
    [
        ("year", "day", [2026, None]),
        ("quarter", "day", ["2026-Q1", "2026-Q4", None]),
        ("month", "at", ["2026-01", "2026-02", "2026-03", "2026-12", None]),
        ("week", "day", ["2026-01-26", "2026-02-23", "2026-12-28", None]),
        ("day", "at", ["2026-01-31", "2026-02-01", "2026-03-05", "2026-12-28", None]),
        ("hour", "at", [0, 8, 10, 23, None]),
        ("hour", "open", [9, 10, 23, None]),
        ("weekday", "day", ["Monday", "Saturday", "Sunday", None]),
    ],
)
def test_rows_are_grouped_by_periods_in_the_order_of_time(period: str, column: str, groups: list[Any]) -> None:
    assert [row[0] for row in rows_of(TableQuery("calls", group_by=(f"{period}({column})",)))] == groups


def test_a_day_without_a_time_is_of_no_hour() -> None:
    rows = [(None, 1, None, None, at, None, None, None, None) for at in ("2026-01-31", "2026-01-31T00:10:00", "2026-02-01")]
    query = TableQuery("calls", group_by=("hour(at)",), aggregates=(Aggregate("count"),))
    assert filled(rows).execute(*compiled(query, TABLE)).fetchall() == [(0, 1), (None, 2)]


def test_an_iso_year_is_no_trap_for_weeks() -> None:
    rows: list[Row] = [(None, 1, None, day, *[None] * 5) for day in ("2024-12-30", "2025-01-05", "2025-01-06")]
    found = rows_of(TableQuery("calls", group_by=("week(day)",), aggregates=(Aggregate("count"),)), rows)
    assert found == [("2024-12-30", 2), ("2025-01-06", 1)]


def test_groups_can_be_ordered_by_an_aggregate_by_each_of_its_names() -> None:
    for by in ("most", "max(hits)", "MAX_HITS", '"most"'):
        query = TableQuery(
            "calls",
            group_by=("ok",),
            aggregates=(Aggregate("max", "hits", "most"),),
            order_by=(Order(by, descending=True),),
            limit=2,
        )
        assert rows_of(query) == [(0, 9), (1, 5)]


def test_rows_without_a_value_come_last_in_either_order() -> None:
    for descending in (False, True):
        found = rows_of(TableQuery("calls", columns=("hits",), order_by=(Order("hits", descending),)))
        assert found[-1] == (None,)


def test_a_result_column_may_have_the_name_of_a_column() -> None:
    query = TableQuery("calls", group_by=("ok",), aggregates=(Aggregate("sum", "hits", "hits"),), order_by=(Order("hits"),))
    assert rows_of(query) == [(1, 6), (0, 16), (None, None)]


def test_median_stands_in_one_query_with_other_aggregates_and_with_names_that_are_taken() -> None:
    columns = (Column("rank_1", "real"), Column("many_1", "text"))
    table = Table(1, "calls", 1, "x.csv", "", 4, columns, ())
    query = TableQuery(
        "calls",
        filters=(Filter("rank_1", "<", 100),),
        aggregates=(Aggregate("median", "rank_1"), Aggregate("count"), Aggregate("max", "many_1")),
    )
    sql, parameters = compiled(query, table)
    found = filled([(4, "a"), (1, "b"), (100, "z"), (None, "z")], columns).execute(sql, parameters).fetchall()
    assert found == [(2.5, 2, "b")]


def test_counting_leaves_out_the_limit_alone() -> None:
    query = TableQuery("calls", filters=(Filter("hits", ">", 1),), group_by=("team",), limit=1)
    assert filled(ROWS).execute(*counting(query, TABLE)).fetchone() == (3,)


def test_which_filter_removes_how_much_is_counted_at_once() -> None:
    filters = (Filter("hits", ">", 5), Filter("team", "=", "Süd"), Filter("ok", "=", True))
    query = TableQuery("calls", filters=filters)
    assert filled(ROWS).execute(*counting_without(query, TABLE, [[0], [1], [2]])).fetchone() == (
        5,
        1,
        0,
        0,
    )


def test_columns_are_found_by_name_by_header_and_with_the_table_before_them() -> None:
    for name in ("ms", "MS", "calls.ms", '"ms"', 'calls."ms"', "response (ms)", " ms "):
        assert compiled(TableQuery("calls", columns=(name,)), TABLE)[0] == 'SELECT "ms" FROM "calls" LIMIT 50'


QUERIES: list[tuple[TableQuery, str]] = [
    (TableQuery("calls", columns=("tem",)), r'^columns: got "tem", want one of team, hits, .*; did you mean "team"\?$'),
    (TableQuery("calls", filters=(Filter("hit", "=", 1),)), r'^filters: column: got "hit", .* did you mean "hits"\?$'),
    (TableQuery("calls", filters=(Filter("team", "like", "x"),)), '^filters: op: got "like", want one of =, !='),
    (
        TableQuery("calls", filters=(Filter("hits", "=", "many"),)),
        '^filters: value: got "many", want a number: hits is of type int',
    ),
    (TableQuery("calls", filters=(Filter("hits", "="),)), '^filters: value: missing, want one for "="; .*"is null"$'),
    (TableQuery("calls", filters=(Filter("hits", "=", (1, 2)),)), '^filters: value: got .*; a list goes with "in"$'),
    (TableQuery("calls", filters=(Filter("hits", "between", (1,)),)), "^filters: value: got .*, want the two ends"),
    (TableQuery("calls", filters=(Filter("hits", "in", ()),)), "^filters: value: got 0 values"),
    (TableQuery("calls", filters=(Filter("hits", "=", float("nan")),)), "^filters: value: got nan"),
    (TableQuery("calls", filters=(Filter("hits", "contains", "1"),)), '^filters: op: "contains" wants a column of text'),
    (TableQuery("calls", filters=(Filter("team", "contains", ""),)), '^filters: value: got ""'),
    (TableQuery("calls", filters=(Filter("team", "=", "a\0b"),)), "^filters: value: got .*readable"),
    (TableQuery("calls", filters=(Filter("team", "=", "x" * 1001),)), "^filters: value: got .*1000 characters"),
    (TableQuery("calls", filters=(Filter("raw", "=", "x"),)), "^filters: op: raw holds binary data"),
    (TableQuery("calls", filters=(Filter("ok", "=", "maybe"),)), '^filters: value: got "maybe", want true or false'),
    (
        TableQuery("calls", filters=(Filter("day", "=", "last month"),)),
        '^filters: value: got "last month", want a date such as 2026',
    ),
    (TableQuery("calls", filters=(Filter("day", "=", "2026-13-01"),)), "^filters: value: got .*want a date"),
    (TableQuery("calls", filters=(Filter("open", "=", "25:00"),)), "^filters: value: got .*want a time such as 09:30"),
    (TableQuery("calls", filters=(Filter("ok", "=", 1), Filter("hits", "=", "x"))), "^filters: filter 2: value: got"),
    (TableQuery("calls", group_by=("teams",)), r'^group_by: got "teams", .* did you mean "team"\?$'),
    (TableQuery("calls", group_by=("decade(day)",)), '^group_by: got "decade", want one of year, quarter'),
    (TableQuery("calls", group_by=("month(team)",)), '^group_by: month wants a column of dates, and "team" is of type text$'),
    (TableQuery("calls", group_by=("hour(day)",)), "^group_by: hour wants a column of moments or times"),
    (TableQuery("calls", columns=("hits",), group_by=("team",)), '^columns: got "hits", which is neither grouped nor aggregated'),
    (TableQuery("calls", aggregates=(Aggregate("mean", "ms"),)), r'^aggregates: function: got "mean", .* did you mean "median"\?$'),
    (TableQuery("calls", aggregates=(Aggregate("sum"),)), "^aggregates: column: missing, want the column to take sum of$"),
    (TableQuery("calls", aggregates=(Aggregate("sum", "team"),)), "^aggregates: sum wants a column of numbers, .* hits, ms, ok$"),
    (TableQuery("calls", aggregates=(Aggregate("max", "raw"),)), "^aggregates: max wants .*binary"),
    (TableQuery("calls", aggregates=(Aggregate("count"), Aggregate("count"))), '^aggregates: got the name "count" twice'),
    (TableQuery("calls", aggregates=(Aggregate("count", "", "x" * 81),)), "^aggregates: as: got"),
    (TableQuery("calls", aggregates=(Aggregate("count", "", "a\x1b[b"),)), "^aggregates: as: got"),
    (TableQuery("calls", order_by=(Order("speed"),)), '^order_by: got "speed", want one of team'),
    (
        TableQuery("calls", group_by=("team",), order_by=(Order("ms"),)),
        '^order_by: got "ms", which is neither .* want one of team$',
    ),
    (TableQuery("calls", limit=0), "^limit: got 0, want 1 to 200$"),
    (TableQuery("calls", limit=201), "^limit: got 201, want 1 to 200$"),
    (TableQuery("calls", group_by=tuple(f"c{n}" for n in range(21))), "^group_by: got 21, want 20 at most$"),
]


@pytest.mark.parametrize(("query", "message"), QUERIES)
def test_what_is_wrong_is_named_with_what_was_meant(query: TableQuery, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        compiled(query, TABLE)


def test_a_table_is_found_or_the_nearest_is_named() -> None:
    tables = [TABLE, Table(2, "latency", 1, "x.csv", "", 0, (), ())]
    assert table_named("Calls", tables) is TABLE
    with pytest.raises(QueryError, match=r'^table: got "call", want one of calls, latency; did you mean "calls"\?$'):
        table_named("call", tables)
    with pytest.raises(QueryError, match=r"^table: got .*there is no table$"):
        table_named("call", [])


# The same in plain Python

SMALL = (Column("team", "text"), Column("hits", "integer"), Column("ms", "real"), Column("day", "date"))
SMALL_TABLE = Table(1, "calls", 1, "x.csv", "", 0, SMALL, ())
WORDS = st.sampled_from(["a", "A", "ab", "b%", "_", "\\", ""])
NUMBERS = st.integers(-3, 3)
HALVES = st.integers(-6, 6).map(lambda n: n / 2)
DAYS = st.integers(0, 900).map(lambda n: (date(2024, 11, 1) + timedelta(n)).isoformat())
VALUES = {"team": WORDS, "hits": NUMBERS, "ms": HALVES, "day": DAYS}
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda cell, value: cell == value,
    "!=": lambda cell, value: cell != value,
    "<": lambda cell, value: cell < value,
    "<=": lambda cell, value: cell <= value,
    ">": lambda cell, value: cell > value,
    ">=": lambda cell, value: cell >= value,
    "in": lambda cell, value: cell in value,
    "not in": lambda cell, value: cell not in value,
    "between": lambda cell, value: value[0] <= cell <= value[1],
    "contains": lambda cell, value: value.lower() in cell.lower(),
    "starts with": lambda cell, value: cell.lower().startswith(value.lower()),
}
PERIOD_OF: dict[str, Callable[[date], Any]] = {
    "year": lambda day: day.year,
    "quarter": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
    "month": lambda day: f"{day:%Y-%m}",
    "week": lambda day: (day - timedelta(day.weekday())).isoformat(),
    "day": lambda day: day.isoformat(),
    "weekday": lambda day: f"{day:%A}",
}
TABLES = st.lists(st.tuples(*(st.none() | VALUES[column.name] for column in SMALL)), max_size=12)


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    column = draw(st.sampled_from([c.name for c in SMALL]))
    textual = ("contains", "starts with") if column == "team" else ()
    op = draw(
        st.sampled_from([*(op for op in COMPARED if op not in ("contains", "starts with")), *textual, "is null", "is not null"])
    )
    if "null" in op:
        return Filter(column, op)
    one = VALUES[column]
    if op in textual:
        return Filter(column, op, draw(one.filter(bool)))
    if op == "between":
        return Filter(column, op, draw(st.tuples(one, one)))
    return Filter(column, op, draw(st.lists(one, min_size=1, max_size=3).map(tuple) if op in ("in", "not in") else one))


def passes(row: Row, wish: Filter) -> bool:
    cell = row[[c.name for c in SMALL].index(wish.column)]
    if wish.op == "is null":
        return cell is None
    return cell is not None and (wish.op == "is not null" or COMPARED[wish.op](cell, wish.value))


def evaluated(function: str, cells: list[Any]) -> Any:
    present = [cell for cell in cells if cell is not None]
    if function in ("count", "count_distinct"):
        return len(present if function == "count" else set(present))
    if not present:
        return None
    of_numbers = {"sum": sum, "avg": statistics.mean, "min": min, "max": max, "median": statistics.median}
    return of_numbers[function](present)


def grouped(rows: list[Row], group_by: tuple[str, ...], aggregates: tuple[Aggregate, ...]) -> list[Row]:
    at = {column.name: number for number, column in enumerate(SMALL)}
    groups: dict[Row, list[Row]] = {} if group_by else {(): []}
    for row in rows:
        key = []
        for wish in group_by:
            period, _, inner = wish.rstrip(")").rpartition("(")
            cell = row[at[inner]]
            key.append(PERIOD_OF[period](date.fromisoformat(cell)) if period and cell is not None else cell)
        groups.setdefault(tuple(key), []).append(row)
    return [
        (*key, *(evaluated(a.function, [row[at[a.column]] if a.column else 1 for row in members]) for a in aggregates))
        for key, members in groups.items()
    ]


def comparable(rows: list[Row]) -> list[Row]:
    return sorted(
        (tuple((cell is None, str(cell) if isinstance(cell, str) else "", cell) for cell in row) for row in rows), key=str
    )


@settings(deadline=None)
@given(TABLES, st.lists(filters(), max_size=3).map(tuple))
def test_filters_keep_the_rows_that_plain_python_keeps(rows: list[Row], wished: tuple[Filter, ...]) -> None:
    sql, parameters = compiled(TableQuery("calls", filters=wished), SMALL_TABLE)
    found = filled(rows, SMALL).execute(sql, parameters).fetchall()
    assert found == [row for row in rows if all(passes(row, wish) for wish in wished)]


GROUPS = st.lists(st.sampled_from(["team", "hits", *(f"{period}(day)" for period in PERIOD_OF)]), unique=True, max_size=2).map(
    tuple
)
AGGREGATES = st.lists(
    st.tuples(st.sampled_from(FUNCTIONS), st.sampled_from(["hits", "ms"])) | st.just(("count", "")),
    unique=True,
    min_size=1,
    max_size=3,
).map(lambda pairs: tuple(Aggregate(*pair) for pair in pairs))


@settings(deadline=None)
@given(TABLES, st.lists(filters(), max_size=2).map(tuple), GROUPS, AGGREGATES)
def test_groups_and_aggregates_are_those_of_plain_python(
    rows: list[Row], wished: tuple[Filter, ...], group_by: tuple[str, ...], aggregates: tuple[Aggregate, ...]
) -> None:
    query = TableQuery("calls", filters=wished, group_by=group_by, aggregates=aggregates, limit=200)
    connection = filled(rows, SMALL)
    found = connection.execute(*compiled(query, SMALL_TABLE)).fetchall()
    expected = grouped([row for row in rows if all(passes(row, wish) for wish in wished)], group_by, aggregates)
    key = len(group_by)
    values = {row[:key]: row[key:] for row in expected}
    assert {row[:key] for row in found} == set(values)
    assert len(found) == len(expected)
    for row in found:
        assert row[key:] == pytest.approx(values[row[:key]])
    assert connection.execute(*counting(query, SMALL_TABLE)).fetchone() == (len(expected),)


@settings(deadline=None)
@given(TABLES, st.sampled_from(["team", "hits", "ms", "day"]), st.booleans(), st.integers(1, 12))
def test_order_and_limit_are_those_of_plain_python(rows: list[Row], by: str, descending: bool, limit: int) -> None:
    at = [column.name for column in SMALL].index(by)
    found = filled(rows, SMALL).execute(*compiled(TableQuery("calls", order_by=(Order(by, descending),), limit=limit), SMALL_TABLE))
    cells = sorted((row[at] for row in rows if row[at] is not None), reverse=descending)
    cells += [None] * (len(rows) - len(cells))
    assert [row[at] for row in found] == cells[:limit]


@settings(deadline=None)
@given(st.text(), st.text(), st.text(), st.text() | st.integers() | st.floats())
def test_any_text_is_a_query_error_or_a_query_that_runs(name: str, op: str, alias: str, value: Any) -> None:
    query = TableQuery(
        "calls",
        filters=(Filter("team", op if op in COMPARED else "=", value),),
        group_by=(name,) if name else (),
        aggregates=(Aggregate("count", "", alias),),
        order_by=(Order(alias or "count"),),
    )
    try:
        sql, parameters = compiled(query, SMALL_TABLE)
    except QueryError:
        return
    assert filled([], SMALL).execute(sql, parameters).fetchall() in ([], [(0,)])
