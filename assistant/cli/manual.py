"""Help that reads like a manual page: what a command does, its options by what they are about, examples, exit codes, environment.

The examples are the last part of a docstring, behind its `\\b`: lines that begin with more space than the rest. What variables a
command heeds follows from its options, so that no page forgets one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

WIDTH = 100
_OTHERS = "Options"
_GROUPS: Mapping[str, frozenset[str]] = {
    "Model": frozenset({"model", "models", "base_url", "system", "role", "no_stream"}),
    "Library": frozenset({"library", "embedder", "documents"}),
    "Filters": frozenset(
        {"category", "tag", "source", "format", "author", "language", "title", "after", "before", "during", "date_field", "where"}
        | {"today"}
    ),
    "Limits": frozenset({"max_steps", "max_calls", "max_tokens", "max_cost", "max_seconds", "limit", "seconds", "first"}),
    "Output": frozenset(
        {"json", "as_json", "jsonl", "csv", "paths", "records", "explain", "trace", "quiet", "verbose", "report", "show_request"}
        | {"record", "output"}
    ),
}
_VARIABLES: Mapping[str, tuple[str, str]] = {
    "library": ("ARCHIVIST_LIBRARY", "the library when --library is not given: a name or a file"),
    "embedder": ("ARCHIVIST_EMBEDDER", "the embedding model when --embedder is not given"),
    "model": ("ARCHIVIST_MODEL", "the model when --model is not given"),
    "base_url": ("ARCHIVIST_API_KEY", "the key for a server at --base-url"),
    "today": ("ARCHIVIST_TODAY", "the day that phrases such as 'last month' count from"),
    "history": ("ARCHIVIST_HISTORY", "the file of kept conversations"),
}
_KEYS = ("GOOGLE_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, OLLAMA_API_KEY", "keys of providers; before those that are saved")
_ASKING = frozenset({"model", "models"})
_EXAMPLES = re.compile(r"\n\s*\n?[ \t]*\x08\n(?P<lines>(?:[ \t]+\S.*\n?)+)\s*\Z")
_EXIT_LINE = re.compile(r"(?:\A|\n\n)Exit code: (?P<text>.+?)\s*(?=\n\n|\Z)", re.DOTALL)


class Page(click.Command):
    """A command whose help is a page."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Usage, what it does, options, examples, exit codes, variables."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        _section(formatter, "Examples", examples(self))
        codes = exit_codes(self)
        if codes:
            with formatter.section("Exit code"):
                formatter.write_text(codes)
        _definitions(formatter, "Environment", _variables(self))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """What it does, without what stands in sections of its own."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(described(self))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by what they are about, the command's own first."""
        grouped: dict[str, list[tuple[str, str]]] = {name: [] for name in (_OTHERS, *_GROUPS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                grouped[_group_of(parameter.name)].append(record)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        for name, records in grouped.items():
            _definitions(formatter, name, records)


class Pages(Page, click.Group):
    """A group of commands whose help are pages. sections: headings, each with the names of the commands below it."""

    command_class = Page

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.sections: dict[str, tuple[str, ...]] = {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with the first sentence of its page."""
        told = {name for names in self.sections.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in told)
        for heading, names in (*self.sections.items(), ("Commands", others)):
            commands = [(name, self.get_command(ctx, name)) for name in names]
            _definitions(formatter, heading, [(name, _summary(command)) for name, command in commands if command is not None])


def described(command: click.Command) -> str:
    """What a command does: its help without examples and exit codes."""
    text = _EXAMPLES.sub("", _written(command))
    return _EXIT_LINE.sub("", text).strip()


def examples(command: click.Command) -> list[str]:
    """The command lines that show how a command is used."""
    match = _EXAMPLES.search(_written(command))
    return [line.strip() for line in match["lines"].splitlines()] if match else []


def _summary(command: click.Command) -> str:
    """The first sentence of what a command does, up to its first detail."""
    return re.split(r"(?<=\w)[:;.] |\.?$", " ".join(described(command).partition("\n\n")[0].split()), maxsplit=1)[0]


def exit_codes(command: click.Command) -> str:
    """What a command says of its exit codes, "" where they are the usual ones."""
    match = _EXIT_LINE.search(_EXAMPLES.sub("", _written(command)))
    return " ".join(match["text"].split()) if match else ""


def page(command: click.Command, names: Sequence[str]) -> str:
    """The page of a command, the same on every terminal. names: of the groups that it belongs to, and its own."""
    parent = None
    for name in names[:-1]:
        parent = click.Context(click.Group(name), info_name=name, parent=parent)
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH, "terminal_width": WIDTH}
    return command.get_help(click.Context(command, info_name=names[-1], parent=parent, **settings))  # type: ignore[arg-type]


def _written(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "") + "\n"


def _group_of(name: str | None) -> str:
    return next((group for group, names in _GROUPS.items() if name in names), _OTHERS)


def _variables(command: click.Command) -> list[tuple[str, str]]:
    # Where a library is only a filter, as in `history`, no variable stands in for it.
    names = {parameter.name for parameter in command.params if parameter.name != "library" or parameter.type.name == "library"}
    found = [variable for name, variable in _VARIABLES.items() if name in names]
    return [*found, *([_KEYS] if names & _ASKING else [])]


def _section(formatter: click.HelpFormatter, name: str, lines: Sequence[str]) -> None:
    if lines:
        with formatter.section(name):
            for line in lines:
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _definitions(formatter: click.HelpFormatter, name: str, records: Sequence[tuple[str, str]]) -> None:
    if records:
        with formatter.section(name):
            formatter.write_dl(records)


__all__ = ["WIDTH", "Page", "Pages", "described", "examples", "exit_codes", "page"]
