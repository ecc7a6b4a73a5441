"""What SQLite's errors mean for a library file, in words that say who must act: the disk, its rights, another program, damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from search.errors import LibraryError

REBUILD = "archivist index --rebuild"
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns SQLite's errors about the file into LibraryError with the command that mends it."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        words = str(error)
        code = _code(error)
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise LibraryError(f"{path} is being written by another program", "try again when it has finished") from error
        if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
            raise LibraryError(f"{path} cannot be opened as needed: {words}", "check the rights of the file and folder") from error
        if code == sqlite3.SQLITE_FULL:
            raise LibraryError(
                f"no space left for {path}, or for temporary files", "free some space and run the same command again"
            ) from error
        if code == sqlite3.SQLITE_IOERR:
            raise LibraryError(
                f"{path} cannot be read or written: {words}", "check the disk and its free space, then run the same command again"
            ) from error
        if code in _DAMAGE:
            raise LibraryError(f"{path} is damaged: {words}", f"{REBUILD} makes it anew from the folders") from error
        raise


def tells_of_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether it is the file's content that is wrong; not its rights, the disk or another program."""
    return _code(error) in _DAMAGE


def _code(error: sqlite3.DatabaseError) -> int:
    """The primary result code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
