"""Where settings, keys and a project's settings lie, and how private files are written: whole, for their owner alone."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROJECT_FILE = ".archivist.toml"


def folder() -> Path:
    """Where settings and keys lie: ARCHIVIST_CONFIG_DIR, else the platform's place for them."""
    from platformdirs import user_config_path

    named = os.environ.get("ARCHIVIST_CONFIG_DIR")
    return from_home(named) if named else user_config_path("archivist")


def from_home(path: str | os.PathLike[str]) -> Path:
    """A path with ~ replaced; that of a user who is not there stays as it is, and will not be found."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path's own raises


def config_file() -> Path:
    """The person's own settings."""
    return folder() / "config.toml"


def project_file(start: Path | None = None) -> Path | None:
    """The settings of the project around a folder (the current one when none is given): in it or in the nearest one above.

    The search ends before the person's home folder, which is no project, and where another file system begins. None without any.
    """
    for place in _upwards(start):
        found = place / PROJECT_FILE
        if os.path.lexists(found):
            return found
    return None


def read_small(path: Path, most: int, *, follow: bool = True) -> str:
    """A text file of at most so many bytes, without the mark that some editors put in front. follow: whether a link is.

    Raises OSError, also where a pipe or a device stands in the file's place, which is not waited for, and ValueError for what is
    larger or no UTF-8.
    """
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, "is no file")
    with os.fdopen(opened, "rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise ValueError(f"is larger than {most // 1000:,} kB")
    return raw.decode("utf-8-sig")


@contextmanager
def changing() -> Iterator[None]:
    """Alone while a file of settings or keys is read, changed and written: another program's change in between would be lost."""
    from search.connections import make_folder

    make_folder(folder())
    handle = os.open(folder(), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks is written as before
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in a folder that only its owner can enter; old or new, nothing between."""
    from search.connections import make_folder

    make_folder(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet and that only its owner can read; none is left behind where that fails."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", errors="replace") as file:
        try:
            file.write(text)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _upwards(start: Path | None) -> Iterator[Path]:
    try:
        first = Path(os.path.realpath(start or Path.cwd()))
        device = os.stat(first).st_dev  # noqa: PTH116 - beside the next one
    except OSError:  # the current folder was removed: there is no project around it
        return
    home = Path(os.path.realpath(from_home("~")))
    for place in (first, *first.parents):
        try:
            elsewhere = place == home or os.stat(place).st_dev != device  # noqa: PTH116 - a folder above may be locked
        except OSError:
            return
        if elsewhere:
            return
        yield place


__all__ = [
    "PROJECT_FILE",
    "changing",
    "config_file",
    "folder",
    "from_home",
    "project_file",
    "read_small",
    "write_new",
    "write_private",
]
