"""The editor as an argument list: no shell ever reads it, nor the name of the file that it opens."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from assistant.errors import UserError
from assistant.settings.loading import Settings

_USUAL = ("nano", "vi")


def editor_command(settings: Settings, path: Path) -> list[str]:
    """What opens a file: the setting editor, VISUAL or EDITOR with its arguments, else one that is there; the file comes last,
    or where the arguments say {path}. Raises UserError without any.
    """
    hint = 'archivist config set editor "code --wait"'
    if settings.editor is None:
        found = next(filter(None, map(shutil.which, _USUAL)), None)
        if found is None:
            raise UserError("no editor is set, and neither nano nor vi is there", hint)
        return [found, str(path)]
    try:
        words = shlex.split(settings.editor)
    except ValueError as error:
        raise UserError(f"editor: {settings.editor!r} cannot be read as a command: {error}", hint) from error
    if not words or shutil.which(words[0]) is None:
        raise UserError(f"editor: {settings.editor!r} is no command that can be run", hint)
    filled = [word.replace("{line}", "1").replace("{path}", str(path)) for word in words]
    return filled if any("{path}" in word for word in words) else [*filled, str(path)]


__all__ = ["editor_command"]
