"""Chat completions, the other way: a reply, whole or in chunks, as a Reply.

Calls are told apart by id, then by index, because servers leave indexes out or give every call the same. Arguments are never
repaired: what a stream cuts is an error, what a model wrote wrongly goes to the toolbox as it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.backends.base import Price
from assistant.backends.chat_wire import CallIds, is_whole
from assistant.backends.openrouter.explain import first_choice
from assistant.backends.openrouter.request import PROVIDER, Wire
from assistant.backends.tool_names import ToolNames
from assistant.errors import BadReplyError, ProviderError, RefusedError
from assistant.messages import FinishReason, Message, Origin, Reply, ToolCall, Usage

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "refused",
}
_JOINED = ("text", "summary", "data")  # what grows from fragment to fragment of a reasoning detail


@dataclass(slots=True)
class _PartialCall:
    """A call that is being read. key: its index, None where the server gave none."""

    key: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class ReplyReader:
    """Reads one reply, whole or in chunks: `feed` each of them, then ask for `reply`.

    failed: makes the error for a body that holds one. names: of the tools that were declared. ids: those of the conversation.
    price: for replies that do not say what they cost.
    """

    wire: Wire
    failed: Callable[[Mapping[str, Any]], ProviderError]
    names: ToolNames
    ids: CallIds
    local: bool = False
    price: Price | None = None
    _text: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)
    _calls: list[_PartialCall] = field(default_factory=list)
    _details: list[dict[str, Any]] = field(default_factory=list)
    _finish: str | None = None
    _native: str = ""
    _usage: Mapping[str, Any] = field(default_factory=dict)
    _model: str = ""
    _whole: bool = False
    _fed: bool = False

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take a chunk, and return the text in it. Raises ProviderError for an error, wherever in the chunk it stands."""
        chunk = unwrapped(chunk)
        if holds_error(chunk):
            raise self.failed(chunk)
        choice = first_choice(chunk)
        self._fed = True
        if isinstance(chunk.get("usage"), Mapping):
            self._usage = chunk["usage"]
        self._model = self._model or str(chunk.get("model") or "")
        self._finish = str(choice.get("finish_reason") or "") or self._finish
        self._native = str(choice.get("native_finish_reason") or self._native)
        self._whole = self._whole or isinstance(choice.get("message"), Mapping)
        delta = choice.get("delta") or choice.get("message")
        return self._take(delta) if isinstance(delta, Mapping) else ""

    def reply(self, *, complete: bool) -> Reply:
        """The whole reply; its message is empty when there was none. complete: the stream came to its own end ([DONE]).

        Raises BadReplyError for a reply that broke off, RefusedError for one that a filter took away.
        """
        if self._finish is None and self._fed and not self._whole and not complete:
            raise self._bad("broke off in the middle of its reply")
        if self._finish is None and any(call.arguments and not is_whole(call.arguments) for call in self._calls):
            raise self._bad("broke off in the middle of a call")
        if self._finish == "error" and "MALFORMED" not in self._native:
            raise self._bad("ended its reply with an error that it does not name")
        text = "".join(self._text) or "".join(self._refusal)
        calls = tuple(self._finished_calls())
        if self._finish == "content_filter" and not text and not calls:
            raise RefusedError(
                f"{PROVIDER}:{self.wire.model} answered nothing: a content filter took the reply away",
                provider=PROVIDER,
                model=self.wire.model,
                hint="put the question in other words, or choose another model",
            )
        data = {"reasoning_details": self._details} if self._details and self.wire.router else None
        return Reply(
            Message("assistant", text, calls, origin=Origin(PROVIDER, self.wire.model, data)),
            self._finish_reason(calls),
            self._used(),
            self._model or self.wire.model,
        )

    def _take(self, delta: Mapping[str, Any]) -> str:
        text = _text_of(delta.get("content"))
        self._text.append(text)
        self._refusal.append(_text_of(delta.get("refusal")))
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else ():
            if isinstance(part, Mapping):
                self._take_call(part)
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, Mapping):
                self._take_detail(detail)
        return text

    def _take_call(self, part: Mapping[str, Any]) -> None:
        function = part.get("function")
        function = function if isinstance(function, Mapping) else {}
        key = part.get("index") if isinstance(part.get("index"), int) else None
        wanted, name = str(part.get("id") or ""), str(function.get("name") or "")
        call = None if self._whole else self._continued(key, wanted, name)
        if call is None:
            call = _PartialCall(key)
            self._calls.append(call)
        call.id = call.id or wanted
        call.name = call.name or name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:
            call.arguments = json.dumps(arguments, ensure_ascii=False)

    def _continued(self, key: int | None, wanted: str, name: str) -> _PartialCall | None:
        """The call that a fragment goes on with, None when it begins one.

        A known id goes on, a new one begins; so does a name, where the arguments so far are complete or belong to another name.
        Some servers give each fragment a new id: without a name it goes on with arguments that are not complete.
        """
        same_key = [call for call in self._calls if key is None or call.key is None or call.key == key]
        if wanted and (known := [call for call in same_key if call.id == wanted]):
            return known[-1]
        if not same_key:
            return None
        last = same_key[-1]
        if wanted and last.id:
            return last if not name and not is_whole(last.arguments) else None
        if name and last.name and (name != last.name or is_whole(last.arguments)):
            return None
        return last

    def _take_detail(self, detail: Mapping[str, Any]) -> None:
        """Reasoning comes in fragments of the same index and type; text grows, of everything else the last word counts."""
        known = next((old for old in self._details if not self._whole and _same_detail(old, detail)), None)
        if known is None:
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            before = known.get(name)
            if name in _JOINED and isinstance(before, str) and isinstance(value, str):
                known[name] = before + value
            elif value is not None:
                known[name] = value

    def _finished_calls(self) -> Iterator[ToolCall]:
        for call in self._calls:
            arguments = call.arguments
            if self._finish == "length" and call is self._calls[-1] and not arguments.strip():
                # Cut before its arguments began; no arguments at all would be a call that may run.
                arguments = "{"
            yield ToolCall(self.ids.take(call.id), self.names.declared(call.name), arguments)

    def _finish_reason(self, calls: tuple[ToolCall, ...]) -> FinishReason:
        if "MALFORMED" in self._native:
            return "malformed"
        if self._finish is None:
            return "tool_calls" if calls else "stop"
        if self._refusal and not "".join(self._text) and "".join(self._refusal):
            return "refused"
        return _FINISH.get(self._finish, "other")

    def _used(self) -> Usage:
        """Tokens and dollars."""
        details = self._usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
        return Usage(
            _count(self._usage.get("prompt_tokens")),
            _count(self._usage.get("completion_tokens")),
            _count(cached),
            0.0 if self.local else self._cost(),
        )

    def _cost(self) -> float | None:
        """Dollars as the reply says, else by the price of its tokens (those from a cache at the full one); None when unknown."""
        told = self._usage.get("cost")
        try:
            if isinstance(told, int | float) and not isinstance(told, bool) and told >= 0:
                return float(told) if math.isfinite(told) else None
            counts = (_count(self._usage.get("prompt_tokens")), _count(self._usage.get("completion_tokens")))
            if self.price is None or not any(counts):
                return None
            return counts[0] / 1e6 * self.price.input + counts[1] / 1e6 * self.price.output
        except OverflowError:  # JSON has whole numbers that are larger than any float
            return None

    def _bad(self, what: str) -> BadReplyError:
        return BadReplyError(
            f"{PROVIDER}:{self.wire.model} {what}",
            provider=PROVIDER,
            model=self.wire.model,
            hint="ask again, or choose another model",
        )


def unwrapped(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """A chunk or reply itself; seen: the real one inside of the field `provider`."""
    inner = chunk.get("provider")
    return inner if isinstance(inner, Mapping) and not isinstance(chunk.get("choices"), list) else chunk


def holds_error(chunk: Mapping[str, Any]) -> bool:
    """Whether a chunk or reply is an error, or has one in its choice, whatever the status was."""
    return bool(chunk.get("error") or first_choice(chunk).get("error") or chunk.get("object") == "error")


def _same_detail(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two details are fragments of one: the same index and type, and not two different ids."""
    if not any(name in new for name in (*_JOINED, "signature")):
        return False
    same = old.get("index") == new.get("index") and old.get("type") == new.get("type")
    return same and new.get("index") is not None and (not new.get("id") or not old.get("id") or old["id"] == new["id"])


def _text_of(content: Any) -> str:
    """Text of a content field: a string, or a list of parts of which those with text count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


__all__ = ["ReplyReader", "holds_error", "unwrapped"]
