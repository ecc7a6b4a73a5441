"""One line that says what is waited for, and for how long; it leaves nothing behind. Where no line can spin, a reminder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_PER_SECOND = 10
REMINDED_AFTER = (10, 30, 60, 120, 300, 600, 1200, 1800, 3600)  # seconds
_QUIET = 0.15  # seconds in which nothing is shown: most of what is quick would only flicker


class Spinner:
    """Shows a line while something runs; everything else is written inside `aside`. Off: it shows nothing at all."""

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._live: Live | None = None
        self._started = time.monotonic()
        self._words: Callable[[], str] = lambda: ""

    @contextmanager
    def over(self, words: Callable[[], str]) -> Iterator[None]:
        """Spin while the block runs. words: asked for again with every frame."""
        self._words, self._started = words, time.monotonic()
        self._show()
        try:
            yield
        finally:
            self._hide()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """The line is away while the block writes."""
        self._hide()
        try:
            yield
        finally:
            self._show()

    def _show(self) -> None:
        if not self._on:
            return
        import sys

        from rich.console import Console
        from rich.live import Live

        # A console of its own each time: the terminal may have another width by now.
        console = Console(file=sys.stdout, color_system="standard", force_terminal=True, highlight=False)
        self._live = Live(
            console=console,
            get_renderable=self._line,
            transient=True,
            refresh_per_second=_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            auto_refresh=True,
            vertical_overflow="crop",
        )
        self._live.start()

    def _hide(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _line(self) -> Text:
        import os
        import sys

        from rich.text import Text

        elapsed = time.monotonic() - self._started
        if elapsed < _QUIET:
            return Text("")
        frames = _FRAMES if (sys.stdout.encoding or "").lower().startswith("utf") else _PLAIN_FRAMES
        frame = frames[int(elapsed * _PER_SECOND) % len(frames)]
        seconds = f"  {elapsed:.0f} s" if elapsed >= 1 else ""
        style = "" if os.environ.get("NO_COLOR") else "dim"
        return Text(f"{frame} {self._words()}{seconds}", style=style, no_wrap=True, overflow="ellipsis")


@contextmanager
def reminding(say: Callable[[str], None], words: Callable[[], str], *, after: Sequence[float] = REMINDED_AFTER) -> Iterator[None]:
    """Say now and then, in a thread, that the block still runs. after: seconds from its beginning; words: asked for each time."""
    ended = threading.Event()
    started = time.monotonic()

    def remind() -> None:
        for seconds in after:
            if ended.wait(max(0.0, started + seconds - time.monotonic())):
                return
            say(f"{words()}, for {seconds:.0f} s now")

    thread = threading.Thread(target=remind, name="reminding", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
