"""The options of `archivist evaluate`: what can be measured, with which models, and what must hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assistant import completing, options
from assistant.cli.manual import Page
from assistant.errors import UsageError

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_ALONE = ("add", "from_library")


@click.command(cls=Page)
@click.argument("file", required=False, type=options.Place(dir_okay=False))
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="PROVIDER:MODEL",
    shell_complete=completing.models,
    help="A model; several stand side by side.",
)
@click.option("--base-url", metavar="URL", help="An OpenAI-compatible server, with -m openrouter:MODEL.")
@options.library_option
@click.option("--documents", type=options.Place(), metavar="DIR", help="Index this folder first, and ask its library.")
@options.embedder_option
@click.option("--repeat", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N", help="Ask each question N times.")
@click.option("-n", "--first", type=click.IntRange(min=1), metavar="N", help="Only the first N cases.")
@click.option("--jobs", multiple=True, metavar="N|MODEL=N", help="Questions at a time.  [default: 1 for local models, else 4]")
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="What the whole run may cost.")
@click.option("--max-steps", type=click.IntRange(min=1), metavar="N", help="Requests for one question.  [default: 10]")
@click.option("--max-seconds", type=click.FloatRange(min=0, min_open=True), metavar="S", help="For one question.  [default: 600]")
@click.option("--run", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Keep the run here, or go on with it.")
@click.option("--replay", metavar="RUN", help="Answer from the recordings of a run, without a key.")
@click.option("--retry-failed", is_flag=True, help="Ask again what ended in an error.")
@click.option("--min", "floors", multiple=True, metavar="[WHO:]MEASURE=VALUE", help="Exit 1 when a mean is lower.")
@click.option("--compare", metavar="RUN", help="Show what changed since an earlier run, case by case.")
@click.option("--report", type=options.Place(dir_okay=False), metavar="FILE", help="Write the run as one HTML page.")
@click.option("--rerank", metavar="MODEL", help="Also read the best hits again with this cross-encoder. Slow.")
@click.option("--retrieval", is_flag=True, help="Measure the searches alone; no model is asked.")
@click.option("--beir", type=_FOLDER, metavar="DIR", help="Measure the searches on a BEIR folder.")
@click.option("--bfcl", type=click.Path(exists=True, path_type=Path), metavar="DIR|FILE", help="Function-calling cases.")
@click.option("--nl2sql", type=_FOLDER, metavar="DIR", help="Questions over SQLite databases with gold rows.")
@click.option("--add", is_flag=True, help="Make a case of the last turn of ask.")
@click.option("--from-library", type=click.IntRange(1, 10_000), metavar="N", help="Propose N cases from your own documents.")
@click.option("-o", "--output", type=options.Place(dir_okay=False), metavar="FILE", help="Where new cases go, else printed.")
@click.option(
    "--cases", type=options.Place(dir_okay=False), hidden=True, help="FILE, for the searches alone unless a model is named."
)
@click.option("--today", callback=options.day, metavar="DAY", help="The day that cases without one are asked on.")
@options.json_option
@options.quiet_option
def evaluate(**given: Any) -> int:
    """Put fixed questions to models, score the answers, compare runs.

    FILE holds cases, one JSON object a line; without it the sample library's own are asked. A run can be stopped, goes on with
    --run, and can be replayed without a key.

    Exit code: 1 when a mean is lower than --min wants, or when questions were left out; else 0.

    \b
        archivist evaluate cases.jsonl -m offline -m ollama:qwen3:8b --min answer=.8
        archivist evaluate cases.jsonl --compare EARLIER_RUN
        archivist evaluate --add -o cases.jsonl
    """  # noqa: D301 - click wants the character of a backspace itself
    from assistant import evaluate_command

    if given["output"] is not None and not any(given[name] for name in _ALONE):
        raise UsageError("--output goes with --add and --from-library", "a run is kept with --run DIR")
    if given["add"]:
        evaluate_command.add(given["output"])
        return 0
    how = _options(given)
    if given["from_library"]:
        evaluate_command.propose(how, given["from_library"], given["output"])
        return 0
    return evaluate_command.evaluate(how)


def _options(given: dict[str, Any]) -> Any:
    from assistant import evaluate_command
    from assistant.evaluation import gates
    from assistant.loop import Limits

    usual = Limits()
    return evaluate_command.Options(
        file=given["file"] or given["cases"],
        models=given["models"],
        base_url=given["base_url"],
        library=options.library_path(given["library"]) if given["library"] else None,
        documents=given["documents"],
        embedder=given["embedder"],
        repeats=given["repeat"],
        first=given["first"],
        jobs=evaluate_command.jobs_from(given["jobs"]),
        max_cost=given["max_cost"],
        limits=Limits(steps=given["max_steps"] or usual.steps, seconds=given["max_seconds"] or 600),
        run=given["run"],
        replay=given["replay"],
        retry=given["retry_failed"],
        gates=tuple(map(gates.read_gate, given["floors"])),
        compare=given["compare"],
        report=given["report"],
        retrieval_only=given["retrieval"] or (given["cases"] is not None and not given["models"] and given["replay"] is None),
        rerank=given["rerank"],
        beir=given["beir"],
        bfcl=given["bfcl"],
        nl2sql=given["nl2sql"],
        today=given["today"],
        as_json=given["as_json"],
        quiet=given["quiet"],
    )
