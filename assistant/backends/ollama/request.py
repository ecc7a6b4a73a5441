"""Ollama's /api/chat, one way: a Request as its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assistant.backends.chat_wire import arguments_object, as_plain_text, result_text, tamed
from assistant.backends.tool_names import ToolNames
from assistant.messages import Declaration, Message, Request, ToolCall

PROVIDER = "ollama"
Think = bool | str | None
RE_ASKED = "Your last tool call could not be read, because its arguments were not valid JSON. Write it again as one JSON object."


@dataclass(frozen=True, slots=True)
class Wire:
    """How a model on a server is spoken to.

    num_ctx: tokens of the window, None leaves it to the server. tools, thinking: whether the model has them. think: whether or how
    much it is to think, None for its default. left_out: fields of the body that this server refuses.
    """

    model: str
    num_ctx: int | None = None
    stream: bool = True
    tools: bool = True
    thinking: bool = False
    family: str = ""
    think: Think = None
    left_out: frozenset[str] = frozenset()

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a request. Where no call is wanted tools are left out, since this wire cannot forbid one."""
        names = ToolNames(tool.name for tool in request.tools)
        messages = request.messages if self.tools else as_plain_text(request.messages)
        in_turn = max((number for number, message in enumerate(messages) if message.role == "user"), default=-1)
        body: dict[str, Any] = {
            "model": self.model,
            "stream": self.stream,
            "messages": [
                part for number, message in enumerate(messages) for part in self._message(message, names, thinking=number > in_turn)
            ],
            "truncate": False,
            "shift": False,
        }
        if self.num_ctx is not None:
            body["options"] = {"num_ctx": self.num_ctx}
        if request.max_output_tokens is not None:
            body.setdefault("options", {})["num_predict"] = request.max_output_tokens
        if request.tools and self.tools and request.may_call:
            body["tools"] = [_declaration(tool, names) for tool in request.tools]
        if self.think is not None and (self.thinking or not self.think):
            body["think"] = self._thought()
        return {name: value for name, value in body.items() if name not in self.left_out}

    def _thought(self) -> Think:
        """What `think` is sent: gpt-oss knows levels alone, and cannot be kept from thinking."""
        if not (self.family == "gptoss" or "gpt-oss" in self.model) or isinstance(self.think, str):
            return self.think
        return "medium" if self.think else "low"

    def _message(self, message: Message, names: ToolNames, *, thinking: bool) -> Iterator[dict[str, Any]]:
        if message.role == "tool":
            for result in message.results:
                yield {
                    "role": "tool",
                    "tool_name": names.wire(result.name),
                    "tool_call_id": result.call_id,
                    "content": tamed(result_text(result)),
                }
            return
        found: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.role == "assistant":
            if thinking and (thought := self._own_thinking(message)):
                found["thinking"] = thought
            if message.calls:
                found["tool_calls"] = [_call(call, index, names) for index, call in enumerate(message.calls)]
            if not (message.text or message.calls):
                return  # a turn in which nothing was said
        yield found

    def _own_thinking(self, message: Message) -> str | None:
        """What this model thought before a message; within a turn it wants that back."""
        origin = message.origin
        if origin is None or (origin.provider, origin.model) != (PROVIDER, self.model) or not isinstance(origin.data, Mapping):
            return None
        thought = origin.data.get("thinking")
        return thought if isinstance(thought, str) else None


def _call(call: ToolCall, index: int, names: ToolNames) -> dict[str, Any]:
    """A call in history. Arguments are an object here; the server refuses the whole conversation for a string."""
    arguments = arguments_object(call.arguments) or {}
    return {"id": call.id, "function": {"index": index, "name": names.wire(call.name), "arguments": arguments}}


def _declaration(tool: Declaration, names: ToolNames) -> dict[str, Any]:
    function = {"name": names.wire(tool.name), "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


__all__ = ["PROVIDER", "RE_ASKED", "Think", "Wire"]
