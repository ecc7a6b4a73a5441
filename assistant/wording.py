"""Schemas and values in words, for errors that a model can act on: what is wanted, what was got, which name was meant."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from assistant.cleaning import clean
from assistant.schemas import Schema

SHOWN = 60  # characters of a value that a message repeats
LISTED = 30  # names or values that a message lists
_COMPARED = 200  # characters of a name that are compared


def show(value: Any) -> str:
    """A value as short JSON."""
    written = clean(json.dumps(value, ensure_ascii=False))
    return written if len(written) <= SHOWN else written[: SHOWN - 1] + "…"


def quoted(name: str) -> str:
    """A name in double quotes, on one line and not too long."""
    return f'"{" ".join(clean(name).split())[:SHOWN]}"'


def listed(values: Sequence[Any]) -> str:
    """Values in a row, the first of many with the number of the others."""
    shown = ", ".join(show(value) for value in values[:LISTED])
    return f"{shown} and {len(values) - LISTED} more" if len(values) > LISTED else shown


def fold(name: str) -> str:
    """A name without what models get wrong in names: case, and which of `.`, `-`, `_` and space joins its words."""
    return name.strip().casefold().replace("-", "_").replace(".", "_").replace(" ", "_")


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that a misspelled one most likely means, the first of equals; None when none is near (cutoff: 0 to 1)."""
    folded = fold(name)[:_COMPARED]
    scored = [(SequenceMatcher(None, folded, fold(candidate)[:_COMPARED]).ratio(), candidate) for candidate in known]
    score, best = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
    return best if score >= cutoff and best else None


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types that a schema names, in lower case; () for any."""
    stated = schema.get("type", ())
    names = (stated,) if isinstance(stated, str) else tuple(stated)
    return tuple(name.lower() for name in names if isinstance(name, str))


def wanted(schema: Any) -> str:
    """What a schema asks for: "an integer from 1 to 50", "a list, each item a text"."""
    if not isinstance(schema, Mapping):
        return "a value"
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema.get("const")]
        within = "a list of " if types_of(schema) == ("array",) else ""
        return f"{within}{listed(values)}" if len(values) == 1 else f"{within}one of {listed(values)}"
    choices = [choice for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) if choice != {"type": "null"}]
    if choices:
        return " or ".join(dict.fromkeys(wanted(choice) for choice in choices))
    words = [_WORDS[name](schema) for name in types_of(schema) if name in _WORDS]
    return " or ".join(words) or "a value"


def _text(schema: Schema) -> str:
    pattern = f" that matches {schema['pattern']}" if "pattern" in schema else ""
    if schema.get("minLength") == 1 and "maxLength" not in schema:
        return f"a text that is not empty{pattern}"
    return f"a text{_range(schema, 'minLength', 'maxLength', ' of {} characters')}{pattern}"


def _number(word: str) -> Callable[[Schema], str]:
    def words(schema: Schema) -> str:
        step = f", a multiple of {schema['multipleOf']}" if "multipleOf" in schema else ""
        above = [f" above {schema['exclusiveMinimum']}"] if "exclusiveMinimum" in schema else []
        below = [f" below {schema['exclusiveMaximum']}"] if "exclusiveMaximum" in schema else []
        return word + _range(schema, "minimum", "maximum", " {}") + " and".join(above + below) + step

    return words


def _array(schema: Schema) -> str:
    each = f", each item {wanted(schema['items'])}" if isinstance(schema.get("items"), Mapping) else ""
    distinct = ", none of them twice" if schema.get("uniqueItems") else ""
    return f"a list{_range(schema, 'minItems', 'maxItems', ' of {} items')}{each}{distinct}"


def _object(schema: Schema) -> str:
    names = schema.get("properties") or {}
    members = f" with {', '.join([*names][:LISTED])}" if names else ""
    return f"an object{members}{_range(schema, 'minProperties', 'maxProperties', ' of {} members')}"


def _range(schema: Schema, low: str, high: str, form: str) -> str:
    """Two bounds in words, one bound, or nothing."""
    least, most = schema.get(low), schema.get(high)
    if least is None and most is None:
        return ""
    if least is None:
        return form.format(f"of at most {most}" if form == " {}" else f"at most {most}")
    if most is None:
        return form.format(f"of at least {least}" if form == " {}" else f"at least {least}")
    return form.format(f"from {least} to {most}" if form == " {}" else f"{least} to {most}")


_WORDS: Mapping[str, Callable[[Schema], str]] = {
    "string": _text,
    "integer": _number("an integer"),
    "number": _number("a number"),
    "boolean": lambda _: "true or false",
    "array": _array,
    "object": _object,
    "null": lambda _: "null",
}


__all__ = ["LISTED", "SHOWN", "fold", "listed", "nearest", "quoted", "show", "types_of", "wanted"]
