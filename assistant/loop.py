"""The tool loop: send, run the calls of the reply, append one result per call, repeat until a reply holds no call.

In: a backend, a toolbox, a conversation's messages, limits. Out: events, the last of which is Ended with the messages of the
turn, always a valid continuation of the conversation: every call has exactly one result, also after an error, a limit or
Ctrl-C. What a reply is, is decided by what it holds, never by its finish reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from assistant import text_calls
from assistant.backends.base import Backend
from assistant.calling import Caller, Finished, cancelled
from assistant.errors import BadReplyError, ContextLengthError, ProviderError, UserError
from assistant.events import (
    CallFinished,
    CallStarted,
    Ended,
    Event,
    Notice,
    StepFinished,
    StepStarted,
    Stop,
    TextPiece,
)
from assistant.messages import Message, Reply, Request, TextDelta, ToolCall, Usage
from assistant.prompts import FAILED, LAST_REQUEST, STOPPED
from assistant.schemas import token_cost
from assistant.streaming import Interrupted, pieces
from assistant.tools import Toolbox
from assistant.window import Window

_LEAST_SECONDS, _LAST_SECONDS = 10.0, 60.0  # what the last request may take: as long as the limit of seconds, within these bounds
_TRIES = 3  # of one request, each shorter than the one before
WITHOUT_TOKENS = frozenset({"offline", "replay"})  # no model is asked: there are none to be counted
_ESTIMATED = "the model does not say how many tokens it used: for the limit they are estimated, four characters to one"


@dataclass(frozen=True, slots=True)
class Limits:
    """When a turn ends. steps: requests to the model; calls: tool calls in all; tokens: input and output; cost: US dollars;
    seconds: of the whole turn; call_seconds: of one tool call. None is no limit.
    """

    steps: int = 10
    calls: int = 40
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    call_seconds: float = 60.0


class Loop:
    """One turn: made for one question, run once."""

    def __init__(
        self,
        backend: Backend,
        toolbox: Toolbox,
        limits: Limits | None = None,
        *,
        window: Window | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make a turn. window: keeps requests within what the model takes; None sends all, however long it is."""
        self._backend = backend
        self._toolbox = toolbox
        self._limits = limits or Limits()
        self._window = window
        self._clock = clock
        self._caller = Caller(toolbox, call_seconds=self._limits.call_seconds, clock=clock)
        self._new: list[Message] = []
        self._usage = Usage()
        self._calls = 0
        self._steps = 0
        self._ids: set[str] = set()
        self._estimated = False

    def run(self, system: str, history: Sequence[Message], question: str) -> Iterator[Event]:
        """Ask the question after the history. Raises ProviderError when the first request fails, KeyboardInterrupt on Ctrl-C;
        `messages` then still holds a valid turn.
        """
        _refuse_unknown_cost(self._backend, self._limits)
        started = self._clock()
        deadline = None if self._limits.seconds is None else started + self._limits.seconds
        self._ids = {call.id for message in history for call in message.calls}
        self._new = [Message("user", question)]
        before = (Message("system", system), *history)
        try:
            stop = yield from self._steps_until_stop(before, deadline)
        except ProviderError as error:
            if self._steps <= 1:
                raise
            stop = Stop("failed", "; ".join(filter(None, (str(error), error.hint))))
        except BaseException as error:
            if self._new[-1].role != "assistant":
                stopped = isinstance(error, KeyboardInterrupt | GeneratorExit)
                self._new.append(Message("assistant", STOPPED if stopped else FAILED))
            raise
        if stop.reason == "failed":
            yield Notice(stop.detail)
        elif stop.reason != "answered":
            seconds = max(_LEAST_SECONDS, min(_LAST_SECONDS, self._limits.seconds or _LAST_SECONDS))
            within = f", within {seconds:g} seconds" if stop.reason == "seconds" else ""
            yield Notice(f"{stop.detail}; asking for the best answer from what was found{within}")
            yield from self._last_request(before, seconds)
        yield Ended(stop, tuple(self._new), self._usage, self._steps, self._clock() - started)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the turn has added to the conversation so far."""
        return tuple(self._new)

    def _steps_until_stop(self, before: Sequence[Message], deadline: float | None) -> Generator[Event, None, Stop]:
        while True:
            exceeded = self._exceeded(deadline)
            if exceeded:
                return exceeded
            try:
                reply = yield from self._ask(before, deadline)
            except Interrupted:
                return Stop("seconds", f"the limit of {self._limits.seconds:g} seconds was reached")
            message = self._with_calls(reply)
            if not message.calls:
                if not message.text.strip():
                    raise BadReplyError("the model sent an empty reply", provider=self._backend.name.partition(":")[0])
                self._new.append(message)
                return Stop("answered", outcome=reply.outcome)
            yield from self._run_calls(message, deadline)

    def _exceeded(self, deadline: float | None) -> Stop | None:
        limits, usage = self._limits, self._usage
        if self._steps >= limits.steps:
            return Stop("steps", f"the limit of {limits.steps} steps was reached")
        if self._calls >= limits.calls:
            return Stop("calls", f"the limit of {limits.calls} tool calls was reached")
        if limits.tokens is not None and usage.total_tokens >= limits.tokens:
            return Stop("tokens", f"the limit of {limits.tokens} tokens was reached")
        if limits.cost is not None and (usage.cost is None or usage.cost >= limits.cost):
            kept = "was reached" if usage.cost is not None else "cannot be kept, because the cost became unknown"
            return Stop("cost", f"the limit of ${limits.cost:g} {kept}")
        if deadline is not None and self._clock() >= deadline:
            return Stop("seconds", f"the limit of {limits.seconds:g} seconds was reached")
        return None

    def _ask(self, before: Sequence[Message], deadline: float | None) -> Generator[Event, None, Reply]:
        """Ask for the next reply; again, shortened, where the model says that the request was too long for it."""
        for tries in range(1, _TRIES + 1):
            request = yield from self._fitted(before, *self._new)
            try:
                return (yield from self._send(request, deadline))
            except ContextLengthError:
                if self._window is None or tries == _TRIES or not self._window.refused():
                    raise
                self._steps -= 1
        raise AssertionError("the last try returns or raises")

    def _fitted(self, before: Sequence[Message], *new: Message, may_call: bool = True) -> Generator[Event, None, Request]:
        """A request within the window of the model."""
        declared = self._toolbox.declarations()
        if self._window is None:
            return Request((*before, *new), declared, may_call)
        fitted = self._window.fit(before, new, declared if self._backend.capabilities.tools else ())
        if fitted.notice:
            yield Notice(fitted.notice)
        return Request(fitted.messages, declared, may_call)

    def _send(self, request: Request, deadline: float | None) -> Generator[Event, None, Reply]:
        """One request; returns its Reply, whose usage is counted."""
        self._steps += 1
        started = self._clock()
        yield StepStarted(self._steps)
        reply: Reply | None = None
        for piece in pieces(self._backend, request, deadline=deadline, clock=self._clock):
            if isinstance(piece, TextDelta):
                yield TextPiece(piece.text)
            else:
                reply = piece
        if reply is None:
            raise BadReplyError("the reply ended before it was complete", provider=self._backend.name.partition(":")[0])
        if self._window is not None:
            self._window.learn(reply.usage.input_tokens)
        if self._must_estimate(reply):
            reply = replace(reply, usage=_estimated(request, reply))
            if not self._estimated:
                self._estimated = True
                yield Notice(_ESTIMATED)
        self._usage += reply.usage
        for notice in reply.notices:
            yield Notice(notice)
        yield StepFinished(self._steps, reply.message.text, reply.usage, self._clock() - started, reply.model)
        return reply

    def _must_estimate(self, reply: Reply) -> bool:
        """Whether the limit of tokens could not be kept, because a model that must have used some tells none."""
        provider = self._backend.name.partition(":")[0]
        return self._limits.tokens is not None and reply.usage.total_tokens == 0 and provider not in WITHOUT_TOKENS

    def _with_calls(self, reply: Reply) -> Message:
        """The reply's message with the calls that its text holds where it has no native ones; ids are made unique."""
        message = reply.message
        if not message.calls and message.text and self._backend.capabilities.text_calls:
            parsed = text_calls.parse(message.text, list(self._toolbox.tools))
            found = [(call.name, call.arguments) for call in parsed.calls] + [(name, "{}") for name in parsed.unknown]
            calls = tuple(ToolCall(f"text_{self._steps}_{number}", *call) for number, call in enumerate(found, 1))
            origin = replace(message.origin, text_calls=True) if calls and message.origin else message.origin
            message = replace(message, text=parsed.text, calls=calls, origin=origin)
        return replace(message, calls=tuple(self._unique(call) for call in message.calls))

    def _unique(self, call: ToolCall) -> ToolCall:
        identifier, number = call.id or f"call_{self._steps}", 2
        while identifier in self._ids:
            identifier = f"{call.id or f'call_{self._steps}'}_{number}"
            number += 1
        self._ids.add(identifier)
        return replace(call, id=identifier)

    def _run_calls(self, message: Message, deadline: float | None) -> Iterator[Event]:
        """Run the calls of a message; it enters the conversation together with all their results, whatever happens here."""
        results: dict[str, Finished] = {}
        allowed = message.calls[: max(0, self._limits.calls - self._calls)]
        self._calls += len(allowed)
        why = f"not run: the limit of {self._limits.calls} tool calls was reached; answer from what was found"
        try:
            for call in allowed:
                yield CallStarted(call, self._steps)
            for finished in self._caller.run(allowed, deadline=deadline):
                results[finished.call.id] = finished
                yield CallFinished(finished.call, finished.ran, self._steps, repeated=finished.repeated)
        except BaseException:
            why = "stopped by the person"
            raise
        finally:
            for call in message.calls:
                if call.id not in results:
                    results[call.id] = Finished(call, cancelled(call, why))
            answers = tuple(results[call.id].ran.result for call in message.calls)
            self._new += [message, Message("tool", results=answers)]

    def _last_request(self, before: Sequence[Message], seconds: float) -> Iterator[Event]:
        """After a limit: ask once more for the best answer, with no call allowed. Without one the turn has no answer."""
        request = yield from self._fitted(before, *self._new, Message("user", LAST_REQUEST), may_call=False)
        try:
            reply = yield from self._send(request, self._clock() + seconds)
        except (ProviderError, Interrupted) as error:
            yield Notice(f"the last request failed: {error}")
            return
        text = text_calls.parse(reply.message.text, list(self._toolbox.tools)).text
        if text.strip():
            # The provider's own form could hold calls, which were not allowed: only the text is kept.
            self._new.append(Message("assistant", text))


def _estimated(request: Request, reply: Reply) -> Usage:
    """About how many tokens a request and its reply had: a quarter of their characters."""
    read = sum(map(_characters, request.messages)) // 4 + sum(map(token_cost, request.tools))
    return replace(reply.usage, input_tokens=read, output_tokens=_characters(reply.message) // 4 + 1)


def _characters(message: Message) -> int:
    """How much text a message holds, with its calls and results."""
    calls = sum(len(call.name) + len(call.arguments) for call in message.calls)
    return len(message.text) + calls + sum(len(result.content) for result in message.results)


def _refuse_unknown_cost(backend: Backend, limits: Limits) -> None:
    known = backend.capabilities
    if limits.cost is not None and not known.local and known.price is None and not known.reports_cost:
        raise UserError(
            f"the price of {backend.name} is not known, so that a limit of ${limits.cost:g} cannot be kept",
            "limit the tokens instead: --max-tokens 50000",
        )
