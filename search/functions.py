"""Functions that filters use in SQL, beside SQLite's own. They need nothing but Python's library: any process can have them."""

from __future__ import annotations

import os
import sqlite3
from functools import lru_cache

from search import authors
from search.folding import composed, folded


def add_functions(connection: sqlite3.Connection) -> None:
    """Add `authors`, `folded`, `composed` and `real_path` to a connection."""
    # SQLite's own NOCASE and lower() know A to Z alone, and to it "é" is not "e" with an accent behind it.
    connection.create_function("authors", 1, authors.each_as_json, deterministic=True)
    connection.create_function("folded", 1, _folded, deterministic=True)
    connection.create_function("composed", 1, lambda text: None if text is None else composed(str(text)), deterministic=True)
    connection.create_function("real_path", 1, _real_path)


@lru_cache(maxsize=64)
def _folded(text: object) -> str | None:
    """Remembered, because a statement asks for the same path once for each pattern that it is compared with."""
    return None if text is None else folded(str(text))


def _real_path(path: str) -> str:
    """Where a path leads when links are followed, as `sources.to_text` writes it; itself where that is not known."""
    from search.sources import to_os, to_text

    try:
        return to_text(os.path.realpath(to_os(str(path))))
    except (OSError, ValueError):
        return path
