"""The person's editor, started at a line: an argument list, which no shell ever reads, nor the name of the file that it opens."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from assistant.errors import UserError

_USUAL = ("nano", "vim", "vi")
_HINT = 'archivist config set editor "code --wait", or export EDITOR=nano'


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


def words(setting: str | None) -> list[str]:
    """The editor with its arguments: the setting (which VISUAL and EDITOR fill when nothing else does), else one that is there.

    Raises UserError without any, and for a setting that is no command which can be run.
    """
    if setting is None:
        found = next(filter(shutil.which, _USUAL), None)
        if found is None:
            raise UserError(f"no editor is set, and none of {', '.join(_USUAL)} is there", _HINT)
        return [found]
    try:
        named = shlex.split(setting)
    except ValueError as error:
        raise UserError(f"editor: {setting!r} cannot be read as a command: {str(error).lower()}", _HINT) from error
    if not named or shutil.which(named[0]) is None:
        raise UserError(f"editor: {setting!r} is no command that can be run", _HINT)
    return named


def command(editor: Sequence[str], file: Path, line: int = 1) -> list[str]:
    """The argument list that opens a file at a line, in the way of the editor; one that is not known gets the file alone.

    {path} and {line} in the editor's own arguments are filled in.
    """
    place = os.fspath(file)
    if any("{path}" in word for word in editor[1:]):
        return [editor[0], *(word.replace("{line}", str(line)).replace("{path}", place) for word in editor[1:])]
    write = _SYNTAX.get(Path(editor[0]).stem.casefold())
    return [*editor, *(write(line, place) if write else [place])]


def start(editor: Sequence[str]) -> int:
    """Run an editor on this terminal until it ends; its exit code. Raises UserError when it cannot be started."""
    with _without_interrupts():
        try:
            return subprocess.run(editor, check=False).returncode  # noqa: S603 - the person's own editor
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UserError(f"{editor[0]} cannot be started: {why}", _HINT) from None


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C is the editor's own while it runs. A handler, not SIG_IGN: that one the editor would inherit."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
