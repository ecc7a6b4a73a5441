"""Excel workbooks: each sheet a table, formats as units, merged cells filled, and bounds on what a file may ask for."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from search.errors import ReadError
from search.models import Extract
from search.readers import packages, read, sheets
from search.readers.number_formats import number_format
from search.tables import TableDraft

openpyxl = pytest.importorskip("openpyxl")


def saved(book: Any) -> bytes:
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def workbook(rows: list[list[Any]], arrange: Callable[[Any], None] = lambda sheet: None) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    arrange(book.active)
    return saved(book)


def extract(rows: list[list[Any]], arrange: Callable[[Any], None] = lambda sheet: None) -> Extract:
    return read(Path("a.xlsx"), workbook(rows, arrange))


def table(rows: list[list[Any]], arrange: Callable[[Any], None] = lambda sheet: None) -> TableDraft:
    (draft,) = extract(rows, arrange).tables
    return draft


def changed(data: bytes, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """The archive with one part changed, or added."""
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in dict.fromkeys([*old.namelist(), part]):
            content = old.read(name) if name in old.namelist() else b""
            new.writestr(name, change(content) if name == part else content)
    return out.getvalue()


def formatted(code: str, column: str = "B") -> Callable[[Any], None]:
    def arrange(sheet: Any) -> None:
        for cell in sheet[column][1:]:
            cell.number_format = code

    return arrange


def test_every_sheet_with_cells_is_a_table_hidden_ones_told_charts_passed_over() -> None:
    book = openpyxl.Workbook()
    book.active.title = "Depots"
    for row in (["depot", "size"], ["Bristol", 3]):
        book.active.append(row)
    book.create_sheet("Empty")
    hidden = book.create_sheet("Old")
    for row in (["a", "b"], ["x", 1]):
        hidden.append(row)
    hidden.sheet_state = "hidden"
    book.create_chartsheet("Chart").add_chart(openpyxl.chart.BarChart())
    found = read(Path("a.xlsx"), saved(book))
    assert [(draft.label, list(draft.rows)) for draft in found.tables] == [("Depots", [("Bristol", 3)]), ("Old", [("x", 1)])]
    assert "a hidden sheet" in found.tables[1].notes
    assert (found.format, found.no_text) == ("xlsx", None)


@pytest.mark.parametrize(
    ("code", "value", "stored", "unit"),
    [
        ('#,##0.00\\ "€"', 12.5, 12.5, "EUR"),
        ("[$EUR] #,##0.00", 12.5, 12.5, "EUR"),
        ("[$€-407]0.00", 12.5, 12.5, "EUR"),
        ('"$"#,##0.00_);[Red]("$"#,##0.00)', -3.25, -3.25, "$"),
        ("£#,##0.00", 2.5, 2.5, "GBP"),
        ("0%", 0.12, 12.0, "%"),
        ("0.0%", 0.123, 12.3, "%"),
        ("0.0‰", 0.005, 5.0, "‰"),
        ('0" ms"', 31.5, 31.5, "ms"),
        ('0.0 "kg"', 1.5, 1.5, "kg"),
        ('#,##0,"kg"', 1500.5, 1500.5, ""),
        ("0.00E+00", 1.5, 1.5, ""),
        ("#,##0.0_€", 1.5, 1.5, ""),
    ],
)
def test_number_formats_give_units(code: str, value: float, stored: float, unit: str) -> None:
    draft = table([["name", "v"], ["x", value], ["y", value]], formatted(code))
    assert draft.columns[1].unit == unit
    assert [row[1] for row in draft.rows] == pytest.approx([stored, stored])


@pytest.mark.parametrize(
    ("code", "number", "text"), [("00000", 412, "00412"), ("000\\-0000", 555012, "055-5012"), ("00", 123, "123"), ("0", 7, "7")]
)
def test_formats_of_zeros_are_codes(code: str, number: int, text: str) -> None:
    assert number_format(code).code(number) == text


def test_codes_stay_text() -> None:
    draft = table([["depot", "zip", "code"], ["x", 412, "0017"], ["y", 1067, "0108"]], formatted("00000"))
    assert [(c.name, c.type) for c in draft.columns] == [("depot", "text"), ("zip", "text"), ("code", "text")]
    assert list(draft.rows) == [("x", "00412", "0017"), ("y", "01067", "0108")]


def test_moments_are_iso_texts_and_a_midnight_is_a_day() -> None:
    draft = table(
        [
            ["day", "moment", "clock", "spent"],
            [date(2026, 1, 31), datetime(2026, 1, 31, 10, 30), time(9, 15), timedelta(hours=36, minutes=30)],  # noqa: DTZ001
            [datetime(2026, 2, 1), datetime(2026, 2, 1, 11, 0), time(10, 0), timedelta(hours=25)],  # noqa: DTZ001
        ]
    )
    assert [c.type for c in draft.columns] == ["date", "datetime", "time", "real"]
    assert draft.rows[0] == ("2026-01-31", "2026-01-31T10:30:00", "09:15:00", 36.5)
    assert draft.columns[3].unit == "h"


def test_a_title_above_the_header_is_told_also_when_it_is_merged() -> None:
    rows = [["Carrier invoices 2026", None, None], [None], ["carrier", "month", "parcels"], ["Swiftpost", "Jan", 10]]
    draft = table(rows, lambda sheet: sheet.merge_cells("A1:C1"))
    assert [c.name for c in draft.columns] == ["carrier", "month", "parcels"]
    assert any("Carrier invoices 2026" in note for note in draft.notes)


def test_merged_cells_in_the_body_are_filled_and_told() -> None:
    rows = [["carrier", "month", "n"], ["Swiftpost", "Jan", 1], [None, "Feb", 2], ["Kurierwerk", "Jan", 3]]
    draft = table(rows, lambda sheet: sheet.merge_cells("A2:A3"))
    assert [row[0] for row in draft.rows] == ["Swiftpost", "Swiftpost", "Kurierwerk"]
    assert "1 merged cell was filled" in draft.notes


def test_a_merged_amount_stays_in_its_first_row_so_that_a_sum_is_right() -> None:
    rows = [["year", "carrier", "cost"], [2025, "Swiftpost", 10.5], [None, "Kurierwerk", None], [2026, "Tozai", 3.25]]

    def merge(sheet: Any) -> None:
        sheet.merge_cells("A2:A3")
        sheet.merge_cells("C2:C3")

    draft = table(rows, merge)
    assert [(row[0], row[2]) for row in draft.rows] == [(2025, 10.5), (2025, None), (2026, 3.25)]
    assert any("1 merged number stays in the first of their rows" in note for note in draft.notes)


def test_a_group_that_spans_columns_of_the_header_goes_before_their_names() -> None:
    rows = [["Depot", 2025, None, 2026, None], [None, "Q1", "Q2", "Q1", "Q2"], ["Bristol", 1, 2, 3, 4], ["Hamburg", 5, 6, 7, 8]]

    def merge(sheet: Any) -> None:
        for area in ("A1:A2", "B1:C1", "D1:E1"):
            sheet.merge_cells(area)

    draft = table(rows, merge)
    assert [c.header or c.name for c in draft.columns] == ["Depot", "2025 Q1", "2025 Q2", "2026 Q1", "2026 Q2"]
    assert list(draft.rows) == [("Bristol", 1, 2, 3, 4), ("Hamburg", 5, 6, 7, 8)]


def test_formulas_give_what_was_stored_last_and_the_others_are_told() -> None:
    data = workbook([["a", "sum", "name"], [1, "=A2+1", "x"], [2, "=A3+1", "y"]])
    stored = changed(data, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b"<f>A2+1</f><v />", b"<f>A2+1</f><v>2</v>"))
    (draft,) = read(Path("a.xlsx"), stored).tables
    assert list(draft.rows) == [(1, 2, "x"), (2, None, "y")]
    assert "1 formula has no stored value (B3): left empty" in draft.notes


def test_errors_are_null_and_told() -> None:
    draft = table([["a", "b"], ["x", 1], ["y", "#DIV/0!"], ["z", "#N/A"]])
    assert [row[1] for row in draft.rows] == [1, None, None]
    assert "2 cells hold an error (#DIV/0!, #N/A): left empty" in draft.notes


def test_truth_values_escapes_and_rich_texts() -> None:
    data = workbook([["a", "b"], [True, "one_x000D_\ntwo"], [False, "_x0041_"]])
    (draft,) = read(Path("a.xlsx"), data).tables
    assert draft.columns[0].type == "boolean"
    assert [row[1] for row in draft.rows] == ["one\ntwo", "A"]


def test_properties_go_to_the_document_and_those_of_programs_do_not() -> None:
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append(["x", 1])
    found = read(Path("a.xlsx"), saved(book))
    assert (found.title, found.author) == (None, None)
    book.properties.title, book.properties.creator = "Carrier invoices", "Noor Haddad"
    book.properties.created = datetime(2026, 3, 1, 8, 0)  # noqa: DTZ001 - openpyxl wants it bare
    found = read(Path("a.xlsx"), saved(book))
    assert (found.title, found.author, (found.created or "")[:10]) == ("Carrier invoices", "Noor Haddad", "2026-03-01")


def test_a_file_without_properties_has_no_dates() -> None:
    data = workbook([["a", "b"], ["x", 1]])
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if name != "docProps/core.xml":
                new.writestr(name, old.read(name).replace(b"/docProps/core.xml", b"/docProps/none.xml"))
    found = read(Path("a.xlsx"), out.getvalue())
    assert (found.created, found.modified) == (None, None)


def test_one_cell_far_away_does_not_fill_the_memory() -> None:
    draft = table([["a", "b"], ["x", 1], ["y", 2]], lambda sheet: sheet.cell(1_048_576, 16_384, "far"))
    assert "empty rows between its cells were left out" in draft.notes
    assert len(draft.rows) <= 3
    assert len(draft.columns) <= 3


def test_a_merged_area_over_the_whole_sheet_ends_where_the_cells_end() -> None:
    data = workbook([["a", "b"], ["x", 1], ["y", 2]], lambda sheet: sheet.merge_cells("A2:A3"))
    data = changed(data, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b'ref="A2:A3"', b'ref="A2:XFD1048576"'))
    (draft,) = read(Path("a.xlsx"), data).tables
    assert len(draft.rows) == 2


def test_rows_beyond_the_last_of_a_sheet_are_refused() -> None:
    data = workbook([["a", "b"], ["x", 1]])
    data = changed(data, "xl/worksheets/sheet1.xml", lambda xml: xml.replace(b'r="2"', b'r="99999999999"'))
    with pytest.raises(ReadError, match="its cells lie too far apart"):
        read(Path("a.xlsx"), data)


def test_more_cells_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.readers.workbooks.MAX_CELLS", 5)
    with pytest.raises(ReadError, match="a workbook of more than 5 filled cells"):
        extract([["a", "b"], [1, 2], [3, 4]])


def test_an_archive_that_unfolds_to_too_much_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = changed(workbook([["a"], [1]]), "xl/bomb.xml", lambda _: b"<a/>" + b" " * 30_000_000)
    assert len(data) < 100_000
    monkeypatch.setattr("openpyxl.load_workbook", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(ReadError, match="it may be made to fill the memory"):
        read(Path("a.xlsx"), data)


BOMB = b"""<!DOCTYPE x [<!ENTITY a "0123456789"><!ENTITY b "&a;&a;&a;&a;">]>"""
OUTSIDE = b"""<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>"""


@pytest.mark.parametrize("declaration", [BOMB, OUTSIDE])
@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "docProps/core.xml", "[Content_Types].xml"])
def test_entities_are_refused_in_every_part(part: str, declaration: bytes) -> None:
    def declare(xml: bytes) -> bytes:
        head, root = (xml[: xml.index(b"?>") + 2], xml[xml.index(b"?>") + 2 :]) if xml.startswith(b"<?xml") else (b"", xml)
        return head + declaration + root

    with pytest.raises(ReadError, match="declares a document type: not read"):
        read(Path("a.xlsx"), changed(workbook([["a"], [1]]), part, declare))


def test_entities_are_refused_in_utf16_too() -> None:
    data = workbook([["a"], [1]])
    declared = ('<?xml version="1.0" encoding="UTF-16"?>' + BOMB.decode() + "<worksheet/>").encode("utf-16")
    with pytest.raises(ReadError, match="declares a document type"):
        read(Path("a.xlsx"), changed(data, "xl/worksheets/sheet1.xml", lambda _: declared))


def test_links_to_other_files_are_not_followed() -> None:
    link = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/externalLinkPath" '
        b'Target="https://evil.example/x.xlsx" TargetMode="External"/></Relationships>'
    )
    data = changed(workbook([["a", "b"], ["x", 1]]), "xl/externalLinks/_rels/externalLink1.xml.rels", lambda _: link)
    assert list(read(Path("a.xlsx"), data).tables[0].rows) == [("x", 1)]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 and nothing", "broken archive"),
        (packages._OLE + bytes(600) + packages._ENCRYPTED, "encrypted: needs a password"),
        (packages._OLE + bytes(600), "an old Office file"),
    ],
)
def test_what_cannot_be_opened_gives_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        read(Path("a.xlsx"), data)


def test_damaged_workbooks_only_give_reasons() -> None:
    data = workbook([["name", "n"], *([f"x{n}", n] for n in range(50))])
    reasons = 0
    for place in range(0, len(data), 61):
        for broken in (data[:place], data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]):
            try:
                read(Path("a.xlsx"), broken or b"P")
            except ReadError:
                reasons += 1
    assert reasons > 50


def test_a_sheet_of_a_diagonal_is_refused_when_it_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MAX_PLACES", 1_000)
    with pytest.raises(ReadError, match="lie too far apart"):
        extract([], lambda sheet: [sheet.cell(n, n, "x") for n in range(1, 60)] and None)


@pytest.mark.evals
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("2023-half-year-analyses-by-segment", "3. Analyses by segment"),
        ("emoji", "🤠😅"),
        ("eng_spa", "Todos los seres humanos nacen libres"),
        ("mid_test", "6ff4173b-42a5-4784-9b19-f49caff4d93d"),
        ("more-than-1k-cells", "x"),
        ("stanley-cups", "Maple Leafs"),
        ("vodafone", "Financial performance"),
    ],
)
def test_the_words_of_real_workbooks_are_found(evals: Path, name: str, words: str) -> None:
    file = evals / "documents" / "office" / f"{name}.xlsx"
    found = read(file, file.read_bytes())
    assert words in found.text or any(words in row for draft in found.tables for row in draft.rows)


@pytest.mark.evals
def test_a_real_workbook_with_a_password_gives_the_reason(evals: Path) -> None:
    file = evals / "documents" / "office" / "password_protected.xlsx"
    with pytest.raises(ReadError, match="encrypted: needs a password"):
        read(file, file.read_bytes())
