"""Checking a call's arguments against the tool's JSON Schema: typed values, or an error that a model can act on.

The error names the argument first, says what was got and what is wanted, lists everything that is wrong at once, and ends with
JSON that would have been right. How a value is read: `fitting`; how the text is decoded: `decoding`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant import decoding
from assistant.cleaning import clean
from assistant.decoding import NotReadableError
from assistant.errors import ToolCallError
from assistant.fitting import UnfitError, fit, is_open, properties_of, take_members
from assistant.schemas import Schema
from assistant.wording import LISTED, SHOWN, types_of

_WRAPPERS = ("arguments", "parameters", "args", "input")
_EXAMPLE = re.compile(r'e\.g\. ("(?:[^"\\]|\\.)*"|\[[^\]]*\]|-?[0-9.]*[0-9]|true|false)')


def check(tool: str, schema: Schema, text: str | None) -> dict[str, Any]:
    """The arguments of a call as typed values, without the optional ones that are null. Raises ToolCallError."""
    try:
        given = _unwrapped(decoding.arguments(text), schema)
    except NotReadableError as error:
        raise _refusal(tool, schema, [str(error)], {}, ()) from None
    taken: dict[str, Any] = {}
    problems, amiss = take_members(schema, given, taken, open_map=is_open(schema, top=True))
    if problems:
        raise _refusal(tool, schema, problems, taken, amiss)
    return taken


def _refusal(tool: str, schema: Schema, problems: Sequence[str], taken: Mapping[str, Any], amiss: Iterable[str]) -> ToolCallError:
    """The error for a call: what is wrong, then JSON that is right, with the good arguments of the call as they were."""
    right: dict[str, Any] = {}
    properties = properties_of(schema)
    wanted_names = {*taken, *amiss, *(name for name in schema.get("required", ()) if isinstance(name, str))}
    for name in [*properties, *(name for name in wanted_names if name not in properties)]:
        if name in wanted_names:
            kept = name in taken and len(json.dumps(taken[name])) <= SHOWN
            right[name] = taken[name] if kept else example_of(properties.get(name, {}))
    example = clean(json.dumps(right, ensure_ascii=False))
    return ToolCallError(f"bad arguments for {tool}: {'; '.join(problems[:LISTED])}; send JSON like {example}")


def example_of(schema: Any) -> Any:
    """A value that fits: what its description gives after "e.g.", its own example, default or enum, else a plain one."""
    if not isinstance(schema, Mapping):
        return "text"
    stated = [
        *schema.get("examples", ()),
        schema.get("example"),
        schema.get("default"),
        *schema.get("enum", ()),
        schema.get("const"),
    ]
    if found := _EXAMPLE.search(str(schema.get("description", ""))):
        try:
            stated.insert(0, json.loads(found[1]))
        except ValueError:  # prose that only looks like JSON is no example
            stated.insert(0, None)
    for candidate in stated:
        if candidate is not None and _fits_as_it_is(schema, candidate):
            return candidate
    return _made_up(schema)


def _unwrapped(given: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """What stands inside {"arguments": {...}}, or nothing for an echo of an empty schema: habits of models and of servers."""
    properties = properties_of(schema)
    if len(given) == 1:
        (name, inner) = next(iter(given.items()))
        if name in _WRAPPERS and name not in properties and properties and isinstance(inner, dict | str):
            return decoding.arguments(inner) if isinstance(inner, str) else inner
    return {} if given == {"type": "object"} and "type" not in properties else given


def _fits_as_it_is(schema: Schema, candidate: Any) -> bool:
    try:
        return bool(fit(schema, candidate) == candidate)
    except UnfitError:  # the schema contradicts itself there: that is no example
        return False


def _made_up(schema: Schema) -> Any:
    """A plain value of the schema's first type, within its bounds where that is simple."""
    choices = [choice for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) if choice != {"type": "null"}]
    if choices:
        return example_of(choices[0])
    first = next(iter(types_of(schema)), "string")
    if first in {"integer", "number"}:
        return schema.get("minimum", min(1, schema.get("maximum", 1)))
    if first == "array" and schema.get("enum"):
        return [schema["enum"][0]]
    if first == "array":
        return [example_of(schema.get("items", {})) for _ in range(max(1, schema.get("minItems", 1)))]
    if first == "object":
        properties = properties_of(schema)
        names = schema.get("required") or list(properties)[:1]
        return {name: example_of(properties.get(name, {})) for name in names}
    plain = {"boolean": True, "null": None}
    return plain.get(first, "text"[: schema.get("maxLength", 4)].ljust(schema.get("minLength", 0), "x"))


__all__ = ["check", "example_of"]
