r"""One normalisation for the text of every reader: what a terminal, SQLite or a model could trip over is gone.

Line ends become "\n" one for one, so line numbers of text formats stay those of the file. Only "\n" ends a line, as in
editors: form feed, vertical tab and NEL become a space, U+2028 and U+2029 stay as they are.
"""

from __future__ import annotations

import re

# Terminal escapes go whole: dropping ESC alone would leave "[31m" in the text of a log.
_TERMINAL = re.compile(r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[ -/]?[0-~]")
_SPACES = re.compile("[\x0b\x0c\x85]")
# Control characters, the byte order mark, and the invisible copies of ASCII in U+E0000..E007F that can hide instructions.
_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\U000e0000-\U000e007f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    r"""The same text with "\n" line ends and without control characters, terminal escapes and lone surrogates.

    Everything else is kept exactly, bidirectional controls and zero-width joiners included: scripts need them.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _TERMINAL.sub("", text)
    text = _SPACES.sub(" ", text)
    text = _DROPPED.sub("", text)
    return _SURROGATES.sub("\ufffd", text)


def one_line(text: str, limit: int = 500) -> str:
    """Titles, authors and other properties: cleaned, white space reduced to single spaces, cut at `limit` characters."""
    return " ".join(clean(text).split())[:limit].rstrip()
