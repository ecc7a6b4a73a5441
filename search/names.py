"""Names of a library that begin like what is being typed: for a shell that completes a line, so quick or not at all."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Literal, get_args

from search import connections, faults

Kind = Literal["category", "tag", "format", "author", "language", "table", "path", "key"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SECONDS = 0.08
_STEPS = 2000  # of SQLite's machine between two looks at the clock
_LEAST_KEY = 3  # characters: fewer fit every other passage

# Ranges where an index serves them; the others read one column.
_OF_DOCUMENTS = "SELECT DISTINCT {0} FROM documents WHERE {0} IS NOT NULL AND substr({0}, 1, length(:typed)) = :typed"
_IN_RANGE = "SELECT DISTINCT {0} FROM {1} WHERE {0} >= :typed AND {0} < :typed || char(1114111)"
_QUERIES: dict[Kind, str] = {
    "category": _OF_DOCUMENTS.format("category"),
    "tag": "SELECT DISTINCT tag FROM document_tags WHERE substr(tag, 1, length(:typed)) = :typed",
    "format": _OF_DOCUMENTS.format("format"),
    "author": _OF_DOCUMENTS.format("author"),
    "language": _OF_DOCUMENTS.format("language"),
    "table": "SELECT name FROM _tables WHERE substr(name, 1, length(:typed)) = :typed",
    "path": _IN_RANGE.format("path", "documents"),
    "key": _IN_RANGE.format("key", "passages"),
}


def beginning(path: Path, kind: Kind, typed: str, *, limit: int = 50) -> list[str]:
    """The first names of a kind that begin as typed, in order; none when the library takes too long to tell.

    Keys are looked for from three characters on. Raises LibraryError for a file that is no library.
    """
    if kind == "key" and len(typed) < _LEAST_KEY:
        return []
    end = time.monotonic() + _SECONDS
    with closing(connections.open_for_reading(path)) as connection, faults.translated(path):
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        try:
            rows = connection.execute(f"{_QUERIES[kind]} ORDER BY 1 LIMIT :limit", {"typed": typed, "limit": limit}).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return []
    return [name for (name,) in rows]


__all__ = ["KINDS", "Kind", "beginning"]
