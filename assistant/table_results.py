"""What the table tools show a model: rows that keep within a budget, descriptions of tables, and evidence for citations.

A result has a key, made of the SQL, its parameters and its rows, so that the same rows of the same query can be cited on any
machine. What was left out is said, with the way to read on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from assistant.cleaning import clean
from assistant.results import compact, plain
from assistant.table_declarations import TableNames
from assistant.tools import Evidence
from search import Document
from search.tables.models import Column, ResultSet, Table, Value

_LENGTHS = (2000, 500, 120)  # characters of a cell, the first that fits
_SHORTEST = 40
_NAME = 80
_MANY = 60  # columns, from which on their names are cut shorter
_SQL = 1500  # characters of a statement, which the model has written itself or can do without
_PARAMETERS = 20
_VALUES = 30  # of a column that a description lists
_NOTE = 300

Object = dict[str, Any]


def key_of(*parts: object) -> str:
    """The citation key of what was computed: 10 base32 characters of SHA-256 over its parts, decimal places to nine digits."""
    written = json.dumps(_hashed(parts), ensure_ascii=True, separators=(",", ":"))
    return base64.b32encode(hashlib.sha256(written.encode("ascii")).digest()).decode("ascii").lower()[:10]


def of_rows(
    result: ResultSet, *, key: str, units: Mapping[str, str], more: str, budget: int, told: Mapping[str, Any]
) -> tuple[Object, list[list[Any]]]:
    """A result as a model sees it, and the rows that it shows.

    units: by column of the result. more: how to read on where rows are left out. told: what else to say, where there is any.
    """
    longest = _NAME if len(result.columns) <= _MANY else _SHORTEST
    names = [_cut(name, longest) for name in result.columns]
    fitting = sum(size <= budget // 2 for size in accumulate(len(name) + 3 for name in names))
    listed = names if fitting == len(names) else [*names[:fitting], f"and {len(names) - fitting} more"]
    head: Object = {"key": key, **_statement(result), "columns": listed}
    head |= _given(units={_cut(name, longest): unit for name, unit in units.items() if name in result.columns})

    def build(rows: list[list[Any]], *, shortened: bool) -> Object:
        cut = []
        if len(rows) < result.total or not result.counted:
            total = result.total if result.counted else f"more than {result.total}"
            cut.append(f"{len(rows)} of {total} rows shown; {more if rows else 'read fewer columns'}")
        if shortened:
            cut.append("long texts are cut; read fewer columns or rows to see them whole")
        return {**head, "rows": rows, "total": result.total, **_given(cut="; ".join(cut), **told)}

    return _fitted(result.rows, build, budget)


def nothing(result: ResultSet, *, key: str, told: Mapping[str, Any], advice: str) -> Object:
    """What a query says that gave no row."""
    return {"found": 0, "key": key, **_statement(result), **_given(**told), "advice": advice}


def _statement(result: ResultSet) -> Object:
    """The SQL with its parameters, both cut where they are longer than anybody reads."""
    sql = result.sql if len(result.sql) <= _SQL else result.sql[:_SQL] + "…"
    parameters: list[Any] = [_cell(each, _NAME) for each in result.parameters[:_PARAMETERS]]
    if len(result.parameters) > _PARAMETERS:
        parameters.append(f"and {len(result.parameters) - _PARAMETERS} more")
    return {"sql": sql, **_given(parameters=parameters)}


def evidence(
    result: ResultSet, key: str, rows: Sequence[Sequence[Any]], sources: Sequence[Document], stale: str | None
) -> Evidence:
    """The rows that were shown, with the files that they came from and the SQL."""
    paths = list(dict.fromkeys(document.path for document in sources))
    views = [name for name in result.tables if name in {"documents", "document_tags", "passages"}]
    return Evidence(
        key=key,
        path=", ".join([*paths, *(["the index of documents"] if views else [])]) or "no table",
        root=sources[0].root if len(paths) == 1 else "",
        title="",
        headings=(),
        page=None,
        first_line=1,
        last_line=1,
        date=None,
        text="\n".join(" | ".join(_as_text(cell) for cell in row) for row in rows),
        stale=stale,
        sql=result.sql,
        parameters=tuple(plain(parameter) for parameter in result.parameters),
    )


def of_calculation(key: str, expression: str, value: float | str) -> tuple[Object, Evidence]:
    """The result of a calculation, and its evidence."""
    shown: Object = {"key": key, "expression": expression, "value": value}
    made = Evidence(key, "a calculation", "", "", (), None, 1, 1, None, str(value), expression=expression)
    return shown, made


def of_tables(tables: Sequence[Table], names: TableNames, budget: int) -> Object:
    """Descriptions of tables: as many as fit in full, the columns' names of more, and how to ask for the others."""
    value: Object = {}
    for value in _descriptions(tables, names):
        if len(compact(plain(value))) <= budget:
            break
    return value


def _descriptions(tables: Sequence[Table], names: TableNames) -> Iterator[Object]:
    """All tables in full, then ever shorter."""
    full = [_table(table, names) for table in tables]
    brief = [_brief_table(table, names) for table in tables]
    many = len(tables)
    for count in range(many, 0 if many == 1 else -1, -1):
        cut = f"{count} of {many} tables in full; `table` describes one" if count < many else ""
        yield {"tables": [*full[:count], *brief[count:]], **_given(cut=cut)}
    for count in range(many - 1, 0, -1):
        yield {"tables": brief[:count], "cut": f"{count} of {many} tables shown; search finds others by words"}
    columns = full[0]["columns"]
    count = len(columns)
    while count:
        count = count * 9 // 10
        cut = f"{count} of {len(columns)} columns shown; search shows first those with its words"
        yield {"tables": [full[0] | {"columns": columns[:count]}], "cut": cut}


def _table(table: Table, names: TableNames) -> Object:
    columns = [_column(column, names.columns[table.name].label(column.name)) for column in table.columns]
    head = {"name": names.tables.label(table.name), "source": _source(table), "rows": table.rows, "columns": columns}
    return head | ({"notes": [_cut(note, _NOTE) for note in table.notes]} if table.notes else {})


def _brief_table(table: Table, names: TableNames) -> Object:
    return {
        "name": names.tables.label(table.name),
        "source": _source(table),
        "rows": table.rows,
        "columns": list(names.columns[table.name].shown),
    }


def _source(table: Table) -> str:
    return f"{table.path} ({_cut(table.label, _NAME)})" if table.label else table.path


def _column(column: Column, name: str) -> Object:
    values = [_cut(value, _NAME) for value in column.values[:_VALUES]]
    members = {
        "name": name,
        "type": column.type,
        "header": _cut(column.header, _NAME) if column.header not in {"", name} else "",
        "unit": column.unit,
        "nulls": column.nulls,
        "distinct": column.distinct,
        "min": None if values else _short(column.minimum),
        "max": None if values else _short(column.maximum),
        "values": [*values, *([f"and {len(column.values) - _VALUES} more"] if len(column.values) > _VALUES else [])],
        "note": _cut(column.note, _NOTE),
        "comment": _cut(column.comment, _NOTE),
    }
    return {key: member for key, member in members.items() if member not in (None, "", []) and not (key == "nulls" and not member)}


def _given(**fields: Any) -> Object:
    return {name: value for name, value in fields.items() if value}


def _short(value: Value) -> Any:
    return _cut(value, _NAME) if isinstance(value, str) else _cell(value, _NAME)


def _fitted(rows: Sequence[Sequence[Value]], build: Callable[..., Object], budget: int) -> tuple[Object, list[list[Any]]]:
    """The value that holds the most within the budget: long cells are cut before rows are left out."""
    for longest in (*_LENGTHS, _SHORTEST):
        made = [[_cell(cell, longest) for cell in row] for row in rows]
        shortened = any(isinstance(cell, str) and len(cell) > longest for row in rows for cell in row)
        count = len(made)
        while True:
            value = build(made[:count], shortened=shortened)
            size = len(compact(plain(value)))
            if size <= budget:
                if count or not rows:
                    return value, made[:count]
                break
            if not count or (longest > _LENGTHS[-1] and any(isinstance(cell, str) for row in made for cell in row)):
                break
            count = max(0, min(count - 1, count * budget // size))
    return build([], shortened=False), []


def _cell(cell: Value, longest: int) -> Any:
    """A cell as JSON has it."""
    if isinstance(cell, bytes):
        return f"(binary, {len(cell)} bytes)"
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    if isinstance(cell, str) and len(cell) > longest:
        return clean(cell[:longest]) + " …"
    return clean(cell) if isinstance(cell, str) else cell


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else "" if cell is None else json.dumps(cell)


def _hashed(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    return [_hashed(member) for member in value] if isinstance(value, list | tuple) else value


def _cut(text: str, longest: int) -> str:
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


__all__ = ["evidence", "key_of", "nothing", "of_calculation", "of_rows", "of_tables"]
