"""`archivist config`: what holds and where it came from, and the person's own file of settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from assistant import editor, render, settings
from assistant.errors import UserError
from assistant.settings import Origin, Settings, Value

_NAMES = 24  # columns of the names, unless one of the settings that always are there is longer
_LEAST = 24  # columns that are left for a value beside its name
_LINES = 3  # of a value in a list
_ECHOED = 200  # columns of a value that was saved


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the list. prose: a text that may be cut, since `config get` shows all of it."""

    name: str
    value: Value | None
    origin: Origin
    prose: bool = False


def show(*, as_json: bool) -> None:
    """List every setting with its value and where that came from; of keys only where they come from."""
    chosen = settings.load()
    rows = _rows(chosen)
    providers = {provider: settings.find_key(provider) for provider in settings.KEY_NAMES}
    out = render.out()
    if as_json:
        keys = [{"provider": provider, "source": key.source if key else None} for provider, key in providers.items()]
        told = {"settings": [_as_object(row) for row in rows], "keys": keys, **_files(chosen), "notices": chosen.notices}
        out.write(settings.redact(render.as_json(told)))
        return
    shown = [(row.name, _where(row.origin), _written(row)) for row in rows]
    for provider, key in providers.items():
        where = Path(key.source).name if key else "-"  # a variable, or keys.json
        shown.append((f"keys.{provider}", where, "set, not shown" if key else "none"))
    _write_list(out, shown, prose={row.name for row in rows if row.prose})
    notes = render.err()
    for name, path in _files(chosen).items():
        notes.write(render.safe(f"{name}: {path}") if path else f"{name}: none here")
    for notice in chosen.notices:
        notes.write(render.one_line(notice))


def get(name: str, *, as_json: bool) -> int:
    """Print one value, or the entries of a table; exit code 1 when there is none."""
    chosen = settings.load()
    one = name not in _tables()
    rows = [row for row in _rows(chosen) if row.name.startswith(f"{name}.")]
    if one:
        setting, key = settings.find(name)
        rows = [_row(chosen, settings.dotted(setting, key))]
    there = any(row.value is not None for row in rows)
    out = render.out()
    if as_json:
        told: Any = _as_object(rows[0]) if one else {"settings": [_as_object(row) for row in rows]}
        out.write(settings.redact(render.as_json(told)))
    elif there:
        for row in (row for row in rows if row.value is not None):
            values = row.value if isinstance(row.value, tuple) else (row.value,)
            for line in map(_plain, values):
                out.write(settings.redact(render.safe(line if one else f"{row.name} {line}")))
    else:
        render.err().write(render.one_line(f"{name} is not set"))
    return 0 if there else 1


def put(name: str, words: Sequence[str]) -> None:
    """Save a value. Raises UsageError for one that the setting does not take, or that names what is not there."""
    setting, key = settings.find(name)
    _check_what_is_named(setting.name, key, words)
    path = settings.set_value(name, words)
    named = settings.dotted(setting, key)
    now = settings.own()
    origin = now.origin(named)
    notes = render.err()
    if origin.kind == "file":
        notes.write(f"{_line(named)} = {render.cut(_written(_row(now, named)), _ECHOED)} ({_line(str(path))})")
    else:
        notes.write(_line(f"{named} is saved in {path}, but {origin.where} is set and goes before it"))


def remove(name: str) -> None:
    """Take a value out of the file. Raises UsageError when it is not there."""
    path = settings.unset(name)
    render.err().write(_line(f"{name} is no longer set in {path}"))


def show_path(*, as_json: bool) -> None:
    """Print where the settings lie."""
    path = str(settings.config_file())
    render.out().write(render.as_json({"file": path}) if as_json else render.safe(path))


def edit() -> None:
    """Open the file in the person's editor, and say what is wrong with it afterwards. Raises UserError."""
    path = settings.config_file()
    try:
        chosen = settings.own()
    except UserError:
        chosen = settings.usual()  # the file is what is to be mended
    command = editor.command(editor.words(chosen.editor), path)
    if not path.exists():
        settings.write_private(path, settings.template())
    code = editor.start(command)
    if path.exists():
        path.chmod(0o600)
    if code:
        raise UserError(f"editor: {command[0]} ended with {code}", 'archivist config set editor "code --wait"')
    settings.own()
    render.err().write(_line(f"{path} is in order"))


def _check_what_is_named(name: str, key: str, words: Sequence[str]) -> None:
    """Refuse a model, role or library that nobody could find later, and a pattern that would stop every question."""
    if name == "local_only":
        from search.hiding import hiding_sql

        hiding_sql([str(settings.from_home(word)) for word in words])
    if len(words) != 1:
        return
    if name == "model":
        from assistant import backends

        backends.split(words[0])
    elif name == "roles":
        settings.own_instructions(replace(settings.own(), roles={key: words[0]}), role=key)
    elif name == "system":
        settings.own_instructions(replace(settings.own(), system=words[0], role=None))
    elif name == "role":
        settings.own_instructions(settings.with_flags(settings.own(), {"role": words[0]}))
    elif name == "library":
        settings.library_file(words[0])


def _rows(chosen: Settings) -> list[_Row]:
    rows = []
    for setting in settings.SETTINGS:
        if setting.entry:
            rows += [_row(chosen, name) for name in sorted(chosen.values) if name.startswith(f"{setting.name}.")]
        else:
            rows.append(_row(chosen, setting.name))
    return rows


def _row(chosen: Settings, name: str) -> _Row:
    return _Row(name, chosen.value(name), chosen.origin(name), settings.find(name)[0].kind in {"text", "sentence"})


def _tables() -> set[str]:
    return {setting.name.partition(".")[0] for setting in settings.SETTINGS if setting.entry or "." in setting.name}


def _files(chosen: Settings) -> dict[str, str | None]:
    return {"file": str(settings.config_file()), "project": str(chosen.project) if chosen.project else None}


def _as_object(row: _Row) -> dict[str, object]:
    return {"name": row.name, "value": row.value, "origin": asdict(row.origin)}


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _written(row: _Row) -> str:
    """A value on one line; "-" for none."""
    value = ", ".join(row.value) if isinstance(row.value, tuple) else row.value
    return _line(_plain(value)) if value not in (None, "") else "-"


def _where(origin: Origin) -> str:
    return origin.where if origin.kind == "environment" else origin.kind


def _line(text: str) -> str:
    return render.one_line(settings.redact(text))


def _write_list(out: render.Terminal, shown: Sequence[tuple[str, str, str]], *, prose: set[str]) -> None:
    """Names, origins and values in columns; the value below its name where the terminal is too narrow or the name too long."""
    wide = max(len(setting.name) for setting in settings.SETTINGS)
    wide = max([wide, *(render.columns(name) for name, _, _ in shown if render.columns(name) <= _NAMES)])
    origins = max(len(where) for _, where, _ in shown)
    beside = wide + origins + 4
    room = out.width - beside
    for name, where, value in shown:
        named = render.one_line(name)
        space = " " * (wide - render.columns(named))
        head = f"{out.style(named, '1')}{space}  {where:{origins}}  "
        indent = beside
        crowded = render.columns(value) > room < _LEAST
        if out.interactive and (crowded or render.columns(named) > wide):
            for line in render.wrapped(named, out.width):
                out.write(out.style(line, "1"))
            head, indent = f"  {where:{origins}}  ", origins + 4
        lines = [value]
        if out.interactive:
            lines = render.wrapped(value, out.width - indent)
            most = 1 if name in prose else _LINES
            if len(lines) > most:
                lines = [*lines[: most - 1], render.cut(lines[most - 1] + " …", out.width - indent)]
        out.write(f"{head}{lines[0]}".rstrip())
        for line in lines[1:]:
            out.write(" " * indent + line)


__all__ = ["edit", "get", "put", "remove", "show", "show_path"]
