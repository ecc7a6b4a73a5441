"""Markdown: front matter, and the blocks of the body with exact offsets.

The stored text is the body as written, except for what a rendered page would not show: comments, scripts and hidden HTML
elements become nothing but their line breaks, so that lines keep their numbers; embedded images lose their base64 data.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

from search.models import Block, BlockKind, Extract
from search.readers import front_matter
from search.readers.cleaning import clean, one_line
from search.readers.encodings import decode
from search.readers.page import hides

if TYPE_CHECKING:
    from markdown_it.token import Token

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "html_block": "paragraph",
}
_OPENING = re.compile(
    r"<!--|<(?P<tag>[A-Za-z][\w-]*)\b(?P<attributes>[^<>]{0,2000})>"
    # A link definition without a target is the usual way to write a comment that renders to nothing.
    r"|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*(?:#|<>)[ \t]*(?P<note>\(.*\)|\".*\"|'.*')[ \t]*$",
    re.MULTILINE,
)
_HIDDEN = re.compile(r"(?:^|\s)hidden(?=[\s=/]|$)", re.IGNORECASE)
_STYLE = re.compile(r"(?:^|\s)style\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))", re.IGNORECASE)
_NEVER_SHOWN = frozenset({"script", "style", "template"})
_EMBEDDED = re.compile(r"(data:[\w.+/-]{1,100};base64,)[A-Za-z0-9+/=]{40,}")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 (one signature for all readers)
    """Front matter becomes properties, the body becomes text and blocks.

    Sentences of the front matter (its description) stay in the text above the body, its other lines are blank there, so that
    lines keep their numbers. Front matter that cannot be read stays in the text whole, with a note.
    """
    decoded = decode(data)
    if decoded is None:
        return Extract(text="", format="markdown", no_text="binary: the content is not text")
    whole = clean(decoded.text)
    notes = [decoded.note] if decoded.note else []
    kind, source, body = front_matter.split(whole)
    properties = front_matter.FrontMatter()
    first_line = 1
    if kind:
        above = whole[: len(whole) - len(body)].removesuffix("\n").split("\n")
        try:
            properties = front_matter.parse(kind, source)
            kept = front_matter.prose(above)
        except front_matter.FrontMatterError as error:
            notes.append(f"front matter not read: {error}")
            kept = set(range(1, len(above) - 1))
        first_line = 1 + min(kept, default=len(above))
        body = "".join(f"{above[at] if at in kept else ''}\n" for at in range(first_line - 1, len(above))) + body
    text, closed = _without_hidden(_EMBEDDED.sub(r"\1", body))
    if not closed:
        notes.append("a comment or hidden element is never closed: what follows it is left out")
    blocks = tuple(_blocks(text, [token for token in _tokens(text) if token.level == 0 or token.type == "inline"]))
    first_heading = next((block.text for block in blocks if block.kind == "heading" and block.level == 1 and block.text), None)
    blank = not text.strip()
    return Extract(
        text="" if blank else text,
        format="markdown",
        title=properties.title or first_heading,
        author=properties.author,
        language=properties.language,
        category=properties.category,
        tags=properties.tags,
        date=properties.date,
        created=properties.created,
        modified=properties.modified,
        metadata=properties.metadata,
        blocks=() if blank else blocks,
        first_line=first_line,
        encoding=decoded.encoding,
        notes=tuple(notes),
        no_text=("empty: nothing below the front matter" if kind else "empty: only white space") if blank else None,
    )


def _tokens(text: str) -> list[Token]:
    """All block tokens, each with its lines in `map`; the inline token after a heading holds its source."""
    from markdown_it import MarkdownIt

    # Inline parsing is switched off: its result is not used, and it is where long pathological lines cost most.
    return MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").disable("inline").parse(text)


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text) + 1]


def _blocks(text: str, tokens: Sequence[Token]) -> Iterator[Block]:
    starts = _line_starts(text)
    following = [*tokens[1:], None]
    position = 0
    for token, after in zip(tokens, following, strict=False):
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None:
            continue
        start = max(position, starts[token.map[0]])
        end = min(len(text), starts[min(token.map[1], len(starts) - 1)] - 1)
        # A list or quote reaches over the blank lines that follow it.
        end = start + len(text[start:end].rstrip("\n")) if kind == "code" else start + len(text[start:end].rstrip())
        if not text[start:end].strip():
            continue
        position = end
        if kind == "heading":
            words = after.content if after is not None and after.type == "inline" else ""
            yield Block(start, end, kind, int(token.tag[1]), _without_markup(words))
        else:
            yield Block(start, end, kind)


_MARKUP = (
    (re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"), r"\1"),
    (re.compile(r"<(?:https?://|mailto:)([^<>\s]+)>"), r"\1"),
    (re.compile(r"</?[A-Za-z][^<>]{0,500}>"), ""),
    (re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<![\w_])(_{1,3})(?=\S)([^\n]+?)(?<=\S)\1(?![\w_])"), r"\2"),
    (re.compile(r"~~(?=\S)([^~\n]+)~~"), r"\1"),
    (re.compile(r"[ \t]*\{#[\w:.-]+\}[ \t]*$"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def _without_markup(words: str) -> str:
    """A heading as it reads on the page; code spans keep their characters."""
    parts: list[str] = []
    position = 0
    for span in _CODE_SPAN.finditer(words):
        parts += [_plain_words(words[position : span.start()]), span[0].strip("`").strip()]
        position = span.end()
    return one_line("".join([*parts, _plain_words(words[position:])]))


def _plain_words(words: str) -> str:
    for pattern, replacement in _MARKUP:
        words = pattern.sub(replacement, words)
    return words


def _without_hidden(text: str) -> tuple[str, bool]:
    """The text without what a page would not show, every line break kept; False when something hidden is never closed."""
    if not _OPENING.search(text):
        return text, True
    starts = _line_starts(text)
    code = [
        (starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
        for token in _tokens(text)
        if token.type in {"fence", "code_block"} and token.map is not None
    ]
    parts: list[str] = []
    position = 0
    closed = True
    for start, end in _hidden(text, code):
        closed = closed and end is not None
        stop = len(text) if end is None else end
        parts += [text[position:start], "\n" * text.count("\n", start, stop)]
        position = stop
    return "".join([*parts, text[position:]]), closed


def _hidden(text: str, code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int | None]]:
    """Stretches that are not shown, outside of code, in order; the end is None where the closing mark is missing."""
    spans = _Code(text, code)
    position = 0
    while match := _OPENING.search(text, position):
        position = spans.end_around(match.start()) or match.end()
        if position != match.end():
            continue
        end: int | None = match.end()
        name = match["tag"]
        if name is None and match["note"] is None:
            at = text.find("-->", match.start() + 2)
            end = at + 3 if at >= 0 else None
            # Only at the start of a line does an unclosed comment hide anything; elsewhere it is plain text.
            if end is None and text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip():
                return
        elif name and not (name.lower() in _NEVER_SHOWN or _hides(match["attributes"])):
            continue
        elif name and not match["attributes"].endswith("/"):
            end = _end_of_element(text, name, match.end())
        yield match.start(), end
        if end is None:
            return
        position = end


def _hides(attributes: str) -> bool:
    """Whether an element with these attributes, as written, is not shown."""
    style = _STYLE.search(attributes)
    return bool(_HIDDEN.search(attributes)) or (style is not None and hides(unescape(style[1] or style[2] or style[3] or "")))


class _Code:
    """Where code is: the blocks given, and the code spans of the line last asked about (lines can be very long)."""

    def __init__(self, text: str, blocks: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.blocks = blocks
        self.line_end = -1
        self.spans: list[tuple[int, int]] = []

    def end_around(self, position: int) -> int | None:
        """The end of the code that `position` lies in, None outside of code. Positions are asked for in ascending order."""
        if position > self.line_end:
            start = self.text.rfind("\n", 0, position) + 1
            end = self.text.find("\n", position)
            self.line_end = end if end >= 0 else len(self.text)
            self.spans = [match.span() for match in _CODE_SPAN.finditer(self.text, start, self.line_end)]
        for ranges in (self.blocks, self.spans):
            at = bisect_right(ranges, (position, len(self.text) + 1)) - 1
            if at >= 0 and ranges[at][0] <= position < ranges[at][1]:
                return ranges[at][1]
        return None


def _end_of_element(text: str, name: str, position: int) -> int | None:
    """Where the element that opened before `position` is closed, elements of the same name inside it counted."""
    depth = 1
    for tag in re.compile(rf"<(/?){re.escape(name)}\b[^<>]{{0,2000}}>", re.IGNORECASE).finditer(text, position):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return None
