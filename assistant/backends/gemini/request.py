"""A Request as the body of generateContent.

What the wire asks of a conversation, each learned from a refusal or an empty reply: every call of a turn answered in one content
right after it, in order, with the id that the model sent and none otherwise; user text in a content of its own; a model turn
neither first nor last; no empty parts; signatures as they came, or the documented stand-in where calls came from elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant.backends.plain_schema import plain_schema
from assistant.backends.tool_names import ToolNames
from assistant.messages import Declaration, Message, Request, ToolCall, ToolResult

PROVIDER = "gemini"
STAND_IN = "skip_thought_signature_validator"
NEWEST = 99.0
LEFT_OUT = "(Earlier turns are left out.)"
GO_ON = "Continue."
NUDGE = "Your last function call was malformed. Call a declared function with valid JSON arguments, or answer in words."
UNANSWERED = "the call was not run"
EXACT = 2**53  # the wire keeps numbers of a result as doubles

Content = dict[str, Any]
Part = dict[str, Any]


def generation(model: str) -> float:
    """The generation in a model's name: 3.8 of gemini-3.8-flash. Aliases without a number are the newest, other families 0."""
    found = re.match(r"(?:models/)?gemini-(\d+(?:\.\d+)?)?", model)
    if found is None:
        return 0.0
    return float(found[1]) if found[1] else NEWEST


def body_of(request: Request, *, model: str, mode: str) -> dict[str, Any]:
    """The body. mode: of function calling, while calls are allowed (AUTO, VALIDATED, ANY)."""
    body: dict[str, Any] = {}
    names = ToolNames(tool.name for tool in request.tools)
    if system := "\n\n".join(message.text for message in request.messages if message.role == "system" and message.text):
        body["systemInstruction"] = {"parts": [{"text": system}]}
    body["contents"] = contents_of(request.messages, model=model, names=names)
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declared(tool, names) for tool in request.tools]}]
        # Without declarations the wire refuses a toolConfig.
        body["toolConfig"] = {"functionCallingConfig": {"mode": mode if request.may_call else "NONE"}}
    if request.max_output_tokens is not None:
        body["generationConfig"] = {"maxOutputTokens": request.max_output_tokens}
    return body


def contents_of(messages: Sequence[Message], *, model: str, names: ToolNames) -> list[Content]:
    """The conversation in the order that the wire accepts, beginning and ending with a user content."""
    contents: list[Content] = []
    rest = [message for message in messages if message.role != "system"]
    while rest:
        message = rest.pop(0)
        if message.role == "assistant":
            if not (parts := _model_parts(message, model, names)):
                continue
            _add_model(contents, parts)
            if message.calls:
                results: list[ToolResult] = []
                while rest and rest[0].role == "tool":
                    results += rest.pop(0).results
                contents.append({"role": "user", "parts": _answers(message.calls, results, parts)})
        else:
            # Results without their call (it was cut away) are told in words: the wire refuses them as results.
            told = [f"Result of {result.name}: {result.content}" for result in message.results]
            parts = [{"text": text} for text in [message.text, *told] if text]
            if parts:
                contents.append({"role": "user", "parts": parts})
    if not contents or contents[-1]["role"] == "model":
        contents.append({"role": "user", "parts": [{"text": GO_ON}]})
    return contents


def nudged(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with a last word to a model whose call could not be read."""
    return {**body, "contents": [*body["contents"], {"role": "user", "parts": [{"text": NUDGE}]}]}


def with_stand_ins(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with every signature replaced by the stand-in, and one on the first call of each step."""
    contents = []
    for content in body["contents"]:
        parts = [{**part, "thoughtSignature": STAND_IN} if _signature(part) else part for part in content["parts"]]
        calls = [place for place, part in enumerate(parts) if "functionCall" in part]
        if calls:
            parts[calls[0]] = {**parts[calls[0]], "thoughtSignature": STAND_IN}
        contents.append({**content, "parts": [_renamed(part) for part in parts]})
    return {**body, "contents": contents}


def _declared(tool: Declaration, names: ToolNames) -> dict[str, Any]:
    return {
        "name": names.wire(tool.name),
        "description": tool.description or tool.name,
        "parametersJsonSchema": plain_schema(tool.parameters),
    }


def _add_model(contents: list[Content], parts: list[Part]) -> None:
    """Add a model turn: after a user turn, and in one content with a model turn before it."""
    if not contents:
        contents.append({"role": "user", "parts": [{"text": LEFT_OUT}]})
    if contents[-1]["role"] == "model":
        contents[-1] = {"role": "model", "parts": [*contents[-1]["parts"], *parts]}
    else:
        contents.append({"role": "model", "parts": parts})


def _model_parts(message: Message, model: str, names: ToolNames) -> list[Part]:
    """The parts as they came when this model sent them; else rebuilt from text and calls, none when there is neither."""
    origin = message.origin
    if origin and (origin.provider, origin.model) == (PROVIDER, model) and not origin.text_calls and isinstance(origin.data, list):
        parts = [part for part in origin.data if isinstance(part, dict) and not is_empty(part)]
        sent = [part["functionCall"] for part in parts if "functionCall" in part]
        # A recording may have been edited by hand: what does not fit the calls is rebuilt from them.
        if parts and len(sent) == len(message.calls) and all(isinstance(call, dict) and call.get("name") for call in sent):
            return parts
    rebuilt: list[Part] = [{"text": message.text}] if message.text.strip() else []
    signed = generation(model) >= 3
    for place, call in enumerate(message.calls):
        asked: dict[str, Any] = {"name": names.wire(call.name) if call.name else "unnamed", "args": _arguments(call)}
        # From 3.5 on calls and results are matched by id, strictly; older ones may not know the field.
        part: Part = {"functionCall": {"id": call.id, **asked} if signed and call.id else asked}
        if signed and place == 0:
            part["thoughtSignature"] = STAND_IN
        rebuilt.append(part)
    return rebuilt


def is_empty(part: Mapping[str, Any]) -> bool:
    """Whether a part holds nothing: no content but an empty text, and no signature."""
    return not _signature(part) and not any(value for name, value in part.items() if name != "thought")


def _signature(part: Mapping[str, Any]) -> bool:
    return bool(part.get("thoughtSignature") or part.get("thought_signature"))


def _renamed(part: Part) -> Part:
    return {name: value for name, value in part.items() if name != "thought_signature"}


def _arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as the object that the wire wants; text that is none is kept as a field, for the model to see its mistake."""
    found = _parsed(call.arguments)
    if isinstance(found, dict):
        return found
    return {} if call.arguments.strip() in {"", "null"} else {"arguments": call.arguments}


def _answers(calls: Sequence[ToolCall], results: Iterable[ToolResult], parts: Iterable[Part]) -> list[Part]:
    """One functionResponse for each call, in order; with the name and id of the functionCall part at the same place."""
    given: dict[str, ToolResult] = {}
    for result in results:
        given.setdefault(result.call_id, result)
    asked = [part["functionCall"] for part in parts if "functionCall" in part]
    answers: list[Part] = []
    for call, wire in zip(calls, asked, strict=True):
        answer: dict[str, Any] = {"id": wire["id"]} if wire.get("id") else {}
        answer |= {"name": wire.get("name") or "unnamed", "response": _response(given.get(call.id))}
        answers.append({"functionResponse": answer})
    return answers


def _response(result: ToolResult | None) -> dict[str, Any]:
    """A result as the object that the wire wants: `output` or `error`."""
    if result is None:
        return {"error": UNANSWERED}
    if result.is_error:
        return {"error": result.content}
    found = _parsed(result.content)
    return {"output": result.content if found is None or not _is_safe(found) else found}


def _parsed(text: str) -> Any:
    """The value of JSON text; None when it is none (NaN and the like are not JSON on the wire)."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _is_safe(value: Any, depth: int = 0) -> bool:
    """Whether a value passes the wire unchanged.

    A field named `$ref` is read as a reference to a file; numbers are doubles; deep nesting is refused.
    """
    if isinstance(value, dict):
        return depth < 50 and "$ref" not in value and all(_is_safe(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return depth < 50 and all(_is_safe(item, depth + 1) for item in value)
    return not (isinstance(value, int) and abs(value) > EXACT) and value not in {float("inf"), float("-inf")}
