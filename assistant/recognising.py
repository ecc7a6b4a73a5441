"""Whether a text repeats what stands in documents: by lines and sentences, by runs of words, and by the whole of a short document.

In: a text that is to be sent, and documents. Out: what of the text stands in them, in pieces that say nothing but "the same". The
documents are read as they are stored and as their files are now: rows of tables and front matter stand in no passage.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from search import Document, Filters, Library, sources
from search.errors import ReadError, UserError
from search.folding import folded
from search.readers import encodings
from search.tables.names import quoted

_SHORTEST_UNIT = 25  # characters of a line or sentence that is known again
_RUN = 8  # words that are known again wherever they stand, however lines were broken or numbered
_SHORTEST_RUN = 3  # of a document that has no more
_SHORTEST_WHOLE = 12  # characters of it
_MOST_ROWS = 100_000
_UNIT_END = re.compile(r"\n|(?<=[.!?])\s|(?<=[。！？])|\s\|\s")
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Pieces:
    """What texts could be known again by: their lines and sentences, and their runs of words. firsts: the first words of those."""

    known: frozenset[str]
    firsts: frozenset[str]

    @classmethod
    def of(cls, *texts: str) -> Pieces:
        """All pieces of some texts, none of which goes on in the next."""
        return cls.just(piece for text in texts for piece in (*_units(text), *_runs(text)))

    @classmethod
    def just(cls, pieces: Iterable[str]) -> Pieces:
        """These and no others."""
        known = frozenset(pieces)
        return cls(known, frozenset(piece.partition(" ")[0] for piece in known))

    def within(self, stored: str) -> Iterator[str]:
        """Those that stand in a stored text."""
        yield from self.known.intersection(_units(stored))
        words = plain(stored).split()
        if len(words) < _RUN:
            whole = " ".join(words)
            yield from {whole} & self.known if len(whole) >= _SHORTEST_WHOLE else ()
            return
        for at in range(len(words) - _RUN + 1):
            if words[at] in self.firsts and (run := " ".join(words[at : at + _RUN])) in self.known:
                yield run

    def within_any(self, library: Library, found: Iterable[Document]) -> set[str]:
        """Those that stand in any of some documents."""
        return {piece for document in found for stored in _texts(library, document) for piece in self.within(stored)}


def plain(text: str) -> str:
    """Words in lower case with single spaces between them."""
    return _SIGNS.sub(" ", folded(text)).strip()


def _units(text: str) -> Iterator[str]:
    """The lines and sentences of a text that are long enough to be known again."""
    units = (plain(unit) for unit in _UNIT_END.split(text))
    return (unit for unit in units if len(unit) >= _SHORTEST_UNIT)


def _runs(text: str) -> Iterator[str]:
    """The runs of words, down to the length of the shortest document that is known again as a whole."""
    words = plain(text).split()
    for length in range(_SHORTEST_RUN, _RUN + 1):
        yield from (" ".join(words[at : at + length]) for at in range(len(words) - length + 1))


def _texts(library: Library, document: Document) -> Iterator[str]:
    """What is stored of a document, and its file where that is text; of any other the rows of its tables."""
    yield "\n".join(passage.text for passage in library.passages(document, limit=1_000_000))
    source = _source(document)
    if source:
        yield source
        return
    only = Filters(documents=frozenset({document.id}))
    for table in library.tables.describe(only):
        rows = library.tables.sql(f"SELECT * FROM {quoted(table.name)}", (), only, max_rows=_MOST_ROWS, seconds=60.0).rows
        yield "\n".join(" ".join("" if cell is None else str(cell) for cell in row) for row in rows)


def _source(document: Document) -> str:
    """The text of a document's file, "" where it is none, or is out of reach."""
    full = Path(os.path.realpath(Path(sources.to_os(document.root)) / sources.to_os(document.path)))
    try:
        decoded = encodings.decode(sources.read_bytes(sources.SourceFile(document.path, full, 0, 0, 0)))
    except (ReadError, UserError):
        return ""
    return decoded.text if decoded is not None else ""


__all__ = ["Pieces", "plain"]
