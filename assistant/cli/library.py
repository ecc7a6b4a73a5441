"""`archivist index`, `show`, `status`, `roots` and `forget`: what the library holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assistant import completing, options, settings
from assistant.cli.manual import Page


@click.command(cls=Page)
@click.argument("places", nargs=-1, type=options.Place(), metavar="[DIR|FILE]...")
@options.library_option
@options.embedder_option
@click.option("--include", multiple=True, metavar="GLOB", help="Only files that fit ('*.md'); replaces earlier ones, '' clears.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No files that fit; replaces earlier ones, '' clears.")
@click.option("--max-size", type=click.IntRange(min=1), metavar="MB", help="Skip larger files.  [default: 50]")
@click.option("--prune", is_flag=True, help="Remove what is gone even when that is more than half.")
@click.option("--dry-run", is_flag=True, help="Say what would change, change nothing.")
@click.option("--rebuild", is_flag=True, help="Make the library anew from its folders and swap it in when complete.")
@click.option("--watch", is_flag=True, help="Stay and follow changes until Ctrl-C.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file could not be read.")
@click.option("-v", "--verbose", is_flag=True, help="List every file, not the first 20 of each kind, with all remarks.")
@options.quiet_option
@options.json_option
def index(places: tuple[Path, ...], **given: Any) -> int:
    """Bring the library in step with folders: adds, updates, removes.

    Without a folder every known one is refreshed. What did not change costs nothing. It can be stopped at any moment: each document
    is wholly old or wholly new, and the next run goes on from there. Searches go on meanwhile.

    Exit code: 1 when removals were held back (--prune), or with --strict when a file could not be read; else 0.

    \b
        archivist index ~/notes ~/papers --exclude 'drafts/**'
        archivist index --dry-run
        archivist index --watch -q
        archivist index --rebuild
    """
    from assistant import index_command

    return index_command.run(places, options.library_path(given.pop("library")), **given)


@click.command(cls=Page)
@click.argument("what", metavar="KEY|PATH", shell_complete=completing.of_library("path", "key"))
@options.library_option
@click.option("--lines", metavar="FROM-TO", help="These lines, such as 10-40.")
@click.option("-C", "--context", default=0, metavar="N", type=click.IntRange(0, 1000), help="Lines around a passage.")
@options.json_option
def show(what: str, library: str | None, lines: str | None, context: int, as_json: bool) -> None:
    """Show a passage or a document as it is stored.

    KEY is the key of a citation or a hit, or a unique beginning of it; PATH is relative to its folder, absolute, or
    a unique ending.

    \b
        archivist show k3f7q2m5xa -C 5
        archivist show runbooks/gateway.md --lines 10-40
    """
    from assistant import show_command

    with options.open_library(library) as opened:
        show_command.show(opened, what, lines=lines, context=context, as_json=as_json)


@click.command(cls=Page)
@options.library_option
@options.json_option
def status(library: str | None, as_json: bool) -> None:
    """Show what the library holds, how old it is, and which files gave no text.

    `archivist doctor` says whether it is sound, too.

    \b
        archivist status
        archivist status -l work --json
    """
    from assistant import show_command

    with options.open_library(library) as opened:
        show_command.status(opened, name=settings.library_name(options.library_path(library)), as_json=as_json)


@click.command(cls=Page)
@options.library_option
@options.json_option
def roots(library: str | None, as_json: bool) -> None:
    """List the folders that the library follows, with what is taken of each.

    \b
        archivist roots
        archivist roots --json
    """
    from assistant import show_command

    with options.open_library(library) as opened:
        show_command.roots(opened, as_json=as_json)


@click.command(cls=Page)
@click.argument("what", type=options.Place(), metavar="DIR|PATH")
@options.library_option
@options.json_option
@options.quiet_option
def forget(what: Path, library: str | None, as_json: bool, quiet: bool) -> None:
    """Remove a folder's documents, or one document, from the library; the files stay where they are.

    What was forgotten below a folder that is followed is left out from then on, until it is indexed by its name again.

    \b
        archivist forget ~/old-notes
        archivist forget drafts/idea.md
    """
    from assistant import index_command

    index_command.forget(options.library_path(library), what, as_json=as_json, quiet=quiet)
