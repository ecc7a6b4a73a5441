"""Finished blocks of an answer that is still being written, so that each can be checked and printed once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
# What a call written into the text may begin with: from there on nothing is shown before the reply is whole.
_MAY_BE_A_CALL = re.compile(
    r"<[|｜/a-zA-Z]|\{|```|\[\s*(?:TOOL|\{|[A-Za-z_.]+\()|>>>|functools|^\s*Action|^analysis|commentary|default_api", re.MULTILINE
)


class Blocks:
    """Collects pieces of text and gives out the blocks that are finished: paragraphs, lists, whatever a blank line ends.

    shown: turns the next block into the text for display.
    """

    def __init__(self, shown: Callable[[str], str]) -> None:
        self._shown = shown
        self._text = ""
        self._done = 0
        self._held = False
        self.printed = ""

    def add(self, piece: str) -> Iterator[str]:
        """Take in some more text; yield the display text of the block that is finished by it."""
        self._text += piece
        end = self._text.rfind("\n\n")
        if self._held or end <= self._done:
            return
        block = self._text[self._done : end]
        self._held = bool(_MAY_BE_A_CALL.search(block))
        if self._held or len(_FENCE.findall(block)) % 2:
            return
        self._done = end
        if not block.strip():
            return
        display = self._shown(block)
        self.printed += display
        yield display

    def rest(self, answer: str, display: str) -> str:
        """What is still to be shown of an answer: the display text of its last block, all of it when nothing was given out.

        When the answer does not begin with what was given out, all of it is shown, set apart.
        """
        begun = self._text[: self._done].strip()
        if not self.printed:
            return display
        if not answer.strip().startswith(begun):
            return f"\n\n{display}"
        left = answer.strip()[len(begun) :]
        return self._shown(left) if left else ""
