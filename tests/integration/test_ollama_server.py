"""Ollama's wire against a real Ollama 0.9.3: a call and its result, a model without tools, cut prompts, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from model_servers import GREETING, QUESTION, SEARCH, RunningServer, a_call_of, assert_a_death_is_told, free_port
from scripted_server import asked

from assistant.backends.ollama import Ollama, OllamaServer
from assistant.backends.ollama.window import least_tokens
from assistant.errors import ConnectionFailedError, ContextLengthError, ProviderError
from assistant.messages import Message, Request, ToolResult

OPTIONS = {"num_thread": 1, "temperature": 0, "seed": 1}


@pytest.fixture(scope="module")
def ollama(start_ollama: Callable[[], RunningServer]) -> RunningServer:
    return start_ollama()


@pytest.fixture
def connect(ollama: RunningServer) -> Iterator[Callable[..., Ollama]]:
    """A model of the server."""
    opened: list[Ollama] = []

    def model(name: str, *, num_ctx: int = 1024, stream: bool = True, **extra: Any) -> Ollama:
        opened.append(Ollama(name, host=ollama.url, num_ctx=num_ctx, stream=stream, extra_request={"options": OPTIONS, **extra}))
        return opened[-1]

    yield model
    for found in opened:
        found.close()


def test_what_is_installed_and_what_it_can_do(ollama: RunningServer, connect: Callable[..., Ollama]) -> None:
    assert set(OllamaServer(ollama.url).installed()) == {"smollm2-json:latest", "smollm2-notools:latest"}
    found = connect("smollm2-json").capabilities
    assert (found.tools, found.context_length, found.local) == (True, 1024, True)
    assert not connect("smollm2-notools").capabilities.tools


@pytest.mark.parametrize("stream", [False, True])
def test_a_native_call_and_the_answer_to_its_result(connect: Callable[..., Ollama], stream: bool) -> None:
    reply = asked(connect("smollm2-json", stream=stream, format=a_call_of(SEARCH)), QUESTION)[1]
    (call,) = reply.message.calls
    assert (call.name, call.id) == ("search", "call_1")
    assert set(json.loads(call.arguments)) == {"query"}
    assert reply.notices == ()
    result = Message("tool", results=(ToolResult(call.id, call.name, '{"hits":["Cats sleep."]}'),))
    after = Request((*QUESTION.messages, reply.message, result), QUESTION.tools, may_call=False, max_output_tokens=16)
    answer = asked(connect("smollm2-json", stream=stream), after)[1]
    assert answer.message.text
    assert answer.message.calls == ()


def test_a_model_without_tools_reads_a_conversation_with_calls_as_text(connect: Callable[..., Ollama]) -> None:
    model = connect("smollm2-notools")
    shown, reply = asked(model, Request(GREETING.messages, QUESTION.tools, max_output_tokens=16))
    assert shown == reply.message.text != ""
    assert "tools" not in model.body(QUESTION)


def test_tools_that_a_model_refuses_are_left_out_and_said(connect: Callable[..., Ollama]) -> None:
    model = connect("smollm2-notools")
    _ = model.capabilities
    model._wire = type(model._wire)(model.model, num_ctx=1024)  # as if the server had not told
    reply = asked(model, Request(GREETING.messages, QUESTION.tools, max_output_tokens=16))[1]
    assert any("without them" in notice for notice in reply.notices)


def test_a_conversation_that_the_server_cuts_is_noticed(connect: Callable[..., Ollama]) -> None:
    long = (Message("user", "word " * 300), Message("assistant", "Well."))
    reply = asked(connect("smollm2-notools", num_ctx=256), Request((*long, *GREETING.messages), max_output_tokens=8))[1]
    assert reply.usage.input_tokens < 100
    assert any("256 tokens" in notice for notice in reply.notices)


def test_a_single_prompt_that_the_server_cuts_is_noticed(connect: Callable[..., Ollama]) -> None:
    # The model sees the middle of a sentence, and may well answer nothing.
    request = Request((Message("user", "word " * 200),), max_output_tokens=8)
    try:
        said = " ".join(asked(connect("smollm2-notools", num_ctx=128), request)[1].notices)
    except ContextLengthError as error:
        said = str(error)
    assert "128 tokens" in said


def test_a_prompt_that_fits_is_not_said_to_be_cut(connect: Callable[..., Ollama]) -> None:
    model = connect("smollm2-notools")
    request = Request(
        (Message("user", 'The gateway\'s timeout is 30 s; {"key": "a1b2c3d4e5"}. Größe, 知識庫, знание.'),), max_output_tokens=8
    )
    reply = asked(model, request)[1]
    assert reply.notices == ()
    assert 0 < least_tokens(model.body(request)) <= reply.usage.input_tokens


def test_a_model_that_is_not_there(connect: Callable[..., Ollama]) -> None:
    with pytest.raises(ProviderError) as caught:
        asked(connect("nope"), GREETING)
    assert "`ollama pull nope`" in caught.value.hint
    assert "smollm2-json" in caught.value.hint


def test_a_server_that_dies_in_the_middle_of_its_reply(start_ollama: Callable[[], RunningServer]) -> None:
    server = start_ollama()
    model = Ollama("smollm2-notools", host=server.url, num_ctx=1024, extra_request={"options": OPTIONS | {"stop": []}})
    assert_a_death_is_told(server, model, Request((Message("user", "Count from one to one hundred."),), max_output_tokens=400))


def test_the_wrong_port() -> None:
    model = Ollama("smollm2-json", host=f"127.0.0.1:{free_port()}")
    with pytest.raises(ConnectionFailedError) as caught:
        asked(model, GREETING)
    assert "`ollama serve`" in caught.value.hint
    model.close()
