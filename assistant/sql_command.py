"""`archivist sql`: one SELECT in the sandbox, its rows shown as a table, records, JSON, lines of JSON or CSV."""

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

from assistant import layout, render
from assistant.errors import UsageError
from search.counting import counted

if TYPE_CHECKING:
    from search import Filters, Library
    from search.tables.models import ResultSet, Value

Form = Literal["text", "records", "json", "jsonl", "csv"]
FORMS: tuple[Form, ...] = ("records", "json", "jsonl", "csv")
_EXPORTS = ("jsonl", "csv")  # one row after another for another program, which cannot see that some are missing

_ROWS = 200
_LONGEST = 1_000_000  # characters that are read of a statement; the sandbox takes fewer and says how many
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
    cut = _cut(result, question, limit) + (_cut_values(result) if form not in {"text", "records"} else [])
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
        for line in layout.records(result, out) if form == "records" else layout.lines(result, out):
            out.write(line)


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
