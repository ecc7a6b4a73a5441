"""A terminal for tests: a program runs in it, keys are typed, and the screen is read as a person would see it."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import pexpect
import pyte

SECONDS = 120.0  # a deadline, never a wait: a loaded machine is slow


class _Answering(pyte.HistoryScreen):
    """A screen that answers what a program asks of it."""

    def __init__(self, columns: int, rows: int, answer: Callable[[str], None]) -> None:
        super().__init__(columns, rows, history=5000, ratio=0.5)
        self._answer = answer

    def write_process_input(self, data: str) -> None:
        self._answer(data)


class Terminal:
    """A program on a terminal of so many columns and rows; a context that ends it."""

    def __init__(
        self, words: Sequence[str], *, environment: dict[str, str], columns: int = 100, rows: int = 40, cwd: Path | None = None
    ) -> None:
        self.child = pexpect.spawn(
            words[0], list(words[1:]), env=environment, dimensions=(rows, columns), cwd=cwd, timeout=None, encoding=None
        )
        self.raw = b""
        self._screen = _Answering(columns, rows, self.type)
        self._stream = pyte.ByteStream(self._screen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.close(force=True)

    def type(self, text: str | bytes) -> None:
        """Type keys; "\\r" is Enter."""
        data = text if isinstance(text, bytes) else text.encode()
        # A terminal's buffer is small: what is not read yet would block whoever writes.
        for start in range(0, len(data), 512):
            self.child.send(data[start : start + 512])
            if len(data) > 512:
                self._take(0)

    def enter(self, line: str) -> None:
        """Type a line and Enter."""
        self.type(f"{line}\r")

    def paste(self, text: str) -> None:
        """Paste a text as terminals do that bracket it."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        """Another size, told to the program."""
        self._screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.child.kill(signal.SIGKILL)
        self.child.wait()

    @property
    def lines(self) -> list[str]:
        """What is on the screen now, without empty lines at its end."""
        shown = [line.rstrip() for line in self._screen.display]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def text(self) -> str:
        """What is on the screen, and what has scrolled away above it."""
        top = ["".join(line[x].data for x in range(self._screen.columns)).rstrip() for line in self._screen.history.top]
        return "\n".join([*top, *self.lines])

    def wait_for(self, wanted: str | Callable[[str], bool], *, after: str = "", seconds: float = SECONDS) -> str:
        """Wait until a text, a pattern's match or a condition is there; the whole text. after: only what stands behind that."""
        end = time.monotonic() + seconds
        while True:
            _, found, shown = self.text.rpartition(after) if after else ("", "yes", self.text)
            if found and (wanted(shown) if callable(wanted) else re.search(wanted, shown, re.MULTILINE)):
                return self.text
            if time.monotonic() > end or not self._take(0.05):
                raise AssertionError(f"never seen: {wanted!r}\n{'-' * 40}\n{self.text}\n{'-' * 40}")

    def wait_for_end(self, seconds: float = SECONDS) -> int:
        """Wait until the program has ended; its exit code."""
        end = time.monotonic() + seconds
        while self._take(0.05):
            if time.monotonic() > end:
                raise AssertionError(f"it does not end\n{self.text}")
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -int(self.child.signalstatus or 0)

    def _take(self, seconds: float) -> bool:
        """Read what the program has written; whether it may write more."""
        with suppress(pexpect.TIMEOUT):
            try:
                data = self.child.read_nonblocking(65536, timeout=seconds)
            except pexpect.EOF:
                return False
            self.raw += data
            self._stream.feed(data)
        return True


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment of a test's own, on a terminal with colours."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "VIRTUAL_ENV", "TMPDIR"}}
    places = {name: str(home / name.lower()) for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    usual = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "ARCHIVIST_TODAY": "2026-10-15", "HF_HUB_OFFLINE": "1"}
    return kept | places | usual | more
