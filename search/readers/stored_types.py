"""The type of a column whose values the file has typed itself: SQLite, JSON. Nothing is converted here.

The values decide; a declared type only tells dates and truth values from the texts and numbers that they are stored as.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date

from search.tables.models import ColumnType, Value

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_DATETIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?Z|[+-]\d\d:?\d\d)?")
_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?")
_NAMES: dict[type, str] = {str: "text", int: "integer", float: "decimal number", bytes: "binary value"}
_SMALL = 2**53  # beyond it a float no longer tells neighbouring integers apart


def column_type(values: Iterable[Value], declared: str = "") -> tuple[ColumnType, str]:
    """The type of a column and what is odd about it, "" where nothing is.

    values: all of them, gone through more than once when they are texts, so no generator.
    """
    kinds = Counter(map(type, values))
    del kinds[type(None)]
    declared = declared.upper()
    if not kinds:
        return _declared_type(declared), ""
    if set(kinds) <= {int, float}:
        return _number_type(values, kinds, declared)
    if set(kinds) == {bytes}:
        return "blob", ""
    if set(kinds) == {str}:
        return _text_type(values, declared), ""
    counts = sorted((_NAMES[kind], number) for kind, number in kinds.items())
    told = ", ".join(f"{number} {name}{'s' * (number > 1)}" for name, number in counts)
    return ("text" if str in kinds else "blob"), f"mixed values: {told}"


def _number_type(values: Iterable[Value], kinds: Counter[type], declared: str) -> tuple[ColumnType, str]:
    if float in kinds:
        return "real", ""
    if "BOOL" in declared and all(value in {0, 1, None} for value in values):
        return "boolean", ""
    if any(isinstance(value, int) and abs(value) > _SMALL for value in values):
        return "integer", ""
    return ("real" if any(word in declared for word in ("REAL", "FLOA", "DOUB")) else "integer"), ""


def _text_type(values: Iterable[Value], declared: str) -> ColumnType:
    if _all_match(_DATE, values) and all(map(_is_day, values)):
        return "date"
    if all(value is None or _DATE.fullmatch(str(value)) or _DATETIME.fullmatch(str(value)) for value in values):
        return "datetime" if all(map(_is_day, values)) else "text"
    if "TIME" in declared and _all_match(_TIME, values):
        return "time"
    return "text"


def _all_match(pattern: re.Pattern[str], values: Iterable[Value]) -> bool:
    return all(value is None or pattern.fullmatch(str(value)) for value in values)


def _is_day(value: Value) -> bool:
    """Whether the day exists: 0000-00-00, which MySQL exports, is none."""
    try:
        return value is None or bool(date.fromisoformat(str(value)[:10]))
    except ValueError:
        return False


def _declared_type(declared: str) -> ColumnType:
    """The type of a column without values, by the order in which SQLite itself looks at a declared type."""
    words: tuple[tuple[str, ColumnType], ...] = (
        ("BOOL", "boolean"),
        ("TIMESTAMP", "datetime"),
        ("DATETIME", "datetime"),
        ("DATE", "date"),
        ("INT", "integer"),
        ("CHAR", "text"),
        ("CLOB", "text"),
        ("TEXT", "text"),
        ("BLOB", "blob"),
        ("REAL", "real"),
        ("FLOA", "real"),
        ("DOUB", "real"),
        ("DEC", "real"),
        ("NUM", "real"),
        ("TIME", "time"),
    )
    return next((kind for word, kind in words if word in declared), "text")
