"""Running the calls of one reply: concurrently, each once, within a time limit; one result per call, in call order.

Threads are daemons: a tool that hangs is answered for and left behind, and never keeps the process alive.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assistant.errors import ToolCallError
from assistant.messages import ToolCall, ToolResult
from assistant.tools import Ran, Toolbox

AT_ONCE = 8
_TICK = 0.05  # seconds between two looks at the clock: a wait without a limit would not notice Ctrl-C on every platform


@dataclass(frozen=True, slots=True)
class Finished:
    """A call with its result. repeated: answered from the turn's memory."""

    call: ToolCall
    ran: Ran
    repeated: bool = False


class Caller:
    """Runs the calls of a turn and remembers what each gave, so that the same call again is not run again."""

    def __init__(self, toolbox: Toolbox, *, call_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._toolbox = toolbox
        self._call_seconds = call_seconds
        self._clock = clock
        self._memory: dict[tuple[str, str], Ran] = {}
        self._serial: set[str] = set()

    def run(self, calls: Sequence[ToolCall], *, deadline: float | None) -> Iterator[Finished]:
        """Each call with its result, as they finish. deadline: by `clock`; what has not finished by then is answered as cancelled.

        When the iterator is closed early, calls that were not yielded are without a result: `cancelled` makes one.
        """
        done: queue.Queue[tuple[str, Ran]] = queue.Queue()
        groups: dict[tuple[str, str], list[ToolCall]] = {}
        for call in calls:
            groups.setdefault(self._identity(call), []).append(call)
        waiting: list[tuple[tuple[str, str], ToolCall]] = []
        for identity, same in groups.items():
            known = self._memory.get(identity)
            if known is None:
                waiting.append((identity, same[0]))
            else:
                yield from (Finished(call, _answering(known, call), repeated=True) for call in same)
        identities = {call.id: identity for identity, call in waiting}
        starts: dict[str, float] = {}
        queued = list(waiting)
        while queued or starts:
            while (number := self._next(queued, starts)) is not None:
                _, call = queued.pop(number)
                starts[call.id] = self._clock()
                threading.Thread(target=self._work, args=(call, done), daemon=True).start()
            for first, ran in self._collect(done, starts, deadline):
                identity = identities[first]
                if not ran.result.is_error or ran.arguments is None:
                    self._memory[identity] = ran
                same = groups[identity]
                yield from (Finished(call, _answering(ran, call), repeated=number > 0) for number, call in enumerate(same))
            if deadline is not None and self._clock() >= deadline:
                why = "the time limit of the turn was reached"
                yield from (Finished(call, cancelled(call, why)) for identity, _ in queued for call in groups[identity])
                queued.clear()

    def _next(self, queued: Sequence[tuple[tuple[str, str], ToolCall]], starts: Mapping[str, float]) -> int | None:
        """Which queued call may start now: the first one, but of tools that number what they find only one at a time."""
        if len(starts) >= AT_ONCE:
            return None
        for number, (_, call) in enumerate(queued):
            if not self._in_order(call) or not self._serial & set(starts):
                if self._in_order(call):
                    self._serial.add(call.id)
                return number
        return None

    def _in_order(self, call: ToolCall) -> bool:
        tool = self._toolbox.tools.get(call.name)
        return tool is not None and tool.in_order

    def _collect(
        self, done: queue.Queue[tuple[str, Ran]], starts: dict[str, float], deadline: float | None
    ) -> Iterator[tuple[str, Ran]]:
        """The next results: of a call that finished, or of those whose time is over."""
        try:
            first, ran = done.get(timeout=_TICK)
        except queue.Empty:
            now = self._clock()
            for call_id, started in list(starts.items()):
                limit = started + self._call_seconds
                if now >= min(limit, limit if deadline is None else deadline):
                    del starts[call_id]
                    yield call_id, _late(call_id)
            return
        if starts.pop(first, None) is not None:
            yield first, ran

    def _work(self, call: ToolCall, done: queue.Queue[tuple[str, Ran]]) -> None:
        started = self._clock()
        ran = self._toolbox.run(call)
        done.put((call.id, replace(ran, seconds=self._clock() - started)))

    def _identity(self, call: ToolCall) -> tuple[str, str]:
        """The same for calls that mean the same: the name and the arguments as they were understood."""
        try:
            arguments = self._toolbox.validate(call.name, call.arguments)
        except ToolCallError:
            return call.name, call.arguments
        return call.name, json.dumps(arguments, sort_keys=True, default=str)


def cancelled(call: ToolCall, why: str) -> Ran:
    """The result of a call that was not run or not waited for."""
    return Ran(ToolResult(call.id, call.name, f"cancelled: {why}", is_error=True), None, None, 0.0)


def _late(call_id: str) -> Ran:
    why = "cancelled: the call took longer than its time limit; ask for less"
    return Ran(ToolResult(call_id, "", why, is_error=True), None, None, 0.0)


def _answering(ran: Ran, call: ToolCall) -> Ran:
    return replace(ran, result=replace(ran.result, call_id=call.id, name=call.name))
