"""Chat completions, one way: a Request as the body that OpenRouter and servers of its wire take."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.backends.chat_wire import arguments_text, as_plain_text, result_text, tamed
from assistant.backends.tool_names import ToolNames
from assistant.messages import Declaration, Message, Request

PROVIDER = "openrouter"
LEAST_OUTPUT = 16  # tokens: some providers refuse to be asked for fewer


@dataclass(frozen=True, slots=True)
class Wire:
    """How a server is spoken to.

    router: it is OpenRouter itself, so that its own fields may be sent. tools: the model takes declarations; without, the
    conversation is sent as plain text. strict: schemas are sent as strict ones, where they can be.
    """

    model: str
    router: bool = True
    stream: bool = True
    tools: bool = True
    strict: bool = False

    def body(self, request: Request, *, reasoning: bool = True) -> dict[str, Any]:
        """The body of a request. reasoning: whether a provider's reasoning details go back to it."""
        names = ToolNames(tool.name for tool in request.tools)
        messages = request.messages if self.tools else as_plain_text(request.messages)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [part for message in messages for part in self._message(message, names, reasoning=reasoning)],
        }
        if request.tools and self.tools:
            body["tools"] = [self._declaration(tool, names) for tool in request.tools]
            if not request.may_call:
                body["tool_choice"] = "none"
        if request.max_output_tokens is not None:
            if self.router:
                body["max_completion_tokens"] = max(LEAST_OUTPUT, request.max_output_tokens)
            else:
                body["max_tokens"] = request.max_output_tokens
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.router:
            body["session_id"] = session_id(request)
        return body

    def _message(self, message: Message, names: ToolNames, *, reasoning: bool) -> Iterator[dict[str, Any]]:
        if message.role == "tool":
            for result in message.results:
                text = result_text(result)
                yield {"role": "tool", "tool_call_id": result.call_id, "content": text if self.router else tamed(text)}
            return
        if message.role != "assistant":
            yield {"role": message.role, "content": message.text}
            return
        found: dict[str, Any] = {"role": "assistant"}
        if message.text:
            found["content"] = message.text
        if message.calls:
            found["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": names.wire(call.name), "arguments": arguments_text(call.arguments)},
                }
                for call in message.calls
            ]
        if reasoning and self.router and (details := self._details(message)):
            found["reasoning_details"] = details
        if len(found) > 1:  # an assistant who said nothing is not sent: providers refuse empty turns
            yield found

    def _details(self, message: Message) -> list[Any] | None:
        """The reasoning details of a message that came from this model, unmodified."""
        origin = message.origin
        if origin is None or (origin.provider, origin.model) != (PROVIDER, self.model) or origin.text_calls:
            return None
        return origin.data.get("reasoning_details") if isinstance(origin.data, Mapping) else None

    def _declaration(self, tool: Declaration, names: ToolNames) -> dict[str, Any]:
        function: dict[str, Any] = {"name": names.wire(tool.name)}
        if tool.description:
            function["description"] = tool.description
        strict = strict_schema(tool.parameters) if self.strict else None
        function["parameters"] = tool.parameters if strict is None else strict
        if strict is not None:
            function["strict"] = True
        return {"type": "function", "function": function}


def session_id(request: Request) -> str:
    """A name for a conversation, the same at each of its steps.

    OpenRouter keeps one session with one provider; signed reasoning is refused by any other than the one that signed it.
    """
    digest = hashlib.sha256()
    for message in request.messages:
        digest.update(f"{message.role}\0{message.text}\0".encode("utf-8", "surrogatepass"))
        if message.role == "user":
            break
    return f"archivist-{digest.hexdigest()[:32]}"


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """A schema as strict mode wants it: no other fields, all fields required, optional ones nullable. None where that cannot be.

    It cannot be said strictly that an object takes any fields.
    """
    found = {name: value for name, value in schema.items() if name not in {"default", "examples"}}
    if found.get("type") == "object" or "properties" in found:
        properties = found.get("properties") or {}
        more = found.get("additionalProperties")
        if more not in (None, False) or not (properties or more is False):
            return None
        required = set(found.get("required", ()))
        inner = {name: strict_schema(value) for name, value in properties.items()}
        if None in inner.values():
            return None
        found["properties"] = {
            name: value if name in required else _nullable(value) for name, value in inner.items() if value is not None
        }
        found |= {"required": list(properties), "additionalProperties": False}
    if isinstance(found.get("items"), Mapping):
        found["items"] = strict_schema(found["items"])
        if found["items"] is None:
            return None
    for name in ("anyOf", "oneOf", "allOf"):
        if name in found:
            found[name] = [strict_schema(value) for value in found[name]]
            if None in found[name]:
                return None
    return found


def _nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that also takes null."""
    found = dict(schema)
    if "anyOf" in found:
        if {"type": "null"} not in found["anyOf"]:
            found["anyOf"] = [*found["anyOf"], {"type": "null"}]
        return found
    kind = found.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if kind is None or "const" in found:
        return {"anyOf": [found, {"type": "null"}]}
    if "null" not in kinds:
        found["type"] = [*kinds, "null"]
    if "enum" in found and None not in found["enum"]:
        found["enum"] = [*found["enum"], None]
    return found


__all__ = ["LEAST_OUTPUT", "PROVIDER", "Wire", "session_id", "strict_schema"]
