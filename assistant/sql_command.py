"""`archivist sql`: one SELECT in the sandbox, its rows shown as a table, JSON, lines of JSON or CSV."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from assistant import render
from assistant.errors import UsageError
from search.counting import counted

if TYPE_CHECKING:
    from search import Filters, Library
    from search.tables.models import ResultSet, Value

Form = Literal["text", "json", "jsonl", "csv"]
FORMS: tuple[Form, ...] = ("json", "jsonl", "csv")
_EXPORTS = ("jsonl", "csv")  # one row after another for another program, which cannot see that some are missing

_ROWS = 200
_LONGEST = 1_000_000  # characters that are read of a statement; the sandbox takes fewer and says how many
_WIDEST = 200  # columns of a cell where the output is no terminal
_NARROWEST = 8
# ASCII digits, and no leading zeros: a code such as 007 is text, and so is a longer number than SQLite's integers hold.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{0,30}|(?=[eE]))|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Question:
    """A statement with its parameters as typed, how many rows to show (None: what suits the form), and its time in seconds."""

    sql: str
    values: tuple[str, ...]
    limit: int | None
    seconds: float
    today: date | None


def statement_from(given: str | None) -> str:
    """The statement given, or what is piped in where it is "-" or missing."""
    if given not in {None, "-"}:
        return str(given)
    if sys.stdin is None or (given is None and sys.stdin.isatty()):
        raise UsageError("give a SELECT", 'archivist sql "SELECT category, count(*) FROM documents GROUP BY 1"')
    return sys.stdin.read(_LONGEST)


def run(library: Library, filters: Filters, question: Question, *, form: Form, quiet: bool) -> int:
    """Run a statement and show its rows; how many there are is said on standard error, what was left out even if quiet.

    Returns the exit code: 1 where something is missing that no row limit left out. Without a limit an export has all rows, the
    others as many as people read.
    """
    from search.tables.sandbox import MAX_ROWS

    notes = render.err()
    limit = question.limit if question.limit is not None else MAX_ROWS if form in _EXPORTS else _ROWS
    resolved, field = library.resolved_dates(filters, today=question.today)
    shown = render.date_range(resolved, field)
    if shown and not quiet:
        notes.write(shown)
    result = library.tables.sql(
        question.sql,
        parameters(question.sql, question.values),
        filters,
        today=question.today,
        max_rows=limit,
        seconds=question.seconds,
    )
    if form == "json":
        whole = {
            "library": str(library.path),
            "range": asdict(resolved) | {"field": field} if resolved else None,
            "sql": result.sql,
            "parameters": list(result.parameters),
            "columns": list(result.columns),
            "rows": [[_finite(value) for value in row] for row in result.rows],
            "total": result.total,
            "counted": result.counted,
            "tables": list(result.tables),
        }
        render.out().write(render.as_json(whole))
    else:
        _show(result, form)
    cut = _cut(result, question, limit) + (_cut_values(result) if form != "text" else [])
    if cut or not quiet:
        said = cut or [f"{counted(result.total, 'row')}, {result.seconds:.2f} s"]
        notes.write(notes.style("; ".join(said), "2"))
    as_asked = len(result.rows) == limit and (question.limit is not None or form not in _EXPORTS) and len(cut) == 1
    return 1 if cut and not as_asked else 0


def parameters(sql: str, values: Sequence[str]) -> tuple[Value, ...] | dict[str, Value]:
    """Parameters as typed: numbers are numbers unless in quotes; NAME=VALUE where the statement has names for them."""
    from search.tables.statements import read_statement

    names = {token.text[1:] for token in read_statement(sql).tokens if token.kind == "parameter" and token.text[0] != "?"}
    if not names:
        return tuple(_typed(value) for value in values)
    named = [value.partition("=") for value in values]
    unknown = next((name for name, equals, _ in named if not equals or name.lstrip(":@$") not in names), None)
    if unknown is not None:
        raise UsageError(f"--parameter: got {unknown!r}, want NAME=VALUE for {', '.join(sorted(names))}")
    return {name.lstrip(":@$"): _typed(value) for name, _, value in named}


def _typed(value: str) -> Value:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    if _WHOLE.fullmatch(value):
        return int(value)
    return float(value) if _DECIMAL.fullmatch(value) else value


def _show(result: ResultSet, form: Form) -> None:
    out = render.out()
    if form == "jsonl":
        names = _distinct(result.columns)
        for row in result.rows:
            out.write(render.as_json(dict(zip(names, map(_finite, row), strict=True))))
    elif form == "csv":
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow([render.safe(name) for name in result.columns])
        writer.writerows([render.safe(value) if isinstance(value, str) else value for value in row] for row in result.rows)
        out.write(rows.getvalue().removesuffix("\n"))
    else:
        for line in lines(result, out):
            out.write(line)


def lines(result: ResultSet, terminal: render.Terminal) -> list[str]:
    """A result as the lines of a table: numbers to the right, NULL dim, cells cut where a terminal is too narrow."""
    header = [render.one_line(name) for name in result.columns]
    cells = [[_written(value) for value in row] for row in result.rows]
    wanted = [max(map(render.columns, column), default=0) for column in zip(header, *cells, strict=True)]
    widths = _widths(wanted, terminal.width if terminal.interactive else None)
    right = [_is_number(column) for column in zip(*result.rows, strict=True)] or [False] * len(header)

    def line(texts: Sequence[str], styles: Sequence[str]) -> str:
        parts = []
        for text, style, width, to_the_right in zip(texts, styles, widths, right, strict=True):
            cut = render.cut(text, width)
            space = " " * (width - render.columns(cut))
            styled = terminal.style(cut, style) if style else cut
            parts.append(space + styled if to_the_right else styled + space)
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    body = [line(texts, ["2" if value is None else "" for value in row]) for texts, row in zip(cells, result.rows, strict=True)]
    return [line(header, ["1"] * len(header)), terminal.style(rule, "2"), *body]


def _widths(wanted: Sequence[int], room: int | None) -> list[int]:
    """How wide each column is: as it wants to be, the widest ones less where there is no room for all."""
    widths = [min(width, _WIDEST) for width in wanted]
    if room is None:
        return widths
    excess = sum(widths) + 2 * (len(widths) - 1) - room
    while excess > 0 and max(widths) > _NARROWEST:
        widest = widths.index(max(widths))
        second = max([width for width in widths if width < widths[widest]], default=0)
        less = min(excess, widths[widest] - max(second, _NARROWEST) or 1)
        widths[widest] -= less
        excess -= less
    return widths


def _is_number(column: Sequence[Value]) -> bool:
    values = [value for value in column if value is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _written(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        exact = repr(value)
        return exact if len(exact) <= 12 else f"{value:.10g}"
    return render.one_line(str(value))


def _finite(value: Value) -> Any:
    """A value that JSON has: it knows no infinity."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _distinct(names: Sequence[str]) -> list[str]:
    """Names for the members of an object: the second of two equal ones gets a number."""
    given: list[str] = []
    for name in names:
        number, free = 1, name
        while free in given:
            number += 1
            free = f"{name}_{number}"
        given.append(free)
    return given


def _cut(result: ResultSet, question: Question, limit: int) -> list[str]:
    """What is said of rows that are not shown."""
    from search.tables.sandbox import MAX_ROWS

    shown = f"{len(result.rows):,} of {result.total:,} rows"
    if not result.counted:
        return [f"{shown} or more: stopped after {question.seconds:g} s (--seconds)"]
    if len(result.rows) == result.total:
        return []
    if len(result.rows) < limit:
        return [f"{shown}, {result.seconds:.2f} s; the others would make the answer too large"]
    more = f"{limit:,} are the most: add WHERE, or LIMIT and OFFSET" if limit == MAX_ROWS else "-n shows more"
    return [f"{shown}, {result.seconds:.2f} s; {more}"]


def _cut_values(result: ResultSet) -> list[str]:
    from search.tables.sandbox import is_cut

    number = sum(is_cut(value) for row in result.rows for value in row)
    return [f"{counted(number, 'value')} cut after 10,000 characters: substr() gives the rest"] if number else []
