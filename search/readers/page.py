"""From an HTML tree to readable text: a walk without recursion that writes paragraphs, headings, lists, code and tables."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from search.models import Block, BlockKind

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


def tag_names(*lines: str) -> frozenset[str]:
    """A set of element names, written as words."""
    return frozenset(" ".join(lines).split())


_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NEVER_SHOWN = tag_names(
    "script style noscript template svg head title iframe object embed canvas audio video source track map select datalist",
    "input textarea button dialog",
)
_INLINE = tag_names(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark math nobr output q rp rt ruby s samp",
    "small span strike strong sub sup time tt u var wbr",
)
_ZERO = r"0(?![.\d]*[1-9])"
_HIDING = re.compile(
    rf"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*{_ZERO}|opacity\s*:\s*{_ZERO}"
    rf"|transform\s*:[^;]{{0,200}}?\bscale(?:3d|[xy])?\(\s*(?:[^(),]*,\s*)?{_ZERO}|(?:^|[;\s])scale\s*:\s*{_ZERO}"
    r"|(?:left|right|top|text-indent)\s*:\s*-\d{4}|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
_NO_SIZE = re.compile(rf"(?:^|[;\s])(?:max-)?(?:width|height)\s*:\s*{_ZERO}", re.IGNORECASE)
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})\s?|([^\n]))")
_COLOUR = re.compile(r"(?:^|[;\s])(background(?:-color)?|color)\s*:\s*([^;!]+)", re.IGNORECASE)
_WHITE = {"#fff": "white", "#ffffff": "white", "#000": "black", "#000000": "black"}
_SPACES = re.compile(r"\s+")
_BREAK = "\x0b"  # never in cleaned text: a line break that is meant
_SPACES_BUT_BREAKS = re.compile(rf"[^\S{_BREAK}]+")
_BREAKS = re.compile(rf" *{_BREAK} *")
_EMBEDDED = re.compile(r"data:[\w.+/-]{1,100};base64,[A-Za-z0-9+/=]+|[A-Za-z0-9+/]{200,}={0,2}")

Skip = Callable[["LexborNode", "frozenset[str]"], bool]


@dataclass(frozen=True, slots=True)
class Page:
    """Readable text with the blocks that are more than paragraphs."""

    text: str
    blocks: tuple[Block, ...]


def is_hidden(node: LexborNode) -> bool:
    """Whether a browser would show nothing of the element, as far as its own attributes tell.

    aria-hidden alone is kept: it hides from screen readers what eyes see. Style sheets are not evaluated.
    """
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    return hides(attributes.get("style") or "")


def hides(style: str) -> bool:
    """Whether the declarations of a style attribute leave nothing to be seen."""
    plain = _CSS_ESCAPE.sub(_unescaped, _COMMENT.sub(" ", style))
    if _HIDING.search(plain) or _same_colours(plain):
        return True
    return _NO_SIZE.search(plain) is not None and _CUT_OFF.search(plain) is not None


def _unescaped(escape: re.Match[str]) -> str:
    """What a CSS escape stands for; browsers read them everywhere, so "display" can be written without its letters."""
    code = int(escape[1], 16) if escape[1] else 0
    return (chr(code) if 0 < code <= sys.maxunicode else " ") if escape[1] else escape[2]


def _same_colours(style: str) -> bool:
    found = {name.lower()[:5]: value.strip().lower().replace(" ", "") for name, value in _COLOUR.findall(style)}
    text, ground = found.get("color"), found.get("backg")
    return text is not None and ground is not None and _WHITE.get(text, text) == _WHITE.get(ground, ground)


def render(root: LexborNode, skip: Skip) -> Page:
    """Write what the element shows. `skip(node, ancestors)` names further elements to leave out; ancestors are tag names."""
    writer = _Writer()
    for node, entering in _walk(root, skip):
        tag = node.tag or ""
        if tag == "-text":
            writer.write(node.text_content or "")
        elif entering:
            writer.enter(node, tag)
        else:
            writer.leave(tag)
    return writer.page()


def _walk(root: LexborNode, skip: Skip) -> Iterator[tuple[LexborNode, bool]]:
    """Every shown node in document order, elements twice: entering (True) and leaving (False)."""
    stack: list[tuple[LexborNode, bool, frozenset[str]]] = [(root, True, frozenset())]
    while stack:
        node, entering, ancestors = stack.pop()
        tag = node.tag or ""
        if not entering:
            yield node, False
            continue
        if node is not root and node.next is not None:
            stack.append((node.next, True, ancestors))
        if tag == "-text":
            yield node, True
            continue
        if tag.startswith(("-", "!")) or tag in _NEVER_SHOWN or is_hidden(node) or skip(node, ancestors):
            continue
        yield node, True
        stack.append((node, False, ancestors))
        if node.child is not None:
            stack.append((node.child, True, ancestors if tag in ancestors else ancestors | {tag}))


def _is_data_table(table: LexborNode) -> bool:
    """Rows of short cells; a table that holds another, headings or code only arranges the page."""
    rows = cells = 0
    stack = [table.child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        stack.append(node.next)
        tag = node.tag or ""
        if tag in _HEADINGS or tag in {"table", "pre", "article", "section", "form"}:
            return False
        rows += tag == "tr"
        cells += tag in {"td", "th"}
        if not tag.startswith("-"):
            stack.append(node.child)
    return rows >= 2 and cells >= rows + 2


@dataclass(slots=True)
class _Writer:
    pieces: list[tuple[BlockKind, int, str]] = field(default_factory=list)
    buffer: list[str] = field(default_factory=list)
    verbatim: int = 0
    heading: int = 0
    lists: list[int | None] = field(default_factory=list)  # for each open list: the next number, None for bullets
    marker: str = ""
    items: list[str] = field(default_factory=list)
    tables: list[bool] = field(default_factory=list)  # for each open table: whether it holds data
    rows: list[list[str]] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.buffer.append(text if self.verbatim else _SPACES.sub(" ", text))

    def enter(self, node: LexborNode, tag: str) -> None:
        if tag in _INLINE or self.verbatim:
            self.verbatim += tag == "pre"
            if tag == "br":
                self.buffer.append("\n")
        elif tag == "br":
            self.buffer.append(_BREAK)
        else:
            self._flush()
            self._open(node, tag)

    def _open(self, node: LexborNode, tag: str) -> None:
        if tag in _HEADINGS:
            self._end_list()
            self.heading = _HEADINGS[tag]
        elif tag == "pre":
            self._end_list()
            self.verbatim = 1
        elif tag in {"ul", "ol"}:
            self.lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._open_item()
        elif tag == "table":
            self._end_list()
            self.tables.append(not any(self.tables) and _is_data_table(node))
        elif tag == "tr" and self._in_table:
            self.rows.append([])

    def _open_item(self) -> None:
        if not self.lists:
            self.marker = "- "
            return
        number = self.lists[-1]
        self.marker = "- " if number is None else f"{number}. "
        if number is not None:
            self.lists[-1] = number + 1

    def leave(self, tag: str) -> None:
        if tag == "pre" and self.verbatim:
            self.verbatim -= 1
            if not self.verbatim:
                self._flush_code()
        elif tag in _INLINE or tag == "br" or self.verbatim:
            return
        else:
            self._flush()
            self._close(tag)

    def _close(self, tag: str) -> None:
        if tag in _HEADINGS:
            self.heading = 0
        elif tag in {"ul", "ol"} and self.lists:
            self.lists.pop()
            if not self.lists:
                self._end_list()
        elif tag == "li":
            self.marker = ""
            if not self.lists:
                self._end_list()
        elif tag in {"td", "th"} and self._in_table:
            if not self.rows:
                self.rows.append([])
            self.rows[-1].append(" ".join(self.cell))
            self.cell = []
        elif tag == "table" and self.tables and self.tables.pop():
            self._end_table()

    @property
    def _in_table(self) -> bool:
        return any(self.tables)

    def _flush(self) -> None:
        shown = _EMBEDDED.sub("", "".join(self.buffer))
        text = _BREAKS.sub("\n", _SPACES_BUT_BREAKS.sub(" ", shown)).strip()
        self.buffer = []
        if not text:
            return
        if self._in_table:
            self.cell.append(text.replace("\n", " "))
        elif self.heading:
            self.pieces.append(("heading", self.heading, text.replace("\n", " ")))
        elif self.lists or self.marker:
            indent = "  " * max(0, len(self.lists) - 1)
            hanging = indent + " " * len(self.marker or "- ")
            self.items.append((indent + self.marker if self.marker else hanging) + text.replace("\n", f"\n{hanging}"))
            self.marker = ""
        else:
            self.pieces.append(("paragraph", 0, text))

    def _flush_code(self) -> None:
        text = "".join(self.buffer).strip("\n").rstrip()
        self.buffer = []
        if not text.strip():
            return
        if self._in_table:
            self.cell.append(" ".join(text.split()))
        else:
            self.pieces.append(("code", 0, text))

    def _end_list(self) -> None:
        if self.items and not self._in_table:
            self.pieces.append(("list", 0, "\n".join(self.items)))
            self.items = []

    def _end_table(self) -> None:
        lines = [" | ".join(cell for cell in row) for row in self.rows if any(row)]
        self.rows = []
        if lines:
            self.pieces.append(("table", 0, "\n".join(lines)))

    def page(self) -> Page:
        self._flush()
        self._end_list()
        blocks: list[Block] = []
        position = 0
        for kind, level, text in self.pieces:
            end = position + len(text)
            if kind != "paragraph":
                blocks.append(Block(position, end, kind, level, text if kind == "heading" else ""))
            position = end + 2
        return Page("\n\n".join(text for _, _, text in self.pieces), tuple(blocks))
