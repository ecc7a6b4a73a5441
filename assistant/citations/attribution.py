"""Which citation belongs to a quotation: by the sentence, the list item and the paragraph that hold both."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from assistant.citations.keys import KeyMark
from assistant.citations.quotations import Quotation

_SENTENCE_END = re.compile(r"[.!?][)\]\"'”’»*_]*\s+\w|[。！？]\s*\w|\n[ \t]*(?:\n|[-*+•|]|\d{1,3}[.)])")
_PART_END = re.compile(r"\n[ \t]*(?:\n|[-*+•|]|\d{1,3}[.)])")
_CLOSED = re.compile(r"[.!?。！？]")  # the last character of a quotation that is a whole sentence
_FAR = 2000  # characters between a quotation and its citation


class Attribution:
    """The citations of an answer by position; `earlier`: the keys of the last citation before the answer's block."""

    def __init__(self, answer: str, marks: Sequence[KeyMark], earlier: tuple[str, ...] = ()) -> None:
        self._answer = answer
        self._marks = marks
        self._starts = [mark.start for mark in marks]
        self._earlier = earlier

    def keys(self, quotation: Quotation) -> tuple[str, ...]:
        """The retrieved keys cited for a quotation.

        The citation inside it; else the nearest after it in its sentence, the nearest before it there; then the same in its
        paragraph or list item; then the last one before it; where there is none, the first one after it.
        """
        following = bisect_left(self._starts, quotation.start)
        inside = bisect_left(self._starts, quotation.end)
        if inside > following:
            return _known(self._marks[following:inside])
        after = self._gap(quotation.end, self._starts[following]) if following < len(self._marks) else None
        before = self._gap(self._marks[following - 1].end, quotation.start) if following else None
        if after is not None and quotation.is_block and not re.search(r"\w", after):
            return self._group(following, 1)
        for ends in (_SENTENCE_END, _PART_END):
            if after is not None and not ends.search(after) and not (ends is _SENTENCE_END and self._begins_anew(quotation, after)):
                return self._group(following, 1)
            if before is not None and not ends.search(before):
                return self._group(following - 1, -1)
        if following:
            return self._group(following - 1, -1)
        return self._earlier or (self._group(following, 1) if after is not None else ())

    def _gap(self, start: int, end: int) -> str | None:
        """What stands between, None where it is too long."""
        return self._answer[start:end] if end - start <= _FAR else None

    def _begins_anew(self, quotation: Quotation, after: str) -> bool:
        """Whether a quotation that ends its sentence is followed by the next one."""
        last = self._answer[max(0, quotation.end - 2) : quotation.end - 1]
        return bool(_CLOSED.fullmatch(last) and re.match(r"\s+\w", after))

    def _group(self, at: int, step: int) -> tuple[str, ...]:
        """The keys of a citation and of those that touch it on the far side."""
        group = [self._marks[at]]
        while 0 <= at + step < len(self._marks):
            first, second = sorted((at, at + step))
            gap = self._gap(self._marks[first].end, self._marks[second].start)
            if gap is None or gap.strip(" ,;"):
                break
            at += step
            group.append(self._marks[at])
        return _known(group)


def _known(marks: Sequence[KeyMark]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for mark in marks for key in mark.known()))
