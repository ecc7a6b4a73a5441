"""What changed from one run to another: each measure's difference over the cases of both, and every case that went another way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assistant.evaluation import figures
from assistant.evaluation.runs import Result, Run
from assistant.evaluation.scoring import MEASURES, QUALITY, SPENT
from assistant.evaluation.statistics import Difference, paired
from search.evaluation import MEASURES as RETRIEVAL

_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """A case whose measure changed. who: the model, or the search mode. before, after: the mean of its repeats."""

    who: str
    case: str
    measure: str
    before: float
    after: float
    question: str = ""
    was: str = ""
    now: str = ""

    @property
    def worse(self) -> bool:
        """Whether it fell; of what is spent, whether it rose."""
        return (self.after > self.before) if self.measure in SPENT else (self.after < self.before)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs. differences: by who and measure, over the cases of both. changes: the worst first. alone: cases of one run only.

    pairs: which model of the earlier run each model of the later one is compared with.
    """

    pairs: Mapping[str, str]
    differences: Mapping[str, Mapping[str, Difference]]
    changes: tuple[Change, ...]
    alone: tuple[str, ...]


def compare(before: Run, after: Run) -> Comparison:
    """The later run against the earlier. A model is compared with itself, and where each run has only one, with that."""
    pairs = _pairs(before, after)
    differences: dict[str, Mapping[str, Difference]] = {}
    changes: list[Change] = []
    questions = {case.id: case.question for case in (*before.cases, *after.cases)}
    for now, was in pairs.items():
        earlier = [one for one in before.results if one.model == was]
        later = [one for one in after.results if one.model == now]
        found = {measure: (figures.values(earlier, measure), figures.values(later, measure)) for measure in MEASURES}
        differences[now] = _differences(found)
        told = _told(earlier), _told(later)
        changes += _changes(now, {name: found[name] for name in QUALITY}, questions, told)
    for mode in (mode for mode in after.retrieval if mode in before.retrieval):
        rows = before.retrieval[mode], after.retrieval[mode]
        names = [name for name in RETRIEVAL if any(name in row for row in rows[0].values())]
        found = {name: (_column(rows[0], name), _column(rows[1], name)) for name in names}
        differences[mode] = _differences(found)
        changes += _changes(mode, found, questions, ({}, {}))
    alone = {case.id for case in before.cases} ^ {case.id for case in after.cases}
    order = sorted(changes, key=lambda one: (not one.worse, one.who, -abs(one.after - one.before), one.case, one.measure))
    return Comparison(pairs, differences, tuple(order), tuple(sorted(alone)))


def _pairs(before: Run, after: Run) -> dict[str, str]:
    pairs = {model: model for model in after.head.models if model in before.head.models}
    pairs |= {f"replay:{model}": model for model in before.head.models if f"replay:{model}" in after.head.models}
    if not pairs and len(before.head.models) == len(after.head.models) == 1:
        pairs = {after.head.models[0]: before.head.models[0]}
    return pairs


Columns = tuple[Mapping[str, float], Mapping[str, float]]


def _differences(found: Mapping[str, Columns]) -> dict[str, Difference]:
    each = {measure: paired(*columns) for measure, columns in found.items()}
    return {measure: one for measure, one in each.items() if one is not None}


def _changes(
    who: str, found: Mapping[str, Columns], questions: Mapping[str, str], told: tuple[Mapping[str, str], Mapping[str, str]]
) -> list[Change]:
    changes = []
    for measure, (was, now) in found.items():
        for case in was.keys() & now.keys():
            if abs(was[case] - now[case]) > _SAME:
                texts = questions.get(case, ""), told[0].get(case, ""), told[1].get(case, "")
                changes.append(Change(who, case, measure, was[case], now[case], *texts))
    return changes


def _column(rows: Mapping[str, Mapping[str, float]], name: str) -> dict[str, float]:
    return {case: row[name] for case, row in rows.items() if name in row}


def _told(results: list[Result]) -> dict[str, str]:
    """What was done for each case, in a line: its calls and how it ended."""
    return {
        one.case: " > ".join(str(call["name"]) for call in one.calls if call["ok"] and not call["repeated"])
        + (f" ({one.failed})" if one.failed else f" ({one.outcome})")
        for one in reversed(results)
    }
