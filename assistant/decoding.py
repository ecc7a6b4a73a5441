"""The JSON of a call's arguments, as models write it: decoded within bounds, or refused in words.

Whatever the text is, what comes out is plain JSON data or a NotReadableError; depth, size and numbers are bounded here, so that
nothing after this has to fear them.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

MAX_CHARACTERS = 200_000
MAX_DEPTH = 60
MAX_DIGITS = 300  # every one of them is still a finite float
_WRAPPINGS = 3
_HALF = re.compile("[\ud800-\udfff]")


class NotReadableError(ValueError):
    """Text that is not the JSON of arguments; the message says why."""


def arguments(text: str | None) -> dict[str, Any]:
    """The object that a call's text stands for. None, "", null and [] mean {}; JSON inside a JSON string is unwrapped.

    Raises NotReadableError for anything that is not an object.
    """
    value: Any = text
    for _ in range(_WRAPPINGS):
        if value is None or value == [] or (isinstance(value, str) and not value.strip("\ufeff \t\r\n")):
            return {}
        if not isinstance(value, str):
            break
        value = decoded(value)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):  # some servers wrap the object
        value = value[0]
    if not isinstance(value, dict):
        raise NotReadableError(f"the arguments are {kind(value)}, want an object")
    return value


def decoded(text: str) -> Any:
    """JSON data from text; line breaks within strings are let through. Raises NotReadableError."""
    if len(text) > MAX_CHARACTERS:
        raise NotReadableError(f"got {len(text)} characters, want {MAX_CHARACTERS} at most")
    try:
        value = json.loads(
            text.lstrip("\ufeff"),
            strict=False,
            parse_constant=_no_constant,
            parse_int=_integer,
            parse_float=_number,
            object_pairs_hook=_unique,
        )
    except json.JSONDecodeError as error:
        raise NotReadableError(f"not valid JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise NotReadableError(f"nested more than {MAX_DEPTH} deep") from None
    _check_depth_and_text(value)
    return value


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _no_constant(name: str) -> NoReturn:
    raise NotReadableError(f"{name} is not valid JSON")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotReadableError(f"got a number of {len(digits)} digits, want {MAX_DIGITS} at most")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotReadableError(f"the number {digits[:40]} is too large")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotReadableError(f"{json.dumps(key[:60])}: given more than once")
        found[key] = value
    return found


def _check_depth_and_text(value: Any) -> None:
    """Refuse deep nesting and halves of surrogate pairs, which no file, database or wire can hold. Not recursive on purpose."""
    waiting = [(value, 1)]
    while waiting:
        current, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise NotReadableError(f"nested more than {MAX_DEPTH} deep")
        if isinstance(current, str):
            if _HALF.search(current):
                raise NotReadableError("a text holds half of a character (a lone surrogate)")
        elif isinstance(current, list):
            waiting += [(member, depth + 1) for member in current]
        elif isinstance(current, dict):
            waiting += [(member, depth + 1) for pair in current.items() for member in pair]


__all__ = ["NotReadableError", "arguments", "decoded", "kind"]
