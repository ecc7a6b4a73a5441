"""The neutral form of a conversation: what the loop, the recordings and every backend share.

A backend translates a Request into its provider's wire and the provider's reply into a Reply; wire types stay private to it.
What a provider wants back unchanged (thought signatures, reasoning details, thinking) travels in `Origin.data`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "refused", "malformed", "other"]
Outcome = Literal["answer", "question", "absent", "partial"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for. id: unique in the conversation, made by us where the wire has none.

    arguments: JSON text as the model sent it, not yet checked; a wire that sends an object is dumped to text.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The one answer to a call. content: text, JSON by convention; "" means that there was no output."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an assistant message came from, and the provider's own form of it, opaque JSON.

    `data` goes back unchanged to the same provider and model, and nowhere else. text_calls: the calls were read from the text,
    so that the provider's form does not hold them.
    """

    provider: str
    model: str
    data: Any = None
    text_calls: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation.

    text: what is said; for "tool" messages "". calls: only in assistant messages. results: only in "tool" messages, one message
    for all results of the assistant message before it, in call order. origin: only in assistant messages that a provider sent.
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A tool as a model sees it. parameters: a JSON Schema of an object, without $ref."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a model. may_call False: tools stay declared where the provider can forbid calls, but none may be called.

    max_output_tokens: None leaves it to the provider.
    """

    messages: tuple[Message, ...]
    tools: tuple[Declaration, ...] = ()
    may_call: bool = True
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request, and its cost in US dollars where it is known (a local model's is 0). They add up.

    output_tokens include thinking; cached_tokens are a part of input_tokens.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        """The sum; a cost that is unknown on one side is unknown."""
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
        )

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some more of the text of a reply that is streamed."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply. message: what goes into the conversation. finish: for people; the loop decides by the content.

    model: the one that answered, as the provider names it. notices: what the person should know ("the prompt was cut").
    outcome: what the reply is, where the backend knows; None leaves it to be read from the text.
    """

    message: Message
    finish: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    notices: tuple[str, ...] = ()
    outcome: Outcome | None = None


def split_turns(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """The turns of a conversation: each begins with a message of the person. What stands before the first is left out."""
    places = [place for place, message in enumerate(messages) if message.role == "user"]
    return [tuple(messages[start:end]) for start, end in pairwise([*places, len(messages)])]


__all__ = [
    "Declaration",
    "FinishReason",
    "Message",
    "Origin",
    "Outcome",
    "Reply",
    "Request",
    "Role",
    "TextDelta",
    "ToolCall",
    "ToolResult",
    "Usage",
    "split_turns",
]
