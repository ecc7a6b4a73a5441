"""What passes in and out of the history: frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.conversation import Snapshot, Turn
from search import Filters


@dataclass(frozen=True, slots=True)
class Session:
    """A kept conversation, without what was said. model, base_url: of its last turn; base_url "" for the provider's own address.

    started, last: moments in UTC, ISO 8601. turns: how many were answered.
    """

    id: int
    name: str | None
    library: Path
    model: str
    base_url: str
    started: str
    last: str
    turns: int
    first_question: str

    @property
    def title(self) -> str:
        """Its name, else its first question."""
        return self.name or self.first_question


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A turn as it was answered. number: from 1, within its conversation. filters: the person's own, as given.

    turn: without what the tools gave, which the snapshot of the conversation has: its calls have names, arguments and whether
    they went well. record: the turn as JSON shows it, with the day it was asked on.
    """

    number: int
    turn: Turn
    filters: Filters
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A whole conversation. snapshot: what goes back into `Conversation.restore`."""

    session: Session
    turns: tuple[KeptTurn, ...]
    snapshot: Snapshot

    @property
    def filters(self) -> Filters:
        """The person's own filters of the last turn, or as they were left after it."""
        return self.turns[-1].filters if self.turns else Filters()


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that a search has found. number: its place in its conversation, from 1. at: in UTC."""

    session: Session
    number: int
    question: str
    answer: str
    model: str
    at: str


__all__ = ["FoundTurn", "Kept", "KeptTurn", "Session"]
