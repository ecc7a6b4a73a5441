"""Gates: least values that the figures of a run must reach, and the names of those that fell.

MEASURE=VALUE holds for every model, of the searches' measures for hybrid search; MODEL:MEASURE=VALUE, MODE:MEASURE=VALUE for one.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.errors import UsageError
from assistant.evaluation.figures import Figures
from assistant.evaluation.scoring import QUALITY, SPENT
from search.evaluation import MEASURES as RETRIEVAL
from search.evaluation import MODES, RERANKED

_EXAMPLE = "for example --min tool_choice=.9 --min hybrid:ndcg@10=.7 --min offline:answer=.8"


@dataclass(frozen=True, slots=True)
class Gate:
    """A least value. where: a model or a search mode, "" for every model or hybrid search."""

    where: str
    measure: str
    least: float

    @property
    def of_searches(self) -> bool:
        """Whether it is a measure of the searches."""
        return self.measure in RETRIEVAL


def read_gate(text: str) -> Gate:
    """A gate from a command line. Raises UsageError with the nearest measure."""
    named, _, value = text.rpartition("=")
    where, _, measure = named.rpartition(":")
    if measure not in QUALITY and measure not in RETRIEVAL:
        if measure in SPENT:
            raise UsageError(f"--min: {measure} is better when it is lower", _EXAMPLE)
        near = difflib.get_close_matches(measure, [*QUALITY, *RETRIEVAL], n=1, cutoff=0.5)
        meant = f"; did you mean {near[0]}?" if near else f"; the measures are {', '.join([*QUALITY, *RETRIEVAL])}"
        raise UsageError(f"--min: got {text!r}, want [MODEL:]MEASURE=VALUE{meant}", _EXAMPLE)
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not 0 <= least <= 1:
        raise UsageError(f"--min: got {text!r}, want a value from 0 to 1", _EXAMPLE)
    gate = Gate(where, measure, least)
    if where and gate.of_searches != (where in (*MODES, RERANKED)):
        wanted = f"a search mode ({', '.join(MODES)})" if gate.of_searches else "a model"
        raise UsageError(f"--min: got {text!r}, want {wanted} before {measure}", _EXAMPLE)
    return gate


def check_names(gates: Sequence[Gate], models: Sequence[str]) -> None:
    """Raise UsageError for a gate of a model that is not asked."""
    for gate in gates:
        if gate.where and not gate.of_searches and gate.where not in models:
            raise UsageError(f"--min: no model {gate.where!r} is asked; asked are {', '.join(models) or 'none'}", _EXAMPLE)


def fallen(gates: Sequence[Gate], models: Mapping[str, Figures], searches: Mapping[str, Figures]) -> list[str]:
    """What does not reach its gate, a sentence each; a measure that nothing was measured of has fallen, too."""
    found = []
    for gate in gates:
        figures = searches if gate.of_searches else models
        names = [gate.where] if gate.where else ["hybrid"] if gate.of_searches else list(models)
        if not names:
            found.append(f"{gate.measure} was not measured, want {gate.least:g}")
        for name in names:
            one = figures.get(name, {}).get(gate.measure)
            if one is None:
                found.append(f"{name} {gate.measure} was not measured, want {gate.least:g}")
            elif one.mean < gate.least:
                found.append(f"{name} {gate.measure} is {_under(one.mean, gate.least)}, want {gate.least:g}")
    return found


def _under(value: float, least: float) -> str:
    """A value with as many digits as show that it is below."""
    return next((text for digits in range(3, 17) if float(text := f"{value:.{digits}f}") < least), repr(value))
