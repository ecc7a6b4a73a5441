"""Finished blocks of Markdown as lines for a terminal.

In: a block that a model wrote, already checked, and without anything that a terminal would obey. Out: lines, styled or plain.
Nothing that was written is hidden: links, images, HTML and character references are shown as the text that they are.
"""

from __future__ import annotations

import io
import re
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any

from assistant import render, settings

if TYPE_CHECKING:
    from rich.theme import Theme

PROSE = 100  # columns: longer lines are hard to read
# What would make text vanish, or come back as characters that were cleaned away before (&#x202e;).
_LEFT_OUT = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")
_WIDE = re.compile(r"^\s*(?:```|~~~|\|)", re.MULTILINE)  # code and tables, which may take the whole width
_STYLES = {
    "markdown.h1": "bold",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.h4": "bold",
    "markdown.code": "cyan",
    "markdown.code_block": "cyan",
    "markdown.block_quote": "none",
    "markdown.item.bullet": "dim",
    "markdown.item.number": "dim",
    "markdown.hr": "dim",
    "markdown.table.border": "dim",
    "markdown.table.header": "bold",
}
# What is shown otherwise: bullets, the numbers of a list, the language of code.
_MARKERS = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)](?=[ \t]))*(?:(?:`{3,}|~{3,})[^\n]*)?", re.MULTILINE)
_STYLE_CODE = re.compile(r"\x1b\[[0-9;]*m")
_TRAILING = re.compile(r"[ \t]+((?:\x1b\[[0-9;]*m)*)$")


def lines(text: str, *, width: int, styled: bool) -> list[str]:
    """A block, or several, in at most so many columns; styled: with SGR codes of the terminal's own sixteen colours."""
    from rich.console import Console

    begun = textwrap.dedent(text.strip("\n"))
    # A block that goes on inside an item of a list is indented; by itself it would be taken for code.
    indent = min(_indent(text) - _indent(begun), max(width - 20, 0))
    room = (width if _WIDE.search(begun) else min(width, PROSE)) - indent
    shown = io.StringIO()
    console = Console(
        file=shown,
        width=max(room, 20),
        color_system="standard" if styled else None,
        force_terminal=styled,
        theme=_theme(),
        highlight=False,
        emoji=False,
    )
    console.print(_markdown_class()(begun))
    made = [_TRAILING.sub(r"\1", line) for line in shown.getvalue().split("\n")]
    kept: list[str] = []
    for line in made:
        empty = not _STYLE_CODE.sub("", line).strip()
        if not empty:
            kept.append(" " * indent + line)
        elif kept and kept[-1]:  # rich sets tables and code far apart
            kept.append("")
    while kept and not kept[-1]:
        kept.pop()
    # Lists within lists within lists, and tables of more columns than the terminal has, lose text on the way.
    return kept if _letters("\n".join(kept)) >= _letters(_MARKERS.sub("", begun)) else _as_written(text, width)


def write_markdown(text: str, terminal: render.Terminal) -> None:
    """Write a block of Markdown that a model wrote, harmless and without keys; an empty line parts it from one before."""
    if text.startswith("\n"):
        terminal.write()
    shown = render.safe(settings.redact(text.strip("\n")))
    for line in lines(shown, width=terminal.width, styled=terminal.styled):
        terminal.write(line)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, _STYLE_CODE.sub("", text)))


def _as_written(text: str, width: int) -> list[str]:
    lines = text.strip("\n").split("\n")
    return [part for line in lines for part in (render.wrapped(line, width) if render.columns(line) > width else [line])]


def _indent(text: str) -> int:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return len(first) - len(first.lstrip(" "))


@cache
def _theme() -> Theme:
    from rich.theme import Theme

    return Theme(_STYLES)


@cache
def _markdown_class() -> Any:
    """Markdown of rich, parsed so that nothing vanishes, with headings at the left."""
    from markdown_it import MarkdownIt
    from rich.markdown import Heading, Markdown

    class LeftHeading(Heading):
        LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")

    class Plain(Markdown):
        elements = Markdown.elements | {"heading_open": LeftHeading}

        def __init__(self, markup: str) -> None:
            super().__init__("", code_theme="ansi_dark", hyperlinks=False)
            parser = MarkdownIt().enable(["strikethrough", "table"]).disable(_LEFT_OUT)
            self.parsed = parser.parse(markup)
            for token in self.parsed:
                for child in token.children or ():
                    if child.type == "softbreak":  # models break lines where they mean it
                        child.type = "hardbreak"

    return Plain
