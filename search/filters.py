"""Filters compiled to parameterized SQL over `documents`.

In: Filters, with dates as people write them. Out: a SELECT of document ids with bound parameters, the resolved range of days,
and the same clauses one by one, so that an empty result can say which of them removed the most.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any

from search.dates import bounds
from search.errors import FilterError
from search.models import Condition, DateField, DateRange, Filters, Operator
from search.sources import to_text

Parameters = tuple[Any, ...]

_OPERATORS: tuple[Operator, ...] = ("<=", ">=", "!=", "=", "<", ">")
_CHANGED = re.compile(r"^\s*(?:changed|updated|modified|edited)\b\s*", re.IGNORECASE)
_CREATED = re.compile(r"^\s*created\b\s*", re.IGNORECASE)
_MAX_VALUES = 500
_MAX_CHARACTERS = 1000
_MAX_DEPTH = 50
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")  # SQLite's GLOB ends at NUL
# A metadata value m as a list of one, a list as it is; the text of a member e of it; its number, NULL when it is none.
_LIST = (
    "CASE WHEN m.type = 'array' THEN m.value WHEN m.type IN ('true', 'false') THEN '[' || m.type || ']' "
    "ELSE json_array(m.value) END"
)
_VALUE = "folded(CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END)"
_NUMBER = (
    "(CASE WHEN e.type IN ('integer', 'real') THEN e.value WHEN e.type = 'text' THEN CASE WHEN json_valid(e.value) THEN "
    "CASE WHEN json_type(e.value) IN ('integer', 'real') THEN CAST(e.value AS REAL) END END END)"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One filter as SQL over `documents d`. label: the filter as the person wrote it."""

    label: str
    sql: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Compiled:
    """All filters together. range is what the dates were resolved to, None without a date filter (those of `within` apart).

    within: the clause, one of `clauses`, of the filters that these stand within; None without any.
    """

    clauses: tuple[Clause, ...]
    range: DateRange | None
    date_field: DateField
    within: Clause | None = None

    @property
    def select(self) -> tuple[str, Parameters] | None:
        """A SELECT of the allowed document ids and its parameters; None when everything is allowed."""
        return self.without(None) if self.clauses else None

    @property
    def own(self) -> tuple[Clause, ...]:
        """The clauses without `within`."""
        return tuple(clause for clause in self.clauses if clause is not self.within)

    @property
    def outer(self) -> tuple[str, Parameters] | None:
        """A SELECT of the document ids that these filters choose from; None when that is all of them."""
        return _select([self.within]) if self.within else None

    def without(self, left_out: Clause | None) -> tuple[str, Parameters]:
        """The SELECT without one of the clauses."""
        return _select([clause for clause in self.clauses if clause is not left_out])


def compile_filters(filters: Filters, *, today: date | None = None) -> Compiled:
    """Compile; raises FilterError for a date that is not understood, a bad metadata condition or too many values."""
    _check_sizes(filters)
    within = _within(filters, today)
    columns = {name: getattr(filters, name) for name in ("category", "format", "author", "language")}
    clauses = [_any_of(name, values) for name, values in columns.items() if values]
    clauses += [_tag(tag) for tag in filters.tags]
    if filters.source:
        clauses.append(_globs(filters.source))
    if filters.title:
        clauses.append(Clause(f"title {filters.title!r}", "instr(folded(d.title), ?) > 0", (filters.title.casefold(),)))
    clauses += [_metadata(condition) for condition in filters.metadata]
    if filters.documents is not None:
        ids = json.dumps(sorted(filters.documents))
        clauses.append(Clause("within", "d.id IN (SELECT value FROM json_each(?))", (ids,)))
    dates = _dates(filters, today)
    if dates is not None:
        clauses += dates[0]
    if within is not None:
        clauses.append(within)
    return Compiled(tuple(clauses), dates[1] if dates else None, dates[2] if dates else filters.date_field, within)


def parse_condition(text: str) -> Condition:
    """A metadata condition as typed: `severity=high`, `duration >= 30`, `status in open, blocked`. Raises FilterError."""
    listed = re.fullmatch(r"\s*([\w.-]+)\s+in\s+(.+)", text, re.IGNORECASE | re.DOTALL)
    if listed and (values := tuple(value.strip() for value in listed[2].strip().strip("()[]").split(",") if value.strip())):
        return Condition(listed[1].removeprefix("metadata."), "in", values)
    for operator in _OPERATORS:
        key, found, value = text.partition(operator)
        if found and re.fullmatch(r"[\w.-]+", key.strip()) and value.strip():
            return Condition(key.strip().removeprefix("metadata."), operator, _typed(value.strip()))
    raise FilterError(f"where: got {text!r}, want KEY=VALUE", "operators are =, !=, <, <=, >, >= and in: --where 'minutes>=30'")


def nearest(
    connection: sqlite3.Connection, filters: Filters, *, allowed_sql: tuple[str, Sequence[object]] | None = None
) -> list[str]:
    """Values that the library does not have, each with its nearest ones: 'no category "runbook"; nearest: "runbooks"'.

    allowed_sql: a SELECT of the document ids whose values count, with its parameters; None for all.
    """
    select, parameters = allowed_sql or ("SELECT id FROM documents", ())

    def known(column: str, table: str, key: str) -> list[str]:
        rows = connection.execute(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL AND {key} IN ({select})", parameters
        )
        return [row[0] for row in rows]

    notes = []
    for name in ("category", "format", "author", "language"):
        if getattr(filters, name):
            notes += _unknown(name, getattr(filters, name), known(name, "documents", "id"))
    return notes + _unknown("tag", filters.tags, known("tag", "document_tags", "document_id") if filters.tags else [])


def _unknown(name: str, wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    folded = {value.casefold(): value for value in sorted(known)}
    notes = []
    for value in wanted:
        if value.casefold() in folded:
            continue
        close = [folded[match] for match in get_close_matches(value.casefold(), folded, n=3, cutoff=0.5)]
        close = close or [v for k, v in folded.items() if value.casefold() in k or k in value.casefold()][:3]
        listed = close or list(folded.values())[:8]
        label = "nearest" if close else "there are"
        names = ", ".join(f'"{entry}"' for entry in listed)
        notes.append(f'no {name} "{value}"; {label}: {names}' if listed else f'no {name} "{value}": the library has none')
    return notes


def _within(filters: Filters, today: date | None) -> Clause | None:
    """The filters that these stand within, as one clause; None when they let everything through."""
    inner, depth = filters.within, 0
    while inner is not None:
        inner, depth = inner.within, depth + 1
        if depth > _MAX_DEPTH:
            raise FilterError(f"within: got filters within filters more than {_MAX_DEPTH} deep")
    if filters.within is None:
        return None
    clauses = compile_filters(filters.within, today=today).clauses
    if not clauses:
        return None
    return Clause("within", _all_of([clause.sql for clause in clauses]), tuple(p for clause in clauses for p in clause.parameters))


def _select(clauses: Sequence[Clause]) -> tuple[str, Parameters]:
    where = _all_of([clause.sql for clause in clauses]) if clauses else "1"
    return f"SELECT d.id FROM documents d WHERE {where}", tuple(p for clause in clauses for p in clause.parameters)


def _all_of(conditions: Sequence[str]) -> str:
    """Conditions joined by AND, halves by halves: SQLite bounds how deep an expression may be."""
    middle = len(conditions) // 2
    return f"({_all_of(conditions[:middle])} AND {_all_of(conditions[middle:])})" if middle else f"({conditions[0]})"


def _check_sizes(filters: Filters) -> None:
    """Refuse what SQLite would refuse in words about statements, and text that no library can hold."""
    lists: dict[str, Sequence[Any]] = {name: getattr(filters, name) for name in ("category", "format", "author", "language")}
    lists["source"] = [to_text(glob) for glob in filters.source]
    # Each of these is a subquery of its own: they are bounded together.
    lists["tag and where"] = (*filters.tags, *(condition.key for condition in filters.metadata))
    lists |= {f"where {c.key}": c.value if isinstance(c.value, tuple) else (c.value,) for c in filters.metadata}
    lists["title"] = (filters.title or "",)
    for name, values in lists.items():
        if len(values) > _MAX_VALUES:
            raise FilterError(f"{name}: got {len(values)} values, want {_MAX_VALUES} at most")
        for value in values:
            if isinstance(value, str) and (len(value) > _MAX_CHARACTERS or _UNREADABLE.search(value)):
                raise FilterError(f"{name}: got {value[:40]!r}, want {_MAX_CHARACTERS} characters of readable text at most")


def _any_of(name: str, values: Sequence[str]) -> Clause:
    marks = ", ".join("?" * len(values))
    return Clause(f"{name} {' or '.join(values)}", f"folded(d.{name}) IN ({marks})", tuple(value.casefold() for value in values))


def _tag(tag: str) -> Clause:
    sql = "EXISTS (SELECT 1 FROM document_tags t WHERE t.document_id = d.id AND folded(t.tag) = ?)"
    return Clause(f"tag {tag}", sql, (tag.casefold(),))


def _globs(globs: Sequence[str]) -> Clause:
    patterns = [to_text(pattern) if any(mark in pattern for mark in "*?[") else f"*{to_text(pattern)}*" for pattern in globs]
    sql = "EXISTS (SELECT 1 FROM json_each(?) g WHERE d.path GLOB g.value)"
    return Clause(f"source {' or '.join(globs)}", sql, (json.dumps(patterns),))


def _metadata(condition: Condition) -> Clause:
    """A condition on front matter, which any one value of a list may fulfil; "!=" is true wherever "=" is not.

    A number is compared with numbers, and with text that is one; any other value as text without regard to case.
    """
    key, operator, wanted = condition.key, condition.operator, condition.value
    label = f"{key} {operator} {', '.join(map(str, wanted)) if isinstance(wanted, tuple) else wanted}"
    if not re.fullmatch(r"[\w.-]{1,100}", key):
        raise FilterError(f"where: got the key {key!r}, want letters, digits, '_', '-' and '.'")
    parameters: Parameters
    if operator == "in":
        values = wanted if isinstance(wanted, tuple) else (wanted,)
        parameters = tuple(_as_text(value) for value in values)
        test = f"{_VALUE} IN ({', '.join('?' * len(values))})"
    elif operator not in _OPERATORS or isinstance(wanted, tuple):
        raise FilterError(f"where: got {label!r}, want one of the operators =, !=, <, <=, >, >= and in")
    else:
        comparison = "=" if operator == "!=" else operator
        if isinstance(wanted, int | float) and not isinstance(wanted, bool):
            # Beyond 64 bits SQLite has no integers; as a float the number is near enough to compare.
            test, parameters = f"{_NUMBER} {comparison} ?", (wanted if abs(wanted) < 2**63 else float(wanted),)
        else:
            test, parameters = f"{_VALUE} {comparison} ?", (_as_text(wanted),)
    # json_each instead of a JSON path: a key may hold any character without being part of the statement.
    exists = f"EXISTS (SELECT 1 FROM json_each(d.metadata) m, json_each({_LIST}) e WHERE folded(m.key) = ? AND {test})"
    return Clause(label, f"NOT {exists}" if operator == "!=" else exists, (key.casefold(), *parameters))


def _as_text(value: object) -> str:
    return str(value).casefold()


def _typed(value: str) -> str | int | float:
    unquoted = value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else None
    if unquoted is not None:
        return unquoted
    # ASCII digits, and no leading zeros: a code such as 007 is text.
    if re.fullmatch(r"[+-]?(?:0|[1-9][0-9]{0,14})", value):
        return int(value)
    return float(value) if re.fullmatch(r"[+-]?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}", value) else value


def _dates(filters: Filters, today: date | None) -> tuple[list[Clause], DateRange, DateField] | None:
    """The date filters; the words changed, updated, modified and created in front of a phrase choose the date they test."""
    field = filters.date_field
    phrases: dict[str, str | None] = {}
    for name in ("after", "before", "during"):
        phrase = getattr(filters, name)
        if phrase:
            if _CHANGED.match(phrase):
                field = "modified"
            elif _CREATED.match(phrase):
                field = "created"
            written, phrase = phrase, _CREATED.sub("", _CHANGED.sub("", phrase))
            if not phrase.strip():
                raise FilterError(f"{name}: got {written!r}, want a date or a phrase", f"--{name} 'changed last week'")
        phrases[name] = phrase
    if not any(phrases.values()):
        return None
    if field not in {"date", "modified", "created"}:
        raise FilterError(f"date-field: got {field!r}, want date, modified or created")
    resolved = bounds(after=phrases["after"], before=phrases["before"], during=phrases["during"], today=today)
    label = ", ".join(f"{name} {phrase}" for name, phrase in phrases.items() if phrase)
    conditions, parameters = [f"d.{field} IS NOT NULL"], []
    if resolved.start:
        conditions.append(f"d.{field} >= ?")
        parameters.append(resolved.start)
    if resolved.end:
        conditions.append(f"d.{field} <= ?")
        parameters.append(resolved.end)
    return [Clause(label, " AND ".join(conditions), tuple(parameters))], resolved, field
