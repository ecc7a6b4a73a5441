"""A table under the wrong suffix of a table is read for what it is, and that is said; other suffixes are not doubted."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from search.errors import ReadError
from search.readers import read

CSV = "Straße;Menge\nWall;1,5\nHof;2,5\n"
openpyxl = pytest.importorskip("openpyxl")


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in (["item", "n"], ["x", 1], ["y", 2]):
        book.active.append(row)
    out = BytesIO()
    book.save(out)
    return out.getvalue()


def archive(**parts: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.xls", "a.ods", "a.db"])
def test_a_workbook_is_read_whatever_its_suffix_among_tables(name: str) -> None:
    found = read(Path(name), workbook())
    assert (found.format, list(found.tables[0].rows)) == ("xlsx", [("x", 1), ("y", 2)])
    assert found.notes == ("read as XLSX in spite of its name",)


@pytest.mark.parametrize("name", ["a.xlsx", "a.XLS", "a.xlsm", "a.ods"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimited_text_is_read_under_the_suffix_of_a_workbook(name: str, encoding: str) -> None:
    found = read(Path(name), CSV.encode(encoding))
    assert (found.format, list(found.tables[0].rows)) == ("csv", [("Wall", 1.5), ("Hof", 2.5)])
    assert found.notes[0] == "read as CSV in spite of its name"


def test_a_name_that_is_right_is_no_remark() -> None:
    assert read(Path("a.xlsx"), workbook()).notes == ()
    assert read(Path("a.csv"), CSV.encode()).notes == ()


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.bin"])
def test_suffixes_of_other_families_are_not_doubted(name: str) -> None:
    assert read(Path(name), workbook()).tables == ()


@pytest.mark.parametrize("data", [b"<html><table><tr><td>a, b</td></tr>\n</table></html>", b"", b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_what_is_no_delimited_text_is_left_to_what_the_suffix_says(data: bytes) -> None:
    assert read(Path("a.xls"), data).no_text == "no reader for .xls yet"


def test_an_archive_that_is_no_workbook_is_told_as_before() -> None:
    assert read(Path("a.csv"), archive(readme=b"x")).tables == ()
    with pytest.raises(ReadError, match="broken"):
        read(Path("a.xlsx"), archive(readme=b"x"))
