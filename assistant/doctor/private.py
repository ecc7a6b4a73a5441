"""Which keys are used and where they come from, never what they are; and who else can read what is yours alone."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from assistant import settings
from assistant.doctor.models import Check, Named, Scene, State
from assistant.errors import UserError
from search.counting import counted

_OTHERS = 0o077
_CLOUDS = ("gemini", "openrouter")
_SHOWN = 3


def checks(scene: Scene) -> Iterator[Named]:
    """The source of each key, and the rights of the files."""
    from platformdirs import user_data_path, user_state_path

    for provider in settings.KEY_NAMES:
        yield f"key for {provider}", partial(_key, provider, needed=provider == scene.provider)
    yield "settings", _settings
    yield "settings folder", partial(_rights, "settings folder", settings.folder(), secret=("keys.json",))
    yield "project settings", _project
    yield "local_only", partial(_withheld, scene)
    yield "conversations", _conversations
    yield "data folder", partial(_rights, "data folder", user_data_path("archivist"))
    yield "state folder", partial(_rights, "state folder", user_state_path("archivist"))
    yield "library file", lambda: _library(scene)


def _key(provider: str, *, needed: bool) -> Check:
    name = f"key for {provider}"
    names = settings.KEY_NAMES[provider]
    key = settings.find_key(provider)
    if key is None:
        wanted = needed and provider in _CLOUDS
        fix = f"archivist keys set {provider}" if wanted else ""
        return Check(name, "failed" if wanted else "skipped", f"none; it would come from {' or '.join(names)}", fix)
    also = [other for other in names if other != key.source and os.environ.get(other, "").strip()]
    beside = f"; {', '.join(also)} is set, too, and not used" if also else ""
    return Check(name, "ok", f"from {key.source}{beside}")


def _settings() -> Check:
    """Whether the settings can be read, which they say by an error of their own, and whether what they name is there."""
    from search.hiding import hiding_sql

    own, path = settings.own(), settings.config_file()
    try:
        settings.own_instructions(own)
        for role in own.roles:
            settings.own_instructions(own, role=role)
        settings.library_file()
        hiding_sql(own.local_only)
    except UserError as error:
        return Check("settings", "failed", str(error), "archivist config edit")
    return Check("settings", "ok", f"{path} can be read" if path.is_file() else "none are saved: the defaults hold")


def _withheld(scene: Scene) -> Check:
    """How many documents each pattern keeps from models elsewhere: one that is misspelt keeps none, without a word."""
    from assistant.withholding import spellings
    from search import Filters, Library

    patterns = settings.load().local_only
    if not patterns or not scene.library.is_file():
        return Check("local_only", "skipped", "no folder is marked" if not patterns else "there is no library yet")
    with Library.open(scene.library) as library:
        counts = {pattern: len(library.hidden(Filters(hidden=spellings([pattern])))) for pattern in patterns}
    found = "; ".join(f"{pattern} withholds {counted(count, 'document')}" for pattern, count in counts.items())
    if not any(counts.values()):
        return Check("local_only", "warning", f"{found}: nothing of this library", "archivist config edit")
    return Check("local_only", "ok", found)


def _project() -> Check:
    """What the project's file around this folder asks for and does not get."""
    chosen = settings.load()
    if chosen.project is None:
        return Check("project settings", "ok", "none around this folder")
    if chosen.notices:
        fix = f"archivist config  # and mend {shlex.quote(str(chosen.project))}"
        return Check("project settings", "warning", "; ".join(chosen.notices), fix)
    return Check("project settings", "ok", f"{chosen.project} makes things stricter")


def _conversations() -> Check:
    """Whether the file of kept conversations can be read, and by whom."""
    from assistant import history

    file = history.place()
    if not file.exists():
        return Check("conversations", "skipped", f"none are kept yet at {file}")
    opened = _opened_to_others(file)
    if opened:
        return Check("conversations", "warning", f"others can read {_some(opened)} in {file.parent}", _close("600", opened))
    with history.History.open() as kept:
        count = len(kept.sessions(10_000))
    return Check("conversations", "ok", f"{counted(count, 'conversation')} in {file}, yours alone")


def _rights(name: str, folder: Path, *, secret: tuple[str, ...] = ()) -> Check:
    """The rights of a folder and the files in it. secret: names of files whose being readable is a failure."""
    if not folder.is_dir():
        return Check(name, "skipped", f"{folder} is not there yet")
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink() and _open(path))
    if files:
        state: State = "failed" if any(path.name in secret for path in files) else "warning"
        return Check(name, state, f"others can read {_some(files)} in {folder}", _close("600", files))
    if _open(folder):
        return Check(name, "warning", f"others can look into {folder}", _close("700", [folder]))
    return Check(name, "ok", f"{folder} is yours alone")


def _library(scene: Scene) -> Check:
    file = scene.library
    if not file.is_file():
        return Check("library file", "skipped", "there is none yet")
    files = _opened_to_others(file)
    if files:
        return Check("library file", "warning", f"others can read {_some(files)} in {file.parent}", _close("600", files))
    return Check("library file", "ok", "yours alone")


def _opened_to_others(file: Path) -> list[Path]:
    """A database and the files beside it, as far as others can read them."""
    beside = (file.with_name(file.name + end) for end in ("", "-wal", "-shm"))
    return [path for path in beside if path.is_file() and _open(path)]


def _open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & _OTHERS)


def _close(mode: str, paths: list[Path]) -> str:
    return f"chmod {mode} {' '.join(shlex.quote(str(path)) for path in paths)}"


def _some(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:_SHOWN])
    more = len(paths) - _SHOWN
    return f"{shown} and {counted(more, 'other')}" if more > 0 else shown


__all__ = ["checks"]
