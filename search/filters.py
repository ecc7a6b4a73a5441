"""Filters compiled to parameterized SQL over `documents`.

In: Filters, with dates as people write them. Out: a SELECT of document ids with bound parameters, the resolved range of days,
and the same clauses one by one, so that an empty result can say which of them removed the most.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any

from search import authors
from search.dates import bounds
from search.errors import FilterError
from search.folding import composed, folded
from search.hiding import hiding_sql
from search.models import Condition, DateField, DateRange, Filters, Operator
from search.sources import to_text, typed

Parameters = tuple[Any, ...]

_OPERATORS: tuple[Operator, ...] = ("<=", ">=", "!=", "=", "<", ">")
_KNOWN_OPERATORS = "operators are =, !=, <, <=, >, >= and in"
_CHANGED = re.compile(r"^\s*(?:changed|updated|modified|edited)\b\s*", re.IGNORECASE)
_CREATED = re.compile(r"^\s*created\b\s*", re.IGNORECASE)
_CONDITION = re.compile(r"\s*([\w.-]+)\s*([<>=!~]+)\s*(.*?)\s*", re.DOTALL)
# ASCII digits, and no leading zeros: a code such as 007 is text.
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DAY_OR_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")
_MAX_VALUES = 500
_MAX_CHARACTERS = 1000
_MAX_DEPTH = 50
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")  # SQLite's GLOB ends at NUL
# A metadata value m as a list of one, a list as it is; the text of a member e of it; its number, NULL when it is none.
_LIST = (
    "CASE WHEN m.type = 'array' THEN m.value WHEN m.type IN ('true', 'false') THEN '[' || m.type || ']' "
    "ELSE json_array(m.value) END"
)
_KEY = "substr(replace(m.fullkey, '\"', ''), 3)"  # $."the key".inner as the key.inner
_VALUE = "folded(CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END)"
_NUMBER = (
    "(CASE WHEN e.type IN ('integer', 'real') THEN e.value WHEN e.type = 'text' THEN CASE WHEN json_valid(e.value) THEN "
    "CASE WHEN json_type(e.value) IN ('integer', 'real') THEN CAST(e.value AS NUMERIC) END END END)"
)
_MONTH = "[0-9][0-9][0-9][0-9]-[0-9][0-9]"
_DATES = (_MONTH, f"{_MONTH}-[0-9][0-9]", f"{_MONTH}-[0-9][0-9][Tt ]*")
_FORMS = " OR ".join(f"e.value GLOB '{glob}'" for glob in _DATES)
_IS_DATE = f"(e.type = 'text' AND ({_FORMS}))"


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
    clauses = [(_authors(values) if name == "author" else _any_of(name, values)) for name, values in columns.items() if values]
    clauses += [_tag(tag) for tag in filters.tags]
    if filters.source:
        clauses.append(_globs(filters.source))
    if filters.title:
        clauses.append(Clause(f"title {filters.title!r}", "instr(folded(d.title), ?) > 0", (folded(filters.title),)))
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
    match = _CONDITION.fullmatch(text)
    operator = next((known for known in _OPERATORS if match and known == match[2]), None)
    if match is None or not match[3]:
        raise FilterError(f"where: got {text!r}, want KEY=VALUE", f"{_KNOWN_OPERATORS}: --where 'minutes>=30'")
    if operator is None:
        meant = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">=", "=!": "!="}.get(match[2], "=")
        hint = f"{_KNOWN_OPERATORS}; a value that begins so stands in quotes: --where '{match[1]}{meant}\"...\"'"
        raise FilterError(f"where: got {text!r}, want KEY{meant}VALUE: there is no operator {match[2]!r}", hint)
    return Condition(match[1].removeprefix("metadata."), operator, _typed(match[3]))


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
        if wanted := getattr(filters, name):
            values = known(name, "documents", "id")
            if name == "author":
                wanted = [author for author in wanted if folded(author) not in map(folded, values)]
                values = [author for value in values for author in authors.each(value)]
            notes += _unknown(name, wanted, values)
    if keys := [condition.key for condition in filters.metadata]:
        tree = f"(SELECT d.id, {_KEY} AS key FROM documents d, json_tree(d.metadata) m WHERE instr(m.fullkey, '[') = 0)"
        notes += _unknown("front matter key", keys, known("nullif(key, '')", tree, "id"))
    return notes + _unknown("tag", filters.tags, known("tag", "document_tags", "document_id") if filters.tags else [])


def _unknown(name: str, wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    names = {folded(value): value for value in sorted(known)}
    notes = []
    for value in wanted:
        name_of = folded(value)
        if name_of in names:
            continue
        close = [names[match] for match in get_close_matches(name_of, names, n=3, cutoff=0.5)]
        close = close or [v for k, v in names.items() if name_of in k or k in name_of][:3]
        listed = close or list(names.values())[:8]
        label = "nearest" if close else "there are"
        shown = ", ".join(f'"{entry}"' for entry in listed)
        notes.append(f'no {name} "{value}"; {label}: {shown}' if listed else f'no {name} "{value}": the library has none')
    return notes


def _within(filters: Filters, today: date | None) -> Clause | None:
    """The filters that these stand within and what is hidden, as one clause; None when they let everything through."""
    inner, depth = filters.within, 0
    while inner is not None:
        inner, depth = inner.within, depth + 1
        if depth > _MAX_DEPTH:
            raise FilterError(f"within: got filters within filters more than {_MAX_DEPTH} deep")
    clauses = list(compile_filters(filters.within, today=today).clauses) if filters.within is not None else []
    if filters.hidden:
        clauses.append(Clause("hidden", *hiding_sql(filters.hidden)))
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
    return Clause(f"{name} {' or '.join(values)}", f"folded(d.{name}) IN ({marks})", tuple(folded(value) for value in values))


def _authors(names: Sequence[str]) -> Clause:
    """Any of several names, where a document has several authors, too; or all of these as they are stored."""
    whole = _any_of("author", names)
    single = f"EXISTS (SELECT 1 FROM json_each(authors(d.author)) a WHERE folded(a.value) IN ({', '.join('?' * len(names))}))"
    return Clause(whole.label, f"({whole.sql} OR {single})", whole.parameters * 2)


def _tag(tag: str) -> Clause:
    sql = "EXISTS (SELECT 1 FROM document_tags t WHERE t.document_id = d.id AND folded(t.tag) = ?)"
    return Clause(f"tag {tag}", sql, (folded(tag),))


def _globs(globs: Sequence[str]) -> Clause:
    texts = [composed(text) for pattern in globs for text in typed(pattern)]
    patterns = [text if any(mark in text for mark in "*?[") else f"*{text}*" for text in texts]
    sql = "EXISTS (SELECT 1 FROM json_each(?) g WHERE composed(d.path) GLOB g.value)"
    return Clause(f"source {' or '.join(globs)}", sql, (json.dumps(patterns),))


def _metadata(condition: Condition) -> Clause:
    """A condition on front matter, which any one value of a list may fulfil; "!=" is true wherever "=" is not.

    A number is compared with numbers, and with text that is one; any other value as text without regard to case. A year, month
    or day is compared with dates as far as it goes: "<= 2023" holds for all of 2023.
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
        test, parameters = _comparison("=" if operator == "!=" else operator, wanted)
    # json_tree instead of a JSON path: a key may hold any character without being part of the statement.
    exists = f"EXISTS (SELECT 1 FROM json_tree(d.metadata) m, json_each({_LIST}) e WHERE folded({_KEY}) = ? AND {test})"
    return Clause(label, f"NOT {exists}" if operator == "!=" else exists, (folded(key), *parameters))


def _comparison(operator: str, wanted: str | float) -> tuple[str, Parameters]:
    """The test of one metadata value e against a value, with its parameters."""
    parameters: Parameters
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        test, parameters = f"{_NUMBER} {operator} ?", (wanted,)
        if isinstance(wanted, int) and abs(wanted) >= 2**63:
            # Beyond 64 bits SQLite has no integers, and a float tells neighbours apart no more: long codes are equal as text.
            near = float(wanted) if abs(wanted) < 10**308 else math.copysign(math.inf, wanted)
            test, parameters = f"{_NUMBER} {operator} ?", (near,)
            if operator == "=":
                test, parameters = f"CASE WHEN e.type = 'text' THEN {_VALUE} = ? ELSE {test} END", (str(wanted), near)
    else:
        test, parameters = f"{_VALUE} {operator} ?", (_as_text(wanted),)
    start = str(wanted)
    if (isinstance(wanted, int) and not isinstance(wanted, bool) and 1000 <= wanted <= 9999) or _DAY_OR_MONTH.fullmatch(start):
        begun = f"substr(e.value, 1, {len(start)}) {operator} ?"
        return f"CASE WHEN {_IS_DATE} THEN {begun} ELSE {test} END", (start, *parameters)
    return test, parameters


def _as_text(value: object) -> str:
    return folded(str(value))


def _typed(value: str) -> str | int | float:
    unquoted = value[1:-1] if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'" else None
    if unquoted is not None:
        return unquoted
    if len(value) > _MAX_CHARACTERS:
        return value  # to be refused with its size
    if _WHOLE.fullmatch(value):
        return int(value)
    return float(value) if _DECIMAL.fullmatch(value) else value


def _dates(filters: Filters, today: date | None) -> tuple[list[Clause], DateRange, DateField] | None:
    """The date filters; the words changed, updated, modified and created in front of a phrase choose the date they test."""
    field = filters.date_field
    phrases: dict[str, str | None] = {}
    for name in ("after", "before", "during"):
        phrase = getattr(filters, name)
        if phrase is not None:
            if _CHANGED.match(phrase):
                field = "modified"
            elif _CREATED.match(phrase):
                field = "created"
            written, phrase = phrase, _CREATED.sub("", _CHANGED.sub("", phrase))
            if not phrase.strip():  # an unset variable, perhaps: everything would pass
                raise FilterError(f"{name}: got {written!r}, want a date or a phrase", f"--{name} 'changed last week'")
        phrases[name] = phrase
    if all(phrase is None for phrase in phrases.values()):
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
