"""What hybrid search gains by what it was last given: nDCG@10 by document, before and after, on half of the questions.

.venv/bin/python scripts/compare_rankings.py                       # the held-out half, $ARCHIVIST_EVALS
.venv/bin/python scripts/compare_rankings.py --half development    # the half on which everything was chosen
.venv/bin/python scripts/compare_rankings.py --libraries build/beir --set cacm --set cosqa

Before: a keyword list that always counts three times, and nothing looked at again. Intervals: 95 %, from bootstrap samples of
the questions of each set; the mean is over sets. Milliseconds are those of a search with the embedding of its query.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import click
import numpy as np
from numpy.typing import NDArray

from search import Library, hybrid
from search.embedding import Embedder, load_embedder
from search.evaluation import Case, index_corpus, ndcg, read_corpus

SETS = ("cranfield", "cacm", "cosqa", "anthropic_code", "docs_postgres15_index")
HALVES = {"development": 0, "held-out": 1}
SAMPLES = 10_000
Values = NDArray[np.float64]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--evals", envvar="ARCHIVIST_EVALS", required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--set", "sets", multiple=True, default=SETS, show_default=True, help="Folders below retrieval/.")
@click.option("--half", type=click.Choice([*HALVES, "both"]), default="held-out", show_default=True)
@click.option("--libraries", type=click.Path(file_okay=False, path_type=Path), help="Keep the indexed sets here.")
def main(*, evals: Path, sets: tuple[str, ...], half: str, libraries: Path | None) -> None:
    """Compare hybrid search with what it was before."""
    embedder = load_embedder()
    random = np.random.default_rng(0)
    gains: list[Values] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sets:
            place = (libraries or Path(folder)) / f"{name.replace('/', '_')}.db"
            cases = _indexed(evals / "retrieval" / name, place, embedder, half)
            with Library.open(place, embedder=embedder) as library:
                _measured(library, cases[:20])  # fills the caches, so that neither side pays for it
                with former():
                    before, slow = _measured(library, cases)
                after, fast = _measured(library, cases)
            gains.append(after - before)
            click.echo(
                f"{name:24}{len(cases):5} questions  {before.mean():.4f} -> {after.mean():.4f}  "
                f"{_gain(_bootstrapped([gains[-1]], random), (after - before).mean())}  {slow:.1f} -> {fast:.1f} ms"
            )
    click.echo(f"{'mean':57}{_gain(_bootstrapped(gains, random), float(np.mean([gain.mean() for gain in gains])))}")


@contextmanager
def former() -> Iterator[None]:
    """Hybrid search as it was: the keyword list counts three times whatever the query, and nothing is looked at again."""
    with mock.patch.multiple(hybrid, KEYWORD_WEIGHTS=(3.0, 3.0), COVERAGE=0.0, SMOOTHING=0.0):
        yield


def half_of(question: str) -> int:
    """0 or 1, by the id of a question alone."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2


def _indexed(folder: Path, place: Path, embedder: Embedder, half: str) -> list[Case]:
    """The questions of one half of a set, whose library is made when it is not there."""
    corpus = read_corpus(folder)
    if not place.is_file():
        click.echo(f"{folder.name}: indexing …", err=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        index_corpus(corpus, place, embedder)
    return [case for case in corpus.cases if half == "both" or half_of(case.id) == HALVES[half]]


def _measured(library: Library, cases: Sequence[Case]) -> tuple[Values, float]:
    """nDCG@10 of each question and the milliseconds of one search."""
    started = time.perf_counter()
    rankings = [library.rank_documents(case.query) for case in cases]
    seconds = time.perf_counter() - started
    values = [ndcg([path for path, _ in ranking], case.relevant) for ranking, case in zip(rankings, cases, strict=True)]
    return np.array(values), 1000 * seconds / len(cases)


def _bootstrapped(gains: Sequence[Values], random: np.random.Generator) -> tuple[float, float]:
    """95 % interval of the mean over sets of the mean gain: each sample draws the questions of each set anew."""
    means = [gain[random.integers(0, len(gain), (SAMPLES, len(gain)))].mean(axis=1) for gain in gains]
    low, high = np.quantile(np.mean(means, axis=0), [0.025, 0.975])
    return float(low), float(high)


def _gain(interval: tuple[float, float], gain: float) -> str:
    return f"{gain:+.4f} [{interval[0]:+.4f}, {interval[1]:+.4f}]"


if __name__ == "__main__":
    main()
