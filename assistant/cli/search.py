"""`archivist search`: passages by words and by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from assistant import options
from assistant.cli.manual import Page
from assistant.errors import UsageError

if TYPE_CHECKING:
    from assistant.search_command import Form


@click.command(cls=Page)
@click.argument("query", required=False)
@options.library_option
@options.embedder_option
@click.option("--mode", type=click.Choice(["hybrid", "keyword", "vector"]), help="How to search.  [default: hybrid]")
@click.option("--like", metavar="KEY", help="Find passages similar to the one with this key.")
@click.option("--like-text", metavar="TEXT", help="Find passages similar to this text.")
@click.option("-n", "--limit", default=10, show_default=True, metavar="N", type=int, help="How many results, 1 to 1000.")
@click.option("--documents", "by_document", is_flag=True, help="Each document once, by its best passage.")
@click.option("--rerank", metavar="MODEL", help="Read the best 50 again with this cross-encoder: a name or folder. Slow.")
@options.filter_options
@click.option("--explain", is_flag=True, help="Show score and rank in each list, and the words matched.")
@click.option("--json", is_flag=True, help="One JSON object on standard output.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, one line a result.")
@click.option("--csv", is_flag=True, help="Comma-separated values with a header.")
@click.option("--paths", is_flag=True, help="Only the absolute paths of the files.")
@options.quiet_option
def search(**given: Any) -> None:
    """Find passages by words and by meaning.

    Words in quotation marks must stand together, a word behind "-" must not be there, "*" ends a word that may go on. Filters hold
    before anything is ranked. `archivist show KEY` shows a hit with its surroundings.

    \b
        archivist search "gateway timeout" --category runbooks --explain
        archivist search '"connection reset" -staging' --mode keyword
        archivist search --like k3f7q2m5xa
    """
    from assistant.search_command import FORMS, Question, run

    names = ("query", "like", "like_text", "mode", "limit", "by_document", "today", "rerank")
    question = Question(**{name: given[name] for name in names})
    forms: list[Form] = [form for form in FORMS if given[form]]
    if len(forms) > 1:
        raise UsageError(f"give one of --{' and --'.join(forms)}")
    with options.open_library(given["library"], given["embedder"], quiet=given["quiet"]) as library:
        shape = {"explain": given["explain"], "quiet": given["quiet"]}
        run(library, options.filters(given), question, form=forms[0] if forms else "text", **shape)
