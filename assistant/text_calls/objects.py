"""From a decoded value to calls: every way in which models name the tool and hold its arguments."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from assistant.text_calls.names import Names
from assistant.text_calls.tolerant import Unreadable, value_at

_NAME_KEYS = ("name", "tool_name", "tool", "function_name", "function", "recipient_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "params", "args", "input", "tool_input", "action_input", "kwargs")
_BESIDE = {"type", "id", "tool_call_id", "call_id", "index", "reasoning", "thought"}  # fields that say nothing about the call
_LISTS = ("tool_calls", "function_calls", "calls", "tools_called")
_NOTHING: tuple[Any, ...] = (None, "", "null", "None", "{}", "[]", [])


@dataclass(frozen=True, slots=True)
class Found:
    """A call as it was written: the name not yet looked up."""

    name: str
    arguments: dict[str, Any]


def calls_of(value: Any, names: Names, *, tagged: bool) -> list[Found] | None:
    """The calls that a value stands for; None when it is something else: an answer, an example, a schema.

    tagged: it stood in the markup of a call, so that its name need not be a declared one.
    """
    if isinstance(value, list):
        found: list[Found] = []
        for item in value:
            calls = calls_of(item, names, tagged=tagged)
            if not calls:
                return None
            found += calls
        return found
    if not isinstance(value, dict) or not value:
        return None
    for key in _LISTS:
        if isinstance(value.get(key), list) and not set(value) - {key} - _BESIDE - {"content", "role"}:
            return calls_of(value[key], names, tagged=tagged)
    inner = value.get("function")
    if isinstance(inner, dict) and not set(value) - {"function"} - _BESIDE:
        return calls_of(inner, names, tagged=tagged)
    return _named(value, names, tagged=tagged) or _keyed(value, names)


def _named(value: dict[str, Any], names: Names, *, tagged: bool) -> list[Found] | None:
    """A name in a field of its own, the arguments in another; without arguments only when nothing else is there."""
    key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if key is None or "description" in value:
        return None
    if names.declared(value[key]) is None and not tagged:
        return None
    holder = next((name for name in _ARGUMENT_KEYS if name in value and name != key), None)
    others = set(value) - {key, holder} - _BESIDE
    if holder is None:
        return [Found(value[key], {})] if not others else None
    if others - {"content", "role", "description"} and not tagged and not others <= set(_NAME_KEYS):
        return None
    arguments = plain_arguments(value[holder])
    return None if arguments is None else [Found(value[key], arguments)]


def _keyed(value: dict[str, Any], names: Names) -> list[Found] | None:
    """The name as the key of its arguments: {"search": {"query": "x"}}. Declared names only, or any object would be a call."""
    found = []
    for name, held in value.items():
        if not isinstance(held, dict) or names.declared(name) is None:
            return None
        arguments = plain_arguments(held)
        if arguments is None:
            return None
        found.append(Found(name, arguments))
    return found


def plain_arguments(held: Any) -> dict[str, Any] | None:
    """Arguments without what models wrap around them; None when they are a schema, or no object at all."""
    for _ in range(4):
        if isinstance(held, str) and held.strip() not in _NOTHING:
            held = _decoded(held)
        elif isinstance(held, list) and len(held) == 1 and isinstance(held[0], dict):
            held = held[0]
        elif isinstance(held, dict) and set(held) <= {"arguments"} and isinstance(held.get("arguments"), dict | str):
            held = held["arguments"]
        else:
            break
    if (isinstance(held, str) and held.strip() in _NOTHING) or (not isinstance(held, dict) and held in _NOTHING):
        return {}
    if not isinstance(held, dict):
        return None
    if held == {"type": "object"}:
        return {}
    properties = held.get("properties")
    if isinstance(properties, dict) and set(held) <= {"type", "properties", "required", "additionalProperties"}:
        if any(isinstance(item, dict) and "type" in item and "value" not in item for item in properties.values()):
            return None
        held = properties
    return {str(name): _unwrapped(item) for name, item in held.items()}


def _unwrapped(item: Any) -> Any:
    """A field's value where the field echoes its schema: {"type": "string", "value": "x"}."""
    return item["value"] if isinstance(item, dict) and {"type", "value"} <= set(item) else item


def _decoded(text: str) -> Any:
    try:
        value, end = value_at(text, 0)
    except Unreadable:
        return text
    return value if not text[end:].strip() else text


def as_json(arguments: dict[str, Any]) -> str:
    """Arguments as JSON text."""
    return json.dumps(arguments, ensure_ascii=False, default=str)
