"""What a run of indexing tells: each change as it is stored, how far it is, and the counts in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["added", "changed", "moved", "removed", "no text", "failed", "skipped", "kept"]


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one file. reason: why it has no text or was skipped, where it was moved from, or what tables it holds.

    tables: how many these are. remarks: what else is worth telling, the most important first.
    """

    kind: Kind
    path: str
    reason: str = ""
    tables: int = 0
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: files done of those that need work; passages embedded so far."""

    done: int
    total: int
    embedded: int


Report = Callable[[Change | Progress], None]


@dataclass(slots=True)
class Summary:
    """The counts of a run. read: files whose content was read; refused: removals held back; kept: unreadable, left as known.

    tables: how many the files that were added or changed hold.
    """

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    no_text: int = 0
    failed: int = 0
    skipped: int = 0
    kept: int = 0
    refused: int = 0
    embedded: int = 0
    tables: int = 0
    read: int = 0
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)

    def count(self, change: Change) -> None:
        """Count one change."""
        name = change.kind.replace(" ", "_")
        setattr(self, name, getattr(self, name) + 1)
        self.tables += change.tables
