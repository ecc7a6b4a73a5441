"""A backend that answers from a script, and keeps what it was asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from assistant.backends.base import Capabilities, Price
from assistant.messages import Message, Reply, Request, TextDelta, ToolCall, Usage

Line = Reply | Exception | Callable[[Request], Reply]


class Scripted:
    """Each request gets the next line of the script: a Reply, an error to raise, or a function of the request."""

    name = "scripted:test"

    def __init__(self, script: Sequence[Line], *, capabilities: Capabilities | None = None, delay: float = 0.0) -> None:
        self.capabilities = capabilities or Capabilities(price=Price(0, 0), local=True)
        self.requests: list[Request] = []
        self._script = list(script)
        self._delay = delay

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        self.requests.append(request)
        time.sleep(self._delay)
        line = self._script.pop(0)
        if isinstance(line, Exception):
            raise line
        reply = line if isinstance(line, Reply) else line(request)
        if reply.message.text:
            yield TextDelta(reply.message.text)
        yield reply

    def body(self, request: Request) -> Mapping[str, Any]:
        return {"messages": len(request.messages)}

    def close(self) -> None:
        pass


def says(text: str, *calls: tuple[str, str, str], **more: Any) -> Reply:
    """A reply with text and calls (id, name, arguments)."""
    more.setdefault("usage", Usage(10, 5))
    return Reply(Message("assistant", text, tuple(ToolCall(*call) for call in calls)), **more)
