"""`archivist tools`, `models` and `keys`: what a model is given, which ones there are, and the keys they need."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assistant import options


@click.command()
@options.library_option
@options.json_option
def tools(library: Path | None, as_json: bool) -> None:
    """Show the tools that a model is given, and what their declarations cost in tokens."""
    from assistant import model_command

    with options.open_library(library) as opened:
        model_command.tools(opened, as_json=as_json)


@click.group(invoke_without_command=True)
@options.json_option
@click.pass_context
def models(context: click.Context, as_json: bool) -> None:
    """List the models that can be used now; `models use` saves one.

    \b
        archivist models
        archivist models use ollama:qwen3:8b
    """
    if context.invoked_subcommand is None:
        from assistant import model_command

        model_command.models(as_json=as_json)


@models.command("use")
@click.argument("spec", metavar="PROVIDER:MODEL")
def use_model(spec: str) -> None:
    """Save the model to use when none is named."""
    from assistant import model_command

    model_command.use(spec)


@click.group()
def keys() -> None:
    """Keep the keys of providers, in a file that only you can read.

    \b
        archivist keys set openrouter
        archivist keys list
    """


@keys.command("set")
@click.argument("provider")
def set_key(provider: str) -> None:
    """Save a provider's key: asked for without echo, or read from a pipe."""
    from assistant import model_command

    value = click.prompt(f"key for {provider}", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline()
    model_command.set_key(provider, value)


@keys.command("list")
def list_keys() -> None:
    """Show for which providers there is a key and where it comes from, never the key."""
    from assistant import model_command

    model_command.list_keys()
