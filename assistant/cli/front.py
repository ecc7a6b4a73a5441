"""`archivist`: a thin layer over the packages. Each command imports what it needs when it runs: --help costs what click costs.

Results go to standard output; progress, notes and resolved dates to standard error. Exit codes: 0 done, 1 failed, 2 usage,
130 interrupted.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from assistant import completing, render
from assistant.cli.ask import ask
from assistant.cli.chat import chat
from assistant.cli.completion import completion
from assistant.cli.config import config
from assistant.cli.doctor import doctor
from assistant.cli.evaluate import evaluate
from assistant.cli.history import history
from assistant.cli.library import forget, index, roots, show, status
from assistant.cli.manual import Pages
from assistant.cli.models import keys, models, tools
from assistant.cli.search import search
from assistant.cli.tables import sql, tables
from assistant.errors import ArchivistError, UsageError, UserError

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def main(argv: list[str] | None = None) -> None:
    """Run a command line, the process's own when none is given; ends by SystemExit when the exit code is not 0."""
    code = run(sys.argv[1:] if argv is None else argv)
    if code:
        raise SystemExit(code)


def run(argv: Sequence[str]) -> int:  # noqa: PLR0911 - one exit for each kind of failure
    """Run a command line and return its exit code; every error ends here as a message and a hint on standard error."""
    if completing.asked():
        return completing.answer(archivist, completing.asked())
    try:
        code = archivist.main(list(argv), prog_name="archivist", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        hint = _hint(error)
        if hint:
            click.echo(f"  {hint}", err=True)
        return error.exit_code
    except UserError as error:
        click.echo(f"archivist: {render.safe(str(error))}", err=True)
        if error.hint:
            click.echo(f"  {render.safe(error.hint)}", err=True)
        return error.exit_code
    except ArchivistError as error:
        from assistant import answer_view

        for line in answer_view.error_lines(error):
            click.echo(line, err=True)
        return 1
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        return _unread()
    except OSError as error:
        # The output cannot be written (a full disk, a closed stream); what else can fail says so in words of its own.
        _unread()
        where = f": {error.filename}" if error.filename else ""
        click.echo(f"archivist: {render.safe(f'{error.strerror or error}{where}')}", err=True)
        return 1


def _hint(error: click.ClickException) -> str:
    """What to type where click itself only says what is wrong."""
    if isinstance(error, click.NoSuchOption):
        if error.ctx is not None and error.ctx.parent is None:
            asked = f'archivist "how do we rotate keys?" {error.option_name} ..., archivist chat {error.option_name} ...'
            return f"options come after the command or the question: {asked}"
        return 'words that begin with "-" go after --: archivist search -- "-staging"'
    if isinstance(error, click.UsageError) and "unexpected extra argument" in error.message:
        named = error.ctx.info_name if error.ctx is not None else ""
        return f'several words go in quotes: archivist {named} "gateway timeout"' if named in {"search", "ask"} else ""
    return ""


def _unread() -> int:
    """The exit code when whoever read our output has seen enough; Python would complain once more while it flushes at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


class _Front(Pages):
    """The commands, and a question in place of one: `archivist "how do we rotate keys?"`."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command line, which prints --help; click itself would end with 1 when the pipe is closed."""
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            raise click.exceptions.Exit(_unread()) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the same."""
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
            return "ask", self.commands["ask"], args
        near = difflib.get_close_matches(word, self.commands, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"no command {word!r}; {meant}the commands are {', '.join(self.list_commands(ctx))}",
            f'a question needs a space or a "?": archivist "{word}?"',
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order in which a person meets them."""
        return list(self.commands)


@click.group(cls=_Front, context_settings=_CONTEXT, invoke_without_command=True, subcommand_metavar="COMMAND|QUESTION [OPTIONS]")
@click.version_option(package_name="archivist", message="archivist %(version)s")
@click.pass_context
def archivist(context: click.Context) -> None:
    """Ask your own documents in plain language. Alone on a terminal: questions in a row.

    `archivist COMMAND --help` is the page of a command. Results go to standard output; progress, notes and traces to
    standard error.

    Exit code: 0 done, 1 failed, 2 the command line cannot be understood, 130 interrupted.

    \b
        archivist index ~/notes
        archivist search "gateway timeout" --during "last month"
        archivist "how do we rotate the signing keys?"
    """
    if context.invoked_subcommand is None:
        if sys.stdin.isatty() and sys.stdout.isatty():
            with chat.make_context("chat", [], parent=context) as inner:  # as if it had been typed: with the options' defaults
                context.exit(chat.invoke(inner))
        else:
            click.echo(context.get_help(), err=True)
            context.exit(2)


_SECTIONS = {
    "Commands for the library": (index, status, roots, forget, doctor),
    "Commands to ask and search": (ask, chat, history, search, show, tables, sql),
    "Commands to set up and measure": (models, keys, config, tools, completion, evaluate),
}
for _section, _commands in _SECTIONS.items():
    archivist.sections[_section] = tuple(str(command.name) for command in _commands)
    for _command in _commands:
        archivist.add_command(_command)
