"""What was typed, kept for the arrow keys and Ctrl-R in a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from assistant import settings
from search.connections import make_folder

_LONGEST = 4000  # characters of an input that are worth keeping
_LARGEST = 1_000_000  # bytes of the file; beyond that its older half goes


def path() -> Path:
    """The file of what was typed."""
    from platformdirs import user_state_path

    return user_state_path("archivist") / "typed"


def opened(*, keep: bool, unfolded: Callable[[str], str], say: Callable[[str], None]) -> History:
    """The history of what is typed: of the file, or of this session alone when none is to be kept or the file cannot be had.

    unfolded: an input as it is, where the line on the terminal shows less of it. say: told why nothing is kept.
    """
    if not keep:
        return InMemoryHistory()
    file = path()
    try:
        make_folder(file.parent)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.fchmod(handle, 0o600)
            too_large = os.fstat(handle).st_size > _LARGEST
        finally:
            os.close(handle)
        if too_large:
            _halve(file)
    except OSError as error:
        say(f"what is typed is not kept: {file}: {error.strerror}")
        return InMemoryHistory()
    return _Typed(file, unfolded, say)


class _Typed(FileHistory):
    """A file of inputs, without keys and without what is too long to be typed again."""

    def __init__(self, file: Path, unfolded: Callable[[str], str], say: Callable[[str], None]) -> None:
        super().__init__(os.fspath(file))
        self._unfolded = unfolded
        self._say = say

    def append_string(self, string: str) -> None:
        """Keep an input as it is, not as the line shows it."""
        whole = self._unfolded(string)
        if whole.strip() and len(whole) <= _LONGEST:
            super().append_string(settings.redact(whole))

    def store_string(self, string: str) -> None:
        """Add to the file; one that cannot be written any more spoils no question."""
        try:
            super().store_string(string)
        except OSError as error:
            self._say(f"what is typed is not kept any more: {error.strerror}")


def _halve(file: Path) -> None:
    """Keep the younger half; an entry begins with an empty line."""
    content = file.read_text(encoding="utf-8", errors="replace")
    middle = content.find("\n\n#", len(content) // 2)
    settings.write_private(file, content[middle + 1 :] if middle >= 0 else "")
