"""A conversation with a library: questions in, events out, the last of which is the Turn with its checked answer.

It holds what lasts beyond a turn: the messages, and every passage that was retrieved, since an answer may cite earlier ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache

from assistant import prompts
from assistant.backends.base import Backend
from assistant.blocks import Blocks
from assistant.citations import Checker
from assistant.events import BlockFinished, CallFinished, Ended, Event, Notice, StepFinished, StepStarted, TextPiece
from assistant.loop import WITHOUT_TOKENS, Limits, Loop
from assistant.messages import Message, Request, ToolCall, split_turns
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
)
from assistant.window import Window
from assistant.withholding import Reach, sets_named, without_origin
from search import Filters, Library, dates
from search.counting import counted
from search.errors import UserError


@dataclass(slots=True)
class _Seen:
    """What has happened in the turn under way."""

    question: str
    answered_by: str
    attached: str = ""
    guard: tuple[str, ...] = ()
    calls: list[CallFinished] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    blocks: Blocks = field(default_factory=lambda: Blocks(str))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A turn that is over. guard: the patterns that were withheld meanwhile. keys: of the evidence that came with it."""

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
        self._turns: list[_Kept] = []
        self._evidence: dict[str, Evidence] = {}
        self._undone: tuple[_Kept, dict[str, Evidence]] | None = None
        self._unsafe: set[int] | None = None
        self._untold = False
        self._window: Window | None = None
        self._reach = Reach(library, scope or Filters(), today, local_only)

    @property
    def messages(self) -> list[Message]:
        """All that was said so far, whether it is still sent or not."""
        return [message for turn in self._turns for message in turn.messages]

    @property
    def toolbox(self) -> Toolbox:
        """The tools of the model now. Raises ProviderError where it must be asked whether it runs here."""
        return self._reach.toolbox(guarded=bool(self._guard()))

    def ask(self, question: str, attached: str = "") -> Generator[Event | Answered, None, None]:
        """Ask one question. attached: a text that came beside it, given to the model as data.

        Raises ProviderError when the model cannot be reached, UserError for limits that cannot be kept. After any exception,
        KeyboardInterrupt included, the conversation is valid and can go on.
        """
        seen = _Seen(question, self._backend.name, attached, self._guard())
        if seen.guard:
            self._reach.refuse(attached)
        tools = self._backend.capabilities.tools
        history = self._history(seen.guard)
        loop = Loop(self._backend, self.toolbox, self._limits, window=self._window_of())
        before = set(self._evidence)
        asked = prompts.with_attached(question if tools else self._with_first_search(question, seen), attached)
        closing = prompts.STOPPED
        try:
            for notice in self._news():
                seen.notices.append(notice)
                yield Notice(notice)
            for event in loop.run(self._system(declared=tools), history, asked):
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
            self._keep(seen, loop.messages, closing, tuple(key for key in self._evidence if key not in before))

    def switch(self, backend: Backend) -> tuple[str, ...]:
        """Go on with another model. Returns what the person should know: what it is not given of what was said so far.

        Raises ProviderError where the model must be asked whether it runs here; the conversation then stays with the one before.
        """
        before, self._backend = self._backend, backend
        self._unsafe, self._window = None, None
        try:
            self._history(self._guard())
        except BaseException:
            self._backend = before
            raise
        return self._news()

    def rescope(self, scope: Filters, words: str) -> None:
        """The person's own filters, and the same in words, from the next question on. Raises FilterError."""
        self._reach = Reach(self._library, scope, self._day, self._reach.patterns, sets=sets_named(self.messages))
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
        self._undone = None
        self._unsafe, self._window = None, None
        self._reach = Reach(self._library, self._reach.scope, self._day, self._reach.patterns, sets=sets_named(self.messages))

    def instruct(self, instructions: str) -> None:
        """The person's own instructions from the next question on; "" for none."""
        self._instructions, self._window = instructions, None

    def undo(self) -> str | None:
        """Take the last turn back; its question as it was typed, None when there is no turn."""
        if not self._turns:
            return None
        last = self._turns.pop()
        self._undone = last, {key: self._evidence.pop(key) for key in last.keys if key in self._evidence}
        self._unsafe, self._window = None, None
        return last.question

    def redo(self) -> None:
        """Put the turn back that was taken back last, unless something was said since."""
        if self._undone is None:
            return
        turn, evidence = self._undone
        self._turns.append(turn)
        self._evidence |= evidence
        self._undone, self._unsafe, self._window = None, None, None

    def clear(self) -> None:
        """Forget what was said; model, filters and instructions stay."""
        self._turns.clear()
        self._evidence.clear()
        self._undone = None
        self._unsafe, self._window = None, None

    def size(self) -> Size:
        """How long the next request is before its question, and what the model takes. Raises ProviderError."""
        known = self._backend.capabilities
        system = Message("system", self._system(declared=known.tools))
        history = self._history(self._guard())
        window = self._window_of() or Window(None)
        return Size(window.tokens((system, *history), self.toolbox.declarations() if known.tools else ()), known.context_length)

    def request_body(self, question: str, attached: str = "") -> object:
        """The first body that `ask` would post to a model that takes tools. Nothing is sent, not even to learn whether it does.

        Where something is withheld, a model that must be asked whether it runs here counts as one elsewhere. Raises UserError for a
        text beside the question that would not be sent.
        """
        guard = self._guard(ask=False)
        if guard:
            self._reach.refuse(attached)
        box = self._reach.toolbox(guarded=bool(guard))
        history = self._history(guard)
        messages = (
            Message("system", self._system_over(box, guard)),
            *history,
            Message("user", prompts.with_attached(question, attached)),
        )
        return self._backend.body(Request(messages, box.declarations()))

    def withheld_from_request(self) -> tuple[str, ...]:
        """What `request_body` has left out, in words."""
        guard = self._guard(ask=False)
        documents = self._reach.withheld() if guard else 0
        said = f"withheld from this request: {counted(documents, 'document')} ({', '.join(guard)})"
        return (*self._news(), *([said] if documents else []))

    def _guard(self, *, ask: bool = True) -> tuple[str, ...]:
        """The patterns that are withheld from the model now. ask: whether a server may be asked for it."""
        if not self._reach.patterns:
            return ()
        if not ask and self._backend.name.partition(":")[0] not in WITHOUT_TOKENS:
            return self._reach.patterns
        return () if self._backend.capabilities.local else self._reach.patterns

    def _history(self, guard: tuple[str, ...]) -> list[Message]:
        """What of the conversation may be sent."""
        if not guard:
            return self.messages
        if self._unsafe is None:
            self._unsafe = self._reach.unsafe([(turn.messages, turn.guard) for turn in self._turns])
            self._untold = bool(self._unsafe)
        sent: list[Message] = []
        for number, turn in enumerate(self._turns):
            if number not in self._unsafe:
                sent += turn.messages if turn.guard else without_origin(turn.messages)
        return sent

    def _news(self) -> tuple[str, ...]:
        """What the person should know, and has not been told yet, of what the model is not given."""
        if not self._untold or not self._unsafe:
            return ()
        self._untold = False
        turns = f"{len(self._unsafe)} earlier turns are" if len(self._unsafe) > 1 else "1 earlier turn is"
        patterns = ", ".join(self._reach.patterns)
        return (f"{turns} not sent to {self._backend.name}: made with what is withheld from it ({patterns})",)

    def _window_of(self) -> Window | None:
        """The window of the model; None where none is asked."""
        if self._window is None and self._backend.name.partition(":")[0] not in WITHOUT_TOKENS:
            self._window = Window(self._backend.capabilities.context_length)
        return self._window

    def _keep(self, seen: _Seen, new: tuple[Message, ...], closing: str, keys: tuple[str, ...]) -> None:
        """Add a turn to the conversation; a question that nothing came of is left out, and every turn ends with an answer."""
        if len(new) > 1:
            ended = new if new[-1].role == "assistant" else (*new, Message("assistant", closing))
            self._turns.append(_Kept(seen.question, ended, seen.guard, keys))
            self._undone = None

    def _system(self, *, declared: bool) -> str:
        """The system message. declared: the model takes declarations of tools."""
        return self._system_over(self.toolbox, self._guard(), declared=declared)

    def _system_over(self, box: Toolbox, guard: tuple[str, ...], *, declared: bool = True) -> str:
        return prompts.system(
            self._today,
            self._scope_words,
            tables="query_table" in box.tools,
            tools_as_text=() if declared else box.declarations(),
            folders=self._reach.folders(self._descriptions, guarded=bool(guard)),
            instructions=self._instructions,
        )

    def _withheld(self, seen: _Seen) -> Withheld | None:
        """What the turn could not see; None where that is nothing."""
        documents = self._reach.withheld() if seen.guard else 0
        hits = {found for call in seen.calls if call.ran.output is not None for found in call.ran.output.withheld}
        return Withheld(documents, seen.guard, len(hits)) if documents else None

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
                # The days that rules made of "in November": no model wrote them.
                *(seen.notices if self._backend.name == "offline" else ()),
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
        counts = any(call.ran.output is not None and call.ran.output.counted for call in seen.calls)
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
            coverage=self._library.coverage() if counts or how == "absent" else None,
            scope=self._scope_words,
            usage=ended.usage,
            steps=ended.steps,
            seconds=ended.seconds,
            notices=tuple(seen.notices),
            at=datetime.now().astimezone().isoformat(timespec="seconds"),
            withheld=self._withheld(seen),
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
