"""Settings written to the person's own file: what else stands in it, comments and order included, stays as it is."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.errors import UsageError, UserError
from assistant.settings import reading
from assistant.settings.places import changing, config_file, write_private
from assistant.settings.schema import SETTINGS, BadValueError, Setting, Value, check, dotted, expanded, find, from_words

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_MEND = "archivist config edit opens it"


def set_value(name: str, words: Sequence[str]) -> Path:
    """Keep the value that a person typed: one word, or several for a list. Raises UsageError, UserError for a broken file."""
    setting, key = find(name)
    try:
        value = from_words(setting, words)
    except BadValueError as error:
        raise UsageError(f"{dotted(setting, key)}: {error}", f"{setting.shown}: {setting.help}") from error
    return save(name, value)


def save(name: str, value: Value) -> Path:
    """Keep a value under a dotted name. Raises UserError when the file holds something else that cannot be understood."""
    setting, key = find(name)
    check(setting, value)
    path = config_file()
    with changing():
        document = _document(path)
        _put(document, setting, key, list(value) if isinstance(value, tuple) else value)
        _write(path, document, checked=True)
    return path


def unset(name: str) -> Path:
    """Take a value out of the file; one that is no setting may be taken out, too. Raises UsageError when it is not there."""
    path = config_file()
    with changing():
        document = _document(path)
        table, key = _place(name, document)
        if table is None or key not in table:
            find(name)
            raise UsageError(f"{name} is not set in {path}", "archivist config lists what is set and where")
        del table[key]
        _write(path, document, checked=False)
    return path


def template() -> str:
    """A file of settings that sets nothing and names all there are."""
    lines = ["# Settings of Archivist; archivist config shows which of them hold.", ""]
    plain = [setting for setting in SETTINGS if not setting.entry and "." not in setting.name]
    lines += [f"# {setting.name} =  # {setting.help}" for setting in plain]
    tables = list(dict.fromkeys(setting.name.partition(".")[0] for setting in SETTINGS if setting not in plain))
    for table in tables:
        lines += ["", f"# [{table}]"]
        inside = [setting for setting in SETTINGS if setting.name.partition(".")[0] == table]
        lines += [f"# {setting.entry or setting.name.partition('.')[2]} =  # {setting.help}" for setting in inside]
    return "\n".join(lines) + "\n"


def _document(path: Path) -> TOMLDocument:
    """The file as it can be written back; an empty one when there is none. Raises UserError for one that is no TOML."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text = reading.own_text(path)
    try:
        tomllib.loads(text)
        return tomlkit.parse(text)
    except (ValueError, RecursionError, TOMLKitError) as error:
        reading.own(path)  # says the same with its line
        raise UserError(f"{path}: cannot be read: {error}", _MEND) from error


def _put(document: TOMLDocument, setting: Setting, key: str, value: Any) -> None:
    import tomlkit

    group, _, last = setting.name.partition(".")
    last = key or last
    if not last:
        document[group] = value
        return
    if group not in document:
        document[group] = tomlkit.table()
    table: Any = document[group]
    if not isinstance(table, dict):
        raise UserError(f"{config_file()}: {group}: is no table", _MEND)
    same = [other for other in table if setting.entry == "FOLDER" and expanded(other) == expanded(last)]
    table[same[0] if same else last] = value


def _place(name: str, document: TOMLDocument) -> tuple[Any, str]:
    """The table that a name stands in, and its key there; a name that is no setting is taken as it is written."""
    head, _, rest = name.partition(".")
    try:
        setting, key = find(name)
    except UsageError:
        return (document.get(head), rest) if rest and isinstance(document.get(head), dict) else (document, name)
    if not setting.entry:
        return (document.get(head), rest) if rest else (document, name)
    table = document.get(head)
    same = [other for other in table or () if setting.entry == "FOLDER" and expanded(other) == expanded(key)]
    return table, same[0] if same else key


def _write(path: Path, document: TOMLDocument, *, checked: bool) -> None:
    import tomlkit

    text = tomlkit.dumps(document)
    if checked:
        reading.checked(text, path, _MEND)
    # A file that is kept elsewhere, and linked to, stays there.
    write_private(Path(os.path.realpath(path)), text)


__all__ = ["save", "set_value", "template", "unset"]
