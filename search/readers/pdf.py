"""PDF through pypdf: the text of each page, page starts, and what the information dictionary says.

Text in annotations and form fields is not read. pypdf bounds what a stream may unfold to (75 MB each) and how deep objects
nest; here the number of pages and the size of the text are bounded too.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from search.errors import ReadError
from search.models import Extract
from search.readers.cleaning import clean, one_line

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 5_000
MAX_CHARACTERS = 50_000_000
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:-|\u2010|\xad)[ \t]*\n[ \t]*(?=([^\W\d_]+))")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_SPACES = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\n{3,}")
_DATE = re.compile(r"\s*(?:D:)?\s*(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?")
_PLACEHOLDERS = frozenset({"untitled", "anonymous", "unspecified", "unknown", "untitled document", "untitled spreadsheet", "none"})
_FROM_PRINTER = re.compile(r"^Microsoft (?:Word|Excel|PowerPoint) - |\.(?:docx?|xlsx?|pptx?|pdf|tex|dvi|odt|rtf)$", re.IGNORECASE)


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 (one signature for all readers)
    """Page texts joined by an empty line. Raises ReadError when the file is too broken to open or to yield any page.

    Encrypted files open when their user password is empty; otherwise, and for scans, `no_text` says what they need.
    """
    with _quiet():
        try:
            return _read(data)
        except Exception as error:  # pypdf's parsers index, convert and recurse on what they find, and let any error through
            raise ReadError(f"broken PDF: {_reason(error)}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pypdf silent: every mended oddity of a file is a log line or a warning to it, and noise on the user's terminal."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _reason(error: BaseException) -> str:
    return one_line(str(error), 120) or type(error).__name__


def _read(data: bytes) -> Extract:
    from pypdf import PasswordType

    reader = _opened(data)
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        return Extract(text="", format="pdf", no_text="encrypted: needs a password")
    pages, notes = _pages(reader)
    starts: list[int] = []
    position = 0
    for page in pages:
        starts.append(position)
        position += len(page) + 2
    count, blank = len(pages), sum(not page for page in pages)
    no_text = None
    if blank == count:
        no_text = f"scanned: no text layer ({count} page{'s' * (count != 1)})" if count else "empty: no pages"
    elif blank:
        notes.append(f"{blank} of {count} pages {'has' if blank == 1 else 'have'} no text")
    properties = _properties(reader)
    return Extract(
        text="" if no_text else "\n\n".join(pages),
        format="pdf",
        title=_spoken(properties.get("/Title")),
        author=_spoken(properties.get("/Author")),
        language=_language(reader),
        tags=tuple(dict.fromkeys(tag for tag in map(one_line, re.split(r"[,;]", properties.get("/Keywords", ""))) if tag)),
        created=iso_date(properties.get("/CreationDate", "")),
        modified=iso_date(properties.get("/ModDate", "")),
        page_starts=tuple(starts) if not no_text else (0,) * count,
        notes=tuple(notes),
        no_text=no_text,
    )


def _opened(data: bytes) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import PdfReadError

    try:
        return PdfReader(BytesIO(data), strict=False)
    except PdfReadError:
        if b" obj" not in data:
            raise
        # A file cut short has lost the pointer to its table of objects: given a wrong one, pypdf looks for them itself.
        return PdfReader(BytesIO(data + b"\nstartxref\n0\n%%EOF\n"), strict=False)


def _pages(reader: PdfReader) -> tuple[list[str], list[str]]:
    """The text of every page, and notes on pages that failed or were left out. Raises when every page fails."""
    total = len(reader.pages)
    texts: list[str] = []
    failed: list[Exception] = []
    size = 0
    for number in range(min(total, MAX_PAGES)):
        try:
            texts.append(tidy(reader.pages[number].extract_text()))
        except Exception as error:  # noqa: BLE001 - as in `read`: one page must not cost the others
            texts.append("")
            failed.append(error)
        size += len(texts[-1])
        if size > MAX_CHARACTERS:
            break
    if failed and len(failed) == len(texts):
        raise failed[0]
    notes = []
    if failed:
        notes.append(f"{len(failed)} of {total} pages could not be read: {_reason(failed[0])}")
    if len(texts) < total:
        notes.append(f"only the first {len(texts)} of {total} pages were read")
    return texts, notes


def tidy(text: str) -> str:
    """One page as it reads: ligatures spelt out, words divided at line ends joined, runs of spaces reduced to one."""
    text = clean(text).translate(_LIGATURES)
    text = _SPACES.sub(" ", text).replace(" \n", "\n").replace("\n ", "\n")
    parts: list[str] = []
    position = 0
    for match in _HYPHEN.finditer(text):
        before = _LAST_WORD.search(text, max(0, match.start() - 40), match.start())
        # A capital or a digit on either side speaks for a hyphen that belongs there: "Anglo-\nSaxon", "X-\nray".
        if before and before[0].islower() and match[1].islower():
            parts.append(text[position : match.start()])
            position = match.end()
    return _BLANK_LINES.sub("\n\n", "".join([*parts, text[position:]])).strip()


def _properties(reader: PdfReader) -> dict[str, str]:
    """The information dictionary as text; a broken one is as good as none."""
    try:
        items = dict(reader.metadata or {})
    except Exception:  # noqa: BLE001 - as in `read`: properties are not worth the text
        return {}
    properties: dict[str, str] = {}
    for name, value in items.items():
        raw = value.get_object() if hasattr(value, "get_object") else value
        # Bytes: pypdf found neither of the two encodings that PDF knows.
        properties[str(name)] = raw.decode("utf-8", errors="replace") if isinstance(raw, bytes) else str(raw)
    return properties


def _spoken(value: str | None) -> str | None:
    """A title or author, unless it is what a program writes where nobody filled anything in."""
    text = _FROM_PRINTER.sub("", one_line(value or ""))
    return None if text.strip("()").lower() in _PLACEHOLDERS else text or None


def _language(reader: PdfReader) -> str | None:
    try:
        value = reader.root_object.get("/Lang")
        text = str(value.get_object()) if value is not None else ""
    except Exception:  # noqa: BLE001 - as in `read`
        return None
    match = re.match(r"([A-Za-z]{2,3})(?:[-_]|$)", text.strip())
    return match[1].lower() if match else None


def iso_date(text: str) -> str | None:
    """The day in a PDF date such as "D:20230516172840Z00'00'"; None when there is none or it is not in the calendar."""
    match = _DATE.match(text)
    if not match:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).isoformat()
    except ValueError:
        return None
