"""The tables of the library file: made of drafts, named, dropped and listed, always inside the transaction of their document.

In: drafts that fit (`search.tables.fitting`). Out: SQLite tables beside the documents, and rows of `_tables` that describe them.
A document that goes takes its rows of `_tables` with it, by whatever statement; triggers note what is left to do, and `settle`,
which ends every write transaction, drops those tables and gives the others the names that a rebuild would give.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from search.counting import counted
from search.tables.models import Column, ColumnType, Table, TableDraft
from search.tables.names import quoted
from search.tables.naming import Entry, is_valid, settled, wishes

Allowed = tuple[str, Sequence[object]]  # a SELECT of document ids with its bound parameters

_DECLARED: dict[ColumnType, str] = {
    "text": "TEXT",
    "integer": "INTEGER",
    "real": "REAL",
    "boolean": "INTEGER",
    "date": "TEXT",
    "datetime": "TEXT",
    "time": "TEXT",
    "blob": "BLOB",
}
_DEFAULTS = asdict(Column("", "text"))
_ROWS_AT_ONCE = 1000
_TRIED = 20
_TOLD = 20  # tables whose new name is told


def add_tables(connection: sqlite3.Connection, document: int, drafts: Sequence[TableDraft]) -> None:
    """Make the tables of a document that has none yet; to be called inside `writing`, which names them at its end."""
    if not drafts:
        return
    _drop_gone(connection)
    root, path = connection.execute(
        "SELECT r.path, d.path FROM documents d JOIN _roots r ON r.id = d.root WHERE d.id = ?", (document,)
    ).fetchone()
    for ordinal, draft in enumerate(drafts):
        name = _first_name(connection, Entry(root, path, ordinal, draft.label, draft.keeps_name, len(drafts) == 1))
        columns = ", ".join(f"{quoted(column.name)} {_declared(column, draft.keeps_name)}" for column in draft.columns)
        connection.execute(f"CREATE TABLE main.{quoted(name)} ({columns})")
        marks = ", ".join("?" * len(draft.columns))
        connection.executemany(f"INSERT INTO main.{quoted(name)} VALUES ({marks})", draft.rows)
        connection.execute(
            "INSERT INTO _tables(document_id, ordinal, label, keeps_name, name, rows, columns, notes, digest) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document,
                ordinal,
                _text(draft.label),
                draft.keeps_name,
                name,
                len(draft.rows),
                _columns_as_json(draft.columns),
                _text(json.dumps(draft.notes, ensure_ascii=False)),
                digest(draft),
            ),
        )


def settle(connection: sqlite3.Connection) -> None:
    """Drop the tables of documents that are gone and give every other one its name; costs next to nothing where nothing is due.

    To be called inside a write transaction, at its end.
    """
    if connection.execute("SELECT 1 FROM _unsettled LIMIT 1").fetchone() is None:
        return
    _drop_gone(connection)
    rows = connection.execute(
        "SELECT t.id, t.name, r.path, d.path, t.ordinal, t.label, t.keeps_name, "
        "(SELECT count(*) FROM _tables o WHERE o.document_id = t.document_id) = 1 "
        "FROM _tables t JOIN documents d ON d.id = t.document_id JOIN _roots r ON r.id = d.root"
    ).fetchall()
    entries = {Entry(*rest): (table, name) for table, name, *rest in rows}
    final = settled(entries)
    _rename(connection, [(*entries[entry], name) for entry, name in final.items() if entries[entry][1] != name])
    connection.execute("DELETE FROM _unsettled")


@dataclass(frozen=True, slots=True)
class Names:
    """What the tables are called at one time, to be compared with a later one."""

    by_id: dict[int, str]
    by_place: dict[tuple[str, str, str], str]  # root, path, label: a file that changed has new tables in its old ones' place

    @classmethod
    def now(cls, connection: sqlite3.Connection) -> Names:
        """The names that the tables have now."""
        rows = _places(connection)
        return cls({table: name for table, name, *_ in rows}, {(root, path, label): name for _, name, root, path, label in rows})

    def changed(self, connection: sqlite3.Connection) -> list[str]:
        """What to tell of tables that are called otherwise since: "table sales is now b_sales (a/sales.csv has its name)"."""
        rows = _places(connection)
        owners = {name: path for _, name, _, path, _ in rows}
        told = []
        for table, name, root, path, label in rows:
            old = self.by_id.get(table) or self.by_place.get((root, path, label))
            if old is not None and old != name:
                told.append(f"table {old} is now {name}" + (f" ({owners[old]} has its name)" if old in owners else ""))
        more = [f"{counted(len(told) - _TOLD, 'more table')} with another name: archivist tables lists them"]
        return told if len(told) <= _TOLD else told[:_TOLD] + more


def _places(connection: sqlite3.Connection) -> list[tuple[int, str, str, str, str]]:
    """Every table as (id, name, root, path, label), by name."""
    return connection.execute(
        "SELECT t.id, t.name, r.path, d.path, t.label FROM _tables t JOIN documents d ON d.id = t.document_id "
        "JOIN _roots r ON r.id = d.root ORDER BY t.name COLLATE NOCASE"
    ).fetchall()


def read_tables(connection: sqlite3.Connection, allowed_sql: Allowed | None = None) -> list[Table]:
    """The tables of all documents, or of those that the SELECT allows, by name."""
    select, parameters = allowed_sql or ("SELECT id FROM documents", ())
    rows = connection.execute(
        "SELECT t.id, t.name, t.document_id, d.path, t.label, t.rows, t.columns, t.notes FROM _tables t "
        f"JOIN documents d ON d.id = t.document_id WHERE d.id IN ({select}) ORDER BY t.name COLLATE NOCASE",
        tuple(parameters),
    )
    return [
        Table(table, name, document, path, label, count, _columns(columns), tuple(json.loads(notes)))
        for table, name, document, path, label, count, columns, notes in rows
    ]


def same_tables(connection: sqlite3.Connection, document: int, drafts: Sequence[TableDraft]) -> bool:
    """Whether a document has these very tables."""
    stored = connection.execute("SELECT digest FROM _tables WHERE document_id = ? ORDER BY ordinal", (document,)).fetchall()
    return len(stored) == len(drafts) and all(row[0] == digest(draft) for row, draft in zip(stored, drafts, strict=True))


def digest(draft: TableDraft) -> bytes:
    """16 bytes that tell two tables apart: label, columns with all that is known of them, notes and every value."""
    hashed = hashlib.blake2b(digest_size=16)
    hashed.update(repr((draft.label, draft.keeps_name, draft.columns, draft.notes)).encode("utf-8", "surrogatepass"))
    rows = iter(draft.rows)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        hashed.update(repr(some).encode("utf-8", "surrogatepass"))
    return hashed.digest()


def _first_name(connection: sqlite3.Connection, entry: Entry) -> str:
    """The name to begin with: the best that is free, for renaming costs more the more tables there are."""
    for name in islice(wishes(entry), _TRIED):
        if is_valid(name) and connection.execute("SELECT 1 FROM _tables WHERE name = ?", (name,)).fetchone() is None:
            return name
    return _unnamed(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM _tables").fetchone()[0])


def _drop_gone(connection: sqlite3.Connection) -> None:
    for (name,) in connection.execute("SELECT gone FROM _unsettled WHERE gone IS NOT NULL").fetchall():
        connection.execute(f"DROP TABLE main.{quoted(name)}")
    connection.execute("UPDATE _unsettled SET gone = NULL")


def _rename(connection: sqlite3.Connection, changes: Sequence[tuple[int, str, str]]) -> None:
    """Give tables, as (id, old name, new name), their new names; several may swap theirs."""
    waiting = {old.casefold(): (table, old, new) for table, old, new in changes}
    while waiting:
        free = [key for key, (_, _, new) in waiting.items() if new.casefold() not in waiting]
        for key in free or [next(iter(waiting))]:
            table, old, new = waiting.pop(key)
            if not free:  # they wait for each other, or for themselves in other letters: one steps aside
                new, waiting[_unnamed(table)] = _unnamed(table), (table, _unnamed(table), new)
            connection.execute(f"ALTER TABLE main.{quoted(old)} RENAME TO {quoted(new)}")
            connection.execute("UPDATE _tables SET name = ? WHERE id = ?", (new, table))


def _unnamed(table: int) -> str:
    """What a table is called until its name is free; no other one's name begins so."""
    return f"_unnamed_{table}"


def _declared(column: Column, as_in_its_file: bool) -> str:
    """The type as SQL has it. A SQLite file's column without one has none here: with one, 1 would become '1'."""
    # In quotes a type is nothing but a type, whatever the file that declared it wrote there.
    declared = quoted(_text(column.declared).replace("\0", "")) if column.declared else ""
    return declared or ("" if as_in_its_file else _DECLARED[column.type])


def _columns_as_json(columns: Sequence[Column]) -> str:
    told = [{name: value for name, value in asdict(column).items() if value != _DEFAULTS[name]} for column in columns]
    return _text(json.dumps(told, ensure_ascii=False))


def _columns(stored: str) -> tuple[Column, ...]:
    columns: list[dict[str, Any]] = [{"type": "text", **told} for told in json.loads(stored)]
    return tuple(Column(**{**told, "values": tuple(told.get("values", ()))}) for told in columns)


def _text(text: str) -> str:
    """Text that SQLite takes: a lone surrogate, which no UTF-8 holds, becomes "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")
