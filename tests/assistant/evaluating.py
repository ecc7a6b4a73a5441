"""What tests of evaluation share: a small library, its cases, models that answer from a script, and runs of them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from assistant.backends.base import Backend, Capabilities, Price
from assistant.evaluation import keeping
from assistant.evaluation.asking import LibraryQuestions
from assistant.evaluation.cases import Case, cases_from
from assistant.evaluation.models import Model
from assistant.evaluation.runner import Finish, Plan, Runner
from assistant.evaluation.runs import Result, Run
from assistant.messages import Message, Reply, Request, TextDelta, ToolCall, Usage
from search import Library

TODAY = date(2026, 10, 15)
FILES = {
    "runbooks/gateway.md": "# Gateway\n\nThe gateway gives up after 4 seconds. Restart it with `gatectl restart`.",
    "runbooks/queue.md": "# Queue\n\nThe queue keeps messages for 9 days. Old messages are removed on Sundays.",
    "policies/holidays.md": "# Holidays\n\nEverybody has 30 days of holidays. The gateway team shares the duty at Christmas.",
    "policies/keys.md": "# Signing keys\n\nThe signing keys are rotated every 90 days by the security team.",
}
CASES: list[dict[str, Any]] = [
    {
        "id": "gateway",
        "question": "when does the gateway give up?",
        "kind": "plain",
        "expect": {"documents": ["runbooks/gateway.md"]},
    },
    {
        "id": "queue",
        "question": "how long does the queue keep messages?",
        "kind": "plain",
        "expect": {"documents": ["runbooks/queue.md"]},
    },
    {
        "id": "policies",
        "question": "what do the policies say about the gateway?",
        "kind": "filtered",
        "expect": {"documents": ["policies/holidays.md"], "filters": {"category": ["policies"]}},
    },
    {
        "id": "keys",
        "question": "how often are the signing keys rotated?",
        "kind": "plain",
        "expect": {"documents": ["policies/keys.md"]},
    },
]


def written(cases: Sequence[Mapping[str, Any]] = CASES) -> str:
    """Cases as JSON lines."""
    return "\n".join(json.dumps({"today": "2026-10-15", **case}) for case in cases) + "\n"


def read(cases: Sequence[Mapping[str, Any]] = CASES) -> list[Case]:
    return cases_from(written(cases), "cases")


class Answering:
    """A model that searches for the question, then cites the first passage it was given. Counts what it is asked.

    cite: makes of that passage's key the one that is cited.
    """

    def __init__(
        self,
        name: str = "cloud:test",
        *,
        known: Capabilities | None = None,
        cost: float | None = 0.0,
        delay: float = 0.0,
        cite: Callable[[str], str] = str,
        error: Exception | None = None,
    ) -> None:
        self.name = name
        self.capabilities = known or Capabilities(price=Price(0, 0), local=True)
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0
        self._cost, self._delay, self._cite, self._error = cost, delay, cite, error
        self._lock = threading.Lock()

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self._delay)
        with self._lock:
            self.at_once -= 1
        if self._error is not None:
            raise self._error
        last = request.messages[-1]
        usage = Usage(10, 5, cost=self._cost)
        if last.role == "user":
            self.asked.append(last.text)
            call = ToolCall("1", "hybrid_search", json.dumps({"query": last.text}))
            yield Reply(Message("assistant", "", (call,)), usage=usage)
            return
        key = json.loads(last.results[0].content)["hits"][0]["key"]
        yield Reply(Message("assistant", f"It stands there [{self._cite(key)}]."), usage=usage)

    def body(self, request: Request) -> Mapping[str, Any]:
        return {}

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Scripted(Model):
    """A model of a run with a backend of the test's own."""

    own: Any = field(default=None)

    def backend(self, case: Case, repeat: int, library: Library | None) -> Backend:
        return self.own  # type: ignore[no-any-return]

    def capabilities(self, library: Library | None) -> Capabilities:
        return self.own.capabilities  # type: ignore[no-any-return]


def model(own: Answering) -> Scripted:
    return Scripted(own.name, own.name, own=own)


def run_in(
    folder: Path,
    library: Library,
    *models: Model,
    cases: Sequence[Case] | None = None,
    tell: Callable[[Result, int, int], None] = lambda *_: None,
    **plan: Any,
) -> tuple[Run, Finish, Runner]:
    """Run cases with models, into a folder."""
    chosen = Plan(models, **plan)
    questions = LibraryQuestions(library, cases or read(), TODAY)
    head = keeping.head_of("test", None, questions.cases, library, today=None)
    run = keeping.opened(folder, head, questions.cases, chosen)
    runner = Runner(run, chosen, questions, tell)
    return run, runner.run(), runner
