"""A person's own instructions to the model: from an option, a role or the settings; from a file when they begin with @."""

from __future__ import annotations

import difflib
from pathlib import Path

from assistant.cleaning import clean
from assistant.errors import UsageError, UserError
from assistant.settings.loading import Settings
from assistant.settings.places import at_home, folder

_MOST = 20_000  # characters


def own_instructions(settings: Settings, system: str | None = None, role: str | None = None) -> str:
    """The instructions that hold: --system, else --role, else the setting role, else the setting system; "" without any.

    system: a text, or @FILE; an empty one is none, whatever the settings say. A file of the settings lies beside them unless its
    path is a full one. Raises UsageError for a role that is not known, UserError for a file that cannot be used.
    """
    if system is not None:
        return _text(system, Path(), "--system")
    named = role or settings.role
    if named:
        if named not in settings.roles:
            raise _unknown(named, settings, "--role" if role else "role")
        return _text(settings.roles[named], folder(), f"roles.{named}")
    return _text(settings.system, folder(), "system") if settings.system else ""


def _text(given: str, beside: Path, said_by: str) -> str:
    text = _read(beside / at_home(given[1:]), said_by) if given.startswith("@") else given
    text = clean(text).strip()
    if len(text) > _MOST:
        raise UserError(f"{said_by}: got {len(text):,} characters, want at most {_MOST:,}", "each question pays for all of them")
    return text


def _read(path: Path, said_by: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(8 * _MOST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{said_by}: {path} is no UTF-8 text", "save it as UTF-8") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{said_by}: {path} cannot be read: {why}", f"{said_by} takes a text, or @FILE") from error


def _unknown(name: str, settings: Settings, said_by: str) -> UsageError:
    near = difflib.get_close_matches(name, settings.roles, n=1, cutoff=0.5)
    known = f"; the roles are {', '.join(sorted(settings.roles))}" if settings.roles else ""
    meant = f"; did you mean {near[0]!r}?" if near else known
    return UsageError(f"{said_by}: no role is named {name!r}{meant}", f'archivist config set roles.{name} "TEXT" makes one')


__all__ = ["own_instructions"]
