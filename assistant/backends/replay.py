"""A recording in place of a model: its replies in their order, whatever is asked; the tools run for real."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from assistant import recording
from assistant.backends.base import Capabilities, Price
from assistant.errors import BadReplyError
from assistant.messages import Reply, Request, TextDelta


class Replay:
    """`replay:FILE`. Raises UserError when the file is no recording."""

    def __init__(self, path: Path) -> None:
        self._recorded = recording.read(path)
        self._path = path
        self._next = 0
        self._warned = False

    @property
    def name(self) -> str:
        """`replay:FILE`."""
        return f"replay:{self._path}"

    @property
    def capabilities(self) -> Capabilities:
        """Local, without a price."""
        return Capabilities(price=Price(0.0, 0.0), local=True)

    @property
    def question(self) -> str:
        """The question that was recorded."""
        return self._recorded.question

    @property
    def today(self) -> str | None:
        """The day that it was recorded for."""
        return self._recorded.today

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """The next recorded reply; a notice when the question or the tool results are not those of the recording.

        Raises BadReplyError when the recording is at its end.
        """
        if self._next >= len(self._recorded.replies):
            raise BadReplyError("the recording holds no further reply", provider="replay", hint="record the question anew")
        reply, expected = self._recorded.replies[self._next], self._recorded.results[self._next]
        notices = self._differences(request, expected)
        self._next += 1
        if reply.message.text:
            yield TextDelta(reply.message.text)
        yield Reply(
            reply.message, finish=reply.finish, usage=reply.usage, model=reply.model, notices=notices, outcome=reply.outcome
        )

    def body(self, request: Request) -> Mapping[str, Any]:
        """Nothing would be posted."""
        return {"replay": str(self._path), "question": next(m.text for m in reversed(request.messages) if m.role == "user")}

    def close(self) -> None:
        """Nothing is held."""

    def _differences(self, request: Request, expected: tuple[str, ...]) -> tuple[str, ...]:
        if self._next == 0:
            asked = next(message.text for message in reversed(request.messages) if message.role == "user")
            if asked.strip() != self._recorded.question.strip():
                return (f"this recording answers another question: {self._recorded.question!r}",)
        elif not self._warned and list(expected) != recording.digests(request):
            self._warned = True
            return ("the tools answered otherwise than when this was recorded: another library, or changed documents",)
        return ()
