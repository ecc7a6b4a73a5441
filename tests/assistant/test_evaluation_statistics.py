"""Means and intervals equal scipy's, or values worked by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from assistant.evaluation.statistics import bootstrap, estimate, paired, per_case


def exact(values: list[float]) -> tuple[float, float]:
    """The interval over every resample that there is: what many random ones come near to."""
    means = [sum(sample) / len(values) for sample in product(values, repeat=len(values))]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize("values", [[0, 1, 1, 0, 1], [0.2, 0.9, 0.4, 0.7], [1, 2, 3, 4, 10, 0]])
def test_the_interval_is_that_of_all_resamples(values: list[float]) -> None:
    spread = max(values) - min(values)
    assert bootstrap(values, resamples=40_000) == pytest.approx(exact(values), abs=0.02 * spread)


def test_the_interval_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(5).beta(2, 1, 200)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=40_000, rng=np.random.default_rng(1))
    ours = bootstrap(list(values), resamples=40_000)
    assert ours == pytest.approx((theirs.confidence_interval.low, theirs.confidence_interval.high), abs=0.001)


def test_the_same_values_give_the_same_interval() -> None:
    values = [0.1, 0.5, 0.9, 0.3]
    assert estimate(values) == estimate(list(values))


def test_equal_values_have_no_spread() -> None:
    found = estimate([0.3, 0.3, 0.3])
    assert found is not None
    assert (found.mean, found.low, found.high, found.count) == (pytest.approx(0.3), 0.3, 0.3, 3)
    assert estimate([]) is None


def test_differences_are_taken_case_by_case() -> None:
    found = paired({"a": 1, "b": 0, "c": 0.5, "only before": 1}, {"a": 0, "b": 1, "c": 1, "only after": 0})
    assert found is not None
    assert found.mean == pytest.approx((-1 + 1 + 0.5) / 3)
    assert (found.count, found.better, found.worse, found.certain) == (3, 2, 1, False)
    assert (found.low, found.high) == (-1, 1)  # each is one resample of 27, more than 2.5 %


def test_a_difference_that_all_cases_share_is_certain_and_of_none_is_none() -> None:
    found = paired({"a": 0.5, "b": 0.25}, {"a": 0.75, "b": 0.5})
    assert found is not None
    assert (found.low, found.high, found.certain) == (0.25, 0.25, True)
    assert paired({"a": 1}, {"b": 1}) is None


def test_repeats_of_a_case_are_one_value() -> None:
    assert per_case([("a", 1), ("a", 0), ("b", 1), ("c", None), ("a", None)]) == {"a": 0.5, "b": 1}
