"""JSON Schema in the few keywords that every provider honours.

Gemini reads `$ref`, `oneOf`, `allOf`, `const` and lists of types badly or not at all, and other servers drop them: references are
put in place, `allOf` is merged, `oneOf` and lists of types become `anyOf`, and `const` an `enum` of one. What a model may send is
checked by us all the same, so that a looser schema here lets nothing through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DROPPED = frozenset({"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "$ref", "allOf", "oneOf", "const"})
ONE = ("items", "additionalProperties", "contains", "not", "propertyNames")
SEVERAL = ("anyOf", "prefixItems")
NAMED = ("properties", "patternProperties")


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without `$ref`, `$defs`, `allOf`, `oneOf` and `const`.

    A reference that leads back to itself becomes an object without constraints. Raises ValueError for one that leads nowhere.
    """
    return _plain(schema, schema, ())


def _plain(node: Mapping[str, Any], root: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """One node and all below it. inside: the references that are being put in place."""
    found: dict[str, Any] = {}
    reference = node.get("$ref")
    if isinstance(reference, str):
        target = _target(reference, root)
        found = {"type": "object"} if reference in inside else _plain(target, root, (*inside, reference))
    for part in node.get("allOf") or ():
        found = _merged(found, _plain(part, root, inside))
    own: dict[str, Any] = {}
    for name, value in node.items():
        if name in NAMED and isinstance(value, Mapping):
            # The keys are names of fields, which may be called "const" or "$ref" as they like.
            own[name] = {field: _below(schema, root, inside) for field, schema in value.items()}
        elif name in ONE:
            own[name] = _below(value, root, inside)
        elif name in SEVERAL and isinstance(value, list):
            own[name] = [_below(schema, root, inside) for schema in value]
        elif name not in DROPPED:
            own[name] = value
    if "oneOf" in node and "anyOf" not in own:
        own["anyOf"] = [_below(schema, root, inside) for schema in node["oneOf"]]
    if "const" in node:
        own["enum"] = [node["const"]]
    return _with_one_type(_merged(found, own))


def _with_one_type(node: dict[str, Any]) -> dict[str, Any]:
    """A list of types as `anyOf`, what is said of items with the array; a type that may be null stays as it is."""
    types = node.get("type")
    if not isinstance(types, list) or len([name for name in types if name != "null"]) < 2 or "anyOf" in node:
        return node
    of_arrays = {name: node[name] for name in ("items", "minItems", "maxItems", "prefixItems") if name in node}
    choices = [{"type": name, **(of_arrays if name == "array" else {})} for name in types]
    return {name: value for name, value in node.items() if name != "type" and name not in of_arrays} | {"anyOf": choices}


def _below(value: Any, root: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """A schema in the place of a schema; True and False are left."""
    return _plain(value, root, inside) if isinstance(value, Mapping) else value


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """What satisfies both, nearly: fields united, required united, enums cut; of any other keyword the second's value."""
    both = {**first, **second}
    for name in NAMED:
        if name in first and name in second:
            shared = {
                field: _merged(first[name][field], schema) if field in first[name] else schema
                for field, schema in second[name].items()
            }
            both[name] = {**first[name], **shared}
    if "required" in first and "required" in second:
        both["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    if "enum" in first and "enum" in second:
        both["enum"] = [value for value in first["enum"] if value in second["enum"]]
    return both


def _target(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference within the schema (`#/$defs/Name`) names. Raises ValueError."""
    node: Any = root
    steps = reference.removeprefix("#").split("/")[1:] if reference.startswith("#") else [reference]
    for step in steps:
        name = step.replace("~1", "/").replace("~0", "~")
        node = node.get(name) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping):
        raise ValueError(f"schema: {reference!r} names nothing in it")  # noqa: TRY004 - the reference is wrong, not a type
    return node


__all__ = ["plain_schema"]
