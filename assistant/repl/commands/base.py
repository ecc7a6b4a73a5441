"""What a command is, and what it may ask of the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from assistant.repl.state import Session

Completes = Literal["", "command", "model", "filter", "file", "table", "number", "conversation", "role", "place"]


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask this question; instead: in place of the last one."""

    question: str
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Fill:
    """Put this text into the next prompt; what becomes of it is asked in place of the last question."""

    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """End the session."""


Next = Ask | Fill | Leave | None


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name without the "/", what may stand behind it, one line of help, and its function.

    run: takes the session and what was typed behind the name. completes: what is offered there.
    """

    name: str
    arguments: str
    help: str
    run: Callable[[Session, str], Next]
    aliases: tuple[str, ...] = ()
    completes: Completes = ""
