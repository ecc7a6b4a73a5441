"""The terminal: its size and colours, whether it shows every script, and the editor that /open starts."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

from assistant import editor, settings
from assistant.doctor.models import Check, Named, Scene
from assistant.errors import UserError

_LEAST_COLUMNS = 60


def checks(scene: Scene) -> Iterator[Named]:  # noqa: ARG001 - every family is asked alike
    """What is seen of an answer, and what opens its sources."""
    yield "size and colours", _size
    yield "characters", _characters
    yield "editor", _editor


def _size() -> Check:
    name = "size and colours"
    if sys.stdout is None or not sys.stdout.isatty():
        return Check(name, "skipped", "the output is no terminal")
    size = shutil.get_terminal_size()
    term = os.environ.get("TERM", "")
    reason = next(
        (why for why, off in (("NO_COLOR is set", os.environ.get("NO_COLOR")), (f"TERM={term}", term in {"", "dumb"})) if off), ""
    )
    found = f"{size.columns} x {size.lines}, {f'no colours ({reason})' if reason else f'colours (TERM={term})'}"
    if size.columns < _LEAST_COLUMNS:
        return Check(name, "warning", f"{found}: tables become records", "resize -s 24 100")
    return Check(name, "ok", found)


def _characters() -> Check:
    encoding = (getattr(sys.stdout, "encoding", None) or "unknown").lower()
    if encoding.replace("-", "") not in {"utf8", "utf8sig"}:
        finding = f"{encoding}: what it cannot show becomes a question mark"
        return Check("characters", "warning", finding, "export LC_ALL=C.UTF-8 PYTHONUTF8=1")
    return Check("characters", "ok", "UTF-8")


def _editor() -> Check:
    chosen = settings.own()
    where = "none is set" if chosen.editor is None else f"from {chosen.origin('editor').where}"
    try:
        program = editor.words(chosen.editor)[0]
    except UserError as error:
        return Check("editor", "warning", f"{error} ({where})", "export EDITOR=nano")
    return Check("editor", "ok", f"{shutil.which(program)} ({where})", "export EDITOR=nano")


__all__ = ["checks"]
