"""From a file's bytes to its text: one module per family of formats, chosen by suffix.

A reader is a function (data, path) -> Extract; a new one is a line in FORMATS. Readers never open files, and everything that
they return is cleaned (`search.readers.cleaning`). Libraries that parse are imported when the first file needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from search.models import Extract
from search.readers import contents, formats, html, markdown, pdf, text

__all__ = ["FORMATS", "Reader", "format_by_name", "read"]

Reader = Callable[[bytes, Path], Extract]


def _of_module(name: str) -> Reader:
    """The reader of a module that is imported with the first file of its kind: those of tables need `search.tables` first."""

    def read_with_module(data: bytes, path: Path) -> Extract:
        extract: Extract = import_module(f"search.readers.{name}").read(data, path)
        return extract

    return read_with_module


_DATABASES = _of_module("databases")
_TABLES: Mapping[str, Reader] = {
    **dict.fromkeys(("csv", "tsv"), _of_module("tabular")),
    "xlsx": _of_module("workbooks"),
    "ods": _of_module("opendocument"),
    "parquet": _of_module("parquet"),
    "sqlite": _DATABASES,
}
FORMATS: Mapping[str, Reader] = {
    **dict.fromkeys(formats.TEXTS, text.read),
    **dict.fromkeys(formats.MARKDOWN, markdown.read),
    **dict.fromkeys(formats.HTML, html.read),
    **dict.fromkeys(formats.XML, html.read_xml),
    **dict.fromkeys(formats.PDF, pdf.read),
    **{suffix: _of_module("records") for suffix, name in formats.TEXTS.items() if name == "json"},
    **{suffix: _TABLES[name] for suffix, name in formats.TABLES.items()},
}
_BINARY_STARTS = (
    *(b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF"),
    *(b"\xd0\xcf\x11\xe0", b"\xca\xfe\xba\xbe", b"OggS", b"fLaC", b"ID3", b"RIFF", b"MZ\x90"),
)


def read(path: Path, data: bytes) -> Extract:
    """What is in a file, given its content; `path` is used for its name only.

    A file that is fine but has no text, or whose format is not read yet, comes back with the reason in `no_text`. Raises
    ReadError with a short reason when it is broken.
    """
    suffix = formats.suffix_of(path)
    held = contents.format_in_spite_of(suffix, data)
    if held is not None:
        extract = _TABLES[held](data, path)
        return replace(extract, notes=(f"read as {held.upper()} in spite of its name", *extract.notes))
    reader = _DATABASES if data.startswith(formats.SQLITE) else FORMATS.get(suffix)
    reason = None if reader else _known_reason(suffix)
    if reason is not None:
        return _without_text(suffix, reason)
    reader = reader or _sniffed(data, path)
    if not data:
        return Extract(text="", format=format_by_name(path) or "text", no_text="empty file")
    if reader is None:
        return _without_text(suffix, f"binary, no reader for {suffix}" if suffix else "binary, no reader for it")
    return reader(data, path)


def _known_reason(suffix: str) -> str | None:
    """Why nothing is read of the files with this suffix, whatever they hold."""
    if suffix in formats.LATER:
        return f"no reader for {suffix} yet"
    return f"binary: {formats.BINARY[suffix]}" if suffix in formats.BINARY else None


def format_by_name(path: Path) -> str | None:
    """The format that a file's name promises, where its content cannot tell; its suffix where that is no known one."""
    suffix = formats.suffix_of(path)
    families = (("markdown", formats.MARKDOWN), ("html", formats.HTML), ("xml", formats.XML), ("pdf", formats.PDF))
    known = next((name for name, suffixes in families if suffix in suffixes), None)
    known = known or formats.NAMES.get(path.name.lower()) or formats.TEXTS.get(suffix) or formats.TABLES.get(suffix)
    return known or suffix.removeprefix(".") or None


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
