"""Settings put together: flags over environment over project over file over defaults, each value with where it came from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from assistant.errors import UsageError
from assistant.settings import reading
from assistant.settings.places import config_file, project_file
from assistant.settings.schema import BY_NAME, SETTINGS, BadValueError, Value, check, dotted, expanded, find

_EDITORS = ("VISUAL", "EDITOR")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value came from. where: the flag, the variable or the file; "" for a default."""

    kind: Literal["flag", "environment", "project", "file", "default"]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a turn: steps and calls; tokens, cost in US dollars and seconds, where None is no limit."""

    steps: int = 10
    calls: int = 40
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds now; each field is the setting of its name.

    library: a name or a path as it was given. descriptions: by folder, in full and without links, as a library knows it.
    local_only: globs, and folders in full. values: what somebody set, by dotted name and as it was written; origins: where each of
    them came from. notices: what a project's file asked for and did not get, in one line. project: that file, None without one.
    """

    model: str | None = None
    base_url: str | None = None
    library: str | None = None
    libraries: Mapping[str, Path] = field(default_factory=dict)
    embedder: str | None = None
    system: str | None = None
    role: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    local_only: tuple[str, ...] = ()
    history: bool = True
    editor: str | None = None
    trace: bool = False
    limits: Limits = Limits()
    values: Mapping[str, Value] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    project: Path | None = None

    def origin(self, name: str) -> Origin:
        """Where the value under a dotted name came from. Raises UsageError for a name that is no setting."""
        setting, key = find(name)
        return self.origins.get(dotted(setting, key), Origin("default"))

    def value(self, name: str) -> Value | None:
        """The value under a dotted name as it was written, or the default. Raises UsageError for a name that is no setting."""
        setting, key = find(name)
        return self.values.get(dotted(setting, key), setting.default)


def usual() -> Settings:
    """What holds without any file: environment and defaults."""
    return _layered(Settings(), _usual_editor() | _environment())


def own() -> Settings:
    """The person's own settings: environment, file, defaults. Raises UserError for a file that cannot be understood."""
    path = config_file()
    # VISUAL is every program's: what is set for this one goes before it.
    return _layered(_laid(usual(), reading.own(path), Origin("file", str(path))), _environment())


def load(cwd: Path | None = None) -> Settings:
    """The person's own settings and what the project around a folder (the current one when none is given) may add to them.

    Raises UserError for a file that cannot be understood, a project's file included.
    """
    mine = own()
    path = project_file(cwd)
    if path is None:
        return mine
    return _with_project(mine, path, reading.project(path))


def with_flags(settings: Settings, flags: Mapping[str, object]) -> Settings:
    """Settings with the options of a command line laid over them, by dotted name; None is an option that was not given.

    Raises UsageError for a value that the setting does not take.
    """
    given: dict[str, tuple[Value, Origin]] = {}
    for name, value in flags.items():
        setting = BY_NAME[name]
        if value is None:
            continue
        try:
            # What an option of its own reads (a file, a path from here, a plain "") is its own to check.
            taken = str(value) if setting.kind in {"text", "library"} else check(setting, value)
        except BadValueError as error:
            raise UsageError(f"{setting.flag}: {error}") from error
        given[name] = (taken, Origin("flag", setting.flag))
    return _layered(settings, given)


def _usual_editor() -> dict[str, tuple[Value, Origin]]:
    named = ((name, os.environ.get(name, "").strip()) for name in _EDITORS)
    return next(({"editor": (text, Origin("environment", name))} for name, text in named if text), {})


def _environment() -> dict[str, tuple[Value, Origin]]:
    found: dict[str, tuple[Value, Origin]] = {}
    for setting in SETTINGS:
        text = os.environ.get(setting.variable, "").strip() if setting.variable else ""
        if text:
            found[setting.name] = (text, Origin("environment", setting.variable))
    return found


def _with_project(mine: Settings, path: Path, asked: Mapping[str, Value]) -> Settings:
    """What a project asks for, as far as it may: nothing that is not listed as its to set, and no limit looser than it was."""
    taken: dict[str, Value] = {}
    yours: dict[str, None] = {}
    looser: dict[str, None] = {}
    for name, value in asked.items():
        setting, _ = find(name)
        before = mine.value(name)
        if setting.project == "adds":
            assert isinstance(before, tuple)
            assert isinstance(value, tuple)
            taken[name] = tuple(dict.fromkeys((*before, *value)))
        elif setting.project == "never":
            yours[setting.name] = None
        elif setting.project == "may" or value is False or (setting.project == "only stricter" and _is_stricter(value, before)):
            taken[name] = value
        elif value != before:
            looser[setting.name] = None
    parts = [f"{', '.join(yours)} (yours alone to set)"] if yours else []
    parts += [f"{', '.join(looser)} (a project can only be stricter)"] if looser else []
    notices = (f"{path}: not used: {'; '.join(parts)}",) if parts else ()
    return replace(_laid(mine, taken, Origin("project", str(path))), notices=notices, project=path)


def _is_stricter(value: Value, before: Value | None) -> bool:
    assert isinstance(value, int | float)
    return not isinstance(before, int | float) or value < before


def _laid(below: Settings, values: Mapping[str, Value], origin: Origin) -> Settings:
    return _layered(below, {name: (value, origin) for name, value in values.items()})


def _layered(below: Settings, layer: Mapping[str, tuple[Value, Origin]]) -> Settings:
    """Settings with a layer over them; an entry of a table replaces that entry alone."""
    values = {**below.values, **{name: value for name, (value, _) in layer.items()}}
    origins = {**below.origins, **{name: origin for name, (_, origin) in layer.items()}}
    kept: dict[str, dict[str, Any]] = {setting.name: {} for setting in SETTINGS if setting.entry}
    limits: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, value in values.items():
        setting, key = find(name)
        group, _, last = setting.name.partition(".")
        if setting.entry:
            kept[setting.name][key] = value
        elif last:
            limits[last] = value
        else:
            fields[group] = value
    fields["libraries"] = {name: Path(expanded(path)) for name, path in kept["libraries"].items()}
    fields["roles"] = kept["roles"]
    fields["descriptions"] = {os.path.realpath(expanded(folder)): text for folder, text in kept["descriptions"].items()}
    fields["local_only"] = tuple(expanded(text) if text.startswith("~") else text for text in fields.get("local_only", ()))
    return replace(below, **fields, limits=Limits(**limits), values=values, origins=origins)


__all__ = ["Limits", "Origin", "Settings", "load", "own", "usual", "with_flags"]
