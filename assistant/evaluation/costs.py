"""What a run will cost, as well as that can be known before: from its own finished questions, else from the size of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.backends.base import Capabilities
from assistant.errors import UserError
from assistant.evaluation.runs import Result

# Of a question that nothing is known of: requests, tokens that each tool result adds, tokens of a reply.
_STEPS = 3
_RESULT_TOKENS = 1500
_REPLY_TOKENS = 250


@dataclass(frozen=True, slots=True)
class Estimated:
    """What one model's questions cost in US dollars. each: one question, None when the price is not known; 0 where it is local."""

    model: str
    questions: int
    each: float | None
    from_results: bool = False

    @property
    def total(self) -> float | None:
        """Of all its questions."""
        return None if self.each is None else self.each * self.questions


def estimated(model: str, tokens: Sequence[int], known: Capabilities, done: Sequence[Result]) -> Estimated:
    """The cost of the questions that are still to be asked. tokens: of the first request of each. done: results of the run."""
    if known.local:
        return Estimated(model, len(tokens), 0.0)
    costs = [one.cost for one in done if one.model == model and one.cost is not None and one.failed is None]
    if costs:
        return Estimated(model, len(tokens), sum(costs) / len(costs), from_results=True)
    if known.price is None or not tokens:
        return Estimated(model, len(tokens), None if tokens else 0.0)
    first = sum(tokens) / len(tokens)
    read = _STEPS * first + _RESULT_TOKENS * sum(range(_STEPS))
    return Estimated(model, len(tokens), (read * known.price.input + _STEPS * _REPLY_TOKENS * known.price.output) / 1e6)


class Purse:
    """What a run may spend: nothing is begun that the cap has no room for, as far as its cost can be told before."""

    def __init__(self, cap: float | None, spent: float = 0.0) -> None:
        self.cap = cap
        self.spent = spent
        self._reserved: dict[object, float] = {}

    def reserve(self, key: object, cost: float) -> bool:
        """Put the cost of a question aside; False when there is no room for it."""
        if self.cap is not None and self.spent + sum(self._reserved.values()) + cost > self.cap and cost > 0:
            return False
        self._reserved[key] = cost
        return True

    def pay(self, key: object, cost: float | None) -> None:
        """What a question cost in the end; the estimate where that is not known."""
        reserved = self._reserved.pop(key, 0.0)
        self.spent += reserved if cost is None else cost

    @property
    def left(self) -> float | None:
        """What is left beside what is put aside; None without a cap."""
        return None if self.cap is None else max(0.0, self.cap - self.spent - sum(self._reserved.values()))


def refuse_unknown(model: str, known: Capabilities, cap: float | None) -> None:
    """Raise UserError where a cap could not be kept."""
    if cap is not None and not known.local and known.price is None and not known.reports_cost:
        raise UserError(
            f"the price of {model} is not known, so that --max-cost {cap:g} cannot be kept",
            "leave the cap out, or ask fewer cases: -n 10",
        )
