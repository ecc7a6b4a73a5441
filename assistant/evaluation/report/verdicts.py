"""What became of a result, in a word: right, right but for how it came about, wrong, or not finished."""

from __future__ import annotations

from enum import IntEnum

from assistant.evaluation.report.elements import Markup, element
from assistant.evaluation.report.measures import ANSWERS, CITATIONS, TOOLS
from assistant.evaluation.runs import Result

_OF_THE_ANSWER = tuple(measure.name for measure in ANSWERS)
_OF_THE_WAY = tuple(measure.name for measure in (*TOOLS, *CITATIONS))


class Verdict(IntEnum):
    """The worst first, so that min() over the results of a case is the case's own."""

    UNFINISHED = 0
    WRONG = 1
    PARTLY = 2
    RIGHT = 3

    @property
    def words(self) -> str:
        """The verdict as the report says it, with a sign that does not need colour."""
        return ("✗ not finished", "✗ wrong", "◐ right, with faults", "✓ right")[self]

    @property
    def kind(self) -> str:
        """Its class in the style sheet."""
        return ("wrong", "wrong", "partly", "right")[self]


def verdict(result: Result) -> Verdict:
    """What became of a result; one of which nothing was expected is right when it was finished."""
    if result.failed is not None:
        return Verdict.UNFINISHED
    missed = faults(result)
    if any(name in _OF_THE_ANSWER for name in missed):
        return Verdict.WRONG
    return Verdict.PARTLY if missed else Verdict.RIGHT


def faults(result: Result) -> list[str]:
    """The measures that a result did not reach in full, those of the answer first."""
    scores = ((name, result.scores.get(name)) for name in (*_OF_THE_ANSWER, *_OF_THE_WAY))
    return [name for name, score in scores if score is not None and score < 1]


def badge(found: Verdict) -> Markup:
    """The verdict, coloured as well."""
    return element("strong", found.words, class_=found.kind)


__all__ = ["Verdict", "badge", "faults", "verdict"]
