"""Keys of providers: in the environment or in keys.json, and masked in whatever is written, shown or recorded.

A key in the environment goes before one in the file: an export is the visible act. Keys are never shown.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import UsageError, UserError
from assistant.settings.places import changing, folder, read_small, write_private

KEY_NAMES: Mapping[str, tuple[str, ...]] = {
    # Google's own SDK prefers GOOGLE_API_KEY where both are set.
    "gemini": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
    "other": ("ARCHIVIST_API_KEY",),
}
_LONGEST_PROVIDER = 12  # characters of a misspelt one
_MOST = 100_000  # bytes
_LEAST_SECRET = 8  # characters; shorter values would blot out ordinary text


@dataclass(frozen=True, slots=True)
class Key:
    """A provider's key; its repr does not show it. source: the variable or file that it came from."""

    value: str
    source: str

    def __repr__(self) -> str:
        """Without the value."""
        return f"Key(source={self.source!r})"


def find_key(provider: str) -> Key | None:
    """The key of a provider ("other": of any host that is not a known provider's), None without one."""
    for name in KEY_NAMES[provider]:
        value = os.environ.get(name, "").strip()
        if value:
            return Key(value, name)
    saved = _keys().get(provider)
    return Key(saved, str(folder() / "keys.json")) if saved else None


def check_provider(provider: str) -> None:
    """Raise UsageError for a provider that takes no key."""
    if provider not in KEY_NAMES:
        near = difflib.get_close_matches(provider, KEY_NAMES, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        # A long word in the provider's place may be the key.
        got = repr(provider) if len(provider) <= _LONGEST_PROVIDER else "something long"
        raise UsageError(f"provider: got {got}, want one of {', '.join(KEY_NAMES)}{meant}")


def save_key(provider: str, value: str) -> Path:
    """Keep a provider's key in keys.json. Raises UsageError for an unknown provider, UserError for an empty or unprintable key."""
    check_provider(provider)
    value = value.strip()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise UserError("key: want one word of printable ASCII characters, as the provider shows it")
    path = folder() / "keys.json"
    with changing():
        write_private(path, json.dumps({**_keys(), provider: value}, indent=1))
    return path


def redact(text: str) -> str:
    """Text with every key that is set or saved masked: for whatever is written, shown or recorded."""
    for value in _secrets():
        text = text.replace(value, "[key]").replace(json.dumps(value)[1:-1], "[key]")
    return text


def _secrets() -> list[str]:
    named = [os.environ.get(name, "").strip() for names in KEY_NAMES.values() for name in names]
    return sorted({value for value in (*named, *_keys().values()) if len(value) >= _LEAST_SECRET}, key=len, reverse=True)


def _keys() -> dict[str, str]:
    path = folder() / "keys.json"
    try:
        read = json.loads(read_small(path, _MOST))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        # The error's own text could quote the file.
        why = f"{path}: cannot be read as JSON ({type(error).__name__})"
        raise UserError(why, "remove the file and set the keys again") from None
    if not isinstance(read, dict):
        raise UserError(f"{path}: want an object of provider and key", "remove the file and set the keys again")
    return {name: value for name, value in read.items() if isinstance(value, str)}


__all__ = ["KEY_NAMES", "Key", "check_provider", "find_key", "redact", "save_key"]
