"""Means with the intervals that they may as well have been, and differences of two runs over the same cases.

Intervals are percentile bootstraps over cases, 95 %, seeded: the same values give the same interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 2000
_SEED = 20260101
_CELLS = 4_000_000  # of a block of resamples, so that many cases need little memory


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `count` cases and its 95 % interval."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one run to another over the cases of both: the mean difference, its interval, how many went which way."""

    mean: float
    low: float
    high: float
    count: int
    better: int
    worse: int

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


def estimate(values: Sequence[float]) -> Estimate | None:
    """The mean of one value a case; None without any."""
    if not values:
        return None
    low, high = bootstrap(values)
    return Estimate(sum(values) / len(values), low, high, len(values))


def paired(before: Mapping[str, float], after: Mapping[str, float]) -> Difference | None:
    """After minus before, case by case; None when no case is in both."""
    differences = [after[case] - before[case] for case in before if case in after]
    if not differences:
        return None
    low, high = bootstrap(differences)
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Difference(sum(differences) / len(differences), low, high, len(differences), better, worse)


def bootstrap(values: Sequence[float], *, share: float = 0.95, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean of `values` (one or more), resampled with replacement."""
    import numpy as np

    given = np.asarray(values, dtype=np.float64)
    if (given == given[0]).all():
        return float(given[0]), float(given[0])
    source = np.random.default_rng(_SEED)
    block = max(1, _CELLS // len(given))
    means = [
        given[source.integers(0, len(given), (min(block, resamples - done), len(given)))].mean(axis=1)
        for done in range(0, resamples, block)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)


def per_case(values: Sequence[tuple[str, float | None]]) -> dict[str, float]:
    """The mean of the repeats of each case, those without a value left out: repeats of a case are not cases of their own."""
    kept: dict[str, list[float]] = {}
    for case, value in values:
        if value is not None:
            kept.setdefault(case, []).append(value)
    return {case: sum(found) / len(found) for case, found in kept.items()}
