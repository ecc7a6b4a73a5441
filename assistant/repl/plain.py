"""Reading questions where there is no terminal to draw on: a dumb one with a plain prompt, a pipe without any."""

from __future__ import annotations

import sys

from assistant import render
from assistant.cleaning import whole
from assistant.repl import filtering
from assistant.repl.fences import is_open, unfenced
from assistant.repl.state import Session


class PlainReader:
    """Lines of standard input. asking: show a prompt, because somebody sits there; else each question is told on standard error."""

    def __init__(self, session: Session, *, asking: bool) -> None:
        self._session = session
        self._asking = asking

    def read(self, text: str = "") -> str:
        """The next input; one that begins with three quotation marks goes on to the line that ends with them.

        text: shown, since a plain line cannot hold it already. Raises EOFError at the end of the input.
        """
        if text:
            render.err().write(render.one_line(text))
        typed = self._line(self._sign())
        while is_open(typed):
            try:
                typed += "\n" + self._line("... ")
            except EOFError:
                break
        typed = unfenced(typed).strip()
        if not self._asking and typed and not self._session.how.quiet:
            render.err().write(render.cut(render.one_line(f"> {typed}"), render.err().width))
        return typed

    def _line(self, sign: str) -> str:
        if self._asking:
            sys.stdout.write(sign)
            sys.stdout.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return whole(line.rstrip("\r\n"))

    def _sign(self) -> str:
        shown = render.one_line(filtering.written(self._session.filters))
        return f"{shown} > " if shown else "> "
