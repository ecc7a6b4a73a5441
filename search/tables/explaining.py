"""Why a query of tables gave no rows: which filter removed how many, which values come near, what range a column has.

In: the query or the statement, the catalogue's tables, a way to run SQL. Out: sentences. They hold what the library knows and
nothing of the values that the query was sent with, so that whoever repeats them says no more than stands in the tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches

from search.folding import folded
from search.tables.conditions import NUMBERS, Scalar, comparable
from search.tables.models import Column, ResultSet, Table, Value
from search.tables.names import column_named, quoted
from search.tables.periods import DATED
from search.tables.query import Filter, TableQuery, counting_without
from search.tables.statements import read_statement

Run = Callable[[str, Sequence[Value], int], ResultSet]  # SQL, its parameters, how many rows to return

_MAX_VALUES = 5000  # of a column that are looked through
_LISTED = 8
_SHOWN = 60  # characters of a value
_MAX_TEXTS = 5
_MAX_REASONS = 10


def why_nothing_passes(query: TableQuery, table: Table, run: Run) -> list[str]:
    """Why no row passes the filters of a query that compiles; also when its aggregates then gave a row all the same."""
    if not query.filters:
        return [f"{table.name} has no rows"] if not table.rows else [f"{table.name} has {table.rows} rows, and none was asked for"]
    groups = _ranges_together(query, table)
    sql, parameters = counting_without(query, table, groups)
    rows, *without = (int(count or 0) for count in run(sql, parameters, 1).rows[0])
    if not rows:
        return [f"{table.name} has no rows"]
    labels = [_label([query.filters[at] for at in group], table) for group in groups]
    if len(labels) == 1:
        why = [f"none of the {rows} rows of {table.name} passes {labels[0]}"]
    else:
        removed = sorted(zip(without, labels, strict=True), key=lambda pair: -pair[0])
        why = [f"without {label} {count} of {rows} rows pass" for count, label in removed if count]
        why = why or [f"no row of {table.name} passes, whichever filter is left out; there are {rows}"]
    hints = (_hint(wish, column_named(wish.column, table, "filters"), table, run) for wish in query.filters)
    return [*why, *(hint for hint in dict.fromkeys(hints) if hint)][:_MAX_REASONS]


def why_no_values(query: TableQuery, table: Table) -> list[str]:
    """Why aggregates over rows that there are have no value."""
    names = dict.fromkeys(column_named(a.column, table, "aggregates").name for a in query.aggregates if a.column not in ("", "*"))
    return [f"no row that passes has a value in {', '.join(names)}"] if names else []


def why_no_rows(sql: str, parameters: Sequence[Value], tables: Sequence[Table]) -> list[str]:
    """Why a statement over these tables gave no rows, as far as the catalogue tells."""
    empty = [f"{table.name} has no rows" for table in tables if not table.rows]
    if empty:
        return empty
    rows = " and ".join(f"{table.name} has {table.rows}" for table in tables)
    why = [f"{rows} rows: its conditions or joins let none through" if tables else "its conditions or joins let no row through"]
    texts = [token.value for token in read_statement(sql).tokens if token.kind == "text"]
    wanted = [text for text in (*texts, *parameters) if isinstance(text, str) and text and "%" not in text]
    columns = [(table, column) for table in tables for column in table.columns if column.values]
    known = {value for _, column in columns for value in column.values}
    for text in dict.fromkeys(wanted):
        if text not in known:
            why += _near_columns(text, columns)
    return why[: _MAX_TEXTS + 1]


def _near_columns(text: str, columns: Iterable[tuple[Table, Column]]) -> Iterator[str]:
    """Which listed columns have a value that differs only in case, or else is near."""
    for table, column in columns:
        hint = _spelling(text, column.values)
        if hint:
            yield f"{table.name}.{column.name} {hint}"


def _ranges_together(query: TableQuery, table: Table) -> list[list[int]]:
    """The numbers of the filters: each alone, but the bounds of one column together, as a month is one wish and not two."""
    groups: dict[object, list[int]] = {}
    for at, wish in enumerate(query.filters):
        bound = wish.op.strip() in {"<", "<=", ">", ">="}
        groups.setdefault(column_named(wish.column, table, "filters").name if bound else at, []).append(at)
    return list(groups.values())


def _label(wishes: Sequence[Filter], table: Table) -> str:
    name = column_named(wishes[0].column, table, "filters").name
    return f"the filter{'s' if len(wishes) > 1 else ''} on {name} ({', '.join(' '.join(wish.op.split()) for wish in wishes)})"


def _hint(wish: Filter, column: Column, table: Table, run: Run) -> str:
    """What the column has instead of what a filter asks for; "" where that tells nothing."""
    op = " ".join(wish.op.split()).casefold()
    if not column.distinct:
        return "" if op == "is null" else f"{column.name} has no value in any row"
    if op == "is null":
        return f"{column.name} has a value in every row" if not column.nulls else ""
    if column.type in DATED or column.type in NUMBERS:
        return _range(wish, column)
    return _words(wish, op, column, table, run)


def _words(wish: Filter, op: str, column: Column, table: Table, run: Run) -> str:
    """What a column of text has that is like what a filter looks for."""
    if op not in {"=", "==", "in", "contains", "starts with"} or column.type != "text":
        return ""
    values = column.values or _values(column, table, run)
    wanted = [str(value) for value in _several(wish)]
    if op in {"=", "==", "in"} and any(value in values for value in wanted):
        return ""
    hint = next((hint for value in wanted if (hint := _spelling(value, values))), "")
    return f"{column.name} {hint}" if hint else f"values of {column.name}: {_listed(column.values)}" if column.values else ""


def _range(wish: Filter, column: Column) -> str:
    """The range of a column of numbers or dates; whether what a filter asks for lies within it."""
    least, most = column.minimum, column.maximum
    if least is None or most is None or column.type == "boolean":
        return ""
    kind = str if column.type in DATED else (int, float)
    sides = [comparable(value, column) for value in _several(wish)]
    told = f"{column.name} is {least} to {most}" if column.type in DATED else f"{column.name} is {_bound(least)} to {_bound(most)}"
    if not all(isinstance(side, kind) for side in (least, most, *sides)):
        return told
    outside = all(side < least for side in sides) or all(side > most for side in sides)  # type: ignore[operator]
    return told if outside else f"{told}, with {column.distinct} different values"


def _several(wish: Filter) -> tuple[Scalar, ...]:
    """The values of a filter."""
    if wish.value is None:
        return ()
    return wish.value if isinstance(wish.value, tuple) else (wish.value,)


def _values(column: Column, table: Table, run: Run) -> tuple[str, ...]:
    """Different values of a column of text that has too many for the catalogue."""
    name = quoted(column.name)
    sql = f"SELECT DISTINCT {name} FROM {quoted(table.name)} WHERE typeof({name}) = 'text' LIMIT {_MAX_VALUES}"
    return tuple(str(row[0]) for row in run(sql, (), _MAX_VALUES).rows)


def _spelling(wanted: str, values: Sequence[str]) -> str:
    """The values that differ from a text in case alone, else those that are near, else those that hold it."""
    same = [value for value in values if folded(value.strip()) == folded(wanted.strip())]
    if same:
        return f"has {_listed(same)}, which differs only in case or spaces"
    forms = {folded(value): value for value in values}
    near = [forms[form] for form in get_close_matches(folded(wanted)[:200], forms, n=3, cutoff=0.6)]
    near = near or [
        value for form, value in forms.items() if len(wanted) > 2 and (folded(wanted) in form or form in folded(wanted))
    ]
    return f"has nothing like it but {_listed(near)}" if near else ""


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(_bound(value) for value in values[:_LISTED])
    return f"{shown} and {len(values) - _LISTED} more" if len(values) > _LISTED else shown


def _bound(value: str | float | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return json.dumps(cut, ensure_ascii=False) if isinstance(value, str) else cut


__all__ = ["Run", "why_no_rows", "why_no_values", "why_nothing_passes"]
