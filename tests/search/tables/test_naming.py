"""What tables are called: after their files, no two alike, whatever the order in which they came."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search import connections
from search.tables.naming import LONGEST, RESERVED, Entry, is_valid, settled, wished


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("sales.csv", "sales"),
        ("tables/Carrier Codes.csv", "carrier_codes"),
        ("2026-09-30-carrier-codes.csv", "carrier_codes_2026_09_30"),
        ("2024.csv", "table_2024"),
        ("3d-models.csv", "d_models_3"),
        ("Überprüfung (2. Teil).csv", "uberprufung_2_teil"),
        ("Straße.csv", "strasse"),
        ("__private__.csv", "private"),
        ("sqlite_stat1.csv", "table_sqlite_stat1"),
        ("2024_sqlite_x.csv", "table_sqlite_x_2024"),
        ("select.csv", "select"),
        ("archive.tar.csv", "archive_tar"),
        ("売上 2025 report.csv", "report_2025"),
        ("売上.csv", "table_443f"),
        ("§§.csv", "table_b978"),
        ("x" * 80 + ".csv", "x" * 60),
        ("2026-09-30-" + "x" * 80 + ".csv", "x" * 49 + "_2026_09_30"),
    ],
)
def test_a_table_is_named_after_its_file(path: str, name: str) -> None:
    assert wished(Entry("/r", path, 0)) == name


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (Entry("/r", "budget.xlsx", 0, "Sheet1"), "budget"),
        (Entry("/r", "budget.xlsx", 0, "Q1 plan", alone=False), "budget_q1_plan"),
        (Entry("/r", "budget.xlsx", 1, "2025", alone=False), "budget_2025"),
        (Entry("/r", "budget.xlsx", 2, "計画", alone=False), "budget_3"),
        (Entry("/r", "northwind.db", 0, "Order Details", keeps_name=True, alone=False), "Order Details"),
        (Entry("/r", "northwind.db", 0, "Größe", keeps_name=True), "Größe"),
        (Entry("/r", "x.db", 0, "_log", keeps_name=True), "table_log"),
        (Entry("/r", "x.db", 0, "a\x00\x1b[31mb\n\ud800", keeps_name=True), "a [31mb"),
        (Entry("/r", "x.db", 0, " \n__", keeps_name=True), "x"),
    ],
)
def test_sheets_follow_their_file_and_tables_of_a_database_keep_their_names(entry: Entry, name: str) -> None:
    assert wished(entry) == name


def names(*entries: Entry) -> list[str]:
    found = settled(entries)
    return [found[entry] for entry in entries]


def of(*paths: str) -> list[str]:
    return names(*(Entry("/r", path, 0) for path in paths))


def test_clashes_become_stem_table_then_folder_stem_then_numbers() -> None:
    assert of("a/x/s.csv", "b/x/s.csv", "b/y/s.csv", "c/y/s.csv", "s.tsv") == ["s", "s_table", "y_s", "c_y_s", "s_2"]


def test_a_wish_of_its_own_goes_before_the_second_wish_of_another() -> None:
    assert of("a/sales.csv", "b/sales.csv", "z/sales_table.csv") == ["sales", "b_sales", "sales_table"]


def test_reserved_names_become_stem_table() -> None:
    assert of("documents.csv", "Passages.csv", "json_each.csv", "documents_by_path.csv") == [
        "documents_table",
        "passages_table",
        "json_each_table",
        "documents_by_path_table",
    ]


def test_tables_of_two_databases_with_one_name_get_the_file_in_front() -> None:
    one, other = (Entry("/r", f"{name}.db", 0, "Album", keeps_name=True) for name in ("chinook", "copy"))
    assert names(one, other) == ["Album", "copy_album"]
    assert names(one, other, Entry("/r", "album.csv", 0)) == ["chinook_album", "copy_album", "album"]


def test_case_alone_does_not_tell_two_tables_apart() -> None:
    assert of("Sales.csv", "sales.csv") == ["sales", "sales_table"]
    kept = [Entry("/r", "x.db", number, label, keeps_name=True) for number, label in enumerate(("ÄPFEL", "äpfel"))]
    assert names(*kept) == ["ÄPFEL", "x_apfel"]


def test_every_name_that_a_library_has_for_itself_is_reserved(tmp_path: Path) -> None:
    with closing(connections.open_for_writing(tmp_path / "x.db")) as connection:
        own = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        functions = {row[0] for row in connection.execute("SELECT name FROM pragma_module_list")}
    assert {name for name in own if is_valid(name)} == set()
    stand_in_for_tables = {name for name in functions if name.startswith(("json_", "pragma_"))} | {"dbstat"}
    assert {name for name in stand_in_for_tables if is_valid(name)} == set()
    assert all(name == name.casefold() for name in RESERVED)


parts = st.one_of(
    st.sampled_from(
        ("sales", "Sales", "documents", "sales_table", "a", "2024", "_x", "sqlite_x", "売上", "x" * 70, "é", "", "a b")
    ),
    st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=80),
)
entries = st.builds(
    lambda root, folders, stem, suffix, ordinal, label, keeps, alone: Entry(
        root, "/".join([*folders, stem + suffix]), ordinal, label, keeps, alone
    ),
    st.sampled_from(("/r", "/s")),
    st.lists(parts.filter(bool), max_size=3),
    parts,
    st.sampled_from((".csv", ".tsv", ".db")),
    st.integers(0, 3),
    parts,
    st.booleans(),
    st.booleans(),
)


def some(most: int) -> st.SearchStrategy[list[Entry]]:
    """Tables of different files, or places in them."""
    return st.lists(entries, unique_by=lambda entry: (entry.root, entry.path, entry.ordinal), max_size=most)


@given(some(12), st.randoms())
def test_names_are_unique_valid_and_independent_of_the_order(found: list[Entry], draw: Random) -> None:
    named = settled(found)
    assert set(named) == set(found)
    assert all(is_valid(name) and name.isprintable() and len(name) <= LONGEST for name in named.values())
    assert len({name.casefold() for name in named.values()}) == len(found)
    shuffled = list(found)
    draw.shuffle(shuffled)
    assert settled(shuffled) == named


@given(some(6))
def test_sqlite_takes_every_name(found: list[Entry]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for name in settled(found).values():
            quoted = name.replace('"', '""')
            connection.execute(f'CREATE TABLE main."{quoted}" (a)')
