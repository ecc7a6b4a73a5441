"""Tables in step with their files: dry runs, rebuilding, forgetting, texts of programs, batches, large files."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from standin import StandIn

from search import Library, connections, indexing, readers, store, upkeep
from search.changes import Change, Progress
from search.errors import ReadError
from search.models import Extract
from search.tables import catalogue
from search.tables.models import Column, TableDraft, Value

Write = Callable[[str, str], Path]


def listed(library: Path) -> dict[str, str]:
    """The path of each table's file, by its name."""
    with Library.open(library) as opened:
        return {table.name: table.path for table in opened.tables.describe()}


def test_a_dry_run_tells_of_tables_and_changes_not_one_byte(write: Write, folder: Path, library_file: Path) -> None:
    write("a.csv", "id,word\n1,a\n")
    write("b.csv", "id,word\n1,b\n")
    upkeep.index(library_file, [folder], StandIn())
    before = library_file.read_bytes()
    write("a.csv", "id,word\n1,a\n2,b\n")
    (folder / "b.csv").rename(folder / "c.csv")
    write("d/a.csv", "id,word\n1,d\n")
    said: list[Change | Progress] = []
    summary = upkeep.index(library_file, [folder], StandIn(), dry_run=True, report=said.append)
    assert {(each.kind, each.path, each.reason) for each in said if isinstance(each, Change)} == {
        ("changed", "a.csv", "2 rows, 2 columns"),
        ("added", "d/a.csv", "1 row, 2 columns"),
        ("moved", "c.csv", "b.csv"),
    }
    assert summary.tables == 2
    assert library_file.read_bytes() == before
    assert [file.name for file in library_file.parent.iterdir()] == [library_file.name]


def test_a_rebuild_makes_the_tables_anew_and_readers_go_on(write: Write, folder: Path, library_file: Path) -> None:
    write("a/sales.csv", "id,word\n1,a\n")
    write("b/sales.csv", "id,word\n1,b\n")
    upkeep.index(library_file, [folder], StandIn())
    with Library.open(library_file, embedder=StandIn()) as opened:
        assert [table.path for table in opened.tables.describe()] == ["a/sales.csv", "b/sales.csv"]
        (folder / "a/sales.csv").unlink()
        upkeep.rebuild(library_file, [], StandIn())
        assert [(table.name, table.path) for table in opened.tables.describe()] == [("sales", "b/sales.csv")]
        assert opened.tables.sql("SELECT word FROM sales").rows == (("b",),)


def test_forgetting_a_folder_renames_what_is_left(write: Write, folder: Path, library_file: Path) -> None:
    for place in ("a", "b", "c"):
        write(f"{place}/sales.csv", f"id,word\n1,{place}\n")
    upkeep.index(library_file, [folder], StandIn())
    assert listed(library_file) == {"sales": "a/sales.csv", "sales_table": "b/sales.csv", "c_sales": "c/sales.csv"}
    assert upkeep.forget(library_file, folder / "a") == 1
    assert listed(library_file) == {"sales": "b/sales.csv", "sales_table": "c/sales.csv"}


def test_a_root_that_takes_another_over_keeps_its_tables(write: Write, folder: Path, library_file: Path) -> None:
    write("a/sales.csv", "id,word\n1,a\n")
    write("b/sales.csv", "id,word\n1,b\n")
    upkeep.index(library_file, [folder / "b"], StandIn())
    assert listed(library_file) == {"sales": "sales.csv"}
    upkeep.index(library_file, [folder], StandIn())
    assert listed(library_file) == {"sales": "a/sales.csv", "sales_table": "b/sales.csv"}


def test_a_file_that_cannot_be_opened_keeps_its_table(
    write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("sales.csv", "id,word\n1,a\n")
    upkeep.index(library_file, [folder], StandIn())
    write("sales.csv", "id,word\n1,other\n")

    def denied(*_: object) -> bytes:
        raise ReadError("cannot be read: Permission denied")

    monkeypatch.setattr("search.sources.read_bytes", denied)
    assert upkeep.index(library_file, [folder], StandIn()).kept == 1
    assert listed(library_file) == {"sales": "sales.csv"}


def test_texts_of_a_program_can_hold_tables(library_file: Path) -> None:
    def with_table(*values: Value) -> Extract:
        table = TableDraft("", (Column("n", "integer"),), [(value,) for value in values])
        return Extract(text="A table of numbers.", format="table", tables=(table,))

    upkeep.add_texts(library_file, "corpus", iter([("one", with_table(1, 2)), ("two", with_table(3))]), StandIn())
    upkeep.add_texts(library_file, "corpus", iter([("one", with_table(9))]), StandIn())
    with Library.open(library_file) as opened:
        assert [(table.name, table.rows) for table in opened.tables.describe()] == [("one", 1), ("two", 1)]
        assert opened.tables.sql("SELECT one.n, two.n FROM one, two").rows == ((9, 3),)


def test_a_file_with_tables_that_a_reader_fails_on_says_so_and_leaves_none(
    write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("sales.csv", "id,word\n1,a\n")
    upkeep.index(library_file, [folder], StandIn())
    write("sales.csv", "id,word\n1,b\n")

    def fails(*_: object) -> Extract:
        raise ZeroDivisionError("no")

    monkeypatch.setattr(readers, "read", fails)
    assert upkeep.index(library_file, [folder], StandIn()).failed == 1
    assert listed(library_file) == {}


def test_a_batch_is_bounded_by_the_values_of_its_tables(
    write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcdef":
        write(f"{name}.csv", "id,word\n1,a\n2,b\n3,c\n")
    monkeypatch.setattr(indexing, "_BATCH_VALUES", 12)
    said: list[str] = []
    upkeep.index(library_file, [folder], StandIn(), report=lambda each: said.append(type(each).__name__))
    assert said == [*(["Progress", "Progress", "Change", "Change"] * 3), "Progress"]


def test_storing_a_large_table_copies_no_rows(library_file: Path) -> None:
    rows = [(number, f"word {number % 100}", number / 7) for number in range(50_000)]
    table = TableDraft("", (Column("id", "integer"), Column("word", "text"), Column("share", "real")), rows)
    with closing(connections.open_for_writing(library_file)) as connection:
        connection.execute("INSERT INTO _roots(path, whole, max_bytes) VALUES ('/r', 1, 1)")
        connection.execute(
            "INSERT INTO documents(root, path, title, format, size, text_status, encoding, indexed_at) "
            "VALUES (1, 'x.csv', '', 'csv', 1, 'ok', '', '')"
        )
        tracemalloc.start()
        with connections.writing(connection):
            catalogue.add_tables(connection, 1, [table])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert connection.execute("SELECT count(*), sum(id) FROM x").fetchone() == (50_000, sum(range(50_000)))
        assert peak < 2_000_000, "one more copy of the rows takes some ten million bytes"
        with connections.writing(connection):
            store.remove_documents(connection, [1])
        assert catalogue.read_tables(connection) == []
