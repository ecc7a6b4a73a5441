"""Cutting a document's text into passages.

In: an Extract (text, blocks, pages) and the embedding model's tokenizer. Out: chunks with exact character offsets, in order,
that together hold every character of the text that is not white space. Chunking knows nothing of files, SQL or models.

A passage never crosses a heading or a page. Whole blocks are packed greedily; only a block that alone is too large is split,
at the gentlest boundary that helps: blank line, sentence, line, white space, character (code and tables: line, then character).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from search.models import Block, Extract

MAX_TOKENS = 250
MAX_CHARACTERS = 1500  # a model without a script's letters counts a whole sentence of it as one unknown token
HEADING_TOKENS = 60
CHUNKING_VERSION = "1"


class Tokenizer(Protocol):
    """The embedding model's own tokenizer, without its special tokens."""

    def token_starts(self, text: str) -> Sequence[int]:
        """Character offset at which each token of `text` starts, ascending; its length is the token count."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage to be: `text[start:end]`, lines counted as in the file, `context` what is embedded in front of the text.

    tokens: of context and text together, at most the limit that was asked for.
    """

    start: int
    end: int
    headings: tuple[str, ...]
    page: int | None
    first_line: int
    last_line: int
    context: str
    tokens: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """A block, or a part of one, that stays in one piece. verbatim: white space inside matters (code, tables)."""

    start: int
    end: int
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class _Section:
    """What stands under one heading on one page. opening: how many of the last headings its text itself begins with."""

    headings: tuple[str, ...]
    opening: int
    units: tuple[_Unit, ...]


_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])")
_BOUNDARIES = (re.compile(r"\n[^\S\n]*\n\s*"), _SENTENCE, re.compile(r"\n"), re.compile(r"\s+"))
_LINES = (re.compile(r"\n"),)


def embedded_text(context: str, text: str) -> str:
    """What the model reads for a passage: its title and headings on one line, then its text."""
    return f"{context}\n{text}" if context else text


def chunk(extract: Extract, tokenizer: Tokenizer, *, max_tokens: int = MAX_TOKENS) -> list[Chunk]:
    """Cut a document into passages of at most `max_tokens` tokens, the heading path included.

    Every character that is not white space lies in exactly one chunk. Raises ValueError when max_tokens is below 32.
    """
    if max_tokens < 32:
        raise ValueError(f"max_tokens: got {max_tokens}, want 32 or more")
    return list(_Chunker(extract, tokenizer, max_tokens).chunks())


class _Chunker:
    def __init__(self, extract: Extract, tokenizer: Tokenizer, max_tokens: int) -> None:
        self.extract = extract
        self.text = extract.text
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.starts = tokenizer.token_starts(self.text)
        self.newlines = [match.start() for match in re.finditer("\n", self.text)]

    def chunks(self) -> Iterator[Chunk]:
        for section in _sections(self.extract):
            context, cost = self._context(section)
            later, later_cost = self._context(_Section(section.headings, 0, ()))
            for number, (start, end) in enumerate(self._pack(section.units, self.max_tokens - max(cost, later_cost))):
                yield from self._finish(start, end, section.headings, context if number == 0 else later)

    def _context(self, section: _Section) -> tuple[str, int]:
        """The heading path as embedded, the least specific dropped first where it is long, and its cost in tokens."""
        names = list(section.headings)
        if section.opening:
            names = names[: -section.opening]
        title = self.extract.title
        if title and (not section.headings or title != section.headings[0]):
            names.insert(0, title)
        while len(names) > 1 and len(self.tokenizer.token_starts(" > ".join(names))) > HEADING_TOKENS:
            del names[0]
        context = " > ".join(names)
        starts = self.tokenizer.token_starts(context)
        if len(starts) > HEADING_TOKENS:
            context = context[: starts[HEADING_TOKENS]].rstrip()
        context = context[:300]
        return context, len(self.tokenizer.token_starts(context)) + 1 if context else 0

    def _size(self, start: int, end: int) -> int:
        return bisect_left(self.starts, end) - bisect_left(self.starts, start)

    def _fits(self, start: int, end: int, budget: int) -> bool:
        return end - start <= MAX_CHARACTERS and self._size(start, end) <= budget

    def _pack(self, units: Sequence[_Unit], budget: int) -> list[tuple[int, int]]:
        """Greedy packing of units; a short last piece takes over units from the piece before it."""
        pieces = [piece for unit in units for piece in self._split(unit, budget)]
        groups: list[list[_Unit]] = []
        for piece in pieces:
            if groups and self._fits(groups[-1][0].start, piece.end, budget):
                groups[-1].append(piece)
            else:
                groups.append([piece])
        if len(groups) > 1:
            self._balance(groups[-2], groups[-1], budget)
        return [(group[0].start, group[-1].end) for group in groups]

    def _balance(self, before: list[_Unit], last: list[_Unit], budget: int) -> None:
        """Let a last piece that is short take units over from the one before, up to half of what fits."""
        while len(before) > 1 and self._size(before[-1].start, last[-1].end) * 2 <= budget:
            if not self._fits(before[-1].start, last[-1].end, budget):
                return
            last.insert(0, before.pop())

    def _split(self, unit: _Unit, budget: int, level: int = 0) -> Iterator[_Unit]:
        if self._fits(unit.start, unit.end, budget):
            yield unit
            return
        boundaries = _LINES if unit.verbatim else _BOUNDARIES
        if level >= len(boundaries):
            yield from self._cut(unit, budget)
            return
        position = unit.start
        for match in boundaries[level].finditer(self.text, unit.start, unit.end):
            yield from self._split_part(_Unit(position, match.start(), unit.verbatim), budget, level)
            position = match.end()
        yield from self._split_part(_Unit(position, unit.end, unit.verbatim), budget, level)

    def _split_part(self, part: _Unit, budget: int, level: int) -> Iterator[_Unit]:
        if not self.text[part.start : part.end].isspace() and part.start < part.end:
            yield from self._split(part, budget, level + 1)

    def _cut(self, unit: _Unit, budget: int) -> Iterator[_Unit]:
        """The last resort: cut at token starts, or at characters where one token is longer than a passage may be."""
        start = unit.start
        while start < unit.end:
            end = min(unit.end, start + MAX_CHARACTERS)
            first = bisect_left(self.starts, start)
            if self._size(start, end) > budget:
                end = self.starts[first + budget]
            elif end < unit.end:
                last = self.starts[bisect_right(self.starts, end) - 1] if self.starts else start
                end = last if last > start else end
            yield _Unit(start, end, unit.verbatim)
            start = end

    def _finish(self, start: int, end: int, headings: tuple[str, ...], context: str) -> Iterator[Chunk]:
        start, end = _trim(self.text, start, end)
        if start >= end:
            return
        tokens = len(self.tokenizer.token_starts(embedded_text(context, self.text[start:end])))
        if tokens > self.max_tokens and end - start > 1:
            # A tokenizer may count a part differently from the same part inside the whole: halve until it fits.
            middle = _gentle_middle(self.text, start, end)
            yield from self._finish(start, middle, headings, context)
            yield from self._finish(middle, end, headings, context)
            return
        pages = self.extract.page_starts
        first = self.extract.first_line
        yield Chunk(
            start=start,
            end=end,
            headings=headings,
            page=max(1, bisect_right(pages, start)) if pages else None,
            first_line=first + bisect_left(self.newlines, start),
            last_line=first + bisect_left(self.newlines, end - 1),
            context=context,
            tokens=tokens,
        )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The same stretch without outer white space, but with the first line's indentation, which means something in code."""
    stretch = text[start:end]
    body = stretch.lstrip()
    first = end - len(body)
    line = text.rfind("\n", start, first) + 1
    return max(start, line), start + len(stretch.rstrip())


def _gentle_middle(text: str, start: int, end: int) -> int:
    middle = (start + end) // 2
    space = text.rfind(" ", start + 1, middle)
    return space if space > start else middle


def _sections(extract: Extract) -> Iterator[_Section]:
    """Cut at headings and page starts. A heading that nothing stands under before the next heading joins that next section."""
    path: list[tuple[int, str]] = []
    units: list[_Unit] = []
    opening, has_body = 0, False
    pages = [start for start in extract.page_starts if start > 0]
    for block in _whole_blocks(extract):
        new_page = bool(units) and bisect_right(pages, block.start) != bisect_right(pages, units[0].start)
        if units and (new_page or (block.kind == "heading" and has_body)):
            yield _Section(tuple(name for _, name in path), min(opening, len(path)), tuple(units))
            units, opening, has_body = [], 0, False
        if block.kind == "heading":
            kept = [entry for entry in path if entry[0] < block.level]
            if len(kept) < len(path):
                # The headings already taken in stay in the text, but only those still on the path count as its opening.
                opening = min(opening, len(kept))
            path = [*kept, (block.level, block.text)]
            opening += 1
        else:
            has_body = True
        units.append(_Unit(block.start, block.end, block.kind in {"code", "table"}))
    if units:
        yield _Section(tuple(name for _, name in path), min(opening, len(path)), tuple(units))


def _whole_blocks(extract: Extract) -> Iterator[Block]:
    """The blocks of the document with the gaps between them filled by paragraphs, all cut at page starts."""
    position = 0
    for block in (*extract.blocks, Block(len(extract.text), len(extract.text), "paragraph")):
        yield from _paragraphs(extract, position, block.start)
        if block.start < block.end:
            yield block
        position = max(position, block.end)


def _paragraphs(extract: Extract, start: int, end: int) -> Iterator[Block]:
    edges = [start, *(page for page in extract.page_starts if start < page < end), end]
    for left, right in pairwise(edges):
        position = left
        for match in _BOUNDARIES[0].finditer(extract.text, left, right):
            if extract.text[position : match.start()].strip():
                yield Block(position, match.start(), "paragraph")
            position = match.end()
        if extract.text[position:right].strip():
            yield Block(position, right, "paragraph")
