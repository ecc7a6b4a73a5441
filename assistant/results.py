"""What a tool returned, as the text that a model reads: plain, clean, compact and within a budget.

A tool that knows how to be brief keeps within the budget itself and says how to read on; what is cut here is cut without
knowledge of its meaning.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

from assistant.cleaning import clean

RESULT_BUDGET = 12_000  # characters, about 3,000 tokens
_MAX_DEPTH = 40
_NOTE = "{shown} of {total} characters shown; ask for less at a time to see the rest"


def as_content(value: Any, budget: int) -> str:
    """The value as compact JSON of at most `budget` characters; a text stays a text, None is "". What is cut says so."""
    if value is None:
        return ""
    if isinstance(value, str):
        return shortened(clean(value), budget)
    content = compact(plain(value))
    if len(content) <= budget:
        return content
    shown = max(0, budget - 200)
    while True:  # a part of JSON within a JSON string grows by its escapes
        note = _NOTE.format(shown=shown, total=len(content))
        cut = compact({"cut": note, "beginning": content[:shown]})
        if len(cut) <= budget or not shown:
            return cut
        shown = max(0, shown - max(1, len(cut) - budget))


def shortened(text: str, budget: int) -> str:
    """The text, or its beginning with a note of what is missing."""
    if len(text) <= budget:
        return text
    shown = max(0, budget - 100)
    return f"{text[:shown]}… [{_NOTE.format(shown=shown, total=len(text))}]"


def compact(value: Any) -> str:
    """JSON without white space, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON data with clean texts; what JSON has no form for becomes its text."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if depth < _MAX_DEPTH:
        if isinstance(value, Mapping):
            return {clean(str(key)): plain(member, depth + 1) for key, member in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            return [plain(member, depth + 1) for member in value]
        if isinstance(value, Set):
            return sorted((plain(member, depth + 1) for member in value), key=str)
    return clean(str(value))


__all__ = ["RESULT_BUDGET", "as_content", "compact", "plain", "shortened"]
