r"""One condition on one column as SQL: a closed list of operators, values converted to the column's type and bound.

= and in compare text exactly; contains and starts with do without regard to case (of letters beyond ASCII in the three usual
spellings: as sent, small, capital), and `%`, `_` and `\` in what they look for mean themselves. As in SQL, a row without a value
passes no condition but `is null`. A date may be a year or a month: see `search.tables.periods`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from search.errors import QueryError
from search.tables.models import Column, Value
from search.tables.names import choice, got, quoted
from search.tables.periods import DATED, Period, period_of

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "not in", "between", "contains", "starts with", "is null", "is not null")

Scalar = str | int | float | bool
FilterValue = Scalar | tuple[Scalar, ...] | None
Parameters = tuple[Value, ...]

_SPELLINGS = {"==": "=", "<>": "!=", "eq": "=", "ne": "!=", "gt": ">", "ge": ">=", "gte": ">=", "lt": "<", "le": "<=", "lte": "<="}
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_TRUE = frozenset({"true", "yes", "1", "t", "y"})
_FALSE = frozenset({"false", "no", "0", "f", "n"})
_MAX_VALUES = 500
_LONGEST = 1000  # characters of a value
_WILD = re.compile(r"[%_\\]")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
NUMBERS = frozenset({"integer", "real", "boolean"})
_LIKED = frozenset({"text", *DATED})


def condition(column: Column, op: str, value: FilterValue) -> tuple[str, Parameters]:
    """The condition with its parameters. Raises QueryError, which begins with `op` or `value`."""
    written = " ".join(op.split()).casefold()
    operator = choice(_SPELLINGS.get(written, written), OPERATORS, "op")
    name = quoted(column.name)
    if operator in {"is null", "is not null"}:
        return f"{name} {operator.upper()}", ()
    if column.type == "blob":
        raise QueryError(f'op: {column.name} holds binary data, want "is null" or "is not null" for it')
    values = _values(value, operator)
    if operator in {"contains", "starts with"}:
        return _like(column, operator, str(values[0]))
    if column.type in DATED:
        return _dated(column, operator, [period_of(each, column) for each in values])
    bound = tuple(_typed(each, column) for each in values)
    if operator in {"in", "not in"}:
        return f"{name} {operator.upper()} ({', '.join('?' * len(bound))})", bound
    if operator == "between":
        return f"{name} BETWEEN ? AND ?", bound
    return f"{name} {operator} ?", bound


def comparable(value: Scalar, column: Column) -> Value:
    """A filter's value as what orders it among the column's own values. Raises QueryError where it does not fit."""
    return period_of(value, column).start if column.type in DATED else _typed(value, column)


def _values(value: FilterValue, operator: str) -> tuple[Scalar, ...]:
    """The values of a condition, as many as its operator takes."""
    several = operator in {"in", "not in", "between"}
    if several and isinstance(value, str) and value.lstrip().startswith("["):
        value = _listed(value)
    if value is None:
        raise QueryError(f'value: missing, want one for "{operator}"; rows without a value are found by op "is null"')
    values = value if isinstance(value, tuple) else (value,)
    if operator == "between" and len(values) != 2:
        raise QueryError(f"value: got {got(value)}, want the two ends, such as [1, 5]")
    if not several and len(values) != 1:
        raise QueryError(f'value: got {got(value)}, want one value for "{operator}"; a list goes with "in"')
    if not 1 <= len(values) <= _MAX_VALUES:
        raise QueryError(f"value: got {len(values)} values, want 1 to {_MAX_VALUES}")
    for each in values:
        if isinstance(each, str) and (len(each) > _LONGEST or _UNREADABLE.search(each)):
            raise QueryError(f"value: got {got(each)}, want at most {_LONGEST} characters of readable text")
        if isinstance(each, float) and not math.isfinite(each):
            raise QueryError(f"value: got {each}, want a finite number")
    return values


def _listed(text: str) -> tuple[Scalar, ...]:
    """A list that was written as JSON inside a text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str | int | float) for each in found):
        raise QueryError(f'value: got {got(text)}, want a list such as ["a", "b"]')
    return tuple(found)


def _typed(value: Scalar, column: Column) -> Value:
    """A value as the column holds it."""
    if column.type == "boolean":
        word = str(value).strip().casefold()
        if word in _TRUE | _FALSE:
            return int(word in _TRUE)
        raise QueryError(f"value: got {got(value)}, want true or false: {column.name} is of type boolean")
    if column.type in {"integer", "real"}:
        return _number(value, column)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: Scalar, column: Column) -> int | float:
    if isinstance(value, str):
        written = value.strip()
        if not _NUMBER.fullmatch(written):
            raise QueryError(f"value: got {got(value)}, want a number: {column.name} is of type {column.type}")
        value = int(written) if re.fullmatch(r"[+-]?[0-9]+", written) else float(written)
        if isinstance(value, float) and not math.isfinite(value):
            raise QueryError(f"value: got {got(written)}, want a smaller number")
    # SQLite's integers have 64 bits.
    return float(value) if isinstance(value, int) and abs(value) >= 2**63 else value + 0


def _like(column: Column, operator: str, text: str) -> tuple[str, Parameters]:
    if column.type not in _LIKED:
        raise QueryError(
            f'op: "{operator}" wants a column of text, and {column.name} is of type {column.type}; use = < > or between'
        )
    if not text:
        raise QueryError(f'value: got "", want a text that "{operator}" looks for')
    spellings = [text] if text.isascii() else list(dict.fromkeys((text, text.lower(), text.upper(), text.capitalize())))
    start = "%" if operator == "contains" else ""
    patterns = tuple(f"{start}{_WILD.sub(_escaped, spelling)}%" for spelling in spellings)
    sql = " OR ".join(rf"{quoted(column.name)} LIKE ? ESCAPE '\'" for _ in patterns)
    return f"({sql})" if len(patterns) > 1 else sql, patterns


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]


def _dated(column: Column, operator: str, periods: Sequence[Period]) -> tuple[str, Parameters]:
    """A condition on ISO texts, whose order is that of time."""
    name = quoted(column.name)
    if column.type == "datetime" and any(period.to_the_time for period in periods):
        name = f"replace({name}, 'T', ' ')"  # either may stand between the day and the time
    if operator in {"in", "not in"}:
        if all(period.end is None for period in periods):
            return f"{name} {operator.upper()} ({', '.join('?' * len(periods))})", tuple(period.start for period in periods)
        each = [_compared(name, "=" if operator == "in" else "!=", period) for period in periods]
        glue = " OR " if operator == "in" else " AND "
        return f"({glue.join(sql for sql, _ in each)})", tuple(value for _, values in each for value in values)
    if operator == "between":
        first, last = (_compared(name, op, period) for op, period in zip((">=", "<="), periods, strict=True))
        return f"({first[0]} AND {last[0]})", first[1] + last[1]
    return _compared(name, operator, periods[0])


def _compared(name: str, operator: str, period: Period) -> tuple[str, Parameters]:
    start, end = period.start, period.end
    if end is None:
        return f"{name} {operator} ?", (start,)
    forms: dict[str, tuple[str, Parameters]] = {
        "=": (f"({name} >= ? AND {name} < ?)", (start, end)),
        "!=": (f"({name} < ? OR {name} >= ?)", (start, end)),
        "<": (f"{name} < ?", (start,)),
        "<=": (f"{name} < ?", (end,)),
        ">": (f"{name} >= ?", (end,)),
        ">=": (f"{name} >= ?", (start,)),
    }
    return forms[operator]


__all__ = ["NUMBERS", "OPERATORS", "FilterValue", "Parameters", "Scalar", "comparable", "condition"]
