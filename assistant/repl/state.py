"""What lasts in a session: the library, the conversation and its model, the filters that stay, the numbered list, the costs.

The conversation is made by whoever needs it first: choosing a model may ask a server, and nobody should wait for that before the
first prompt. Two connections to the library: one for the tools, which a call that hangs may hold, one for looking things up.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from assistant import settings
from assistant.errors import UserError
from assistant.messages import Usage
from assistant.repl.warming import Warming
from assistant.spinner import Spinner
from search import Filters, Library

if TYPE_CHECKING:
    from assistant.ask_command import Options
    from assistant.backends import Choice
    from assistant.backends.base import Backend
    from assistant.conversation import Conversation, Turn
    from assistant.events import Event
    from assistant.history import Keeper
    from assistant.repl.numbered import Numbered
    from search.embedding import Embedder


@dataclass(frozen=True, slots=True)
class Start:
    """What a session begins with. typing: somebody sits there; rich: at a terminal that takes escape sequences, too."""

    library: Path
    embedder: str | None
    filters: Filters
    how: Options
    typing: bool
    rich: bool
    editor: str | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used with one model."""

    questions: int = 0
    steps: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    def with_turn(self, turn: Turn) -> Spent:
        """The sum with one more turn."""
        calls = sum(not call.repeated for call in turn.calls)
        return Spent(
            self.questions + 1, self.steps + turn.steps, self.calls + calls, self.usage + turn.usage, self.seconds + turn.seconds
        )


class Session:
    """One session on a terminal; a context that closes what it has opened."""

    def __init__(self, start: Start) -> None:
        self.path = start.library
        self.today = start.how.today  # the day that phrases count from, None for the real one
        self.how = start.how
        self.typing = start.typing
        self.rich = start.rich
        self.filters = start.filters
        self.trace = start.how.trace
        self.editor = start.editor
        self.spinner = Spinner(on=start.rich)
        self.announced: list[str] = []
        self._embedder_name = start.embedder
        self.warming = Warming(self._load_embedder)
        self.library = Library.open(start.library, embedder=self.warming)
        self.catalogue = Library.open(start.library, embedder=self.warming)
        self.scope = self._words(start.filters)
        self.choice: Choice | None = None
        self.last: Turn | None = None
        self.question: str | None = None
        self.asked: list[str] = []
        self.happened: list[Event] = []
        self.numbered: tuple[Numbered, ...] = ()
        self.spent: dict[str, Spent] = {}
        self._lock = threading.Lock()
        self._conversation: Conversation | None = None
        self._backend: Backend | None = None
        self._keeper: Keeper | None = None
        self._holds_question = False
        self._answered = False  # whether what it holds was answered
        self._taken: tuple[list[str], bool] | None = None
        self.stopped = False  # whether a turn was stopped with a call under way
        if start.how.model is not None:
            from assistant import backends

            backends.split(start.how.model)  # a name that is not understood is said before the first prompt

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._backend is not None:
            self._backend.close()
        if self._keeper is not None:
            self._keeper.__exit__(None, None, None)
        self.catalogue.close()
        if not self.stopped:  # a call that was left behind may still be reading
            self.library.close()

    # The conversation and its model

    @property
    def model(self) -> str:
        """The model's name, "" while it is not chosen."""
        return self.choice.spec if self.choice else ""

    @property
    def conversation(self) -> Conversation:
        """The conversation; made, with its model, when it is first asked for. Raises UserError and ProviderError."""
        with self._lock:
            if self._conversation is None:
                self._conversation = self._begin()
            return self._conversation

    def prepare(self) -> None:
        """Make ready, in a thread, what the first question needs: the model, the conversation, the embedding model."""

        def run() -> None:
            try:
                _ = self.conversation
            except Exception as error:  # noqa: BLE001 - the first question meets it again and shows it
                self.announced.append(f"the model is not ready: {error}")
            if self.catalogue.coverage().embedded:
                self.warming.begin()

        threading.Thread(target=run, name="making ready", daemon=True).start()

    def use(self, spec: str) -> tuple[str, ...]:
        """Go on with another model; what the person should know of it. Nothing changes when it cannot be used.

        Raises UsageError for a name that is not understood, ProviderError and UserError for a model that is not there.
        """
        from assistant.backends import Choice

        conversation = self.conversation
        backend = self._resolved(spec)
        try:
            _ = backend.capabilities  # asks a local server for the model
            notices = conversation.switch(backend)
        except BaseException:
            backend.close()
            raise
        if self._backend is not None:
            self._backend.close()
        self._backend, self.choice = backend, Choice(spec, "chosen here")
        return notices

    def narrow(self, filters: Filters) -> None:
        """The filters from now on. Raises FilterError for one that is not understood; nothing changes then."""
        words = self._words(filters)
        with self._lock:
            if self._conversation is not None:
                self._conversation.rescope(filters, words)
        self.filters, self.scope = filters, words
        if self._keeper is not None:
            self._keeper.narrow(filters)

    def instruct(self, role: str | None) -> None:
        """Give the model the instructions of a role from now on, None for no instructions. Raises UsageError and UserError."""
        text = settings.own_instructions(settings.own(), "" if role is None else None, role)
        with self._lock:
            if self._conversation is not None:
                self._conversation.instruct(text)
        self.how = replace(self.how, instructions=text)

    def refresh(self) -> None:
        """Take in what has changed in the library: the names that tools and rules know."""
        with self._lock:
            if self._conversation is None:
                return
            self._conversation.rescope(self.filters, self.scope)
            if self.model == "offline":
                self._backend = self._resolved("offline")
                self._conversation.switch(self._backend)

    @property
    def keeper(self) -> Keeper | None:
        """What keeps the conversation, None where nothing is to be kept."""
        if self._keeper is None and self.how.history:
            from assistant.history import Keeper

            self._keeper = Keeper(self.path, self.announced.append)
        return self._keeper

    # Turns

    def begins(self, question: str) -> int:
        """A question is about to be asked; what `ended` needs to be told."""
        self.question = question
        self._holds_question = self._answered = False
        return len(self.conversation.messages)

    def ended(self, messages_before: int) -> None:
        """The turn is over, however it ended. One that nothing came of leaves that in its place which it was to replace."""
        self._holds_question = len(self.conversation.messages) > messages_before
        if not self._holds_question and self._taken is not None:
            self.conversation.redo()
            self.asked, self._answered = self._taken
            self._holds_question = True
        self._taken = None

    def keep(self, turn: Turn) -> None:
        """Remember an answered turn."""
        from assistant.repl import numbered

        self.last = turn
        self.numbered = numbered.of_turn(turn)
        self.spent[turn.model] = self.spent.get(turn.model, Spent()).with_turn(turn)
        if self.keeper is not None:
            snapshot = self.conversation.snapshot()
            self.keeper.keep(turn, snapshot, self.filters, today=self.today, base_url=self.how.base_url)
        self.asked.append(turn.question)
        self._answered = True

    def resume(self, identifier: int, *, own_filters: bool = False) -> tuple[str, ...]:
        """Go on with a kept conversation; what the person should know. own_filters: those of now stay, else its own hold.

        Raises HistoryError.
        """
        from assistant.history import History, resuming
        from assistant.repl import numbered

        conversation = self.conversation
        if self.keeper is not None:
            kept = self.keeper.resume(identifier)
        else:
            with History.open() as history:
                kept = history.load(identifier)
        snapshot, notices = resuming.opened(self.catalogue, kept)
        conversation.restore(snapshot)
        if not own_filters:
            self.narrow(kept.filters)
        self.asked = [one.turn.question for one in kept.turns]
        self.last = kept.turns[-1].turn if kept.turns else None
        self.question = self.last.question if self.last else None
        self.numbered = numbered.of_turn(self.last) if self.last else ()
        self._holds_question = self._answered = self.last is not None
        self.happened = []
        return notices

    def take_back(self) -> None:
        """Take the last question, answered or not, out of the conversation, before it is asked anew."""
        if not self._holds_question:
            return
        self._taken = [*self.asked], self._answered
        self.conversation.undo()
        self._holds_question = False
        if self._answered and self.asked:
            self.asked.pop()

    def clear(self) -> None:
        """Begin a new conversation; model and filters stay."""
        self.conversation.clear()
        if self._keeper is not None:
            self._keeper.fresh()
        self.last = self.question = None
        self._holds_question = False
        self.asked.clear()
        self.happened = []
        self.numbered = ()

    def answered(self, command: str) -> Turn:
        """The last turn. Raises UserError before the first."""
        if self.last is None:
            raise UserError(f"{command}: nothing was answered yet", "ask a question first")
        return self.last

    def await_model(self) -> None:
        """Wait for the embedding model where a search needs it, with a word about it."""
        if self.warming.loading:
            with self.spinner.over(lambda: "loading the embedding model"):
                self.warming.wait()

    def _begin(self) -> Conversation:
        from assistant import ask_command, backends

        self.choice = backends.choose(self.how.model)
        if self.how.model is None and not self.how.quiet:
            self.announced.append(f"model: {self.choice.spec} ({self.choice.why})")
        self._backend = self._resolved(self.choice.spec)
        self.today = self.today or ask_command.recorded_day(self._backend)
        return ask_command.begin(self.library, self._backend, self.filters, self.how, self.today)

    def _resolved(self, spec: str) -> Backend:
        from assistant import backends

        base_url = self.how.base_url if backends.split(spec)[0] == "openrouter" else None
        return backends.resolve(spec, library=self.library, today=self.today, base_url=base_url, stream=self.how.stream)

    def _words(self, filters: Filters) -> str:
        from assistant.scoping import scope_words

        return scope_words(self.catalogue, filters, self.today)

    def _load_embedder(self) -> Embedder:
        from search.embedding import load_embedder
        from search.weights import DEFAULT_MODEL

        def announce(text: str) -> None:
            if not text.startswith("loading "):  # the line below the prompt says so already
                self.announced.append(text)

        return load_embedder(self._embedder_name or DEFAULT_MODEL, announce=announce)
