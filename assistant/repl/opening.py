"""Which file /open may start the editor with, and at which line.

What is opened comes from the catalogue of the library, never from the text of an answer, and must lie inside a folder that the
library follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assistant import render
from assistant.errors import UserError
from search.sources import to_os

if TYPE_CHECKING:
    from search import Document, Library

_LOOKED_AT = 4_000_000  # bytes of a file in which a line is looked for
_BINARY = 8192  # bytes that tell whether a file is text


def file_of(library: Library, document: Document) -> Path:
    """The file of a document. Raises UserError when it is gone, no file, or not inside a folder that the library follows."""
    shown = render.one_line(document.path)
    full = render.full_path(document)
    if not full.is_absolute():
        raise UserError(f"{shown} is no file: a program added its text", "/read shows what is stored")
    roots = {Path(to_os(root.path)) for root in library.status().roots}
    if Path(to_os(document.root)) not in roots:
        raise UserError(f"{shown} lies in no folder of the library any more", "/index brings the library in step")
    try:
        real, root = full.resolve(strict=True), Path(to_os(document.root)).resolve()
    except OSError:
        raise UserError(f"{shown} is not there any more", "/read shows what is stored; /index brings the library in step") from None
    if not real.is_relative_to(root):
        raise UserError(f"{shown} leads out of its folder, to {render.one_line(str(real))}", "/read shows what is stored")
    if not real.is_file():
        raise UserError(f"{shown} is no file", "/read shows what is stored")
    return full


def line_in_file(file: Path, stored: Sequence[str], wanted: int) -> int:
    """Where a passage begins in the file as it is now: the line nearest to `wanted` that holds its first words, else `wanted`.

    stored: the passage's lines. A converted format has other lines than its stored text, and a file changes. Raises UserError for
    a file that is no text.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(_LOOKED_AT)
    except OSError as error:
        raise UserError(f"{render.one_line(str(file))}: cannot be read: {error.strerror}") from error
    if b"\0" in content[:_BINARY] or content.startswith(b"%PDF-"):
        raise UserError(f"{render.one_line(file.name)} is no text that an editor shows", "/read shows what is stored")
    lines = content.decode("utf-8", "replace").splitlines()
    for words in filter(None, (line.strip() for line in stored)):
        found = [number for number, line in enumerate(lines, 1) if words in line]
        if found:
            return min(found, key=lambda number: abs(number - wanted))
    return wanted if wanted <= len(lines) else 1
