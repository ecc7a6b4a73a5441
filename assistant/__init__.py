"""Archivist's assistant: questions in, cited answers out. It knows models and no SQL; the library below it knows neither.

from search import Library
from assistant import Assistant

with Library.open("library.db") as library, Assistant(library, model="offline") as assistant:
    print(assistant.ask("which runbooks changed last month?").checked.text)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assistant.api import Assistant
    from assistant.citations.models import Checked, Citation, Number, Quote
    from assistant.errors import ArchivistError, ProviderError, UserError
    from assistant.events import (
        BlockFinished,
        CallFinished,
        CallStarted,
        Ended,
        Event,
        Notice,
        StepFinished,
        StepStarted,
        Stop,
        TextPiece,
    )
    from assistant.loop import Limits
    from assistant.messages import Usage
    from assistant.tools import Evidence
    from assistant.turn import Answered, Snapshot, Turn, Withheld

_HOMES = {
    "assistant.api": ("Assistant",),
    "assistant.citations.models": ("Checked", "Citation", "Number", "Quote"),
    "assistant.errors": ("ArchivistError", "ProviderError", "UserError"),
    "assistant.events": (
        "BlockFinished",
        "CallFinished",
        "CallStarted",
        "Ended",
        "Event",
        "Notice",
        "StepFinished",
        "StepStarted",
        "Stop",
        "TextPiece",
    ),
    "assistant.loop": ("Limits",),
    "assistant.messages": ("Usage",),
    "assistant.tools": ("Evidence",),
    "assistant.turn": ("Answered", "Snapshot", "Turn", "Withheld"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """A public name from its module, which is imported when it is asked for: commands that need no assistant start without it."""
    from importlib import import_module

    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted({*globals(), *__all__})


__all__ = [
    "Answered",
    "ArchivistError",
    "Assistant",
    "BlockFinished",
    "CallFinished",
    "CallStarted",
    "Checked",
    "Citation",
    "Ended",
    "Event",
    "Evidence",
    "Limits",
    "Notice",
    "Number",
    "ProviderError",
    "Quote",
    "Snapshot",
    "StepFinished",
    "StepStarted",
    "Stop",
    "TextPiece",
    "Turn",
    "Usage",
    "UserError",
    "Withheld",
]
