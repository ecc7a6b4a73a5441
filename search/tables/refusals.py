"""Why a statement gave no rows, in words that name the offending thing, what was meant most likely, and what to send instead.

In: what the worker says, which is mostly what SQLite says. Out: the error to raise. Who wrote the statement reads it, be it a
person or a model.
"""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from search.errors import ArchivistError, QueryError, QueryLimitError
from search.tables.statements import ONLY_READS, Statement
from search.tables.worker import TREES

Columns = Mapping[str, Sequence[str]]

_LISTED = 30
_NARROW = "join on equal columns, filter with WHERE before joining, group instead of listing"
_MEMORY = "refused: it needs more memory than a query may use (256 MB): filter or group first, select fewer columns"
# Names of other dialects, and what SQLite has in their place.
_INSTEAD = {
    "array_agg": "json_group_array(x)",
    "concat": "a || b",
    "contains": "instr(text, part) > 0",
    "date_add": "date(d, '+1 day')",
    "date_diff": "julianday(a) - julianday(b)",
    "date_format": "strftime('%Y-%m', d)",
    "date_part": "strftime('%Y', d)",
    "date_sub": "date(d, '-1 day')",
    "date_trunc": "strftime('%Y-%m-01', d)",
    "datediff": "julianday(a) - julianday(b)",
    "day": "strftime('%d', d)",
    "extract": "strftime('%Y', d)",
    "greatest": "max(a, b)",
    "hour": "strftime('%H', d)",
    "isnull": "x IS NULL",
    "least": "min(a, b)",
    "left": "substr(text, 1, n)",
    "len": "length(text)",
    "median": "the middle of row_number() OVER (ORDER BY x) and count(*) OVER ()",
    "month": "strftime('%m', d)",
    "now": "datetime('now')",
    "nvl": "coalesce(a, b)",
    "position": "instr(text, part)",
    "regexp": "LIKE or GLOB",
    "right": "substr(text, -n)",
    "split_part": "substr and instr",
    "stddev": "sqrt(avg(x * x) - avg(x) * avg(x))",
    "string_agg": "group_concat(x, ', ')",
    "strpos": "instr(text, part)",
    "to_char": "strftime('%Y-%m', d)",
    "to_date": "date(text)",
    "variance": "avg(x * x) - avg(x) * avg(x)",
    "week": "strftime('%W', d)",
    "year": "strftime('%Y', d)",
}
_DIALECT = {
    "all": "SQLite has no ALL: max(...) or min(...) of the subquery",
    "any": "SQLite has no ANY: IN (SELECT ...) or EXISTS",
    "fetch": "LIMIT n in place of FETCH FIRST",
    "from": "strftime('%Y', d) in place of EXTRACT(YEAR FROM d); substr(text, start, length) in place of SUBSTRING(... FROM ...)",
    "ilike": "LIKE does not look at the case of letters here",
    "interval": "date(d, '-1 month') in place of INTERVAL",
    "qualify": "a subquery with WHERE in place of QUALIFY",
    "top": "LIMIT n at the end in place of TOP n",
}
_FILE_CODES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PROTOCOL,
    }
)


def stopped(seconds: float) -> QueryError:
    """The error of a statement that had given no row when its time was over."""
    return QueryLimitError(f"refused: stopped after {seconds:g} s without a row: {_NARROW}", "--seconds gives it more time")


def out_of_memory() -> QueryError:
    """The error of a statement that was refused memory."""
    return QueryLimitError(_MEMORY)


def is_of_the_file(failure: Mapping[str, Any]) -> bool:
    """Whether it is the library's file that cannot be read, not the statement that is wrong."""
    return failure["error"] == "library" or failure.get("code") in _FILE_CODES


def error_of(failure: Mapping[str, Any], statement: Statement, tables: Columns, seconds: float) -> ArchivistError:
    """The error for what a worker answered. tables: all that may be read, with their columns."""
    kind = failure["error"]
    if kind == "late":
        return stopped(seconds)
    if kind == "memory":
        return out_of_memory()
    if kind == "columns":
        return QueryError(f"sql: got {failure['columns']} columns in the result, want 1 to {failure['most']}: name those you need")
    message = str(failure["message"])
    if failure["denied"]:
        action, what = failure["denied"][0]
        return _refusal(action, what, message, statement, tables)
    for pattern, words in _ERRORS:
        match = re.search(pattern, message)
        if match:
            return words(match, statement, tables)
    return QueryError(f"sql: SQLite says {message}")


def _refusal(action: str, what: str, message: str, statement: Statement, tables: Columns) -> QueryError:
    if action == "FUNCTION":
        return QueryError(f"refused: the function {what} is not among the permitted ones")
    if action == "UPDATE" and what == "sqlite_master":  # SQLite declares one of its virtual tables, as it is first named
        constructed = re.search(r"constructor failed: (.+)", message)
        named = [word for word in sorted(statement.words) if word.startswith("pragma_")]
        action, what = "READ", constructed[1] if constructed else named[0] if named else "a virtual table"
    if action != "READ":
        return QueryError(f"refused: {action}{f' on {what[:60]}' if what else ''}: {ONLY_READS}")
    return _closed(what, tables)


def _closed(name: str, tables: Columns) -> QueryError:
    """The error for a table that cannot be read. Where a scope keeps one away, nothing tells that it is there."""
    if name.startswith(("_", "sqlite_", "pragma_")):
        return QueryError(f"refused: {_short(name)} cannot be read: it is internal; {_there_are(tables)}")
    return _missing(name, tables)


def _no_column(match: re.Match[str], statement: Statement, tables: Columns) -> QueryError:
    name = match[1]
    table, _, column = name.rpartition(".")
    if (unknown := statement.unknown_source({*tables, *TREES})) is not None:
        return _closed(unknown, tables)
    if not table and name in statement.loose_names:
        words = {word.lower(): word for word in (*_columns(statement, tables), *tables)}
        return QueryError(f'no column or table named "{_short(name)}"{_meant(name, words)} Text goes in single quotes.')
    owner = _owner(table, statement, tables)
    if owner is not None and column.lower() in {each.lower() for each in tables[owner]}:
        return QueryError(f'no column "{_short(name)}": write {owner}.{column}, or the alias that {owner} has in its place')
    if owner is not None:
        near = _meant(column, {word.lower(): word for word in tables[owner]})
        return QueryError(f'no column "{_short(column)}" in {owner}{near} Its columns are {_listed(tables[owner])}.')
    if table:
        return QueryError(f'no column "{_short(name)}": nothing is called "{_short(table)}" there; {_there_are(tables)}')
    used = [each for each in tables if each.lower() in statement.words]
    where = f" in {_listed(used)}" if used else ": the statement names no table"
    near = _meant(column, {word.lower(): word for word in _columns(statement, tables)})
    within = f" Columns of {used[0]}: {_listed(tables[used[0]])}." if len(used) == 1 else ""
    return QueryError(f'no column "{_short(name)}"{where}{near}{within}')


def _no_table(match: re.Match[str], _: Statement, tables: Columns) -> QueryError:
    name = match[1]
    plain = name.rpartition(".")[2]
    if plain != name and plain.lower() in {table.lower() for table in tables}:
        return QueryError(f'no table "{_short(name)}": tables stand without a schema\'s name: {plain}')
    return _missing(name, tables)


def _missing(name: str, tables: Columns) -> QueryError:
    near = _meant(name.rpartition(".")[2], {table.lower(): table for table in tables})
    return QueryError(f'no table "{_short(name)}"{near} The tables are {_listed(list(tables))}.')


def _no_function(match: re.Match[str], _: Statement, __: Columns) -> QueryError:
    name = match[1]
    instead = _INSTEAD.get(name.lower())
    return QueryError(f'no function "{_short(name)}"' + (f"; in its place: {instead}" if instead else " in SQLite"))


def _ambiguous(match: re.Match[str], statement: Statement, tables: Columns) -> QueryError:
    name = match[1]
    column = name.rpartition(".")[2].lower()
    owners = [
        table for table, columns in tables.items() if table.lower() in statement.words and column in {c.lower() for c in columns}
    ]
    example = f": write {owners[0]}.{column}, or the table's alias before it" if owners else ": put the table's name before it"
    several = f" ({', '.join(owners)})" if len(owners) > 1 else ""
    return QueryError(f'ambiguous column "{_short(name)}": more than one of the tables has it{several}{example}')


def _syntax(match: re.Match[str], _: Statement, tables: Columns) -> QueryError:
    near = match[1]
    folded = near.lower()
    names = {name.lower() for name in tables}
    columns = {column.lower() for each in tables.values() for column in each}
    if folded in names | columns:
        what = "a table" if folded in names else "a column"
        return QueryError(f'near "{near}": it is {what} here and a word of SQL, too: write it in double quotes, "{near}"')
    hint = f"; {_DIALECT[folded]}" if folded in _DIALECT else "; the dialect is SQLite's"
    return QueryError(f'near "{_short(near)}": syntax error{hint}')


def _too_big(_: re.Match[str], __: Statement, ___: Columns) -> QueryError:
    return QueryLimitError("refused: a value grows beyond 1,000,000 bytes, the most that a text or blob may have")


def _view(match: re.Match[str], _: Statement, __: Columns) -> QueryError:
    return QueryError(f"refused: {match[1]} cannot be changed: {ONLY_READS}")


def _too_complex(match: re.Match[str], _: Statement, __: Columns) -> QueryError:
    return QueryLimitError(
        f"refused: the statement is too large for its bounds ({match[0]}): split it, or send lists by json_each(?)"
    )


_Words = Callable[[re.Match[str], Statement, Columns], QueryError]
_ERRORS: tuple[tuple[str, _Words], ...] = (
    (r"^no such column: (.+)", _no_column),
    (r"^no such table: (.+)", _no_table),
    (r"^no such function: (.+)", _no_function),
    (r"^ambiguous column name: (.+)", _ambiguous),
    (r'^near "(.+)": syntax error', _syntax),
    (r"^string or blob too big|longer than INT_MAX", _too_big),
    (r"^cannot modify (\S+) because it is a view", _view),
    (r"too many .+|too large.*|parser stack overflow|.*pattern too complex|at most \d+ tables in a join", _too_complex),
)


def _columns(statement: Statement, tables: Columns) -> list[str]:
    """The columns of the tables that a statement names, of all tables where it names none."""
    named = [table for table in tables if table.lower() in statement.words]
    return list(dict.fromkeys(column for table in named or tables for column in tables[table]))


def _owner(name: str, statement: Statement, tables: Columns) -> str | None:
    """The table that a name or an alias in a statement stands for."""
    known = {table.lower(): table for table in tables}
    folded = name.rpartition(".")[2].lower()
    if folded in known:
        return known[folded]
    return next((known[table] for alias, table in statement.aliases() if alias == folded and table in known), None)


def _meant(name: str, known: Mapping[str, str]) -> str:
    """The nearest known name as the end of a sentence."""
    near = difflib.get_close_matches(name.lower()[:100], known, n=1, cutoff=0.6)
    return f'; did you mean "{known[near[0]]}"?' if near else "."


def _there_are(tables: Iterable[str]) -> str:
    return f"the tables are {_listed(list(tables))}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(_short(name) for name in names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED} more" if len(names) > _LISTED else shown


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:59] + "…"
