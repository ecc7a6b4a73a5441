"""JSON Schemas of a tool's arguments: made from pydantic models, `$ref` inlined, and what each costs in tokens.

What comes out is plain: one tree without `$ref`, which every provider takes and `checking` reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assistant.messages import Declaration

if TYPE_CHECKING:
    from pydantic import BaseModel

Schema = Mapping[str, Any]

_BY_NAME = ("properties", "patternProperties", "dependentSchemas")  # keywords whose value maps free names to schemas
_VERBATIM = ("enum", "const", "default", "example", "examples", "required")  # keywords whose value is data, not a schema
_DEFINITIONS = ("$defs", "definitions")


def of_model(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a pydantic model without titles; an Optional field is its own type, left out when there is no value.

    Raises ValueError for a model that contains itself.
    """
    plain = _without_noise(inlined(model.model_json_schema()))
    assert isinstance(plain, dict)
    return plain


def inlined(schema: Schema) -> dict[str, Any]:
    """The schema with every `$ref` replaced by what it stands for. Raises ValueError for one unknown or leading in a circle."""
    whole = _inline(schema, schema, ())
    assert isinstance(whole, dict)
    return whole


def token_cost(declaration: Declaration) -> int:
    """About how many tokens a declaration costs: a quarter of its characters as compact JSON, whatever the model."""
    written = {"name": declaration.name, "description": declaration.description, "parameters": declaration.parameters}
    return math.ceil(len(json.dumps(written, ensure_ascii=False, separators=(",", ":"))) / 4)


def _inline(node: Any, root: Schema, open_refs: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(member, root, open_refs) for member in node]
    if not isinstance(node, Mapping):
        return node
    if isinstance(node.get("$ref"), str):
        ref = node["$ref"]
        if ref in open_refs:
            raise ValueError(f"the schema {ref} contains itself and cannot be written out")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**_target(root, ref), **beside}, root, (*open_refs, ref))
    plain: dict[str, Any] = {}
    for key, value in node.items():
        if key in _BY_NAME and isinstance(value, Mapping):
            plain[key] = {name: _inline(inner, root, open_refs) for name, inner in value.items()}
        elif key in _VERBATIM:
            plain[key] = value
        elif key not in _DEFINITIONS:
            plain[key] = _inline(value, root, open_refs)
    return plain


def _target(root: Schema, ref: str) -> Schema:
    """What a reference within the document (`#/$defs/Name`, RFC 6901) stands for."""
    found: Any = root
    if not ref.startswith("#"):
        raise ValueError(f"the schema refers to {ref}, which is not within it")
    for part in ref.lstrip("#/").split("/") if ref != "#" else ():
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        return found
    raise ValueError(f"the schema refers to {ref}, which it does not have")


def _without_noise(node: Any) -> Any:
    """Without titles, and with `T | None = None` as an optional T: pydantic writes both out at length."""
    if isinstance(node, list):
        return [_without_noise(member) for member in node]
    if not isinstance(node, dict):
        return node
    plain: dict[str, Any] = {}
    for key, value in node.items():
        if key in _BY_NAME:
            plain[key] = {name: _without_noise(inner) for name, inner in value.items()}
        elif key in _VERBATIM:
            plain[key] = value
        elif key != "title":
            plain[key] = _without_noise(value)
    choices = plain.get("anyOf", [])
    others = [choice for choice in choices if choice != {"type": "null"}]
    if len(others) == 1 and len(choices) == 2 and plain.get("default", choices) is None:
        beside = {key: value for key, value in plain.items() if key not in {"anyOf", "default"}}
        return {**others[0], **beside}
    return plain


__all__ = ["Schema", "inlined", "of_model", "token_cost"]
