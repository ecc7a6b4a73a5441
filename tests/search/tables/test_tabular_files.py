"""CSV and TSV files: whatever separates, quotes and encodes them, their cells are read as they were written."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from search.models import Extract
from search.readers import read
from search.tables.models import TableDraft

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "library" / "tables"
EVALS = os.environ.get("ARCHIVIST_EVALS", "")


def extract(text: str | bytes, name: str = "a.csv") -> Extract:
    return read(Path(name), text if isinstance(text, bytes) else text.encode())


def table(text: str | bytes, name: str = "a.csv") -> TableDraft:
    (draft,) = extract(text, name).tables
    return draft


def names(draft: TableDraft) -> list[str]:
    return [column.name for column in draft.columns]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\nx,1\ny,2\n", [("x", 1), ("y", 2)]),
        ("a;b\nx;1\ny;2\n", [("x", 1), ("y", 2)]),
        ("a\tb\nx\t1\ny\t2\n", [("x", 1), ("y", 2)]),
        ("a|b\nx|1\ny|2\n", [("x", 1), ("y", 2)]),
        ("a;b\n1,5;2,5\n3,5;4,5\n", [(1.5, 2.5), (3.5, 4.5)]),
        ("1,5;2,5\n3,5;4,5\n", [(1.5, 2.5), (3.5, 4.5)]),
        ("a;b\nRome, Italy;x\nOslo, Norway;y\n", [("Rome, Italy", "x"), ("Oslo, Norway", "y")]),
        ("sep=;\na;b\nx,y;1\n", [("x,y", 1)]),
        ('"sep=|"\r\na|b\r\nx|1\r\n', [("x", 1)]),
        ("name\nDoe, John\nRoe, Jane\n", [("Doe, John",), ("Roe, Jane",)]),
        ("a,b\r\nx,1\r\n", [("x", 1)]),
        ("a,b\rx,1\r", [("x", 1)]),
        ("a,b\nx,1", [("x", 1)]),
        ('a,b\n"x, ""quoted""",1\n', [('x, "quoted"', 1)]),
        ('a,b\n"two\nlines",1\ny,2\n', [("two\nlines", 1), ("y", 2)]),
        ('a,b\n"x, \\"quoted\\"",1\ny,2\n', [('x, "quoted"', 1), ("y", 2)]),
        ('a, b\n"x, y", 1\nz, "2"\n', [("x, y", 1), ("z", 2)]),
        ('a,b\n5" disk,1\n3" disk,2\n', [('5" disk', 1), ('3" disk', 2)]),
        ('a,b\n"",1\nx,""\n', [(None, 1), ("x", None)]),
    ],
)
def test_rows_are_cut_where_the_file_cuts_them(text: str, rows: list[tuple[object, ...]]) -> None:
    assert table(text).rows == rows


def test_a_quotation_mark_that_does_not_pair_takes_one_line_alone() -> None:
    text = "a,b\n" + 'x,"two\nlines"\n' * 400 + 'y,"2\n' + 'z,"3"\n' * 400 + 'w,"4\n'
    draft = table(text)
    assert draft.rows == [*[("x", "two\nlines")] * 400, ("y", '"2'), *[("z", "3")] * 400, ("w", '"4')]
    assert draft.notes == ("2 lines have a quotation mark that does not pair (first line 802): it is read as part of the text",)


def test_a_file_full_of_open_quotation_marks_is_read_to_its_end() -> None:
    assert len(table("a,b\n" + "x,1\n" * 20_000 + 'x,"1\n' * 20_001).rows) == 40_001


@pytest.mark.parametrize("text", ['a\tb\n5" disk\tx\n"big" one\ty\n', 'a\tb\nx\t"5\n"big" one\ty\n'])
def test_marks_inside_of_texts_stay(text: str) -> None:
    assert '"big" one' in {row[0] for row in table(text, "a.tsv").rows}


def test_lines_of_remarks_are_those_of_the_file() -> None:
    draft = table('sep=;\na;b\n"two\nlines";1\nx\ny;1;2\n')
    assert "(first line 6)" in draft.notes[0]
    assert "(first line 5)" in draft.notes[1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-32"])
def test_encodings(encoding: str) -> None:
    rows = "".join(f"Straße {number};Größe für Büro;{number},5\n" for number in range(30))
    draft = table(("Straße;Stück;Maß\n" + rows).encode(encoding))
    assert names(draft) == ["straße", "stück", "maß"]
    assert draft.rows[7] == ("Straße 7", "Größe für Büro", 7.5)


def test_nul_bytes_and_escapes_do_not_get_in() -> None:
    draft = table(b"name,b\n" + b"x\x1b[31m,1\n" * 50 + b"\0y,2\n")
    assert draft.rows[-1] == ("y", 2)
    assert draft.rows[0] == ("x", 1)


def test_a_huge_cell_is_read_whole() -> None:
    assert table("a,b\n" + "x" * 1_000_000 + ",1\n").rows[0] == ("x" * 1_000_000, 1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty file"),
        (b"\n \n", "empty: only white space"),
        (b"\xef\xbb\xbf\n", "empty: only white space"),
        (b",,\n,,\n", "empty: no value in any cell"),
        (bytes(range(256)) * 20, "binary: the content is not text"),
    ],
)
def test_files_without_values_say_why(data: bytes, reason: str) -> None:
    found = extract(data)
    assert (found.no_text, found.text, found.tables, found.format) == (reason, "", (), "csv")


def test_a_header_alone_is_a_table() -> None:
    draft = table("a,b\n")
    assert (names(draft), list(draft.rows)) == (["a", "b"], [])


@pytest.mark.parametrize(("name", "known"), [("a.csv", "csv"), ("A.CSV", "csv"), ("a.tsv", "tsv"), ("a.tab", "tsv")])
def test_formats_are_called_by_their_names(name: str, known: str) -> None:
    assert extract("a\tb\nx\t1\n", name).format == known
    assert names(table("a\tb\nx\t1\n", name)) == ["a", "b"]


def test_tabs_cut_a_tsv_file_however_many_commas_it_holds() -> None:
    assert table("t\tn\na, b, c\t1\nd, e, f\t2\n", "a.tsv").rows == [("a, b, c", 1), ("d, e, f", 2)]


def test_the_text_describes_the_table() -> None:
    found = extract("city;Preis (€)\nRom;1,50\nOslo;2,50\n")
    assert found.text == 'Table: 2 rows, 2 columns.\n\n- city, text: Oslo; Rom\n- preis ("Preis (€)"), real in EUR: 1.5 to 2.5\n'


def sample(name: str) -> TableDraft:
    return table((SAMPLES / name).read_bytes(), name)


def test_the_sample_of_german_costs() -> None:
    draft = sample("2026-06-30-kosten-hamburg.csv")
    assert [(column.name, column.type, column.unit) for column in draft.columns] == [
        ("monat", "text", ""),
        ("kostenstelle", "text", ""),
        ("betrag", "real", "EUR"),
        ("anteil", "real", "%"),
        ("bemerkung", "text", ""),
    ]
    assert draft.rows[-1] == ("Juni 2026", "0305", -120.0, -0.3, "Gutschrift Bahn")
    assert draft.notes == ('above the header: "Kosten Büro Hamburg"; "Stand 30.06.2026, alle Beträge brutto"',)


def test_the_sample_of_a_careless_export() -> None:
    draft = sample("2025-12-31-legacy-export.csv")
    assert names(draft) == ["order", "order_2", "date", "weight", "column_5", "note"]
    assert draft.rows[0] == ("A-1001", 7, "2025-04-03", "1.2", "x", "fragile")
    assert draft.rows[2][5] == "two lines:\nleft with neighbour"
    assert draft.rows[4] == ("A-1005", None, "2025-10-11", "2", None, 'customer said "later", twice')
    assert draft.notes == ("1 row has fewer cells than the header (first line 6): the missing ones are empty",)


def test_the_sample_of_codes() -> None:
    draft = sample("2026-09-30-carrier-codes.csv")
    assert draft.rows[1] == ("0042", "Kurierwerk", "DE", "01067", "+49 40 5550 118", 91.2, "2020-02-11")


def test_the_samples_of_measurements_are_those_of_the_files() -> None:
    with (SAMPLES / "latency.csv").open(encoding="utf-8", newline="") as file:
        wanted = [(row["endpoint"], float(row["response_ms"]), row["measured_at"]) for row in csv.DictReader(file)]
    draft = sample("latency.csv")
    assert draft.rows == wanted
    assert [(column.type, column.unit) for column in draft.columns] == [("text", ""), ("real", "ms"), ("datetime", "")]


@pytest.mark.evals
@pytest.mark.skipif(not EVALS, reason="ARCHIVIST_EVALS names no folder of evaluation data")
@pytest.mark.parametrize(
    ("name", "columns", "rows", "first"),
    [
        ("csv-with-escaped-commas.csv", 5, 2, ("A", "A", "A", "A,A", "A")),
        ("csv-with-long-lines.csv", 370, 10, None),
        ("mid_test_mskanji.csv", 3, 3, ("佐藤太郎", 30, "東京")),
        ("stanley-cups-utf-16.csv", 3, 3, ("Blues", "STL", 1)),
        ("stanley-cups-with-emoji.tsv", 3, 4, ("Blues", "STL", 1)),
        ("stanley-cups.tsv", 3, 3, ("Blues", "STL", 1)),
    ],
)
def test_files_of_other_people(name: str, columns: int, rows: int, first: tuple[object, ...] | None) -> None:
    draft = table((Path(EVALS) / "documents" / "table" / name).read_bytes(), name)
    assert (len(draft.columns), len(draft.rows)) == (columns, rows)
    assert first is None or draft.rows[0] == first


@pytest.mark.parametrize(
    ("text", "total"), [("amount\n1,5\n2,25\n", 3.75), ("amount\n1,5\n3\n-2,5", 2.0), ("Betrag (EUR)\n\n10,00\n7,5\n", 17.5)]
)
def test_one_column_of_decimal_commas_is_one_column(text: str, total: float) -> None:
    draft = table(text)
    assert [column.type for column in draft.columns] == ["real"]
    assert sum(row[0] for row in draft.rows if isinstance(row[0], float)) == total
