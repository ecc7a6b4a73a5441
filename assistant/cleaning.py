"""Text from documents, models and providers without anything that a terminal would obey or that a reader cannot see.

One rule for what goes to a model and for what is printed: `clean`. The words themselves stay as they are stored.
"""

from __future__ import annotations

import json
import re

# C0 but tab and newline, DEL, C1, soft hyphens, zero-width, joining and direction marks, line separators, overrides, isolates and
# other invisible format characters, annotations, lone surrogates, invisible tag characters and the variation selectors in which
# bytes can be hidden (the two that choose how an emoji looks stay).
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
# ECMA-48: a control sequence, or a string (title, link, device control) up to its terminator on the same line.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)")


def clean(text: str) -> str:
    """Text without terminal escapes (and what they carry), control, invisible and direction-changing characters."""
    return _HIDDEN.sub("", _ESCAPES.sub("", text))


def whole(text: str) -> str:
    """What was typed, with "\ufffd" for bytes that were no UTF-8: they come as lone surrogates, which no file and no wire takes."""
    return _SURROGATES.sub("\ufffd", text)


def escaped(json_text: str) -> str:
    """JSON in which such characters are written as JSON escapes, so that nothing is lost."""
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], json_text)


__all__ = ["clean", "escaped", "whole"]
