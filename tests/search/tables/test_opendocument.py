"""OpenDocument spreadsheets: typed cells, repeats, merged areas, units, bounds."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from search.errors import ReadError
from search.models import Extract
from search.readers import opendocument, read
from search.tables import TableDraft

HEAD = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:calcext="urn:org:documentfoundation:names:calc">'
    '<office:automatic-styles><style:style style:name="gone" style:family="table"><style:table-properties table:display="false"/>'
    "</style:style></office:automatic-styles><office:body><office:spreadsheet>"
)
TAIL = "</office:spreadsheet></office:body></office:document-content>"
META = (
    '<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"><office:meta><dc:title>Depot sizes</dc:title>'
    "<meta:initial-creator>Owen Pryce</meta:initial-creator><dc:creator>Somebody</dc:creator>"
    "<meta:creation-date>2026-02-01T10:00:00</meta:creation-date><dc:date>2026-03-01T10:00:00</dc:date></office:meta>"
    "</office:document-meta>"
)


def packed(content: str, **parts: str) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def text(words: str, attributes: str = "") -> str:
    return f'<table:table-cell office:value-type="string" {attributes}><text:p>{words}</text:p></table:table-cell>'


def number(value: float, shown: str = "", attributes: str = "", kind: str = "float") -> str:
    return (
        f'<table:table-cell office:value-type="{kind}" office:value="{value}" {attributes}>'
        f"<text:p>{shown or value}</text:p></table:table-cell>"
    )


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"


def sheet(*rows: str, name: str = "Sheet1", attributes: str = "") -> str:
    return f'<table:table table:name="{name}" {attributes}>{"".join(rows)}</table:table>'


def extract(*found: str, **parts: str) -> Extract:
    return read(Path("a.ods"), packed(HEAD + "".join(found) + TAIL, **parts))


def table(*rows: str) -> TableDraft:
    (draft,) = extract(sheet(*rows)).tables
    return draft


HEADER = row(text("name"), text("v"))
NOTHING = '<table:table-cell table:number-columns-repeated="16000"/>'


@pytest.mark.parametrize(
    ("cell", "value", "kind", "unit"),
    [
        (number(12), 12, "integer", ""),
        (number(1.5), 1.5, "real", ""),
        (number(12.5, "12,50 €", 'office:currency="EUR"', "currency"), 12.5, "real", "EUR"),
        (number(0.12, "12 %", kind="percentage"), 12.0, "real", "%"),
        (number(31.5, "31.5 ms"), 31.5, "real", "ms"),
        (number(412, "00412"), "00412", "text", ""),
        ('<table:table-cell office:value-type="date" office:date-value="2026-01-31"/>', "2026-01-31", "date", ""),
        (
            '<table:table-cell office:value-type="date" office:date-value="2026-01-31T10:30:00"/>',
            "2026-01-31T10:30:00",
            "datetime",
            "",
        ),
        ('<table:table-cell office:value-type="time" office:time-value="PT09H15M00S"/>', "09:15:00", "time", ""),
        ('<table:table-cell office:value-type="time" office:time-value="PT36H30M00S"/>', 36.5, "real", "h"),
        ('<table:table-cell office:value-type="boolean" office:boolean-value="true"/>', 1, "boolean", ""),
        (text('one<text:s text:c="2"/>two</text:p><text:p>three<text:tab/>'), "one  two\nthree", "text", ""),
    ],
)
def test_a_cell_says_its_type_and_unit(cell: str, value: object, kind: str, unit: str) -> None:
    draft = table(HEADER, row(text("x"), cell), row(text("y"), cell))
    got = draft.rows[0][1]
    assert (got.strip() if isinstance(got, str) else got, draft.columns[1].type, draft.columns[1].unit) == (value, kind, unit)


def test_every_sheet_is_a_table_and_a_hidden_one_is_told() -> None:
    found = extract(
        sheet(HEADER, row(text("x"), number(1)), name="Depots"),
        sheet(row(NOTHING, attributes='table:number-rows-repeated="1048576"'), name="Empty"),
        sheet(HEADER, row(text("y"), number(2)), name="Old", attributes='table:style-name="gone"'),
    )
    assert [(draft.label, list(draft.rows)) for draft in found.tables] == [("Depots", [("x", 1)]), ("Old", [("y", 2)])]
    assert "a hidden sheet" in found.tables[1].notes
    assert found.format == "ods"


def test_repeated_cells_and_rows_are_unfolded_and_empty_ones_are_not() -> None:
    repeated = row(text("x"), number(7), NOTHING, attributes='table:number-rows-repeated="3"')
    far = row(NOTHING, attributes='table:number-rows-repeated="1048000"')
    assert list(table(HEADER, repeated, far).rows) == [("x", 7)] * 3


def test_filled_cells_that_repeat_without_end_are_refused() -> None:
    endless = row(text("x", 'table:number-columns-repeated="16384"'), attributes='table:number-rows-repeated="1048576"')
    with pytest.raises(ReadError, match="a workbook of more than 2000000 filled cells"):
        table(HEADER, endless)


def test_merged_cells_are_filled() -> None:
    covered = "<table:covered-table-cell/>"
    draft = table(HEADER, row(text("x", 'table:number-rows-spanned="2"'), number(1)), row(covered, number(2)))
    assert list(draft.rows) == [("x", 1), ("x", 2)]
    assert "1 merged cell was filled" in draft.notes


def test_comments_of_cells_are_not_their_text() -> None:
    noted = text("x</text:p><office:annotation><text:p>secret</text:p></office:annotation><text:p>")
    assert table(HEADER, row(noted, number(1))).rows[0][0] in {"x", "x\n"}


def test_errors_and_formulas_without_a_value_are_null_and_told() -> None:
    wrong = (
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error">'
        "<text:p>#DIV/0!</text:p></table:table-cell>"
    )
    draft = table(
        HEADER, row(text("x"), number(1)), row(text("y"), wrong), row(text("z"), '<table:table-cell table:formula="of:=A1"/>')
    )
    assert [cells[1] for cells in draft.rows] == [1, None, None]
    assert "1 cell holds an error (#DIV/0!): left empty" in draft.notes
    assert "1 formula has no stored value: left empty" in draft.notes


def test_title_author_and_dates_come_from_the_file() -> None:
    found = extract(sheet(HEADER, row(text("x"), number(1))), **{"meta.xml": META})
    assert (found.title, found.author, found.created, found.modified) == (
        "Depot sizes",
        "Owen Pryce",
        "2026-02-01T10:00:00",
        "2026-03-01T10:00:00",
    )


def test_an_encrypted_file_and_one_that_declares_entities_are_refused() -> None:
    with pytest.raises(ReadError, match="encrypted: needs a password"):
        extract(sheet(HEADER), **{"META-INF/manifest.xml": "<manifest><encryption-data/></manifest>"})
    with pytest.raises(ReadError, match=r"content.xml declares a document type"):
        read(Path("a.ods"), packed('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'))


@pytest.mark.parametrize("written", ["PT", "P1D", "25:00"])
def test_a_time_that_is_none_is_its_shown_text(written: str) -> None:
    cell = f'<table:table-cell office:value-type="time" office:time-value="{written}x"><text:p>soon</text:p></table:table-cell>'
    assert table(HEADER, row(text("x"), cell)).rows[0][1] == "soon"


def test_durations_are_hours() -> None:
    assert opendocument._time("-PT30M") == (-0.5, "h")
