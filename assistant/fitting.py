"""One value and one JSON Schema: the value as the schema means it, or what is wrong with it in words.

What means the right thing is taken as what it means ("10" for a number, "true" for a boolean, null for an optional field, JSON in
a string for a list, an enum value in other case). A schema without `additionalProperties` is closed; a nested object with no
properties is an open map. Keywords that nothing here reads (format, not, if, ...) are no condition.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from assistant import decoding
from assistant.decoding import NotReadableError
from assistant.schemas import Schema
from assistant.wording import LISTED, fold, nearest, quoted, show, types_of, wanted

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}(?:\.0{1,300})?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,3})?")


class UnfitError(ValueError):
    """A value that a schema does not allow. The message goes behind the argument's name: "got 500, want ..."."""


def fit(schema: Any, value: Any) -> Any:
    """The value as the schema means it. Raises UnfitError."""
    if schema is False:
        raise UnfitError(f"got {show(value)}, want nothing here")
    if not isinstance(schema, Mapping):
        return value
    for part in schema.get("allOf", ()):
        value = fit(part, value)
    for choices in (schema.get("anyOf"), schema.get("oneOf")):
        if choices:
            value = _fit_any(choices, value, schema)
    value = _fit_type(schema, value)
    value = _fit_enum(schema, value)
    _check_bounds(schema, value)
    return value


def take_members(
    schema: Schema, given: Mapping[str, Any], taken: dict[str, Any], *, open_map: bool
) -> tuple[list[str], tuple[str, ...]]:
    """Put the members of an object that fit into `taken`; return the problems with the others and the names they concern."""
    properties = properties_of(schema)
    required = [name for name in schema.get("required", ()) if isinstance(name, str)]
    missing = [name for name in required if name not in given]
    unknown = [] if open_map else [name for name in given if name not in properties and name not in required]
    problems: list[str] = []
    amiss: list[str] = []
    for name in unknown[:LISTED]:
        free = [known for known in [*missing, *properties] if known not in given]
        meant = nearest(name, free)
        shown = quoted(name)
        problems.append(f'{shown}: no such argument, did you mean "{meant}"?' if meant else f"{shown}: no such argument")
        if meant in missing:
            missing.remove(meant)
        amiss += [meant] if meant else []
    problems += [f"{quoted(name)}: missing, want {wanted(properties.get(name, {}))}" for name in missing]
    amiss += missing
    for name, value in given.items():
        if name in unknown:
            continue
        inner = properties.get(name, schema.get("additionalProperties", {}) if name not in required else {})
        if value is None and name not in required and not _takes_null(inner) and name in properties:
            continue
        try:
            taken[name] = fit(inner, value)
        except UnfitError as error:
            if value == "" and name not in required:
                continue  # how some models leave out an optional argument that is no text
            problems.append(f"{quoted(name)}: {error}")
            amiss.append(name)
    if unknown:
        names = ", ".join([*properties][:LISTED]) or "none"
        problems.append(f"permitted are {names}" if properties else "no arguments are permitted")
    return problems, tuple(amiss)


def is_open(schema: Schema, *, top: bool) -> bool:
    """Whether an object may have members that are not declared."""
    if "patternProperties" in schema:
        return True
    stated = schema.get("additionalProperties")
    if stated is not None:
        return stated is not False
    return not top and not properties_of(schema)


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """The declared members of an object by name."""
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _takes_null(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return schema is not False
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if choices:
        return any(_takes_null(choice) for choice in choices)
    types = types_of(schema)
    return "null" in types or schema.get("nullable") is True or (not types and None in schema.get("enum", (None,)))


def _fit_any(choices: Sequence[Any], value: Any, schema: Schema) -> Any:
    """By the choice that takes the value as it is, else by the first that can take it at all."""
    fitting = []
    for choice in choices:
        try:
            fitting.append(fit(choice, value))
        except UnfitError:  # refused by this choice: another may take it
            continue
    if not fitting:
        raise UnfitError(f"got {show(value)}, want {wanted(schema)}")
    return next((found for found in fitting if type(found) is type(value) and found == value), fitting[0])


def _fit_type(schema: Schema, value: Any) -> Any:
    types = types_of(schema)
    if value is None and (schema.get("nullable") is True or "null" in types):
        return None
    if not types:
        return value
    readings = [_READINGS[name] for name in types if name in _READINGS]
    if len(readings) < len([name for name in types if name != "null"]):
        return value  # a type that JSON Schema does not know ("any") is no condition
    fitting = [found for read in readings if (found := read(schema, value)) is not _UNFIT]
    if not fitting:
        raise UnfitError(f"got {show(value)}, want {wanted(schema)}")
    return next((found for found in fitting if type(found) is type(value)), fitting[0])


_UNFIT = object()


def _as_string(_schema: Schema, value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # an error code or a year, written without quotes; a float has lost how it was written
    return value if isinstance(value, str) else _UNFIT


def _as_integer(_schema: Schema, value: Any) -> Any:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else _UNFIT


def _as_number(schema: Schema, value: Any) -> Any:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        written = value.strip()
        number = int(written) if _INTEGER.fullmatch(written) and "." not in written else float(written)
        return number if math.isfinite(number) else _UNFIT
    return value if isinstance(value, float) else _as_integer(schema, value)


def _as_boolean(_schema: Schema, value: Any) -> Any:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), _UNFIT)
    return value if isinstance(value, bool) else _UNFIT


def _as_array(schema: Schema, value: Any) -> Any:
    value = _from_text(value, "[")
    if not isinstance(value, list):
        return _UNFIT
    items = schema.get("items", {})
    fitted = []
    for number, member in enumerate(value, 1):
        try:
            fitted.append(fit(items, member))
        except UnfitError as error:
            raise UnfitError(f"item {number}: {error}") from None
    return fitted


def _as_object(schema: Schema, value: Any) -> Any:
    value = _from_text(value, "{")
    if not isinstance(value, dict):
        return _UNFIT
    taken: dict[str, Any] = {}
    problems, _ = take_members(schema, value, taken, open_map=is_open(schema, top=False))
    if problems:
        raise UnfitError("in it " + "; ".join(problems))
    return taken


def _as_null(_schema: Schema, value: Any) -> Any:
    return value if value is None else _UNFIT


_READINGS = {
    "string": _as_string,
    "integer": _as_integer,
    "number": _as_number,
    "boolean": _as_boolean,
    "array": _as_array,
    "object": _as_object,
    "null": _as_null,
}


def _from_text(value: Any, opening: str) -> Any:
    """A list or an object that was written as JSON inside a string; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith(opening):
        try:
            return decoding.decoded(value)
        except NotReadableError as error:
            raise UnfitError(f"got {show(value)}, {error}") from None
    return value


def _fit_enum(schema: Schema, value: Any) -> Any:
    """The value of the enum that is meant, also when it was written in other case."""
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is None or (value is None and _takes_null(schema)):
        return value
    if isinstance(value, list) and not any(isinstance(candidate, list) for candidate in allowed):
        return [_fit_enum(schema, member) for member in value]  # written beside an array it is meant for its items
    for candidate in allowed:
        if candidate == value and isinstance(candidate, bool) == isinstance(value, bool):
            return value
    alike = [candidate for candidate in allowed if isinstance(candidate, str) and fold(candidate) == fold(str(value))]
    if isinstance(value, str) and len(alike) == 1:
        return alike[0]
    near = nearest(value, [candidate for candidate in allowed if isinstance(candidate, str)]) if isinstance(value, str) else None
    raise UnfitError(f"got {show(value)}, want {wanted(schema)}" + (f'; did you mean "{near}"?' if near else ""))


def _check_bounds(schema: Schema, value: Any) -> None:
    """Ranges, lengths, counts, patterns; a bound of another type than the value is no condition."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        step = schema.get("multipleOf")
        within = (
            value >= schema.get("minimum", value)
            and value <= schema.get("maximum", value)
            and not ("exclusiveMinimum" in schema and value <= _bound(schema, "exclusiveMinimum", "minimum"))
            and not ("exclusiveMaximum" in schema and value >= _bound(schema, "exclusiveMaximum", "maximum"))
            and not (step and abs(math.remainder(value, step)) > 1e-9 * abs(step))
        )
    elif isinstance(value, str):
        within = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)) and _matches(schema, value)
    elif isinstance(value, list):
        distinct = len({json.dumps(member, sort_keys=True) for member in value}) == len(value)
        within = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        within = within and (distinct or not schema.get("uniqueItems"))
    elif isinstance(value, dict):
        within = schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value))
    else:
        return
    if not within:
        raise UnfitError(f"got {show(value)}, want {wanted(schema)}")


def _bound(schema: Schema, exclusive: str, inclusive: str) -> float:
    """An exclusive bound; drafts before 6 wrote it as a flag beside the inclusive one."""
    stated = schema[exclusive]
    if isinstance(stated, bool):
        stated = schema.get(inclusive) if stated else None
    return stated if stated is not None else math.nan  # no number is below or above nan


def _matches(schema: Schema, value: str) -> bool:
    pattern = schema.get("pattern")
    if pattern is None:
        return True
    try:
        return re.search(pattern, value) is not None
    except re.error:  # ECMA 262 has forms that Python does not read: what cannot be checked is no condition
        return True


__all__ = ["UnfitError", "fit", "is_open", "properties_of", "take_members"]
