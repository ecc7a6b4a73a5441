"""`archivist tables`: which tables there are, and what is known of one of them, as text or JSON."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from assistant import render
from search.counting import counted

if TYPE_CHECKING:
    from search import Filters, Library
    from search.tables.models import Column, Table

_LISTED = 20
_LONG_TEXT = 24  # characters from which on the first and the last text of a column are no range
_WIDEST = 60  # columns of values where the output is no terminal; --json has all
_LEAST_VALUES = 20  # columns that values need beside the figures


@dataclass(frozen=True, slots=True)
class Question:
    """Which table is asked for, by name or file, None for all; the day that phrases count from."""

    name: str | None
    today: date | None


def run(library: Library, filters: Filters, question: Question, *, as_json: bool, quiet: bool) -> None:
    """List the tables whose documents pass the filters, or those of a file that is named; describe one that is named."""
    notes = render.err()
    resolved, field = library.resolved_dates(filters, today=question.today)
    shown = render.date_range(resolved, field)
    if shown and not quiet:
        notes.write(shown)
    tables = library.tables.describe(filters, today=question.today)
    if question.name is not None:
        tables = named(question.name, tables)
    one = question.name is not None and len(tables) == 1
    if as_json:
        told = {"table": _object(tables[0])} if one else {"tables": [_object(table) for table in tables]}
        render.out().write(render.as_json({"library": str(library.path), **told}))
    elif one:
        _describe(tables[0])
    elif tables:
        _list(tables)
    elif not quiet:
        notes.write("no table: no file that passes the filters holds one")


def named(name: str, tables: Sequence[Table]) -> list[Table]:
    """The table with a name, or with a unique beginning of it, or those of the file whose path or its end this is.

    Raises QueryError, which names those that are near.
    """
    from search.errors import QueryError
    from search.tables.query import table_named

    wish = name.strip()
    begin = [table for table in tables if wish and table.name.casefold().startswith(wish.casefold())]
    if len(begin) == 1:
        return begin
    try:
        return [table_named(name, tables)]
    except QueryError:
        path = wish.removeprefix("./")
        of_file = [table for table in tables if path and f"/{table.path}".endswith(f"/{path.lstrip('/')}")]
        of_file = of_file or [table for table in tables if path.startswith("/") and path.endswith(f"/{table.path}")]
        if of_file:
            return of_file
        if begin:
            listed = ", ".join(table.name for table in begin[:_LISTED])
            more = f" and {len(begin) - _LISTED} more" if len(begin) > _LISTED else ""
            raise QueryError(f'table: {len(begin)} begin with "{wish}": {listed}{more}; name one') from None
        raise


def _list(tables: Sequence[Table]) -> None:
    rows = [(table.name, str(table.rows), str(len(table.columns)), _source(table)) for table in tables]
    _show(("table", "rows", "columns", "source"), rows, right={1, 2}, whole=True)


def _describe(table: Table) -> None:
    out = render.out()
    size = f"{counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}"
    out.write(out.style(render.one_line(table.name), "1") + f"  {size}, from {_source(table)}")
    for note in table.notes:
        out.write(out.style(render.one_line(note), "2"))
    out.write()
    rows = [
        (
            render.one_line(column.name),
            column.type,
            render.one_line(column.unit),
            str(column.nulls),
            str(column.distinct),
            "; ".join(map(render.one_line, column.values)) or _range(column),
        )
        for column in table.columns
    ]
    _show(("column", "type", "unit", "nulls", "distinct", "values"), rows, right={3, 4})
    remarks = [line for column in table.columns for line in _remarks(column)]
    if remarks:
        out.write()
    for line in remarks:
        out.write(line)


def _range(column: Column) -> str:
    """From the least to the greatest value; of long texts that tells nothing."""
    if column.minimum is None or column.maximum is None:
        return ""
    least, greatest = (render.one_line(str(value)) for value in (column.minimum, column.maximum))
    if column.type == "text" and max(len(least), len(greatest)) > _LONG_TEXT:
        return ""
    return least if least == greatest else f"{least} to {greatest}"


def _remarks(column: Column) -> list[str]:
    """What is to be known of a column beside its figures; a header that the name only writes in its own way is not."""
    same = "_".join(column.header.split()).casefold() == column.name.casefold()
    header = f'"{column.header}" in the file' if column.header and not same else ""
    declared = f"declared {column.declared}" if column.declared and column.declared.casefold() != column.type else ""
    parts = [part for part in (header, declared, column.note, column.comment) if part]
    return [f"{render.one_line(column.name)}: {render.one_line('; '.join(parts))}"] if parts else []


def _source(table: Table) -> str:
    return render.one_line(f"{table.path} ({table.label})" if table.label else table.path)


def _show(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int], whole: bool = False) -> None:
    """Show rows of texts. Names, which come first, are never cut: a long one has a line of its own.

    What comes last gives way where there is no room, on a terminal to a line below; whole: it is not cut even then.
    """
    out = render.out()
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(render.columns, column)) for column in columns]
    if out.interactive:
        widths[0] = max([width for width in map(render.columns, columns[0]) if width <= out.width // 2])
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = out.width - before if out.interactive else widths[-1] if whole else _WIDEST
    below = room < (widths[-1] if whole else min(widths[-1], _LEAST_VALUES))
    widths[-1] = min(widths[-1], room)

    def shown(row: Sequence[str], style: str) -> list[str]:
        name, *between, last = row
        padded = [_padded(name, widths[0])]
        padded += [_padded(text, widths[at], right=at in right) for at, text in enumerate(between, 1)]
        lines = ["  ".join(padded)]
        if render.columns(name) > widths[0]:
            lines = [name, "  ".join([" " * widths[0], *padded[1:]])]
        if below and last and style:
            lines[-1] += f"  {last}"
        elif below and last:
            lines += [
                "    " + line for line in (render.wrapped(last, out.width - 4) if whole else [render.cut(last, out.width - 4)])
            ]
        elif not below:
            lines[-1] += "  " + render.cut(last, widths[-1])
        return [out.style(line.rstrip(), style) if style else line.rstrip() for line in lines]

    rule = ["-" * width for width in (widths[:-1] if below else widths)]
    for line in (*shown(head, "1"), out.style("  ".join(rule), "2"), *(line for row in rows for line in shown(row, ""))):
        out.write(line)


def _padded(text: str, width: int, *, right: bool = False) -> str:
    space = " " * (width - render.columns(text))
    return space + text if right else text + space


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
