"""Gemini's wire: what is posted, what comes back, streamed and not. Bodies are written from what the wire is known to do."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.backends.gemini import Gemini
from assistant.errors import (
    BadReplyError,
    ContextLengthError,
    KeyMissingError,
    ProviderError,
    QuotaError,
    RateLimitError,
    RefusedError,
    UserError,
)
from assistant.messages import Declaration, Message, Origin, Reply, Request, TextDelta, ToolCall, ToolResult, Usage

KEY = "AIzaSyPlanted0123456789"
MODEL = "gemini-3.8-flash"
STAND_IN = "skip_thought_signature_validator"
SEARCH = Declaration(
    "search", "Find passages.", {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
)
QUESTION = Message("user", "find papers on bm25")

Event = dict[str, Any]


def event(
    *parts: Event, finish: str | None = None, usage: Mapping[str, int] | None = None, version: str = MODEL, **more: Any
) -> Event:
    """One GenerateContentResponse."""
    candidate: Event = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": version, "usageMetadata": dict(usage or {}), **more}


def text(said: str, **more: Any) -> Event:
    return {"text": said, **more}


def call(name: str = "search", args: Any = None, *, id: str | None = None, signature: str | None = None) -> Event:  # noqa: A002 - the wire's word
    asked: Event = {"name": name, **({} if args is None else {"args": args}), **({"id": id} if id else {})}
    return {"functionCall": asked, **({"thoughtSignature": signature} if signature else {})}


class Google:
    """Answers each request with the next list of events (or response), the last again and again; keeps the bodies it got."""

    def __init__(self, *answers: list[Event] | httpx.Response) -> None:
        self.answers = list(answers)
        self.bodies: list[Any] = []
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.bodies.append(json.loads(request.content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, httpx.Response):
            return answer
        if "alt=sse" in str(request.url):
            lines = "".join(f"data: {json.dumps(found)}\r\n\r\n" for found in answer)
            return httpx.Response(200, content=lines.encode(), headers={"content-type": "text/event-stream"})
        return httpx.Response(200, json=whole(answer))


def whole(events: Iterable[Event]) -> Event:
    """What the plain endpoint says where the other streams these events."""
    one: Event = {}
    parts: list[Event] = []
    for found in events:
        candidates = found.get("candidates")
        one |= {name: value for name, value in found.items() if name != "candidates"}
        if candidates:
            parts += (candidates[0].get("content") or {}).get("parts") or []
            one["candidates"] = [{**one.get("candidates", [{}])[0], **candidates[0], "content": {"role": "model", "parts": parts}}]
    return one


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def gemini(google: Google, model: str = MODEL, *, waits: list[float] | None = None, **options: Any) -> Gemini:
    options.setdefault("key", KEY)
    sleep = (waits if waits is not None else []).append
    return Gemini(model, client=httpx.Client(transport=httpx.MockTransport(google)), sleep=sleep, **options)


def ask(backend: Gemini, *messages: Message, tools: tuple[Declaration, ...] = (SEARCH,), **more: Any) -> Reply:
    """The reply, after checking that the pieces of text are its text."""
    found = list(backend.send(Request(messages or (QUESTION,), tools, **more)))
    *pieces, reply = found
    assert isinstance(reply, Reply)
    assert all(isinstance(piece, TextDelta) for piece in pieces)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == reply.message.text
    return reply


def posted(*messages: Message, model: str = MODEL, tools: tuple[Declaration, ...] = (SEARCH,), **more: Any) -> Any:
    return Gemini(model, key="").body(Request(messages, tools, **more))


def error(code: int, status: str, message: str = "", *details: Event) -> Event:
    return {"error": {"code": code, "status": status, "message": message, "details": list(details)}}


def refusal(code: int, status: str, message: str = "", *details: Event) -> httpx.Response:
    return httpx.Response(code, json=error(code, status, message, *details))


def asked_of(model: str, *calls: ToolCall, provider: str = "openrouter", said: str = "", data: Any = None) -> Message:
    """An assistant message with calls, from a model."""
    return Message("assistant", said, calls, origin=Origin(provider, model, data))


def answered(*results: ToolResult) -> Message:
    return Message("tool", results=results)


# What is posted


def test_the_endpoint_the_version_and_the_header_with_the_key(stream: bool) -> None:
    google = Google([event(text("hi"), finish="STOP")])
    ask(gemini(google, stream=stream))
    url = "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash"
    assert str(google.requests[0].url) == url + (":streamGenerateContent?alt=sse" if stream else ":generateContent")
    assert google.requests[0].headers["x-goog-api-key"] == KEY
    assert "authorization" not in google.requests[0].headers
    assert KEY not in str(google.requests[0].url)


def test_the_version_and_the_base_url_are_settings() -> None:
    google = Google([event(text("hi"), finish="STOP")])
    ask(gemini(google, version="v1", base_url="https://mirror.example/google/"))
    assert str(google.requests[0].url).startswith("https://mirror.example/google/v1/models/gemini-3.8-flash:")


def test_the_body_of_a_request() -> None:
    assert posted(Message("system", "Be brief."), QUESTION, max_output_tokens=2048) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "find papers on bm25"}]}],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "search", "description": "Find passages.", "parametersJsonSchema": dict(SEARCH.parameters)}
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
        "generationConfig": {"maxOutputTokens": 2048},
    }


def test_body_is_what_send_posts(stream: bool) -> None:
    google = Google([event(text("hi"), finish="STOP")])
    backend = gemini(google, stream=stream, extra_request={"generationConfig": {"seed": 7}})
    request = Request((Message("system", "s"), QUESTION), (SEARCH,))
    list(backend.send(request))
    assert google.bodies == [backend.body(request)]


def test_neither_sampling_nor_thinking_is_set_by_us() -> None:
    assert "generationConfig" not in posted(QUESTION)


@pytest.mark.parametrize(
    ("model", "mode"),
    [
        ("gemini-3.8-flash", "VALIDATED"),
        ("gemini-4-argon", "VALIDATED"),
        ("gemini-flash-latest", "VALIDATED"),
        ("gemini-2.5-flash-lite", "VALIDATED"),
        ("gemini-2.0-flash", "AUTO"),
    ],
)
def test_calls_are_validated_where_the_model_can(model: str, mode: str) -> None:
    assert posted(QUESTION, model=model)["toolConfig"]["functionCallingConfig"] == {"mode": mode}


def test_the_mode_is_a_setting() -> None:
    body = Gemini(MODEL, key="", mode="AUTO").body(Request((QUESTION,), (SEARCH,)))
    assert body["toolConfig"]["functionCallingConfig"] == {"mode": "AUTO"}


def test_when_no_call_is_allowed_tools_stay_declared() -> None:
    body = posted(QUESTION, may_call=False)
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert body["tools"] == posted(QUESTION)["tools"]


@pytest.mark.parametrize("may_call", [True, False])
def test_without_declarations_there_is_no_tool_config(may_call: bool) -> None:
    assert set(posted(QUESTION, tools=(), may_call=may_call)) == {"contents"}


def test_extra_request_is_laid_over_the_body() -> None:
    extra = {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["search"]}}, "labels": {"a": "b"}}
    body = Gemini(MODEL, key="", extra_request=extra).body(Request((QUESTION,), (SEARCH,)))
    assert body["toolConfig"] == extra["toolConfig"]
    assert body["labels"] == {"a": "b"}
    assert body["tools"]


def test_a_body_can_be_shown_without_a_key_but_nothing_is_sent() -> None:
    google = Google([event(text("hi"), finish="STOP")])
    backend = gemini(google, key=" ")
    assert backend.body(Request((QUESTION,)))
    with pytest.raises(KeyMissingError) as caught:
        ask(backend)
    assert "GOOGLE_API_KEY" in caught.value.hint
    assert google.requests == []


@pytest.mark.parametrize("model", ["", "a b", "../../v1/files", "m:generateContent?x=", "a/b/c", "m\n"])
def test_a_name_that_would_change_the_path_is_refused(model: str) -> None:
    with pytest.raises(UserError):
        Gemini(model, key=KEY)


def test_names_and_capabilities() -> None:
    backend = Gemini("models/gemini-3.8-flash", key="")
    assert backend.name == "gemini:gemini-3.8-flash"
    assert (backend.capabilities.tools, backend.capabilities.local, backend.capabilities.price) == (True, False, None)


# Declarations


def declared(parameters: Mapping[str, Any]) -> Any:
    body = posted(QUESTION, tools=(Declaration("f", "d", parameters),))
    return body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"]


def test_a_field_that_gemini_does_not_know_refuses_the_request_so_the_opaque_one_is_used() -> None:
    # additionalProperties, examples, title, default, $defs: each a 400 under `parameters`.
    schema = {
        "type": "object",
        "title": "T",
        "properties": {"q": {"type": "string", "examples": ["x"], "default": "y"}},
        "additionalProperties": False,
    }
    function = posted(QUESTION, tools=(Declaration("f", "d", schema),))["tools"][0]["functionDeclarations"][0]
    assert "parameters" not in function
    assert function["parametersJsonSchema"] == schema


def test_references_are_put_in_place() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "range": {"$ref": "#/$defs/Range", "description": "when"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/Range"}},
        },
        "$defs": {"Range": {"type": "object", "properties": {"to": {"$ref": "#/$defs/Day"}}}, "Day": {"type": "string"}},
    }
    day = {"type": "object", "properties": {"to": {"type": "string"}}}
    assert declared(schema) == {
        "type": "object",
        "properties": {"range": {**day, "description": "when"}, "all": {"type": "array", "items": day}},
    }


def test_a_reference_to_itself_ends() -> None:
    schema = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    }
    assert declared(schema)["properties"]["node"] == {"type": "object", "properties": {"next": {"type": "object"}}}


def test_a_reference_that_leads_nowhere_is_a_fault_of_the_tool() -> None:
    with pytest.raises(ValueError, match="Gone"):
        declared({"type": "object", "properties": {"a": {"$ref": "#/$defs/Gone"}}})


def test_all_of_is_merged_one_of_becomes_any_of_const_an_enum() -> None:
    schema = {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"const": 1}, "a": {"maxLength": 3}}, "required": ["b"]},
        ],
        "properties": {"c": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
    }
    assert declared(schema) == {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 3},
            "b": {"enum": [1]},
            "c": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["a", "b"],
    }


def test_fields_that_are_called_like_keywords_stay() -> None:
    schema = {
        "type": "object",
        "properties": {
            "const": {"type": "string"},
            "$ref": {"type": "string"},
            "allOf": {"type": "string", "default": {"const": 1}},
        },
    }
    assert declared(schema) == schema


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (
            {"type": ["string", "array"], "items": {"type": ["string", "number"]}, "description": "d"},
            {
                "description": "d",
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
                ],
            },
        ),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
    ],
)
def test_a_list_of_types_is_sent_as_alternatives(schema: dict[str, Any], sent: dict[str, Any]) -> None:
    assert declared(schema) == sent


KEYWORDS = st.sampled_from(
    ["type", "allOf", "oneOf", "anyOf", "const", "enum", "properties", "items", "description", "$ref", "not"]
)


def larger_schemas(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(below, max_size=2)
    fields = st.dictionaries(KEYWORDS, below, max_size=3)
    words = {
        "properties": fields,
        "allOf": several,
        "oneOf": several,
        "anyOf": several,
        "items": below,
        "not": below,
        "const": st.integers(),
    }
    return st.fixed_dictionaries({}, optional=words)


@given(st.recursive(st.just({"type": "string"}), larger_schemas, max_leaves=8))
def test_no_keyword_that_gemini_misreads_is_left_in_any_schema(schema: dict[str, Any]) -> None:
    def check(node: Any) -> None:
        assert not {"allOf", "oneOf", "const", "$ref"} & set(node)
        for name, value in node.items():
            if name == "properties":
                for below in value.values():
                    check(below)
            for below in [value] if isinstance(value, dict) and name != "properties" else value if name == "anyOf" else []:
                check(below)

    check(declared(schema))


def test_names_that_the_wire_forbids_go_and_come_back(stream: bool) -> None:
    names = ["docs.search", "docs:search", "docs search", "9lives", "ü" * 70, "a" * 65, "a" * 64, "plain-name_1"]
    tools = tuple(Declaration(name, "", {"type": "object"}) for name in names)
    sent = [function["name"] for function in posted(QUESTION, tools=tools)["tools"][0]["functionDeclarations"]]
    assert len(set(sent)) == len(names)
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isascii() and "." not in name for name in sent)
    assert sent[-2:] == names[-2:]
    google = Google([event(*(call(name, {}) for name in sent), finish="STOP")])
    assert [found.name for found in ask(gemini(google, stream=stream), tools=tools).message.calls] == names


def test_an_empty_description_is_given_the_name() -> None:
    body = posted(QUESTION, tools=(Declaration("search", "", {"type": "object"}),))
    assert body["tools"][0]["functionDeclarations"][0]["description"] == "search"


@pytest.mark.parametrize("name", ["default_api:search", "default_api.search"])
def test_the_leaking_name_of_googles_module_is_left_out(name: str) -> None:
    reply = ask(gemini(Google([event(call(name, {}), finish="STOP")])))
    assert reply.message.calls[0].name == "search"


# What comes back


def test_calls_are_found_by_their_parts_though_the_reason_is_stop(stream: bool) -> None:
    google = Google(
        [
            event(
                text("Let me look."),
                call(args={"query": "bm25"}, id="call_1", signature="c2ln"),
                call(args={"query": "idf"}, id="call_2"),
                finish="STOP",
            )
        ]
    )
    reply = ask(gemini(google, stream=stream))
    assert reply.message.text == "Let me look."
    assert reply.message.calls == (
        ToolCall("call_1", "search", '{"query": "bm25"}'),
        ToolCall("call_2", "search", '{"query": "idf"}'),
    )
    assert reply.finish == "tool_calls"


def test_same_name_parallel_calls_over_several_events_are_all_kept_in_order() -> None:
    google = Google([event(call(args={"query": str(number)})) for number in range(3)] + [event(text(""), finish="STOP")])
    reply = ask(gemini(google))
    assert [found.arguments for found in reply.message.calls] == [f'{{"query": "{number}"}}' for number in range(3)]


@pytest.mark.parametrize(
    ("part", "arguments"),
    [
        ({"name": "search"}, "{}"),
        ({"name": "search", "args": None}, "{}"),
        ({"name": "search", "args": {}}, "{}"),
        ({"name": "search", "args": {"q": "ü"}}, '{"q": "ü"}'),
    ],
)
def test_arguments_may_be_empty_or_absent(part: Event, arguments: str, stream: bool) -> None:
    reply = ask(gemini(Google([event({"functionCall": part}, finish="STOP")]), stream=stream))
    assert reply.message.calls[0].arguments == arguments


def test_ids_that_the_model_does_not_send_are_unique_over_the_conversation(stream: bool) -> None:
    google = Google([event(call(args={}), call(args={}), finish="STOP")])
    backend = gemini(google, stream=stream)
    first = ask(backend).message
    results = answered(*(ToolResult(found.id, found.name, "{}") for found in first.calls))
    second = ask(backend, QUESTION, first, results).message
    assert len({found.id for found in first.calls + second.calls}) == 4


def test_an_id_that_the_model_uses_again_is_made_unique_but_sent_back_as_it_came() -> None:
    google = Google([event(call(args={}, id="x"), finish="STOP")])
    backend = gemini(google)
    first = ask(backend).message
    one = answered(ToolResult(first.calls[0].id, "search", "1"))
    second = ask(backend, QUESTION, first, one).message
    assert second.calls[0].id != first.calls[0].id == "x"
    body = posted(QUESTION, first, one, second, answered(ToolResult(second.calls[0].id, "search", "2")))
    responses = [content["parts"][0]["functionResponse"] for content in body["contents"][2::2]]
    assert [(found["id"], found["response"]) for found in responses] == [("x", {"output": 1}), ("x", {"output": 2})]


def test_usage_counts_thinking_as_output_and_takes_the_last_event() -> None:
    early = {"promptTokenCount": 29, "candidatesTokenCount": 1, "totalTokenCount": 30}
    last = {
        "promptTokenCount": 29,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 202,
        "totalTokenCount": 246,
        "cachedContentTokenCount": 7,
        "toolUsePromptTokenCount": 5,
    }
    reply = ask(gemini(Google([event(text("a"), usage=early), event(text("b"), finish="STOP", usage=last), {}])))
    assert reply.usage == Usage(34, 212, 7, None)
    assert reply.usage.total_tokens == last["totalTokenCount"]


def test_thoughts_are_never_shown_as_text(stream: bool) -> None:
    google = Google(
        [
            event(text("I wonder", thought=True)),
            event(text("Answer.")),
            event(text("", thought=True, thoughtSignature="c2ln"), finish="STOP"),
        ]
    )
    reply = ask(gemini(google, stream=stream))
    assert reply.message.text == "Answer."
    assert reply.message.origin is not None
    assert reply.message.origin.data == [
        text("I wonder", thought=True),
        text("Answer."),
        text("", thought=True, thoughtSignature="c2ln"),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("BLOCKLIST", "refused"),
        ("SPII", "refused"),
        ("IMAGE_SAFETY", "refused"),
        ("LANGUAGE", "other"),
        ("OTHER", "other"),
        ("SOMETHING_OF_2027", "other"),
    ],
)
def test_a_finish_reason_keeps_the_text(reason: str, finish: str, stream: bool) -> None:
    reply = ask(gemini(Google([event(text("So far")), event(text(""), finish=reason)]), stream=stream))
    assert (reply.message.text, reply.finish) == ("So far", finish)


def test_thinking_that_used_up_the_tokens_is_said(stream: bool) -> None:
    google = Google([{"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}], "modelVersion": MODEL}])
    reply = ask(gemini(google, stream=stream))
    assert (reply.message.text, reply.finish) == ("", "length")
    assert "thinking" in reply.notices[0]
    assert len(google.bodies) == 1


@pytest.mark.parametrize(
    ("asked", "version", "noticed"),
    [
        ("gemini-2.5-flash", "gemini-3.5-flash-lite", True),
        ("gemini-3.5-flash", "gemini-3.5-flash-lite", True),
        ("gemini-3.8-flash", "gemini-3.8-flash", False),
        ("gemini-3.8-flash", "models/gemini-3.8-flash", False),
        ("gemini-3.8-flash", "gemini-3.8-flash-001", False),
        ("gemini-3.1-flash-lite", "gemini-3.1-flash-lite-preview-09-2026", False),
        ("gemini-flash-latest", "gemini-3.8-flash", False),
    ],
)
def test_a_model_that_answers_for_another_is_named(asked: str, version: str, noticed: bool, stream: bool) -> None:
    reply = ask(gemini(Google([event(text("hi"), finish="STOP", version=version)]), asked, stream=stream))
    assert reply.model == version.removeprefix("models/")
    assert any("instead of" in notice for notice in reply.notices) is noticed


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": None},
        {"candidates": [None]},
        {"candidates": [{"content": None}]},
        {"candidates": [{"content": {"parts": None}}]},
        {"candidates": [{"content": {"parts": [None, {}, {"text": None}]}}]},
        {"usageMetadata": None, "promptFeedback": None},
        {},
    ],
)
def test_events_with_holes_are_tolerated(odd: Event) -> None:
    reply = ask(gemini(Google([odd, event(text("Fine."), finish="STOP"), odd])))
    assert reply.message.text == "Fine."


# Streams


def test_text_is_yielded_while_it_comes_and_closing_ends_the_request() -> None:
    class Body(httpx.SyncByteStream):
        closed = False

        def __iter__(self) -> Iterator[bytes]:
            yield b'data: {"candidates":[{"content":{"parts":[{"text":"one"}]}}]}\r\n\r\n'
            yield b'data: {"candidates":[{"content":{"parts":[{"text":"two"}]}}]}\r\n\r\n'
            pytest.fail("read on after the reply was closed")

        def close(self) -> None:
            self.closed = True

    body = Body()
    pieces = gemini(Google(httpx.Response(200, stream=body))).send(Request((QUESTION,)))
    assert next(pieces) == TextDelta("one")
    pieces.close()  # type: ignore[attr-defined]
    assert body.closed


def test_a_stream_that_ends_without_a_reason_is_cut_off() -> None:
    pieces = gemini(Google([event(text("half an"))])).send(Request((QUESTION,)))
    assert next(pieces) == TextDelta("half an")
    with pytest.raises(BadReplyError, match="broke off"):
        next(pieces)


def test_a_stream_with_a_call_but_without_an_end_is_not_acted_on() -> None:
    with pytest.raises(BadReplyError, match="broke off"):
        ask(gemini(Google([event(call(args={"query": "x"}))])))


@pytest.mark.parametrize("shape", ["{}", "data: {}", "[{}]"])
def test_an_error_inside_a_200_stream_is_an_error(shape: str) -> None:
    said = json.dumps(error(503, "UNAVAILABLE", "The model is overloaded."), indent=1 if shape != "data: {}" else None)
    first = json.dumps(event(text("So")))
    body = f"data: {first}\r\n\r\n" + shape.replace("{}", said) + "\r\n\r\n"
    pieces = gemini(Google(httpx.Response(200, text=body))).send(Request((QUESTION,)))
    assert next(pieces) == TextDelta("So")
    with pytest.raises(ProviderError, match="overloaded") as caught:
        next(pieces)
    assert caught.value.status == 503


def test_an_error_that_is_the_first_event_is_retried(stream: bool) -> None:
    waits: list[float] = []
    google = Google(httpx.Response(200, json=error(503, "UNAVAILABLE", "overloaded")), [event(text("hi"), finish="STOP")])
    assert ask(gemini(google, stream=stream, waits=waits)).message.text == "hi"
    assert len(waits) == 1


@pytest.mark.parametrize("body", ["", "<html>", 'data: {"candidates": [\r\n\r\n', "data: []\r\n\r\n"])
def test_a_200_that_is_no_reply_is_a_bad_reply(body: str, stream: bool) -> None:
    with pytest.raises(BadReplyError):
        ask(gemini(Google(httpx.Response(200, text=body)), stream=stream))


# Going back: parts and signatures


def conversation(google: Google, stream: bool, *, model: str = MODEL) -> tuple[Message, Any]:
    """A first reply with calls, and the contents of the request that brings their results."""
    backend = gemini(google, model, stream=stream)
    reply = ask(backend).message
    results = answered(*(ToolResult(found.id, found.name, '{"hits":[]}') for found in reply.calls))
    return reply, backend.body(Request((QUESTION, reply, results), (SEARCH,)))["contents"]


def test_a_dropped_thought_signature_goes_back_on_its_own_part_byte_for_byte(stream: bool) -> None:
    parts = [
        text("Let me "),
        text("look."),
        call(args={"query": "a"}, id="1", signature="AbC+/=="),
        call(args={"query": "b"}, id="2"),
    ]
    google = Google([event(part) for part in parts] + [event(text(""), finish="STOP")])
    _, contents = conversation(google, stream)
    assert contents[1] == {"role": "model", "parts": [text("Let me look."), *parts[2:]]}


def test_parts_with_signatures_are_never_merged(stream: bool) -> None:
    parts = [
        text("a"),
        text("b", thoughtSignature="c2ln"),
        text("c"),
        text("d"),
        text("", thoughtSignature="bGFzdA=="),
        call(args={}),
    ]
    _, contents = conversation(Google([*(event(part) for part in parts), event(finish="STOP")]), stream)
    assert contents[1]["parts"] == [*parts[:2], text("cd"), *parts[4:]]


def test_parallel_calls_go_back_in_one_content_with_one_content_of_results(stream: bool) -> None:
    # Several model contents would count as several steps, each in want of a signature.
    calls = [call(args={"query": str(number)}, id=str(number)) for number in range(3)]
    _, contents = conversation(Google([event(part) for part in calls] + [event(finish="STOP")]), stream)
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert contents[1]["parts"] == calls
    assert [part["functionResponse"]["id"] for part in contents[2]["parts"]] == ["0", "1", "2"]


def test_the_transcript_holds_the_parts_even_through_json() -> None:
    # A signature that is lost when a conversation is stored is a 400 later.
    reply, contents = conversation(Google([event(call(args={}, id="1", signature="c2ln"), finish="STOP")]), True)
    assert reply.origin is not None
    stored = Message("assistant", calls=reply.calls, origin=Origin("gemini", MODEL, json.loads(json.dumps(reply.origin.data))))
    assert posted(QUESTION, stored, answered(ToolResult("1", "search", '{"hits":[]}')))["contents"] == contents


@pytest.mark.parametrize(
    "origin",
    [
        Origin("openrouter", "google/gemini-3.8-flash", [{"type": "reasoning.text"}]),
        Origin("gemini", "gemini-3.5-flash-lite", [call(args={}, id="1", signature="Zm9yZWlnbg==")]),
        Origin("gemini", MODEL, [text('{"name": "search"}')], text_calls=True),
        Origin("gemini", MODEL, [call("not_that", {}), call("nor_that", {})], text_calls=True),
        Origin("gemini", MODEL, "edited by hand"),
        Origin("gemini", MODEL, [{"functionCall": None}, {"functionCall": "x"}]),
        None,
    ],
)
def test_unsigned_foreign_calls_bear_the_stand_in_on_the_first_call_of_each_step_only(origin: Origin | None) -> None:
    step = Message(
        "assistant", "Looking.", (ToolCall("1", "search", '{"query": "a"}'), ToolCall("2", "search", "{}")), origin=origin
    )
    results = answered(ToolResult("1", "search", "1"), ToolResult("2", "search", "2"))
    contents = posted(QUESTION, step, results, step, results)["contents"]
    for place in (1, 3):
        assert contents[place]["parts"] == [
            text("Looking."),
            call(args={"query": "a"}, id="1", signature=STAND_IN),
            call(args={}, id="2"),
        ]
    assert "Zm9yZWlnbg" not in json.dumps(contents)


def test_older_models_get_neither_stand_ins_nor_ids_that_they_did_not_send() -> None:
    step = asked_of("x", ToolCall("1", "search", "{}"))
    contents = posted(QUESTION, step, answered(ToolResult("1", "search", "{}")), model="gemini-2.5-flash-lite")["contents"]
    assert contents[1]["parts"] == [call(args={})]
    assert "id" not in contents[2]["parts"][0]["functionResponse"]


@pytest.mark.parametrize(
    "message",
    [
        "Corrupted thought signature.",
        "Invalid thought signature.",
        "Function call is missing a thought_signature in functionCall parts. function call `default_api:search`, position 2.",
    ],
)
def test_refused_signatures_are_replaced_by_the_stand_in_once(message: str, stream: bool) -> None:
    google = Google(refusal(400, "INVALID_ARGUMENT", message), [event(text("hi"), finish="STOP")])
    data = [text("a", thoughtSignature="dA=="), call(args={}, id="1", signature="c2ln"), call(args={}, id="2")]
    step = asked_of(MODEL, ToolCall("1", "search", "{}"), ToolCall("2", "search", "{}"), provider="gemini", data=data)
    unsigned = asked_of(MODEL, ToolCall("3", "search", "{}"), provider="gemini", data=[call(args={}, id="3")])
    messages = (
        QUESTION,
        step,
        answered(ToolResult("1", "search", "1"), ToolResult("2", "search", "2")),
        unsigned,
        answered(ToolResult("3", "search", "3")),
    )
    assert ask(gemini(google, stream=stream), *messages).message.text == "hi"
    assert google.bodies[0]["contents"][1]["parts"] == data
    again = google.bodies[1]["contents"]
    assert again[1]["parts"] == [
        text("a", thoughtSignature=STAND_IN),
        call(args={}, id="1", signature=STAND_IN),
        call(args={}, id="2"),
    ]
    assert again[3]["parts"] == [call(args={}, id="3", signature=STAND_IN)]


def test_signatures_that_are_refused_twice_are_an_error(stream: bool) -> None:
    google = Google(refusal(400, "INVALID_ARGUMENT", "Corrupted thought signature."))
    with pytest.raises(ProviderError, match="Corrupted"):
        ask(gemini(google, stream=stream))
    assert len(google.bodies) == 2


def test_the_finish_reason_of_a_missing_signature_is_mended_the_same_way(stream: bool) -> None:
    google = Google([{"candidates": [{"finishReason": "MISSING_THOUGHT_SIGNATURE"}]}], [event(text("hi"), finish="STOP")])
    step = asked_of(MODEL, ToolCall("1", "search", "{}"), provider="gemini", data=[call(args={}, id="1")])
    assert ask(gemini(google, stream=stream), QUESTION, step, answered(ToolResult("1", "search", "1"))).message.text == "hi"
    assert google.bodies[1]["contents"][1]["parts"] == [call(args={}, id="1", signature=STAND_IN)]


# Going back: results


@pytest.mark.parametrize(
    ("content", "is_error", "response"),
    [
        ('{"hits":[{"key":"a"}]}', False, {"output": {"hits": [{"key": "a"}]}}),
        ('{"error":"in a field"}', False, {"output": {"error": "in a field"}}),
        ("[1,2]", False, {"output": [1, 2]}),
        ("plain text", False, {"output": "plain text"}),
        ("", False, {"output": ""}),
        ("null", False, {"output": "null"}),
        ("no such table", True, {"error": "no such table"}),
        ('{"$ref":"x"}', False, {"output": '{"$ref":"x"}'}),
        ('{"a":[{"b":{"$ref":"x"}}]}', False, {"output": '{"a":[{"b":{"$ref":"x"}}]}'}),
        ('{"n":12345678901234567890}', False, {"output": '{"n":12345678901234567890}'}),
        ('{"n":NaN}', False, {"output": '{"n":NaN}'}),
        ('{"n":1e999}', False, {"output": '{"n":1e999}'}),
        ("[" * 90 + "]" * 90, False, {"output": "[" * 90 + "]" * 90}),
        ("[" * 90_000, False, {"output": "[" * 90_000}),
    ],
)
def test_a_result_is_an_object_with_output_or_error(content: str, is_error: bool, response: Any) -> None:
    contents = posted(
        QUESTION, asked_of("x", ToolCall("1", "search", "{}")), answered(ToolResult("1", "search", content, is_error))
    )["contents"]
    assert contents[2] == {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "search", "response": response}}]}


def test_one_content_per_result_would_be_refused_so_all_go_in_one_in_call_order() -> None:
    step = asked_of("x", ToolCall("1", "a", "{}"), ToolCall("2", "b", "{}"), ToolCall("3", "c", "{}"))
    shuffled = (answered(ToolResult("3", "c", "3")), answered(ToolResult("1", "a", "1"), ToolResult("1", "a", "twice")))
    contents = posted(QUESTION, step, *shuffled)["contents"]
    assert len(contents) == 3
    found = [part["functionResponse"] for part in contents[2]["parts"]]
    assert [(answer["id"], answer["name"]) for answer in found] == [("1", "a"), ("2", "b"), ("3", "c")]
    assert [answer["response"] for answer in found] == [{"output": 1}, {"error": "the call was not run"}, {"output": 3}]


def test_an_id_that_was_stripped_is_an_empty_stop_so_it_goes_back_iff_the_model_sent_one(stream: bool) -> None:
    _, contents = conversation(Google([event(call(args={}, id="call_7"), call(args={}), finish="STOP")]), stream)
    assert [part["functionResponse"].get("id") for part in contents[2]["parts"]] == ["call_7", None]
    assert [part["functionCall"].get("id") for part in contents[1]["parts"]] == ["call_7", None]


def test_text_after_results_in_one_content_gives_an_empty_reply_so_it_stands_in_its_own() -> None:
    contents = posted(
        QUESTION,
        asked_of("x", ToolCall("1", "search", "{}")),
        answered(ToolResult("1", "search", "1")),
        Message("user", "Answer now."),
    )["contents"]
    assert contents[3] == {"role": "user", "parts": [text("Answer now.")]}
    assert all("functionResponse" in part for part in contents[2]["parts"])


def test_a_function_call_turn_comes_after_a_user_turn_even_when_the_history_was_cut() -> None:
    step = asked_of("x", ToolCall("1", "search", "{}"))
    contents = posted(step, answered(ToolResult("1", "search", "1")))["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]


def test_results_whose_calls_were_cut_away_are_told_in_words() -> None:
    contents = posted(answered(ToolResult("1", "search", "three hits")), QUESTION)["contents"]
    assert "functionResponse" not in json.dumps(contents)
    assert "three hits" in contents[0]["parts"][0]["text"]


def test_calls_without_results_are_answered_all_the_same() -> None:
    contents = posted(QUESTION, asked_of("x", ToolCall("1", "search", "{}")), Message("user", "Never mind."))["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user", "user"]
    assert contents[2]["parts"][0]["functionResponse"]["response"] == {"error": "the call was not run"}


@pytest.mark.parametrize(
    "messages", [(QUESTION, Message("assistant", "Partly,")), (Message("system", "s"),), (), (Message("user", ""),)]
)
def test_a_request_never_ends_with_a_model_turn_or_without_content(messages: tuple[Message, ...]) -> None:
    contents = posted(*messages)["contents"]
    assert contents[-1]["role"] == "user"
    assert contents[-1]["parts"]


def test_an_empty_model_turn_is_never_sent() -> None:
    contents = posted(QUESTION, Message("assistant", "", origin=Origin("gemini", MODEL, [])), Message("user", "again"))["contents"]
    assert [content["role"] for content in contents] == ["user", "user"]
    kept = posted(QUESTION, Message("assistant", "", origin=Origin("gemini", MODEL, [text(""), {}])), Message("user", "again"))
    assert kept["contents"] == contents


def test_two_model_turns_in_a_row_become_one_content() -> None:
    contents = posted(
        QUESTION,
        Message("assistant", "One."),
        asked_of("x", ToolCall("1", "search", "{}")),
        answered(ToolResult("1", "search", "1")),
    )["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]


def test_empty_text_beside_calls_is_left_out() -> None:
    contents = posted(QUESTION, asked_of("x", ToolCall("1", "search", "{}"), said=" \n"), answered(ToolResult("1", "search", "1")))[
        "contents"
    ]
    assert [list(part) for part in contents[1]["parts"]] == [["functionCall", "thoughtSignature"]]


@pytest.mark.parametrize(
    ("arguments", "args"),
    [("", {}), ("null", {}), ('{"q": 1}', {"q": 1}), ('{"q": ', {"arguments": '{"q": '}), ("[1]", {"arguments": "[1]"})],
)
def test_malformed_stored_arguments_do_not_poison_later_turns(arguments: str, args: Any) -> None:
    contents = posted(
        QUESTION, asked_of("x", ToolCall("1", "search", arguments)), answered(ToolResult("1", "search", "bad", True))
    )["contents"]
    assert contents[1]["parts"][0]["functionCall"]["args"] == args


def test_the_name_of_a_result_is_never_empty() -> None:
    contents = posted(QUESTION, asked_of("x", ToolCall("1", "", "{}")), answered(ToolResult("1", "", "bad", True)))["contents"]
    assert contents[1]["parts"][0]["functionCall"]["name"] == contents[2]["parts"][0]["functionResponse"]["name"] != ""


ROLES = st.sampled_from(["system", "user", "assistant", "tool"])
NAMES = st.sampled_from(["search", "docs.search", ""])


@st.composite
def messages(draw: st.DrawFn) -> Message:
    role = draw(ROLES)
    ids = st.sampled_from("123")
    if role == "tool":
        return answered(
            *(ToolResult(draw(ids), draw(NAMES), draw(st.sampled_from(["", "{}", "x"]))) for _ in range(draw(st.integers(0, 3))))
        )
    said = draw(st.sampled_from(["", " ", "text"]))
    if role != "assistant":
        return Message(role, said)  # type: ignore[arg-type]
    calls = tuple(ToolCall(draw(ids), draw(NAMES), "{}") for _ in range(draw(st.integers(0, 3))))
    data = [text(said), *(call("search", {}, id=found.id) for found in calls)]
    return Message(role, said, calls, origin=draw(st.sampled_from([None, Origin("gemini", MODEL, data), Origin("ollama", "m")])))


@given(st.lists(messages(), max_size=8))
def test_any_conversation_obeys_the_rules_of_the_wire(found: list[Message]) -> None:
    contents = posted(*found)["contents"]
    assert contents[0]["role"] == contents[-1]["role"] == "user"
    for before, content, after in zip([None, *contents], contents, [*contents[1:], None], strict=False):
        parts = content["parts"]
        assert parts
        assert all(part.get("text") != "" for part in parts)
        asked = [part["functionCall"] for part in parts if "functionCall" in part]
        replied = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if content["role"] == "model":
            assert before is not None
            assert before["role"] == "user"
        if asked:
            assert after is not None
            assert [(one["name"], one.get("id")) for one in asked] == [
                (part["functionResponse"]["name"], part["functionResponse"].get("id")) for part in after["parts"]
            ]
        if replied:
            assert len(replied) == len(parts)
            assert before is not None
            assert any("functionCall" in part for part in before["parts"])
            assert all(one["name"] for one in replied)


# One more try


MALFORMED = ["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]


@pytest.mark.parametrize("reason", MALFORMED)
@pytest.mark.parametrize("content", [{}, None, {"content": {}}, {"content": {"role": "model", "parts": []}}])
def test_a_malformed_call_is_asked_for_again_with_a_word(reason: str, content: Event | None, stream: bool) -> None:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1}
    bad = {"candidates": [{**(content or {}), "finishReason": reason}], "usageMetadata": usage}
    google = Google([bad], [event(text("hi"), finish="STOP", usage=usage)])
    reply = ask(gemini(google, stream=stream))
    assert reply.message.text == "hi"
    assert reply.usage == Usage(20, 2, 0, None)
    assert google.bodies[1]["contents"][:-1] == google.bodies[0]["contents"]
    assert "malformed" in google.bodies[1]["contents"][-1]["parts"][0]["text"]


@pytest.mark.parametrize("reason", MALFORMED)
def test_a_call_that_stays_malformed_is_a_bad_reply(reason: str, stream: bool) -> None:
    google = Google([{"candidates": [{"content": {}, "finishReason": reason, "finishMessage": ""}]}])
    with pytest.raises(BadReplyError, match=reason):
        ask(gemini(google, stream=stream))
    assert len(google.bodies) == 2


def test_a_malformed_call_after_text_was_shown_ends_the_reply() -> None:
    google = Google([event(text("Let me look.")), {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}])
    with pytest.raises(BadReplyError):
        ask(gemini(google))
    assert len(google.bodies) == 1


def test_an_unexpected_call_whose_parts_are_there_is_a_call(stream: bool) -> None:
    reply = ask(gemini(Google([event(call("delete_files", {"all": True}), finish="UNEXPECTED_TOOL_CALL")]), stream=stream))
    assert [found.name for found in reply.message.calls] == ["delete_files"]


def test_a_call_without_a_name_is_malformed(stream: bool) -> None:
    google = Google([event({"functionCall": {"args": {"q": 1}}}, finish="STOP")], [event(text("hi"), finish="STOP")])
    assert ask(gemini(google, stream=stream)).message.text == "hi"


EMPTY = [
    {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]},
    {"candidates": [{"content": {}, "finishReason": "STOP"}]},
    {"candidates": [{"finishReason": "STOP"}]},
    {"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]},
    {"candidates": [{"content": {"parts": [{"text": "\n"}]}, "finishReason": "STOP"}]},
    {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}]}, "finishReason": "STOP"}]},
    {"candidates": [{"content": {"parts": [{"text": "", "thoughtSignature": "c2ln"}]}, "finishReason": "STOP"}]},
    {"candidates": [{"finishReason": "OTHER"}]},
]


@pytest.mark.parametrize("empty", EMPTY)
def test_a_stop_with_nothing_is_asked_for_again(empty: Event, stream: bool) -> None:
    google = Google([empty], [event(text("hi"), finish="STOP")])
    assert ask(gemini(google, stream=stream)).message.text == "hi"
    assert google.bodies[0] == google.bodies[1]


@pytest.mark.parametrize("empty", EMPTY)
def test_a_stop_with_nothing_twice_is_a_bad_reply_and_never_a_turn(empty: Event, stream: bool) -> None:
    google = Google([empty])
    with pytest.raises(BadReplyError, match="empty"):
        ask(gemini(google, stream=stream))
    assert len(google.bodies) == 2


# Refusals


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT"])
def test_a_blocked_prompt_is_refused_with_its_reason(reason: str, stream: bool) -> None:
    google = Google(
        [
            {"promptFeedback": {"blockReason": reason}, "usageMetadata": {"promptTokenCount": 9}},
            {"usageMetadata": {"promptTokenCount": 9}},
        ]
    )
    with pytest.raises(RefusedError, match=reason):
        ask(gemini(google, stream=stream))
    assert len(google.bodies) == 1


def test_a_blocked_reply_without_text_is_refused(stream: bool) -> None:
    with pytest.raises(RefusedError, match="PROHIBITED_CONTENT"):
        ask(gemini(Google([{"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}]), stream=stream))


@pytest.mark.parametrize("count", [-5, True, "5", None])
def test_a_token_count_that_is_none_never_lowers_what_was_used(count: Any, stream: bool) -> None:
    usage = {"promptTokenCount": count, "candidatesTokenCount": 2}
    assert ask(gemini(Google([event(text("hi"), finish="STOP", usage=usage)]), stream=stream)).usage.total_tokens == 2


# Errors

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "38.601658672s"}


def quota(name: str) -> Event:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "m", "quotaId": name, "quotaValue": "5"}],
    }


PER_MINUTE = quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")
PER_DAY = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")


@pytest.mark.parametrize(
    ("message", "details", "wait"),
    [
        ("quota", [PER_MINUTE, RETRY], 38.601658672),
        ("Please retry in 12.5s.", [PER_MINUTE], 12.5),
        ("quota", [{**RETRY, "retryDelay": "7s"}], 7.0),
        ("quota", [{**RETRY, "retryDelay": "3600s"}], 120.0),
        ("Quota exceeded, limit: 05", [RETRY], 38.601658672),
        ("quota", [{"violations": 5}, {"violations": "ab"}, {"violations": [5]}, RETRY], 38.601658672),
    ],
)
def test_the_delay_in_the_body_of_a_429_is_waited_for(message: str, details: list[Event], wait: float, stream: bool) -> None:
    waits: list[float] = []
    google = Google(refusal(429, "RESOURCE_EXHAUSTED", message, *details), [event(text("hi"), finish="STOP")])
    assert ask(gemini(google, stream=stream, waits=waits)).message.text == "hi"
    assert waits == [wait]


@pytest.mark.parametrize(
    ("message", "details"),
    [
        ("You exceeded your current quota.", [PER_DAY, RETRY]),
        ("Quota exceeded for metric: m, limit: 0", [RETRY]),
        ("", [PER_MINUTE, PER_DAY]),
    ],
)
def test_a_daily_quota_is_never_waited_for(message: str, details: list[Event], stream: bool) -> None:
    waits: list[float] = []
    google = Google(refusal(429, "RESOURCE_EXHAUSTED", message, *details))
    with pytest.raises(QuotaError):
        ask(gemini(google, stream=stream, waits=waits))
    assert (len(google.bodies), waits) == (1, [])


def test_a_limit_that_lasts_says_how_long() -> None:
    with pytest.raises(RateLimitError) as caught:
        ask(gemini(Google(refusal(429, "RESOURCE_EXHAUSTED", "quota", PER_MINUTE, RETRY)), retries=1))
    assert caught.value.retry_after == 38.601658672


@pytest.mark.parametrize("code", [500, 503, 504])
def test_an_overloaded_model_is_asked_again(code: int, stream: bool) -> None:
    google = Google(refusal(code, "UNAVAILABLE", "The model is overloaded."), [event(text("hi"), finish="STOP")])
    assert ask(gemini(google, stream=stream)).message.text == "hi"


@pytest.mark.parametrize("wrap", [lambda body: body, lambda body: [body]], ids=["object", "list of one"])
def test_an_invalid_key_is_a_400_whose_hint_is_about_the_key(wrap: Any, stream: bool) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    google = Google(httpx.Response(400, json=wrap(error(400, "INVALID_ARGUMENT", f"API key not valid: {KEY}", info))))
    with pytest.raises(ProviderError) as caught:
        ask(gemini(google, stream=stream))
    assert "GOOGLE_API_KEY" in caught.value.hint
    assert (caught.value.status, len(google.bodies)) == (400, 1)
    assert KEY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)


def test_a_conversation_that_is_too_long_is_named(stream: bool) -> None:
    message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    with pytest.raises(ContextLengthError, match="1048576"):
        ask(gemini(Google(refusal(400, "INVALID_ARGUMENT", message)), stream=stream))


@pytest.mark.parametrize(
    ("code", "status", "hint"),
    [
        (400, "FAILED_PRECONDITION", "billing"),
        (403, "PERMISSION_DENIED", "key"),
        (404, "NOT_FOUND", "gemini-3.8-flash"),
        (400, "INVALID_ARGUMENT", ""),
    ],
)
def test_other_refusals_say_what_to_do_and_are_not_repeated(code: int, status: str, hint: str, stream: bool) -> None:
    google = Google(refusal(code, status, "This was refused."))
    with pytest.raises(ProviderError, match="This was refused") as caught:
        ask(gemini(google, stream=stream))
    assert hint in caught.value.hint
    assert (caught.value.provider, caught.value.model, caught.value.status, len(google.bodies)) == ("gemini", MODEL, code, 1)


# A whole turn


def test_a_question_answered_through_a_call(stream: bool) -> None:
    google = Google(
        [
            event(text("", thought=True, thoughtSignature="c2ln")),
            event(call(args={"query": "bm25"}, id="call_1", signature="bW9yZQ==")),
            event(text(""), finish="STOP"),
        ],
        [event(text("BM25 is ")), event(text("a ranking function [a1b2]."), finish="STOP")],
    )
    backend = gemini(google, stream=stream)
    first = ask(backend).message
    second = ask(backend, QUESTION, first, answered(ToolResult("call_1", "search", '{"hits":[{"key":"a1b2"}]}')))
    assert second.message.text == "BM25 is a ranking function [a1b2]."
    assert google.bodies[1]["contents"] == [
        {"role": "user", "parts": [text("find papers on bm25")]},
        {
            "role": "model",
            "parts": [
                text("", thought=True, thoughtSignature="c2ln"),
                call(args={"query": "bm25"}, id="call_1", signature="bW9yZQ=="),
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "call_1", "name": "search", "response": {"output": {"hits": [{"key": "a1b2"}]}}}}
            ],
        },
    ]
    # Tools that were only told of in words end in UNEXPECTED_TOOL_CALL: they are declared in every request.
    assert google.bodies[0]["tools"] == google.bodies[1]["tools"]


def test_tools_and_a_json_reply_are_never_asked_for_together() -> None:
    assert "responseMimeType" not in json.dumps(posted(QUESTION, max_output_tokens=10))
