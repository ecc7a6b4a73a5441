"""Options that several commands share, and what they stand for: the library to open, the filters given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assistant import completing, render, settings
from assistant.errors import UserError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from search import Filters, Library

Command = TypeVar("Command", bound=Callable[..., Any])


class Place(click.Path):
    """A path; an empty one, such as an unset variable leaves behind, is not taken for the current folder."""

    def __init__(self, *, dir_okay: bool = True) -> None:
        # Whether it may be read is found out by reading: click would call it a usage error.
        super().__init__(dir_okay=dir_okay, readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, unless it is empty."""
        if value == "":
            self.fail("got an empty path", param, ctx)
        return super().convert(value, param, ctx)


class LibraryName(click.types.StringParamType):
    """A library: a name of the settings, or a file. Which of them is found out when it is opened."""

    name = "library"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, unless it is empty."""
        if value == "":
            self.fail("got an empty name", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The names of the settings, and files."""
        from click.shell_completion import CompletionItem

        return [*completed(own_settings().libraries, incomplete), CompletionItem(incomplete, type="file")]


class RoleName(click.types.StringParamType):
    """A role of the settings."""

    name = "role"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The names of the settings."""
        return completed(own_settings().roles, incomplete)


def completed(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The names that begin so, for a shell."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in sorted(names) if name.startswith(incomplete)]


def own_settings() -> settings.Settings:
    """The person's own settings; none while a shell completes a line and the file is broken: the command itself will say so."""
    try:
        return settings.own()
    except UserError:
        return settings.Settings()


def library_option(command: Command) -> Command:
    """-l, --library."""
    return click.option(
        "-l",
        "--library",
        type=LibraryName(),
        metavar="NAME|FILE",
        help="The library; else ARCHIVIST_LIBRARY, the setting library, or the data folder.",
    )(command)


def json_option(command: Command) -> Command:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")(command)


def quiet_option(command: Command) -> Command:
    """-q, --quiet."""
    return click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")(command)


def embedder_option(command: Command) -> Command:
    """--embedder."""
    return click.option(
        "--embedder",
        metavar="NAME_OR_FOLDER",
        callback=_embedder,
        help="The embedding model; else ARCHIVIST_EMBEDDER, the setting embedder, or all-MiniLM-L6-v2.",
    )(command)


def _embedder(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The embedding model that is named: here, in ARCHIVIST_EMBEDDER or in the settings."""
    return value or settings.own().embedder


def day(_: click.Context, parameter: click.Parameter, value: str | None) -> date | None:
    """A day from a command line."""
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise click.BadParameter(f"got {value!r}, want a day such as 2026-10-15", param=parameter) from error


_of = completing.of_library
_FILTER_OPTIONS = (
    click.option(
        "--category", multiple=True, metavar="NAME", shell_complete=_of("category"), help="In this category (several: any of them)."
    ),
    click.option("--tag", multiple=True, metavar="TAG", shell_complete=_of("tag"), help="With this tag (several: all of them)."),
    click.option("--source", multiple=True, metavar="GLOB", help="Path fits this glob, such as 'runbooks/*.md'."),
    click.option(
        "--type",
        "format",
        multiple=True,
        metavar="FORMAT",
        shell_complete=_of("format"),
        help="Of this format: markdown, pdf, python ...",
    ),
    click.option("--author", multiple=True, metavar="NAME", shell_complete=_of("author"), help="By this author."),
    click.option(
        "--language", multiple=True, metavar="CODE", shell_complete=_of("language"), help="In this language: en, de, ja ..."
    ),
    click.option("--title", metavar="TEXT", help="Title holds this text."),
    click.option("--after", metavar="PHRASE", help="From the phrase's first day on: 2026-03-01, 'last week', March."),
    click.option("--before", metavar="PHRASE", help="Before the phrase's first day."),
    click.option("--during", metavar="PHRASE", help="Within the phrase: 'last month', 'Q2 2025', 'the past 3 weeks'."),
    click.option(
        "--date-field",
        type=click.Choice(["date", "modified", "created"]),
        default="date",
        help="Which date --after, --before and --during test.",
    ),
    click.option("--where", multiple=True, metavar="'KEY>=VALUE'", help="Metadata: =, !=, <, <=, >, >=, in."),
    click.option("--today", callback=day, metavar="DAY", help="The day that phrases count from; else ARCHIVIST_TODAY."),
)


def filter_options(command: Command) -> Command:
    """The filters of a search, and the day that their phrases count from."""
    for option in reversed(_FILTER_OPTIONS):
        command = option(command)
    return command


def filters(options: dict[str, Any]) -> Filters:
    """The filters that the options give. Raises FilterError."""
    from search import Filters
    from search.filters import parse_condition

    return Filters(
        category=options["category"],
        tags=options["tag"],
        source=options["source"],
        format=options["format"],
        author=options["author"],
        language=options["language"],
        title=options["title"],
        after=options["after"],
        before=options["before"],
        during=options["during"],
        date_field=options["date_field"],
        metadata=tuple(parse_condition(text) for text in options["where"]),
    )


def library_path(given: Path | str | None) -> Path:
    """The library file to use: the one given by name or path, else by ARCHIVIST_LIBRARY, the settings, or in the data folder.

    Raises UsageError for a name that is not known.
    """
    return settings.library_file(given)


def open_library(given: Path | str | None, embedder: str | None = None, *, quiet: bool = False) -> Library:
    """Open the library to use; a download of its model is announced unless quiet."""
    from search import Library

    def announce(text: str) -> None:
        if not quiet:
            click.echo(render.safe(text), err=True)

    return Library.open(library_path(given), embedder=embedder, announce=announce)
