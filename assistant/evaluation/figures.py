"""The figures of a run: the mean of each measure with its interval, by model and search mode, of all cases or those of a kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assistant.evaluation.runs import Result, Run
from assistant.evaluation.scoring import MEASURES
from assistant.evaluation.statistics import Difference, Estimate, estimate, paired, per_case
from search.evaluation import MEASURES as SEARCHES
from search.evaluation import MILLISECONDS, RERANKED

Figures = Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Reranking:
    """What reading the best hits again gains over hybrid search in a measure, and the milliseconds of a question in both."""

    measure: str
    gain: Difference
    before: float
    after: float


def values(results: Iterable[Result], measure: str) -> dict[str, float]:
    """The value of a measure for each case that has one, the mean of its repeats."""
    return per_case([(result.case, result.scores.get(measure)) for result in results])


def of_model(run: Run, model: str, kind: str | None = None) -> dict[str, Estimate]:
    """The measures of a model that any case has a value of, in their usual order."""
    results = [one for one in run.results if one.model == model and kind in {None, one.kind}]
    found = {measure: estimate(list(values(results, measure).values())) for measure in MEASURES}
    return {measure: one for measure, one in found.items() if one is not None}


def of_models(run: Run) -> dict[str, Figures]:
    """The measures of every model of a run."""
    return {model: of_model(run, model) for model in run.head.models}


def of_retrieval(run: Run, kind: str | None = None) -> dict[str, Figures]:
    """The measures of each search mode."""
    kinds = {case.id: case.kind for case in run.cases}
    found: dict[str, Figures] = {}
    for mode, cases in run.retrieval.items():
        rows = [row for case, row in cases.items() if kind in {None, kinds.get(case, "")}]
        names = list(rows[0]) if rows else []
        estimates = {name: estimate([row[name] for row in rows]) for name in names}
        found[mode] = {name: one for name, one in estimates.items() if one is not None}
    return found


def of_cases(run: Run, who: str, measure: str) -> dict[str, float]:
    """One measure of a model or a search mode, case by case."""
    if measure in SEARCHES:
        return {case: row[measure] for case, row in run.retrieval.get(who, {}).items() if measure in row}
    return values([one for one in run.results if one.model == who], measure)


def of_reranking(run: Run, measure: str = "ndcg@10") -> Reranking | None:
    """The gain of reading the best hits again, question by question; None where that was not measured."""
    hybrid, again = (run.retrieval.get(mode, {}) for mode in ("hybrid", RERANKED))
    columns = [{case: row[measure] for case, row in rows.items() if measure in row} for rows in (hybrid, again)]
    gain = paired(*columns)
    if gain is None:
        return None
    before, after = (sum(row[MILLISECONDS] for row in rows.values()) / len(rows) for rows in (hybrid, again))
    return Reranking(measure, gain, before, after)
