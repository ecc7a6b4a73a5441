"""The assistant for programs: ask a library, get a Turn.

from search import Library
from assistant import Assistant

with Library.open("library.db") as library, Assistant(library, model="offline") as assistant:
    turn = assistant.ask("which runbooks changed last month?")
    print(turn.checked.text)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assistant import backends, settings
from assistant.conversation import Conversation
from assistant.errors import UserError
from assistant.scoping import scope_words
from assistant.turn import Answered, Snapshot, Turn, answered

if TYPE_CHECKING:
    from assistant.backends.base import Backend
    from assistant.events import Event
    from assistant.loop import Limits
    from search import Filters, Library


class Assistant:
    """A conversation with a library. Not for several threads at once: each takes an Assistant of its own."""

    def __init__(
        self,
        library: Library,
        model: str | Backend = "offline",
        *,
        scope: Filters | None = None,
        limits: Limits | None = None,
        today: date | None = None,
        instructions: str = "",
        descriptions: Mapping[str, str] | None = None,
        local_only: Sequence[str] | None = None,
        base_url: str | None = None,
    ) -> None:
        """Begin a conversation.

        model: a name such as "ollama:qwen3:8b", or an object with the members of `assistant.backends.base.Backend`; nothing is sent
        before the first question. scope: filters that hold in every call of the model. limits: when a turn ends. today: the day
        that "last month" counts from. instructions: for the system message, below the rules. descriptions: what the model is told
        of a root folder, by its path. local_only: folders and globs whose documents no model elsewhere is given; None takes those
        of the person's settings. base_url: of an OpenAI-compatible server, for "openrouter:NAME".
        Raises UserError for a model, a filter or a setting that is not understood.
        """
        self._library = library
        self._today = today
        self._base_url = base_url
        self._own: list[Backend] = []
        withheld = settings.load().local_only if local_only is None else local_only
        self._conversation = Conversation(
            library,
            self._backend(model),
            scope=scope,
            scope_words=scope_words(library, scope, today) if scope is not None else "",
            limits=limits,
            today=today,
            instructions=instructions,
            descriptions=descriptions,
            local_only=withheld,
        )

    def ask(self, question: str, attached: str = "") -> Turn:
        """Ask a question and wait for its Turn; earlier questions are remembered. attached: a text that the question is about.

        Raises ProviderError when the model cannot be reached, UserError for what the caller must change; the conversation then
        stands as before the question.
        """
        return answered(self.stream(question, attached))

    def stream(self, question: str, attached: str = "") -> Iterator[Event | Answered]:
        """Ask a question and watch: events as they happen, the last of which is Answered with the Turn. Closing it ends it."""
        if not question.strip():
            raise UserError("question: got an empty one, want some words")
        return self._conversation.ask(question, attached)

    def switch(self, model: str | Backend) -> tuple[str, ...]:
        """Go on with another model. Returns what a person should know, such as what it is not given of what was said before."""
        return self._conversation.switch(self._backend(model))

    def rescope(self, scope: Filters) -> None:
        """Other filters from the next question on. Raises FilterError."""
        self._conversation.rescope(scope, scope_words(self._library, scope, self._today))

    def snapshot(self) -> Snapshot:
        """The conversation as frozen data, to go on with later."""
        return self._conversation.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Go on with a conversation that was kept, in place of this one."""
        self._conversation.restore(snapshot)

    def close(self) -> None:
        """Give back the connections of models that were given by name; the library stays open."""
        while self._own:
            self._own.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _backend(self, model: str | Backend) -> Backend:
        if not isinstance(model, str):
            return model
        base_url = self._base_url if backends.split(model)[0] == "openrouter" else None
        backend = backends.resolve(model, library=self._library, today=self._today, base_url=base_url)
        self._own.append(backend)
        return backend


__all__ = ["Assistant"]
