"""Documents and passages as records: fetching, listing, counting and reading what is stored.

In: an open connection, ids, compiled filters. Out: Document, Passage, pages of documents with the exact total, lines of text.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from search import sources, store
from search.errors import NotFoundError, QueryError
from search.filters import Compiled
from search.models import Document, Passage

OrderBy = Literal["path", "date", "modified", "title", "size"]
GroupBy = Literal["category", "format", "author", "language", "tag", "year", "month", "root", "date_source", "text_status"]
Item = TypeVar("Item")
Allowed = tuple[str, Sequence[object]]  # a SELECT of document ids with its bound parameters

_ORDERS = {
    "path": "d.path, d.root",
    "date": "d.date DESC, d.path",
    "modified": "d.modified DESC, d.path",
    "title": "d.title COLLATE NOCASE, d.path",
    "size": "d.size DESC, d.path",
}
_GROUPS = {
    "category": "d.category",
    "format": "d.format",
    "author": "a.value",
    "language": "d.language",
    "tag": "t.tag",
    "year": "substr(d.date, 1, 4)",
    "month": "substr(d.date, 1, 7)",
    "root": "r.path",
    "date_source": "d.date_source",
    "text_status": "d.text_status",
}
_KEY = re.compile(r"[a-z2-7]{4,10}")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some of a list: `items` from `offset` on, of `total` in all."""

    items: tuple[Item, ...]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines of a document's stored text, numbered as in its file: lines[0] is `first_line`, the text ends at `total`."""

    document: Document
    first_line: int
    last_line: int
    total: int
    lines: tuple[str, ...]


def fetch_documents(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Document]:
    """The documents with these ids; unknown ids are left out."""
    wanted = json.dumps(list(ids))
    tags: dict[int, list[str]] = {}
    for document, tag in connection.execute(
        "SELECT document_id, tag FROM document_tags WHERE document_id IN (SELECT value FROM json_each(?)) ORDER BY tag",
        (wanted,),
    ):
        tags.setdefault(document, []).append(tag)
    rows = connection.execute(
        "SELECT d.id, r.path, d.path, d.title, d.format, d.category, d.author, d.language, d.date, d.date_source, d.created, "
        "d.modified, d.size, d.pages, d.text_status, d.metadata, d.indexed_at FROM documents d JOIN _roots r ON r.id = d.root "
        "WHERE d.id IN (SELECT value FROM json_each(?))",
        (wanted,),
    )
    return {row[0]: _document(row, tuple(tags.get(row[0], ()))) for row in rows}


def fetch_passages(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Passage]:
    """The passages with these ids; unknown ids are left out."""
    rows = connection.execute(
        "SELECT id, key, document_id, ordinal, headings, page, first_line, last_line, start_offset, end_offset, text, tokens "
        "FROM passages WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {row[0]: _passage(row) for row in rows}


def fetch_owners(connection: sqlite3.Connection, passages: Iterable[int]) -> dict[int, int]:
    """The document id of each passage id."""
    wanted = json.dumps(list(passages))
    rows = connection.execute("SELECT id, document_id FROM passages WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    return dict(rows.fetchall())


def fetch_paths(connection: sqlite3.Connection, passages: Iterable[int]) -> dict[int, str]:
    """The path of the document of each passage id."""
    rows = connection.execute(
        "SELECT p.id, d.path FROM passages p JOIN documents d ON d.id = p.document_id "
        "WHERE p.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(passages)),),
    )
    return dict(rows.fetchall())


def find_passage(connection: sqlite3.Connection, key: str, allowed: Allowed | None = None) -> tuple[Passage, str | None]:
    """The passage that a citation key, or a unique prefix of 4 or more of its characters, stands for.

    The second part is the old key where the document was renamed since. allowed: the documents that count, None for all.
    Raises NotFoundError when there is none, QueryError when there are several.
    """
    typed = key.strip().lstrip("#").lower()
    if not _KEY.fullmatch(typed):
        raise QueryError(f"key: got {key[:40]!r}, want 4 to 10 letters and digits as shown beside a result, such as k3f7q2m5xa")
    found = _passages_with(connection, typed, allowed)
    moved_from = None
    if not found:
        moved = connection.execute(
            "SELECT old, new FROM _moved_keys WHERE old >= ? AND old < ? ORDER BY old LIMIT 20", (typed, typed + "\x7f")
        ).fetchall()
        found = [passage for _, new in moved for passage in _passages_with(connection, new, allowed)]
        moved_from = moved[0][0] if moved else None
    if not found:
        raise NotFoundError(f"no passage has the key {typed!r}", "keys change when a passage's own text changes: search again")
    # The same text at the same path below two roots has one key: either passage is what it stands for.
    if len({passage_key for _, passage_key, _, _ in found}) > 1:
        listed = ", ".join(f"{passage_key} ({path}:{line})" for _, passage_key, path, line in found[:5])
        raise QueryError(f"{typed!r} begins {len(found)} keys: {listed}", "type more of the key")
    return fetch_passages(connection, [found[0][0]])[found[0][0]], moved_from


def find_document(connection: sqlite3.Connection, path: str, allowed: Allowed | None = None) -> Document:
    """The document with this path, relative to its root or absolute, or with a unique ending of it.

    allowed: the documents that count, None for all. Raises NotFoundError when there is none, QueryError when there are several.
    """
    select, parameters = allowed or ("SELECT id FROM documents", ())
    rows: list[tuple[int, str, str]] = []
    conditions = (
        "(d.path = ? OR rtrim(r.path, '/') || '/' || d.path = ?)",
        "substr(d.path, -length(?) - 1) = '/' || ?",
        "substr(composed('/' || rtrim(r.path, '/') || '/' || d.path), -length(composed(?)) - 1) = '/' || composed(?)",
    )
    for spelling, condition in product(sources.typed(path), conditions):
        rows = (
            rows
            or connection.execute(
                "SELECT d.id, r.path, d.path FROM documents d JOIN _roots r ON r.id = d.root "
                f"WHERE {condition} AND d.id IN ({select}) ORDER BY d.path, r.path",
                (spelling, spelling, *parameters),
            ).fetchall()
        )
    if not rows:
        raise NotFoundError(
            f"no document with the path {path!r}", "archivist search finds the paths; archivist status lists the roots"
        )
    if len(rows) > 1:
        listed = ", ".join(f"{root.rstrip('/')}/{found}" for _, root, found in rows[:5])
        raise QueryError(f"{path!r} fits {len(rows)} documents: {listed}", "type more of the path, from / on if need be")
    return fetch_documents(connection, [rows[0][0]])[rows[0][0]]


def list_documents(
    connection: sqlite3.Connection, filters: Compiled, *, order_by: OrderBy, limit: int, offset: int
) -> Page[Document]:
    """Documents that pass the filters, in order, with the exact total."""
    if order_by not in _ORDERS:
        raise QueryError(f"order_by: got {order_by!r}, want one of {', '.join(_ORDERS)}")
    select, parameters = filters.without(None)
    total = connection.execute(f"SELECT count(*) FROM ({select})", parameters).fetchone()[0]
    rows = connection.execute(
        f"SELECT d.id FROM documents d WHERE d.id IN ({select}) ORDER BY {_ORDERS[order_by]} LIMIT ? OFFSET ?",
        (*parameters, limit, offset),
    ).fetchall()
    found = fetch_documents(connection, [row[0] for row in rows])
    return Page(tuple(found[row[0]] for row in rows), total, offset)


def count_documents(connection: sqlite3.Connection, filters: Compiled, group_by: GroupBy | None) -> dict[str, int]:
    """How many documents pass the filters, per value of `group_by` (the most first), or under "total" without it."""
    select, parameters = filters.without(None)
    if group_by is None:
        return {"total": connection.execute(f"SELECT count(*) FROM ({select})", parameters).fetchone()[0]}
    if group_by not in _GROUPS:
        raise QueryError(f"group_by: got {group_by!r}, want one of {', '.join(_GROUPS)}")
    rows = connection.execute(
        f"SELECT coalesce({_GROUPS[group_by]}, '(none)') AS name, count(*) AS n FROM documents d "
        "JOIN _roots r ON r.id = d.root LEFT JOIN document_tags t ON t.document_id = d.id AND ? "
        "LEFT JOIN json_each(authors(d.author)) a ON ? "
        f"WHERE d.id IN ({select}) GROUP BY 1 ORDER BY n DESC, 1",
        (group_by == "tag", group_by == "author", *parameters),
    )
    return dict(rows.fetchall())


def difference(connection: sqlite3.Connection, more: Allowed, fewer: Allowed) -> frozenset[int]:
    """The document ids of one SELECT that another does not give."""
    rows = connection.execute(f"{more[0]} EXCEPT {fewer[0]}", (*more[1], *fewer[1]))
    return frozenset(row[0] for row in rows)


def current_document(connection: sqlite3.Connection, document: Document) -> int:
    """The id that a document has now: an indexer may have replaced it since it was found. Raises NotFoundError when it is gone."""
    row = connection.execute(
        "SELECT d.id FROM documents d JOIN _roots r ON r.id = d.root WHERE d.path = ? AND r.path = ?",
        (document.path, document.root),
    ).fetchone()
    if row is None:
        raise NotFoundError(f"{document.path} is not in the library any more", "search again")
    return int(row[0])


def current_passage(connection: sqlite3.Connection, passage: Passage) -> Passage:
    """A passage as it is now: its document may have been replaced since it was found. Raises NotFoundError when it is gone."""
    row = connection.execute(
        "SELECT id FROM passages WHERE key = ? ORDER BY id <> ?, id LIMIT 1", (passage.key, passage.id)
    ).fetchone()
    if row is None:
        raise NotFoundError(f"the passage {passage.key} is not in the library any more", "search again")
    return fetch_passages(connection, [row[0]])[row[0]]


def read_lines(connection: sqlite3.Connection, document: Document, first: int | None, last: int | None) -> Reading:
    """Lines `first` to `last` of a document's stored text, numbered as in its file. Raises QueryError outside them and where
    they all lie in the front matter above it, NotFoundError when the document is gone.
    """
    current = current_document(connection, document)
    start = connection.execute("SELECT first_line FROM documents WHERE id = ?", (current,)).fetchone()[0]
    lines = store.stored_text(connection, current).split("\n")
    total = start + len(lines) - 1
    low, high = first if first is not None else start, last if last is not None else total
    if low < 1 or high < low or low > total:
        raise QueryError(f"lines: got {low} to {high}, want a range within {start} to {total}")
    if high < start:
        raise QueryError(f"lines: got {low} to {high}, but the stored text begins at line {start}, below the front matter")
    low, high = max(low, start), min(high, total)
    return Reading(document, low, high, total, tuple(lines[low - start : high - start + 1]))


def fetch_stretch(
    connection: sqlite3.Connection, document: Document, *, first_line: int, last_line: int | None, ordinal: int, limit: int
) -> list[Passage]:
    """The passages of a document that touch lines `first_line` to `last_line` (None: its end), from an ordinal on, in order.

    Raises NotFoundError when the document is gone.
    """
    rows = connection.execute(
        "SELECT id FROM passages WHERE document_id = ? AND last_line >= ? AND first_line <= coalesce(?, first_line) "
        "AND ordinal >= ? ORDER BY ordinal LIMIT ?",
        (current_document(connection, document), first_line, last_line, ordinal, limit),
    ).fetchall()
    found = fetch_passages(connection, [row[0] for row in rows])
    return [found[row[0]] for row in rows]


def fetch_openings(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Passage]:
    """The first passage of each of these documents; those without text are left out."""
    rows = connection.execute(
        "SELECT id FROM passages WHERE ordinal = 0 AND document_id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    )
    found = fetch_passages(connection, [row[0] for row in rows.fetchall()])
    return {passage.document_id: passage for passage in found.values()}


def neighbours(connection: sqlite3.Connection, passage: Passage) -> tuple[Passage | None, Passage | None]:
    """The passages before and after this one in its document. Raises NotFoundError when it is gone."""
    passage = current_passage(connection, passage)
    rows = connection.execute(
        "SELECT ordinal, id FROM passages WHERE document_id = ? AND ordinal IN (?, ?)",
        (passage.document_id, passage.ordinal - 1, passage.ordinal + 1),
    )
    by_ordinal = dict(rows.fetchall())
    found = fetch_passages(connection, by_ordinal.values())
    return found.get(by_ordinal.get(passage.ordinal - 1, -1)), found.get(by_ordinal.get(passage.ordinal + 1, -1))


def stale(connection: sqlite3.Connection, document: Document) -> str | None:
    """How the file differs from what was indexed, by its size and time of change; None when it does not, or is no file."""
    full = Path(sources.to_os(document.root)) / sources.to_os(document.path)
    if not full.is_absolute():
        return None
    try:
        status = full.stat()
    except OSError:
        return "its file is gone"
    current = current_document(connection, document)
    size, mtime_ns = connection.execute("SELECT size, mtime_ns FROM documents WHERE id = ?", (current,)).fetchone()
    changed = (status.st_size, status.st_mtime_ns) != (size, mtime_ns or status.st_mtime_ns)
    return "its file has changed" if changed else None


def _document(row: tuple[Any, ...], tags: tuple[str, ...]) -> Document:
    identifier, root, path, title, kind, category, author, language, day, source, created, modified, size, pages, *rest = row
    text_status, metadata, indexed_at = rest
    return Document(
        id=identifier,
        root=root,
        path=path,
        title=title,
        format=kind,
        category=category,
        author=author,
        language=language,
        tags=tags,
        date=day,
        date_source=source,
        created=created,
        modified=modified,
        size=size,
        pages=pages,
        text_status=text_status,
        metadata=json.loads(metadata),
        indexed_at=indexed_at,
    )


def _passage(row: tuple[Any, ...]) -> Passage:
    identifier, key, document, ordinal, headings, page, first_line, last_line, start, end, text, tokens = row
    return Passage(
        id=identifier,
        key=key,
        document_id=document,
        ordinal=ordinal,
        headings=tuple(json.loads(headings)),
        page=page,
        first_line=first_line,
        last_line=last_line,
        start=start,
        end=end,
        text=text,
        tokens=tokens,
    )


def _passages_with(connection: sqlite3.Connection, prefix: str, allowed: Allowed | None) -> list[tuple[int, str, str, int]]:
    select, parameters = allowed or ("SELECT id FROM documents", ())
    return connection.execute(
        "SELECT p.id, p.key, d.path, p.first_line FROM passages p JOIN documents d ON d.id = p.document_id "
        f"WHERE p.key >= ? AND p.key < ? AND d.id IN ({select}) ORDER BY d.path, p.ordinal, d.root LIMIT 20",
        (prefix, prefix + "\x7f", *parameters),
    ).fetchall()
