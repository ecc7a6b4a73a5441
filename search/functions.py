"""Functions that filters use in SQL, beside SQLite's own. They need nothing but Python's library: any process can have them."""

from __future__ import annotations

import sqlite3

from search import authors
from search.folding import composed, folded


def add_functions(connection: sqlite3.Connection) -> None:
    """Add `authors`, `folded` and `composed` to a connection."""
    # SQLite's own NOCASE and lower() know A to Z alone, and to it "é" is not "e" with an accent behind it.
    connection.create_function("authors", 1, authors.each_as_json, deterministic=True)
    connection.create_function("folded", 1, lambda text: None if text is None else folded(str(text)), deterministic=True)
    connection.create_function("composed", 1, lambda text: None if text is None else composed(str(text)), deterministic=True)
