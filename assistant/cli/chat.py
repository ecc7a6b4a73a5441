"""`archivist chat`: questions in a row, with commands."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from assistant import options, render, settings
from assistant.cli.ask import conversation_meant, how_to_ask, model_option, turn_options
from assistant.cli.manual import Page


@click.command(cls=Page)
@model_option
@options.library_option
@options.embedder_option
@options.filter_options
@turn_options
@options.quiet_option
def chat(**given: Any) -> int:
    """Ask questions in a row, with commands beside them (/help).

    Questions that are piped in are answered one after another, a line each.

    \b
        archivist chat --category runbooks
        archivist chat --continue
        archivist chat -m offline < questions.txt
    """
    return run(given)


def run(given: dict[str, Any]) -> int:
    """A session with the options of `chat`, or those of `ask` without a question; returns the exit code."""
    from assistant.repl import app
    from assistant.repl.state import Start

    typing = sys.stdin is not None and sys.stdin.isatty()
    going_on = conversation_meant(given)
    saved = settings.load()
    how = how_to_ask(given, saved)
    if going_on is not None:
        how = replace(how, going_on=going_on.id)
        if how.model is None and not going_on.model.startswith("replay:"):
            how = replace(how, model=going_on.model, base_url=how.base_url or going_on.base_url or None)
    start = Start(
        library=going_on.library if going_on else options.library_path(given["library"]),
        embedder=given["embedder"],
        filters=options.filters(given),
        how=how,
        editor=saved.editor,
        typing=typing,
        rich=typing and render.out().interactive,
    )
    return app.run(start)
