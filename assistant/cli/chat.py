"""`archivist chat`: questions in a row, with commands."""

from __future__ import annotations

import sys
from typing import Any

import click

from assistant import options, render


@click.command()
@click.option("-m", "--model", metavar="PROVIDER:MODEL", help="Such as ollama:qwen3:8b or offline; else the saved one.")
@options.library_option
@options.embedder_option
@options.filter_options
@click.option("--trace", is_flag=True, help="Show each step: tool, arguments, filters, hits, time, tokens, cost.")
@click.option("--max-steps", type=int, metavar="N", help="Requests to the model in a turn.  [default: 10]")
@click.option("--max-calls", type=int, metavar="N", help="Tool calls in a turn.  [default: 40]")
@click.option("--max-tokens", type=int, metavar="N", help="Input and output tokens of a turn.")
@click.option("--max-cost", type=float, metavar="USD", help="Of a turn. Refused when the model's price is not known.")
@click.option("--max-seconds", type=float, metavar="S", help="Seconds of a turn.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server, with -m openrouter:MODEL; key: ARCHIVIST_API_KEY.")
@click.option("--no-stream", is_flag=True, help="Wait for whole replies.")
@click.option("--no-history", is_flag=True, help="Keep nothing of what is typed and answered.")
@options.quiet_option
def chat(**given: Any) -> int:
    """Ask questions in a row, with commands beside them (/help).

    Questions that are piped in are answered one after another, a line each.

    \b
        archivist chat --category runbooks
        archivist chat -m offline < questions.txt
    """
    return run(given)


def run(given: dict[str, Any]) -> int:
    """A session with the options of `chat`, or those of `ask` without a question; returns the exit code."""
    from assistant import ask_command
    from assistant.repl import app
    from assistant.repl.state import Start

    limits = ask_command.limits(**{name: given[f"max_{name}"] for name in ("steps", "calls", "tokens", "cost", "seconds")})
    how = ask_command.Options(
        model=given["model"],
        base_url=given["base_url"],
        limits=limits,
        trace=given["trace"],
        quiet=given["quiet"],
        stream=not given["no_stream"],
        history=not given["no_history"],
        today=given["today"],
    )
    typing = sys.stdin is not None and sys.stdin.isatty()
    start = Start(
        library=options.library_path(given["library"]),
        embedder=given["embedder"],
        filters=options.filters(given),
        how=how,
        typing=typing,
        rich=typing and render.out().interactive,
    )
    return app.run(start)
