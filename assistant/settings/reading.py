"""A file of settings, read and checked: TOML in, values under their dotted names out, every refusal with file and line.

A project's file is somebody else's: it is opened without following links or waiting for a pipe, and is small. What cannot be read
in full is an error and not passed over, since it may hold `local_only`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assistant.errors import UsageError, UserError
from assistant.settings.places import read_small
from assistant.settings.schema import BY_NAME, GROUPS, BadValueError, Value, check, check_key, dotted, unknown

_MOST_OWN = 1_000_000  # bytes
_MOST_PROJECT = 16_000  # bytes; tomllib takes a second for the worst of this size
_AT_LINE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")
_MEND = "archivist config edit opens it"


def own(path: Path) -> dict[str, Value]:
    """The person's own settings; none when the file is not there. Raises UserError for a file that cannot be understood."""
    return checked(own_text(path), path, _MEND)


def own_text(path: Path) -> str:
    """The person's file as it stands, "" when it is not there. Raises UserError for one that cannot be read."""
    try:
        return read_small(path, _MOST_OWN)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read: {_why(error)}", "mend or remove the file") from error


def project(path: Path) -> dict[str, Value]:
    """The settings of a project, as they stand: what it may set is decided elsewhere. Raises UserError."""
    mend = "mend or remove the file, or work in another folder"
    try:
        text = read_small(path, _MOST_PROJECT, follow=False)
    except (OSError, ValueError) as error:
        why = "is a symbolic link, which is not followed" if path.is_symlink() else f"cannot be read: {_why(error)}"
        raise UserError(f"{path}: {why}", mend) from error
    return checked(text, path, mend)


def checked(text: str, path: Path, mend: str) -> dict[str, Value]:
    """The settings in a text. path: what errors call it. mend: the hint of most of them. Raises UserError."""
    try:
        raw = tomllib.loads(text)
    except RecursionError as error:
        raise UserError(f"{path}: is nested too deeply", mend) from error
    except ValueError as error:
        raise UserError(_syntax(path, text, str(error)), mend) from error
    found: dict[str, Value] = {}
    for place, value in _leaves(raw):
        try:
            name = _name(place)
            found[name] = _value(place, value)
        except (BadValueError, UsageError) as error:
            at = f"{path}:{line}" if (line := lines(text).get(place)) else f"{path}"
            named = f"{'.'.join(place)}: " if isinstance(error, BadValueError) else ""
            raise UserError(f"{at}: {named}{error}", getattr(error, "hint", "") or mend) from error
    return found


def lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key and table of a valid TOML text begins; the first of them for a table that is opened twice.

    A statement of TOML ends with its line, so the shortest run of lines that parses by itself is one.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    statement, first = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        try:
            read = tomllib.loads(statement)
        except ValueError:
            continue
        places = list(_places(read))
        if places and statement.lstrip().startswith("["):
            table = places[-1]
            places = [table[:depth] for depth in range(1, len(table) + 1)]
        else:
            places = [(*table, *place) for place in places]
        for place in places:
            found.setdefault(place, first)
        statement, first = "", number + 1
    return found


def _places(read: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in read.items():
        yield (*above, key)
        inner = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(inner, dict):
            yield from _places(inner, (*above, key))


def _leaves(raw: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each value with the keys that lead to it: two for what stands in a table, one for the others."""
    for head, value in raw.items():
        setting = BY_NAME.get(head)
        if isinstance(value, dict) and (head in GROUPS or (setting and setting.entry)):
            yield from (((head, key), inner) for key, inner in value.items())
        else:
            yield (head,), value


def _name(place: tuple[str, ...]) -> str:
    """The dotted name of a place in a file. Raises UsageError for one that is no setting."""
    head = BY_NAME.get(place[0])
    if head is not None and head.entry and len(place) == 2:
        return dotted(head, check_key(head, place[1]))
    name = ".".join(place)
    if name not in BY_NAME and name not in GROUPS:
        raise unknown(name)
    return name


def _value(place: tuple[str, ...], value: object) -> Value:
    setting = BY_NAME.get(".".join(place)) or BY_NAME.get(place[0])
    if setting is None or (setting.entry and len(place) == 1):
        raise BadValueError(f"got a {type(value).__name__}, want a table, as in [{place[0]}] with its entries below")
    return check(setting, value)


def _syntax(path: Path, text: str, error: str) -> str:
    found = _AT_LINE.search(error)
    line = (found[1] if found else None) or len(text.splitlines())
    return f"{path}:{line}: is no TOML: {error[: found.start()] if found else error}"


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


__all__ = ["checked", "lines", "own", "own_text", "project"]
