"""Numbers that SQL or arithmetic gave, and what an answer may make of them: round them, and say a share in per cent.

In: contents of tool results. Out: what of them is the library's own word (the rows, their number, the value; never the SQL, its
parameters, the names and the limit, which are the model's), and whether a written number is the right rounding of one of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

_FOUND = ("rows", "value", "why", "found")
_FRACTION = re.compile(r"(?<![\w.])-?\d{1,30}\.\d{1,30}(?:[eE][+-]?\d{1,3})?(?![\w.])")
_LIMIT = re.compile(r"\bLIMIT\s+(\d{1,18})\b", re.IGNORECASE)
_CONTEXT = Context(prec=400)
_MAX_PLACES = 30


def own_words(value: Any) -> Any:
    """Of the result of a query or a calculation, as JSON, what was found; any other value as it is."""
    if isinstance(value, Mapping) and ("sql" in value or "expression" in value):
        return [*(value[name] for name in _FOUND if name in value), *_total(value)]
    return value


def _total(result: Mapping[str, Any]) -> list[Any]:
    """How many rows there are, where they were counted and the statement itself does not limit them to so many."""
    total, sql, cut = result.get("total"), str(result.get("sql", "")), str(result.get("cut", ""))
    limits = {int(limit) for limit in _LIMIT.findall(sql)} | {each for each in result.get("parameters", ()) if type(each) is int}
    return [] if total is None or total in limits or sql.endswith("…") or "of more than" in cut else [total]


def is_computed(content: str) -> bool:
    """Whether a tool result is one of a query or a calculation."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return own_words(value) is not value


def numbers(content: str) -> Iterator[int | Decimal | str]:
    """The numbers and texts that a query or a calculation found, each as it is."""
    pending = [own_words(json.loads(content, parse_float=Decimal))]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str | int | Decimal) and not isinstance(value, bool):
            yield value


class Computed:
    """Fractions that were computed, for finding those of an answer that were rounded."""

    def __init__(self) -> None:
        self._values: list[Decimal] = []
        self._rounded: dict[tuple[int, bool], set[Decimal]] = {}

    def add(self, value: Decimal) -> None:
        """Take in a number that has decimal places."""
        if value.is_finite() and abs(value.adjusted()) < 100:
            self._values.append(value)
            self._rounded.clear()

    def add_from(self, text: str) -> None:
        """Take in the fractions of rows that are written as text."""
        for match in _FRACTION.finditer(text):
            self.add(Decimal(match[0]))

    def holds(self, written: Decimal, *, negative: bool, percent: bool) -> bool:
        """Whether a number with so many decimal places is what one of the values is rounded to. negative: it has a minus sign.

        percent: it has a per cent sign, and may be a share of one.
        """
        places = -int(written.as_tuple().exponent)
        if not self._values or not 0 <= places <= _MAX_PLACES:
            return False
        wanted = [-written] if negative else [written, -written]
        ways = (False, True) if percent else (False,)
        return any(value in self._to(places, hundredfold) for hundredfold in ways for value in wanted)

    def _to(self, places: int, hundredfold: bool) -> set[Decimal]:
        """All values to so many places; halves both up and to even."""
        if (places, hundredfold) not in self._rounded:
            step = Decimal(1).scaleb(-places)
            self._rounded[places, hundredfold] = {
                (value * 100 if hundredfold else value).quantize(step, rounding, _CONTEXT)
                for value in self._values
                for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
            }
        return self._rounded[places, hundredfold]


__all__ = ["Computed", "is_computed", "numbers", "own_words"]
