"""The offline backend in a conversation: which calls it makes, in which order, and when it stops."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from offline_cases import put

from assistant.backends.base import Backend
from assistant.backends.offline import Catalogue, Offline, catalogue_of
from assistant.messages import Declaration, Message, Reply, Request, TextDelta, ToolCall, ToolResult
from assistant.search_tools import build
from assistant.tools import Toolbox
from search import Library

_SEARCH = ("query", "limit", "category", "tags", "after", "before", "within")
_SELECT = ("category", "tags", "format", "author", "language", "after", "before", "date_field", "metadata")
ARGUMENTS = {
    "hybrid_search": _SEARCH,
    "keyword_search": _SEARCH,
    "vector_search": _SEARCH,
    "find_similar": ("key", "text", "limit"),
    "filter_documents": (*_SELECT, "order_by", "limit", "offset"),
    "count_documents": (*_SELECT, "group_by"),
}
LISTS = {"category", "tags", "format", "author", "language", "metadata"}
CATALOGUE = Catalogue(categories=("recipes",), formats=("pdf",), authors=("Ada Quill",))
TODAY = date(2026, 10, 15)


@pytest.fixture
def backend() -> Backend:
    return Offline(CATALOGUE, today=TODAY)


def declarations() -> tuple[Declaration, ...]:
    """Tools that take several values for each filter."""
    return tuple(
        Declaration(
            name, "", {"type": "object", "properties": {each: {"type": "array"} if each in LISTS else {} for each in taken}}
        )
        for name, taken in ARGUMENTS.items()
    )


def reply_to(backend: Backend, *messages: Message, tools: tuple[Declaration, ...] | None = None, may_call: bool = True) -> Reply:
    request = Request(messages, declarations() if tools is None else tools, may_call=may_call)
    *_, last = backend.send(request)
    assert isinstance(last, Reply)
    return last


def called(reply: Reply) -> tuple[str, dict[str, Any]]:
    (call,) = reply.message.calls
    return call.name, json.loads(call.arguments)


def result(reply: Reply, value: object, *, is_error: bool = False) -> Message:
    (call,) = reply.message.calls
    content = value if isinstance(value, str) else json.dumps(value)
    return Message("tool", results=(ToolResult(call.id, call.name, content, is_error=is_error),))


def test_a_search_takes_the_filters_that_it_knows(backend: Backend) -> None:
    name, arguments = called(reply_to(backend, Message("user", "recipes about rhubarb since March")))
    assert name == "hybrid_search"
    assert arguments == {"query": "rhubarb", "limit": 10, "category": ["recipes"], "after": "2026-03-01"}


def test_filters_that_a_search_lacks_are_a_set_to_search_within(backend: Backend) -> None:
    question = Message("user", "What has Ada Quill written about rhubarb?")
    first = reply_to(backend, question)
    assert called(first)[0] == "filter_documents"
    second = reply_to(backend, question, first.message, result(first, {"total": 2, "set": "set_7", "documents": []}))
    assert called(second) == ("hybrid_search", {"query": "rhubarb", "limit": 10, "within": "set_7"})


def test_an_empty_set_is_not_searched(backend: Backend) -> None:
    question = Message("user", "What has Ada Quill written about rhubarb?")
    first = reply_to(backend, question)
    second = reply_to(backend, question, first.message, result(first, {"found": 0, "why": ["author Ada Quill has none"]}))
    assert second.message.calls == ()
    assert second.message.text.startswith("Not in your documents.")


def test_days_that_no_document_has_are_looked_for_in_the_texts(backend: Backend) -> None:
    asked = Message("user", "which vaccinations are due in 2027?")
    first = reply_to(backend, asked)
    assert called(first)[1]["after"] == "2027-01-01"
    nothing = result(first, {"found": 0, "why": ["no document passes all filters"]})
    second = reply_to(backend, asked, first.message, nothing)
    assert called(second) == ("hybrid_search", {"query": "vaccinations are due 2027", "limit": 10})
    hits = {"hits": [{"key": "a" * 10, "source": "a.md:1", "title": "A", "text": "Vaccinations are due in 2027: tetanus."}]}
    said = reply_to(backend, asked, first.message, nothing, second.message, result(second, hits)).message
    assert said.text.startswith("Nothing dated 2027-01-01 to 2027-12-31 answers this. Without the date:\n\n“Vaccinations are due")
    assert not said.calls


def test_days_of_documents_that_are_asked_for_hold(backend: Backend) -> None:
    asked = Message("user", "which recipes from 2027 need paprika?")
    first = reply_to(backend, asked)
    assert not reply_to(backend, asked, first.message, result(first, {"found": 0})).message.calls


def test_the_oldest_are_the_end_of_the_list(backend: Backend) -> None:
    question = Message("user", "the 2 oldest recipes")
    first = reply_to(backend, question)
    assert called(first) == ("filter_documents", {"category": ["recipes"], "order_by": "date", "limit": 2})
    second = reply_to(backend, question, first.message, result(first, {"total": 9, "documents": []}))
    assert called(second)[1]["offset"] == 7
    documents = [{"path": "young.md", "date": "2020-01-02"}, {"path": "old.md", "date": "2020-01-01"}]
    found = result(second, {"total": 9, "documents": documents})
    last = reply_to(backend, question, first.message, result(first, {"total": 9, "documents": []}), second.message, found)
    assert last.message.text.splitlines() == [
        "2 of 9 documents:",
        "",
        "- old.md (old.md, 2020-01-01)",
        "- young.md (young.md, 2020-01-02)",
    ]


def test_ids_are_unique_in_a_conversation(backend: Backend) -> None:
    messages = [Message("user", "recipes about rhubarb")]
    for number in (1, 2, 3):
        reply = reply_to(backend, *messages)
        assert reply.message.calls[0].id == f"offline_{number}"
        messages += [reply.message, result(reply, {"found": 0}), Message("assistant", "No."), Message("user", "recipes about figs")]


def test_only_the_last_question_counts(backend: Backend) -> None:
    old = ToolCall("offline_1", "hybrid_search", "{}")
    earlier = (
        Message("user", "E17"),
        Message("assistant", calls=(old,)),
        Message("tool", results=(ToolResult("offline_1", "hybrid_search", "{}"),)),
    )
    assert (
        called(reply_to(backend, *earlier, Message("assistant", "…"), Message("user", "How many recipes are there?")))[0]
        == "count_documents"
    )


def test_an_answer_is_streamed_and_costs_nothing(backend: Backend) -> None:
    question = Message("user", "How many recipes are there?")
    first = reply_to(backend, question)
    pieces = list(backend.send(Request((question, first.message, result(first, {"total": 3, "set": "set_1"})), declarations())))
    assert pieces[:-1] == [TextDelta("3 documents.")]
    last = pieces[-1]
    assert isinstance(last, Reply)
    assert (last.message.text, last.finish, last.usage.total_tokens, last.usage.cost) == ("3 documents.", "stop", 0, 0.0)


def test_the_first_call_says_how_the_question_was_understood(backend: Backend) -> None:
    first = reply_to(backend, Message("user", "How many recipes appeared in Q2 2025?"))
    assert first.notices == ("understood: count documents, category recipes, 2025-04-01 to 2025-06-30",)


def test_nothing_is_called_when_nothing_may_be(backend: Backend) -> None:
    assert reply_to(backend, Message("user", "rhubarb"), may_call=False).message.calls == ()


@pytest.mark.parametrize(
    ("question", "tools", "chosen"),
    [
        ("rhubarb pie crust", ("keyword_search", "vector_search"), "keyword_search"),
        ("E17", ("hybrid_search",), "hybrid_search"),
        ("How many recipes are there?", ("filter_documents",), "filter_documents"),
        ("documents similar to this: a pie", ("hybrid_search",), "hybrid_search"),
    ],
)
def test_only_declared_tools_are_called(backend: Backend, question: str, tools: tuple[str, ...], chosen: str) -> None:
    declared = tuple(each for each in declarations() if each.name in tools)
    assert called(reply_to(backend, Message("user", question), tools=declared))[0] == chosen


def test_without_tools_it_says_so(backend: Backend) -> None:
    assert reply_to(backend, Message("user", "rhubarb"), tools=()).message.text == "No search tool is at hand for this question."


def test_values_take_the_shape_that_is_declared(backend: Backend) -> None:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "category": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    }
    reply = reply_to(backend, Message("user", "recipes about rhubarb"), tools=(Declaration("hybrid_search", "", schema),))
    assert called(reply)[1] == {"query": "rhubarb", "category": "recipes"}


def test_a_filter_that_cannot_be_given_is_told(backend: Backend) -> None:
    schema = {"type": "object", "properties": {"category": {"type": "string"}}}
    question = Message("user", "How many recipes by Ada Quill are there?")
    reply = reply_to(backend, question, tools=(Declaration("count_documents", "", schema),))
    assert called(reply)[1] == {"category": "recipes"}
    assert "left out, the tool has no such filter: author" in reply.notices


def test_a_language_that_the_library_lacks_is_absent_though_the_tool_refuses_it(backend: Backend) -> None:
    question = Message("user", "Which documents are in French?")
    first = reply_to(backend, question)
    refused = result(first, 'bad arguments for filter_documents: "language": got "fr", want one of "en"', is_error=True)
    second = reply_to(backend, question, first.message, refused)
    assert second.outcome == "absent"
    assert second.message.text.startswith("Not in your documents. (language fr)")


def test_a_failed_search_by_meaning_is_made_by_words_once(backend: Backend) -> None:
    question = Message("user", "rhubarb pie crust")
    first = reply_to(backend, question)
    failed = result(first, "Error: the embedding model is not there", is_error=True)
    second = reply_to(backend, question, first.message, failed)
    assert called(second)[0] == "keyword_search"
    failed_again = result(second, "Error: the library is gone", is_error=True)
    third = reply_to(backend, question, first.message, failed, second.message, failed_again)
    assert third.message.text == "The search failed: the library is gone"


def test_the_body_is_the_plan(backend: Backend) -> None:
    body = backend.body(Request((Message("user", "recipes since March"),)))
    assert (body["intent"], body["filters"]) == ("list", {"category": ("recipes",), "after": "2026-03-01"})


def test_it_is_local_and_free(backend: Backend) -> None:
    assert backend.name == "offline"
    assert backend.capabilities.local
    assert backend.capabilities.tools
    assert not backend.capabilities.text_calls, "what a document says would be called"
    assert backend.capabilities.price is not None
    assert backend.capabilities.price.input == backend.capabilities.price.output == 0.0


def test_the_catalogue_is_read_from_the_library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> None:
    write(
        "recipes/pie.md",
        "---\nauthor: Ada Quill\ntags: [fruit]\nstate: draft\nrooms: 2\n---\n# Pie\n\nRhubarb goes into the pie.\n",
    )
    write("letters/rent.txt", "Dear landlord, the rent is too high this year, and the roof is not what it should be.\n")
    found = catalogue_of(indexed())
    assert found.categories == ("letters", "recipes")
    assert (found.tags, found.formats, found.authors) == (("fruit",), ("markdown", "text"), ("Ada Quill",))
    assert found.metadata == {"rooms": ("2",), "state": ("draft",)}


def test_a_conversation_ends_in_a_cited_answer(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> None:
    write("recipes/pie.md", "---\nauthor: Ada Quill\n---\n# Pie\n\nRhubarb goes into the pie after the sugar.\n")
    library = indexed()
    tools = Toolbox(build(library, today=TODAY))
    outcome = put(Offline(catalogue_of(library), today=TODAY), "What has Ada Quill written about rhubarb?", tools)
    key = library.keyword_search("rhubarb")[0].passage.key
    assert [call.name for call in outcome.calls] == ["filter_documents", "hybrid_search"]
    assert outcome.text.startswith(f"“Rhubarb goes into the pie after the sugar.” [{key}]")


def test_it_loads_no_model_and_no_network() -> None:
    program = (
        "import sys; from assistant.backends.offline import Catalogue, Offline; from assistant.messages import Message, Request\n"
        "list(Offline(Catalogue()).send(Request((Message('user', 'boiler?'),))))\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert not {"torch", "httpx", "ollama", "sentence_transformers", "numpy"} & set(done.stdout.split())
