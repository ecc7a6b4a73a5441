"""One SQL statement in a process of its own: reads a library, answers in lines of JSON, ends. Nothing else of Archivist is loaded.

Run by `search.tables.sandbox` as a script, isolated (-I -S), because a process can be killed: SQLite asks nobody while one function
runs long. In: one line on standard input. Out: {"ready"} when the statement begins, then {"columns"}, {"rows"}...,
and {"end"} or {"error"}. What a statement can reach is decided here, twice over:

1. By name. The library is attached under a name drawn anew for each statement, so that no statement can name it. What may be read
   of documents stands in temporary views; every table that may not be read is hidden behind a view of its name.
2. By an authorizer that permits reading, functions of a list, and nothing else. It remembers what it refused.

SQLite's own limits, a bound on its heap and the kernel's limits on memory, processor time and files hold around that.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
import time

try:
    import resource
except ImportError:  # the kernel sets no limits there; everything else holds
    BOUNDED = False
else:
    BOUNDED = True

TYPE_CHECKING = False  # typing, pathlib and secrets take as long to load as all the rest together
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

HEAP = 256_000_000  # bytes that SQLite may use
ADDRESSES = 1_000_000_000  # bytes of address space
FILE = 4_000_000  # bytes of a file: the shared index of a write-ahead log may have to be made, nothing else
OPEN_FILES = 32
CELL = 10_000  # characters of a value that are answered
COLUMNS = 300  # of a result
STEPS = 2_000  # of SQLite's machine between two looks at the clock
BATCH = 100  # rows in a line of the answer
WAITING = 5.0  # seconds for a library that is locked
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,  # bytes of a value
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_100,  # bytes; the statement itself is measured before it is sent here
    sqlite3.SQLITE_LIMIT_COLUMN: 2_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 1_000_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_DOCUMENTS = (
    "id, path, title, format, category, author, language, created, modified, date, date_source, size, pages, text_status, "
    "metadata, indexed_at"
)
VIEWS = {  # the columns that a statement sees, and the one that holds the document's id
    "documents": (_DOCUMENTS, "id"),
    "document_tags": ("document_id, tag", "document_id"),
    "passages": ("id, document_id, ordinal, key, headings, page, first_line, last_line, text, tokens", "document_id"),
}
TREES = ("json_each", "json_tree")
_FUNCTIONS = (
    # scalar
    "-> ->> abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim "
    "max min nullif octet_length printf quote random replace round rtrim sign soundex substr substring trim typeof unhex unicode "
    "unlikely upper "
    # dates
    "current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch "
    # JSON
    "json json_array json_array_length json_error_position json_extract json_group_array json_group_object json_insert "
    "json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid "
    # aggregates and windows
    "avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total "
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number "
    # mathematics
    "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians "
    "sin sinh sqrt tan tanh trunc"
)
FUNCTIONS = frozenset(_FUNCTIONS.split())
_ACTIONS = (
    "ALTER_TABLE ANALYZE ATTACH CREATE_INDEX CREATE_TABLE CREATE_TEMP_INDEX CREATE_TEMP_TABLE CREATE_TEMP_TRIGGER "
    "CREATE_TEMP_VIEW CREATE_TRIGGER CREATE_VIEW CREATE_VTABLE DELETE DETACH DROP_INDEX DROP_TABLE DROP_TEMP_INDEX "
    "DROP_TEMP_TABLE DROP_TEMP_TRIGGER DROP_TEMP_VIEW DROP_TRIGGER DROP_VIEW DROP_VTABLE FUNCTION INSERT PRAGMA READ REINDEX "
    "SAVEPOINT TRANSACTION UPDATE"
)
ACTIONS = {getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ").replace("TEMP ", "") for name in _ACTIONS.split()}


def main() -> None:
    """Answer the one request that stands on standard input."""
    _limit_the_process()
    request = json.loads(sys.stdin.buffer.readline())
    try:
        _run(request)
    except MemoryError:
        _send({"error": "memory"})


def _run(request: dict[str, Any]) -> None:
    try:
        room = Room(request)
    except sqlite3.Error as error:  # the file's fault, not the statement's
        _send({"error": "library", **_words(error)})
        return
    _limit_processor_time(request["seconds"])
    _answer(room, request)


class Room:
    """A connection that can read what a statement may see, and nothing else.

    denied: what the authorizer refused, as (action, what). read: the tables that were read. late: the deadline has passed.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self.denied: list[tuple[str, str]] = []
        self.read: set[str] = set()
        self.late = False
        self._library = f"l{request['token']}"
        self._scope = f"s{request['token']}" if request["scope"] else ""
        self.connection = _connect(request["library"], self._library)
        known = self.connection.execute(f"SELECT name, type, sql FROM {self._library}.sqlite_master").fetchall()
        if self._scope:
            self._gather(*request["scope"])
        self._tables = self._permitted(request["tables"], known)
        self._hidden = {name.lower() for name, kind, _ in known if kind in {"table", "view"}} - {*self._tables, *VIEWS}
        self._furnish()

    def _gather(self, sql: str, parameters: list[Any]) -> None:
        """Gather the ids of the documents that pass the filters, in the very state of the library that the statement will see."""
        _add_functions(self.connection)
        self.connection.execute(f"CREATE TEMP TABLE {self._scope}(id INTEGER PRIMARY KEY)")
        self.connection.execute(f"INSERT OR IGNORE INTO temp.{self._scope} {sql}", parameters)

    def _within(self, column: str) -> str:
        return f"WHERE {column} IN (SELECT id FROM temp.{self._scope})" if self._scope else ""

    def _permitted(self, wanted: list[str], known: list[tuple[str, str, str | None]]) -> dict[str, str]:
        """The imported tables that were asked for, are in the catalogue and pass the scope, by their name in lower case."""
        real = {name.lower() for name, kind, sql in known if kind == "table" and not str(sql).upper().startswith("CREATE VIRTUAL")}
        listed = self.connection.execute(f"SELECT name FROM {self._library}._tables {self._within('document_id')}").fetchall()
        real &= {name.lower() for name in wanted}
        names = {name.lower(): name for (name,) in listed if not name.lower().startswith(("_", "sqlite_"))}
        return {key: name for key, name in names.items() if key in real and key not in VIEWS}

    def _furnish(self) -> None:
        """Make the views, hide the other tables, close the door."""
        execute = self.connection.execute
        for name, (columns, document) in VIEWS.items():
            execute(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {self._library}.{name} {self._within(document)}")
        for name in self._hidden:
            if not name.startswith("sqlite_"):  # no view may be called so; the authorizer knows them
                execute(f'CREATE TEMP VIEW "{name.replace(chr(34), chr(34) * 2)}" AS SELECT NULL AS {self._library}')
        self._hidden |= {name.lower() for (name,) in execute("PRAGMA module_list")} - {*TREES}
        # A virtual table is declared in words that the authorizer would refuse: these two are made before it listens.
        execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").fetchall()
        for name in ("printf", "format"):
            self.connection.create_function(name, -1, _bounded_printf(), deterministic=True)
        execute("PRAGMA query_only = ON")
        for category, limit in LIMITS.items():
            self.connection.setlimit(category, limit)
        self.connection.set_authorizer(self._judge)

    def start_the_clock(self, seconds: float) -> None:
        """End the statement when this time has passed, as soon as SQLite looks at the clock."""
        deadline = time.monotonic() + seconds

        def is_late() -> bool:
            self.late = time.monotonic() > deadline
            return self.late

        self.connection.set_progress_handler(is_late, STEPS)

    def _judge(self, action: int, first: str | None, second: str | None, database: str | None, view: str | None) -> int:
        """Permit or refuse an action. view: the innermost view or common table expression that is being read."""
        if action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            permitted, what = str(second).lower() in FUNCTIONS, str(second)
        elif action == sqlite3.SQLITE_READ:
            permitted, what = self._may_read(str(first), str(second), database, view), str(first)
        else:
            permitted, what = False, str(first or "")
        if permitted:
            return sqlite3.SQLITE_OK
        self.denied.append((ACTIONS.get(action, f"action {action}"), what))
        return sqlite3.SQLITE_DENY

    def _may_read(self, table: str, column: str, database: str | None, view: str | None) -> bool:
        """column: "" where the rows alone are used; SQLite says nothing of the database then, unless the statement does."""
        name = table.lower()
        if name in self._tables and database in {None, self._library}:
            self.read.add(self._tables[name])
            return True
        if database == self._library:
            return name in VIEWS and self._may_read_for_view(name, column, view)
        if database == "temp":
            return name in VIEWS or name == self._scope
        if name in TREES:
            return True
        # What has no column, no database and no place in the library is a common table expression, or one of SQLite's own.
        return not column and database is None and name not in self._hidden and not name.startswith(("sqlite_", "pragma_"))

    def _may_read_for_view(self, name: str, column: str, view: str | None) -> bool:
        # Only the views above can name the library. What they read without a column, as for count(*), comes without their name.
        if not column:
            return True
        self.read.add(name)
        return str(view).lower() == name and column in VIEWS[name][0].split(", ")


def _answer(room: Room, request: dict[str, Any]) -> None:
    """Run the statement and send what it gives."""
    parameters = _parameters(request["parameters"])
    room.start_the_clock(request["seconds"])
    _send({"ready": True})
    total = 0
    try:
        if request["strict"]:
            # The same statement with its quoted names written so that SQLite cannot take them for texts: it is only compiled.
            room.connection.execute(f"EXPLAIN {request['strict']}", parameters).close()
        cursor = room.connection.execute(request["sql"], parameters)
        columns = [column[0] for column in cursor.description or ()]
        if not 1 <= len(columns) <= COLUMNS:
            _send({"error": "columns", "columns": len(columns), "most": COLUMNS})
            return
        _send({"columns": columns})
        for total in _send_rows(cursor, request["rows"], request["characters"]):  # noqa: B007 - for the end
            pass
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        if not room.late or not total:
            _send({"error": "late" if room.late else "statement", "denied": room.denied, **_words(error)})
            return
    _send({"end": {"total": total, "counted": not room.late, "tables": sorted(room.read)}})


def _send_rows(cursor: sqlite3.Cursor, most: int, characters: int) -> Iterator[int]:
    """Send the first rows, as many as were asked for and fit the answer; yields the number of each row, of the others too."""
    batch: list[str] = []
    spent = 0
    try:
        for number, row in enumerate(cursor, 1):
            if number <= most and spent <= characters:
                text = json.dumps([_cell(value) for value in row], ensure_ascii=False)
                spent += len(text)
                if spent <= characters or number == 1:
                    batch.append(text)
                if len(batch) == BATCH:
                    _send_text(f'{{"rows": [{", ".join(batch)}]}}')
                    batch = []
            yield number
    finally:
        if batch:
            _send_text(f'{{"rows": [{", ".join(batch)}]}}')


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= CELL else value[: CELL - 1] + "…"
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else value


def _parameters(sent: Any) -> Any:
    """Parameters as they were before they were made JSON."""
    if isinstance(sent, dict):
        return {name: _value(value) for name, value in sent.items()}
    return [_value(value) for value in sent]


def _value(sent: Any) -> Any:
    return bytes.fromhex(sent["hex"]) if isinstance(sent, dict) else sent


def _words(error: Exception) -> dict[str, Any]:
    """What SQLite says, and its primary result code, 0 where it is Python that says it."""
    return {"message": str(error), "code": getattr(error, "sqlite_errorcode", 0) & 0xFF}


def _send(message: dict[str, Any]) -> None:
    _send_text(json.dumps(message, ensure_ascii=False))


def _send_text(line: str) -> None:
    sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def _connect(library: str, name: str) -> sqlite3.Connection:
    """A connection with the library attached, in one state of it."""
    connection = sqlite3.connect(":memory:", uri=True, isolation_level=None, timeout=WAITING, cached_statements=0)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    for pragma in (
        f"hard_heap_limit = {HEAP}",
        "temp_store = MEMORY",
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "threads = 0",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute(f"ATTACH ? AS {name}", (library,))
    connection.execute("BEGIN")
    return connection


def _add_functions(connection: sqlite3.Connection) -> None:
    """Add the functions that filters use, without running the package that they belong to: it loads much that is not needed."""
    package = type(sys)("search")
    package.__path__ = [__file__.rsplit("/", 2)[0]]
    sys.modules["search"] = package
    from search.functions import add_functions

    add_functions(connection)


def _bounded_printf() -> Callable[..., Any]:
    """SQLite's own printf; where a text becomes too long, some versions of it give NULL, a wrong answer: this one fails."""
    spare = sqlite3.connect(":memory:", isolation_level=None)
    spare.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMITS[sqlite3.SQLITE_LIMIT_LENGTH])

    def printf(*values: Any) -> Any:
        text = spare.execute(f"SELECT printf({', '.join('?' * len(values))})", values).fetchone()[0]
        if text is None and values and values[0] not in {None, "", b""}:
            raise OverflowError  # which Python tells SQLite as "string or blob too big"
        return text

    return printf


def _limit_the_process() -> None:
    if not BOUNDED:
        return
    limits = {"AS": ADDRESSES, "FSIZE": FILE, "NOFILE": OPEN_FILES, "CORE": 0, "NPROC": 0}
    for name, limit in limits.items():
        _limit(getattr(resource, f"RLIMIT_{name}", None), limit)


def _limit_processor_time(seconds: float) -> None:
    """Let the kernel end this process where nobody else does any more."""
    if BOUNDED:
        _limit(resource.RLIMIT_CPU, int(time.process_time() + seconds) + 3)


def _limit(kind: int | None, limit: int) -> None:
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or hard > limit:
        # Some systems name a limit and refuse to set it; SQLite's own bounds and the deadline hold without.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    main()
