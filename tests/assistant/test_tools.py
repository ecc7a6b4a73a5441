"""What `assistant.tools` promises: nothing runs unchecked, whatever happens is one result, and a result is clean and bounded."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from assistant.errors import ToolCallError, ToolError
from assistant.messages import Declaration, ToolCall
from assistant.results import RESULT_BUDGET
from assistant.tools import Ran, Tool, Toolbox, ToolOutput
from search import FilterError, LibraryError, NotFoundError

ANY = {"type": "object", "properties": {"text": {"type": "string"}}}


def ran(run: Callable[..., Any], arguments: str = "{}", **options: Any) -> Ran:
    return Toolbox([Tool("do.it", "", ANY, run)], **options).run(ToolCall("c1", "do.it", arguments))


def fails(error: BaseException) -> Callable[..., Any]:
    def run(**_: Any) -> None:
        raise error

    return run


def test_a_call_runs_with_the_checked_arguments_and_its_output_is_kept() -> None:
    output = ToolOutput({"said": "ö"}, "one word", resolved={"text": "7"})
    seen: list[str] = []
    done = ran(lambda text: (seen.append(text), output)[1], '{"text": 7}')
    assert seen == ["7"]
    assert done.result.call_id == "c1"
    assert done.result.name == "do.it"
    assert done.result.content == '{"said":"ö"}'
    assert not done.result.is_error
    assert (done.output, done.arguments, done.failure) == (output, {"text": "7"}, None)
    assert done.seconds >= 0


@pytest.mark.parametrize(("name", "arguments"), [("do.it", '{"text": []}'), ("do_that", "{}"), ("", "{}"), ("do.it", "{")])
def test_a_call_that_does_not_check_runs_nothing(name: str, arguments: str) -> None:
    seen: list[int] = []
    done = Toolbox([Tool("do.it", "", ANY, lambda **_: seen.append(1))]).run(ToolCall("c1", name, arguments))
    assert seen == []
    assert done.result.is_error
    assert done.result.name == name
    assert (done.output, done.failure) == (None, None)


@pytest.mark.parametrize(
    ("written", "near"),
    [("search_docs", "hybrid_search"), ("Hybrid.Search", "hybrid_search"), ("read", "read_document"), ("zzz", None)],
)
def test_an_unknown_tool_is_answered_with_the_list_and_the_nearest(written: str, near: str | None) -> None:
    box = Toolbox([Tool(name, "", ANY, print) for name in ("hybrid_search", "keyword_search", "read_document")])
    with pytest.raises(ToolCallError) as caught:
        box.validate(written, "{}")
    opening = f'no tool named "{written}"; the tools are hybrid_search, keyword_search, read_document.'
    assert str(caught.value) == opening + (f' Did you mean "{near}"?' if near else "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ToolError('"key": got "x", want one that was shown'), '"key": got "x", want one that was shown'),
        (NotFoundError("no passage has the key", "search again"), "no passage has the key; search again"),
        (FilterError("after: 'x' is not understood", "--after 2026-01-01"), "after: 'x' is not understood"),
    ],
)
def test_an_error_for_the_model_is_its_result(error: Exception, told: str) -> None:
    done = ran(fails(error))
    assert (done.result.content, done.result.is_error, done.failure) == (told, True, None)


@pytest.mark.parametrize("error", [RuntimeError("/home/me key=sk-123"), LibraryError("/home/me"), SystemExit(3), RecursionError()])
def test_of_an_unforeseen_exception_the_model_learns_the_class_and_the_person_all(error: BaseException) -> None:
    done = ran(fails(error))
    assert done.result.is_error
    assert type(error).__name__ in done.result.content
    assert "/home" not in done.result.content
    assert "sk-" not in done.result.content
    assert done.failure is error


def test_what_is_behind_a_tool_error_is_kept_for_the_person() -> None:
    cause = LibraryError("/home/me/library.db")

    def run() -> None:
        raise ToolError("use another tool") from cause

    done = ran(run)
    assert (done.result.content, done.failure) == ("use another tool", cause)


def test_an_interrupt_is_let_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        ran(fails(KeyboardInterrupt()))


# Results


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (None, ""),
        ("", ""),
        ("two\nlines", "two\nlines"),
        (5, "5"),
        (True, "true"),
        ([], "[]"),
        ({"a": (1, 2), 3: {4}}, '{"a":[1,2],"3":[4]}'),
        (date(2026, 10, 15), '"2026-10-15"'),
        ({"at": Path("a/b"), "raw": b"x", "none": float("nan")}, '{"at":"a/b","raw":"b\'x\'","none":"nan"}'),
        ({"text": "red\x1b[31m\u202e", "\x00k": "\ud800"}, '{"text":"red","k":""}'),
    ],
)
def test_any_value_becomes_clean_compact_json(returned: object, content: str) -> None:
    assert ran(lambda **_: returned).result.content == content


def test_a_value_without_end_is_a_result_too() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert json.loads(ran(lambda **_: endless).result.content)


def test_a_value_that_cannot_even_be_shown_is_an_error_result() -> None:
    class Broken:
        def __str__(self) -> str:
            raise ValueError("no")

    done = ran(lambda **_: Broken())
    assert done.result.is_error
    assert isinstance(done.failure, ValueError)


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)),
    st.integers(300, 900),
)
def test_a_result_stays_within_its_budget_and_says_when_it_is_cut(value: object, budget: int) -> None:
    big = [value, '"\\\n' * 400]
    content = ran(lambda **_: big, budget=budget).result.content
    assert len(content) <= budget
    assert "ask for less at a time" in json.loads(content)["cut"]


def test_a_long_text_and_a_long_error_are_cut_and_say_so() -> None:
    text = ran(lambda **_: "x" * 50_000).result.content
    assert len(text) <= RESULT_BUDGET
    assert "of 50000 characters shown" in text
    error = ran(fails(ToolError("x" * 50_000))).result.content
    assert len(error) <= 2000
    assert "of 50000 characters shown" in error


# Declaring


class Arguments(BaseModel):
    text: str


def test_a_tool_is_made_from_a_schema_or_a_model() -> None:
    box = Toolbox([Tool("a.b c", "", ANY, print), Tool(name="m", description="d", parameters=Arguments, run=lambda text: text)])
    model = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert box.declarations() == (Declaration("a.b c", "", ANY), Declaration("m", "d", model))
    assert box.run(ToolCall("1", "m", '{"text": "x"}')).result.content == "x"


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        Toolbox([Tool("a", "", ANY, print), Tool("a", "", ANY, print)])
