"""`archivist ask`: one question, or a loop of questions on a terminal, answered by a model or by rules.

The answer goes to standard output, everything about how it came to be to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant import answer_view, backends, render, settings
from assistant.conversation import Answered, Conversation, Turn
from assistant.errors import ProviderError, UsageError, UserError
from assistant.events import BlockFinished, CallFinished, Event, Notice
from assistant.loop import Limits
from assistant.recording import Recorder
from search import dates

if TYPE_CHECKING:
    from assistant.backends.base import Backend
    from search import Filters, Library


@dataclass(frozen=True, slots=True)
class Options:
    """How to ask: the model and the limits, and how to show what comes back."""

    model: str | None = None
    base_url: str | None = None
    limits: Limits = field(default_factory=Limits)
    trace: bool = False
    as_json: bool = False
    quiet: bool = False
    stream: bool = True
    history: bool = True
    record: Path | None = None
    today: date | None = None


def ask(library: Library, question: str, filters: Filters, options: Options) -> None:
    """Ask one question and show the answer. Raises ProviderError and UserError."""
    with _talking(library, filters, options) as talk:
        talk.ask(question)


def show_request(library: Library, question: str, filters: Filters, options: Options) -> None:
    """Print the exact first body that would be posted, without the key; send nothing."""
    backend = _backend(library, options)
    try:
        talk = Conversation(library, backend, scope=filters, scope_words=_scope(library, filters, options), today=options.today)
        body = settings.redact(json.dumps(talk.request_body(question), ensure_ascii=False, indent=2))
        render.out().write(render.safe(body))
    finally:
        backend.close()


def loop(library: Library, filters: Filters, options: Options) -> None:
    """Questions in a row on a terminal, each with the ones before it in mind, until Ctrl-D. Ctrl-C ends the turn under way."""
    with _talking(library, filters, options) as talk:
        render.err().write("Ask a question; Ctrl-C stops an answer, Ctrl-D leaves.")
        while True:
            try:
                question = input("> ").strip()
            except EOFError:
                render.out().write()
                return
            except KeyboardInterrupt:
                render.out().write()
                continue
            if not question:
                continue
            try:
                talk.ask(question)
            except KeyboardInterrupt:
                render.err().write("stopped; the conversation goes on")
            except (ProviderError, UserError) as error:
                for line in answer_view.error_lines(error):
                    render.err().write(line)


def last_turn_path() -> Path:
    """The file of the last turn, for `ask --again`."""
    from platformdirs import user_state_path

    return user_state_path("archivist") / "last_turn.json"


def last_turn() -> dict[str, Any]:
    """The last turn as it was kept. Raises UserError without one."""
    path = last_turn_path()
    try:
        turn = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(turn, dict) or not isinstance(turn.get("question"), str) or not turn["question"].strip():
            raise ValueError("no question")
        return turn
    except (FileNotFoundError, NotADirectoryError):
        raise UserError("there is no last question to ask again", 'archivist ask "how do we rotate keys?"') from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read ({type(error).__name__})", "remove the file") from error


def last_question() -> str:
    """The question of the last turn. Raises UserError without one."""
    return str(last_turn()["question"])


class _talking:  # noqa: N801 - reads as a phrase: with _talking(...) as talk
    """A conversation and how it is shown, as a context that closes the backend."""

    def __init__(self, library: Library, filters: Filters, options: Options) -> None:
        self._library = library
        self._filters = filters
        self._options = options
        self._asked: list[str] = []
        if options.record and not os.access(options.record.absolute().parent, os.W_OK):
            raise UserError(f"--record: {options.record} cannot be written", "name a file in a folder that is there and yours")
        self._backend = _backend(library, options)
        self._today = options.today or _recorded_day(self._backend) or dates.today()
        self._recorder = Recorder(self._backend) if options.record else None
        self._conversation = Conversation(
            library,
            self._recorder or self._backend,
            scope=filters,
            scope_words=_scope(library, filters, options),
            limits=options.limits,
            today=self._today,
        )

    def __enter__(self) -> _talking:
        return self

    def __exit__(self, *_: object) -> None:
        self._backend.close()

    def ask(self, question: str) -> Turn:
        """Ask, show what happens, keep the turn."""
        shown = answer_view.Answer(render.out(), live=not self._options.as_json and render.out().interactive)
        turn = self._consume(self._conversation.ask(question), shown)
        if self._options.as_json:
            render.out().write(settings.redact(render.as_json(answer_view.as_object(turn))))
        else:
            shown.finish(turn)
            if not self._options.quiet:
                answer_view.footer(turn, render.err())
        if self._options.history:
            self._keep(turn)
        self._asked.append(question)
        if self._recorder and self._options.record:
            self._recorder.write(self._options.record, question, self._today.isoformat())
        return turn

    def _keep(self, turn: Turn) -> None:
        """Keep the turn for --again; a folder that cannot be written spoils no answer."""
        kept = {**answer_view.as_object(turn), "at": turn.at, "seconds": round(turn.seconds, 3)}
        # What the question meant: the day, the person's own filters, and the questions before it.
        kept |= {"today": self._today.isoformat(), "filters": _as_written(self._filters), "turns": self._asked}
        try:
            settings.write_private(last_turn_path(), settings.redact(json.dumps(kept, ensure_ascii=False)))
        except OSError as error:
            render.err().write(render.one_line(f"this turn is not kept for --again: {last_turn_path()}: {error.strerror}"))

    def _consume(self, events: Iterator[Event | Answered], shown: answer_view.Answer) -> Turn:
        notes = render.err()
        for event in events:
            if isinstance(event, Answered):
                return event.turn
            if isinstance(event, BlockFinished):
                shown.block(event.text)
            if isinstance(event, Notice) and not self._options.quiet:
                notes.write(render.one_line(settings.redact(event.text)))
            elif self._options.trace:
                answer_view.trace(event, notes)
            if isinstance(event, CallFinished) and event.ran.failure is not None and not self._options.quiet:
                failure = event.ran.failure
                notes.write(render.one_line(f"{event.call.name} failed: {type(failure).__name__}: {failure}"))
        raise UserError("the turn ended without an answer")


def _backend(library: Library, options: Options) -> Backend:
    choice = backends.choose(options.model)
    if options.model is None and not options.quiet:
        render.err().write(render.one_line(f"model: {choice.spec} ({choice.why})"))
    return backends.resolve(choice.spec, library=library, today=options.today, base_url=options.base_url, stream=options.stream)


def _recorded_day(backend: Backend) -> date | None:
    """The day of a recording: its phrases such as "last month" were resolved from it."""
    day = getattr(backend, "today", None)
    return date.fromisoformat(day) if isinstance(day, str) else None


def _as_written(filters: Filters) -> dict[str, Any]:
    """The person's own filters in the form of a case: what was given, metadata as conditions."""
    given = {name: value for name, value in asdict(filters).items() if value and name not in {"metadata", "documents", "within"}}
    conditions = []
    for one in filters.metadata:
        value = ", ".join(one.value) if isinstance(one.value, tuple) else one.value
        conditions.append(f"{one.key} {one.operator} {value}")
    return {name: value for name, value in given.items() if (name, value) != ("date_field", "date")} | (
        {"metadata": conditions} if conditions else {}
    )


def _scope(library: Library, filters: Filters, options: Options) -> str:
    """The person's own filters in words, with dates as they were resolved; "" without any. Raises FilterError."""
    resolved, day_field = library.resolved_dates(filters, today=options.today)
    given: dict[str, Any] = {
        name: value
        for name, value in asdict(filters).items()
        if value and name not in {"after", "before", "during", "date_field", "metadata", "documents", "within"}
    }
    parts = [f"{name} {', '.join(value) if isinstance(value, tuple | list) else value}" for name, value in given.items()]
    parts += [f"{test.key} {test.operator} {test.value}" for test in filters.metadata]
    dated = render.date_range(resolved, day_field)
    return render.one_line("; ".join([*parts, *([dated] if dated else [])]))


def limits(*, steps: int | None, calls: int | None, tokens: int | None, cost: float | None, seconds: float | None) -> Limits:
    """Limits from the command line; None keeps the default. Raises UsageError for a limit that is not above 0."""
    for name, value in (("steps", steps), ("calls", calls), ("tokens", tokens), ("cost", cost), ("seconds", seconds)):
        if value is not None and not value > 0:
            raise UsageError(f"--max-{name}: got {value:g}, want more than 0")
    usual = Limits()
    return Limits(steps=steps or usual.steps, calls=calls or usual.calls, tokens=tokens, cost=cost, seconds=seconds)


def question_from(words: str | None, *, again: bool) -> str | None:
    """The question that is meant: given, read from standard input for "-", or the last one. None without any."""
    if again:
        if words:
            raise UsageError("--again asks the last question: give no other one")
        return last_question()
    if words == "-":
        words = sys.stdin.read()
    # Bytes that are no UTF-8 come as lone surrogates, which no file and no wire takes.
    return (words or "").encode("utf-8", "surrogatepass").decode("utf-8", "replace").strip() or None
