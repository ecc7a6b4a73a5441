"""What `assistant.checking` promises: what means the right thing is typed, the rest refused by name with a right example."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assistant.checking import check, example_of
from assistant.errors import ToolCallError
from assistant.fitting import UnfitError, fit

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "description": 'What to look for, e.g. "timeout"'},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many, e.g. 10"},
        "score": {"type": "number", "exclusiveMinimum": 0},
        "exact": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": True},
        "kind": {"type": "string", "enum": ["Runbook", "note"]},
        "place": {"type": "object", "properties": {"room": {"type": "integer"}}, "required": ["room"]},
        "more": {"type": "object", "properties": {}},
    },
    "required": ["query"],
}


def checked(**arguments: Any) -> dict[str, Any]:
    return check("search", SEARCH, json.dumps({"query": "x"} | arguments))


def refused(text: str | None, schema: dict[str, Any] = SEARCH) -> str:
    with pytest.raises(ToolCallError) as caught:
        check("search", schema, text)
    return str(caught.value)


# What is taken


@pytest.mark.parametrize("text", [None, "", "  ", "null", "[]", "{}", '"{}"', '"null"', '""', '"\\"{}\\""', '{"type":"object"}'])
def test_nothing_in_any_form_means_no_arguments(text: str | None) -> None:
    assert check("now", {"type": "object", "properties": {}}, text) == {}
    assert '"query": missing' in refused(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"query": "x"}',
        r'"{\"query\": \"x\"}"',
        '[{"query": "x"}]',
        '{"arguments": {"query": "x"}}',
        r'{"arguments": "{\"query\": \"x\"}"}',
        '\ufeff{"query": "x"}',
    ],
)
def test_an_object_is_found_in_what_models_and_servers_wrap_it_in(text: str) -> None:
    assert check("search", SEARCH, text) == {"query": "x"}


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("limit", "10", 10),
        ("limit", " 10 ", 10),
        ("limit", 10.0, 10),
        ("limit", "10.0", 10),
        ("score", "2", 2),
        ("score", "0.5", 0.5),
        ("score", "1e-3", 0.001),
        ("score", 7, 7),
        ("exact", "true", True),
        ("exact", "False", False),
        ("query", 404, "404"),
        ("kind", "runbook", "Runbook"),
        ("kind", " NOTE", "note"),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", [1, "b"], ["1", "b"]),
        ("place", '{"room": "7"}', {"room": 7}),
        ("more", {"anything": {"at": [1, None]}}, {"anything": {"at": [1, None]}}),
    ],
)
def test_a_value_that_means_the_right_thing_comes_back_typed(name: str, written: object, meant: object) -> None:
    value = checked(**{name: written})[name]
    assert value == meant
    assert type(value) is type(meant)


def test_an_explicit_null_for_an_optional_argument_counts_as_absent() -> None:
    assert checked(limit=None, tags=None, place=None) == {"query": "x"}


def test_an_empty_text_for_an_optional_argument_that_is_no_text_counts_as_absent() -> None:
    assert checked(limit="", tags="", kind="") == {"query": "x"}
    assert check("t", {"properties": {"a": {"type": "string"}}}, '{"a": ""}') == {"a": ""}
    assert '"a": got "", want an integer' in refused('{"a": ""}', {"properties": {"a": {"type": "integer"}}, "required": ["a"]})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"type": "string", "nullable": True},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"enum": ["a", None]},
    ],
)
def test_null_stays_where_a_schema_takes_it(schema: dict[str, Any]) -> None:
    assert check("t", {"properties": {"a": schema}, "required": ["a"]}, '{"a": null}') == {"a": None}


def test_of_several_types_the_one_as_written_wins() -> None:
    for schema in ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": ["string", "integer"]}):
        assert fit(schema, 5) == 5
        assert fit(schema, "5") == "5"


# What is refused, and how


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("limit", 500, "got 500, want an integer from 1 to 50"),
        ("limit", "ten", 'got "ten", want an integer from 1 to 50'),
        ("limit", True, "got true, want an integer"),
        ("limit", 1.5, "got 1.5, want an integer"),
        ("score", 0, "got 0, want a number above 0"),
        ("score", "1e999", 'got "1e999", want a number'),
        ("exact", "yes", 'got "yes", want true or false'),
        ("exact", 1, "got 1, want true or false"),
        ("query", {"value": "x"}, 'got {"value": "x"}, want a text'),
        ("query", "", 'got "", want a text that is not empty'),
        ("query", None, "got null, want a text"),
        ("query", 1.10, "got 1.1, want a text"),
        ("tags", "a", 'got "a", want a list of at most 3 items, each item a text'),
        ("tags", ["a", {}], "item 2: got {}, want a text"),
        ("tags", ["a", "a"], "none of them twice"),
        ("tags", list("abcd"), "of at most 3 items"),
        ("tags", "[1", "not valid JSON"),
        ("kind", "runbok", 'got "runbok", want one of "Runbook", "note"; did you mean "Runbook"?'),
        ("place", {"rom": 1}, 'in it "rom": no such argument, did you mean "room"?'),
        ("place", {}, 'in it "room": missing'),
        ("place", [], "got [], want an object with room"),
    ],
)
def test_a_wrong_value_is_named_first_with_what_is_wanted(name: str, value: object, words: str) -> None:
    message = refused(json.dumps({"query": "x"} | {name: value}))
    assert message.startswith(f'bad arguments for search: "{name}": ')
    assert words in message


def test_the_message_ends_with_the_call_as_it_should_have_been() -> None:
    assert refused('{"query": "slow gateway", "limit": 500}') == (
        'bad arguments for search: "limit": got 500, want an integer from 1 to 50; '
        'send JSON like {"query": "slow gateway", "limit": 10}'
    )


def test_every_missing_argument_is_named_at_once() -> None:
    schema = {"properties": {name: {"type": "string"} for name in "abc"}, "required": ["a", "b", "c"]}
    message = refused('{"b": "x"}', schema)
    assert '"a": missing' in message
    assert '"c": missing' in message
    assert '"b": missing' not in message


def test_a_misspelled_argument_has_the_right_name_beside_it_and_is_not_missing_too() -> None:
    message = refused('{"qurey": "x"}')
    assert message.startswith('bad arguments for search: "qurey": no such argument, did you mean "query"?')
    assert "missing" not in message


def test_an_unknown_argument_is_answered_with_the_permitted_ones() -> None:
    assert '"zzz": no such argument; permitted are query, limit, score' in refused('{"query": "x", "zzz": 1}')


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_an_empty_schema_permits_no_argument(schema: dict[str, Any]) -> None:
    assert '"a": no such argument; no arguments are permitted' in refused('{"a": 1}', schema)


@pytest.mark.parametrize("extra", [True, {"type": "integer"}])
def test_a_schema_may_be_open(extra: object) -> None:
    assert check("t", {"properties": {}, "additionalProperties": extra}, '{"a": 1}') == {"a": 1}
    if isinstance(extra, dict):
        assert '"a": got "x", want an integer' in refused('{"a": "x"}', {"additionalProperties": extra})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"query": "x"', "not valid JSON: Expecting ',' delimiter"),
        ("query=x", "not valid JSON"),
        ("[1, 2]", "the arguments are a list, want an object"),
        ("5", "the arguments are a number, want an object"),
        ('"hello"', "not valid JSON"),
        ('{"query": NaN}', "NaN is not valid JSON"),
        ('{"query": -Infinity}', "-Infinity is not valid JSON"),
        ('{"score": 1e999}', "the number 1e999 is too large"),
        ('{"query": "a", "query": "b"}', '"query": given more than once'),
        ('{"limit": ' + "9" * 5000 + "}", "a number of 5000 digits"),
        ("[" * 100_000, "nested more than 60 deep"),
        ('{"query":' * 500 + "1" + "}" * 500, "nested more than 60 deep"),
        ('{"query": "\\ud800"}', "half of a character"),
        ('{"\\udfff": "x"}', "half of a character"),
        (" " * 200_000 + "x", "200001 characters"),
    ],
    ids=lambda value: value[:20],
)
def test_text_that_is_no_object_of_arguments_is_refused_in_words(text: str, words: str) -> None:
    assert words in refused(text)[:400]


def test_a_line_break_inside_a_string_is_let_through() -> None:
    assert check("search", SEARCH, '{"query": "two\nlines"}') == {"query": "two\nlines"}


def test_what_a_model_wrote_is_repeated_short_and_without_escapes() -> None:
    message = refused(json.dumps({"query": {"a": "y" * 5000}, "\x1b[31mred\u202e" + "z" * 500: 1}))
    assert len(message) < 700
    assert "\x1b" not in message
    assert "\u202e" not in message


def test_a_pattern_that_python_cannot_read_is_no_condition() -> None:
    assert fit({"type": "string", "pattern": r"\p{L}+"}, "x") == "x"
    with pytest.raises(UnfitError, match="that matches"):
        fit({"type": "string", "pattern": "^[0-9]+$"}, "x")


# For any text and any value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SEARCH["properties"], "zz"]), inner, max_size=4),  # type: ignore[misc]
    max_leaves=12,
)


@given(st.text() | st.text('{}[]",:\\0159eE-truefalsnqy \n') | JSON.map(json.dumps))
@example('{"query":"x","limit":1e400}')
@example('{"query":"x","limit":"' + "9" * 400 + '"}')
@example('{"query":"x","score":' + "9" * 300 + "}")
def test_any_text_is_taken_or_refused_and_never_raises_anything_else(text: str) -> None:
    try:
        taken = check("search", SEARCH, text)
    except ToolCallError:
        return
    assert check("search", SEARCH, json.dumps(taken)) == taken


@given(JSON)
def test_the_example_in_a_refusal_is_accepted(value: object) -> None:
    for name in SEARCH["properties"]:  # type: ignore[attr-defined]
        try:
            check("search", SEARCH, json.dumps({name: value}))
        except ToolCallError as error:
            shown = str(error).rpartition("send JSON like ")[2]
            assert check("search", SEARCH, shown)["query"]


# Against calls of real tools


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.evals
def test_broken_calls_of_real_tools_are_refused_by_name_and_right_ones_taken(evals: Path) -> None:
    amiss = []
    for row in rows(evals / "bfcl" / "mutations.jsonl"):
        lenient = row["mutation"].endswith("_coercible")
        try:
            check(row["name"], row["schema"], json.dumps(row["arguments"]))
            amiss += [] if lenient else [row["id"]]
        except ToolCallError as error:
            named = row["must_mention"] in re.findall(r'"([^"]*)"', str(error))[:2]
            amiss += [row["id"]] if lenient or not named else []
    for row in rows(evals / "bfcl" / "valid.jsonl"):
        check(row["name"], row["schema"], json.dumps(row["arguments"]))
    assert amiss == []


@pytest.mark.evals
def test_an_example_can_be_made_for_the_schemas_of_real_tools(evals: Path) -> None:
    schemas = [tool["parameters"] for row in rows(evals / "bfcl" / "cases.jsonl") for tool in row["tools"]]
    for schema in schemas:
        assert fit(schema, example_of(schema)) is not None
