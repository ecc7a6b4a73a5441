"""A conversation with a library: questions in, events out, the last of which is the Turn with its checked answer.

It holds what lasts beyond a turn: the messages, and every passage that was retrieved, since an answer may cite earlier ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from pathlib import Path

from assistant import prompts
from assistant.backends.base import Backend
from assistant.blocks import Blocks
from assistant.citations import Checker
from assistant.events import BlockFinished, CallFinished, Ended, Event, Notice, StepFinished, StepStarted, TextPiece
from assistant.loop import Limits, Loop
from assistant.messages import Message, Request, ToolCall
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from assistant.tools import Evidence, Toolbox
from assistant.turn import (
    NEAREST,
    Answered,
    Size,
    Snapshot,
    Turn,
    Withheld,
    composed,
    evidence_of,
    outcome,
    presentable,
    question_of,
    split_turns,
)
from search import Filters, Library, dates
from search.errors import UserError


@dataclass(slots=True)
class _Seen:
    """What has happened in the turn under way."""

    question: str
    answered_by: str
    attached: str = ""
    calls: list[CallFinished] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    blocks: Blocks = field(default_factory=lambda: Blocks(str))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A turn that is over. keys: of the evidence that came with it."""

    question: str
    messages: tuple[Message, ...]
    guard: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


class Conversation:
    """Questions and answers over one library, with one model at a time."""

    def __init__(
        self,
        library: Library,
        backend: Backend,
        *,
        scope: Filters | None = None,
        scope_words: str = "",
        limits: Limits | None = None,
        today: date | None = None,
        instructions: str = "",
        descriptions: Mapping[str, str] | None = None,
        local_only: Sequence[str] = (),
    ) -> None:
        """Begin a conversation.

        scope: the person's own filters, which hold in every call; scope_words: the same in words. instructions: the person's own,
        for the system message. descriptions: what the person says of a root folder, by its path or name. local_only: globs and
        folders whose documents no model elsewhere is given. Raises FilterError for a scope that is not understood.
        """
        self._library = library
        self._backend = backend
        self._limits = limits
        self._day = today
        self._today = today or dates.today()
        self._scope_words = scope_words
        self._instructions = instructions
        self._descriptions = dict(descriptions or {})
        self._local_only = tuple(local_only)
        self.toolbox = self._tools(scope or Filters())
        self._turns: list[_Kept] = []
        self._evidence: dict[str, Evidence] = {}

    @property
    def messages(self) -> list[Message]:
        """All that was said so far, whether it is still sent or not."""
        return [message for turn in self._turns for message in turn.messages]

    def ask(self, question: str, attached: str = "") -> Generator[Event | Answered, None, None]:
        """Ask one question. attached: a text that came beside it, given to the model as data.

        Raises ProviderError when the model cannot be reached, UserError for limits that cannot be kept. After any exception,
        KeyboardInterrupt included, the conversation is valid and can go on.
        """
        loop = Loop(self._backend, self.toolbox, self._limits)
        seen = _Seen(question, self._backend.name, attached)
        before = set(self._evidence)
        tools = self._backend.capabilities.tools
        asked = prompts.with_attached(question if tools else self._with_first_search(question, seen), attached)
        closing = prompts.STOPPED
        try:
            for event in loop.run(self._system(declared=tools), self.messages, asked):
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
            self._keep(question, loop.messages, closing, tuple(key for key in self._evidence if key not in before))

    def switch(self, backend: Backend) -> tuple[str, ...]:
        """Go on with another model. Returns what the person should know: what it is not given of what was said so far."""
        self._backend = backend
        return ()

    def rescope(self, scope: Filters, words: str) -> None:
        """The person's own filters, and the same in words, from the next question on. Raises FilterError."""
        self.toolbox = self._tools(scope)
        self._scope_words = words

    def snapshot(self) -> Snapshot:
        """All that is needed to go on with the conversation later, or with another model."""
        return Snapshot(
            tuple(self.messages),
            tuple(self._evidence.values()),
            tuple(turn.question for turn in self._turns),
            tuple(turn.guard for turn in self._turns),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go on with a conversation that was kept, in place of this one."""
        turns = split_turns(snapshot.messages)
        questions = snapshot.questions if len(snapshot.questions) == len(turns) else [question_of(turn) for turn in turns]
        guards = snapshot.guards if len(snapshot.guards) == len(turns) else [()] * len(turns)
        self._turns = [_Kept(*each) for each in zip(questions, turns, guards, strict=True)]
        self._evidence = {found.key: found for found in snapshot.evidence}

    def undo(self) -> str | None:
        """Take the last turn back; its question as it was typed, None when there is no turn."""
        if not self._turns:
            return None
        last = self._turns.pop()
        for key in last.keys:
            self._evidence.pop(key, None)
        return last.question

    def clear(self) -> None:
        """Forget what was said; model, filters and instructions stay."""
        self._turns.clear()
        self._evidence.clear()

    def size(self) -> Size:
        """How long the next request is before its question, and what the model takes."""
        text = self._system(declared=True) + "".join(m.text for m in self.messages)
        return Size(len(text) // 4, self._backend.capabilities.context_length)

    def request_body(self, question: str) -> object:
        """The first body that `ask` would post to a model that takes tools. Nothing is sent, not even to learn whether it does."""
        messages = (Message("system", self._system(declared=True)), *self.messages, Message("user", question))
        return self._backend.body(Request(messages, self.toolbox.declarations()))

    def _tools(self, scope: Filters) -> Toolbox:
        return Toolbox((*build(self._library, scope, today=self._day), *build_table_tools(self._library, scope, today=self._day)))

    def _keep(self, question: str, new: tuple[Message, ...], closing: str, keys: tuple[str, ...]) -> None:
        """Add a turn to the conversation; a question that nothing came of is left out, and every turn ends with an answer."""
        if len(new) > 1:
            ended = new if new[-1].role == "assistant" else (*new, Message("assistant", closing))
            self._turns.append(_Kept(question, ended, (), keys))

    def _system(self, *, declared: bool) -> str:
        """The system message. declared: the model takes declarations of tools."""
        return prompts.system(
            self._today,
            self._scope_words,
            tables="query_table" in self.toolbox.tools,
            tools_as_text=() if declared else self.toolbox.declarations(),
            folders=self._folders(),
            instructions=self._instructions,
        )

    def _folders(self) -> dict[str, str]:
        """What the person says of the roots, by their names."""
        if not self._descriptions:
            return {}
        roots = [Path(root) for root in self._library.count_documents(group_by="root")]
        said = {Path(place).expanduser(): text for place, text in self._descriptions.items()}
        texts = {root.name: said.get(root, said.get(Path(root.name), "")) for root in roots}
        return {name: text for name, text in texts.items() if text}

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
            question=f"{seen.question}\n{seen.attached}",
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
        return lambda block: checker().check(presentable(block)).text

    def _turn(self, ended: Ended, seen: _Seen) -> Turn:
        found = evidence_of(seen.calls)
        last = ended.messages[-1]
        answered = last.role == "assistant"
        answer = presentable(last.text) if answered else composed(found, ended.stop.detail)
        checked = self._checker(seen, *([] if answered else [ended.stop.detail])).check(answer)
        how = outcome(answer, ended, checked)
        passages = tuple(item for item in found if item.is_passage)
        cited = {citation.key for citation in checked.citations}
        counted = any(call.ran.output is not None and call.ran.output.counted for call in seen.calls)
        return Turn(
            question=seen.question,
            model=self._backend.name,
            answered_by=seen.answered_by,
            answer=answer,
            outcome=how,
            stopped="" if ended.stop.reason == "answered" else ended.stop.detail,
            checked=checked,
            unprinted=seen.blocks.rest(answer, checked.text),
            calls=tuple(seen.calls),
            nearest=passages[:NEAREST] if how == "absent" and not checked.citations else (),
            queries=tuple(item for item in found if item.sql and item.key not in cited),
            coverage=self._library.coverage() if counted or how == "absent" else None,
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


__all__ = ["Answered", "Conversation", "Size", "Snapshot", "Turn", "Withheld"]
