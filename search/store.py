"""Documents in the library file: replacing one so that it is wholly old or wholly new, moving, removing; the library's settings.

In: complete records (text, passages, vectors, tables). Out: rows. Nothing here reads a file of the person's or computes a vector,
so a write transaction is short. `search.connections` opens the file and holds the transactions.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from search.errors import LibraryError
from search.faults import REBUILD
from search.keys import citation_keys
from search.tables.catalogue import add_tables
from search.tables.models import TableDraft


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """A passage ready to be stored; input: hash of what was embedded; vector: packed little-endian float32."""

    headings: tuple[str, ...]
    page: int | None
    first_line: int
    last_line: int
    start: int
    end: int
    text: str
    terms: str
    tokens: int
    input: bytes
    vector: bytes


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document ready to be stored, with all that hangs on it. mtime_ns None: look at the content again at the next run.

    failed: the file could not be read as what it claims to be; a file that just holds no text has not failed.
    """

    root: int
    path: str
    title: str
    format: str
    category: str | None
    author: str | None
    language: str | None
    created: str | None
    modified: str | None
    date: str | None
    date_source: str | None
    content_hash: str | None
    size: int
    mtime_ns: int | None
    ctime_ns: int | None
    pages: int | None
    text_status: str
    encoding: str
    indexed_at: str
    first_line: int = 1
    failed: bool = False
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    text: str = ""
    passages: tuple[PassageRecord, ...] = ()
    tables: tuple[TableDraft, ...] = ()


_APART = frozenset({"notes", "metadata", "tags", "text", "passages", "tables"})
_COLUMNS = tuple(column.name for column in fields(DocumentRecord) if column.name not in _APART)


def replace_document(connection: sqlite3.Connection, record: DocumentRecord) -> int:
    """Store a document in place of the one with its root and path, if any; to be called inside `writing`. Returns its id."""
    row = connection.execute("SELECT id FROM documents WHERE root = ? AND path = ?", (record.root, record.path)).fetchone()
    if row is not None:
        remove_documents(connection, [row[0]])
    document = _insert_document(connection, record)
    if record.text:
        packed = zlib.compress(record.text.encode("utf-8"), 6)
        connection.execute("INSERT INTO _texts(document_id, text) VALUES (?, ?)", (document, packed))
    _insert_passages(connection, document, record)
    add_tables(connection, document, record.tables)
    return document


def move_document(connection: sqlite3.Connection, document: int, record: DocumentRecord) -> None:
    """Give a document another path and what follows from it; its passages, vectors and tables stay, their old keys are remembered.

    record.passages must hold the same texts in the same order, record.tables the same tables; to be called inside `writing`, which
    gives the tables the names that follow from the path.
    """
    columns = ", ".join(f"{name} = ?" for name in (*_COLUMNS, "notes", "metadata"))
    connection.execute(f"UPDATE documents SET {columns} WHERE id = ?", (*_values(record), document))
    connection.execute("DELETE FROM document_tags WHERE document_id = ?", (document,))
    _insert_tags(connection, document, record.tags)
    rows = connection.execute("SELECT id, key, text FROM passages WHERE document_id = ? ORDER BY ordinal", (document,)).fetchall()
    keys = citation_keys(record.path, [row[2] for row in rows])
    for (passage, old, _), new, made in zip(rows, keys, record.passages, strict=True):
        connection.execute("UPDATE passages SET key = ?, terms = ? WHERE id = ?", (new, made.terms, passage))
        connection.execute("UPDATE _moved_keys SET new = ? WHERE new = ?", (new, old))
        connection.execute("INSERT OR REPLACE INTO _moved_keys(old, new) VALUES (?, ?)", (old, new))
        connection.execute("DELETE FROM _moved_keys WHERE old = ?", (new,))


def remove_documents(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    """Remove documents with their passages, vectors, index entries and tables; to be called inside `writing`."""
    connection.executemany("DELETE FROM documents WHERE id = ?", ((document,) for document in documents))


def drop_lost_keys(connection: sqlite3.Connection) -> None:
    """Forget the moved keys whose passage is not there any more; to be called inside `writing`."""
    connection.execute("DELETE FROM _moved_keys WHERE NOT EXISTS (SELECT 1 FROM passages WHERE passages.key = _moved_keys.new)")


def stored_text(connection: sqlite3.Connection, document: int) -> str:
    """The whole text of a document, "" when it has none."""
    row = connection.execute("SELECT text FROM _texts WHERE document_id = ?", (document,)).fetchone()
    return zlib.decompress(row[0]).decode("utf-8") if row else ""


def stored_vector(connection: sqlite3.Connection, input_hash: bytes) -> bytes | None:
    """The packed vector of a passage that was made from this very input, whichever document holds it."""
    row = connection.execute("SELECT vector FROM _embeddings WHERE input = ? LIMIT 1", (input_hash,)).fetchone()
    return row[0] if row else None


def get_meta(connection: sqlite3.Connection, key: str) -> Any:
    """A setting of the library, None when it was never set."""
    row = connection.execute("SELECT value FROM _meta WHERE key = ?", (key,)).fetchone()
    return json.loads(row[0]) if row else None


def set_meta(connection: sqlite3.Connection, key: str, value: Any) -> None:
    """Record a setting of the library; to be called inside `writing`."""
    connection.execute("INSERT OR REPLACE INTO _meta(key, value) VALUES (?, ?)", (key, json.dumps(value)))


def check_identity(made_with: Mapping[str, Any], identity: Mapping[str, Any], path: Path) -> None:
    """Raise LibraryError when vectors of this model cannot be compared with those in the library."""
    differing = [key for key in ("revision", "query_prefix", "passage_prefix", "dtype") if made_with.get(key) != identity[key]]
    if differing:
        raise LibraryError(
            f"{path} was made with the embedding model {made_with.get('name')} ({str(made_with.get('revision'))[:12]}), "
            f"not with {identity['name']} ({identity['revision'][:12]}): {', '.join(differing)} differ",
            f"--embedder {made_with.get('name')} uses that one, {REBUILD} makes the library anew with this one; "
            "--mode keyword needs none",
        )


def _values(record: DocumentRecord) -> list[Any]:
    values = [getattr(record, name) for name in _COLUMNS]
    return [
        *values,
        json.dumps(record.notes, ensure_ascii=False),
        json.dumps(record.metadata, ensure_ascii=False, sort_keys=True),
    ]


def _insert_document(connection: sqlite3.Connection, record: DocumentRecord) -> int:
    names = (*_COLUMNS, "notes", "metadata")
    marks = ", ".join("?" * len(names))
    cursor = connection.execute(f"INSERT INTO documents({', '.join(names)}) VALUES ({marks})", _values(record))
    assert cursor.lastrowid is not None
    _insert_tags(connection, cursor.lastrowid, record.tags)
    return cursor.lastrowid


def _insert_tags(connection: sqlite3.Connection, document: int, tags: Iterable[str]) -> None:
    connection.executemany("INSERT OR IGNORE INTO document_tags(document_id, tag) VALUES (?, ?)", ((document, t) for t in tags))


def _insert_passages(connection: sqlite3.Connection, document: int, record: DocumentRecord) -> None:
    keys = citation_keys(record.path, [passage.text for passage in record.passages])
    for ordinal, (passage, key) in enumerate(zip(record.passages, keys, strict=True)):
        cursor = connection.execute(
            "INSERT INTO passages(document_id, ordinal, key, headings, page, first_line, last_line, start_offset, end_offset, "
            "text, terms, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document,
                ordinal,
                key,
                json.dumps(passage.headings, ensure_ascii=False),
                passage.page,
                passage.first_line,
                passage.last_line,
                passage.start,
                passage.end,
                passage.text,
                passage.terms,
                passage.tokens,
            ),
        )
        embedding = (cursor.lastrowid, passage.input, passage.vector)
        connection.execute("INSERT INTO _embeddings(passage_id, input, vector) VALUES (?, ?, ?)", embedding)
        connection.execute("DELETE FROM _moved_keys WHERE old = ?", (key,))
