"""Whether a library is sound: what SQLite says of the file, whether its parts agree, and how it stands to the files on disk.

Nothing here writes, so that a library can be examined while it is read and indexed. `assistant.doctor` says what to do about it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from search import connections, faults, schema, sources, status, store
from search.models import Coverage
from search.status import Status

_SAMPLE = 200  # passages whose words are looked up in the keyword index
_DAMAGE_SHOWN = 3
_WORDS = 5
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """How the files of a library stand to what was indexed; files below a folder that is gone are not counted again."""

    looked_at: int
    changed: tuple[str, ...]
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """How the keyword index differs from the passages: what it lacks, still holds, and does not find by its words."""

    lacking: int
    left_over: int
    unfound: int

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not (self.lacking or self.left_over or self.unfound)


class Examination:
    """An open library that is looked at. Every question may raise LibraryError, for a file that cannot be read."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @cached_property
    def status(self) -> Status:
        """What `archivist status` shows."""
        return self._asked(lambda: status.status(self._connection, self.path))

    @property
    def coverage(self) -> Coverage:
        """How much of the library can be searched."""
        return self.status.coverage

    def damage(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the structure of the file, the first three things; () for nothing."""
        rows = self._asked(lambda: self._connection.execute(f"PRAGMA quick_check({_DAMAGE_SHOWN})").fetchall())
        return tuple(text for (text,) in rows if text != "ok")

    def dangling(self) -> int:
        """Rows that refer to a row that is not there."""
        return len(self._asked(lambda: self._connection.execute("PRAGMA foreign_key_check").fetchall()))

    def keyword_index(self) -> KeywordIndex:
        """Whether the keyword index holds the passages: each by its number, a sample of them by their words."""
        # FTS5 checks itself only on a connection that may write.
        sizes = f"{schema.FTS}_docsize"
        with self._reading():
            lacking = self._one(f"SELECT count(*) FROM passages WHERE id NOT IN (SELECT id FROM {sizes})")
            left_over = self._one(f"SELECT count(*) FROM {sizes} WHERE id NOT IN (SELECT id FROM passages)")
            rows = self._connection.execute(
                f"SELECT id, text FROM passages WHERE id IN (SELECT id FROM {sizes}) AND id % "
                f"(SELECT max(1, count(*) / {_SAMPLE}) FROM passages) = 0 LIMIT {_SAMPLE}"
            ).fetchall()
            unfound = sum(not self._finds(passage, text) for passage, text in rows)
        return KeywordIndex(lacking, left_over, unfound)

    def foreign_vectors(self) -> int:
        """Embeddings whose size is not the one that the library names."""
        dimension = self.status.dimension
        if dimension is None:
            return 0
        with self._reading():
            return self._one("SELECT count(*) FROM _embeddings WHERE length(vector) <> ?", 4 * dimension)

    def check_embedder(self, identity: dict[str, Any]) -> None:
        """Raise LibraryError when the vectors of a model cannot be compared with those of the library."""
        made_with = self._asked(lambda: store.get_meta(self._connection, "embedder"))
        if made_with is not None:
            store.check_identity(made_with, identity, self.path)

    def lost_roots(self) -> tuple[str, ...]:
        """Folders that the library follows and that are no folders any more."""
        # What a program added as texts has a root that is no path.
        places = ((root.path, Path(sources.to_os(root.path))) for root in self.status.roots)
        return tuple(path for path, place in places if place.is_absolute() and not place.is_dir())

    def unreadable(self) -> int:
        """Files that could not be read, or not as what they claim to be, when they were indexed."""
        with self._reading():
            return self._one("SELECT count(*) FROM documents WHERE failed = 1")

    def standing(self) -> Standing:
        """Which of the known files have changed or gone since, by size and time of change. New files are not looked for."""
        lost = set(self.lost_roots())
        changed, gone, looked_at = [], [], 0
        with self._reading():
            rows = self._connection.execute(
                "SELECT r.path, d.path, d.size, d.mtime_ns FROM documents d JOIN _roots r ON r.id = d.root ORDER BY d.path, d.id"
            ).fetchall()
        for root, path, size, mtime_ns in rows:
            place = Path(sources.to_os(root))
            if root in lost or not place.is_absolute():
                continue
            looked_at += 1
            try:
                found = (place / sources.to_os(path)).stat()
            except OSError:
                gone.append(path)
                continue
            if (found.st_size, found.st_mtime_ns) != (size, mtime_ns or found.st_mtime_ns):
                changed.append(path)
        return Standing(looked_at, tuple(changed), tuple(gone))

    def _finds(self, passage: int, text: str) -> bool:
        """Whether the keyword index finds a passage by its first words; one without words is not asked for."""
        # Words of letters alone are what every tokenizer of SQLite takes whole.
        words = [word for word in text.split() if word.isalpha() and word.isascii()][:_WORDS]
        query = f"SELECT 1 FROM {schema.FTS} WHERE {schema.FTS} MATCH ? AND rowid = ?"
        return all(self._connection.execute(query, (f'"{word}"', passage)).fetchone() for word in words)

    def _one(self, statement: str, *values: object) -> int:
        return int(self._connection.execute(statement, values).fetchone()[0])

    def _asked(self, question: Callable[[], T]) -> T:
        with self._reading():
            return question()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with faults.translated(self.path), connections.reading(self._connection):
            yield


@contextmanager
def examine(path: Path) -> Iterator[Examination]:
    """A library to look at, until the block is left. Raises LibraryError for a file that cannot be opened as one."""
    with closing(connections.open_for_reading(path)) as connection:
        yield Examination(path, connection)


def engine_trouble() -> str:
    """What the SQLite of this Python cannot do that a library needs, "" when it can do all: the whole schema is tried in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            schema.migrate(connection)
            connection.execute("INSERT INTO _roots(id, path, whole, max_bytes) VALUES (1, '/', 1, 1)")
            connection.execute(
                "INSERT INTO documents(id, root, path, title, format, size, text_status, encoding, indexed_at) "
                "VALUES (1, 1, 'a', 'Café', 'text', 1, 'ok', 'utf-8', '2026-01-01')"
            )
            connection.execute(
                "INSERT INTO passages(id, document_id, ordinal, key, first_line, last_line, start_offset, end_offset, text, "
                "tokens) VALUES (1, 1, 0, 'k', 1, 1, 0, 1, 'Timeouts', 1)"
            )
            found = [
                connection.execute(f"SELECT 1 FROM {schema.FTS} WHERE {schema.FTS} MATCH ?", (word,)).fetchone()
                for word in ("cafe", "timeout")
            ]
        except sqlite3.Error as error:
            return str(error)
    return "" if all(found) else "its full-text search does not fold accents and endings"


def engine_version() -> str:
    """The version of SQLite."""
    return sqlite3.sqlite_version


__all__ = ["Examination", "KeywordIndex", "Standing", "engine_trouble", "engine_version", "examine"]
