"""A turn as it happens on a terminal: a line for each call, the answer in finished blocks, then its sources and its footer.

Everything is written once and stays where it is; only the line of the spinner comes and goes.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import closing
from typing import Literal

from assistant import answer_view, render, settings
from assistant.conversation import Answered, Turn
from assistant.errors import UserError
from assistant.events import BlockFinished, CallFinished, CallStarted, Event, Notice, StepFinished, StepStarted
from assistant.markdown import write_markdown
from assistant.spinner import Spinner

_FIRST = ("query", "text", "key", "path", "sql", "expression", "table")  # the argument that says the most, shown bare
_LEAST_ARGUMENTS = 12  # columns


class TurnView:
    """Shows the events of one turn and keeps what the trace is made of.

    steps: what is told of them, nothing, a line for each call, or all. rich: the terminal takes Markdown with styles; a pipe gets
    plain text.
    """

    def __init__(self, spinner: Spinner, *, steps: Literal["none", "calls", "all"], rich: bool, quiet: bool = False) -> None:
        self.happened: list[Event] = []
        self._spinner = spinner
        self._steps = steps
        self._quiet = quiet
        self._noted = False
        self._waits_for = "thinking"
        self._running: list[str] = []
        self._answer = answer_view.Answer(render.out(), live=rich, writer=write_markdown if rich else answer_view.write_text)

    def waiting(self) -> str:
        """What is waited for, in a few words."""
        if len(self._running) > 1:
            return f"{len(self._running)} calls"
        return render.one_line(self._running[0])[:24] if self._running else self._waits_for

    def show(self, events: Generator[Event | Answered, None, None]) -> Turn:
        """Show a turn to its end and return it; however this ends, the conversation has put the turn in order."""
        with closing(events):
            for event in events:
                if isinstance(event, Answered):
                    with self._spinner.aside():
                        self._finish(event.turn)
                    return event.turn
                self._take(event)
        raise UserError("the turn ended without an answer")

    def _take(self, event: Event) -> None:
        if isinstance(event, StepFinished | CallFinished | Notice):
            self.happened.append(event)
        if isinstance(event, StepStarted):
            self._waits_for = "thinking"
        elif isinstance(event, CallStarted):
            self._running.append(event.call.name)
        elif isinstance(event, CallFinished) and event.call.name in self._running:
            self._running.remove(event.call.name)
        if isinstance(event, BlockFinished):
            with self._spinner.aside():
                self._apart()
                self._answer.block(event.text)
        elif lines := [] if self._quiet else self._lines(event):
            with self._spinner.aside():
                for line in lines:
                    render.err().write(line)
            self._noted = True

    def _lines(self, event: Event) -> list[str]:
        """What is told of an event beside the answer."""
        notes = render.err()
        if isinstance(event, Notice):
            shown = render.one_line(settings.redact(event.text))
            return [notes.style(f"  {line}", "2") for line in render.wrapped(shown, notes.width - 2)]
        if self._steps == "all":
            return [notes.style(line, "2") for line in trace_lines(event)]
        if not isinstance(event, CallFinished):
            return []
        if self._steps == "none":
            return failure_lines(event)
        return [call_line(event, notes), *(f"    {line}" for line in failure_lines(event))]

    def _finish(self, turn: Turn) -> None:
        self._apart()
        self._answer.finish(turn)
        if not self._quiet:
            answer_view.footer(turn, render.err())

    def _apart(self) -> None:
        """An empty line between what was noted and the answer, once."""
        if self._noted:
            render.err().write()
            render.err().stream.flush()
        self._noted = False


def call_line(event: CallFinished, terminal: render.Terminal) -> str:
    """A call on one line: its name and what it was asked, what came of it, how long it took."""
    ran = event.ran
    if event.repeated:
        outcome = "as before"
    elif ran.result.is_error:
        outcome = f"refused: {render.one_line(settings.redact(ran.result.content))}"
    else:
        outcome = f"{render.one_line(ran.output.summary) if ran.output else ''}  {ran.seconds * 1000:.0f} ms".strip()
    head = f"  → {render.one_line(event.call.name)}"
    asked = render.one_line(settings.redact(asked_of(event)))
    room = terminal.width - render.columns(head) - 1 - render.columns(outcome) - 2
    shown = f"{head} {render.cut(asked, room)}" if asked and room >= _LEAST_ARGUMENTS else head
    return terminal.style(render.cut(f"{shown}  {outcome}", terminal.width), "2")


def asked_of(event: CallFinished) -> str:
    """The arguments of a call in short: the one that says the most in quotes, the others by name."""
    arguments = event.ran.arguments
    if arguments is None:
        return event.call.arguments
    first = next((name for name in _FIRST if arguments.get(name)), None)
    parts = [f'"{arguments[first]}"'] if first else []
    for name, value in arguments.items():
        if name not in {first, "limit"} and value not in (None, "", []):
            parts.append(f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}")
    return " ".join(parts)


def failure_lines(event: CallFinished) -> list[str]:
    """Why a tool broke, for the person alone: the model is told its class only."""
    failure = event.ran.failure
    if failure is None:
        return []
    return [render.one_line(settings.redact(f"{type(failure).__name__}: {failure}"))]


def trace_lines(event: Event) -> list[str]:
    """The whole trace of an event: two lines of a call, one of a step, none of the others."""
    if isinstance(event, CallFinished):
        call, outcome = answer_view.call_lines(event)
        lines = [("  → ", call), ("    ", outcome), *(("    ", line) for line in failure_lines(event))]
    elif isinstance(event, StepFinished):
        lines = [("", answer_view.step_line(event))]
    else:
        lines = []
    return [indent + render.one_line(settings.redact(line)) for indent, line in lines]
