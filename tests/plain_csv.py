"""A reader of .csv files for tests of what happens to tables after they are read: the first line names columns, all is text."""

from __future__ import annotations

from pathlib import Path

from search import readers
from search.models import Extract
from search.tables.models import Column, TableDraft

_others = readers.read


def read(path: Path, data: bytes) -> Extract:
    """What is in a file; tables for .csv."""
    lines = data.decode("utf-8", "replace").splitlines()
    if path.suffix != ".csv" or not lines:
        return _others(path, data)
    columns = tuple(Column(name.strip() or f"column_{place}", "text") for place, name in enumerate(lines[0].split(","), 1))
    rows = [tuple((line.split(",") + [None] * len(columns))[: len(columns)]) for line in lines[1:]]
    text = f"Table with the columns {', '.join(column.name for column in columns)}.\n"
    return Extract(text=text, format="csv", tables=(TableDraft("", columns, rows),))
