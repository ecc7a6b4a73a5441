"""The documents of the retrieved passages, and the results of queries, as quotations are compared with them.

Documents are read when they are needed; the work is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from assistant.citations.comparing import Quoted, StoredText
from assistant.tools import Evidence

_MAX_SCANNED = 500_000_000  # characters of stored text looked through for one answer
_MAX_NEAREST = 30  # searches for a nearest text


class Documents:
    """The documents of the retrieved passages, read when they are needed; counts the work."""

    def __init__(self, evidence: Mapping[str, Evidence], stored_text: Callable[[str], str | None]) -> None:
        self._evidence = evidence
        self._stored_text = stored_text
        self._texts: dict[tuple[str, str], StoredText] = {}
        self._of: dict[tuple[str, str], list[Evidence]] = {}
        for passage in evidence.values():
            self._of.setdefault(_place(passage), []).append(passage)
        self._known: dict[tuple[tuple[str, str], str], bool] = {}
        self._passages: dict[str, StoredText] = {}
        self._holders: dict[tuple[tuple[str, str], str], str] = {}
        self._scanned = 0
        self._searched = 0

    def one_key_each(self) -> list[str]:
        """One key for each document."""
        return [passages[0].key.lower() for passages in self._of.values()]

    def passage_with(self, key: str, quoted: Quoted) -> str:
        """The key of the document's retrieved passage that holds the words; the given one when none does."""
        place = _place(self._evidence[key])
        if (place, quoted.text) not in self._holders:
            holding = (other.key.lower() for other in self._of[place] if self._passage_text(other).holds(quoted))
            self._holders[place, quoted.text] = next(holding, key)
        return self._holders[place, quoted.text]

    def hold(self, key: str, quoted: Quoted) -> bool:
        """Whether a document holds quoted words; no, once more text was looked through than any honest answer needs."""
        place = _place(self._evidence[key])
        if (place, quoted.text) not in self._known:
            text = self._text(key)
            self._scanned += len(text.text)
            self._known[place, quoted.text] = self._scanned <= _MAX_SCANNED and text.holds(quoted)
        return self._known[place, quoted.text]

    def nearest(self, keys: Sequence[str], quoted: Quoted) -> str | None:
        """The nearest text in the first of the documents that has one."""
        for key in keys:
            self._searched += 1
            if self._searched > _MAX_NEAREST:
                return None
            found = self._text(key).nearest(quoted)
            if found:
                return found
        return None

    def _passage_text(self, passage: Evidence) -> StoredText:
        return self._passages.setdefault(passage.key, StoredText(passage.text))

    def _text(self, key: str) -> StoredText:
        passage = self._evidence[key]
        place = _place(passage)
        if place not in self._texts:
            passages = self._of[place]
            text = self._stored_text(passage.key) if passage.is_passage else None
            also = list(dict.fromkeys(name for one in passages for name in names(one)))
            if text is None:
                also += [one.text for one in passages]
            self._texts[place] = StoredText(text or "", also)
        return self._texts[place]


def _place(passage: Evidence) -> tuple[str, str]:
    """What tells documents apart. The result of a query is one of its own, though it has the path of the file it was made from."""
    return (passage.root, passage.path) if passage.is_passage else ("", passage.key)


def names(passage: Evidence) -> tuple[str, ...]:
    """What is stored of a passage beside its text."""
    return (passage.title, *passage.headings, passage.path, passage.date or "")
