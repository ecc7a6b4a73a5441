"""`archivist completion`: the script that makes a shell complete our command lines."""

from __future__ import annotations

import click

from assistant.cli.manual import Page

_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Page)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that makes bash, zsh or fish complete command lines; its comment says where to put it.

    Commands and options are completed, and models, libraries, categories, tags, formats, authors, tables, paths, keys of passages,
    roles, settings and conversations. Models are those that `archivist models` listed last. Nothing is asked of a network.

    \b
        eval "$(archivist completion bash)"
        archivist completion bash > ~/.local/share/bash-completion/completions/archivist
        archivist completion zsh > "${fpath[1]}/_archivist"
        archivist completion fish > ~/.config/fish/completions/archivist.fish
    """
    from click import shell_completion

    from assistant import completing, shells

    shells.register()
    found = shell_completion.get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "archivist", completing.VARIABLE).source(), nl=False)
