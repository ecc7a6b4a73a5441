"""Ollama's /api/chat, the other way: the lines of a reply as a Reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.backends.chat_wire import CallIds
from assistant.backends.ollama.request import PROVIDER, Wire
from assistant.backends.tool_names import ToolNames
from assistant.errors import BadReplyError, ProviderError
from assistant.failures import named
from assistant.messages import FinishReason, Message, Origin, Reply, ToolCall, Usage

_FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length"}


@dataclass(slots=True)
class ReplyReader:
    """Reads the lines of one reply: `feed` each of them, then ask for `reply`.

    failed: makes the error for a line that holds one. names: of the declared tools. ids: those of the conversation.
    """

    wire: Wire
    failed: Callable[[Mapping[str, Any]], ProviderError]
    names: ToolNames
    ids: CallIds
    cost: float | None = 0.0
    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _last: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._text)

    def feed(self, line: Mapping[str, Any]) -> str:
        """Take a line, and return the text in it. Raises ProviderError for a line that is an error."""
        if holds_error(line):
            raise self.failed(line)
        if line.get("done"):
            self._last = line
        message = line.get("message")
        if not isinstance(message, Mapping):
            return ""
        text = message.get("content")
        text = text if isinstance(text, str) else ""
        self._text.append(text)
        if isinstance(thought := message.get("thinking"), str):
            self._thinking.append(thought)
        calls = message.get("tool_calls")
        for part in calls if isinstance(calls, list) else ():
            if isinstance(part, Mapping):
                self._take_call(part)
        return text

    def reply(self) -> Reply:
        """The whole reply; its message is empty when there was none. Raises BadReplyError when the lines ended before it did."""
        if not self._last:
            raise BadReplyError(
                f"{named(PROVIDER, self.wire.model)} broke off in the middle of its reply",
                provider=PROVIDER,
                model=self.wire.model,
                hint="ask again; `ollama ps` and the server's log tell whether the model is still loaded",
            )
        usage = Usage(_count(self._last.get("prompt_eval_count")), _count(self._last.get("eval_count")), 0, self.cost)
        finish = _FINISH.get(str(self._last.get("done_reason") or "stop"), "other")
        return self.made(usage, "tool_calls" if self._calls and finish == "stop" else finish)

    def made(self, usage: Usage, finish: FinishReason, *more: ToolCall) -> Reply:
        """A reply of what was read so far, with more calls."""
        data = {"thinking": "".join(self._thinking)} if any(self._thinking) else None
        message = Message("assistant", self.text, (*self._calls, *more), origin=Origin(PROVIDER, self.wire.model, data))
        return Reply(message, finish, usage, str(self._last.get("model") or self.wire.model))

    def _take_call(self, part: Mapping[str, Any]) -> None:
        function = part.get("function")
        function = function if isinstance(function, Mapping) else {}
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        wanted = part.get("id")
        name = self.names.declared(str(function.get("name") or ""))
        self._calls.append(ToolCall(self.ids.take(wanted if isinstance(wanted, str) else None), name, arguments))


def holds_error(line: Mapping[str, Any]) -> bool:
    """Whether a line is an error; seen also under keys that are the message themselves ("error parsing tool call: ...")."""
    return bool(line.get("error")) or ("message" not in line and any(name.startswith("error") for name in line))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


__all__ = ["ReplyReader", "holds_error"]
