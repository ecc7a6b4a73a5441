"""The door that every model has, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assistant.messages import Reply, Request, TextDelta


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do, as far as it is known.

    tools: whether it takes declarations; without it the loop gives the passages of a first search as text and reads calls from
    the reply. context_length: tokens, None when unknown. price: None when unknown; a local model's is 0.
    local: nothing leaves the machine. reports_cost: each reply says what it cost. text_calls: calls may be read from its text;
    not from text that is made of documents.
    """

    tools: bool = True
    context_length: int | None = None
    price: Price | None = None
    local: bool = False
    reports_cost: bool = False
    text_calls: bool = True


@dataclass(frozen=True, slots=True)
class Listed:
    """A model as a provider lists it: its name without the provider, what it can do, and whether it thinks before it answers."""

    name: str
    capabilities: Capabilities
    thinking: bool = False


class Backend(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """`provider:model`, as a person names it."""

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do; may ask the server the first time. Raises ProviderError."""

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """Ask the model: pieces of text while they come, last the whole Reply, exactly once.

        Closing the iterator (or an exception at a yield) ends the request. Raises ProviderError, also in the middle of a stream;
        retries happen inside, and only before the first piece was yielded.
        """

    def body(self, request: Request) -> Mapping[str, Any]:
        """The body that `send` would post, without any key; sends nothing."""

    def close(self) -> None:
        """Give back connections."""


def merged(body: Mapping[str, Any], extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """A body with more fields; objects are merged, everything else is replaced."""
    result = dict(body)
    for name, value in (extra or {}).items():
        before = result.get(name)
        result[name] = merged(before, value) if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return result
