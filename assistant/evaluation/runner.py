"""Running an evaluation: several models side by side, each with as many questions at a time as it may have, until all is asked.

What was begun and what was finished is on the disk before anything else happens, so that a run can be killed at any moment and
continued: at most the questions that were under way are asked again. Everything asked is recorded.
"""

from __future__ import annotations

import hashlib
import queue
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assistant.backends.base import Capabilities
from assistant.errors import ProviderError, UserError
from assistant.evaluation import asking
from assistant.evaluation.asking import Questions
from assistant.evaluation.cases import Case
from assistant.evaluation.costs import Estimated, Purse, estimated, refuse_unknown
from assistant.evaluation.models import Model
from assistant.evaluation.runs import Key, Result, Run, writable
from assistant.loop import Limits
from assistant.recording import Recorder

AT_ONCE = 4  # questions of a model that runs elsewhere
_GIVEN_UP = 3  # failures in a row after which a model is asked no more
_TICK = 0.1  # seconds between two looks for Ctrl-C
_LEAVE = 3.0  # seconds that an end waits for what is under way


@dataclass(frozen=True, slots=True)
class Plan:
    """How to run. jobs: questions at a time by the model's name, "" for every one not named; without it 1 for a local model and 4
    for another. max_cost: US dollars of the whole run. retry: ask again what ended in an error.
    """

    models: Sequence[Model]
    repeats: int = 1
    jobs: Mapping[str, int] = field(default_factory=dict)
    max_cost: float | None = None
    limits: Limits = field(default_factory=Limits)
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """How a run ended. asked: questions of this time; spent: US dollars of the whole run; left_out: what is still to be asked, and
    why, by model.
    """

    asked: int
    spent: float
    left_out: Mapping[str, str]


@dataclass(slots=True)
class _Lane:
    """One model's questions: those to come, how many are under way, how many failed in a row."""

    model: Model
    known: Capabilities
    at_once: int
    waiting: deque[Key]
    estimate: Estimated
    under_way: int = 0
    failures: int = 0
    stopped: str = ""
    costs: list[float] = field(default_factory=list)

    @property
    def expected_cost(self) -> float:
        """What the next question may cost: the estimate, or the mean of what the questions until now cost where that is more."""
        return max(self.estimate.each or 0.0, sum(self.costs) / len(self.costs) if self.costs else 0.0)


class Runner:
    """A plan carried out into a run. tell: is given each result as it is finished, how many are done, and of how many."""

    def __init__(
        self, run: Run, plan: Plan, questions: Questions, tell: Callable[[Result, int, int], None] = lambda *_: None
    ) -> None:
        """Raises UserError for a cap that cannot be kept, ProviderError when a model cannot be reached to say what it is."""
        self._run = run
        self._plan = plan
        self._questions = questions
        self._tell = tell
        self._threads: list[threading.Thread] = []
        self._cases = {case.id: case for case in questions.cases}
        done = run.results
        self.repeated = run.in_flight
        finished = {result.key for result in done if not (plan.retry and result.failed)}
        self._lanes = [self._lane(model, finished, done) for model in plan.models]
        paid = {lane.model.name for lane in self._lanes if not lane.known.local}
        spent = sum(result.cost or 0.0 for result in done if result.model in paid)
        # What was under way when the run was killed may have cost as much as any other question.
        spent += sum(lane.estimate.each or 0.0 for lane in self._lanes for key in self.repeated if key.model == lane.model.name)
        self._purse = Purse(plan.max_cost, spent)

    @property
    def estimates(self) -> list[Estimated]:
        """What is still to be asked of each model, and what that will cost."""
        return [lane.estimate for lane in self._lanes]

    @property
    def waiting(self) -> int:
        """How many questions are still to be asked."""
        return sum(len(lane.waiting) for lane in self._lanes)

    def run(self) -> Finish:
        """Ask everything that is still to be asked. Raises UserError while another process writes to the run."""
        with self._run.writing():
            try:
                asked = self._asked()
            except BaseException:
                self._leave()
                raise
        left_out = {lane.model.name: lane.stopped for lane in self._lanes if lane.stopped}
        return Finish(asked, self._purse.spent, left_out)

    def _asked(self) -> int:
        """How many questions were asked, when there is nothing left to ask."""
        done: queue.Queue[tuple[_Lane, Key, Result | BaseException]] = queue.Queue()
        asked, of_all = 0, self.waiting
        while True:
            for lane in self._lanes:
                self._start(lane, done)
            if not any(lane.under_way for lane in self._lanes):
                return asked
            try:
                lane, key, came = done.get(timeout=_TICK)
            except queue.Empty:
                continue
            lane.under_way -= 1
            result = self._settled(lane, key, came)
            if result is not None:
                self._run.finish(result)
                asked += 1
                self._tell(result, asked, of_all)

    def _leave(self) -> None:
        """Wait a little for the threads under way: a process that ends inside an embedding crashes instead of ending."""
        until = time.monotonic() + _LEAVE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _lane(self, model: Model, finished: set[Key], done: Sequence[Result]) -> _Lane:
        first = next(iter(self._questions.cases), None)
        known = model.capabilities(self._questions.library(first) if first else None)
        refuse_unknown(model.name, known, self._plan.max_cost)
        keys = [
            Key(case.id, model.name, repeat)
            for repeat in range(1, self._plan.repeats + 1)
            for case in self._questions.cases
            if model.answers(case.id, repeat)
        ]
        waiting = deque(key for key in keys if key not in finished)
        tokens = [] if known.local else [self._questions.tokens(self._cases[key.case]) for key in waiting]
        estimate = estimated(model.name, tokens, known, done)
        if known.local:
            estimate = replace(estimate, questions=len(waiting))
        jobs = self._plan.jobs
        at_once = jobs.get(model.name, jobs.get("", 1 if known.local else AT_ONCE))
        return _Lane(model, known, at_once, waiting, estimate)

    def _start(self, lane: _Lane, done: queue.Queue[tuple[_Lane, Key, Result | BaseException]]) -> None:
        """Begin as many questions of a model as it may have under way and the cap has room for."""
        while lane.waiting and not lane.stopped and lane.under_way < lane.at_once:
            key = lane.waiting[0]
            if not self._purse.reserve(key, lane.expected_cost):
                if lane.under_way == 0:
                    lane.stopped = f"the cap of ${self._plan.max_cost:g} has no room for another question"
                return
            lane.waiting.popleft()
            self._run.begin(key)
            lane.under_way += 1
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(threading.Thread(target=self._work, args=(lane, key, done), daemon=True))
            self._threads[-1].start()

    def _work(self, lane: _Lane, key: Key, done: queue.Queue[tuple[_Lane, Key, Result | BaseException]]) -> None:
        try:
            done.put((lane, key, self._ask(lane, key)))
        except BaseException as error:  # noqa: BLE001 - the thread that waits for it decides
            done.put((lane, key, error))

    def _ask(self, lane: _Lane, key: Key) -> Result:
        case = self._cases[key.case]
        backend = lane.model.backend(case, key.repeat, self._questions.library(case))
        recorder = Recorder(backend)
        try:
            limits = self._plan.limits if lane.known.local else replace(self._plan.limits, cost=self._allowance(lane))
            result = self._questions.put(case, recorder, limits)
        finally:
            backend.close()
        name = _recording_name(key)
        first = (case.turns or (case.question,))[0]
        place = self._run.folder / "recordings" / name
        with writable(place):
            recorder.write(place, first, case.today.isoformat() if case.today else None)
        return replace(result, model=key.model, repeat=key.repeat, recording=name)

    def _allowance(self, lane: _Lane) -> float | None:
        """What one question may cost: its estimate and what nobody else has put aside."""
        left = self._purse.left
        return self._plan.limits.cost if left is None else max(left + lane.expected_cost, 1e-6)

    def _settled(self, lane: _Lane, key: Key, came: Result | BaseException) -> Result | None:
        """The result to keep; None for a question that a person's mistake left unasked, which stops its model."""
        if isinstance(came, Result):
            cost = 0.0 if lane.known.local else came.cost
            self._purse.pay(key, cost)
            lane.costs += [] if cost is None else [cost]
            lane.failures = 0
            return came
        self._purse.pay(key, 0.0 if lane.known.local else None)
        if isinstance(came, UserError):
            lane.stopped = lane.stopped or " ".join(filter(None, (str(came), came.hint and f"({came.hint})")))
            return None
        if not isinstance(came, ProviderError):
            raise came
        lane.failures += 1
        if lane.failures >= _GIVEN_UP:
            lane.stopped = f"{lane.failures} failures in a row, the last: {came}"
        why = " ".join(filter(None, (str(came), came.hint)))
        return replace(asking.failed(self._cases[key.case], why), model=key.model, repeat=key.repeat)


def missing(run: Run, cases: Sequence[Case], plan: Plan) -> int:
    """How many questions of a plan have no result in a run."""
    finished = {result.key for result in run.results}
    keys = (
        Key(case.id, model.name, repeat)
        for model in plan.models
        for repeat in range(1, plan.repeats + 1)
        for case in cases
        if model.answers(case.id, repeat)
    )
    return sum(key not in finished for key in keys)


def _recording_name(key: Key) -> str:
    """A file name that tells people what it is, and that no two questions share."""
    digest = hashlib.sha256("\0".join((key.case, key.model, str(key.repeat))).encode()).hexdigest()[:8]
    parts = [re.sub(r"[^\w.-]+", "_", part)[:60].strip("._") for part in (key.case, key.model)]
    return f"{parts[0]}.{parts[1]}.{key.repeat}.{digest}.jsonl"
