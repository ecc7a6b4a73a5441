"""`archivist tables` and `archivist sql`: the tables of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assistant import completing, options
from assistant.cli.manual import Page
from assistant.errors import UsageError

if TYPE_CHECKING:
    pass


@click.command(cls=Page)
@click.argument("name", required=False, metavar="[NAME|PATH]", shell_complete=completing.of_library("table"))
@options.library_option
@options.filter_options
@options.json_option
@options.quiet_option
def tables(name: str | None, library: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """List the tables of the library or of one file, or describe one by its name or the beginning of it.

    \b
        archivist tables
        archivist tables carrier_codes
        archivist tables finance/budget.xlsx
    """
    from assistant.tables_command import Question, run

    with options.open_library(library) as opened:
        run(opened, options.filters(given), Question(name, given["today"]), as_json=as_json, quiet=quiet)


@click.command(cls=Page)
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

    The filters hold in it: documents outside them, and their tables, are not there. It runs in a sandbox that reads nothing else
    and ends in time.

    Exit code: 1 when rows are missing from what is shown and no --limit asked for so few; else 0.

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
