"""Putting a case to a model, and what came of it as a Result.

`Questions` is the seam to the runner: the cases of a library stand here, those of other sets in `outside`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Protocol

from assistant.backends.base import Backend
from assistant.conversation import Answered, Conversation, Turn
from assistant.errors import UserError
from assistant.evaluation import scoring
from assistant.evaluation.cases import Case
from assistant.evaluation.runs import Result
from assistant.evaluation.scoring import Scores
from assistant.events import CallFinished
from assistant.loop import Limits
from assistant.messages import Usage
from assistant.schemas import token_cost
from search import Library

_CALL_ERROR = 500  # characters of an error that a result keeps


class Questions(Protocol):
    """Cases that can be put to a model."""

    @property
    def cases(self) -> Sequence[Case]:
        """The cases, each with the day that it is asked on."""

    def library(self, case: Case) -> Library | None:
        """What the offline backend reads names from; None where there is no library."""

    def put(self, case: Case, backend: Backend, limits: Limits) -> Result:
        """Ask, and score the answer; model, repeat and recording of the result are left open. Raises ProviderError, UserError."""

    def tokens(self, case: Case) -> int:
        """About how many tokens the first request has."""


class LibraryQuestions:
    """Cases over one library. today: for the cases that name no day. local_only: what no model elsewhere is given."""

    def __init__(self, library: Library, cases: Sequence[Case], today: date, *, local_only: Sequence[str] = ()) -> None:
        self._library = library
        self._local_only = local_only
        self.cases: Sequence[Case] = [case if case.today else replace(case, today=today) for case in cases]
        self._declared: int | None = None

    def library(self, case: Case) -> Library:  # noqa: ARG002 - the same for every case
        """The library, the same for every case."""
        return self._library

    def put(self, case: Case, backend: Backend, limits: Limits) -> Result:
        """Ask the questions of a case one after the other; the last answer is scored, what all of them used is counted."""
        talk = Conversation(
            self._library,
            backend,
            scope=case.scope,
            scope_words=_scope_words(case),
            limits=limits,
            today=case.today,
            local_only=self._local_only,
        )
        used, steps, seconds = Usage(), 0, 0.0
        for question in case.turns:
            earlier = asked(talk, question)
            used, steps, seconds = used + earlier.usage, steps + earlier.steps, seconds + earlier.seconds
        turn = asked(talk, case.question)
        whole = replace(turn, usage=used + turn.usage, steps=steps + turn.steps, seconds=seconds + turn.seconds)
        return result_of(case, whole, scoring.score(case, whole))

    def tokens(self, case: Case) -> int:
        """The system message, the declarations and the question, four characters to a token."""
        if self._declared is None:
            from assistant import prompts
            from assistant.search_tools import build
            from assistant.table_tools import build_table_tools

            tools = (*build(self._library), *build_table_tools(self._library))
            system = prompts.system(date(2026, 1, 1), tables=True)
            self._declared = sum(token_cost(tool.declaration) for tool in tools) + len(system) // 4
        return self._declared + len(case.question) // 4


def _scope_words(case: Case) -> str:
    """The case's own scope in words, as a person would be shown it."""
    given: Mapping[str, Any] = case.given.get("scope") or {}
    return "; ".join(f"{name} {', '.join(value) if isinstance(value, list) else value}" for name, value in given.items())


def asked(talk: Conversation, question: str) -> Turn:
    """The turn that a question becomes. Raises ProviderError, UserError."""
    for event in talk.ask(question):
        if isinstance(event, Answered):
            return event.turn
    raise UserError("the turn ended without an answer")


def result_of(case: Case, turn: Turn, scores: Scores) -> Result:
    """A turn as it is kept."""
    checked = turn.checked.as_objects()
    return Result(
        case=case.id,
        model="",
        repeat=1,
        kind=case.kind,
        language=case.language,
        question=case.question,
        answer=turn.checked.text,
        outcome=turn.outcome,
        stopped=turn.stopped,
        scores=scores,
        calls=[call_as_object(call) for call in turn.calls],
        expected=dict(case.given.get("expect", {})),
        citations=checked["citations"],
        quotes=checked["quotes"],
        numbers=checked["numbers"],
        steps=turn.steps,
        input_tokens=turn.usage.input_tokens,
        output_tokens=turn.usage.output_tokens,
        cost=turn.usage.cost,
        seconds=round(turn.seconds, 3),
        notices=list(turn.notices),
    )


def failed(case: Case, why: str) -> Result:
    """What is kept of a question that ended in an error."""
    return Result(
        case=case.id,
        model="",
        repeat=1,
        kind=case.kind,
        language=case.language,
        question=case.question,
        scores=scoring.failed(case),
        expected=dict(case.given.get("expect", {})),
        failed=why[:2000],
    )


def call_as_object(call: CallFinished) -> dict[str, Any]:
    """A call as a result keeps it: arguments as they were understood, else as the model wrote them."""
    ran = call.ran
    return {
        "name": call.call.name,
        "arguments": json.loads(json.dumps(ran.arguments, default=str)) if ran.arguments is not None else call.call.arguments,
        "ok": not ran.result.is_error,
        "error": ran.result.content[:_CALL_ERROR] if ran.result.is_error else None,
        "summary": ran.output.summary if ran.output is not None else "",
        "seconds": round(ran.seconds, 3),
        "repeated": call.repeated,
    }
