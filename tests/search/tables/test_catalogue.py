"""What `search.tables.catalogue` promises: tables beside their documents with the values, types and names that they should have."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin import StandIn

from search import Filters, LibraryError, connections, schema, store, upkeep
from search.changes import Change, Progress
from search.drafts import File, draft
from search.filters import compile_filters
from search.models import Extract
from search.sources import content_hash
from search.tables import catalogue
from search.tables.fitting import MOST_COLUMNS, fitted, in_words, remarks
from search.tables.models import Column, ColumnType, TableDraft, Value
from search.tables.names import quoted


def of(*names: str, rows: Sequence[tuple[Value, ...]] = ((1, "a"), (2, "b")), **more: object) -> TableDraft:
    """A table with the columns id and word, or with those named."""
    columns = tuple(Column(name, "integer" if name == "id" else "text") for name in names or ("id", "word"))
    return TableDraft(label=str(more.pop("label", "")), columns=columns, rows=rows, **more)  # type: ignore[arg-type]


@pytest.fixture
def connection(library_file: Path) -> Iterator[sqlite3.Connection]:
    with closing(connections.open_for_writing(library_file)) as opened:
        opened.execute("INSERT INTO _roots(path, whole, max_bytes) VALUES ('/r', 1, 1)")
        yield opened


def add(connection: sqlite3.Connection, path: str, *tables: TableDraft, text: str = "some tables") -> int:
    extract = Extract(text=text, format="csv", tables=tables)
    record = draft(File(1, path, 1, 0, 0), extract, "hash", StandIn(), 200).with_vectors({text: b"\0" * 4})
    with connections.writing(connection):
        return store.replace_document(connection, record)


def names(connection: sqlite3.Connection) -> list[str]:
    """The names of the catalogue, which are those of the tables that there are."""
    held = [table.name for table in catalogue.read_tables(connection)]
    physical = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    own = {"documents", "document_tags", "passages"}
    assert {name for name in physical if not name.startswith(("_", "sqlite_"))} - own == set(held)
    assert not [name for name in physical if name.startswith("_unnamed")]
    assert connection.execute("SELECT count(*) FROM _unsettled").fetchone() == (0,)
    return held


def rows(connection: sqlite3.Connection, name: str) -> list[tuple[Value, ...]]:
    return connection.execute(f"SELECT * FROM {quoted(name)}").fetchall()


# Writing and reading


def test_a_table_is_read_back_as_it_was_drafted(connection: sqlite3.Connection) -> None:
    columns = (
        Column("id", "integer", nulls=1, distinct=2, minimum=1, maximum=2),
        Column("price", "real", header="Price (EUR)", unit="EUR", note="decimal comma", minimum=0.5, maximum=2.25),
        Column("größe", "text", values=("L", "S"), comment="of the shirt"),
        Column("raw", "blob", declared="BLOB(10)"),
    )
    table = TableDraft("Shirts", columns, [(1, 0.5, "S", b"\x00\xff"), (None, 2.25, "L", None)], ("2 rows were empty",))
    document = add(connection, "shirts.xlsx", table)
    (read,) = catalogue.read_tables(connection)
    assert (read.name, read.document_id, read.path, read.label, read.rows) == ("shirts", document, "shirts.xlsx", "Shirts", 2)
    assert (read.columns, read.notes) == (columns, ("2 rows were empty",))
    assert rows(connection, "shirts") == list(table.rows)


@pytest.mark.parametrize(
    ("kind", "declared", "expected"),
    [
        ("text", "", "TEXT"),
        ("integer", "", "INTEGER"),
        ("real", "", "REAL"),
        ("boolean", "", "INTEGER"),
        ("date", "", "TEXT"),
        ("datetime", "", "TEXT"),
        ("time", "", "TEXT"),
        ("blob", "", "BLOB"),
        ("text", "VARCHAR(20)", "VARCHAR(20)"),
        ("real", "DECIMAL(10,2)", "DECIMAL(10,2)"),
    ],
)
def test_columns_have_the_declared_type_or_that_of_their_values(
    connection: sqlite3.Connection, kind: ColumnType, declared: str, expected: str
) -> None:
    add(connection, "x.db", TableDraft("", (Column("a", kind, declared),), []))
    assert connection.execute("SELECT type FROM pragma_table_info('x')").fetchall() == [(expected,)]


HOSTILE = [
    'a"b',
    "a'; DROP TABLE documents; --",
    'x" TEXT); DROP TABLE documents; --',
    "select",
    "rowid",
    "a\nb",
    "%s",
    "?1",
    "[a]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_types_from_a_file_are_never_sql(connection: sqlite3.Connection, text: str) -> None:
    table = TableDraft(text, (Column(text, "text", declared=text),), [("v",)], keeps_name=True)
    add(connection, "x.db", table)
    (name,) = names(connection)
    assert rows(connection, name) == [("v",)]
    assert connection.execute("SELECT count(*) FROM documents").fetchone() == (1,)
    shown = connection.execute('SELECT name, pk, "notnull" FROM pragma_table_info(?)', (name,)).fetchall()
    assert shown == [(text.replace("\n", " "), 0, 0)]


def test_only_the_tables_of_allowed_documents_are_listed(connection: sqlite3.Connection) -> None:
    for path in ("open/a.csv", "secret/b.csv", "secret/c.csv"):
        add(connection, path, of())
    allowed = compile_filters(Filters(category=("secret",))).select
    assert [table.name for table in catalogue.read_tables(connection, allowed)] == ["b", "c"]
    assert [table.name for table in catalogue.read_tables(connection)] == ["a", "b", "c"]


def test_two_tables_are_the_same_when_everything_that_is_known_of_them_is() -> None:
    table = of(notes=("a note",))
    column = table.columns[0]
    others = [
        replace(table, label="x"),
        replace(table, keeps_name=True),
        replace(table, notes=()),
        replace(table, rows=[(1, "a"), (2, "c")]),
        replace(table, rows=[(1, "a")]),
        replace(table, rows=[("1", "a"), (2, "b")]),
        replace(table, columns=(replace(column, unit="EUR"), table.columns[1])),
        replace(table, columns=(replace(column, type="real"), table.columns[1])),
    ]
    digests = {catalogue.digest(each) for each in (table, *others)}
    assert len(digests) == len(others) + 1
    assert catalogue.digest(replace(table, rows=tuple(table.rows))) == catalogue.digest(table)


# Names, in step with the documents


def test_a_name_that_becomes_free_goes_to_whom_a_rebuild_would_give_it(connection: sqlite3.Connection) -> None:
    one, _ = add(connection, "a/sales.csv", of()), add(connection, "b/sales.csv", of(rows=[(9, "z")]))
    assert names(connection) == ["b_sales", "sales"]
    with connections.writing(connection):
        store.remove_documents(connection, [one])
    assert names(connection) == ["sales"]
    assert rows(connection, "sales") == [(9, "z")]
    add(connection, "a/sales.csv", of())
    assert names(connection) == ["b_sales", "sales"]
    assert rows(connection, "b_sales") == [(9, "z")]


def test_two_tables_can_swap_their_names(connection: sqlite3.Connection) -> None:
    documents = [add(connection, path, of(rows=[(0, path)])) for path in ("a.csv", "b.csv")]
    with connections.writing(connection):
        for path, document in (("wait", documents[0]), ("a.csv", documents[1]), ("b.csv", documents[0])):
            connection.execute("UPDATE documents SET path = ? WHERE id = ?", (path, document))
    assert names(connection) == ["a", "b"]
    assert (rows(connection, "a"), rows(connection, "b")) == ([(0, "b.csv")], [(0, "a.csv")])


def test_a_name_can_change_in_its_letters_case_alone(connection: sqlite3.Connection) -> None:
    add(connection, "x.db", of(label="Album", keeps_name=True))
    add(connection, "x.db", of(label="album", keeps_name=True))
    assert names(connection) == ["album"]
    document = add(connection, "y.db", of(label="ALBUM", keeps_name=True))
    with connections.writing(connection):
        connection.execute("UPDATE documents SET path = 'a.db' WHERE id = ?", (document,))
    assert names(connection) == ["ALBUM", "x_album"]


def test_what_deletes_a_document_by_itself_leaves_no_table_behind(connection: sqlite3.Connection) -> None:
    add(connection, "a.csv", of())
    add(connection, "b.xlsx", of(label="one"), of(label="two"))
    with connections.writing(connection):
        connection.execute("DELETE FROM documents WHERE path = 'b.xlsx'")
    assert names(connection) == ["a"]


def test_a_table_of_a_name_that_the_indexer_uses_for_its_own_temporary_ones_is_kept_apart(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TEMP TABLE gone (id INTEGER)")
    document = add(connection, "gone.csv", of())
    with connections.writing(connection):
        connection.execute("UPDATE documents SET path = 'moved.csv'")
    assert names(connection) == ["moved"]
    with connections.writing(connection):
        connection.execute("UPDATE documents SET path = 'gone.csv'")
        store.remove_documents(connection, [document])
    assert names(connection) == []
    assert connection.execute("SELECT count(*) FROM temp.gone").fetchone() == (0,)


def test_a_transaction_that_fails_leaves_tables_and_names_as_they_were(connection: sqlite3.Connection) -> None:
    one = add(connection, "a/sales.csv", of())
    add(connection, "b/sales.csv", of(rows=[(9, "z")]))
    with pytest.raises(RuntimeError), connections.writing(connection):  # noqa: PT012 - the transaction is what raises
        store.remove_documents(connection, [one])
        catalogue.settle(connection)
        raise RuntimeError
    assert names(connection) == ["b_sales", "sales"]
    assert rows(connection, "b_sales") == [(9, "z")]


def test_settling_renames_no_table_that_has_its_name(connection: sqlite3.Connection) -> None:
    renamed: list[str] = []
    for number in range(20):
        add(connection, f"t{number}.csv", of(rows=[]))
    connection.set_trace_callback(lambda sql: renamed.append(sql) if sql.startswith("ALTER") else None)
    add(connection, "another.csv", of(rows=[]))
    assert renamed == []
    add(connection, "else/t7.csv", of(rows=[]))
    connection.set_trace_callback(None)
    assert [sql.rpartition(" ")[2].strip('"') for sql in renamed] == ["t7_table", "t7"]


# Making drafts fit


def test_columns_get_names_of_their_own_that_sqlite_takes(connection: sqlite3.Connection) -> None:
    (table,) = fitted([of("A", "a", "a_2", "", "\x00\x1b", "Ä", "ä", "x" * 300, "x" * 300, rows=[tuple("abcdefghi")])])
    made = [column.name for column in table.columns]
    assert made[:7] == ["A", "a_2", "a_2_2", "column_4", "column_5", "Ä", "ä_2"]
    assert len({name.casefold() for name in made}) == 9
    assert max(map(len, made)) == 200
    add(connection, "x.csv", table)
    assert rows(connection, "x") == [tuple("abcdefghi")]


def test_more_columns_than_a_table_can_have_are_cut_and_that_is_said(connection: sqlite3.Connection) -> None:
    wide = of(*(f"c{number}" for number in range(2500)), rows=[tuple(range(2500))])
    (table,) = fitted([wide])
    assert (len(table.columns), table.rows) == (MOST_COLUMNS, [tuple(range(MOST_COLUMNS))])
    assert table.notes == ("2500 columns: the first 1000 are kept",)
    add(connection, "x.csv", wide)
    assert rows(connection, "x") == [tuple(str(number) for number in range(MOST_COLUMNS))]


def test_rows_and_values_that_do_not_fit_are_mended_and_that_is_said(connection: sqlite3.Connection) -> None:
    odd = of(rows=[(1,), (2, "b", "more"), (2**70, "\ud800x"), (3, "c")])
    (table,) = fitted([odd])
    assert table.rows == [(1, None), (2, "b"), (str(2**70), "\ufffdx"), (3, "c")]
    assert table.notes == (
        "2 rows of another width than the header: filled up or cut",
        "1 row with values that cannot be stored as they are: changed to the nearest that can",
    )
    add(connection, "x.csv", odd)
    assert len(rows(connection, "x")) == 4


def test_a_table_that_fits_is_not_copied() -> None:
    table = of()
    assert fitted([table])[0] is table
    assert fitted([of(rows=()), TableDraft("", (), [])]) == (of(rows=()),)


VALUES = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.binary(max_size=5))
TEXTS = st.text(st.characters(), max_size=12)


@settings(max_examples=60, deadline=None)
@given(
    TEXTS,
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4),
    st.lists(st.lists(VALUES, max_size=5).map(tuple), max_size=4),
    st.booleans(),
)
def test_any_draft_can_be_stored(
    tmp_path_factory: pytest.TempPathFactory,
    label: str,
    columns: list[tuple[str, str]],
    values: list[tuple[Value, ...]],
    keeps_name: bool,
) -> None:
    with closing(connections.open_for_writing(tmp_path_factory.mktemp("any") / "library.db")) as connection:
        connection.execute("INSERT INTO _roots(path, whole, max_bytes) VALUES ('/r', 1, 1)")
        table = TableDraft(label, tuple(Column(name, "blob", declared) for name, declared in columns), values, (label,), keeps_name)
        add(connection, "x.db", table)
        (name,) = names(connection)
        assert len(rows(connection, name)) == len(values)
        (read,) = catalogue.read_tables(connection)
        assert len(read.columns) == len(columns)
        assert catalogue.same_tables(connection, read.document_id, fitted([table]))


# What is told


def test_sizes_are_told() -> None:
    assert in_words([]) == ""
    assert in_words([of(notes=("decimal comma",))]) == "2 rows, 2 columns"
    sheets = [of(label=label, rows=[(1, "a")], notes=("odd",) if label == "B" else ()) for label in "ABCDE"]
    assert in_words(sheets) == "5 tables: A 1 row, 2 columns; B 1 row, 2 columns; C 1 row, 2 columns; and 2 more"
    assert remarks(sheets) == ["B: odd", "D: 1 row, 2 columns", "E: 1 row, 2 columns"]


def test_every_remark_on_a_table_and_its_columns_is_told() -> None:
    columns = tuple(Column(f"c{number}", "text", note="kept as text") for number in range(7))
    told = remarks([TableDraft("", columns, [], ("2 rows were empty",))])
    assert told == ["2 rows were empty", *(f"c{number}: kept as text" for number in range(7))]


# Older libraries


@pytest.fixture
def first_version(library_file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library as the first schema made it, over a folder whose table it only listed and whose note it read."""
    released = schema._migrations

    class FirstStepAlone:
        def apply(self, db: object) -> None:
            released().apply(db, stop_before="tables")  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(schema, "_migrations", FirstStepAlone)
        patch.setattr(schema, "SCHEMA_VERSION", 1)
        connections.open_for_writing(library_file).close()
    known = {"sales.csv": ("csv", "table, not read yet"), "note.md": ("markdown", "ok"), "log.json": ("json", "ok")}
    with closing(sqlite3.connect(library_file)) as made, made:
        made.execute("INSERT INTO _roots(path, whole, max_bytes) VALUES (?, 1, 1000000)", (str(folder),))
        for path, (kind, status) in known.items():
            (folder / path).write_text("id,word\n1,a\n", "utf-8")
            os.utime(folder / path, ns=(10**18, 10**18))
            file = (folder / path).stat()
            made.execute(
                "INSERT INTO documents(root, path, title, format, content_hash, size, mtime_ns, ctime_ns, text_status, encoding, "
                "indexed_at, modified) VALUES (1, ?, '', ?, ?, ?, ?, ?, ?, '', '2026-01-01T00:00:00Z', '2001-09-09')",
                (path, kind, content_hash(b"id,word\n1,a\n"), file.st_size, file.st_mtime_ns, file.st_ctime_ns, status),
            )
    return library_file


def test_an_older_library_gets_its_catalogue_and_a_backup_and_reads_its_tables(first_version: Path, folder: Path) -> None:
    with pytest.raises(LibraryError, match="older schema 1"):
        connections.open_for_reading(first_version)
    said: list[Change | Progress] = []
    summary = upkeep.index(first_version, [folder], StandIn(), report=said.append)
    assert sorted(each.path for each in said if isinstance(each, Change)) == ["log.json", "sales.csv"]
    assert summary.unchanged == 1
    with closing(connections.open_for_reading(first_version)) as connection:
        assert schema.version(connection) == 2
        assert names(connection) == ["sales"]
    with closing(sqlite3.connect(first_version.with_name(f"{first_version.name}.schema1.bak"))) as backup:
        assert schema.version(backup) == 1
        assert backup.execute("SELECT count(*) FROM sqlite_master WHERE name = '_tables'").fetchone() == (0,)
        assert backup.execute("SELECT count(*) FROM documents").fetchone() == (3,)


def test_a_column_without_a_type_in_its_sqlite_file_has_none_here_so_that_values_stay_apart(
    connection: sqlite3.Connection,
) -> None:
    draft = TableDraft("t", (Column("a", "text"),), [(1,), ("1",), (1.5,)], keeps_name=True)
    add(connection, "x.db", draft)
    assert connection.execute("SELECT typeof(a), count(*) FROM t GROUP BY 1 ORDER BY 1").fetchall() == [
        ("integer", 1),
        ("real", 1),
        ("text", 1),
    ]
