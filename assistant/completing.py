"""What a shell offers while a command line is typed: names of the library, models, conversations.

Everything here is quick or says nothing: a shell waits for it. What cannot be told, for whatever reason, gives no completion; the
command itself will say what is wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assistant import render, settings
from assistant.errors import ArchivistError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from search.names import Kind

VARIABLE = "_ARCHIVIST_COMPLETE"
_OFFERED = 50
_REMEMBERED = 500
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def answer(cli: click.Command, instruction: str) -> int:
    """Answer a shell that completes a line; whatever goes wrong gives no completion and no word. Returns the exit code."""
    from click import shell_completion

    from assistant import shells

    shells.register()
    try:
        return shell_completion.shell_complete(cli, {}, "archivist", VARIABLE, instruction)
    except Exception:  # noqa: BLE001 - a message or a traceback would land in the middle of the line that is being typed
        return 1


def of_library(*kinds: Kind) -> Completer:
    """What completes names of the library, of these kinds, those of the first kind in front."""

    def complete(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
        from search import names

        try:
            library = settings.library_file(context.params.get("library"))
            return _items(name for kind in kinds for name in names.beginning(library, kind, typed, limit=_OFFERED))
        except ArchivistError:
            return []

    return complete


def models(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Models: offline, the saved one, and those that `archivist models` listed last. No server is asked."""
    try:
        saved = settings.own().model
    except ArchivistError:
        saved = None
    names = dict.fromkeys(["offline", *([saved] if saved else []), *_remembered()])
    return _items(name for name in names if name.startswith(typed))


def conversations(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of kept conversations, those that were gone on with last in front."""
    from assistant import history

    if not history.place().exists():
        return []
    try:
        with history.History.open() as kept:
            return _items(one.name for one in kept.sessions(_REMEMBERED) if one.name and one.name.startswith(typed))
    except ArchivistError:
        return []


def providers(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Those that may want a key."""
    return _items(name for name in settings.KEY_NAMES if name.startswith(typed))


def remember_models(specs: Iterable[str]) -> None:
    """Keep the names of the models that were listed, so that they can be completed without asking anybody."""
    try:
        settings.write_private(_place(), json.dumps(list(specs)[:_REMEMBERED]))
    except OSError:
        return  # a cache folder that cannot be written costs the completion of models, nothing else


def _remembered() -> Sequence[str]:
    try:
        read = json.loads(_place().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()  # nothing was listed yet, or the memory is lost
    return [spec for spec in read if isinstance(spec, str)] if isinstance(read, list) else ()


def _place() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("archivist") / "models.json"


def _items(names: Iterable[str]) -> list[CompletionItem]:
    """Names for a shell, without those that hold what no line can: nobody could type them either."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in list(names)[:_OFFERED] if name and render.one_line(name) == name]


def asked() -> str:
    """What a shell wants to know, "" when the program was started by a person."""
    return os.environ.get(VARIABLE, "")


__all__ = ["VARIABLE", "answer", "asked", "conversations", "models", "of_library", "providers", "remember_models"]
