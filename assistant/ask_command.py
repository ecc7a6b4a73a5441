"""`archivist ask`: one question, answered by a model or by rules.

The answer goes to standard output, everything about how it came to be to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant import answer_view, attaching, backends, history, render, settings
from assistant.cleaning import whole
from assistant.conversation import Answered, Conversation, Turn
from assistant.errors import UsageError, UserError
from assistant.events import BlockFinished, CallFinished, Event, Notice, StepStarted, TextPiece
from assistant.history import resuming
from assistant.loop import WITHOUT_TOKENS, Limits
from assistant.markdown import write_markdown
from assistant.options import library_path
from assistant.recording import Recorder
from assistant.scoping import scope_words
from assistant.spinner import Spinner, reminding
from search import Filters, dates

if TYPE_CHECKING:
    from assistant.attaching import Attached
    from assistant.backends.base import Backend
    from search import Library


@dataclass(frozen=True, slots=True)
class Options:
    """How to ask: the model and the limits, and how to show what comes back.

    history: whether turns are kept. going_on: the id of the kept conversation that the questions belong to, None for a new one.
    instructions: the person's own, to the model. descriptions: of folders, by their full path. local_only: globs and folders that
    no cloud model is given.
    """

    model: str | None = None
    base_url: str | None = None
    limits: Limits = field(default_factory=Limits)
    trace: bool = False
    as_json: bool = False
    quiet: bool = False
    stream: bool = True
    history: bool = True
    record: Path | None = None
    going_on: int | None = None
    today: date | None = None
    instructions: str = ""
    descriptions: Mapping[str, str] = field(default_factory=dict)
    local_only: Sequence[str] = ()


def ask(library: Library, question: str, filters: Filters, options: Options, beside: Attached | None = None) -> None:
    """Ask one question and show the answer. beside: a text that came with it. Raises ProviderError and UserError."""
    with _talking(library, filters, options) as talk:
        talk.ask(question, beside)


def show_request(library: Library, question: str, filters: Filters, options: Options, beside: Attached | None = None) -> None:
    """Print the exact first body that would be posted, without the key; send nothing."""
    with _talking(library, filters, options) as talk:
        body, notices = talk.request_body(question, beside)
        for notice in notices:
            render.err().write(render.one_line(settings.redact(notice)))
        render.out().write(render.safe(settings.redact(json.dumps(body, ensure_ascii=False, indent=2))))


def last_turn() -> Mapping[str, Any]:
    """The record of the turn that was answered last. Raises UserError without one."""
    if history.place().exists():
        with history.History.open() as kept:
            turn = kept.last()
        if turn is not None:
            return turn
    raise UserError("there is no last question to ask again", 'archivist ask "how do we rotate keys?"')


def last_question() -> str:
    """The question of the last turn. Raises UserError without one."""
    return str(last_turn()["question"])


def conversation_meant(which: str | None, library: Path | None, *, go_on: bool, again: bool) -> history.Session | None:
    """The conversation that is to go on, None for a new one. library: as given on the command line, None without.

    Raises UsageError for options that exclude each other, UserError when there is no such conversation.
    """
    if not go_on and which is None:
        return None
    if again or (go_on and which is not None):
        raise UsageError("give one of --again, --continue and --resume")
    return resuming.meant(which, library, library_path(library))


class _talking:  # noqa: N801 - reads as a phrase: with _talking(...) as talk
    """A conversation and how it is shown, as a context that closes the backend."""

    def __init__(self, library: Library, filters: Filters, options: Options) -> None:
        self._library = library
        self._filters = filters
        self._options = options
        if options.record and not os.access(options.record.absolute().parent, os.W_OK):
            raise UserError(f"--record: {options.record} cannot be written", "name a file in a folder that is there and yours")
        with ExitStack() as opened:
            self._keeper = opened.enter_context(history.Keeper(library.path, self._say)) if options.history else None
            kept = self._kept(options.going_on) if options.going_on is not None else None
            if kept is not None and filters == Filters():
                self._filters = kept.filters
            self._base_url, self._backend = _backend(library, options, kept)
            opened.callback(self._backend.close)
            self._today = options.today or recorded_day(self._backend) or dates.today()
            self._recorder = Recorder(self._backend) if options.record else None
            self._conversation = begin(library, self._recorder or self._backend, self._filters, options, self._today)
            if kept is not None:
                self._restore(kept)
            self._opened = opened.pop_all()

    def __enter__(self) -> _talking:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def request_body(self, question: str, beside: Attached | None) -> tuple[object, tuple[str, ...]]:
        """The first body that `ask` would post, and what is left out of it; no server is asked how much of a text it takes."""
        body = self._conversation.request_body(question, beside.within(attaching.room_for(None))[0] if beside else "")
        return body, self._conversation.withheld_from_request()

    def ask(self, question: str, beside: Attached | None = None) -> Turn:
        """Ask, show what happens, keep the turn."""
        attached = self._attached(beside) if beside else ""
        rich = render.out().interactive and not self._options.as_json
        shown = answer_view.Answer(render.out(), live=rich, writer=write_markdown if rich else answer_view.write_text)
        turn = self._consume(self._conversation.ask(question, attached), shown)
        if self._keeper is not None:
            snapshot = self._conversation.snapshot()
            self._keeper.keep(turn, snapshot, self._filters, today=self._today, base_url=self._base_url)
        if self._options.as_json:
            render.out().write(settings.redact(render.as_json(answer_view.as_object(turn))))
        else:
            shown.finish(turn)
            if not self._options.quiet:
                answer_view.footer(turn, render.err())
        if self._recorder and self._options.record:
            self._recorder.write(self._options.record, question, self._today.isoformat())
        return turn

    def _attached(self, beside: Attached) -> str:
        """As much of a text as the model has room for; how much that is is said."""
        text, said = beside.within(attaching.room_for(self._backend.capabilities.context_length))
        if not self._options.quiet:
            self._say(said)
        return text

    def _kept(self, session_id: int) -> history.Kept:
        """The conversation to go on with; what is answered from now on is kept with it, unless nothing is to be kept."""
        if self._keeper is not None:
            return self._keeper.resume(session_id)
        with history.History.open() as opened:
            return opened.load(session_id)

    def _restore(self, kept: history.Kept) -> None:
        snapshot, told = resuming.opened(self._library, kept)
        self._conversation.restore(snapshot)
        for line in told if not self._options.quiet else ():
            self._say(line)

    def _say(self, text: str) -> None:
        render.err().write(render.one_line(settings.redact(text)))

    def _consume(self, events: Iterator[Event | Answered], shown: answer_view.Answer) -> Turn:
        turn: Turn | None = None
        with ExitStack() as waiting:
            for event in events:  # to its end, where the conversation takes the turn in
                if isinstance(event, TextPiece):
                    continue
                waiting.close()
                if isinstance(event, Answered):
                    turn = event.turn
                    continue
                self._show(event, shown)
                if isinstance(event, StepStarted | BlockFinished):
                    # Not while calls run: what they load announces itself.
                    waiting.enter_context(self._waiting())
        if turn is None:
            raise UserError("the turn ended without an answer")
        return turn

    def _waiting(self) -> AbstractContextManager[None]:
        """Shows that the model is waited for, on a terminal by a line that goes away."""
        words = f"waiting for {render.one_line(self._backend.name)}"
        if self._options.quiet or self._backend.name.partition(":")[0] in WITHOUT_TOKENS:
            return nullcontext()
        if render.out().interactive and render.err().interactive:
            return Spinner(on=True).over(lambda: words)
        return reminding(self._say, lambda: words)

    def _show(self, event: Event, shown: answer_view.Answer) -> None:
        notes = render.err()
        if isinstance(event, BlockFinished):
            shown.block(event.text)
        if isinstance(event, Notice) and not self._options.quiet:
            notes.write(render.one_line(settings.redact(event.text)))
        elif self._options.trace:
            answer_view.trace(event, notes)
        if isinstance(event, CallFinished) and event.ran.failure is not None and not self._options.quiet:
            failure = event.ran.failure
            notes.write(render.one_line(f"{event.call.name} failed: {type(failure).__name__}: {failure}"))


def _backend(library: Library, options: Options, kept: history.Kept | None) -> tuple[str | None, Backend]:
    """The model to ask, and the address that it has of its own: as named, else that of the conversation, else the usual one."""
    spec, base_url = options.model, options.base_url
    provider = backends.split(kept.session.model)[0] if kept is not None else ""
    if spec is None and kept is not None and provider != "replay":
        spec, why = kept.session.model, "of the conversation"
        if provider == "openrouter":  # what was asked of a server of one's own must not go to the provider
            base_url = base_url or kept.session.base_url or None
    else:
        choice = backends.choose(spec)
        spec, why = choice.spec, choice.why
    if options.model is None and not options.quiet:
        render.err().write(render.one_line(f"model: {spec} ({why})"))
    backend = backends.resolve(spec, library=library, today=options.today, base_url=base_url, stream=options.stream)
    return base_url, backend


def begin(library: Library, backend: Backend, filters: Filters, options: Options, today: date | None) -> Conversation:
    """A conversation as the options want it, on a day. Raises FilterError for filters that are not understood."""
    return Conversation(
        library,
        backend,
        scope=filters,
        scope_words=scope_words(library, filters, options.today),
        limits=options.limits,
        today=today,
        instructions=options.instructions,
        descriptions=options.descriptions,
        local_only=options.local_only,
    )


def recorded_day(backend: Backend) -> date | None:
    """The day of a recording: its phrases such as "last month" were resolved from it."""
    day = getattr(backend, "today", None)
    return date.fromisoformat(day) if isinstance(day, str) else None


def limits(chosen: settings.Settings) -> Limits:
    """The limits that the settings give a turn."""
    return Limits(**asdict(chosen.limits))


def question_from(words: str | None, *, again: bool) -> str | None:
    """The question that is meant: given, read from standard input for "-", or the last one. None without any."""
    if again:
        if words:
            raise UsageError("--again asks the last question: give no other one")
        return last_question()
    if words == "-":
        words = sys.stdin.read()
    return whole(words or "").strip() or None
