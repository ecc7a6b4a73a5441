"""Numbers with their nouns, for sentences that people read."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1: "1 document", "2 documents", "0 passages"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
