"""The library file: opening it for reading or writing, its transactions, the lock that indexers share, the files beside it.

WAL lets readers go on while a write transaction lasts; they see the state from before it until it commits.
"""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from search import schema
from search.errors import LibraryError
from search.faults import REBUILD, translated
from search.functions import add_functions
from search.tables.catalogue import settle

BUSY_SECONDS = 30.0
_MAGIC = b"SQLite format 3\x00"


def is_there(path: Path) -> bool:
    """Whether there is a file at the library's place; raises LibraryError when it is no regular file or cannot be looked at."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise LibraryError(f"cannot look at {path}: {error.strerror}", "check the rights of the folders that it lies in") from error
    if stat.S_ISREG(mode):
        return True
    what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
    raise LibraryError(f"{path} is {what}, not a library", "name a file with --library")


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; it opens on a read-only medium too. Raises LibraryError when the file is no library."""
    _require_library(path)
    connection = _connect(path, _way_to_read(path))
    with _closed_on_error(connection), translated(path):
        connection.execute("PRAGMA query_only = ON")
        _check_version(connection, path)
    return connection


def read_only_uri(path: Path) -> str:
    """The library's address for a process of its own that reads while a connection of ours is open.

    Ours keeps the files beside a write-ahead log and tidies them up, so the other one needs no right to write.
    """
    return _uri(path, _way_to_read(path).replace("mode=rw", "mode=ro"))


def open_for_writing(path: Path) -> sqlite3.Connection:
    """A connection for the indexer; makes the file (0600) and its folder (0700) when missing, and migrates an older library."""
    if is_there(path) and path.stat().st_size:
        _require_library(path)
    else:
        _make_file(path)
    connection = _connect(path, "mode=rw")
    with _closed_on_error(connection), translated(path):
        found = _check_version(connection, path, writing=True)  # before anything is changed: the file may be another program's
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA temp_store = FILE")
        if found is None or found < schema.SCHEMA_VERSION:
            if found is not None:
                _back_up(connection, path, found)
            schema.migrate(connection)
    return connection


def open_for_replacing(path: Path) -> sqlite3.Connection:
    """A connection to a library of any version whose whole content is to be overwritten. Raises what a damaged file raises."""
    connection = _connect(path, "mode=rw")
    with _closed_on_error(connection):
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            damage = sqlite3.DatabaseError("quick_check failed")
            damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise damage
        if schema.version(connection) is None:
            raise LibraryError(f"{path} is not an Archivist library", "name another file with --library")
    return connection


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """One snapshot for several statements: a search never sees half of what an indexer commits meanwhile."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction that takes its lock at once, so that it waits here and never fails half-way.

    At its end the tables are settled: what documents have left behind is dropped, what remains has the name that it should.
    """
    with transaction(connection, "BEGIN IMMEDIATE"):
        yield
        settle(connection)


@contextmanager
def staging(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that writes temporary tables only: it reads one state of the library and locks out nobody."""
    with transaction(connection, "BEGIN"):
        yield


@contextmanager
def index_lock(path: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Only one indexer at a time works on a library; a second one says so through `waiting`, then waits.

    The lock is the kernel's, on a file beside the library: it falls with the process, however that ends.
    """
    lock = path.with_name(path.name + ".lock")
    while True:
        try:
            make_folder(lock.parent)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LibraryError(f"cannot write beside {path}: {error.strerror}", "name another place with --library") from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting(f"another index run is at work on {path}; waiting for it to end")
                fcntl.flock(handle, fcntl.LOCK_EX)
            if not _same_file(lock, handle):
                continue  # its holder took the name away before letting go: this lock guards nothing any more
            try:
                yield
            finally:
                lock.unlink(missing_ok=True)
            return
        finally:
            os.close(handle)


def own_files(connection: sqlite3.Connection) -> Callable[[Path], bool]:
    """A test for the library's file and those that stand beside it: they are no documents when the library lies in a root."""
    # As bytes: the name of the file need not be text.
    row = connection.execute("SELECT CAST(file AS BLOB) FROM pragma_database_list WHERE name = 'main'").fetchone()
    file = os.fsdecode(row[0]).removesuffix(".rebuild")
    beside = re.compile(r"(?:\.rebuild|\.damaged-[0-9-]+)?(?:-wal|-shm)?|\.lock|\.schema[0-9]+\.bak")
    name = os.path.basename(file)  # noqa: PTH119 - asked for every file of a tree

    def is_own(path: Path) -> bool:
        if not path.name.startswith(name):
            return False
        return beside.fullmatch(path.name[len(name) :]) is not None and path.parent.resolve() == Path(file).parent

    return is_own


def checkpoint(connection: sqlite3.Connection) -> None:
    """Fold the write-ahead log into the file and empty it, as far as readers let it."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """What is done is kept as a whole, or not at all. begin: the statement that begins it, "BEGIN IMMEDIATE" to write."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself where the disk was full
            connection.execute("ROLLBACK")
        raise


def _way_to_read(path: Path) -> str:
    """How SQLite can open a library that is only read, by the rights of the file and of its folder."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return "mode=rw"
    if os.access(path, os.W_OK) or os.access(path.parent, os.W_OK) or path.with_name(path.name + "-wal").exists():
        return "mode=ro"
    return "mode=ro&immutable=1"  # nobody can change it under us: WAL needs no -shm file then


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(os.fsencode(path.resolve()))}?{options}"


def _connect(path: Path, options: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            _uri(path, options), uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
    except sqlite3.OperationalError as error:
        raise LibraryError(f"cannot open {path}: {error}", "check the rights of the file and its folder") from error
    connection.execute("PRAGMA foreign_keys = ON")
    add_functions(connection)
    return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _require_library(path: Path) -> None:
    if not is_there(path):
        raise LibraryError(f"there is no library at {path}", "archivist index DIR makes one")
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise LibraryError(f"{path} cannot be read: {error.strerror}", "check the rights of the file and its folder") from error
    if start != _MAGIC:
        raise LibraryError(
            f"{path} is not an Archivist library, or its beginning is damaged",
            f"name another file with --library; if it was a library, {REBUILD} DIR sets it aside and makes it anew",
        )


def _check_version(connection: sqlite3.Connection, path: Path, *, writing: bool = False) -> int | None:
    found = schema.version(connection)
    if found is None:
        empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if writing and empty:
            return None
        raise LibraryError(f"{path} is not an Archivist library", "name another file with --library")
    if found > schema.SCHEMA_VERSION:
        raise LibraryError(
            f"{path} was made by a newer Archivist (schema {found}, this one knows {schema.SCHEMA_VERSION})",
            f"upgrade Archivist, or make the library anew with {REBUILD}",
        )
    if found < schema.SCHEMA_VERSION and not writing:
        raise LibraryError(
            f"{path} has the older schema {found} (want {schema.SCHEMA_VERSION})",
            "archivist index brings it up to date and keeps a backup",
        )
    return found


def _make_file(path: Path) -> None:
    try:
        make_folder(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise LibraryError(f"cannot make a library at {path}: {error.strerror}", "name another place with --library") from error


def make_folder(folder: Path) -> None:
    """Make a folder for its owner alone; the ones above it too, for which mkdir's own `parents` would take the usual mode."""
    for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def _back_up(connection: sqlite3.Connection, path: Path, found: int) -> None:
    target = path.with_name(f"{path.name}.schema{found}.bak")
    os.close(os.open(target, os.O_RDWR | os.O_CREAT, 0o600))
    with closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)


def _same_file(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
