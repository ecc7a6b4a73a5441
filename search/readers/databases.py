"""SQLite files: every ordinary table with its rows, as it stands in the file.

The file is never opened in place: its bytes become a private database in memory, so nothing is written beside it. It is not
trusted either (https://sqlite.org/security.html): nothing that it brings along runs, neither views nor triggers nor virtual
tables, functions whose cost its author could multiply are out of reach, and rows are bounded by what its size can hold.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from search.errors import ReadError
from search.models import Extract
from search.readers.cleaning import one_line
from search.readers.encodings import decode
from search.readers.flattening import unique_names
from search.readers.formats import SQLITE
from search.readers.sql_comments import LONGEST, comments_of, words_of
from search.readers.stored_types import column_type
from search.tables.describing import described, left_out
from search.tables.models import Column, TableDraft, Value
from search.tables.profiling import profiled

MAX_SECONDS = 120.0
_OWN = 0x41524356  # the application id of a library: `search.schema.APPLICATION_ID`
_WAL = 2
_BATCH = 1_000
_SMALLEST_ROW = 4  # bytes: a cell of a table's leaf page is never shorter (https://sqlite.org/fileformat2.html, 1.6)
_GROWTH = 16  # values may be this much larger than the file: defaults of columns that were added later are stored once
_STEPS = 1_000
_PRAGMAS = frozenset({"table_xinfo", "foreign_key_list"})
# One call of these can take minutes, or make much of little: a generated column must do without them.
_COSTLY = ("instr", "replace", "like", "glob", "printf", "format", "zeroblob", "randomblob", "hex", "quote", "char")
_SHADOWS = re.compile(r"content|segments|segdir|docsize|stat|data|idx|config|node|rowid|parent|vocab|chunks|rowids|info|vector_.*")
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9 ]{0,39}(?:\( ?\d{1,9}(?: ?, ?\d{1,9})? ?\))?")
_CONSTRAINTS = frozenset(
    {
        *("AS", "AUTOINCREMENT", "CHECK", "COLLATE", "CONSTRAINT", "DEFAULT", "FOREIGN", "GENERATED", "KEY", "NOT", "NULL"),
        *("ON", "PRIMARY", "REFERENCES", "UNIQUE"),
    }
)


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 - one signature for all readers
    """The ordinary tables of a database; views and virtual tables are named in the notes. A library gives its reason.

    Raises ReadError when the file is damaged, takes longer than MAX_SECONDS, or claims more rows than its bytes can hold.
    """
    if not data.startswith(SQLITE):
        return Extract(text="", format="sqlite", no_text="binary: no SQLite database, or an encrypted one")
    if int.from_bytes(data[68:72]) == _OWN:
        return Extract(text="", format="sqlite", no_text="an Archivist library: its tables are not read into another")
    try:
        with _opened(data) as connection:
            drafts, notes = _read(connection, len(data))
    except sqlite3.Error as error:
        if "interrupted" in str(error):
            raise ReadError(f"SQLite: reading its tables took longer than {MAX_SECONDS:.0f} seconds") from error
        raise ReadError(f"broken SQLite file: {one_line(str(error), 120)}") from error
    except UnicodeDecodeError as error:  # SQLite's message quotes a damaged schema, and Python cannot decode it
        raise ReadError("broken SQLite file: its schema is damaged") from error
    if 2 in data[18:20]:
        notes.append("kept in WAL mode: changes that still wait in a -wal file beside it are not seen")
    if not drafts:
        return Extract(text="", format="sqlite", notes=tuple(notes), no_text="a database without tables")
    return Extract(text=described(drafts), format="sqlite", notes=(*notes, *left_out(drafts)), tables=tuple(drafts))


@contextmanager
def _opened(data: bytes) -> Iterator[sqlite3.Connection]:
    """A private copy, under guard. A database that was written in WAL mode opens as well: its header is told otherwise."""
    content = bytearray(data)
    for place in (18, 19):  # the file format's write and read version
        if content[place] == _WAL:
            content[place] = 1
    with tempfile.TemporaryDirectory(prefix="archivist-") as folder:
        if _can_deserialize():
            connection = sqlite3.connect(":memory:")
            connection.deserialize(bytes(content))
        else:
            copy = Path(folder) / "copy.db"
            copy.write_bytes(content)
            connection = sqlite3.connect(copy)
        with closing(connection):
            _guard(connection, len(data))
            yield connection


def _can_deserialize() -> bool:
    """Whether this Python's SQLite was built with it: it may be left out."""
    return hasattr(sqlite3.Connection, "deserialize")


def _guard(connection: sqlite3.Connection, size: int) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA query_only = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(1_000_000, size))
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 100)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("SELECT 1 FROM sqlite_master").fetchone()  # a schema is parsed with the functions it was written for
    for function in _COSTLY:
        connection.create_function(function, -1, _refused, deterministic=True)
    ends = time.monotonic() + MAX_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    connection.set_authorizer(_allowed)


def _refused(*_: object) -> None:
    """Takes the place of a costly function. It is not marked innocuous, so no expression of the file may call it."""
    raise sqlite3.OperationalError("not available here")


def _allowed(action: int, first: str | None, _second: str | None, _database: str | None, inner: str | None) -> int:
    """Plain reading of tables, nothing by way of a view or trigger, and two pragmas that tell a table's columns."""
    if inner is not None:
        return sqlite3.SQLITE_DENY
    if action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS else sqlite3.SQLITE_DENY


def _read(connection: sqlite3.Connection, size: int) -> tuple[list[TableDraft], list[str]]:
    schema = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid")
    named = [(kind, str(name), str(sql or "")) for kind, name, sql in schema if not str(name).lower().startswith("sqlite_")]
    virtual = [name for kind, name, sql in named if kind == "table" and re.match(r"\s*CREATE\s+VIRTUAL\b", sql, re.IGNORECASE)]
    views = [name for kind, name, _ in named if kind == "view"]
    shadows = {name for _, name, _ in named for owner in virtual if _is_shadow(name, owner)}
    left_out = {*virtual, *views, *shadows}
    budget = _Budget(rows=3 * size // _SMALLEST_ROW, bytes=3 * (size * _GROWTH + 64_000_000))  # a table may need three attempts
    drafts = [_draft(connection, name, sql, budget) for _, name, sql in named if name not in left_out]
    notes = [
        f"{'views are' if what == 'view' else 'virtual tables are'} not read: {one_line(', '.join(names), 300)}"
        for what, names in (("view", views), ("virtual", virtual))
        if names
    ]
    return drafts, notes


def _is_shadow(name: str, owner: str) -> bool:
    """Whether a table holds the storage of a virtual one, by the names that SQLite's modules and common extensions use."""
    start = f"{owner}_".lower()
    return name.lower().startswith(start) and _SHADOWS.fullmatch(name.lower()[len(start) :]) is not None


@dataclass(slots=True)
class _Budget:
    """What a file of this size can hold at most: a damaged one may let thousands of rows share a page."""

    rows: int
    bytes: int

    def spend(self, batch: Sequence[tuple[Value, ...]]) -> None:
        self.rows -= len(batch)
        self.bytes -= sum(len(value) for row in batch for value in row if isinstance(value, str | bytes))
        if self.rows < 0 or self.bytes < 0:
            raise ReadError("broken SQLite file: it claims more rows than its bytes can hold")


@dataclass(frozen=True, slots=True)
class _Declared:
    """A column as the file declares it. virtual: it is not stored but computed."""

    name: str
    type: str
    virtual: bool
    target: str


def _draft(connection: sqlite3.Connection, name: str, sql: str, budget: _Budget) -> TableDraft:
    declared = _declared(connection, name, strict=re.search(r"\)[^)]*\bSTRICT\b[^)]*$", words_of(sql)) is not None)
    notes: list[str] = []
    try:
        rows, undecoded = _rows(connection, name, declared, budget)
    except sqlite3.OperationalError as error:
        stored = [column for column in declared if not column.virtual]
        if len(stored) == len(declared) or not stored or "interrupted" in str(error):
            raise
        dropped = ", ".join(column.name for column in declared if column.virtual)
        notes.append(f"computed columns left out ({one_line(str(error), 80)}): {one_line(dropped, 200)}")
        declared = stored
        rows, undecoded = _rows(connection, name, declared, budget)
    if undecoded:
        notes.append(f"{undecoded} text{'s' * (undecoded > 1)} not in UTF-8: decoded by guess")
    comments = comments_of(sql)
    if comments.table:
        notes.append(f"the source says: {comments.table}")
    columns = []
    for place, (name_shown, column) in enumerate(zip(unique_names(column.name for column in declared), declared, strict=True)):
        kind, note = column_type([row[place] for row in rows], column.type)
        told = "; ".join(filter(None, (column.target, comments.columns.get(column.name.lower(), ""))))
        columns.append(Column(name_shown, kind, declared=column.type, note=note, comment=told[:LONGEST].rstrip()))
    return profiled(one_line(name, 200) or "table", columns, rows, tuple(notes), keeps_name=True)


def _declared(connection: sqlite3.Connection, table: str, *, strict: bool) -> list[_Declared]:
    targets: dict[str, str] = {}
    for _, _, parent, column, to, *_ in connection.execute(f"PRAGMA foreign_key_list({_quoted(table)})"):
        targets[str(column).lower()] = one_line(f"references {parent}({to})" if to else f"references {parent}", LONGEST)
    return [
        _Declared(str(name), _plain_type(str(kind or ""), strict=strict), hidden == 2, targets.get(str(name).lower(), ""))
        for _, name, kind, _, _, _, hidden in connection.execute(f"PRAGMA table_xinfo({_quoted(table)})")
    ]


def _plain_type(declared: str, *, strict: bool) -> str:
    """A declared type that can stand in CREATE TABLE as it is, else the plainest of the same affinity.

    A quoted type may hold anything, "TEXT UNIQUE" too. ANY converts nothing in a STRICT table and everything elsewhere.
    """
    if strict and declared.upper() == "ANY":
        return ""
    if _TYPE.fullmatch(declared) and not _CONSTRAINTS & set(declared.upper().replace("(", " ").split()):
        return declared
    upper = declared.upper()  # https://sqlite.org/datatype3.html, 3.1
    if "INT" in upper:
        return "INTEGER"
    if any(word in upper for word in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not upper.strip() or "BLOB" in upper:
        return ""
    return "REAL" if any(word in upper for word in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


def _rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[_Declared], budget: _Budget
) -> tuple[list[tuple[Value, ...]], int]:
    """All rows in the order of the table itself, which an index would change, and how many texts were no UTF-8."""
    sql = f"SELECT {', '.join(_quoted(column.name) for column in columns)} FROM {_quoted(table)} NOT INDEXED"
    lenient = _Lenient()
    try:
        return _fetched(connection, sql, budget), 0
    except sqlite3.OperationalError as error:
        if "decode to UTF-8" not in str(error):
            raise
    connection.text_factory = lenient
    try:
        return _fetched(connection, sql, budget), lenient.guessed
    finally:
        connection.text_factory = str


def _fetched(connection: sqlite3.Connection, sql: str, budget: _Budget) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    cursor = connection.execute(sql)
    while batch := cursor.fetchmany(_BATCH):
        budget.spend(batch)
        rows.extend(batch)
    return rows


class _Lenient:
    """Decodes texts that claim to be UTF-8 and are not, and counts them."""

    def __init__(self) -> None:
        self.guessed = 0

    def __call__(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.guessed += 1
            decoded = decode(raw)
            return decoded.text if decoded else raw.decode("utf-8", "replace")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
