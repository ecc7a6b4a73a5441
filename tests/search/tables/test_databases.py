"""SQLite files become tables as they stand, and nothing in a hostile one runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from search.errors import ReadError
from search.readers import databases, read
from search.readers.sql_comments import comments_of
from search.tables import TableDraft

Make = Callable[..., bytes]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A SQLite file made by a script, as bytes."""

    def make_file(script: str, *statements: tuple[str, tuple[object, ...]], name: str = "made.db") -> bytes:
        path = tmp_path / name
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)
            for sql, values in statements:
                connection.execute(sql, values)
            connection.commit()
        return path.read_bytes()

    return make_file


def tables(data: bytes) -> dict[str, TableDraft]:
    return {draft.label: draft for draft in read(Path("a.db"), data).tables}


def test_values_come_back_with_their_storage_class(make: Make) -> None:
    row = (1, "abc", 2.0, b"\0\xff", None)
    data = make("CREATE TABLE t (a INTEGER, b INTEGER, c REAL, d TEXT, e)", ("INSERT INTO t VALUES (?, ?, ?, ?, ?)", row))
    (got,) = tables(data)["t"].rows
    assert [(type(value), value) for value in got] == [(type(value), value) for value in row]


def test_declared_types_and_names_are_kept_and_the_label_is_the_name_wished_for(make: Make) -> None:
    draft = tables(make('CREATE TABLE "odd ""name" (Id INTEGER, "first name" VARCHAR(20), 名前 DECIMAL(10, 2))'))['odd "name']
    assert draft.keeps_name
    assert [(c.name, c.declared) for c in draft.columns] == [
        ("Id", "INTEGER"),
        ("first name", "VARCHAR(20)"),
        ("名前", "DECIMAL(10, 2)"),
    ]


@pytest.mark.parametrize(
    ("declared", "kept"),
    [
        ('"TEXT UNIQUE"', "TEXT"),
        ('"INTEGER PRIMARY KEY"', "INTEGER"),
        ('"DEFAULT (1)"', "NUMERIC"),
        ("i_nt", "NUMERIC"),
        ("my_int", "INTEGER"),
        ('"BLOB); DROP TABLE x; --"', ""),
        ("", ""),
    ],
)
def test_a_declared_type_that_says_more_becomes_the_plain_one_of_its_affinity(make: Make, declared: str, kept: str) -> None:
    assert tables(make(f"CREATE TABLE t (a {declared})"))["t"].columns[0].declared == kept


def test_any_of_a_strict_table_converts_nothing_and_is_not_declared(make: Make) -> None:
    draft = tables(make("CREATE TABLE t (a ANY, b TEXT) STRICT; INSERT INTO t VALUES ('12', '3')"))["t"]
    assert ([c.declared for c in draft.columns], list(draft.rows)) == (["", "TEXT"], [("12", "3")])


@pytest.mark.parametrize(
    ("declared", "values", "kind"),
    [
        ("DATE", ["2026-01-31"], "date"),
        ("DATE", ["0000-00-00"], "text"),
        ("DATE", [20260131], "integer"),
        ("TIMESTAMP", ["2026-01-31 10:00:00", "2026-02-01T09:30:00.5Z"], "datetime"),
        ("TEXT", ["2026-01-31", "2026-02-01"], "date"),
        ("TIME", ["10:30"], "time"),
        ("TEXT", ["10:30"], "text"),
        ("BOOLEAN", [0, 1, None], "boolean"),
        ("BOOLEAN", [0, 2], "integer"),
        ("REAL", [1], "real"),
        ("", [b"x"], "blob"),
        ("TEXT", ["0017"], "text"),
        ("DATETIME", [], "datetime"),
        ("INTEGER", [1, "n/a"], "text"),
    ],
)
def test_a_columns_type_follows_from_the_values_and_what_is_declared(
    make: Make, declared: str, values: list[object], kind: str
) -> None:
    data = make(f"CREATE TABLE t (a {declared})", *(("INSERT INTO t VALUES (?)", (value,)) for value in values))
    assert tables(data)["t"].columns[0].type == kind


def test_mixed_values_are_told(make: Make) -> None:
    draft = tables(make("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), ('n/a')"))["t"]
    assert draft.columns[0].note == "mixed values: 2 integers, 1 text"


def test_comments_and_references_stand_beside_their_columns(make: Make) -> None:
    data = make(
        """CREATE TABLE customer (id INTEGER PRIMARY KEY);
        CREATE TABLE orders ( -- one row an order
            status TEXT /* possible values: open, shipped */,
            -- gross, in euro
            total REAL, -- without freight
            customer INTEGER REFERENCES customer(id) -- who pays
            , note TEXT DEFAULT '-- no comment'
        )"""
    )
    draft = tables(data)["orders"]
    assert {c.name: c.comment for c in draft.columns} == {
        "status": "possible values: open, shipped",
        "total": "gross, in euro; without freight",
        "customer": "references customer(id); who pays",
        "note": "",
    }
    assert draft.notes == ("the source says: one row an order",)


def test_a_comment_is_one_clean_line_of_at_most_120_characters() -> None:
    found = comments_of(f"CREATE TABLE t (a INT /* red \x1b[31m\n * and {'long ' * 100}*/)").columns["a"]
    assert found.startswith("red and long")
    assert len(found) <= 120


def test_without_rowid_generated_and_empty_tables_are_there(make: Make) -> None:
    found = tables(
        make(
            """CREATE TABLE k (code TEXT PRIMARY KEY, n INT) WITHOUT ROWID; INSERT INTO k VALUES ('b', 1), ('a', 2);
            CREATE TABLE g (a TEXT, b AS (upper(a)), c AS (length(a)) STORED); INSERT INTO g (a) VALUES ('x');
            CREATE TABLE no_rows (a)"""
        )
    )
    assert list(found["k"].rows) == [("a", 2), ("b", 1)]
    assert list(found["g"].rows) == [("x", "X", 1)]
    assert list(found["no_rows"].rows) == []


def test_rows_come_in_the_order_of_the_table_and_not_of_an_index(make: Make) -> None:
    data = make("CREATE TABLE t (a TEXT); CREATE INDEX i ON t (a); INSERT INTO t VALUES ('b'), ('a'), ('c')")
    assert list(tables(data)["t"].rows) == [("b",), ("a",), ("c",)]


def test_views_and_virtual_tables_are_told_and_not_read(make: Make) -> None:
    extract = read(
        Path("a.sqlite"),
        make(
            """CREATE TABLE t (a); CREATE VIEW v AS SELECT a FROM t; CREATE VIRTUAL TABLE words USING fts5(body);
            INSERT INTO words VALUES ('secret words'); CREATE TABLE words_of_mine (a)"""
        ),
    )
    assert [draft.label for draft in extract.tables] == ["t", "words_of_mine"]
    assert extract.notes == ("views are not read: v", "virtual tables are not read: words")
    assert "secret words" not in extract.text


@pytest.mark.parametrize("expression", ["replace(a, 'x', 'yy')", "instr(a, 'x')", "a LIKE '%x'", "printf('%s', a)", "hex(a)"])
def test_computed_columns_that_need_a_costly_function_are_left_out_and_told(make: Make, expression: str) -> None:
    draft = tables(make(f"CREATE TABLE t (a TEXT, b AS ({expression})); INSERT INTO t (a) VALUES ('x')"))["t"]
    assert list(draft.rows) == [("x",)]
    assert draft.notes[0].startswith("computed columns left out (unsafe use of")


def test_nothing_but_plain_reading_is_allowed(make: Make) -> None:
    with databases._opened(make("CREATE TABLE t (a); CREATE VIEW v AS SELECT * FROM t")) as connection:
        for sql in ("SELECT * FROM v", "INSERT INTO t VALUES (1)", "ATTACH 'x.db' AS x", "PRAGMA query_only = 0", "SELECT abs(1)"):
            with pytest.raises(sqlite3.DatabaseError):
                connection.execute(sql)
        assert connection.execute("SELECT a FROM t").fetchall() == []


def test_a_file_kept_in_wal_mode_opens_and_says_what_is_not_seen(make: Make) -> None:
    extract = read(Path("a.db"), make("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)"))
    assert list(extract.tables[0].rows) == [(1,)]
    assert "changes that still wait in a -wal file beside it are not seen" in extract.notes[0]


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_database_in_utf16_is_read(make: Make, encoding: str) -> None:
    data = make(f"PRAGMA encoding = '{encoding}'; CREATE TABLE t (a); INSERT INTO t VALUES ('Zürich 東京')")
    assert list(tables(data)["t"].rows) == [("Zürich 東京",)]


def test_texts_that_are_no_utf8_are_decoded_and_told(make: Make) -> None:
    draft = tables(make("CREATE TABLE t (a); INSERT INTO t VALUES ('plain'), (CAST(x'4DFC6E6368656E' AS TEXT))"))["t"]
    assert list(draft.rows) == [("plain",), ("München",)]
    assert draft.notes == ("1 text not in UTF-8: decoded by guess",)


def test_another_library_is_not_read(make: Make) -> None:
    extract = read(Path("library.db"), make(f"PRAGMA application_id = {0x41524356}; CREATE TABLE documents (a)"))
    assert (extract.no_text, extract.tables) == ("an Archivist library: its tables are not read into another", ())


@pytest.mark.parametrize("name", ["a", "a.anki2", "a.txt", "a.sqlite-backup"])
def test_a_database_is_known_by_its_first_bytes_whatever_its_name(make: Make, name: str) -> None:
    extract = read(Path(name), make("CREATE TABLE t (a)"))
    assert (extract.format, len(extract.tables)) == ("sqlite", 1)


def test_without_deserialize_a_private_copy_is_read_and_removed(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = make("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    monkeypatch.setattr(databases, "_can_deserialize", lambda: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    assert list(tables(data)["t"].rows) == [(1,)]
    assert set(tmp_path.iterdir()) == before


def test_a_damaged_file_gives_a_reason_and_no_other_error(make: Make) -> None:
    whole = make(
        "CREATE TABLE t (a); CREATE TABLE u (b TEXT)", *(("INSERT INTO t VALUES (?)", (f"value {n}" * 20,)) for n in range(500))
    )
    assert len(tables(whole)["t"].rows) == 500
    refused = 0
    for place in range(100, len(whole), 997):
        damaged = whole[:place] + bytes(byte ^ 0xA5 for byte in whole[place : place + 64]) + whole[place + 64 :]
        for data in (damaged, whole[:place]):
            try:
                read(Path("a.db"), data)
            except ReadError:
                refused += 1
    assert refused > 10


def test_rows_that_a_damaged_file_repeats_without_end_are_refused(make: Make) -> None:
    """Every pointer of the table's root page leads to the same leaf: few bytes, many rows."""
    data = bytearray(
        make("PRAGMA page_size = 512; CREATE TABLE t (a)", *(("INSERT INTO t VALUES (?)", (n,)) for n in range(20_000)))
    )
    root = 512  # the second page
    assert data[root] == 5  # an interior page of a table
    count = int.from_bytes(data[root + 3 : root + 5])
    cells = [int.from_bytes(data[root + 12 + 2 * n : root + 14 + 2 * n]) for n in range(count)]
    first = bytes(data[root + cells[0] : root + cells[0] + 4])
    inner = (int.from_bytes(first) - 1) * 512
    for place in cells:
        data[root + place : root + place + 4] = first
    assert data[inner] in {5, 13}
    budget = databases._Budget(rows=100, bytes=1_000)
    with pytest.raises(ReadError, match="more rows than its bytes can hold"):
        budget.spend([(1,)] * 101)
    rows = read(Path("a.db"), bytes(data)).tables[0].rows
    assert len(rows) != 20_000
    assert len(rows) <= 3 * len(data) // 4


def test_names_that_differ_in_control_characters_alone_are_told_apart(make: Make) -> None:
    draft = tables(make('CREATE TABLE t ("a b" INT, "a\x1b[31m\nb" INT, "" INT)'))["t"]
    assert [column.name for column in draft.columns] == ["a b", "a b_2", "column_3"]


def test_what_an_application_added_to_sqlite_does_not_close_its_file(tmp_path: Path) -> None:
    path = tmp_path / "made.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("own", 1, str, deterministic=True)
        connection.create_collation("unicase", lambda one, other: (one > other) - (one < other))
        connection.executescript(
            """CREATE TABLE t (a TEXT COLLATE unicase, b AS (own(a)), CHECK (own(a) <> ''));
            CREATE INDEX i ON t (own(a)); INSERT INTO t (a) VALUES ('x'), ('y')"""
        )
    draft = tables(path.read_bytes())["t"]
    assert list(draft.rows) == [("x",), ("y",)]
    assert draft.notes[0].startswith("computed columns left out")


def test_reading_ends_at_its_deadline(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make("CREATE TABLE t (a)", *(("INSERT INTO t VALUES (?)", (n,)) for n in range(2_000)))
    monkeypatch.setattr(databases, "MAX_SECONDS", -1.0)
    with pytest.raises(ReadError, match="reading its tables took longer than"):
        read(Path("a.db"), data)


def test_a_database_without_tables_says_so(make: Make) -> None:
    assert read(Path("a.db"), make("CREATE TABLE t (a); DROP TABLE t")).no_text == "a database without tables"


@pytest.mark.evals
def test_every_table_of_real_databases_is_there_with_its_rows(evals: Path) -> None:
    files = sorted((evals / "nl2sql").glob("*.sqlite"))
    assert len(files) == 11
    for file in files:
        drafts = {draft.label: draft for draft in read(file, file.read_bytes()).tables}
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            assert set(drafts) == {name for name in names if not name.startswith("sqlite_")}
            for name, draft in drafts.items():
                assert list(draft.rows) == connection.execute(f'SELECT * FROM "{name}"').fetchall(), (file.name, name)


@pytest.mark.evals
def test_possible_values_of_real_databases_are_told(evals: Path) -> None:
    file = evals / "nl2sql" / "defog_derm_treatment.sqlite"
    comments = {f"{draft.label}.{c.name}": c.comment for draft in read(file, file.read_bytes()).tables for c in draft.columns}
    assert comments["doctors.specialty"] == "possible values: dermatology, immunology, general, oncology"
    assert comments["treatments.doc_id"] == "references doctors(doc_id)"
