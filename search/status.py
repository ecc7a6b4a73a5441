"""What a library says of itself: coverage, age, model, roots and the files without text."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search import store
from search.models import Coverage


@dataclass(frozen=True, slots=True)
class RootStatus:
    """A folder that the library follows; named: files that were indexed by name; whole: whether all the others are, too.

    include, exclude, max_bytes: which files are taken, as the last run that gave them said. forgotten: paths left out by `forget`.
    """

    path: str
    documents: int
    indexed_at: str | None
    whole: bool
    named: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    forgotten: tuple[str, ...]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """What `status` shows. model: name of the embedding model; size: bytes of the file; without_text: (path, reason).

    tables, rows: how many tables there are, and how many rows in all of them.
    """

    path: str
    coverage: Coverage
    model: str | None
    revision: str | None
    dimension: int | None
    size: int
    schema_version: int
    roots: tuple[RootStatus, ...]
    without_text: tuple[tuple[str, str], ...]
    formats: dict[str, int]
    tables: int
    rows: int


def coverage(connection: sqlite3.Connection) -> Coverage:
    """How much of the library can be searched."""
    return Coverage(
        *connection.execute(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM documents WHERE text_status <> 'ok'), "
            "(SELECT count(*) FROM passages), (SELECT count(*) FROM _embeddings), (SELECT min(indexed_at) FROM _roots)"
        ).fetchone()
    )


def digest(connection: sqlite3.Connection) -> str:
    """SHA-256 over the paths and contents of all documents: the same for what was indexed from the same files."""
    found = hashlib.sha256()
    for row in connection.execute("SELECT path, coalesce(content_hash, '') FROM documents ORDER BY path, content_hash"):
        found.update("\0".join((*row, "")).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def status(connection: sqlite3.Connection, path: Path) -> Status:
    """Everything that `archivist status` shows."""
    made_with = store.get_meta(connection, "embedder") or {}
    roots = connection.execute(
        "SELECT r.path, (SELECT count(*) FROM documents d WHERE d.root = r.id), r.indexed_at, r.whole, "
        "r.named, r.include, r.exclude, r.forgotten, r.max_bytes FROM _roots r ORDER BY r.path"
    )
    without_text = connection.execute("SELECT path, text_status FROM documents WHERE text_status <> 'ok' ORDER BY path")
    formats = connection.execute("SELECT format, count(*) FROM documents GROUP BY format ORDER BY count(*) DESC, format")
    tables, rows = connection.execute("SELECT count(*), coalesce(sum(rows), 0) FROM _tables").fetchone()
    return Status(
        path=str(path),
        coverage=coverage(connection),
        model=made_with.get("name"),
        revision=made_with.get("revision"),
        dimension=store.get_meta(connection, "dimension"),
        size=path.stat().st_size,
        schema_version=connection.execute("PRAGMA user_version").fetchone()[0],
        roots=tuple(_root(*row) for row in roots),
        without_text=tuple(without_text.fetchall()),
        formats=dict(formats.fetchall()),
        tables=tables,
        rows=rows,
    )


def _root(path: str, documents: int, indexed_at: str | None, whole: int, *kept: Any) -> RootStatus:
    *lists, max_bytes = kept
    named, include, exclude, forgotten = (tuple(json.loads(each)) for each in lists)
    return RootStatus(path, documents, indexed_at, bool(whole), named, include, exclude, forgotten, max_bytes)
