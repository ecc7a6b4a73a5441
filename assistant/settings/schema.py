"""The settings there are, as data: name, kind, default, variable, flag, what a project may do with it, and one line of help.

What can be checked without looking elsewhere is checked here, for a file, a command line and a variable alike. Names are dotted; a
setting with `entry` is a table whose keys a person chooses: everything behind its first dot is the key, so `descriptions.~/notes`
and `descriptions./srv/v1.2 drafts` are names as they stand. A key may also be quoted as in TOML: `descriptions."~/notes"`.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from assistant.errors import UsageError
from assistant.settings.keys import redact

Kind = Literal["line", "text", "sentence", "library", "place", "address", "flag", "count", "amount", "texts"]
Project = Literal["never", "may", "only false", "only stricter", "adds"]
Value = str | bool | int | float | tuple[str, ...]

_LONGEST = {"text": 20_000, "sentence": 300}  # characters; the others fill a line of 1000
_MOST_TEXTS = 500
_SHOWN = 60  # characters of a value that is refused
_NAME = re.compile(r"[\w-]{1,40}")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_WANTS: Mapping[Kind, str] = {
    "line": "a text of one line",
    "text": "a text of at most 20,000 characters, or @FILE",
    "sentence": "one line of at most 300 characters",
    "library": "a name of [libraries], or a path that is absolute or begins with ~",
    "place": "a path that is absolute or begins with ~",
    "address": "http(s)://host[:port]/path without a name or key in it",
    "flag": "true or false",
    "count": "a whole number from 1",
    "amount": "a number above 0",
    "texts": 'a list of texts such as ["private/**"]',
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. entry: what its keys are, for a table of a person's own keys. variable, flag: what goes before the file; ""
    for none. project: what the settings of a project may do with it.
    """

    name: str
    kind: Kind
    help: str
    default: Value | None = None
    entry: Literal["", "NAME", "FOLDER"] = ""
    variable: str = ""
    flag: str = ""
    project: Project = "never"

    @property
    def shown(self) -> str:
        """The name as documentation writes it: `libraries.NAME` for a table."""
        return f"{self.name}.{self.entry}" if self.entry else self.name


class BadValueError(ValueError):
    """A value that a setting does not take; the message says what was got and what is wanted."""


SETTINGS: tuple[Setting, ...] = (
    Setting("model", "line", "The model to use when none is named.", variable="ARCHIVIST_MODEL", flag="--model"),
    Setting("base_url", "address", "An OpenAI-compatible server for openrouter:MODEL.", flag="--base-url"),
    Setting("library", "library", "The library to use: a name or a file.", variable="ARCHIVIST_LIBRARY", flag="--library"),
    Setting("libraries", "place", "A library file under a name, for -l NAME.", entry="NAME"),
    Setting("embedder", "line", "The embedding model of libraries.", variable="ARCHIVIST_EMBEDDER", flag="--embedder"),
    Setting("system", "text", "Your own instructions to the model.", flag="--system"),
    Setting("role", "line", "The role to answer in; goes before system.", flag="--role"),
    Setting("roles", "text", "Instructions under a name, for --role NAME.", entry="NAME"),
    Setting("descriptions", "sentence", "What the model is told of a folder.", entry="FOLDER"),
    Setting("local_only", "texts", "Folders and globs that no cloud model is given.", default=(), project="adds"),
    Setting("history", "flag", "Keep conversations.", default=True, flag="--no-history", project="only false"),
    Setting("editor", "line", "The editor, with its arguments; else VISUAL, EDITOR."),
    Setting("trace", "flag", "Show each step of an answer.", default=False, flag="--trace", project="may"),
    Setting("limits.steps", "count", "Requests to the model in a turn.", 10, flag="--max-steps", project="only stricter"),
    Setting("limits.calls", "count", "Tool calls in a turn.", 40, flag="--max-calls", project="only stricter"),
    Setting("limits.tokens", "count", "Tokens of a turn, in and out.", flag="--max-tokens", project="only stricter"),
    Setting("limits.cost", "amount", "US dollars of a turn.", flag="--max-cost", project="only stricter"),
    Setting("limits.seconds", "amount", "Seconds of a turn.", flag="--max-seconds", project="only stricter"),
)
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}
GROUPS = frozenset(setting.name.partition(".")[0] for setting in SETTINGS if "." in setting.name)


def find(name: str) -> tuple[Setting, str]:
    """A setting by its dotted name, and the key within it, "" for one that is no table. Raises UsageError with the nearest."""
    head, dot, key = name.partition(".")
    setting = BY_NAME.get(name) or BY_NAME.get(head)
    if setting is None or (dot and setting.name == head and not setting.entry):
        raise unknown(name)
    if setting.entry and not key:
        raise UsageError(f"{name}: is a table; name one of its entries", f"{setting.shown}: {setting.help}")
    return setting, check_key(setting, _unquoted(key)) if setting.entry else ""


def dotted(setting: Setting, key: str = "") -> str:
    """The name of a setting, or of an entry of a table: what `find` reads."""
    quoted = key[:1] in {'"', "'"}
    return f"{setting.name}.{_as_toml(key) if quoted else key}" if setting.entry else setting.name


def check(setting: Setting, value: object) -> Value:
    """A value as it came from TOML or a command line, in the setting's own type. Raises BadValueError."""
    right: Value | None = None
    if setting.kind == "flag":
        right = value if isinstance(value, bool) else None
    elif setting.kind == "count":
        right = value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None
    elif setting.kind == "amount":
        right = _amount(value)
    elif setting.kind == "texts":
        right = _texts(value)
    elif isinstance(value, str):
        right = _text(setting.kind, value)
    if right is None:
        # An address may carry a key, and one that is pasted in the wrong place is not repeated either.
        got = "something else" if setting.kind == "address" else short(redact(repr(value)))
        raise BadValueError(f"got {got}, want {_WANTS[setting.kind]}")
    return right


def from_words(setting: Setting, words: Sequence[str]) -> Value:
    """A value typed on a command line: one word, or several for a list. Raises BadValueError."""
    if setting.kind == "texts":
        return check(setting, list(words))
    if len(words) != 1:
        raise BadValueError(f"got {len(words)} values, want {_WANTS[setting.kind]}")
    word = words[0]
    typed: object = word
    if setting.kind == "flag":
        lowered = word.strip().lower()
        typed = True if lowered in _TRUE else False if lowered in _FALSE else word
    elif setting.kind in {"count", "amount"}:
        typed = _number(word)
    elif setting.kind == "place" or (setting.kind == "library" and looks_like_a_path(word)):
        typed = word if word.startswith("~") or not word else os.path.abspath(word)  # noqa: PTH100 - links stay as they are typed
    return check(setting, typed)


def check_key(setting: Setting, key: str) -> str:
    """A key of a table of a person's own keys: a name, or a folder. Raises UsageError."""
    if setting.entry == "NAME" and not _NAME.fullmatch(key):
        want = "letters, digits, - and _ (a name with a dot or a / would read as a path)"
        raise UsageError(f"{setting.name}: got the name {short(repr(key))}, want {want}")
    if setting.entry == "FOLDER" and not _is_full_path(key):
        example = f"archivist config set {setting.name}.~/notes ..."
        raise UsageError(f"{setting.name}: got {short(repr(key))}, want a folder's {_WANTS['place'][2:]}", example)
    return key


def unknown(name: str) -> UsageError:
    """The error for a name that is no setting, with the nearest one."""
    head = name.partition(".")[0]
    if re.search(r"(?:^|[_.-])(?:api)?_?keys?$", name.lower()) or head.lower() in {"key", "keys"}:
        return UsageError(f"{short(name)}: keys are not kept among the settings", "archivist keys set PROVIDER")
    last = {setting.name.rpartition(".")[2]: setting.name for setting in SETTINGS}
    names = [*BY_NAME, *GROUPS]
    near = difflib.get_close_matches(name, [*names, *last], n=1, cutoff=0.6) or difflib.get_close_matches(head, names, n=1)
    meant = f"; did you mean {last.get(near[0], near[0])!r}?" if near else ""
    return UsageError(
        f"unknown setting {short(redact(repr(name)))}{meant}", f"known are {', '.join(setting.shown for setting in SETTINGS)}"
    )


def looks_like_a_path(text: str) -> bool:
    """Whether a text is a path and no name: it has a separator, an ending such as .db, or begins with ~."""
    separators = {os.sep, os.altsep} - {None}
    return text.startswith("~") or bool(Path(text).suffix) or any(sign in text for sign in separators if sign)


def expanded(text: str) -> str:
    """A path with its ~ replaced and without `..` and doubled separators; links stay as they are."""
    return os.path.normpath(os.path.expanduser(text))  # noqa: PTH111 - Path's own raises for a user that is not there


def _text(kind: Kind, value: str) -> str | None:
    inner = value.strip()
    if not inner or len(value) > _LONGEST.get(kind, 1000) or "\x00" in value:
        return None
    if kind != "text" and (len(value.splitlines()) > 1 or not all(sign.isprintable() for sign in value)):
        return None
    tests: Mapping[Kind, Callable[[str], bool]] = {"address": _is_address, "place": _is_full_path, "library": _is_library}
    fitting = tests.get(kind)
    return inner if fitting is None or fitting(inner) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or len(value) > _MOST_TEXTS:
        return None
    texts = [_text("line", item) if isinstance(item, str) else None for item in value]
    return None if None in texts else tuple(text for text in texts if text)


def _amount(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if value > 0 and math.isfinite(value) else None


def _number(word: str) -> object:
    for read in (int, float):
        try:
            return read(word)
        except ValueError:
            continue
    return word


def _is_full_path(text: str) -> bool:
    return os.path.isabs(expanded(text)) and "\x00" not in text  # noqa: PTH117 - of a text


def _is_library(text: str) -> bool:
    return _NAME.fullmatch(text) is not None or _is_full_path(text)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc and not parts.query
    except ValueError:
        return False


def _unquoted(key: str) -> str:
    """A key as it was typed: quoted as in TOML, or as it stands."""
    if len(key) > 1 and key[0] in {'"', "'"} and key[-1] == key[0]:
        try:
            read: dict[str, Any] = tomllib.loads(f"{key} = 0")
        except tomllib.TOMLDecodeError:
            return key
        return next(iter(read)) if list(read.values()) == [0] else key
    return key


def _as_toml(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def short(text: str) -> str:
    """What was given, as far as an error repeats it."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


__all__ = [
    "BY_NAME",
    "GROUPS",
    "SETTINGS",
    "BadValueError",
    "Setting",
    "Value",
    "check",
    "check_key",
    "dotted",
    "expanded",
    "find",
    "from_words",
    "looks_like_a_path",
    "short",
    "unknown",
]
