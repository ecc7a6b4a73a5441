"""What a library file holds, in a form that can be compared, and whether the file is sound: read by SQL, not by the product."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]

# indexed_at and mtime_ns say when a run took place, ids in which order: two equal libraries may differ in them.
_DOCUMENT = (
    "path, title, format, category, author, language, created, modified, date, date_source, content_hash, size, pages, "
    "text_status, encoding, notes, metadata, first_line"
)
_PASSAGE = (
    "p.ordinal, p.text, p.key, p.headings, p.page, p.first_line, p.last_line, p.start_offset, p.end_offset, p.terms, p.tokens"
)


@dataclass(frozen=True, slots=True)
class Held:
    """All that a library holds of one document. embeddings: (hash of the input, packed vector) of each passage."""

    document: Row
    tags: tuple[str, ...]
    text: str
    passages: tuple[Row, ...]
    embeddings: tuple[Row, ...]


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
            )
        return found


def citations(held: dict[str, Held]) -> set[Row]:
    """(path, ordinal, text, citation key) of every passage."""
    return {(path, *passage[:3]) for path, document in held.items() for passage in document.passages}


def unsound(library: Path) -> list[str]:
    """What is wrong with the file itself: pages, keyword index, foreign keys, passages without exactly one embedding."""
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
    return complaints
