"""A conversation with a library: questions in, events out, the last of which is the Turn with its checked answer.

It holds what lasts beyond a turn: the messages, and every passage that was retrieved, since an answer may cite earlier ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache

from assistant import prompts, render, settings
from assistant.backends.base import Backend
from assistant.blocks import Blocks
from assistant.citations import Checked, Checker
from assistant.events import BlockFinished, CallFinished, Ended, Event, Notice, StepFinished, StepStarted, TextPiece
from assistant.loop import Limits, Loop
from assistant.messages import Message, Outcome, Request, ToolCall, Usage
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from assistant.tools import Evidence, Toolbox
from search import Coverage, Filters, Library, dates
from search.errors import UserError

_NEAREST = 3
_PARTIAL_CHARACTERS = 300
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|\n\s*\n")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its checked answer.

    model: as named; answered_by: as the provider names it. checked: the answer with its citations, quotations and numbers.
    outcome: answer, question (back to the person), absent (not in the documents) or partial (a limit or an error ended it, told
    by `stopped`). unprinted: what of checked.text no BlockFinished has given out. nearest: for an absent answer, the passages
    that came nearest. queries: those of the turn that the answer does not cite, each once. coverage: beside answers that count or
    list.
    """

    question: str
    model: str
    answered_by: str
    answer: str
    outcome: Outcome
    stopped: str
    checked: Checked
    unprinted: str
    calls: tuple[CallFinished, ...]
    nearest: tuple[Evidence, ...]
    queries: tuple[Evidence, ...]
    coverage: Coverage | None
    scope: str
    usage: Usage
    steps: int
    seconds: float
    notices: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The last event of a turn."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a conversation holds, to be kept and gone on with."""

    messages: tuple[Message, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """About how many tokens the next request has, and how many the model takes, None where that is not known."""

    tokens: int
    window: int | None


@dataclass(slots=True)
class _Seen:
    """What has happened in the turn under way."""

    question: str
    answered_by: str
    calls: list[CallFinished] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    blocks: Blocks = field(default_factory=lambda: Blocks(str))


class Conversation:
    """Questions and answers over one library with one model."""

    def __init__(
        self,
        library: Library,
        backend: Backend,
        *,
        scope: Filters | None = None,
        scope_words: str = "",
        limits: Limits | None = None,
        today: date | None = None,
    ) -> None:
        self._library = library
        self._backend = backend
        self._limits = limits
        self._today = today or dates.today()
        self._scope_words = scope_words
        self.toolbox = self._tools(scope or Filters())
        self.messages: list[Message] = []
        self._evidence: dict[str, Evidence] = {}

    def ask(self, question: str) -> Iterator[Event | Answered]:
        """Ask one question. Raises ProviderError when the model cannot be reached, UserError for limits that cannot be kept.

        After any exception, KeyboardInterrupt included, the conversation is valid and can go on.
        """
        loop = Loop(self._backend, self.toolbox, self._limits)
        seen = _Seen(question, answered_by=self._backend.name)
        asked = question if self._backend.capabilities.tools else self._with_first_search(question, seen)
        closing = prompts.STOPPED
        try:
            for event in loop.run(self._system(declared=self._backend.capabilities.tools), self.messages, asked):
                yield event
                if isinstance(event, StepStarted):
                    seen.blocks = Blocks(self._shown_by(seen))
                elif isinstance(event, TextPiece):
                    yield from map(BlockFinished, seen.blocks.add(event.text))
                elif isinstance(event, CallFinished):
                    self._remember(event, seen)
                elif isinstance(event, Notice):
                    seen.notices.append(event.text)
                elif isinstance(event, StepFinished):
                    seen.answered_by = event.model or seen.answered_by
                elif isinstance(event, Ended):
                    turn = self._turn(event, seen)
                    closing = turn.answer
                    yield Answered(turn)
        finally:
            self._keep(loop.messages, closing)

    def switch(self, backend: Backend) -> tuple[str, ...]:
        """Go on with another model. Returns what the person should know of it."""
        self._backend = backend
        return ()

    def rescope(self, scope: Filters, words: str) -> None:
        """The person's own filters from the next question on."""
        self.toolbox = self._tools(scope)
        self._scope_words = words

    def snapshot(self) -> Snapshot:
        """What is needed to go on with the conversation later."""
        return Snapshot(tuple(self.messages), tuple(self._evidence.values()))

    def restore(self, snapshot: Snapshot) -> None:
        """Go on with a conversation that was kept."""
        self.messages = list(snapshot.messages)
        self._evidence = {found.key: found for found in snapshot.evidence}

    def undo(self) -> str | None:
        """Take the last turn back; its question, None without any."""
        places = [place for place, message in enumerate(self.messages) if message.role == "user"]
        if not places:
            return None
        question = self.messages[places[-1]].text
        del self.messages[places[-1] :]
        return question

    def clear(self) -> None:
        """Forget everything that was said."""
        self.messages.clear()
        self._evidence.clear()

    def size(self) -> Size:
        """How long the conversation is."""
        return Size(sum(len(message.text) for message in self.messages) // 4, self._backend.capabilities.context_length)

    def _tools(self, scope: Filters) -> Toolbox:
        return Toolbox(
            (*build(self._library, scope, today=self._today), *build_table_tools(self._library, scope, today=self._today))
        )

    def request_body(self, question: str) -> object:
        """The first body that `ask` would post to a model that takes tools. Nothing is sent, not even to learn whether it does."""
        messages = (Message("system", self._system(declared=True)), *self.messages, Message("user", question))
        return self._backend.body(Request(messages, self.toolbox.declarations()))

    def _keep(self, new: tuple[Message, ...], closing: str) -> None:
        """Add a turn to the conversation; a question that nothing came of is left out, and every turn ends with an answer."""
        if len(new) > 1:
            self.messages += new
            if new[-1].role != "assistant":
                self.messages.append(Message("assistant", closing))

    def _system(self, *, declared: bool) -> str:
        """The system message. declared: the model takes declarations of tools."""
        as_text = () if declared else self.toolbox.declarations()
        tables = "query_table" in self.toolbox.tools
        return prompts.system(self._today, self._scope_words, tables=tables, tools_as_text=as_text)

    def _with_first_search(self, question: str, seen: _Seen) -> str:
        """For a model without tools: the question with the passages of a first search as data."""
        call = ToolCall(f"first_{len(self.messages)}", "hybrid_search", json.dumps({"query": question, "limit": 5}))
        ran = self.toolbox.run(call)
        self._remember(CallFinished(call, ran, 0), seen)
        return prompts.with_passages(question, ran.result.content)

    def _remember(self, event: CallFinished, seen: _Seen) -> None:
        seen.calls.append(event)
        if event.ran.output is not None:
            self._evidence.update((found.key, found) for found in event.ran.output.evidence)

    def _checker(self, seen: _Seen, *told: str) -> Checker:
        return Checker(
            question=seen.question,
            evidence=tuple(self._evidence.values()),
            # An error repeats what the model has sent.
            results=(
                *(call.ran.result.content for call in seen.calls if not call.ran.result.is_error),
                self._today.isoformat(),
                *told,
            ),
            stored_text=self._stored_text,
        )

    def _shown_by(self, seen: _Seen) -> Callable[[str], str]:
        """What turns blocks of a reply into display text. Most replies are calls and finish no block: the checker, which reads all
        results, is made for the first one that does.
        """
        checker = cache(lambda: self._checker(seen))
        return lambda block: checker().check(_presentable(block)).text

    def _turn(self, ended: Ended, seen: _Seen) -> Turn:
        found = _evidence_of(seen.calls)
        last = ended.messages[-1]
        answered = last.role == "assistant"
        answer = _presentable(last.text) if answered else _composed(found, ended.stop.detail)
        checked = self._checker(seen, *([] if answered else [ended.stop.detail])).check(answer)
        outcome = _outcome(answer, ended, checked)
        passages = tuple(item for item in found if item.is_passage)
        cited = {citation.key for citation in checked.citations}
        counted = any(call.ran.output is not None and call.ran.output.counted for call in seen.calls)
        return Turn(
            question=seen.question,
            model=self._backend.name,
            answered_by=seen.answered_by,
            answer=answer,
            outcome=outcome,
            stopped="" if ended.stop.reason == "answered" else ended.stop.detail,
            checked=checked,
            unprinted=seen.blocks.rest(answer, checked.text),
            calls=tuple(seen.calls),
            nearest=passages[:_NEAREST] if outcome == "absent" and not checked.citations else (),
            queries=tuple(item for item in found if item.sql and item.key not in cited),
            coverage=self._library.coverage() if counted or outcome == "absent" else None,
            scope=self._scope_words,
            usage=ended.usage,
            steps=ended.steps,
            seconds=ended.seconds,
            notices=tuple(seen.notices),
            at=datetime.now().astimezone().isoformat(timespec="seconds"),
        )

    def _stored_text(self, key: str) -> str | None:
        """The whole stored text of the document that a retrieved passage belongs to; None when it is gone since."""
        if key not in self._evidence:
            return None
        try:
            document, _, _ = self._library.passage(key)
            return "\n".join(self._library.read(document).lines)
        except UserError:
            return None


def _evidence_of(calls: list[CallFinished]) -> tuple[Evidence, ...]:
    """The passages and results of a turn, each once, those found first in front."""
    found = (item for call in calls if call.ran.output is not None for item in call.ran.output.evidence)
    return tuple({item.key: item for item in found}.values())


def _outcome(answer: str, ended: Ended, checked: Checked) -> Outcome:
    if ended.stop.outcome is not None:
        return ended.stop.outcome
    if ended.stop.reason != "answered":
        return "partial"
    if answer.lstrip("*_# ").casefold().startswith(prompts.NOT_FOUND.casefold()):
        return "absent"
    if not checked.citations and answer.rstrip("*_ \n").endswith(("?", "？", "؟")):
        return "question"
    return "answer"


def _composed(found: tuple[Evidence, ...], why: str) -> str:
    """An answer from what was found alone, when the model gave none: the last results, then the first passages."""
    computed = [item for item in reversed(found) if not item.is_passage and item.text]
    shown = [*computed, *(item for item in found if item.is_passage)][:_NEAREST]
    if not shown:
        return f"No answer: {why or 'the model gave none'}. Nothing was found before that."
    what = "This was found" if computed else "These passages were found"
    lines = [f"No full answer: {why or 'the model gave none'}. {what}:"]
    lines += [f"> {_opening(item.text)} [{item.key}]" for item in shown]
    return "\n\n".join(lines)


def _presentable(text: str) -> str:
    """What a model wrote, without keys and without what a terminal would obey: both before it is checked, so that no mark gets into
    the middle of either.
    """
    return render.safe(settings.redact(text))


def _opening(text: str) -> str:
    """The first whole sentences of a passage, on one line, without its headings."""
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip() or text.strip()
    ends = [match.end() for match in _SENTENCE_END.finditer(prose[:_PARTIAL_CHARACTERS])]
    if ends or len(prose) <= _PARTIAL_CHARACTERS:
        return " ".join(prose[: ends[-1] if ends else None].split())
    return " ".join(prose[:_PARTIAL_CHARACTERS].rsplit(None, 1)[0].split()) + " …"
