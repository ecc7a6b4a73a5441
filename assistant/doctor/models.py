"""What a check is given and what it says."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.backends import Choice

State = Literal["ok", "warning", "failed", "skipped"]
STATES: tuple[State, ...] = ("ok", "warning", "failed", "skipped")


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and the command that mends it, "" where there is nothing to mend."""

    name: str
    state: State
    finding: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be looked at.

    library: the file; named: whether somebody chose it. embedder, base_url: as named, None for the default. choice: the model that
    is used when none is named, as far as that is known without asking a server. online: whether clouds and other machines may be
    asked.
    """

    library: Path
    named: bool = False
    embedder: str | None = None
    base_url: str | None = None
    choice: Choice | None = None
    online: bool = False

    @property
    def provider(self) -> str:
        """The provider of the model that is used, "" when that is not settled by name."""
        from assistant import backends

        return backends.split(self.choice.spec)[0] if self.choice else ""

    def command(self, words: str) -> str:
        """A command of ours about this library, as it can be pasted into a shell."""
        return f"archivist {words}{f' --library {shlex.quote(str(self.library))}' if self.named else ''}"


Ask = Callable[[], Check]
Named = tuple[str, Ask]


__all__ = ["STATES", "Ask", "Check", "Named", "Scene", "State"]
