"""The words around a table: its file's path and title, its sheet, what stands above its header, its headers as written, its units.

In: a Table, the title of its document. Out: stems. Such a word names no column, yet a question that says it may well be one over
this table: "net" where the sheet says "without tax".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assistant.backends.offline.tables.vocabulary import UNITS, name_words, stem
from search.tables.models import Table

_QUOTED = re.compile(r"\"([^\"]*)\"")
_TAX = r"(?:the )?(?:tax(?:es)?|vat|mwst\.?|ust\.?|steuern?)\b"
_NET = re.compile(rf"\b(?:without|excluding|excl\.?|before|ohne|exkl\.?|zzgl\.?) {_TAX}|\bnett?o?\b", re.IGNORECASE)
_GROSS = re.compile(rf"\b(?:with|including|incl\.?|after|mit|inkl\.?|einschließlich) {_TAX}|\b(?:gross|brutto)\b", re.IGNORECASE)
_CLOCK = ("morning", "noon", "afternoon", "evening", "night", "clock", "am", "pm", "uhr", "morgens", "mittags", "abends", "nachts")
_SHORTEST = 3
_MOST_TEXT = 2_000  # characters of a note that are read


def words_around(table: Table, *, title: str = "") -> frozenset[str]:
    """The stems of the words around a table."""
    quoted = [text for note in table.notes for text in _QUOTED.findall(note[:_MOST_TEXT])]
    said = " ".join((*quoted, title, *(column.header for column in table.columns)))
    words = {stem(word) for text in _texts(table, quoted, title) for word in name_words(text) if len(word) >= _SHORTEST}
    for column in table.columns:
        written = UNITS.get(column.unit.lower())
        words |= {stem(word) for word in (column.unit, *(written[1] if written else ())) if word}
    if any(column.type in {"time", "datetime"} for column in table.columns):
        words |= set(map(stem, _CLOCK))
    for pattern, names in ((_NET, ("net", "netto")), (_GROSS, ("gross", "brutto"))):
        if pattern.search(said):
            words |= set(map(stem, names))
    return frozenset(words)


def _texts(table: Table, quoted: Iterable[str], title: str) -> Iterable[str]:
    """What is written around a table."""
    yield from (table.path.rsplit(".", 1)[0], table.label, title, *quoted)
    for column in table.columns:
        yield from (column.name, column.header, column.comment[:_MOST_TEXT])
