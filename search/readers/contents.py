"""What a file of a table's suffix holds where its content says otherwise for certain: exports often have the wrong suffix.

In: bytes and a suffix. Out: a format's name, or None where the suffix may be believed. Only the suffixes of tables are doubted.
"""

from __future__ import annotations

import zipfile
from io import BytesIO

from search.readers import formats
from search.readers.encodings import decode

_ZIP = b"PK\x03\x04"
_PARQUET = b"PAR1"
_OPENDOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
_BOOKS = frozenset({".xls", *(suffix for suffix, name in formats.TABLES.items() if name in {"xlsx", "ods"})})
_SAMPLE = 65_536


def format_in_spite_of(suffix: str, data: bytes) -> str | None:
    """The format of tables that the content has, where the suffix names another one of them."""
    named = formats.TABLES.get(suffix)
    if named is None and suffix not in _BOOKS:
        return None
    held = _held(suffix, data)
    return None if held == named else held


def _held(suffix: str, data: bytes) -> str | None:
    if data.startswith(_ZIP):
        return _archived(data)
    if data.startswith(_PARQUET) and data.endswith(_PARQUET) and len(data) > 2 * len(_PARQUET):
        return "parquet"
    return "csv" if suffix in _BOOKS and _is_delimited(data) else None


def _archived(data: bytes) -> str | None:
    """Which kind of workbook an archive is; None where it is another one or cannot be opened, which its reader tells."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = frozenset(archive.namelist())
            if "xl/workbook.xml" in names:
                return "xlsx"
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 100 and archive.read("mimetype") == _OPENDOCUMENT:
                return "ods"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError, EOFError):
        return None
    return None


def _is_delimited(data: bytes) -> bool:
    """Whether bytes are text in lines of cells; HTML and XML, which some programs call .xls, are none."""
    decoded = decode(data[:_SAMPLE])
    if decoded is None or "NUL" in decoded.note:
        return False
    text = decoded.text.lstrip("\ufeff \t\r\n")
    return not text.startswith("<") and any(sign in text for sign in ",;\t|") and any(sign in text for sign in "\r\n")
