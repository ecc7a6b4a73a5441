"""Searching what was asked and answered: every word must stand in a turn, in any case and any script; the newest turns first."""

from __future__ import annotations

import re

from assistant.cleaning import clean
from assistant.errors import UsageError
from search.folding import folded

_UNITS = re.compile(r'"([^"]+)"|(\S+)')
_INDEXED = 3  # characters from which on the index knows a piece of text


def units(text: str) -> tuple[str, ...]:
    """The words of a query as they were typed; what stands in double quotes is one. Raises UsageError without any."""
    found = (quoted.strip() or word.strip('"') for quoted, word in _UNITS.findall(clean(text)))
    words = tuple(dict.fromkeys(word for word in found if word))
    if not words:
        raise UsageError("give words to look for", 'archivist history search "gateway timeout"')
    return words


def searchable(question: str, answer: str) -> str:
    """A question and its answer as they are searched."""
    return folded(clean(f"{question}\n{answer}"))


def condition(words: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The SQL condition on turns `t` that they hold all words, and its parameters."""
    sought = [folded(word) for word in words]
    long = [word for word in sought if len(word) >= _INDEXED]
    tests, parameters = ["instr(t.words, ?) > 0"] * len(sought), [*sought]
    if long:
        tests.insert(0, "t.id IN (SELECT rowid FROM found WHERE found MATCH ?)")
        parameters.insert(0, " AND ".join(f'"{word.replace(chr(34), chr(34) * 2)}"' for word in long))
    return " AND ".join(tests), tuple(parameters)


__all__ = ["condition", "searchable", "units"]
