"""`archivist tools`, `models` and `keys`: what a model is given, which ones there are, and the keys they need."""

from __future__ import annotations

import sys

import click

from assistant import completing, options
from assistant.cli.manual import Page, Pages
from assistant.errors import UsageError

_LONGEST_KEY = 10_000  # characters that are read: what stands in a pipe may have no end


@click.command(cls=Page)
@options.library_option
@options.json_option
def tools(library: str | None, as_json: bool) -> None:
    """Show the tools that a model is given, and what their declarations cost in tokens.

    \b
        archivist tools
        archivist tools --json
    """
    from assistant import model_command

    with options.open_library(library) as opened:
        model_command.tools(opened, as_json=as_json)


@click.group(cls=Pages, invoke_without_command=True)
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server whose models are listed, too.")
@click.option("--online", is_flag=True, help="Ask the clouds that a key is there for, and servers on other machines.")
@options.json_option
@click.pass_context
def models(context: click.Context, base_url: str | None, online: bool, as_json: bool) -> None:
    """List the models that can be used now: where they run, what they can do, how much they read, what they cost.

    Without --online only this machine is asked: an example stands for the models of each cloud. The one that is used when none
    is named is marked; `models use` saves another one, `models pull` gets one that Ollama does not have yet.

    \b
        archivist models
        archivist models --online --json
        archivist models pull qwen3:8b
        archivist models use ollama:qwen3:8b
    """
    if context.invoked_subcommand is None:
        from assistant import models_command

        models_command.models(base_url=base_url, online=online, as_json=as_json)


@models.command("pull")
@click.argument("name")
@options.quiet_option
def pull_model(name: str, quiet: bool) -> int:
    """Download a model with the Ollama that runs here, or where OLLAMA_HOST says.

    How far it is goes to standard error. What has come is kept when it is stopped with Ctrl-C or fails: the same command goes on.

    Exit code: 0 when the model is there, 1 when Ollama does not run or has no such model, 130 when it was stopped.

    \b
        archivist models pull qwen3:8b
        OLLAMA_HOST=gpu.local archivist models pull qwen3:8b
    """
    from assistant import models_command

    return models_command.pull(name, quiet=quiet)


@models.command("use")
@click.argument("spec", metavar="PROVIDER:MODEL", shell_complete=completing.models)
def use_model(spec: str) -> None:
    """Save the model to use when none is named.

    \b
        archivist models use ollama:qwen3:8b
        archivist models use gemini:gemini-3.8-flash
        archivist models use offline
    """
    from assistant import model_command

    model_command.use(spec)


@click.group(cls=Pages)
def keys() -> None:
    """Keep the keys of providers, in a file that only you can read.

    \b
        archivist keys set openrouter
        archivist keys list
    """


# What else stands on the line may be the key, which click itself would repeat.
@keys.command("set", context_settings={"allow_extra_args": True})
@click.argument("provider", shell_complete=completing.providers)
@click.pass_context
def set_key(context: click.Context, provider: str) -> None:
    """Save a provider's key: asked for without echo, or read from a pipe.

    PROVIDER is gemini, openrouter, ollama, or other, for a server at --base-url. A key in the environment goes before a saved one.
    It is sent to that provider's host and to no other, and shown nowhere.

    \b
        archivist keys set gemini
        pass show openrouter | archivist keys set openrouter
    """
    from assistant import model_command, settings

    settings.check_provider(provider)
    if context.args:
        raise UsageError(
            "a key is not taken from the command line, which shells keep and other programs see",
            f"archivist keys set {provider} asks for it; if it was a real one, think of replacing it",
        )
    value = (
        click.prompt(f"key for {provider}", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline(_LONGEST_KEY)
    )
    model_command.set_key(provider, value)


@keys.command("list")
def list_keys() -> None:
    """Show for which providers there is a key and where it comes from, never the key.

    \b
        archivist keys list
    """
    from assistant import model_command

    model_command.list_keys()
