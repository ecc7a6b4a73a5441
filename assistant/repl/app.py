"""The loop: read a line, run the command or ask the question, show what comes, until Ctrl-D.

No error of a person, a model or a provider ends it. On a terminal the embedding model is loaded behind while the first question
is being typed.
"""

from __future__ import annotations

from typing import Protocol

from assistant import render
from assistant.errors import ArchivistError
from assistant.repl import commands, turns
from assistant.repl.commands.base import Ask, Fill, Leave, Next
from assistant.repl.state import Session, Start
from search.counting import counted

_HINT = "Ctrl-D leaves, /help lists the commands"


class Reader(Protocol):
    """What inputs are read from."""

    def read(self, text: str = "") -> str:
        """The next input; text: what stands in the line already. Raises EOFError, KeyboardInterrupt."""


def run(start: Start) -> int:
    """Run a session to its end; the exit code: 1 when a question of a pipe was not answered, else 0."""
    with Session(start) as session:
        return Loop(session).run()


class Loop:
    """A session at its prompt."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._reader = self._make_reader()
        self._failed = False

    def run(self) -> int:
        """Until the input ends or somebody leaves."""
        if self._session.typing:
            self._greet()
        if self._session.how.going_on is not None:
            given = bool(self._session.scope)
            commands.conversations.go_on(self._session, self._session.how.going_on, own_filters=given)
            self._part()
        following: Next = None
        while not isinstance(following, Leave):
            try:
                following = self._step(following)
            except EOFError:
                break
            except KeyboardInterrupt:
                if not self._session.typing:
                    raise
                self._note(_HINT)
                following = None
        return int(self._failed and not self._session.typing)

    def _step(self, following: Next) -> Next:
        """One input: what it leads to."""
        instead = isinstance(following, Fill)
        if isinstance(following, Ask):
            line, instead, written = following.question, following.instead, False
        else:
            turns.tell(self._session)
            line, written = self._reader.read(following.text if isinstance(following, Fill) else ""), True
        if not line.strip():
            return None
        if written and commands.is_command(line):
            return self._command(line.strip())
        if instead:
            self._session.take_back()
        self._failed |= not turns.ask(self._session, line.strip())
        self._part()
        return None

    def _command(self, line: str) -> Next:
        following: Next = None
        try:
            with turns.interruptible_once():
                following = commands.run(self._session, line)
        except KeyboardInterrupt:
            self._note("stopped")
        except ArchivistError as error:
            self._failed = True
            turns.show_error(error)
        except BrokenPipeError:
            raise
        except OSError as error:
            self._failed = True
            self._note(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        if not isinstance(following, Ask | Leave):
            self._part()
        return following

    def _make_reader(self) -> Reader:
        if self._session.rich:
            from assistant.repl.prompting import TerminalReader

            return TerminalReader(self._session, once=self._session.prepare)
        from assistant.repl.plain import PlainReader

        return PlainReader(self._session, asking=self._session.typing)

    def _greet(self) -> None:
        known = self._session.catalogue.coverage()
        about = [counted(known.documents, "document")]
        about += [f"indexed {render.age(known.indexed_at)}"] if known.indexed_at else []
        self._note(f"{', '.join(about)} · {_HINT}" if self._session.rich else f"{', '.join(about)}. {_HINT}.")
        self._part()

    def _note(self, text: str) -> None:
        notes = render.err()
        for line in render.wrapped(render.one_line(text), notes.width):
            notes.write(notes.style(line, "2"))

    def _part(self) -> None:
        """An empty line between what was shown and what comes."""
        render.out().write()
