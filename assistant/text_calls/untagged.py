"""Calls without markup of their own: JSON, Python calls and ReAct lines that fill a message or end it.

An answer and an example look the same, so that a call must name a declared tool, have an object of arguments, and be followed by
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assistant.text_calls.names import Names
from assistant.text_calls.objects import Found, calls_of, plain_arguments
from assistant.text_calls.tagged import json_values, python_calls
from assistant.text_calls.tolerant import Unreadable, value_at

_MOST_STARTS = 20  # places tried as the beginning of the calls
# Possessive throughout: models get stuck in blanks and empty lines, thousands of which must not be gone over again and again.
_LAST_FENCE = re.compile(r"(?:^|\n)[ \t]*+```(?P<kind>[\w+-]*+)[ \t]*+\n(?P<body>(?:(?!```).)*+)(?:```[ \t]*+)?\s*+\Z", re.DOTALL)
_CODE_KINDS = {"", "json", "tool_code", "tool_call", "python", "py", "tool", "text", "plaintext", "javascript", "xml"}
_JSON_START = re.compile(r"(?:(?<=^)|(?<=\n)|(?<=[\s:;]))[\[{](?=\s*+[\[{\"'\w“<])")
_PYTHON_START = re.compile(r"(?:\A|\n)[^\S\n]*+(?=(?:\[\s*+)?(?:print\(\s*+)?[^\W\d][\w.\-:]*+\()")
_GAP = re.compile(r"(?:[\s;,]+|//[^\n]*|#[^\n]*)*")
_REACT = re.compile(
    r"(?:^|\n)Action:[ \t]*+(?P<name>[^\n{\[`]++)\n++Action Input:(?P<input>.*?)(?=\nObservation:|\nThought:|\Z)",
    re.DOTALL,
)
_ACTION_LIST = re.compile(r"(?:^|\n)Action:\s*+(?=```|\[)")


def calls_at_end(text: str, names: Names) -> tuple[list[Found], str]:
    """The calls that a text is or ends with, and the text before them."""
    for read in (_react, _fenced, _bare_json, _bare_python):
        found = read(text, names)
        if found and found[0] and all(names.declared(call.name) for call in found[0]):
            return found
    return [], text


def _react(text: str, names: Names) -> tuple[list[Found], str] | None:
    match = _REACT.search(text)
    if match:
        written = match["input"].strip().removeprefix("```json").strip("`").strip()
        arguments = _object(written)
        if arguments is None or (not written and match.end() < len(text)):
            return None
        return [Found(match["name"].rstrip(), arguments)], text[: match.start()]
    listed = _ACTION_LIST.search(text)
    if listed:
        read = json_values(text, listed.end(), names)
        if read and not text[read[1] :].strip(" `\n"):
            return read[0], text[: listed.start()]
    return None


def _object(written: str) -> dict[str, Any] | None:
    try:
        value, end = value_at(written, 0)
    except Unreadable:
        return {} if written in {"", "None", "null"} else None
    return plain_arguments(value) if end == len(written) else None


def _fenced(text: str, names: Names) -> tuple[list[Found], str] | None:
    """A fence that ends the message, and the fences right before it."""
    calls: list[Found] = []
    while match := _LAST_FENCE.search(text):
        if match["kind"].lower() not in _CODE_KINDS:
            break
        read = _whole(match["body"], names)
        if not read:
            break
        calls[:0] = read
        text = text[: match.start()]
    return (calls, text) if calls else None


def _whole(body: str, names: Names) -> list[Found] | None:
    """The calls that a text consists of wholly."""
    body = body.strip()
    values = list(_values(body))
    if values and values[-1][1] == len(body):
        found: list[Found] = []
        for value, _ in values:
            calls = _strings(value, names) or calls_of(value, names, tagged=False)
            if not calls:
                return None
            found += calls
        return found
    read = python_calls(body, 0)
    return read[0] if read and not body[read[1] :].strip() else None


def _values(body: str) -> Iterator[tuple[Any, int]]:
    """Values one after the other, with the end of each; stops where none can be read."""
    position = 0
    while position < len(body):
        try:
            value, position = value_at(body, position)
        except Unreadable:
            return
        gap = _GAP.match(body, position)
        position = gap.end() if gap else position
        yield value, position


def _strings(value: Any, names: Names) -> list[Found] | None:
    """A list of texts each of which is a Python call: ["f(a=1)", "g()"]."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    found: list[Found] = []
    for item in value:
        read = python_calls(item, 0)
        if not read or item[read[1] :].strip():
            return None
        found += read[0]
    return found


def _bare_json(text: str, names: Names) -> tuple[list[Found], str] | None:
    stripped = text.rstrip()
    for number, match in enumerate(_JSON_START.finditer(stripped)):
        if number == _MOST_STARTS:
            return None
        found = _whole(stripped[match.start() :], names)
        if found:
            return found, text[: match.start()]
    return None


def _bare_python(text: str, names: Names) -> tuple[list[Found], str] | None:
    stripped = text.rstrip("` \n\t") if text.count("```") % 2 else text.rstrip()
    for number, match in enumerate(_PYTHON_START.finditer(stripped)):
        if number == _MOST_STARTS:
            return None
        read = python_calls(stripped, match.end())
        if read and not stripped[read[1] :].strip():
            return read[0], text[: match.start()]
    return None
