"""What happens in a turn, as typed events: the loop yields them, everything else consumes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assistant.messages import Message, Outcome, ToolCall, Usage
from assistant.tools import Ran

StopReason = Literal["answered", "steps", "calls", "tokens", "cost", "seconds", "failed"]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A request is sent to the model; steps count from 1."""

    step: int


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some more text of the reply under way; it may turn out to stand beside calls."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockFinished:
    """A part of the answer, checked and ready to be printed, while the rest is still being written."""

    text: str


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A reply is complete. text: all of it. model: as the provider names the one that answered."""

    step: int
    text: str
    usage: Usage
    seconds: float
    model: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call is about to be checked and run."""

    call: ToolCall
    step: int


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call has its result. repeated: answered from the turn's memory."""

    call: ToolCall
    ran: Ran
    step: int
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person should know."""

    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a turn ended: "answered", or the limit that was reached, or "failed"; detail says it in words."""

    reason: StopReason
    detail: str = ""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over. messages: what it added to the conversation, the question first; the answer last when there is one."""

    stop: Stop
    messages: tuple[Message, ...]
    usage: Usage
    steps: int
    seconds: float


Event = StepStarted | TextPiece | BlockFinished | StepFinished | CallStarted | CallFinished | Notice | Ended

__all__ = [
    "BlockFinished",
    "CallFinished",
    "CallStarted",
    "Ended",
    "Event",
    "Notice",
    "StepFinished",
    "StepStarted",
    "Stop",
    "StopReason",
    "TextPiece",
]
