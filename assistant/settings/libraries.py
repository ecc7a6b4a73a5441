"""Libraries by name: `-l work` is the file that [libraries] gives for work; a path stays a path."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from assistant.errors import UsageError
from assistant.settings import loading
from assistant.settings.loading import Settings
from assistant.settings.places import at_home
from assistant.settings.schema import looks_like_a_path


def library_file(given: Path | str | None = None) -> Path:
    """The library file to use: what is given, else ARCHIVIST_LIBRARY, the setting `library`, or the one in the data folder.

    A name of [libraries] is that library, whatever lies in the current folder. Anything else is a path when it has a separator or
    an ending, or exists. Raises UsageError for a name that is not known, with the nearest one, and for a folder.
    """
    text = os.fspath(given) if given is not None else None
    if text is not None and looks_like_a_path(text):
        return _file(text, "library")
    settings = loading.own()
    if text is None:
        text = settings.library
        if text is None:
            from platformdirs import user_data_path

            return user_data_path("archivist") / "library.db"
    if text in settings.libraries:
        return settings.libraries[text]
    if looks_like_a_path(text) or os.path.lexists(text):
        return _file(text, _said_by(settings) if given is None else "library")
    raise _unknown(text, settings, _said_by(settings) if given is None else "library")


def library_name(file: Path) -> str | None:
    """The name that a library file has in the settings, None without one."""
    same = os.path.realpath(file)
    return next((name for name, path in loading.own().libraries.items() if os.path.realpath(path) == same), None)


def _file(text: str, said_by: str) -> Path:
    path = at_home(text)
    if path.is_dir():
        raise UsageError(f"{said_by}: {text!r} is a folder, want a file", "archivist index DIR puts a folder into a library")
    return path if looks_like_a_path(str(path)) else path.absolute()  # ./work must not become the name work


def _said_by(settings: Settings) -> str:
    origin = settings.origin("library")
    return origin.where if origin.kind == "environment" else f"library in {origin.where}"


def _unknown(name: str, settings: Settings, said_by: str) -> UsageError:
    near = difflib.get_close_matches(name, settings.libraries, n=1, cutoff=0.5)
    known = f"; the libraries are {', '.join(sorted(settings.libraries))}" if settings.libraries else ""
    meant = f"; did you mean {near[0]!r}?" if near else known
    return UsageError(
        f"{said_by}: no library is named {name!r}{meant}",
        f"archivist config set libraries.{name} ~/{name}.db names one; a file is given as ./{name} or {name}.db",
    )


__all__ = ["library_file", "library_name"]
