"""`archivist ask`: a question, or questions in a row, and how they are answered."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assistant import completing, options, render, settings
from assistant.cli.manual import Page
from assistant.errors import UsageError

if TYPE_CHECKING:
    from assistant import ask_command, history
    from assistant.attaching import Attached


_TURN_OPTIONS = (
    click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the last conversation about this library."),
    click.option(
        "--resume",
        metavar="ID|NAME",
        shell_complete=completing.conversations,
        help="Go on with this conversation (archivist history lists them).",
    ),
    click.option("--system", metavar="TEXT|@FILE", help="Instructions of your own to the model; '' for none."),
    click.option("--role", type=options.RoleName(), metavar="NAME", help="Instructions that the settings keep under this name."),
    click.option(
        "--trace/--no-trace", default=None, help="Show each step: tool, arguments, filters, hits, time, tokens, cost; or do not."
    ),
    click.option("--max-steps", type=int, metavar="N", help="Requests to the model.  [default: 10]"),
    click.option("--max-calls", type=int, metavar="N", help="Tool calls in all.  [default: 40]"),
    click.option("--max-tokens", type=int, metavar="N", help="Input and output tokens of the turn."),
    click.option("--max-cost", type=float, metavar="USD", help="Refused when the model's price is not known."),
    click.option("--max-seconds", type=float, metavar="S", help="Seconds of the turn."),
    click.option(
        "--base-url", metavar="URL", help="An OpenAI-compatible server, with -m openrouter:MODEL; key: ARCHIVIST_API_KEY."
    ),
    click.option("--no-stream", is_flag=True, help="Wait for whole replies."),
    click.option("--history/--no-history", default=None, help="Keep what is asked, or do not.  [default: keep]"),
)


def model_option(command: options.Command) -> options.Command:
    """-m, --model."""
    return click.option(
        "-m",
        "--model",
        metavar="PROVIDER:MODEL",
        shell_complete=completing.models,
        help="Such as ollama:qwen3:8b or offline; else the saved one.",
    )(command)


def turn_options(command: options.Command) -> options.Command:
    """What holds for each turn, of one question as of many."""
    for option in reversed(_TURN_OPTIONS):
        command = option(command)
    return command


@click.command(cls=Page)
@click.argument("question", required=False)
@model_option
@options.library_option
@options.embedder_option
@options.filter_options
@click.option("--again", is_flag=True, help="Ask the last question again, with the options now given.")
@turn_options
@click.option("--stdin/--no-stdin", default=None, help="Wait for a pipe and attach its text, or do not read it.")
@click.option("--show-request", is_flag=True, help="Print the body that would be posted, without the key; send nothing.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Record for replay:FILE.")
@options.json_option
@options.quiet_option
def ask(question: str | None, **given: Any) -> int:
    """Answer a question from the documents, with citations that were checked.

    The answer and its numbered sources go to standard output, how it came to be to standard error. The filters are a wall: no
    search of the model looks outside of them. Text that comes through a pipe is attached to the question as data; "-" in place of
    the question reads the question itself from there. In a loop that reads its lines from standard input give --no-stdin.

    Exit code: 0 for every answer, also that it is not in the documents; 1 when there is none.

    \b
        archivist ask "which runbooks about the gateway changed last month?"
        archivist ask -m ollama:qwen3:8b --category runbooks "what do they say about timeouts?"
        archivist ask --continue "and those from March?"
        cat error.log | archivist ask "what is this?"
        archivist ask --again -m offline --trace
    """
    from assistant import ask_command

    asked = ask_command.question_from(question, again=given["again"])
    if asked is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("give a question", 'archivist ask "how do we rotate keys?"')
    alone = next((name for name in ("show_request", "record", "as_json") if given[name]), None)
    if asked is None and alone:
        raise UsageError(f"--{alone.removeprefix('as_').replace('_', '-')}: give the question that it is for")
    if asked is None:
        from assistant.cli import chat

        return chat.run(given)
    beside = _beside(question, given)
    going_on = conversation_meant(given)
    how = replace(how_to_ask(given, settings.load()), going_on=going_on.id if going_on else None)
    library_file = going_on.library if going_on else given["library"]
    with options.open_library(library_file, given["embedder"], quiet=given["quiet"]) as library:
        if given["show_request"]:
            ask_command.show_request(library, asked, options.filters(given), how, beside)
        else:
            ask_command.ask(library, asked, options.filters(given), how, beside)
    return 0


def _beside(question: str | None, given: dict[str, Any]) -> Attached | None:
    """The text that standard input brings beside a question; "-" has read it as the question already."""
    if question == "-":
        return None
    from assistant import attaching

    def say(text: str) -> None:
        if not given["quiet"]:
            render.err().write(text)

    return attaching.from_standard_input(say, wanted=given["stdin"])


def conversation_meant(given: dict[str, Any]) -> history.Session | None:
    """The conversation that --continue or --resume mean, None without them."""
    from assistant import ask_command

    library = options.library_path(given["library"]) if given["library"] else None
    return ask_command.conversation_meant(given["resume"], library, go_on=given["go_on"], again=given.get("again", False))


def how_to_ask(given: dict[str, Any], saved: settings.Settings) -> ask_command.Options:
    """The options of the command line over what the settings say; what a project's file may not set is told once."""
    from assistant import ask_command

    flags = {"trace": given["trace"], "history": given["history"]}
    flags |= {f"limits.{name}": given[f"max_{name}"] for name in ("steps", "calls", "tokens", "cost", "seconds")}
    chosen = settings.with_flags(saved, flags)
    for notice in () if given["quiet"] else chosen.notices:
        render.err().write(render.one_line(notice))
    return ask_command.Options(
        model=given["model"],
        base_url=given["base_url"],
        limits=ask_command.limits(chosen),
        trace=chosen.trace,
        as_json=given.get("as_json", False),
        quiet=given["quiet"],
        stream=not given["no_stream"],
        history=chosen.history,
        record=given.get("record"),
        today=given["today"],
        instructions=settings.own_instructions(chosen, given["system"], given["role"]),
        descriptions=chosen.descriptions,
        local_only=chosen.local_only,
    )
