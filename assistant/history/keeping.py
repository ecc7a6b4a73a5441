"""Keeper: keeps a conversation while it goes on, whatever becomes of the file.

    with Keeper(library.path, say) as keeper:
        keeper.keep(turn, conversation.snapshot(), filters)

The file is opened with the first turn. What cannot be kept spoils no answer: it is said once.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Self

from assistant.conversation import Snapshot, Turn
from assistant.errors import HistoryError
from assistant.history.models import Kept
from assistant.history.store import History
from search import Filters


class Keeper:
    """Keeps one conversation after another; a context that closes the file.

    id: of the one under way, None before it has one. missed: how many of its turns could not be kept.
    """

    def __init__(self, library: Path, say: Callable[[str], None], *, path: Path | None = None) -> None:
        """Keep conversations over a library. say: told once when they cannot be kept. path: the file, the usual one without it."""
        self.id: int | None = None
        self.missed = 0
        self._library = library
        self._say = say
        self._path = path
        self._history: History | None = None
        self._told = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if it was opened."""
        if self._history is not None:
            self._history.close()
            self._history = None

    @property
    def history(self) -> History:
        """The file. Raises HistoryError where it cannot be used."""
        if self._history is None:
            self._history = History.open(self._path)
        return self._history

    def keep(
        self, turn: Turn, snapshot: Snapshot, filters: Filters, *, today: date | None = None, base_url: str | None = None
    ) -> None:
        """Keep a turn as soon as it is answered. snapshot: of its conversation, taken after the turn."""
        try:
            if self.id is None:
                self.id = self.history.begin(self._library)
            before = self.id
            self.id = self.history.add(before, turn, snapshot, filters, today=today, base_url=base_url or "")
        except HistoryError as error:
            self.missed += 1
            if not self._told:
                self._told = True
                self._say(f"this conversation is not kept: {error}" + (f"; {error.hint}" if error.hint else ""))
            return
        if self.id != before:
            self._say(f"another program has gone on with conversation {before} meanwhile: this one is kept as {self.id}")

    def resume(self, session_id: int) -> Kept:
        """Go on with a kept conversation: what is kept from now on belongs to it. Raises HistoryError."""
        kept = self.history.load(session_id)
        self.id, self.missed = session_id, 0
        return kept

    def rename(self, name: str) -> str:
        """Name the conversation, also before its first turn; the name as it is kept. Raises UsageError and HistoryError."""
        if self.id is None:
            self.id = self.history.begin(self._library)
        return self.history.rename(self.id, name)

    def narrow(self, filters: Filters) -> None:
        """Keep other filters of the person's own for when the conversation goes on; nothing happens before its first turn."""
        if self.id is None:
            return
        try:
            self.history.narrow(self.id, filters)
        except HistoryError as error:
            self._say(f"the filters are not kept: {error}")

    def fresh(self) -> None:
        """What is kept from now on is a new conversation."""
        self.id, self.missed = None, 0


__all__ = ["Keeper"]
