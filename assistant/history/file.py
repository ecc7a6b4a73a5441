"""The file of kept conversations: where it lies, its schema and versions, and what SQLite's errors mean for it.

It is for its owner alone (0600, in a folder of 0700). The write-ahead log lets several programs work on it at once; what is
deleted is overwritten, not merely forgotten.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from assistant import settings
from assistant.errors import HistoryError
from search.connections import make_folder, transaction

BUSY_SECONDS = 30.0
_APPLICATION = 0x41726368  # PRAGMA application_id: tells the file from a library, and from other programs' databases
_MOVE = "move the file away, or name another with ARCHIVIST_HISTORY"

# Each step leads from the version before it to the next; a file's version is the number of steps it has taken.
_STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            id INTEGER PRIMARY KEY,
            name TEXT,
            folded_name TEXT UNIQUE,
            library TEXT NOT NULL,           -- the full path of its file
            model TEXT NOT NULL,             -- of the last turn, as its base_url
            base_url TEXT NOT NULL,
            started TEXT NOT NULL,           -- moments in UTC
            last TEXT NOT NULL,
            revision INTEGER NOT NULL        -- counts the writes: who has seen another number has not seen all
        )""",
        """CREATE TABLE turns (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            place INTEGER NOT NULL,          -- how many turns the messages had when this one was answered
            at TEXT NOT NULL,
            model TEXT NOT NULL,
            question TEXT NOT NULL,
            answer TEXT NOT NULL,
            words TEXT NOT NULL,             -- both as they are searched
            filters TEXT NOT NULL,
            record TEXT NOT NULL
        )""",
        "CREATE INDEX turns_of_session ON turns (session, id)",
        """CREATE TABLE messages (
            session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            place INTEGER NOT NULL,
            said TEXT NOT NULL,
            PRIMARY KEY (session, place)
        ) WITHOUT ROWID""",
        """CREATE TABLE evidence (
            session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
            place INTEGER NOT NULL,
            item TEXT NOT NULL,
            PRIMARY KEY (session, place)
        ) WITHOUT ROWID""",
        # Three characters at a time: any script, with spaces between its words or without.
        "CREATE VIRTUAL TABLE found USING fts5(words, content='turns', content_rowid='id', tokenize='trigram case_sensitive 1')",
        """CREATE TRIGGER turns_added AFTER INSERT ON turns
            BEGIN INSERT INTO found (rowid, words) VALUES (new.id, new.words); END""",
        """CREATE TRIGGER turns_deleted AFTER DELETE ON turns
            BEGIN INSERT INTO found (found, rowid, words) VALUES ('delete', old.id, old.words); END""",
        "CREATE TABLE counter (last INTEGER NOT NULL)",  # the last id given to a conversation: none is given twice
        "INSERT INTO counter VALUES (0)",
    ),
)
VERSION = len(_STEPS)
# One statement sees one moment: between two, another program may have made the tables.
_STATE = """
    SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
    FROM pragma_application_id, pragma_user_version
"""


def place() -> Path:
    """Where conversations are kept: ARCHIVIST_HISTORY, else the platform's place for data."""
    named = os.environ.get("ARCHIVIST_HISTORY")
    if named:
        return settings.from_home(named)
    from platformdirs import user_data_path

    return user_data_path("archivist") / "conversations.db"


def opened(path: Path) -> sqlite3.Connection:
    """A connection to the file, which is made where it is missing and brought to this version where it is older.

    Raises HistoryError for a file that is something else, damaged, of a newer Archivist, or out of reach.
    """
    with translated(path):
        _make(path)
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(path.resolve()))}?mode=rw",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns what SQLite and the operating system say of the file into HistoryError."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if is_busy(error):
            raise HistoryError(f"{path} is being written by another program", "try again when it has finished") from error
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}:
            raise damaged(path, str(error)) from error
        raise HistoryError(f"{path} cannot be read or written: {error}", "check its rights, the folder's and the disk") from error
    except UnicodeDecodeError as error:  # SQLite's message quotes a damaged schema, and Python cannot decode it
        raise damaged(path, "its schema is no text") from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise HistoryError(f"{path} cannot be read or written: {why}", "check its rights, the folder's and the disk") from error


def damaged(path: Path, why: str) -> HistoryError:
    """The error of a file that holds what was never written to it."""
    return HistoryError(f"{path} is damaged: {why}", _MOVE)


@contextmanager
def writing(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """A transaction that takes its lock at once, so that it waits here and never fails half-way. Raises HistoryError."""
    with translated(path), transaction(connection, "BEGIN IMMEDIATE"):
        yield


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another program holds the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _make(path: Path) -> None:
    """See to it that there is a file. Raises HistoryError for what is none, such as a device: nothing of it is changed."""
    make_folder(path.parent)
    if path.exists() and not path.is_file():
        raise HistoryError(f"{path} is no file", "name a file with ARCHIVIST_HISTORY")
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _make_private(path: Path) -> None:
    """Keep everybody else out of a file that is ours: others name no database of another program's."""
    state = path.stat()
    if state.st_mode & 0o077 and state.st_uid == os.geteuid():
        path.chmod(0o600)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    for pragma in ("foreign_keys = ON", "secure_delete = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    version = _version(connection, path)  # first of all: it may be another program's file
    _make_private(path)
    if version < VERSION:
        with writing(connection, path):
            # Another program may have been faster.
            for step in _STEPS[_version(connection, path) :]:
                for statement in step:
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
    _use_log(connection)


def _use_log(connection: sqlite3.Connection) -> None:
    """Turn the write-ahead log on; two programs that do so at once may refuse each other without waiting."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the file, 0 when it is empty. Raises HistoryError for a file that is not ours or newer than we are."""
    version: int
    application, version, things = connection.execute(_STATE).fetchone()
    if application == 0 and not things:
        return 0
    if application != _APPLICATION:
        raise HistoryError(f"{path} holds no conversations of Archivist", "name another file with ARCHIVIST_HISTORY")
    if version > VERSION:
        raise HistoryError(
            f"{path} was made by a newer Archivist (version {version}, this one knows {VERSION})", f"upgrade Archivist, or {_MOVE}"
        )
    return version


__all__ = ["BUSY_SECONDS", "VERSION", "damaged", "is_busy", "opened", "place", "translated", "writing"]
