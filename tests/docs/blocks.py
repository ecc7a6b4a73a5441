"""The code blocks of the documentation: commands of a shell with the output shown below them, and Python programs.

A comment above a block says what is special about it:

    <!-- run: evals -->        needs ARCHIVIST_EVALS
    <!-- run: exit 1 -->       its last command ends so
    <!-- run: python -->       an indented block that is a program
    <!-- run: parsed: WHY -->  its commands are taken apart, not run
    <!-- run: no: WHY -->      shown only
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARK = re.compile(r"<!-- run: (.*?) -->")
_PROGRAMS = ("archivist ", "cat ", "make ", "export ", ".venv/bin/archivist ", ".venv/bin/python ")


@dataclass(frozen=True)
class Command:
    """A line for a shell, and what the document shows below it."""

    line: str
    shown: tuple[str, ...] = ()

    @property
    def stages(self) -> list[list[str]]:
        """The words of each program of a pipe, comments aside."""
        stages: list[list[str]] = [[]]
        for word in shlex.split(self.line.replace(" | ", " '|' "), comments=True):
            if word == "|":
                stages.append([])
            else:
                stages[-1].append(word)
        return stages


@dataclass(frozen=True)
class Block:
    """One code block: commands, or a program, or neither (a file, a table of output)."""

    line: int
    mark: str
    commands: tuple[Command, ...] = ()
    program: str = ""
    text: str = field(default="", repr=False)


def blocks(path: Path) -> list[Block]:
    """All code blocks of a Markdown file in order."""
    found: list[Block] = []
    mark = ""
    for token in MarkdownIt().parse(path.read_text(encoding="utf-8")):
        if token.type == "html_block" and (match := _MARK.search(token.content)):
            mark = match[1]
        elif token.type in {"fence", "code_block"}:
            found.append(_block(token, mark))
            mark = ""
    return found


def _block(token: Token, mark: str) -> Block:
    line = token.map[0] + 1 if token.map else 0
    text = token.content
    if token.info == "python" or mark == "python" or text.startswith(("from search", "from assistant", "import ")):
        return Block(line, mark, program=text, text=text)
    return Block(line, mark, commands=tuple(_commands(text)), text=text)


def _commands(text: str) -> list[Command]:
    """With `$ ` before each command the other lines are output; else every line that begins with a program is a command."""
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    if not any(line.startswith("$ ") for line in lines):
        return [Command(line) for line in lines if line == "archivist" or line.startswith(_PROGRAMS)]
    commands: list[Command] = []
    for line in lines:
        if line.startswith("$ "):
            commands.append(Command(line.removeprefix("$ ")))
        elif commands and line.strip():
            commands[-1] = Command(commands[-1].line, (*commands[-1].shown, line))
    return commands
