"""PDF: page texts and starts, properties, and honest reasons for what cannot be read."""

from __future__ import annotations

import contextlib
import logging
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, TextStringObject

from search.errors import ReadError
from search.models import Extract
from search.readers import pdf, read


def make_pdf(*pages: str, password: str | None = None, owner: str = "owner", **properties: str) -> bytes:
    """A PDF with one page for each text; its lines are drawn one below the other, "" gives a page that draws nothing."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(612, 792)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})})
        stream = DecodedStreamObject()
        drawn = "".join(f"({line}) Tj 0 -20 Td " for line in text.split("\n") if line)
        stream.set_data(f"BT /F1 12 Tf 72 700 Td {drawn}ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    if "language" in properties:
        writer.root_object[NameObject("/Lang")] = TextStringObject(properties.pop("language"))
    if properties:
        writer.add_metadata({f"/{name}": value for name, value in properties.items()})
    if password is not None:
        writer.encrypt(password, owner, algorithm="AES-256")
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def read_pdf(data: bytes) -> Extract:
    return read(Path("paper.pdf"), data)


def test_pages_are_joined_and_their_starts_kept() -> None:
    extract = read_pdf(make_pdf("First page\nsecond line", "Second page", "Third"))
    assert extract.text == "First page\nsecond line\n\nSecond page\n\nThird"
    assert [extract.text[start:].split()[0] for start in extract.page_starts] == ["First", "Second", "Third"]
    assert extract.format == "pdf"


def test_properties_come_from_the_information_dictionary_and_the_catalogue() -> None:
    extract = read_pdf(
        make_pdf(
            "Text",
            Title="Microsoft Word - Report.docx",
            Author="Ada",
            CreationDate="D:20230516172840Z00'00'",
            ModDate="D:202310",
            Keywords="a, b; c",
            language="de-CH",
        )
    )
    assert (extract.title, extract.author, extract.language, extract.tags) == ("Report", "Ada", "de", ("a", "b", "c"))
    assert (extract.created, extract.modified) == ("2023-05-16", "2023-10-01")


def test_placeholders_of_programs_are_no_titles() -> None:
    extract = read_pdf(make_pdf("Text", Title="untitled", Author="(anonymous)"))
    assert (extract.title, extract.author) == (None, None)


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("D:20240229", "2024-02-29"),
        ("D:20230229", None),
        ("2024-03-05", "2024-03-05"),
        ("", None),
        ("yesterday", None),
        ("D:2024", "2024-01-01"),
    ],
)
def test_a_pdf_date_becomes_a_day_of_the_calendar_or_nothing(written: str, day: str | None) -> None:
    assert pdf.iso_date(written) == day


def test_pages_without_text_are_counted() -> None:
    extract = read_pdf(make_pdf("One", "", "Three"))
    assert extract.notes == ("1 of 3 pages has no text",)
    assert extract.page_starts == (0, 5, 7)
    assert extract.text[7:] == "Three"


def test_a_scan_says_that_it_has_no_text_layer() -> None:
    extract = read_pdf(make_pdf("", "", Title="Scan of a letter"))
    assert (extract.text, extract.no_text, len(extract.page_starts)) == ("", "scanned: no text layer (2 pages)", 2)
    assert extract.title == "Scan of a letter"


def test_an_empty_user_password_opens_and_another_is_asked_for() -> None:
    assert read_pdf(make_pdf("Open to all", password="")).text == "Open to all"
    locked = read_pdf(make_pdf("For few", password="sesame"))
    assert (locked.text, locked.no_text) == ("", "encrypted: needs a password")


@pytest.mark.parametrize(
    "data", [b"%PDF-1.7\n", b"%PDF-1.4\n%%EOF", b"no pdf at all", b"\0" * 5000, b"%PDF-1.7\n1 0 obj\n<< /Type"]
)
def test_a_broken_file_is_an_error_with_a_short_reason(data: bytes) -> None:
    with pytest.raises(ReadError, match=r"^broken PDF: ") as caught:
        read_pdf(data)
    assert len(str(caught.value)) < 150


def test_junk_before_the_header_and_a_broken_xref_are_survived() -> None:
    good = make_pdf("Still here")
    assert read_pdf(b"\r\njunk\0junk" + good).text == "Still here"
    assert read_pdf(good.replace(b"startxref", b"startxxxx")).text == "Still here"


def test_every_cut_of_a_file_is_read_or_refused_and_nothing_else() -> None:
    good = make_pdf("Some words", "More words", Title="T")
    for end in range(1, len(good), 23):
        with contextlib.suppress(ReadError):
            assert read_pdf(good[:end]).text in {"", "Some words", "Some words\n\nMore words"}


def test_one_bad_page_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from pypdf import PageObject

    original = PageObject.extract_text

    def fails_on_the_second(page: PageObject) -> str:
        text = original(page)
        if text.startswith("Two"):
            raise KeyError("/Font")
        return text

    monkeypatch.setattr(PageObject, "extract_text", fails_on_the_second)
    extract = read_pdf(make_pdf("One", "Two", "Three"))
    assert extract.text == "One\n\n\n\nThree"
    assert extract.notes == ("1 of 3 pages could not be read: '/Font'", "1 of 3 pages has no text")


def test_the_number_of_pages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 2)
    extract = read_pdf(make_pdf("One", "Two", "Three"))
    assert extract.text == "One\n\nTwo"
    assert extract.notes == ("only the first 2 of 3 pages were read",)


@pytest.mark.parametrize(
    ("raw", "read_as"),
    [
        ("infor-\nmation is", "information is"),
        ("Anglo-\nSaxon", "Anglo-\nSaxon"),
        ("the X-\nray", "the X-\nray"),
        ("pages 3-\n4", "pages 3-\n4"),
        ("schö-\nne Grüße", "schöne Grüße"),
        ("eﬃcient ﬁle", "efficient file"),
        ("a   b \n  c", "a b\nc"),
        ("a\n\n\n\nb", "a\n\nb"),
    ],
)
def test_lines_read_as_they_were_meant(raw: str, read_as: str) -> None:
    assert pdf.tidy(raw) == read_as


def test_whatever_pypdf_raises_is_the_reason_of_that_file() -> None:
    with pytest.raises(ReadError, match="broken PDF: "):
        read_pdf(make_pdf("Words").replace(b"/Contents", b"/Filter/Fl /Contents").replace(b"/Length", b"/Filter/Fl/Length"))


def test_nothing_reaches_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger("pypdf").level
    read_pdf(b"junk" + make_pdf("Words").replace(b"startxref", b"startxxxx"))
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("pypdf").level == level
