"""From a file's bytes to its text: one module per family of formats, chosen by suffix.

A reader is a function (data, path) -> Extract; a new one is a line in FORMATS. Readers never open files, and everything that
they return is cleaned (`search.readers.cleaning`). Libraries that parse are imported when the first file needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from search.models import Extract
from search.readers import formats, html, markdown, pdf, tabular, text

__all__ = ["FORMATS", "Reader", "format_by_name", "read"]

Reader = Callable[[bytes, Path], Extract]

FORMATS: Mapping[str, Reader] = {
    **dict.fromkeys(formats.TEXTS, text.read),
    **dict.fromkeys(formats.MARKDOWN, markdown.read),
    **dict.fromkeys(formats.HTML, html.read),
    **dict.fromkeys(formats.XML, html.read_xml),
    **dict.fromkeys(formats.PDF, pdf.read),
    **dict.fromkeys(formats.DELIMITED, tabular.read),
}
_BINARY_STARTS = (
    *(b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF"),
    *(b"SQLite format 3\0", b"\xd0\xcf\x11\xe0", b"\xca\xfe\xba\xbe", b"OggS", b"fLaC", b"ID3", b"RIFF", b"MZ\x90"),
)


def read(path: Path, data: bytes) -> Extract:
    """What is in a file, given its content; `path` is used for its name only.

    A file that is fine but has no text, or whose format is not read yet, comes back with the reason in `no_text`. Raises
    ReadError with a short reason when it is broken.
    """
    suffix = formats.suffix_of(path)
    if suffix in formats.TABLES:
        return _without_text(suffix, "table, not read yet")
    if suffix in formats.LATER:
        return _without_text(suffix, f"no reader for {suffix} yet")
    if suffix in formats.BINARY:
        return _without_text(suffix, f"binary: {formats.BINARY[suffix]}")
    reader = FORMATS.get(suffix) or _sniffed(data, path)
    if not data:
        return Extract(text="", format=format_by_name(path) or "text", no_text="empty file")
    if reader is None:
        return _without_text(suffix, f"binary, no reader for {suffix}" if suffix else "binary, no reader for it")
    return reader(data, path)


def format_by_name(path: Path) -> str | None:
    """The format that a file's name promises, where its content cannot tell; its suffix where that is no known one."""
    suffix = formats.suffix_of(path)
    families = (("markdown", formats.MARKDOWN), ("html", formats.HTML), ("xml", formats.XML), ("pdf", formats.PDF))
    known = next((name for name, suffixes in families if suffix in suffixes), None)
    return (
        known
        or formats.NAMES.get(path.name.lower())
        or formats.DELIMITED.get(suffix)
        or formats.TEXTS.get(suffix)
        or suffix.removeprefix(".")
        or None
    )


def _without_text(suffix: str, reason: str) -> Extract:
    return Extract(text="", format=suffix.removeprefix(".") or "binary", no_text=reason)


def _sniffed(data: bytes, path: Path) -> Reader | None:
    """The reader for a file with an unknown suffix or none, by its content; None for binary data."""
    if path.name.lower() in formats.NAMES:
        return text.read
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"%PDF-"):
        return pdf.read
    if start[:100].lower().startswith((b"<!doctype html", b"<html")):
        return html.read
    if start.startswith(b"<?xml"):
        return html.read_xml
    if data.startswith(_BINARY_STARTS) or text.is_binary(data):
        return None
    return text.read
