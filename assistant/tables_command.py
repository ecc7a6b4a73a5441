"""`archivist tables`: which tables there are, and what is known of one of them, as text or JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from assistant import render
from search.counting import counted

if TYPE_CHECKING:
    from search import Filters, Library
    from search.tables.models import Column, Table, Value


@dataclass(frozen=True, slots=True)
class Question:
    """Which table is asked for, None for all; the day that phrases count from."""

    name: str | None
    today: date | None


def run(library: Library, filters: Filters, question: Question, *, as_json: bool, quiet: bool) -> None:
    """List the tables whose documents pass the filters, or describe the one that is named."""
    notes = render.err()
    resolved, field = library.resolved_dates(filters, today=question.today)
    shown = render.date_range(resolved, field)
    if shown and not quiet:
        notes.write(shown)
    tables = library.tables.describe(filters, today=question.today)
    chosen = named(question.name, tables) if question.name is not None else None
    if as_json:
        told = {"table": _object(chosen)} if chosen else {"tables": [_object(table) for table in tables]}
        render.out().write(render.as_json({"library": str(library.path), **told}))
    elif chosen:
        _describe(chosen)
    elif tables:
        rows = [(table.name, table.rows, len(table.columns), _source(table)) for table in tables]
        _show(("table", "rows", "columns", "source"), rows)
    elif not quiet:
        notes.write("no table: no file that passes the filters holds one")


def named(name: str, tables: Sequence[Table]) -> Table:
    """The table with a name, or with a unique beginning of it. Raises QueryError, which names the nearest one."""
    from search.tables.query import table_named

    begin = [table for table in tables if table.name.casefold().startswith(name.strip().casefold())]
    if name.strip() and len(begin) == 1:
        return begin[0]
    return table_named(name, tables)


def _describe(table: Table) -> None:
    out = render.out()
    size = f"{counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}"
    out.write(out.style(render.one_line(table.name), "1") + f"  {size}, from {_source(table)}")
    for note in table.notes:
        out.write(out.style(render.one_line(note), "2"))
    out.write()
    _show(
        ("column", "type", "unit", "nulls", "distinct", "range", "values"),
        [
            (
                column.name,
                column.type,
                column.unit,
                column.nulls,
                column.distinct,
                _range(column),
                "; ".join(map(render.one_line, column.values)),
            )
            for column in table.columns
        ],
    )
    remarks = [line for column in table.columns for line in _remarks(column)]
    if remarks:
        out.write()
    for line in remarks:
        out.write(line)


def _range(column: Column) -> str:
    if column.minimum is None or column.maximum is None or column.values:
        return ""
    if column.minimum == column.maximum:
        return render.one_line(str(column.minimum))
    return render.one_line(f"{column.minimum} to {column.maximum}")


def _remarks(column: Column) -> list[str]:
    """What is to be known of a column beside its figures."""
    header = f'"{column.header}" in the file' if column.header else ""
    declared = f"declared {column.declared}" if column.declared and column.declared.casefold() != column.type else ""
    parts = [part for part in (header, declared, column.note, column.comment) if part]
    return [f"{render.one_line(column.name)}: {render.one_line('; '.join(parts))}"] if parts else []


def _source(table: Table) -> str:
    return render.one_line(f"{table.path} ({table.label})" if table.label else table.path)


def _show(columns: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> None:
    from assistant.sql_command import lines
    from search.tables.models import ResultSet

    shown = ResultSet(
        columns=tuple(columns), rows=tuple(rows), total=len(rows), counted=True, sql="", parameters=(), tables=(), seconds=0.0
    )
    out = render.out()
    for line in lines(shown, out):
        out.write(line)


def _object(table: Table) -> dict[str, Any]:
    columns = [{name: _finite(value) for name, value in asdict(column).items()} for column in table.columns]
    return {
        "name": table.name,
        "source": table.path,
        "label": table.label,
        "rows": table.rows,
        "columns": columns,
        "notes": list(table.notes),
    }


def _finite(value: object) -> object:
    """A value that JSON has: it knows no infinity."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
