"""Where SQL of a person or a model runs: a process of its own for every statement, which can read and nothing else, and is killed.

    result = run(path, "SELECT count(*) FROM documents", tables={}, scope=None)

What the process may do is in `search.tables.worker`. Here are its start, its deadline and its answers. A start costs about 30 ms.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import selectors
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from search import connections, faults
from search.errors import LibraryError, QueryError
from search.filters import Parameters
from search.tables import refusals
from search.tables.models import ResultSet, Value
from search.tables.statements import Statement, read_statement
from search.tables.worker import CELL, VIEWS

MAX_ROWS = 100_000
MAX_SECONDS = 600.0
MAX_PARAMETERS = 1_000
MAX_PARAMETER = 1_000_000  # characters or bytes
_CHARACTERS = 2_000_000  # of an answer; more where more than 2,000 rows are asked for
_CHARACTERS_A_ROW = 1_000
_START = 30.0  # seconds for a worker to be ready: it opens the library and applies the scope
_MARGIN = 0.5  # seconds after the deadline until the worker, which should have ended itself, is killed
_CHUNK = 1 << 16
# Absolute: the worker starts in /, and Python keeps a relative entry of PATH in its own name.
_PYTHON = Path(sys.executable).absolute()
_WORKER = Path(__file__).absolute().with_name("worker.py")
# What a dynamic loader needs to find Python's own libraries, where it needs anything; nothing else of the environment.
_LOADER = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

Given = Sequence[Value] | Mapping[str, Value]


def run(
    path: Path,
    sql: str,
    parameters: Given = (),
    *,
    tables: Mapping[str, Sequence[str]],
    scope: tuple[str, Parameters] | None,
    max_rows: int = 200,
    seconds: float = 5.0,
) -> ResultSet:
    """Run one SELECT over a library that a connection of this process holds open.

    parameters: for each ? in order, or by name for :name. tables: the imported tables that may be read, with their columns; of
    these the ones that are in the library's catalogue and whose document passes the scope can be. scope: a SELECT of document ids
    with its parameters, None for all. max_rows: how many rows to return, 0 to 100,000; the others are counted until the deadline.
    seconds: the deadline, 0.05 to 600. Raises QueryError with the reason for a statement that is refused or wrong, QueryLimitError
    for one that is stopped, LibraryError where the file cannot be read.
    """
    statement = read_statement(sql)
    _check_bounds(max_rows, seconds)
    bound = _checked_parameters(statement, parameters)
    known = {**{name: columns.split(", ") for name, (columns, _) in VIEWS.items()}, **tables}
    request = {
        "library": connections.read_only_uri(path),
        "sql": statement.text,
        "strict": statement.strict,
        "token": secrets.token_hex(16),
        "parameters": _sendable(bound),
        "tables": list(tables),
        "scope": list(scope) if scope else None,
        "rows": max_rows,
        "characters": max(_CHARACTERS, _CHARACTERS_A_ROW * max_rows),
        "seconds": seconds,
    }
    start = time.monotonic()
    heard = _ask(json.dumps(request).encode("ascii") + b"\n", seconds)
    answer = _Answer.of(heard.lines)
    if answer.failure is not None and refusals.is_of_the_file(answer.failure):
        with faults.translated(path):
            raise _sqlite_error(answer.failure)
    if answer.failure is not None:
        raise refusals.error_of(answer.failure, statement, known, seconds)
    if answer.end is None and not heard.ready:
        raise LibraryError(
            f"{path} could not be opened for a query: {heard.complaint or 'no answer'}", "run the same command again"
        )
    if answer.end is None and not heard.stopped and heard.complaint:
        raise LibraryError(f"the process of a query on {path} failed: {heard.complaint}", "please report it")
    if answer.end is None and not answer.rows:
        raise refusals.stopped(seconds) if heard.stopped else refusals.out_of_memory()
    return ResultSet(
        columns=answer.columns,
        rows=answer.rows,
        total=answer.end["total"] if answer.end else len(answer.rows),
        counted=answer.end["counted"] if answer.end else False,
        sql=sql,
        parameters=tuple(bound.values() if isinstance(bound, Mapping) else bound),
        tables=tuple(answer.end["tables"]) if answer.end else (),
        seconds=time.monotonic() - start,
    )


def is_cut(value: Value) -> bool:
    """Whether a value of an answer is only the beginning of a text of more than 10,000 characters."""
    return isinstance(value, str) and len(value) == CELL and value.endswith("…")


def _check_bounds(max_rows: int, seconds: float) -> None:
    if not 0 <= max_rows <= MAX_ROWS:
        raise QueryError(f"max_rows: got {max_rows}, want 0 to {MAX_ROWS:,}")
    if not 0.05 <= seconds <= MAX_SECONDS:
        raise QueryError(f"seconds: got {seconds:g}, want 0.05 to {MAX_SECONDS:g}")


def _checked_parameters(statement: Statement, given: Given) -> Given:
    """The parameters, one for each that the statement names. Raises QueryError where they do not fit."""
    if isinstance(given, str | bytes):
        raise QueryError("parameters: got one text, want a list of values")
    marks = [token.text for token in statement.tokens if token.kind == "parameter"]
    names = list(dict.fromkeys(mark[1:] for mark in marks if mark[0] != "?"))
    if names and len(names) < len(set(marks)):
        raise QueryError(f"parameters: got both ? and :{names[0]} in the statement, want one kind")
    if names or isinstance(given, Mapping):
        if not isinstance(given, Mapping):
            raise QueryError(f"parameters: got a list, want them by name: {', '.join(names)}")
        if not names and given:
            raise QueryError(f"parameters: got {', '.join(map(str, given))} by name, want one for each ? or none")
        missing = [name for name in names if name not in given]
        if missing:
            raise QueryError(f"parameters: no value for :{missing[0]}; the statement names {', '.join(names)}")
        for name in names:
            _check_value(f":{name}", given[name])
        return {name: given[name] for name in names}
    wanted = _positions(marks)
    if len(given) != wanted:
        raise QueryError(f"parameters: got {len(given)}, want {wanted}, one for each ? in the statement")
    for number, value in enumerate(given, 1):
        _check_value(str(number), value)
    return tuple(given)


def _positions(marks: Iterable[str]) -> int:
    """How many parameters "?" and "?3" ask for: a plain one counts on from the highest before it."""
    highest = 0
    for mark in marks:
        number = int(mark[1:11]) if len(mark) > 1 else highest + 1
        highest = max(highest, number)
    if highest > MAX_PARAMETERS:
        raise QueryError(
            f"parameters: got {highest} in the statement, want {MAX_PARAMETERS:,} at most; lists go in one: json_each(?)"
        )
    return highest


def _check_value(place: str, value: object) -> None:
    if isinstance(value, str | bytes):
        if len(value) > MAX_PARAMETER:
            raise QueryError(f"parameters: {place} has {len(value):,} characters, want {MAX_PARAMETER:,} at most")
        if isinstance(value, str) and re.search("[\ud800-\udfff]", value):
            raise QueryError(f"parameters: {place} holds half a character (a surrogate), want text in Unicode")
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise QueryError(f"parameters: {place} is {str(value)[:30]}, want an integer of 64 bits; longer codes go as text")
    elif value is not None and not (isinstance(value, float) and not math.isnan(value)):
        raise QueryError(f"parameters: {place} is {type(value).__name__}, want text, a number or null")


def _sendable(bound: Given) -> Any:
    def value(of: Value) -> Any:
        return {"hex": of.hex()} if isinstance(of, bytes) else of

    if isinstance(bound, Mapping):
        return {name: value(each) for name, each in bound.items()}
    return [value(each) for each in bound]


@dataclass(frozen=True, slots=True)
class _Heard:
    """What came from a worker: whole lines. ready: the statement began. stopped: it was killed at the deadline."""

    lines: list[bytes]
    ready: bool
    stopped: bool
    complaint: str


@dataclass(frozen=True, slots=True)
class _Answer:
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    end: dict[str, Any] | None
    failure: dict[str, Any] | None

    @classmethod
    def of(cls, lines: Sequence[bytes]) -> _Answer:
        columns: tuple[str, ...] = ()
        rows: list[tuple[Value, ...]] = []
        end = failure = None
        for line in lines:
            message = json.loads(line)
            columns = tuple(message.get("columns", columns)) if "error" not in message else columns
            rows += map(tuple, message.get("rows", ()))
            end = message.get("end", end)
            failure = message if "error" in message else failure
        return cls(columns, tuple(rows), end, failure)


def _ask(request: bytes, seconds: float) -> _Heard:
    """Start a worker, send it a request, hear it out until the deadline; afterwards it is no more, whatever happens here."""
    environment = {name: os.environ[name] for name in _LOADER if name in os.environ}
    command = [str(_PYTHON), "-I", "-S", str(_WORKER)]
    with subprocess.Popen(  # noqa: S603 - our own script, and nothing of the statement on its command line
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd="/",
        start_new_session=True,
        bufsize=0,
    ) as worker:
        try:
            return _hear(worker, request, seconds)
        finally:
            worker.kill()


def _hear(worker: subprocess.Popen[bytes], request: bytes, seconds: float) -> _Heard:
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stderr is not None
    said = {worker.stdout: bytearray(), worker.stderr: bytearray()}
    unsent = memoryview(request)
    ready = False
    deadline = time.monotonic() + _START
    os.set_blocking(worker.stdin.fileno(), False)
    with selectors.DefaultSelector() as waiting:
        waiting.register(worker.stdin, selectors.EVENT_WRITE)
        for stream in said:
            waiting.register(stream, selectors.EVENT_READ)
        while waiting.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                if key.fileobj is worker.stdin:
                    unsent = _sent(worker.stdin, unsent)
                    if not unsent:
                        waiting.unregister(worker.stdin)
                    continue
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    waiting.unregister(key.fileobj)
                said[key.fileobj] += chunk  # type: ignore[index] # one of the two streams registered
            if not ready and b"\n" in said[worker.stdout]:
                ready, deadline = True, time.monotonic() + seconds + _MARGIN
        late = bool(waiting.get_map())
    *lines, _ = bytes(said[worker.stdout]).split(b"\n")
    complaint = bytes(said[worker.stderr]).decode("utf-8", "replace").strip().rpartition("\n")[2]
    return _Heard(lines, ready, late, complaint)


def _sent(stream: IO[bytes], data: memoryview) -> memoryview:
    """Write what a stream takes now; what is left. Nothing is left for a worker that has ended: its answer says why."""
    try:
        return data[os.write(stream.fileno(), data) :]
    except BrokenPipeError:
        return data[:0]


def _sqlite_error(failure: Mapping[str, Any]) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(failure["message"])
    error.sqlite_errorcode = failure["code"]
    return error
