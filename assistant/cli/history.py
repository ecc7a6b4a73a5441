"""`archivist history`: conversations that were kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from assistant import completing, options
from assistant.cli.manual import Pages
from assistant.errors import UsageError
from assistant.options import Command

_LIMIT = click.IntRange(1, 10_000)


class _Commands(Pages):
    """Commands of which a misspelled one gets the nearest; without one, or with options alone, the list is meant."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, behind `list` when no command is named."""
        # While a shell completes the line, no command is named yet.
        if not ctx.resilient_parsing and (not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)):
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """A known command, or an error that names the nearest."""
        from assistant.wording import nearest

        if args[0] not in self.commands:
            near = nearest(args[0], self.commands)
            meant = f"did you mean {near!r}? " if near else ""
            raise UsageError(
                f"no command 'history {args[0]}'; {meant}the commands are {', '.join(self.commands)}",
                "archivist history show 12 shows a conversation",
            )
        return super().resolve_command(ctx, args)


def _limit(what: str) -> Callable[[Command], Command]:
    return click.option("-n", "--limit", type=_LIMIT, default=20, show_default=True, metavar="N", help=f"So many {what} at most.")


def _library(what: str) -> Callable[[Command], Command]:
    return click.option("-l", "--library", type=options.Place(dir_okay=False), help=f"Only {what} about this library file.")


@click.group(cls=_Commands)
def history() -> None:
    """List, search, show, name, export and delete kept conversations; alone: list.

    `archivist ask --continue` goes on with the last one, `--resume 12` with any. They lie in a file of your own, which
    ARCHIVIST_HISTORY can name.

    \b
        archivist history
        archivist history search "gateway timeout"
        archivist history export 12 -o gateway.md
    """


@history.command("list")
@_library("conversations")
@_limit("conversations")
@options.json_option
def show_list(library: Path | None, limit: int, as_json: bool) -> None:
    """List conversations, those that were gone on with last in front.

    \b
        archivist history list -n 50
        archivist history list --json
    """
    from assistant import history_command

    history_command.show_list(options.library_path(library) if library else None, limit, as_json=as_json)


@history.command()
@click.argument("text")
@_library("conversations")
@_limit("turns")
@options.json_option
def search(text: str, library: Path | None, limit: int, as_json: bool) -> None:
    """Find turns whose question or answer has all these words.

    \b
        archivist history search "gateway timeout"
        archivist history search '"four seconds" gateway'
    """
    from assistant import history_command

    history_command.search(text, options.library_path(library) if library else None, limit, as_json=as_json)


@history.command()
@click.argument("which", metavar="ID|NAME", shell_complete=completing.conversations)
@options.json_option
def show(which: str, as_json: bool) -> None:
    """Show a conversation with its sources.

    \b
        archivist history show 12
        archivist history show gateway --json
    """
    from assistant import history_command

    history_command.show(which, as_json=as_json)


@history.command()
@click.argument("which", metavar="ID|NAME", shell_complete=completing.conversations)
@click.argument("name")
def name(which: str, name: str) -> None:
    """Give a conversation a name.

    \b
        archivist history name 12 gateway
    """
    from assistant import history_command

    history_command.name(which, name)


@history.command()
@click.argument("which", metavar="ID|NAME", shell_complete=completing.conversations)
@click.option(
    "--format", "form", type=click.Choice(["markdown", "jsonl"]), default="markdown", show_default=True, help="Which form."
)
@click.option("-o", "--output", type=options.Place(), metavar="FILE", help="Into this new file, which only you can read.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def export(which: str, form: str, output: Path | None, force: bool) -> None:
    """Export a conversation: Markdown with its sources, or JSON with a turn a line.

    \b
        archivist history export 12 -o gateway.md
        archivist history export gateway --format jsonl | jq .answer
    """
    from assistant import history_command

    history_command.write_export(which, form, output, force=force)


@history.command()
@click.argument("which", nargs=-1, metavar="[ID|NAME]...", shell_complete=completing.conversations)
@click.option("--older-than", metavar="AGE", help="Those that nobody has gone on with for 30d, 4w, 6m or 1y.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(which: tuple[str, ...], older_than: str | None, yes: bool) -> None:
    """Delete conversations for good.

    \b
        archivist history delete 12 gateway
        archivist history delete --older-than 90d --yes
    """
    from assistant import history_command

    history_command.delete(which, older_than, yes=yes)
