"""`archivist ask`: a question, or questions in a row, and how they are answered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from assistant import options
from assistant.errors import UsageError


@click.command()
@click.argument("question", required=False)
@click.option("-m", "--model", metavar="PROVIDER:MODEL", help="Such as ollama:qwen3:8b or offline; else the saved one.")
@options.library_option
@options.embedder_option
@options.filter_options
@click.option("--again", is_flag=True, help="Ask the last question again, with the options now given.")
@click.option("--trace", is_flag=True, help="Show each step: tool, arguments, filters, hits, time, tokens, cost.")
@click.option("--show-request", is_flag=True, help="Print the body that would be posted, without the key; send nothing.")
@click.option("--max-steps", type=int, metavar="N", help="Requests to the model.  [default: 10]")
@click.option("--max-calls", type=int, metavar="N", help="Tool calls in all.  [default: 40]")
@click.option("--max-tokens", type=int, metavar="N", help="Input and output tokens of the turn.")
@click.option("--max-cost", type=float, metavar="USD", help="Refused when the model's price is not known.")
@click.option("--max-seconds", type=float, metavar="S", help="Seconds of the turn.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server, with -m openrouter:MODEL; key: ARCHIVIST_API_KEY.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Record for replay:FILE.")
@click.option("--no-stream", is_flag=True, help="Wait for whole replies.")
@click.option("--no-history", is_flag=True, help="Do not keep this turn.")
@options.json_option
@options.quiet_option
def ask(question: str | None, **given: Any) -> None:
    """Answer a question from the documents, with citations that were checked.

    \b
        archivist ask "which runbooks about the gateway changed last month?"
        archivist ask -m ollama:qwen3:8b --category runbooks "what do they say about timeouts?"
        archivist ask --again -m offline --trace
    """
    from assistant import ask_command

    asked = ask_command.question_from(question, again=given["again"])
    if asked is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("give a question", 'archivist ask "how do we rotate keys?"')
    if asked is None and given["show_request"]:
        raise UsageError("--show-request: give the question whose request is to be shown")
    limits = ask_command.limits(**{name: given[f"max_{name}"] for name in ("steps", "calls", "tokens", "cost", "seconds")})
    how = ask_command.Options(
        model=given["model"],
        base_url=given["base_url"],
        limits=limits,
        trace=given["trace"],
        as_json=given["as_json"],
        quiet=given["quiet"],
        stream=not given["no_stream"],
        history=not given["no_history"],
        record=given["record"],
        today=given["today"],
    )
    with options.open_library(given["library"], given["embedder"], quiet=given["quiet"]) as library:
        if asked is None:
            ask_command.loop(library, options.filters(given), how)
        elif given["show_request"]:
            ask_command.show_request(library, asked, options.filters(given), how)
        else:
            ask_command.ask(library, asked, options.filters(given), how)
