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

Parameters = tuple[Any, ...]

_OPERATORS: tuple[Operator, ...] = ("<=", ">=", "!=", "=", "<", ">")
_CHANGED = re.compile(r"^\s*(?:changed|updated|modified|edited)\b\s*", re.IGNORECASE)
_CREATED = re.compile(r"^\s*created\b\s*", re.IGNORECASE)
_MAX_VALUES = 500
_TEXT = "(CASE WHEN {0}.type IN ('true', 'false') THEN {0}.type ELSE CAST({0}.value AS TEXT) END)"


@dataclass(frozen=True, slots=True)
class Clause:
    """One filter as SQL over `documents d`. label: the filter as the person wrote it."""

    label: str
    sql: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Compiled:
    """All filters together. range is what the dates were resolved to, None without a date filter."""

    clauses: tuple[Clause, ...]
    range: DateRange | None
    date_field: DateField

    @property
    def select(self) -> tuple[str, Parameters] | None:
        """A SELECT of the allowed document ids and its parameters; None when everything is allowed."""
        return self.without(None) if self.clauses else None

    def without(self, left_out: Clause | None) -> tuple[str, Parameters]:
        """The SELECT without one of the clauses."""
        kept = [clause for clause in self.clauses if clause is not left_out]
        where = " AND ".join(f"({clause.sql})" for clause in kept) or "1"
        return f"SELECT d.id FROM documents d WHERE {where}", tuple(p for clause in kept for p in clause.parameters)


def compile_filters(filters: Filters, *, today: date | None = None) -> Compiled:
    """Compile; raises FilterError for a date that is not understood, a bad metadata condition or too many values."""
    columns = {name: _bounded(name, getattr(filters, name)) for name in ("category", "format", "author", "language")}
    clauses = [_any_of(name, values) for name, values in columns.items() if values]
    clauses += [_tag(tag) for tag in _bounded("tag", filters.tags)]
    if globs := _bounded("source", filters.source):
        clauses.append(_globs(globs))
    if filters.title:
        clauses.append(Clause(f"title {filters.title!r}", "instr(lower(d.title), lower(?)) > 0", (filters.title,)))
    clauses += [_metadata(condition) for condition in _bounded("metadata", filters.metadata)]
    if filters.documents is not None:
        ids = json.dumps(sorted(filters.documents))
        clauses.append(Clause("within", "d.id IN (SELECT value FROM json_each(?))", (ids,)))
    dates = _dates(filters, today)
    if dates is not None:
        clauses += dates[0]
    return Compiled(tuple(clauses), dates[1] if dates else None, dates[2] if dates else filters.date_field)


def parse_condition(text: str) -> Condition:
    """A metadata condition as typed: `severity=high`, `duration >= 30`, `status in open, blocked`. Raises FilterError."""
    listed = re.fullmatch(r"\s*([\w.-]+)\s+in\s+(.+)", text, re.IGNORECASE | re.DOTALL)
    if listed:
        values = tuple(value.strip() for value in listed[2].strip().strip("()[]").split(",") if value.strip())
        return Condition(listed[1], "in", values)
    for operator in _OPERATORS:
        key, found, value = text.partition(operator)
        if found and re.fullmatch(r"[\w.-]+", key.strip()) and value.strip():
            return Condition(key.strip().removeprefix("metadata."), operator, _typed(value.strip()))
    raise FilterError(f"where: got {text!r}, want KEY=VALUE", "operators are =, !=, <, <=, >, >= and in: --where 'minutes>=30'")


def nearest(connection: sqlite3.Connection, filters: Filters) -> list[str]:
    """Values that the library does not have, each with its nearest ones: 'no category "runbook"; nearest: "runbooks"'."""
    notes = []
    for name, column in (("category", "category"), ("format", "format"), ("author", "author"), ("language", "language")):
        known = [r[0] for r in connection.execute(f"SELECT DISTINCT {column} FROM documents WHERE {column} IS NOT NULL")]
        notes += _unknown(name, getattr(filters, name), known)
    tags = [row[0] for row in connection.execute("SELECT DISTINCT tag FROM document_tags")]
    return notes + _unknown("tag", filters.tags, tags)


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


def _bounded(name: str, values: Sequence[Any]) -> Sequence[Any]:
    if len(values) > _MAX_VALUES:
        raise FilterError(f"{name}: got {len(values)} values, want {_MAX_VALUES} at most")
    return values


def _any_of(name: str, values: Sequence[str]) -> Clause:
    marks = ", ".join("?" * len(values))
    return Clause(f"{name} {' or '.join(values)}", f"d.{name} COLLATE NOCASE IN ({marks})", tuple(values))


def _tag(tag: str) -> Clause:
    sql = "EXISTS (SELECT 1 FROM document_tags t WHERE t.document_id = d.id AND t.tag = ? COLLATE NOCASE)"
    return Clause(f"tag {tag}", sql, (tag,))


def _globs(globs: Sequence[str]) -> Clause:
    patterns = tuple(pattern if any(mark in pattern for mark in "*?[") else f"*{pattern}*" for pattern in globs)
    return Clause(f"source {' or '.join(globs)}", " OR ".join(["d.path GLOB ?"] * len(patterns)), patterns)


def _metadata(condition: Condition) -> Clause:
    """A condition on front matter: numbers compare as numbers, everything else as text without regard to case."""
    label = f"{condition.key} {condition.operator} {condition.value}"
    if not re.fullmatch(r"[\w.-]{1,100}", condition.key):
        raise FilterError(f"where: got the key {condition.key!r}, want letters, digits, '_', '-' and '.'")
    # json_each instead of a JSON path: a key may hold any character without being part of the statement.
    value = "(SELECT m.value FROM json_each(d.metadata) m WHERE m.key = ? COLLATE NOCASE)"
    if condition.operator == "in":
        wanted = condition.value if isinstance(condition.value, tuple) else (str(condition.value),)
        marks = ", ".join("?" * len(wanted))
        sql = f"EXISTS (SELECT 1 FROM json_each(d.metadata) m WHERE m.key = ? COLLATE NOCASE AND ({_value_in(marks)}))"
        return Clause(label, sql, (condition.key, *wanted, *wanted))
    if condition.operator not in _OPERATORS or isinstance(condition.value, tuple):
        raise FilterError(f"where: got {label!r}, want one of the operators =, !=, <, <=, >, >= and in")
    if isinstance(condition.value, int | float):
        number = f"(CASE WHEN typeof({value}) IN ('integer', 'real') THEN {value} ELSE CAST({value} AS REAL) END)"
        keys = (condition.key,) * 3
        return Clause(
            label, f"{value} IS NOT NULL AND {number} {condition.operator} ?", (condition.key, *keys, condition.value)
        )
    if condition.operator in {"=", "!="}:
        exists = f"EXISTS (SELECT 1 FROM json_each(d.metadata) m WHERE m.key = ? COLLATE NOCASE AND ({_value_in('?')}))"
        negation = "NOT " if condition.operator == "!=" else ""
        return Clause(label, negation + exists, (condition.key, condition.value, condition.value))
    return Clause(label, f"CAST({value} AS TEXT) {condition.operator} ? COLLATE NOCASE", (condition.key, condition.value))


def _value_in(marks: str) -> str:
    """True when the value, or one of the values of a list, is among the marks."""
    members = f"SELECT 1 FROM json_each(m.value) e WHERE {_TEXT.format('e')} COLLATE NOCASE IN ({marks})"
    plain = f"{_TEXT.format('m')} COLLATE NOCASE IN ({marks})"
    return f"CASE WHEN m.type = 'array' THEN EXISTS ({members}) ELSE {plain} END"


def _typed(value: str) -> str | int | float:
    unquoted = value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else None
    if unquoted is not None:
        return unquoted
    if re.fullmatch(r"[+-]?\d{1,15}", value):
        return int(value)
    return float(value) if re.fullmatch(r"[+-]?\d{1,15}\.\d{1,15}", value) else value


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
            phrase = _CREATED.sub("", _CHANGED.sub("", phrase))
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
