"""Office files are zip archives of XML: opened only after a look at what they would unfold to and what their XML declares.

expat, which reads the XML here and inside openpyxl, fetches nothing by itself; but entities can multiply in memory, and another
XML library that openpyxl picks up where it is installed does fetch. Office files need no document type, so none is let in.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from xml.parsers import expat

from search.errors import ReadError
from search.readers.cleaning import one_line

MAX_UNFOLDED = 500_000_000
MAX_RATIO = 300
MAX_PARTS = 20_000
_SMALL = 20_000_000  # bytes: a small archive may unfold by any ratio
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_XML = (".xml", ".rels", ".vml")
_CHUNK = 65_536
_PLACEHOLDERS = frozenset(("", "openpyxl", "untitled", "anonymous", "unknown", "user", "apache poi"))


@contextmanager
def opened(data: bytes) -> Iterator[zipfile.ZipFile]:
    """The archive, checked. Raises ReadError when it is none, is encrypted, unfolds to too much or declares a document type."""
    if data.startswith(_OLE):
        raise ReadError("encrypted: needs a password" if _ENCRYPTED in data else "not what its name says: an old Office file")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            _check_sizes(archive, len(data))
            for part in archive.namelist():
                if part.lower().endswith(_XML):
                    _check_prolog(archive, part)
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError) as error:
        raise ReadError(f"broken archive: {one_line(str(error), 80)}") from error


def walk(content: bytes, handlers: Handlers) -> None:
    """Parse XML, telling the handlers of each element by its local name. Raises ReadError where it is not well-formed."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: handlers.start(
        _local(name), {_local(key): value for key, value in attributes.items()}
    )
    parser.EndElementHandler = lambda name: handlers.end(_local(name))
    parser.CharacterDataHandler = handlers.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ReadError(f"broken XML: {one_line(str(error), 80)}") from error


class Handlers:
    """What `walk` calls; each does nothing unless it is overridden."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Text stands here; a long one may come in pieces."""


@dataclass(frozen=True, slots=True)
class Properties:
    """What a file says of itself; None where it does not."""

    title: str | None = None
    author: str | None = None
    created: str | None = None
    modified: str | None = None


def properties(archive: zipfile.ZipFile) -> Properties:
    """The title, author and dates of an Office or OpenDocument file."""
    collected = _Collected()
    part = next((name for name in ("docProps/core.xml", "meta.xml") if name in archive.namelist()), None)
    if part is not None:
        walk(archive.read(part), collected)
    found = collected.found
    return Properties(
        title=_spoken(found.get("title")),
        author=_spoken(found.get("initial-creator") or found.get("creator")),
        created=found.get("created") or found.get("creation-date"),
        modified=found.get("modified") or found.get("date"),
    )


class _Collected(Handlers):
    """The text of each element, by its name."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._name = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - as the base has it
        self._name = name

    def text(self, text: str) -> None:
        self.found[self._name] = self.found.get(self._name, "") + text

    def end(self, name: str) -> None:  # noqa: ARG002 - as the base has it
        self._name = ""


def _spoken(value: str | None) -> str | None:
    """A title or author, unless it is what a program fills in by itself."""
    said = one_line(value or "")
    return None if said.lower() in _PLACEHOLDERS else said


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    parts = archive.infolist()
    if len(parts) > MAX_PARTS:
        raise ReadError(f"an archive of {len(parts)} parts: at most {MAX_PARTS} are read")
    if any(part.flag_bits & 1 for part in parts):
        raise ReadError("encrypted: needs a password")
    if any(part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for part in parts):
        raise ReadError("broken archive: packed in a way that Office files are not")
    unfolded = sum(part.file_size for part in parts)
    if unfolded > MAX_UNFOLDED or (unfolded > _SMALL and unfolded > size * MAX_RATIO):
        raise ReadError(f"unfolds from {size} to {unfolded} bytes: not read, it may be made to fill the memory")


class _Root(Exception):  # noqa: N818 - no error: it ends a parse that has seen enough
    """The first element was reached."""


def _check_prolog(archive: zipfile.ZipFile, part: str) -> None:
    """Refuse a part that declares a document type, in whatever encoding: it would stand before the first element."""

    def refuse(*_: object) -> None:
        raise ReadError(f"{one_line(part, 80)} declares a document type: not read")

    def stop(*_: object) -> None:
        raise _Root

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        with archive.open(part) as stream:
            while chunk := stream.read(_CHUNK):
                parser.Parse(chunk, False)
    except _Root:
        return
    except expat.ExpatError as error:
        raise ReadError(f"broken XML in {one_line(part, 80)}: {one_line(str(error), 80)}") from error
