"""What `assistant.schemas` promises: one plain tree without `$ref` from a model or a schema, and what it costs."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from assistant import schemas
from assistant.messages import Declaration


class Span(BaseModel):
    first: Annotated[int, Field(ge=1)]
    last: int | None = None


class Lookup(BaseModel):
    """What to look up."""

    title: str = Field(description="The heading, e.g. Timeouts")
    span: Span
    order: Literal["date", "path"] = "path"
    tags: list[str] | None = None


class Tree(BaseModel):
    inner: list[Tree]


def test_a_model_becomes_one_plain_schema() -> None:
    assert schemas.of_model(Lookup) == {
        "type": "object",
        "description": "What to look up.",
        "properties": {
            "title": {"type": "string", "description": "The heading, e.g. Timeouts"},
            "span": {
                "type": "object",
                "properties": {"first": {"type": "integer", "minimum": 1}, "last": {"type": "integer"}},
                "required": ["first"],
            },
            "order": {"type": "string", "enum": ["date", "path"], "default": "path"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["title", "span"],
    }


def test_a_model_that_contains_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="contains itself"):
        schemas.of_model(Tree)


def test_references_are_written_out_with_what_stands_beside_them() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/Day~1Night", "description": "when"}, "$ref": {"type": "string"}},
        "$defs": {"Day/Night": {"type": "string", "description": "any"}},
    }
    assert schemas.inlined(schema) == {
        "properties": {"a": {"type": "string", "description": "when"}, "$ref": {"type": "string"}},
    }


@pytest.mark.parametrize("ref", ["#/$defs/None", "other.json#/a", "#/type"])
def test_a_reference_to_nothing_is_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="the schema refers to"):
        schemas.inlined({"type": "object", "properties": {"a": {"$ref": ref}}})


def test_a_schema_without_references_stays_as_it_is() -> None:
    schema: dict[str, Any] = {"title": "T", "properties": {"a": {"enum": [1, {"$ref": "data"}]}}, "required": ["a"]}
    assert schemas.inlined(schema) == schema


def test_the_cost_is_a_quarter_of_the_characters_whatever_they_are() -> None:
    declaration = Declaration("name", "what it does", {"type": "object"})
    written = json.dumps({"name": "name", "description": "what it does", "parameters": {"type": "object"}}, separators=(",", ":"))
    assert schemas.token_cost(declaration) == -(-len(written) // 4)
