"""The wire of chat completions against llama.cpp's own server: a call and its result, streamed and whole, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from model_servers import GREETING, QUESTION, RunningServer, assert_a_death_is_told, free_port
from scripted_server import asked

from assistant.backends.openrouter import OpenRouter
from assistant.errors import ConnectionFailedError, ContextLengthError
from assistant.events import Ended, TextPiece
from assistant.loop import Limits, Loop
from assistant.messages import Message, Reply, Request, TextDelta, ToolResult
from assistant.tools import Tool, Toolbox

FORCED = {"tool_choice": "required", "temperature": 0, "seed": 1}


@pytest.fixture(scope="module")
def llama(start_llama: Callable[..., RunningServer]) -> RunningServer:
    return start_llama()


@pytest.fixture
def model(llama: RunningServer) -> Iterator[OpenRouter]:
    found = OpenRouter("smollm2", base_url=f"{llama.url}/v1", extra_request={"temperature": 0, "seed": 1})
    yield found
    found.close()


def test_it_is_local_and_tells_its_window(model: OpenRouter) -> None:
    found = model.capabilities
    assert (found.local, found.tools, found.context_length) == (True, True, 1024)


def test_text_comes_in_pieces(model: OpenRouter) -> None:
    pieces = list(model.send(GREETING))
    assert len(pieces) > 3
    shown, reply = asked(model, GREETING)
    assert shown == reply.message.text != ""
    assert reply.usage.input_tokens > 5
    assert reply.usage.cost == 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_native_call_and_the_answer_to_its_result(llama: RunningServer, model: OpenRouter, stream: bool) -> None:
    forced = OpenRouter("smollm2", base_url=f"{llama.url}/v1", stream=stream, extra_request=FORCED)
    reply = asked(forced, QUESTION)[1]
    (call,) = reply.message.calls
    assert call.name == "search"
    assert set(json.loads(call.arguments)) == {"query"}
    result = Message("tool", results=(ToolResult(call.id, call.name, '{"hits":["Cats sleep."]}'),))
    after = Request((*QUESTION.messages, reply.message, result), QUESTION.tools, may_call=False, max_output_tokens=16)
    answer = asked(model, after)[1]
    assert answer.message.text
    assert answer.message.calls == ()
    forced.close()


def test_a_conversation_that_is_too_long_is_refused(model: OpenRouter) -> None:
    with pytest.raises(ContextLengthError, match="1024"):
        asked(model, Request((Message("user", "word " * 2000),)))


def test_a_template_without_tools_is_said(start_llama: Callable[..., RunningServer], tmp_path: Path) -> None:
    template = tmp_path / "plain.jinja"
    template.write_text(
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n", "utf-8"
    )
    server = start_llama(template=template)
    model = OpenRouter("smollm2", base_url=f"{server.url}/v1")
    reply = asked(model, Request(QUESTION.messages, QUESTION.tools, max_output_tokens=16))[1]
    assert any("chat template" in notice for notice in reply.notices)
    assert not model.capabilities.tools
    model.close()
    server.kill()


def test_a_server_that_dies_in_the_middle_of_its_reply(start_llama: Callable[..., RunningServer]) -> None:
    server = start_llama()
    model = OpenRouter("smollm2", base_url=f"{server.url}/v1", extra_request={"ignore_eos": True})
    assert_a_death_is_told(server, model, Request(GREETING.messages, max_output_tokens=900))


def test_the_wrong_port() -> None:
    model = OpenRouter("smollm2", base_url=f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(ConnectionFailedError) as caught:
        asked(model, QUESTION)
    assert "port" in caught.value.hint
    model.close()


class _CallFirst:
    """The model, made to call a tool in its first reply: by itself so small a one calls at random."""

    def __init__(self, llama: RunningServer) -> None:
        shape = {"temperature": 0, "seed": 1, "max_tokens": 48}
        self._forced = OpenRouter("smollm2", base_url=f"{llama.url}/v1", extra_request={**shape, "tool_choice": "required"})
        self._free = OpenRouter("smollm2", base_url=f"{llama.url}/v1", extra_request={**shape, "tool_choice": "none"})
        self.name, self.capabilities = self._free.name, self._free.capabilities

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        yield from (self._free if request.messages[-1].results else self._forced).send(request)

    def body(self, request: Request) -> Mapping[str, Any]:
        return self._free.body(request)

    def close(self) -> None:
        self._forced.close()
        self._free.close()


def test_the_loop_answers_a_question_through_a_native_call(llama: RunningServer) -> None:
    asked_for: list[str] = []

    def search(query: str) -> dict[str, list[str]]:
        asked_for.append(query)
        return {"hits": ["Cats sleep."]}

    (declared,) = QUESTION.tools
    box = Toolbox([Tool(declared.name, declared.description, declared.parameters, search)])
    backend = _CallFirst(llama)
    *events, ended = Loop(backend, box, Limits(steps=3)).run("Use the tool.", (), "What do cats do?")
    backend.close()
    assert isinstance(ended, Ended)
    assert ended.stop.reason == "answered"
    assert [message.role for message in ended.messages] == ["user", "assistant", "tool", "assistant"]
    assert len(asked_for) == 1
    assert ended.messages[2].results[0].content == '{"hits":["Cats sleep."]}'
    assert ended.messages[-1].text
    assert any(isinstance(event, TextPiece) for event in events)
    assert ended.usage.total_tokens > 20
