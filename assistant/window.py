"""A conversation within a model's window: what is sent of it when all of it is too long.

In: the messages of a request, the declarations, what the model takes. Out: messages that fit, or are as short as they can be, with
a notice of what was shortened. First old tool results are cut to their head, then to one line, then turns to question and answer,
then turns are left out, the oldest first; the question of today is never touched, and every call keeps its one result. It shortens
in big steps and remembers them, so that requests begin alike and providers can cache their beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assistant import prompts
from assistant.headlines import head_of, headline
from assistant.messages import Declaration, Message, split_turns
from assistant.schemas import token_cost

ASSUMED = 32_768  # tokens of a window that nobody states
_MOST_FOR_REPLY = 4096
_LOW_WATER = 0.7  # of the room: what is shortened at all is shortened to this
_FACTORS = (0.75, 2.0)  # between which a tokenizer may differ from the estimate
_PER_MESSAGE = 4
_PER_CALL = 8
_HEAD, _LINE = 1, 2
_BARE, _GONE = 1, 2  # a turn as question and answer alone, or not at all

Place = tuple[int, int]  # a tool message: the number of its turn, its own number in it
Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent. tokens: about how many it has, with declarations. notice: what was shortened anew, or that it does not fit."""

    messages: tuple[Message, ...]
    tokens: int
    fits: bool
    notice: str = ""


class Window:
    """The window of one model, and what of one conversation was shortened for it. length: tokens, None when nobody knows."""

    def __init__(self, length: int | None) -> None:
        self.length = length
        self._assumed = length or ASSUMED
        self._factor = 1.0
        self._raw = 0
        self._results: dict[Place, int] = {}
        self._turns: dict[int, int] = {}
        self._told = ""

    @property
    def room(self) -> int:
        """Tokens that a request may have, so that a reply finds room."""
        return self._assumed - min(_MOST_FOR_REPLY, self._assumed // 4)

    def fit(self, before: Sequence[Message], new: Sequence[Message], tools: Sequence[Declaration] = ()) -> Fitted:
        """Fit a request. before: the system message and the turns that are over; new: the turn under way, its question first."""
        turns = [*split_turns(before), tuple(new)]
        current = len(turns) - 1
        if len(new) == 1:  # what a turn was shortened to that came to nothing
            self._results = {place: level for place, level in self._results.items() if place[0] < current}
        head = [message for message in before if message.role == "system"]
        declared = sum(map(token_cost, tools))
        earlier = self._state()
        # Turn by turn: a step changes one, and a long conversation takes a thousand steps.
        costs = [_tokens(self._sent(number, turn, current)) for number, turn in enumerate(turns)]
        raw = declared + _rounded(_tokens(head) + sum(costs))
        if self._known(raw) > self.room:
            for number, step, enough in self._steps(turns, current):
                step()
                costs[number] = _tokens(self._sent(number, turns[number], current))
                raw = declared + _rounded(_tokens(head) + sum(costs))
                if self._known(raw) <= self.room * enough:
                    break
        messages = (*head, *(message for number, turn in enumerate(turns) for message in self._sent(number, turn, current)))
        self._raw = raw
        tokens = self._known(raw)
        fits = tokens <= self.room
        notice = self._notice(earlier, tokens, fits=fits)
        told, self._told = self._told, notice if not fits else ""
        return Fitted(messages, tokens, fits, notice if fits or notice != told else "")

    def learn(self, input_tokens: int) -> None:
        """Take note of how many tokens the model says that the last request had."""
        if input_tokens > 0 and self._raw > 0:
            self._factor = min(max(input_tokens / self._raw, _FACTORS[0]), _FACTORS[1])

    def refused(self) -> bool:
        """The model has said that the last request was too long: take its window for smaller. Whether that can help."""
        smaller = int(self._known(self._raw) * 0.8)
        if smaller >= self._assumed or smaller < 1024:
            return False
        self._assumed, self.length = smaller, None
        return True

    def tokens(self, messages: Sequence[Message], tools: Sequence[Declaration] = ()) -> int:
        """About how many tokens a request with these turns has, as it is shortened by now."""
        turns = split_turns(messages)
        sent = [message for number, turn in enumerate(turns) for message in self._sent(number, turn, len(turns))]
        head = [message for message in messages if message.role == "system"]
        return self._known(sum(map(token_cost, tools)) + estimate([*head, *sent]))

    def _known(self, raw: int) -> int:
        return int(raw * self._factor)

    def _sent(self, number: int, turn: Sequence[Message], current: int) -> Iterator[Message]:
        """A turn as it is sent."""
        level = self._turns.get(number, 0) if number < current else 0
        if level == _GONE:
            return
        if level == _BARE:
            # The provider's own form of an answer belongs to the calls before it: it goes with them.
            yield Message("user", prompts.question_alone(turn[0].text))
            yield Message("assistant", turn[-1].text)
            return
        for place, message in enumerate(turn):
            cut = self._results.get((number, place), 0)
            shorten = {_HEAD: head_of, _LINE: headline}.get(cut)
            yield replace(message, results=tuple(map(shorten, message.results))) if shorten else message

    def _steps(self, turns: Sequence[Sequence[Message]], current: int) -> Iterator[tuple[int, Step, float]]:
        """What can be done, the least harmful first: the turn, what is done to it, the share of the room at which it is enough."""
        places = [(n, p) for n, turn in enumerate(turns) for p, message in enumerate(turn) if message.results]
        newest = places[-1] if places and places[-1][0] == current else None
        old = [place for place in places if place != newest and not self._turns.get(place[0])]
        for level in (_HEAD, _LINE):
            for place in old:
                if self._results.get(place, 0) < level:
                    yield place[0], lambda place=place, level=level: self._results.__setitem__(place, level), _LOW_WATER  # type: ignore[misc]
        for number in range(current):
            if self._turns.get(number, 0) < _BARE and _is_whole(turns[number]):
                yield number, lambda number=number: self._turns.__setitem__(number, _BARE), _LOW_WATER  # type: ignore[misc]
        if newest and self._results.get(newest, 0) < _HEAD:
            yield newest[0], lambda: self._results.__setitem__(newest, _HEAD), 1.0
        for number in range(current):
            if self._turns.get(number, 0) < _GONE:
                yield number, lambda number=number: self._turns.__setitem__(number, _GONE), 1.0  # type: ignore[misc]
        if newest and self._results.get(newest, 0) < _LINE:
            yield newest[0], lambda: self._results.__setitem__(newest, _LINE), 1.0

    def _state(self) -> tuple[dict[Place, int], dict[int, int]]:
        return dict(self._results), dict(self._turns)

    def _notice(self, earlier: tuple[dict[Place, int], dict[int, int]], tokens: int, *, fits: bool) -> str:
        stated = f"{self._assumed:,} tokens" + ("" if self.length else ", which is assumed")
        if not fits:
            return f"the request has about {tokens:,} tokens: too many for the window of {stated}, and no more can be left out"
        gone = sum(level == _GONE != earlier[1].get(number) for number, level in self._turns.items())
        bare = sum(level == _BARE != earlier[1].get(number) for number, level in self._turns.items())
        cut = sum(
            level != earlier[0].get(place) and place[0] not in self._turns.keys() - earlier[1].keys()
            for place, level in self._results.items()
        )
        parts = [
            f"{cut} earlier tool result{'s are' if cut != 1 else ' is'} sent shortened" if cut else "",
            f"{bare} earlier turn{'s are' if bare != 1 else ' is'} sent as question and answer alone" if bare else "",
            f"{gone} earlier turn{'s are' if gone != 1 else ' is'} not sent any more" if gone else "",
        ]
        said = ", ".join(filter(None, parts))
        return f"to keep within the window ({stated}), {said}" if said else ""


def estimate(messages: Sequence[Message]) -> int:
    """About how many tokens messages have, before anything is known of the model: four letters of Latin script to one, of others
    about as many as characters.
    """
    return _rounded(_tokens(messages))


def _tokens(messages: Iterable[Message]) -> float:
    total = 0.0
    for message in messages:
        total += _PER_MESSAGE + _cost(message.text)
        total += sum(_PER_CALL + _cost(call.name) + _cost(call.arguments) for call in message.calls)
        total += sum(_PER_MESSAGE + _cost(result.content) for result in message.results)
        if message.origin is not None and message.origin.data is not None:
            total += _cost(str(message.origin.data))
    return total


def _rounded(tokens: float) -> int:
    return int(tokens) + 1


def _cost(text: str) -> float:
    if text.isascii():
        return len(text) / 4
    plain = len(text.encode("ascii", "ignore"))
    # By bytes of UTF-8: letters of other alphabets have two, signs of East Asian scripts three.
    return plain / 4 + (len(text.encode("utf-8", "surrogatepass")) - plain) / 3


def _is_whole(turn: Sequence[Message]) -> bool:
    """Whether a turn has more to it than question and answer."""
    return len(turn) > 2 or turn[0].text != prompts.question_alone(turn[0].text)


__all__ = ["ASSUMED", "Fitted", "Window", "estimate"]
