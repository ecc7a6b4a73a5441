"""Settings and keys: what a person has saved, what a project may add, and where each value comes from.

Settings lie in config.toml, keys in keys.json beside it; the folder is 0700, both files 0600, written whole and swapped in.
`load` puts the environment, a project's file, the person's file and the defaults together; `with_flags` lays a command line over
them. A project's file, which may come with somebody else's folder, can make things stricter and choose nothing.
"""

from __future__ import annotations

from pathlib import Path

from assistant.settings import reading
from assistant.settings.instructions import own_instructions
from assistant.settings.keys import KEY_NAMES, Key, check_provider, find_key, redact, save_key
from assistant.settings.libraries import library_file, library_name
from assistant.settings.loading import Limits, Origin, Settings, load, own, usual, with_flags
from assistant.settings.places import PROJECT_FILE, config_file, folder, from_home, project_file, write_new, write_private
from assistant.settings.schema import SETTINGS, Setting, Value, dotted, find
from assistant.settings.writing import save, set_value, template, unset


def saved_model() -> str | None:
    """The model saved with `archivist models use`, None without one. Raises UserError for a file that cannot be understood."""
    saved = reading.own(config_file()).get("model")
    return str(saved) if saved else None


def save_model(spec: str) -> Path:
    """Keep a model as the one to use when none is named; other settings and comments in the file stay."""
    return save("model", spec)


__all__ = [
    "KEY_NAMES",
    "PROJECT_FILE",
    "SETTINGS",
    "Key",
    "Limits",
    "Origin",
    "Setting",
    "Settings",
    "Value",
    "check_provider",
    "config_file",
    "dotted",
    "find",
    "find_key",
    "folder",
    "from_home",
    "library_file",
    "library_name",
    "load",
    "own",
    "own_instructions",
    "project_file",
    "redact",
    "save",
    "save_key",
    "save_model",
    "saved_model",
    "set_value",
    "template",
    "unset",
    "usual",
    "with_flags",
    "write_new",
    "write_private",
]
