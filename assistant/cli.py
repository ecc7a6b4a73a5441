"""`archivist`: a thin layer over the packages. Each command imports what it needs when it runs: --help costs what click costs.

Results go to standard output; progress, notes and resolved dates to standard error. Exit codes: 0 done, 1 failed, 2 usage,
130 interrupted.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assistant import render
from assistant.errors import ArchivistError, UsageError, UserError

if TYPE_CHECKING:
    from assistant.search_command import Form
    from search import Filters, Library


class _Place(click.Path):
    """A path; an empty one, such as an unset variable leaves behind, is not taken for the current folder."""

    def __init__(self, *, dir_okay: bool = True) -> None:
        # Whether it may be read is found out by reading: click would call it a usage error.
        super().__init__(dir_okay=dir_okay, readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, unless it is empty."""
        if value == "":
            self.fail("got an empty path", param, ctx)
        return super().convert(value, param, ctx)


Command = TypeVar("Command", bound=Callable[..., Any])
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def main(argv: list[str] | None = None) -> None:
    """Run a command line, the process's own when none is given; ends by SystemExit when the exit code is not 0."""
    code = run(sys.argv[1:] if argv is None else argv)
    if code:
        raise SystemExit(code)


def run(argv: Sequence[str]) -> int:  # noqa: PLR0911 - one exit for each kind of failure
    """Run a command line and return its exit code; every error ends here as a message and a hint on standard error."""
    try:
        code = archivist.main(list(argv), prog_name="archivist", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UserError as error:
        click.echo(f"archivist: {render.safe(str(error))}", err=True)
        if error.hint:
            click.echo(f"  {render.safe(error.hint)}", err=True)
        return error.exit_code
    except ArchivistError as error:
        click.echo(f"archivist: {render.safe(str(error))}", err=True)
        return 1
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; what was done so far is kept", err=True)
        return 130
    except BrokenPipeError:
        return _unread()
    except OSError as error:
        # The output cannot be written (a full disk, a closed stream); what else can fail says so in words of its own.
        _unread()
        where = f": {error.filename}" if error.filename else ""
        click.echo(f"archivist: {render.safe(f'{error.strerror or error}{where}')}", err=True)
        return 1


def _unread() -> int:
    """The exit code when whoever read our output has seen enough; Python would complain once more while it flushes at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _Front(click.Group):
    """The commands, and a question in place of one: `archivist "how do we rotate keys?"`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click itself would end with 1 when the pipe is closed."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return _unread()

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """A known command, a question, or an error that names the nearest command."""
        word = args[0]
        if word in self.commands:
            return super().resolve_command(ctx, args)
        if " " in word.strip() or word.endswith("?"):
            return "search", self.commands["search"], args
        near = difflib.get_close_matches(word, self.commands, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"no command {word!r}; {meant}the commands are {', '.join(self.list_commands(ctx))}",
            f'a question needs a space or a "?": archivist "{word}?"',
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order in which a person meets them."""
        return list(self.commands)


def _library_option(command: Command) -> Command:
    return click.option(
        "-l",
        "--library",
        type=_Place(dir_okay=False),
        envvar="ARCHIVIST_LIBRARY",
        help="The library file; else ARCHIVIST_LIBRARY, else the data folder.",
    )(command)


def _json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")(command)


def _quiet_option(command: Command) -> Command:
    return click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")(command)


def _embedder_option(command: Command) -> Command:
    return click.option(
        "--embedder",
        metavar="NAME_OR_FOLDER",
        envvar="ARCHIVIST_EMBEDDER",
        help="The embedding model: a sentence-transformers name or folder.  [default: all-MiniLM-L6-v2]",
    )(command)


def _day(_: click.Context, parameter: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise click.BadParameter(f"got {value!r}, want a day such as 2026-10-15", param=parameter) from error


_FILTER_OPTIONS = (
    click.option("--category", multiple=True, metavar="NAME", help="In this category (several: any of them)."),
    click.option("--tag", multiple=True, metavar="TAG", help="With this tag (several: all of them)."),
    click.option("--source", multiple=True, metavar="GLOB", help="Path fits this glob, such as 'runbooks/*.md'."),
    click.option("--type", "format", multiple=True, metavar="FORMAT", help="Of this format: markdown, pdf, python ..."),
    click.option("--author", multiple=True, metavar="NAME", help="By this author."),
    click.option("--language", multiple=True, metavar="CODE", help="In this language: en, de, ja ..."),
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
    click.option("--today", callback=_day, metavar="DAY", help="The day that phrases count from; else ARCHIVIST_TODAY."),
)


def _filter_options(command: Command) -> Command:
    for option in reversed(_FILTER_OPTIONS):
        command = option(command)
    return command


def _filters(options: dict[str, Any]) -> Filters:
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


def library_path(given: Path | None) -> Path:
    """The library file to use: the one given (by option or ARCHIVIST_LIBRARY), else the one in the data folder."""
    if given is not None:
        return given.expanduser()
    from platformdirs import user_data_path

    return user_data_path("archivist") / "library.db"


def _open(given: Path | None, embedder: str | None = None, *, quiet: bool = False) -> Library:
    from search import Library

    def announce(text: str) -> None:
        if not quiet:
            click.echo(render.safe(text), err=True)

    return Library.open(library_path(given), embedder=embedder, announce=announce)


@click.group(cls=_Front, context_settings=_CONTEXT, no_args_is_help=True, subcommand_metavar="COMMAND|QUESTION [OPTIONS]")
@click.version_option(package_name="archivist", message="archivist %(version)s")
def archivist() -> None:
    r"""Ask your own documents in plain language.

    \b
        archivist index ~/notes
        archivist search "gateway timeout" --during "last month"
        archivist "how do we rotate the signing keys?"
    """


@archivist.command()
@click.argument("places", nargs=-1, type=_Place(), metavar="[DIR|FILE]...")
@_library_option
@_embedder_option
@click.option("--include", multiple=True, metavar="GLOB", help="Only files that fit, such as '*.md'; kept for later runs.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No files that fit; kept for later runs.")
@click.option("--max-size", type=click.IntRange(min=1), metavar="MB", help="Skip larger files.  [default: 50]")
@click.option("--prune", is_flag=True, help="Remove what is gone even when that is more than half.")
@click.option("--dry-run", is_flag=True, help="Say what would change, change nothing.")
@click.option("--rebuild", is_flag=True, help="Make the library anew from its folders and swap it in when complete.")
@click.option("--watch", is_flag=True, help="Stay and follow changes until Ctrl-C.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file could not be read.")
@click.option("-v", "--verbose", is_flag=True, help="List every file, not the first 20 of each kind.")
@_quiet_option
@_json_option
def index(places: tuple[Path, ...], **options: Any) -> int:
    r"""Bring the library in step with folders: adds, updates, removes.

    Without a folder every known one is refreshed.

    \b
        archivist index ~/notes ~/papers --exclude 'drafts/**'
        archivist index --dry-run
    """
    from assistant import index_command

    return index_command.run(places, library_path(options.pop("library")), **options)


@archivist.command()
@click.argument("query", required=False)
@_library_option
@_embedder_option
@click.option("--mode", type=click.Choice(["hybrid", "keyword", "vector"]), help="How to search.  [default: hybrid]")
@click.option("--like", metavar="KEY", help="Find passages similar to the one with this key.")
@click.option("--like-text", metavar="TEXT", help="Find passages similar to this text.")
@click.option("-n", "--limit", default=10, show_default=True, metavar="N", type=int, help="How many results, 1 to 1000.")
@click.option("--documents", "by_document", is_flag=True, help="Each document once, by its best passage.")
@_filter_options
@click.option("--explain", is_flag=True, help="Show score and rank in each list, and the words matched.")
@click.option("--json", is_flag=True, help="One JSON object on standard output.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, one line a result.")
@click.option("--csv", is_flag=True, help="Comma-separated values with a header.")
@click.option("--paths", is_flag=True, help="Only the paths of the files.")
@_quiet_option
def search(**options: Any) -> None:
    r"""Find passages by words and by meaning.

    \b
        archivist search "gateway timeout" --category runbooks --explain
        archivist search '"connection reset" -staging' --mode keyword
        archivist search --like k3f7q2m5xa
    """
    from assistant.search_command import FORMS, Question, run

    names = ("query", "like", "like_text", "mode", "limit", "by_document", "today")
    question = Question(**{name: options[name] for name in names})
    forms: list[Form] = [form for form in FORMS if options[form]]
    if len(forms) > 1:
        raise UsageError(f"give one of --{' and --'.join(forms)}")
    with _open(options["library"], options["embedder"], quiet=options["quiet"]) as library:
        shape = {"explain": options["explain"], "quiet": options["quiet"]}
        run(library, _filters(options), question, form=forms[0] if forms else "text", **shape)


@archivist.command()
@click.argument("what", metavar="KEY|PATH")
@_library_option
@click.option("--lines", metavar="FROM-TO", help="These lines, such as 10-40.")
@click.option("-C", "--context", default=0, metavar="N", type=click.IntRange(0, 1000), help="Lines around a passage.")
@_json_option
def show(what: str, library: Path | None, lines: str | None, context: int, as_json: bool) -> None:
    r"""Show a passage or a document as it is stored.

    \b
        archivist show k3f7q2m5xa -C 5
        archivist show runbooks/gateway.md --lines 10-40
    """
    from assistant import show_command

    with _open(library) as opened:
        show_command.show(opened, what, lines=lines, context=context, as_json=as_json)


@archivist.command()
@_library_option
@_json_option
def status(library: Path | None, as_json: bool) -> None:
    """Show what the library holds, how old it is, and which files gave no text."""
    from assistant import show_command

    with _open(library) as opened:
        show_command.status(opened, as_json=as_json)


@archivist.command()
@_library_option
@_json_option
def roots(library: Path | None, as_json: bool) -> None:
    """List the folders that the library follows."""
    from assistant import show_command

    with _open(library) as opened:
        show_command.roots(opened, as_json=as_json)


@archivist.command()
@click.argument("what", type=_Place(), metavar="DIR|PATH")
@_library_option
@_json_option
@_quiet_option
def forget(what: Path, library: Path | None, as_json: bool, quiet: bool) -> None:
    """Remove a folder's documents, or one document, from the library; the files stay where they are."""
    from assistant import index_command

    index_command.forget(library_path(library), what, as_json=as_json, quiet=quiet)


if __name__ == "__main__":
    main()
