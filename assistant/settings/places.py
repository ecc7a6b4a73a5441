"""Where settings, keys and a project's settings lie, and how private files are written: whole, for their owner alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROJECT_FILE = ".archivist.toml"


def folder() -> Path:
    """Where settings and keys lie: ARCHIVIST_CONFIG_DIR, else the platform's place for them."""
    from platformdirs import user_config_path

    named = os.environ.get("ARCHIVIST_CONFIG_DIR")
    return at_home(named) if named else user_config_path("archivist")


def at_home(path: str | Path) -> Path:
    """A path with the home folder put in for ~; as it is where there is no such person or no home."""
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


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in a folder that only its owner can enter; old or new, nothing between."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - Path.home() raises where there is none
    for place in (first, *first.parents):
        try:
            elsewhere = place == home or os.stat(place).st_dev != device  # noqa: PTH116 - a folder above may be locked
        except OSError:
            return
        if elsewhere:
            return
        yield place


__all__ = ["PROJECT_FILE", "at_home", "config_file", "folder", "project_file", "write_new", "write_private"]
