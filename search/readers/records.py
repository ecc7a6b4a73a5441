"""JSON and JSON lines: the text as the text reader has it, and beside it the records that the file is a list of.

What counts as records: two objects or more in a list that is the whole file, the only list of objects in it, or one a line; at
least one key that half of them share; and, where other things stand around the list, more than half of all values. So the
answer of a web service becomes a table and a package.json with two contributors does not.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from search.models import Extract
from search.readers import text
from search.readers.encodings import decode
from search.readers.flattening import flattened
from search.readers.formats import suffix_of

LINES = (".jsonl", ".ndjson")
_LONGEST_NUMBER = 400  # digits: the largest float has 309, and Python refuses to read integers of more than 4300
_DEEPEST = 3  # objects around the list of records
_TOLD = 5  # broken lines that are told by number


def read(data: bytes, path: Path) -> Extract:
    """The text of the file; records, where there are any, in `tables`. Broken JSON is text all the same."""
    extract = text.read(data, path)
    decoded = decode(data) if extract.text else None
    if decoded is None:
        return extract
    found = _Found()
    content = decoded.text.removeprefix("\ufeff")
    records = _of_lines(content, found) if suffix_of(path) in LINES else _of_document(content, found)
    try:
        draft = flattened(records, found.notes()) if _are_records(records) else None
    except RecursionError:  # it could just be parsed, and its inner values cannot be written
        return replace(extract, notes=(*extract.notes, "its records nest too deep to be a table"))
    return replace(extract, tables=(draft,)) if draft else extract


@dataclass(slots=True)
class _Found:
    """What is noted while the file is parsed, once however often it occurs."""

    repeated: int = 0
    no_numbers: int = 0
    broken: tuple[int, ...] = ()

    def notes(self) -> tuple[str, ...]:
        notes = []
        if self.broken:
            numbers = ", ".join(map(str, self.broken[:_TOLD])) + (", ..." if len(self.broken) > _TOLD else "")
            one = len(self.broken) == 1
            notes.append(f"{'line' if one else 'lines'} {numbers} left out: no JSON object ({len(self.broken)} in all)")
        if self.repeated:
            notes.append(f"{self.repeated} objects name a key twice: its last value counts")
        if self.no_numbers:
            notes.append(f"{self.no_numbers} values are NaN or infinite: left empty")
        return tuple(notes)


def _parsed(content: str, found: _Found) -> Any:
    """A JSON value. Raises ValueError for what is none, also for one that nests too deep."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        found.repeated += len(made) != len(items)
        return made

    def constant(_: str) -> None:
        found.no_numbers += 1

    def real(digits: str) -> float | None:
        number = float(digits)
        found.no_numbers += not math.isfinite(number)
        return number if math.isfinite(number) else None

    try:
        return json.loads(content, object_pairs_hook=pairs, parse_constant=constant, parse_float=real, parse_int=_integer)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _integer(digits: str) -> int | str:
    """An integer, or its digits where no number is that long."""
    return int(digits) if len(digits) <= _LONGEST_NUMBER else digits


def _of_lines(content: str, found: _Found) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    broken: list[int] = []
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = _parsed(line, found)
        except ValueError:
            value = None
        if isinstance(value, dict):
            records.append(value)
        else:
            broken.append(number)
    found.broken = tuple(broken)
    return records


def _of_document(content: str, found: _Found) -> list[dict[str, Any]]:
    """The records of one JSON value; of lines, where a file called .json holds a value a line and nothing else."""
    try:
        value = _parsed(content, found)
    except ValueError:
        records = _of_lines(content, found)
        return [] if found.broken else records
    if isinstance(value, list):
        return value if _all_objects(value) else []
    if not isinstance(value, dict):
        return []
    lists = list(_lists_of_objects(value, _DEEPEST))
    if len(lists) != 1:
        return []
    return lists[0] if 2 * _leaves(lists[0]) > _leaves(value) else []


def _lists_of_objects(value: Mapping[str, Any], depth: int) -> Iterator[list[dict[str, Any]]]:
    for inner in value.values():
        if isinstance(inner, list) and inner and _all_objects(inner):
            yield inner
        elif isinstance(inner, dict) and depth > 1:
            yield from _lists_of_objects(inner, depth - 1)


def _all_objects(values: Sequence[Any]) -> bool:
    return all(isinstance(value, dict) for value in values)


def _leaves(value: object) -> int:
    """How many values stand in it, objects, lists and null aside. Walked without recursion: JSON may nest deep."""
    waiting, leaves = [value], 0
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
        else:
            leaves += inner is not None
    return leaves


def _are_records(records: Sequence[Mapping[str, Any]]) -> bool:
    keys = Counter(key for record in records for key in record)
    return len(records) >= 2 and bool(keys) and 2 * max(keys.values()) >= max(4, len(records))
