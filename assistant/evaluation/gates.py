"""Gates: least values that the figures of a run must reach, the names of those that fell, and of their cases.

MEASURE=VALUE holds for every model, of the searches' measures for hybrid search; MODEL:MEASURE=VALUE, MODE:MEASURE=VALUE for one.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.errors import UsageError
from assistant.evaluation import figures
from assistant.evaluation.runs import Run
from assistant.evaluation.scoring import QUALITY, SPENT
from search.evaluation import MEASURES as RETRIEVAL
from search.evaluation import MODES, RERANKED

_ROUNDING = 1e-9  # a mean of values that all reach a gate reaches it
_SHOWN = 20  # cases that are named for one gate
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


def fallen(gates: Sequence[Gate], run: Run) -> list[str]:
    """What does not reach its gate, a sentence each, with the cases that lie below it, the worst first.

    A measure that nothing was measured of has fallen, too.
    """
    models, searches = figures.of_models(run), figures.of_retrieval(run)
    found = []
    for gate in gates:
        measured = searches if gate.of_searches else models
        names = [gate.where] if gate.where else ["hybrid"] if gate.of_searches else list(models)
        if not names:
            found.append(f"{gate.measure} was not measured, want {gate.least:g}")
        for name in names:
            one = measured.get(name, {}).get(gate.measure)
            if one is None:
                found.append(f"{name} {gate.measure} was not measured, want {gate.least:g}")
            elif one.mean < gate.least - _ROUNDING:
                low = _named(figures.of_cases(run, name, gate.measure), gate.least)
                found.append(f"{name} {gate.measure} is {_under(one.mean, gate.least)}, want {gate.least:g}; {low}")
    return found


def _named(values: Mapping[str, float], least: float) -> str:
    """The cases below a least value, the worst first."""
    low = sorted((value, case) for case, value in values.items() if value < least)
    shown = [f"{case} {value:.3f}" if value else case for value, case in low[:_SHOWN]]
    more = [f"and {len(low) - _SHOWN} more"] if len(low) > _SHOWN else []
    return f"below it {'is' if len(low) == 1 else 'are'} {', '.join((*shown, *more))}"


def _under(value: float, least: float) -> str:
    """A value with as many digits as show that it is below."""
    return next((text for digits in range(3, 17) if float(text := f"{value:.{digits}f}") < least), repr(value))
