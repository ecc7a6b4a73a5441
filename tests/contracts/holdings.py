"""What a library file holds, in a form that can be compared, and whether the file is sound: read by SQL, not by the product."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.tables.names import quoted
from search.tables.naming import Entry, settled

Row = tuple[Any, ...]

# indexed_at and mtime_ns say when a run took place, ids in which order: two equal libraries may differ in them.
_DOCUMENT = (
    "path, title, format, category, author, language, created, modified, date, date_source, content_hash, size, pages, "
    "text_status, encoding, notes, metadata, first_line"
)
_PASSAGE = (
    "p.ordinal, p.text, p.key, p.headings, p.page, p.first_line, p.last_line, p.start_offset, p.end_offset, p.terms, p.tokens"
)
_TABLE = "name, ordinal, label, keeps_name, rows, columns, notes, digest"
_OWN = {"documents", "document_tags", "passages"}


@dataclass(frozen=True, slots=True)
class Held:
    """All that a library holds of one document. embeddings: (hash of the input, packed vector) of each passage.

    tables: name, what the catalogue has of it, its columns as SQLite sees them and its rows.
    """

    document: Row
    tags: tuple[str, ...]
    text: str
    passages: tuple[Row, ...]
    embeddings: tuple[Row, ...]
    tables: tuple[Row, ...] = ()

    @property
    def table_names(self) -> tuple[str, ...]:
        """What its tables are called: that depends on the other documents, too."""
        return tuple(table[0] for table in self.tables)


def holdings(library: Path) -> dict[str, Held]:
    """Every document of a library with one root, by its path."""
    with closing(sqlite3.connect(library)) as db:
        found = {}
        for identifier, *document in db.execute(f"SELECT id, {_DOCUMENT} FROM documents").fetchall():
            packed = db.execute("SELECT text FROM _texts WHERE document_id = ?", (identifier,)).fetchone()
            tags = db.execute("SELECT tag FROM document_tags WHERE document_id = ? ORDER BY tag", (identifier,))
            passages = db.execute(
                f"SELECT {_PASSAGE}, e.input, e.vector FROM passages p LEFT JOIN _embeddings e ON e.passage_id = p.id "
                "WHERE p.document_id = ? ORDER BY p.ordinal",
                (identifier,),
            ).fetchall()
            found[document[0]] = Held(
                document=tuple(document),
                tags=tuple(tag for (tag,) in tags),
                text=zlib.decompress(packed[0]).decode() if packed else "",
                passages=tuple(row[:-2] for row in passages),
                embeddings=tuple(row[-2:] for row in passages),
                tables=tuple(_tables(db, identifier)),
            )
        return found


def _tables(db: sqlite3.Connection, document: int) -> Iterator[Row]:
    for row in db.execute(f"SELECT {_TABLE} FROM _tables WHERE document_id = ? ORDER BY ordinal", (document,)).fetchall():
        columns = db.execute("SELECT name, type FROM pragma_table_info(?)", (row[0],)).fetchall()
        yield (*row, tuple(columns), tuple(db.execute(f"SELECT * FROM {quoted(row[0])} ORDER BY rowid")))


def citations(held: dict[str, Held]) -> set[Row]:
    """(path, ordinal, text, citation key) of every passage."""
    return {(path, *passage[:3]) for path, document in held.items() for passage in document.passages}


def unsound(library: Path) -> list[str]:
    """What is wrong with the file itself: pages, keyword index, foreign keys, passages without exactly one embedding,
    tables that are not those of the catalogue or are not called as they should be.
    """
    complaints = []
    with closing(sqlite3.connect(library, isolation_level=None)) as db:
        pages = [row[0] for row in db.execute("PRAGMA integrity_check")]
        if pages != ["ok"]:
            complaints.append(f"integrity_check: {pages}")
        try:
            db.execute("INSERT INTO _passages_fts(_passages_fts, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            complaints.append(f"keyword index: {error}")
        if orphans := db.execute("PRAGMA foreign_key_check").fetchall():
            complaints.append(f"foreign_key_check: {orphans}")
        without, beyond = db.execute(
            "SELECT (SELECT count(*) FROM passages WHERE id NOT IN (SELECT passage_id FROM _embeddings)), "
            "(SELECT count(*) FROM _embeddings WHERE passage_id NOT IN (SELECT id FROM passages))"
        ).fetchone()
        if without or beyond:
            complaints.append(f"{without} passages without an embedding, {beyond} embeddings without a passage")
        complaints += _wrong_with_tables(db)
    return complaints


def _wrong_with_tables(db: sqlite3.Connection) -> Iterator[str]:
    made = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    imported = {name for name in made if not name.startswith("sqlite_") and name not in _OWN}
    imported = {name for name in imported if not name.startswith("_") or name.startswith("_unnamed")}
    catalogue = db.execute(
        "SELECT t.name, t.rows, r.path, d.path, t.ordinal, t.label, t.keeps_name, "
        "(SELECT count(*) FROM _tables o WHERE o.document_id = t.document_id) = 1 "
        "FROM _tables t JOIN documents d ON d.id = t.document_id JOIN _roots r ON r.id = d.root"
    ).fetchall()
    known = {row[0] for row in catalogue}
    if imported != known:
        yield f"tables without an entry: {imported - known}, entries without a table: {known - imported}"
        return
    for name, rows, *entry in catalogue:
        if db.execute(f"SELECT count(*) FROM {quoted(name)}").fetchone() != (rows,):
            yield f"the table {name} has not {rows} rows"
        if settled(Entry(*other[2:]) for other in catalogue)[Entry(*entry)] != name:
            yield f"the table {name} of {entry} should be called otherwise"
    if left := db.execute("SELECT count(*) FROM _unsettled").fetchone()[0]:
        yield f"{left} notes of what is to be settled"
