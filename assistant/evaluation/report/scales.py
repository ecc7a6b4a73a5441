"""Axes: values to places, and round numbers along them. No drawing, no text of the report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_NOTHING = 1e-9  # costs, tokens and times below are none
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight or logarithmic way from values (low to high) to places (start to end, in units of the drawing)."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; one outside stands at the nearer end."""
        inside = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            share = (inside - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, wanted: int = 5, *, apart: float = 32.0) -> list[float]:
        """Round values from low to high: about `wanted` on a straight scale; on the other 1, 2, 5, 10 and so on, fewer where
        two would stand closer than `apart`, in units of the drawing.
        """
        if not self.logarithmic:
            step = _step((self.high - self.low) / wanted)
            first = math.ceil(self.low / step - 1e-9)
            return [round(number * step, 12) for number in range(first, math.floor(self.high / step + 1e-9) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        inside: list[float] = []
        for parts in ((1, 2, 5), (1, 3), (1,)):
            fine = [round(part * 10.0**power, 12) for power in powers for part in parts]
            inside = [value for value in fine if self.low * 0.999 <= value <= self.high * 1.001]
            if all(abs(self(after) - self(before)) >= apart for before, after in pairwise(inside)):
                break
        return inside


def spanning(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale from zero that holds all values; logarithmic when they are positive and span more than a factor of fifty."""
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low > _NOTHING and high / low > 50:
        return Scale(low / 1.3, high * 1.3, start, end, logarithmic=True)
    if high <= _NOTHING:
        return Scale(0.0, 1.0, start, end)
    step = _step(high / 5)
    return Scale(0.0, math.ceil(high / step - 1e-9) * step, start, end)


def _step(rough: float) -> float:
    """The round step next above a rough one."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in _STEPS if step * power >= rough * 0.999)


__all__ = ["Scale", "spanning"]
