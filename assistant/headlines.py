"""Tool results of earlier steps, shortened for a model's window: to their head, and to one line.

Keys and sources stay, so that what was found can still be cited and read again; each says that it was shortened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from assistant.messages import ToolResult
from assistant.results import compact

_LONGEST_TEXT = 200  # characters of a text in a head
_CUT_TEXT = 160
_MOST_ITEMS = 12
_MOST_KEYS = 8
_LONGEST_LINE = 300
_KEPT = 256  # results, which every request of a long conversation has again
_NOTE = "shortened; read_document with the key reads on"
_SOURCED = ("key", "source", "path")


@lru_cache(maxsize=_KEPT)
def head_of(result: ToolResult) -> ToolResult:
    """A result with the beginnings of its texts and lists, or as it is where that is no shorter."""
    value = _value(result)
    if value is None:
        cut = result.content if len(result.content) <= 2 * _LONGEST_TEXT else f"{result.content[: 2 * _CUT_TEXT]} … [{_NOTE}]"
    else:
        cut = compact({"shortened": _NOTE, **_headed(value)})
    return replace(result, content=cut) if len(cut) < len(result.content) else result


@lru_cache(maxsize=_KEPT)
def headline(result: ToolResult) -> ToolResult:
    """A result as one line that names its keys."""
    if len(result.content) <= _LONGEST_LINE:
        return result
    value = _value(result)
    if value is None:
        line = f"{' '.join(result.content[:_CUT_TEXT].split())} … [{_NOTE}]"
    else:
        keys = list(dict.fromkeys(_keys(value)))
        listed = ", ".join(keys[:_MOST_KEYS]) + (f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else "")
        kept = {name: value[name] for name in ("total", "set", "found") if isinstance(value.get(name), str | int)}
        line = compact({"shortened": _NOTE, **kept, **({"keys": listed} if keys else {})})
    return replace(result, content=line) if len(line) < len(result.content) else result


def _value(result: ToolResult) -> dict[str, Any] | None:
    """The object that a result holds, None where it is a text."""
    try:
        value = json.loads(result.content)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _headed(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _cut(member) for name, member in value.items()}


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_CUT_TEXT]} …"
    if isinstance(value, list):
        shown = [_cut(member) for member in value[:_MOST_ITEMS]]
        return [*shown, f"and {len(value) - _MOST_ITEMS} more"] if len(value) > _MOST_ITEMS else shown
    if isinstance(value, Mapping):
        kept = list(value.items()) if any(name in value for name in _SOURCED) else list(value.items())[:_MOST_ITEMS]
        return {name: _cut(member) for name, member in kept}
    return value


def _keys(value: Any) -> Iterator[str]:
    """The citation keys in a result, in their order."""
    if isinstance(value, Mapping):
        if isinstance(value.get("key"), str):
            yield value["key"]
        for member in value.values():
            yield from _keys(member)
    elif isinstance(value, list):
        for member in value:
            yield from _keys(member)


__all__ = ["head_of", "headline"]
