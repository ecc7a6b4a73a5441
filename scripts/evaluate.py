"""Measure retrieval on fixed queries: the sample library's cases, or any BEIR folder.

.venv/bin/python scripts/evaluate.py                    # data/evals/library.jsonl over data/library
.venv/bin/python scripts/evaluate.py --beir DIR --json  # {"set", "modes": {"keyword": {"ndcg@10", ...}, ...}}
.venv/bin/python scripts/evaluate.py --beir DIR --min hybrid:ndcg@10=.71
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from assistant.errors import UserError
from search import upkeep
from search.counting import counted
from search.embedding import load_embedder
from search.evaluation import MODES, Case, evaluate, index_corpus, mean, read_cases, read_corpus
from search.weights import DEFAULT_MODEL

ROOT = Path(__file__).resolve().parent.parent
_FLOOR = re.compile(r"(keyword|vector|hybrid):([\w@]+)=(0?\.\d+|[01](?:\.0*)?)")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--beir", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A BEIR folder to measure on.")
@click.option("--cases", type=click.Path(exists=True, path_type=Path), default=ROOT / "data" / "evals" / "library.jsonl")
@click.option("--documents", type=click.Path(exists=True, path_type=Path), default=ROOT / "data" / "library")
@click.option("--library", type=click.Path(dir_okay=False, path_type=Path), help="Keep the library here; else it is temporary.")
@click.option("--embedder", default=DEFAULT_MODEL, show_default=True)
@click.option("--min", "floors", multiple=True, metavar="MODE:MEASURE=VALUE", help="Exit 1 when a mean is lower.")
@click.option("--json", "as_json", is_flag=True)
def main(
    *,
    beir: Path | None,
    cases: Path,
    documents: Path,
    library: Path | None,
    embedder: str,
    floors: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure keyword, vector and hybrid search."""
    wanted = [_floor(text) for text in floors]
    model = load_embedder(embedder, announce=lambda text: click.echo(text, err=True))
    started = time.monotonic()
    name = beir.name if beir is not None else cases.stem

    def say(text: str) -> None:
        click.echo(f"{name}: {text} …", err=True)

    say("indexing")
    with tempfile.TemporaryDirectory() as folder:
        file = library or Path(folder) / "library.db"
        if beir is not None:
            corpus = read_corpus(beir)
            index_corpus(corpus, file, model)
            judged = list(corpus.cases)
        else:
            upkeep.index(file, [documents], model)
            judged = [case for case in read_cases(cases) if case.relevant]
        indexed = time.monotonic()
        measured = evaluate(file, judged, model, begins=lambda mode: say(f"{mode} search, {counted(len(judged), 'question')}"))
    modes = {mode: mean(measured[mode]) for mode in MODES}
    result = {
        "set": name,
        "modes": modes,
        "queries": len(judged),
        "seconds": {"indexing": round(indexed - started, 1), "searching": round(time.monotonic() - indexed, 1)},
    }
    if as_json:
        click.echo(json.dumps(result))
    else:
        _table(result, judged, measured)
    fallen = [
        f"{mode} {measure} is {modes[mode][measure]}, want {floor}"
        for mode, measure, floor in wanted
        if modes[mode][measure] < floor
    ]
    for text in fallen:
        click.echo(f"{name}: {text}", err=True)
    if fallen:
        raise SystemExit(1)


def _floor(text: str) -> tuple[Any, str, float]:
    match = _FLOOR.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"got {text!r}, want MODE:MEASURE=VALUE such as hybrid:ndcg@10=.71")
    return match[1], match[2], float(match[3])


def _table(result: dict[str, Any], judged: list[Case], measured: dict[Any, list[dict[str, float]]]) -> None:
    names = list(next(iter(result["modes"].values())))
    click.echo(f"{result['set']}: {result['queries']} queries")
    click.echo(f"{'':22}" + "".join(f"{name:>12}" for name in names))
    for mode, means in result["modes"].items():
        click.echo(f"{mode:22}" + "".join(f"{means[name]:12.3f}" for name in names))
        for kind in sorted({case.kind for case in judged if case.kind}):
            part = mean([row for case, row in zip(judged, measured[mode], strict=True) if case.kind == kind])
            click.echo(f"  {kind:20}" + "".join(f"{part[name]:12.3f}" for name in names))


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        click.echo(f"{error}\n  {error.hint}", err=True)
        sys.exit(error.exit_code)
