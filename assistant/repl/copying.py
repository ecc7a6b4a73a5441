"""Putting text on the person's clipboard: by the terminal itself (OSC 52), and by the desktop's own program where there is one."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

from assistant.errors import UserError

_MOST = 74_994  # bytes of text that terminals take in one OSC 52 at least
_SECONDS = 5.0


def copy(text: str, *, terminal: bool) -> str:
    """Copy a text; how it was done, in words. terminal: standard output is one that takes escape sequences.

    A terminal does not answer whether it took the text, so the desktop's program gets it as well. Raises UserError when there is
    no way.
    """
    ways = []
    content = text.encode("utf-8", "replace")
    if terminal and len(content) <= _MOST:
        sys.stdout.write(f"\x1b]52;c;{base64.b64encode(content).decode('ascii')}\x07")
        sys.stdout.flush()
        ways.append("the terminal")
    words = program(os.environ, sys.platform)
    if words is not None and _given_to(words, content):
        ways.append(words[0])
    if not ways:
        raise UserError("there is no clipboard that can be reached", "/save FILE writes the answer to a file")
    return " and ".join(ways)


def program(environment: Mapping[str, str], platform: str) -> list[str] | None:
    """The command that takes a clipboard's text on its standard input; None without one."""
    ways = [
        (platform == "darwin", ["pbcopy"]),
        ("WAYLAND_DISPLAY" in environment, ["wl-copy"]),
        ("DISPLAY" in environment, ["xclip", "-selection", "clipboard"]),
        ("DISPLAY" in environment, ["xsel", "--clipboard", "--input"]),
    ]
    return next((words for there, words in ways if there and shutil.which(words[0])), None)


def _given_to(words: list[str], content: bytes) -> bool:
    """Whether the program took the text. It stays behind to serve it, so that nothing waits for its output."""
    try:
        done = subprocess.run(  # noqa: S603 - one of the programs named above
            words, input=content, check=False, timeout=_SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
