"""Text that a pipe or a file brings beside a question: `cat error.log | archivist ask "what is this?"`.

In: standard input. Out: Attached, clean text within bounds, or None. Whether there is anything to be read is found out by what
standard input is, because many programs leave one open that nobody will ever write to:

- a terminal, a socket, a device such as /dev/null, or none at all: nothing is attached;
- a file: attached from its beginning; one that somebody has read from already is theirs (`while read` goes on with it);
- a pipe: attached. Where nobody watches, one that gives nothing at first is left alone after a while, which is said.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from assistant.cleaning import clean
from assistant.errors import UsageError
from search.counting import counted

WAIT_SECONDS = 3.0  # for the first byte, where nobody watches
_TOLD_AFTER = 2.0
_KEPT = 2_000_000  # bytes of the beginning, and as many of the end
_MOST = 256_000_000  # bytes that are read at all
_CHUNK = 65_536
_HEAD = 0.25  # share of what is given that the beginning has: logs say it at their end
_LEAST_ROOM = 2_000
_MOST_ROOM = 60_000
_OF_WINDOW = 0.25  # share of a model's window, at four characters a token
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Attached:
    """A text beside a question. lines: of all that came, None where not all of it was kept; note: what to tell of its encoding."""

    head: str
    tail: str = ""
    lines: int | None = None
    note: str = ""

    def within(self, room: int) -> tuple[str, str]:
        """The text in at most about so many characters, and what is to be said of it: how much came, and what was left out."""
        if not self.tail and len(self.head) <= room:
            return self.head, f"attached {self._size()} from standard input{self._noted()}"
        begin = _to_line_end(self.head[: int(room * _HEAD)])
        rest = self.tail or self.head[len(begin) :]
        end = _from_line_start(rest[-(room - len(begin)) :])
        given = begin.count("\n"), end.rstrip("\n").count("\n") + 1
        said = f"attached from standard input, {self._size()}: the first {given[0]} and the last {given[1]}, the rest is left out"
        return f"{begin}[… lines are left out here …]\n{end}", f"{said}{self._noted()}"

    def _size(self) -> str:
        return counted(self.lines, "line") if self.lines is not None else "a text of many lines"

    def _noted(self) -> str:
        return f" ({self.note})" if self.note else ""


def from_standard_input(say: Say, *, wanted: bool | None = None) -> Attached | None:
    """What standard input brings, None for nothing. wanted: True waits for it however long it takes, False does not look.

    say: told when it takes long, and when a pipe was left alone. Raises UsageError for binary data.
    """
    handle = _handle() if wanted is not False else None
    if handle is None:
        return None
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        if wanted is None and _is_begun(handle):
            return None
    elif not (stat.S_ISFIFO(kind) or (wanted and not os.isatty(handle))) or not _gives(handle, say, patient=bool(wanted)):
        return None
    return _decoded(*_read(handle))


def room_for(window: int | None) -> int:
    """How many characters may be attached to a question for a model with so many tokens of context."""
    return _MOST_ROOM if window is None else max(_LEAST_ROOM, min(_MOST_ROOM, int(window * 4 * _OF_WINDOW)))


def _handle() -> int | None:
    """The descriptor of standard input; None where it was closed, or where a program has put something else in its place."""
    try:
        handle = sys.stdin.fileno()
        os.fstat(handle)
    except (AttributeError, ValueError, OSError):
        return None
    return handle


def _is_begun(handle: int) -> bool:
    return os.lseek(handle, 0, os.SEEK_CUR) > 0


def _gives(handle: int, say: Say, *, patient: bool) -> bool:
    """Whether a pipe gives something, or has ended; a person who watches can wait or stop it, a program cannot."""
    watched = patient or (sys.stderr is not None and sys.stderr.isatty())
    begun, told = time.monotonic(), False
    while True:
        elapsed = time.monotonic() - begun
        limit = _TOLD_AFTER if watched else WAIT_SECONDS
        if select.select([handle], [], [], max(0.0, limit - elapsed) if not told else None)[0]:
            return True
        if not watched:
            say(
                f"standard input is an open pipe that gave nothing for {WAIT_SECONDS:.0f} seconds: asked without it "
                "(--stdin waits for it, --no-stdin does not look)"
            )
            return False
        say("waiting for standard input to give something and end (--no-stdin does not read it)")
        told = True


def _read(handle: int) -> tuple[bytes, bytes, int, int]:
    """The beginning and the end of what comes, how many bytes there were between them, and the line ends in all of it."""
    head, tail, between, ends, total = bytearray(), deque[bytes](), 0, 0, 0
    kept = 0
    while total < _MOST:
        chunk = os.read(handle, _CHUNK)
        if not chunk:
            break
        total += len(chunk)
        ends += chunk.count(b"\n")
        if len(head) < _KEPT:
            head += chunk
            continue
        tail.append(chunk)
        kept += len(chunk)
        while kept - len(tail[0]) > _KEPT:
            kept -= len(tail[0])
            between += len(tail.popleft())
    return bytes(head), b"".join(tail), between, ends


def _decoded(head: bytes, tail: bytes, between: int, ends: int) -> Attached | None:
    from search.readers import cleaning, encodings

    if not (head or tail).strip():
        return None
    found = encodings.decode(head + tail if not between else head)
    if found is None:
        raise UsageError(
            "standard input is binary data, which no question can be asked about",
            'give it as text: pdftotext report.pdf - | archivist ask "what is this?"; --no-stdin does not read it',
        )

    def plain(text: str) -> str:
        return clean(cleaning.clean(text))

    text = plain(found.text)
    if not text.strip():
        return None
    if not between:
        return Attached(text, "", text.rstrip("\n").count("\n") + 1, found.note)
    skipped = -(len(head) + between) % 4  # bytes of a character that begins before the end that was kept
    end = tail[skipped:].decode(found.encoding, errors="replace")
    return Attached(_to_line_end(text), _from_line_start(plain(end)), ends, found.note)


def _to_line_end(text: str) -> str:
    """A text up to its last whole line; one line without an end as it stands."""
    at = text.rfind("\n") + 1
    return text[:at] if at else f"{text}\n"


def _from_line_start(text: str) -> str:
    _, found, rest = text.partition("\n")
    return rest if found and rest.strip() else text


__all__ = ["Attached", "from_standard_input", "room_for"]
