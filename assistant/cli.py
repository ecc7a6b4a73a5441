"""`archivist`: a thin layer over the packages. Each command imports what it needs when it runs: --help costs what click costs.

Results go to standard output; progress, notes and resolved dates to standard error. Exit codes: 0 done, 1 failed, 2 usage,
130 interrupted.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assistant import options, render
from assistant.errors import ArchivistError, UsageError, UserError
from assistant.evaluate_options import evaluate

if TYPE_CHECKING:
    from assistant.search_command import Form


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
            return f'options come after the command or the question: archivist "how do we rotate keys?" {error.option_name} ...'
        return 'words that begin with "-" go after --: archivist search -- "-staging"'
    if isinstance(error, click.UsageError) and "unexpected extra argument" in error.message:
        return 'several words go in quotes: archivist search "gateway timeout"'
    return ""


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

    \b
        archivist index ~/notes
        archivist search "gateway timeout" --during "last month"
        archivist "how do we rotate the signing keys?"
    """
    if context.invoked_subcommand is None:
        if sys.stdin.isatty() and sys.stdout.isatty():
            context.invoke(ask)
        else:
            click.echo(context.get_help(), err=True)
            context.exit(2)


@archivist.command()
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

    Without a folder every known one is refreshed.

    \b
        archivist index ~/notes ~/papers --exclude 'drafts/**'
        archivist index --dry-run
    """
    from assistant import index_command

    return index_command.run(places, options.library_path(given.pop("library")), **given)


@archivist.command()
@click.argument("query", required=False)
@options.library_option
@options.embedder_option
@click.option("--mode", type=click.Choice(["hybrid", "keyword", "vector"]), help="How to search.  [default: hybrid]")
@click.option("--like", metavar="KEY", help="Find passages similar to the one with this key.")
@click.option("--like-text", metavar="TEXT", help="Find passages similar to this text.")
@click.option("-n", "--limit", default=10, show_default=True, metavar="N", type=int, help="How many results, 1 to 1000.")
@click.option("--documents", "by_document", is_flag=True, help="Each document once, by its best passage.")
@options.filter_options
@click.option("--explain", is_flag=True, help="Show score and rank in each list, and the words matched.")
@click.option("--json", is_flag=True, help="One JSON object on standard output.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, one line a result.")
@click.option("--csv", is_flag=True, help="Comma-separated values with a header.")
@click.option("--paths", is_flag=True, help="Only the absolute paths of the files.")
@options.quiet_option
def search(**given: Any) -> None:
    """Find passages by words and by meaning.

    \b
        archivist search "gateway timeout" --category runbooks --explain
        archivist search '"connection reset" -staging' --mode keyword
        archivist search --like k3f7q2m5xa
    """
    from assistant.search_command import FORMS, Question, run

    names = ("query", "like", "like_text", "mode", "limit", "by_document", "today")
    question = Question(**{name: given[name] for name in names})
    forms: list[Form] = [form for form in FORMS if given[form]]
    if len(forms) > 1:
        raise UsageError(f"give one of --{' and --'.join(forms)}")
    with options.open_library(given["library"], given["embedder"], quiet=given["quiet"]) as library:
        shape = {"explain": given["explain"], "quiet": given["quiet"]}
        run(library, options.filters(given), question, form=forms[0] if forms else "text", **shape)


@archivist.command()
@click.argument("question", required=False)
@click.option("-m", "--model", metavar="PROVIDER:MODEL", help="Such as ollama:qwen3:8b or offline; else the saved one.")
@options.library_option
@options.embedder_option
@options.filter_options
@click.option("--again", is_flag=True, help="Ask the last question again, with the options now given.")
@click.option("--trace", is_flag=True, help="Show each step: tool, arguments, filters, hits, time, tokens, cost.")
@click.option("--show-request", is_flag=True, help="Print the body that would be posted, without the key; send nothing.")
@click.option("--max-steps", type=int, metavar="N", help="Requests to the model.  [default: 10]")
@click.option("--max-calls", type=int, metavar="N", help="Tool calls in all.  [default: 40]")
@click.option("--max-tokens", type=int, metavar="N", help="Input and output tokens of the turn.")
@click.option("--max-cost", type=float, metavar="USD", help="Refused when the model's price is not known.")
@click.option("--max-seconds", type=float, metavar="S", help="Seconds of the turn.")
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server, with -m openrouter:MODEL; key: ARCHIVIST_API_KEY.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Record for replay:FILE.")
@click.option("--no-stream", is_flag=True, help="Wait for whole replies.")
@click.option("--no-history", is_flag=True, help="Do not keep this turn.")
@options.json_option
@options.quiet_option
def ask(question: str | None, **given: Any) -> None:
    """Answer a question from the documents, with citations that were checked.

    \b
        archivist ask "which runbooks about the gateway changed last month?"
        archivist ask -m ollama:qwen3:8b --category runbooks "what do they say about timeouts?"
        archivist ask --again -m offline --trace
    """
    from assistant import ask_command

    asked = ask_command.question_from(question, again=given["again"])
    if asked is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("give a question", 'archivist ask "how do we rotate keys?"')
    if asked is None and given["show_request"]:
        raise UsageError("--show-request: give the question whose request is to be shown")
    limits = ask_command.limits(**{name: given[f"max_{name}"] for name in ("steps", "calls", "tokens", "cost", "seconds")})
    how = ask_command.Options(
        model=given["model"],
        base_url=given["base_url"],
        limits=limits,
        trace=given["trace"],
        as_json=given["as_json"],
        quiet=given["quiet"],
        stream=not given["no_stream"],
        history=not given["no_history"],
        record=given["record"],
        today=given["today"],
    )
    with options.open_library(given["library"], given["embedder"], quiet=given["quiet"]) as library:
        if asked is None:
            ask_command.loop(library, options.filters(given), how)
        elif given["show_request"]:
            ask_command.show_request(library, asked, options.filters(given), how)
        else:
            ask_command.ask(library, asked, options.filters(given), how)


@archivist.command()
@click.argument("what", metavar="KEY|PATH")
@options.library_option
@click.option("--lines", metavar="FROM-TO", help="These lines, such as 10-40.")
@click.option("-C", "--context", default=0, metavar="N", type=click.IntRange(0, 1000), help="Lines around a passage.")
@options.json_option
def show(what: str, library: Path | None, lines: str | None, context: int, as_json: bool) -> None:
    """Show a passage or a document as it is stored.

    \b
        archivist show k3f7q2m5xa -C 5
        archivist show runbooks/gateway.md --lines 10-40
    """
    from assistant import show_command

    with options.open_library(library) as opened:
        show_command.show(opened, what, lines=lines, context=context, as_json=as_json)


@archivist.command()
@click.argument("name", required=False, metavar="[NAME|PATH]")
@options.library_option
@options.filter_options
@options.json_option
@options.quiet_option
def tables(name: str | None, library: Path | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """List the tables of the library or of one file, or describe one by its name or the beginning of it.

    \b
        archivist tables
        archivist tables carrier_codes
        archivist tables finance/budget.xlsx
    """
    from assistant.tables_command import Question, run

    with options.open_library(library) as opened:
        run(opened, options.filters(given), Question(name, given["today"]), as_json=as_json, quiet=quiet)


@archivist.command()
@click.argument("statement", required=False, metavar="SQL|-")
@options.library_option
@click.option("-p", "--parameter", "values", multiple=True, metavar="VALUE", help="For each ? in order; NAME=VALUE for :NAME.")
@click.option("-n", "--limit", metavar="N", type=int, help="How many rows, 0 to 100000.  [default: 200; --jsonl, --csv: all]")
@click.option("--seconds", default=5.0, show_default=True, metavar="S", type=float, help="How long it may take, 0.05 to 600.")
@options.filter_options
@click.option("--records", is_flag=True, help="One row below another, a line for each value.")
@click.option("--json", is_flag=True, help="One JSON object on standard output.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, one line a row.")
@click.option("--csv", is_flag=True, help="Comma-separated values with a header.")
@options.quiet_option
def sql(statement: str | None, **given: Any) -> int:
    """Run one SELECT over the tables, documents, document_tags and passages. It can change nothing.

    The filters hold in it: documents outside them, and their tables, are not there.

    \b
        archivist sql "SELECT category, count(*) FROM documents GROUP BY 1"
        archivist sql "SELECT path FROM documents WHERE date >= ?" -p 2026-01-01 --csv
        archivist sql - < report.sql
    """
    from assistant import sql_command

    forms: list[sql_command.Form] = [form for form in sql_command.FORMS if given[form]]
    if len(forms) > 1:
        raise UsageError(f"give one of --{' and --'.join(forms)}")
    question = sql_command.Question(
        sql_command.statement_from(statement), given["values"], given["limit"], given["seconds"], given["today"]
    )
    with options.open_library(given["library"]) as library:
        form = forms[0] if forms else "text"
        return sql_command.run(library, options.filters(given), question, form=form, quiet=given["quiet"])


@archivist.command()
@options.library_option
@options.json_option
def status(library: Path | None, as_json: bool) -> None:
    """Show what the library holds, how old it is, and which files gave no text."""
    from assistant import show_command

    with options.open_library(library) as opened:
        show_command.status(opened, as_json=as_json)


@archivist.command()
@options.library_option
@options.json_option
def roots(library: Path | None, as_json: bool) -> None:
    """List the folders that the library follows."""
    from assistant import show_command

    with options.open_library(library) as opened:
        show_command.roots(opened, as_json=as_json)


@archivist.command()
@click.argument("what", type=options.Place(), metavar="DIR|PATH")
@options.library_option
@options.json_option
@options.quiet_option
def forget(what: Path, library: Path | None, as_json: bool, quiet: bool) -> None:
    """Remove a folder's documents, or one document, from the library; the files stay where they are."""
    from assistant import index_command

    index_command.forget(options.library_path(library), what, as_json=as_json, quiet=quiet)


archivist.add_command(evaluate)


@archivist.command()
@options.library_option
@options.json_option
def tools(library: Path | None, as_json: bool) -> None:
    """Show the tools that a model is given, and what their declarations cost in tokens."""
    from assistant import model_command

    with options.open_library(library) as opened:
        model_command.tools(opened, as_json=as_json)


@archivist.group(invoke_without_command=True)
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


@archivist.group()
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


if __name__ == "__main__":
    main()
