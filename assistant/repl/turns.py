"""Asking one question in a session: the turn is shown, remembered, and can be stopped at any moment."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Literal

from assistant import answer_view, render
from assistant.errors import ArchivistError
from assistant.repl.state import Session


def ask(session: Session, question: str) -> bool:
    """Ask a question and show what happens; whether it was answered. What goes wrong is shown, the conversation goes on."""
    # What shows turns needs the assistant's own modules, which the first prompt does not wait for.
    from assistant.repl.view import TurnView

    steps: Literal["none", "calls", "all"] = "all" if session.trace else "calls" if session.typing else "none"
    view = TurnView(session.spinner, steps=steps, rich=session.rich, quiet=session.how.quiet)

    def waiting() -> str:
        return "loading the embedding model" if session.warming.awaited else view.waiting()

    before: int | None = None
    try:
        with interruptible_once(), unechoed(on=session.rich):
            with session.spinner.over(lambda: "getting ready"):
                conversation = session.conversation
            tell(session)
            before = session.begins(question)
            with session.spinner.over(waiting):
                turn = view.show(conversation.ask(question))
            session.keep(turn)
    except KeyboardInterrupt:
        session.stopped = True
        render.err().write("stopped; the conversation goes on")
        return False
    except ArchivistError as error:
        show_error(error)
        return False
    finally:
        session.happened = view.happened
        if before is not None:
            session.ended(before)
    return True


def tell(session: Session) -> None:
    """Show what was announced from behind: the model chosen, a download."""
    while session.announced:
        text = session.announced.pop(0)
        if not session.how.quiet:
            notes = render.err()
            for line in render.wrapped(render.one_line(text), notes.width):
                notes.write(notes.style(line, "2"))


def show_error(error: ArchivistError) -> None:
    """An error and what to do about it."""
    notes = render.err()
    first, *rest = answer_view.error_lines(error)
    for text, style in ((first.removeprefix("archivist: "), "31"), *((text, "2") for text in rest)):
        for part in text.split("\n"):
            indent = len(part) - len(part.lstrip())
            fits = not notes.interactive or render.columns(part) <= notes.width
            for line in [part[indent:]] if fits else render.wrapped(part[indent:], max(notes.width - indent, 20)):
                notes.write(notes.style(" " * indent + line, style))


@contextmanager
def unechoed(*, on: bool) -> Iterator[None]:
    """What is typed meanwhile waits for the next prompt and is shown there: the terminal would write it into the spinner's line."""
    if not on or sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    try:
        import termios
    except ImportError:  # Windows: its console echoes nothing by itself here
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    silent = [*before]
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


@contextmanager
def interruptible_once() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt the first time; pressed again while things are put in order it does nothing."""
    pressed = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if not pressed:
            pressed = True
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
