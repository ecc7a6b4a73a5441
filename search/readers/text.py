"""Plain text and source code: the file's own lines, only decoded and cleaned, so that line numbers are those of the file."""

from __future__ import annotations

from pathlib import Path

from search.models import Extract
from search.readers.cleaning import clean
from search.readers.encodings import decode
from search.readers.formats import text_format


def read(data: bytes, path: Path) -> Extract:
    """Text as it stands in the file. Binary data and white space alone give an empty text and the reason in `no_text`."""
    decoded = decode(data)
    if decoded is None:
        return Extract(text="", format=text_format(path, ""), no_text="binary: the content is not text")
    text = clean(decoded.text)
    name = text_format(path, text)
    if not text.strip():
        return Extract(text="", format=name, encoding=decoded.encoding, no_text="empty: only white space")
    return Extract(text=text, format=name, encoding=decoded.encoding, notes=(decoded.note,) if decoded.note else ())


def is_binary(data: bytes) -> bool:
    """Whether bytes of unknown kind are better left alone: no encoding explains them, or NUL bytes stand in them."""
    decoded = decode(data)
    return decoded is None or "NUL" in decoded.note
