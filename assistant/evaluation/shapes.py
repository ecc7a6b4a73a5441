"""What the files of a run must hold: a run may have come from somebody else, or have been edited.

In: objects as JSON gives them. Out: the name of the first field that is not what it must be, and what that is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _rows(value: Any) -> bool:
    return isinstance(value, list) and all(map(_object, value))


def _scores(value: Any) -> bool:
    return isinstance(value, dict) and all(one is None or _number(one) for one in value.values())


def _measured(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(row, dict) and all(map(_number, row.values())) for row in value.values())


def _calls(value: Any) -> bool:
    return _rows(value) and all(_text(call.get("name")) and {"ok", "repeated"} <= call.keys() for call in value)


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


Shape = Mapping[str, tuple[Check, str]]

_A_TEXT, _A_COUNT = (_text, "a text"), (_count, "a whole number")
_AN_OBJECT, _OBJECTS = (_object, "an object"), (_rows, "a list of objects")
HEAD: Shape = {
    **dict.fromkeys(("name", "started", "archivist"), _A_TEXT),
    **dict.fromkeys(("library", "cases", "settings"), _AN_OBJECT),
    "models": (_texts, "a list of names"),
    "repeats": _A_COUNT,
}
RESULT: Shape = {
    **dict.fromkeys(("case", "model", "kind", "language", "question", "answer", "outcome", "stopped"), _A_TEXT),
    **dict.fromkeys(("repeat", "steps", "input_tokens", "output_tokens"), _A_COUNT),
    "scores": (_scores, "numbers by measure"),
    "calls": (_calls, "calls with their name, ok and repeated"),
    "expected": _AN_OBJECT,
    **dict.fromkeys(("citations", "quotes", "numbers"), _OBJECTS),
    "cost": (_or_none(_number), "a number"),
    "seconds": (_number, "a number"),
    "notices": (_texts, "a list of texts"),
    **dict.fromkeys(("recording", "failed"), (_or_none(_text), "a text")),
}
BEGUN: Shape = {name: RESULT[name] for name in ("case", "model", "repeat")}
_A_MODE = (_measured, "numbers by case and measure")


def fault(row: Mapping[str, Any], shape: Shape) -> str | None:
    """What is wrong of an object, None when nothing is; fields that it does not have are not missed."""
    return next(
        (f'"{name}": want {wanted}' for name, (right, wanted) in shape.items() if name in row and not right(row[name])), None
    )


def fault_of_searches(modes: Mapping[str, Any]) -> str | None:
    """What is wrong of the measures of the searches: {mode: {case: {measure: number}}}."""
    return fault(modes, dict.fromkeys(modes, _A_MODE))
