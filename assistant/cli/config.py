"""`archivist config`: the settings, and where each of them came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assistant import options, settings
from assistant.cli.manual import Pages

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _SettingName(click.types.StringParamType):
    """A dotted name of a setting."""

    name = "setting"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The settings, and the entries of the person's own tables."""
        plain = [setting.name if not setting.entry else f"{setting.name}." for setting in settings.SETTINGS]
        return options.completed([*plain, *(name for name in options.own_settings().values if name not in plain)], incomplete)


@click.group(cls=Pages, invoke_without_command=True)
@options.json_option
@click.pass_context
def config(context: click.Context, as_json: bool) -> None:
    """List the settings, and where each of them came from; `config set` saves one.

    \b
        archivist config
        archivist config set libraries.work ~/work.db
        archivist config set descriptions.~/notes "My notes on operations since 2019."
    """
    if context.invoked_subcommand is None:
        from assistant import config_command

        config_command.show(as_json=as_json)


@config.command("get")
@click.argument("name", type=_SettingName())
@options.json_option
def get(name: str, as_json: bool) -> int:
    """Print a setting, or the entries of a table.

    Exit code: 1 when there is none.

    \b
        archivist config get model
        archivist config get limits
    """
    from assistant import config_command

    return config_command.get(name, as_json=as_json)


# A value may begin with "-": that it is no fitting one is for the setting to say.
@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("name", type=_SettingName())
@click.argument("values", nargs=-1, required=True, type=click.UNPROCESSED, metavar="VALUE...")
def put(name: str, values: tuple[str, ...]) -> None:
    """Save a setting in your own file; several values make a list.

    \b
        archivist config set limits.cost 0.05
        archivist config set local_only 'private/**' ~/hr
        archivist config set roles.brief "Answer in one sentence."
    """
    from assistant import config_command

    config_command.put(name, values)


@config.command("unset")
@click.argument("name", type=_SettingName())
def unset(name: str) -> None:
    """Take a setting out of your own file.

    \b
        archivist config unset limits.cost
        archivist config unset libraries.work
    """
    from assistant import config_command

    config_command.remove(name)


@config.command("path")
@options.json_option
def path(as_json: bool) -> None:
    """Print where your own file lies.

    \b
        archivist config path
    """
    from assistant import config_command

    config_command.show_path(as_json=as_json)


@config.command("edit")
def edit() -> None:
    """Open your own file in the setting editor, VISUAL or EDITOR, and check it afterwards.

    \b
        archivist config edit
        EDITOR=nano archivist config edit
    """
    from assistant import config_command

    config_command.edit()
