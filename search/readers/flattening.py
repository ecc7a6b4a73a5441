"""From records to the rows of a table: nested objects become columns, what lies deeper becomes JSON text.

In: objects as JSON has them. Out: a draft whose columns stand in the order in which keys first occur.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from search.readers.cleaning import one_line
from search.readers.stored_types import column_type
from search.tables.models import Column, ColumnType, TableDraft, Value
from search.tables.profiling import profiled

DEPTH = 3
MAX_COLUMNS = 500
_SURROGATES = re.compile("[\ud800-\udfff]")
_WIDEST = 2**63

_Path = tuple[str, ...]


def flattened(records: Sequence[Mapping[str, Any]], notes: tuple[str, ...] = ()) -> TableDraft | None:
    """The records as a table; None when their keys differ so much that it would have more than MAX_COLUMNS columns.

    Objects inside become columns a_b down to DEPTH, or less deep where that gives too many. Lists and deeper objects are JSON
    text; a missing key is NULL. A column that holds numbers and texts, or integers beyond 64 bit, becomes text as a whole.
    """
    for depth in range(DEPTH, 0, -1):
        paths = _paths(records, depth)
        if paths and len(paths) <= MAX_COLUMNS:
            columns, values = [], []
            for name, path in zip(unique_names("_".join(path) for path in paths), paths, strict=True):
                kind, note, converted = _column([_value(record, path, depth) for record in records])
                columns.append(Column(name, kind, header="" if name == path[-1] else ".".join(path), note=note))
                values.append(converted)
            return profiled("", columns, list(zip(*values, strict=True)), notes)
    return None


def _paths(records: Iterable[Mapping[str, Any]], depth: int) -> list[_Path]:
    """The places at which a value stands in any record, in order of first appearance."""
    found: dict[_Path, None] = {}
    for record in records:
        _walk(record, (), depth, found)
        if len(found) > MAX_COLUMNS:
            break
    return list(found)


def _walk(value: Mapping[str, Any], above: _Path, depth: int, found: dict[_Path, None]) -> None:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner and len(above) + 1 < depth:
            _walk(inner, (*above, key), depth, found)
        else:
            found.setdefault((*above, key))


def _value(record: Mapping[str, Any], path: _Path, depth: int) -> Any:
    """What stands at a place; an object that was taken apart into columns of its own leaves nothing there."""
    value: Any = record
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return None if isinstance(value, dict) and value and len(path) < depth else value


def unique_names(wishes: Iterable[str]) -> list[str]:
    """Names of columns without control characters, none empty, no two the same to SQL, which takes no account of case.

    "Id" behind "id" becomes Id_2.
    """
    taken: set[str] = set()
    names = []
    for place, wish in enumerate(wishes, 1):
        wished = one_line(wish, 200) or f"column_{place}"
        name, number = wished, 1
        while name.casefold() in taken:
            number += 1
            name = f"{wished}_{number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def _column(values: Sequence[Any]) -> tuple[ColumnType, str, list[Value]]:
    """The type of a column, what is odd about it, and its values as SQLite can store them."""
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, bool) for value in given):
        return "boolean", "", [None if value is None else int(value) for value in values]
    if given and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        if all(-_WIDEST <= value < _WIDEST for value in given if isinstance(value, int)) and _exact(given):
            return column_type(values)[0], "", list(values)
        return "text", "kept as text: integers too long for a number", [_text(value) for value in values]
    converted: list[Value] = [_text(value) for value in values]
    numbers = sum(isinstance(value, int | float) and not isinstance(value, bool) for value in given)
    note = f"kept as text: {len(given) - numbers} of {len(given)} values are no numbers" if numbers else ""
    if any(isinstance(value, list | dict) for value in given):
        note = "; ".join(filter(None, (note, "lists and objects are JSON")))
    return column_type(converted)[0], note, converted


def _exact(numbers: Sequence[int | float]) -> bool:
    """Whether integers that share a column with decimals survive as decimals."""
    if not any(isinstance(number, float) for number in numbers):
        return True
    return all(abs(number) <= 2**53 for number in numbers if isinstance(number, int))


def _text(value: Any) -> str | None:
    if value is None:
        return None
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _SURROGATES.sub("\ufffd", written)
