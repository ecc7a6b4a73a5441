"""Starting the person's editor at a line: an argument list, never a shell.

What is opened comes from the catalogue of the library, never from the text of an answer, and must lie inside a folder that the
library follows.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assistant import render
from assistant.errors import UserError
from search.sources import to_os

if TYPE_CHECKING:
    from search import Document, Library

_LOOKED_AT = 4_000_000  # bytes of a file in which a line is looked for
_BINARY = 8192  # bytes that tell whether a file is text
_NO_EDITOR = "set VISUAL or EDITOR, such as export EDITOR=vim"


def _plus(line: int, file: str) -> list[str]:
    return [f"+{line}", "--", file]


def _plus_alone(line: int, file: str) -> list[str]:
    return [f"+{line}", file]


def _goto(line: int, file: str) -> list[str]:
    return ["--goto", f"{file}:{line}"]


def _colon(line: int, file: str) -> list[str]:
    return [f"{file}:{line}"]


def _dashed_colon(line: int, file: str) -> list[str]:
    return ["--", f"{file}:{line}"]


def _option(line: int, file: str) -> list[str]:
    return ["--line", str(line), file]


_SYNTAX: Mapping[str, Callable[[int, str], list[str]]] = {
    **dict.fromkeys(("vi", "vim", "nvim", "gvim", "mvim", "view", "nano", "emacs", "emacsclient"), _plus),
    **dict.fromkeys(("micro", "kak", "joe", "mg", "ne", "gedit", "pico"), _plus_alone),
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor", "windsurf"), _goto),
    **dict.fromkeys(("subl", "sublime_text", "zed"), _colon),
    **dict.fromkeys(("hx", "helix"), _dashed_colon),
    **dict.fromkeys(("kate", "kwrite", "idea", "pycharm", "webstorm", "goland"), _option),
}


def editor(setting: str | None) -> str:
    """The editor to start: the one of the settings, else VISUAL, EDITOR, vi. Raises UserError without any."""
    for chosen in (setting, os.environ.get("VISUAL"), os.environ.get("EDITOR")):
        if chosen and chosen.strip():
            return chosen
    if shutil.which("vi"):
        return "vi"
    raise UserError("there is no editor to open it with", _NO_EDITOR)


def command(chosen: str, file: Path, line: int) -> list[str]:
    """The argument list that opens a file at a line, in the way of the editor; one that is not known gets the file alone.

    {path} and {line} in an editor's own arguments are filled in. Raises UserError for quotes that are not closed.
    """
    try:
        words = shlex.split(chosen)
    except ValueError as error:
        raise UserError(f"editor: {chosen!r} cannot be read: {str(error).lower()}", _NO_EDITOR) from None
    if not words:
        raise UserError("there is no editor to open it with", _NO_EDITOR)
    place = os.fspath(file)
    if any("{path}" in word for word in words[1:]):
        return [words[0], *(word.replace("{line}", str(line)).replace("{path}", place) for word in words[1:])]
    write = _SYNTAX.get(Path(words[0]).stem.casefold())
    return [*words, *(write(line, place) if write else [place])]


def start(words: Sequence[str]) -> int:
    """Run an editor on this terminal until it ends; its exit code. Raises UserError when it cannot be started."""
    with _without_interrupts():
        try:
            return subprocess.run(words, check=False).returncode  # noqa: S603 - the person's own editor
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UserError(f"{words[0]} cannot be started: {why}", _NO_EDITOR) from None


def file_of(library: Library, document: Document) -> Path:
    """The file of a document. Raises UserError when it is gone, no file, or not inside a folder that the library follows."""
    shown = render.one_line(document.path)
    full = render.full_path(document)
    if not full.is_absolute():
        raise UserError(f"{shown} is no file: a program added its text", "/read shows what is stored")
    roots = {Path(to_os(root.path)) for root in library.status().roots}
    if Path(to_os(document.root)) not in roots:
        raise UserError(f"{shown} lies in no folder of the library any more", "/index brings the library in step")
    try:
        real, root = full.resolve(strict=True), Path(to_os(document.root)).resolve()
    except OSError:
        raise UserError(f"{shown} is not there any more", "/read shows what is stored; /index brings the library in step") from None
    if not real.is_relative_to(root):
        raise UserError(f"{shown} leads out of its folder, to {render.one_line(str(real))}", "/read shows what is stored")
    if not real.is_file():
        raise UserError(f"{shown} is no file", "/read shows what is stored")
    return full


def line_in_file(file: Path, stored: Sequence[str], wanted: int) -> int:
    """Where a passage begins in the file as it is now: the line nearest to `wanted` that holds its first words, else `wanted`.

    stored: the passage's lines. A converted format has other lines than its stored text, and a file changes. Raises UserError for
    a file that is no text.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(_LOOKED_AT)
    except OSError as error:
        raise UserError(f"{render.one_line(str(file))}: cannot be read: {error.strerror}") from error
    if b"\0" in content[:_BINARY] or content.startswith(b"%PDF-"):
        raise UserError(f"{render.one_line(file.name)} is no text that an editor shows", "/read shows what is stored")
    lines = content.decode("utf-8", "replace").splitlines()
    for words in filter(None, (line.strip() for line in stored)):
        found = [number for number, line in enumerate(lines, 1) if words in line]
        if found:
            return min(found, key=lambda number: abs(number - wanted))
    return wanted if wanted <= len(lines) else 1


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C is the editor's own while it runs. A handler, not SIG_IGN: that one the editor would inherit."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
