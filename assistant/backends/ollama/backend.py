"""Ollama: models on this machine, on another, or at ollama.com. Chats are plain JSON, models are asked about through its package.

The package's own types lose call ids and nested schemas, so that they do not serve for chats.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assistant.backends.base import Capabilities, Price, merged
from assistant.backends.chat_wire import CallIds
from assistant.backends.ollama.explain import TOO_LONG_HINT, UnreadableCallError, explain, recovered_call
from assistant.backends.ollama.reply import ReplyReader, holds_error
from assistant.backends.ollama.request import PROVIDER, RE_ASKED, Think, Wire
from assistant.backends.ollama.server import START_HINT, OllamaServer, is_cloud
from assistant.backends.ollama.window import fills_window, was_cut
from assistant.backends.tool_names import ToolNames
from assistant.errors import BadReplyError, ContextLengthError, ProviderError
from assistant.messages import Message, Reply, Request, TextDelta, Usage
from assistant.transport import Timeouts, Transport

if TYPE_CHECKING:
    from assistant.transport import Client

NUM_CTX = 8192
PATH = "/api/chat"
REFUSES_TO_CUT = (0, 12, 6)  # the first version that obeys `truncate: false`
_NOT_SUPPORTED = re.compile(r"does not support (?P<what>tools|thinking)")
_UNKNOWN_FIELD = re.compile(r"unknown field \W*(?P<field>truncate|shift|think|tools)\b")


class Ollama:
    """A model of an Ollama server.

    host: None takes OLLAMA_HOST, else this machine. num_ctx: tokens of the window at most; a model that was made for fewer gets
    those. Kept the same from request to request, because the server loads a model anew for another size. think: whether or how
    much a thinking model thinks. key: for ollama.com alone. extra_request: merged into the body. client, sleep: for tests.
    Raises UserError for a host that is no address.
    """

    def __init__(
        self,
        model: str,
        *,
        host: str | None = None,
        num_ctx: int = NUM_CTX,
        stream: bool = True,
        think: Think = None,
        extra_request: Mapping[str, Any] | None = None,
        key: str = "",
        timeouts: Timeouts | None = None,
        client: Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self.server = OllamaServer(host, key=key, client=client)
        self._transport = Transport(
            PROVIDER,
            self.server.url,
            auth=("authorization", f"Bearer {self.server.key}") if self.server.key else None,
            timeouts=timeouts,
            explain=explain,
            hint=START_HINT if self.server.loopback else "",
            client=client,
            sleep=sleep,
        )
        self._cloud = self.server.cloud or is_cloud(model)
        self._wire = Wire(model, num_ctx=None if self._cloud else num_ctx, stream=stream, think=think)
        self._extra = extra_request
        self._known: Capabilities | None = None
        self._cuts: bool | None = None

    @property
    def name(self) -> str:
        """`ollama:model`."""
        return f"{PROVIDER}:{self.model}"

    @property
    def capabilities(self) -> Capabilities:
        """As the server shows the model; asked for once. Its context length is the window that is used. Raises ProviderError."""
        if self._known is None:
            facts = self.server.facts(self.model)
            if facts.elsewhere:
                self._cloud, self._wire = True, replace(self._wire, num_ctx=None)
            window = self._wire.num_ctx and min(self._wire.num_ctx, facts.context_length or self._wire.num_ctx)
            self._wire = replace(self._wire, num_ctx=window, tools=facts.tools, thinking=facts.thinking, family=facts.family)
            self._known = Capabilities(
                tools=facts.tools,
                context_length=window or facts.context_length,
                price=None if self._cloud else Price(0.0, 0.0),
                local=self.server.runs_local(self.model, facts),
            )
        return self._known

    def body(self, request: Request) -> Mapping[str, Any]:
        """The body that would be posted, as far as the model is known by now."""
        return merged(self._wire.body(request), self._extra)

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """Ask the model. Raises ProviderError.

        Asked once more, before any text was shown: an empty or broken reply (whole this time: old servers drop calls from streams)
        and a call that the server could not parse. What model or server turn out not to know is left out from then on.
        """
        _ = self.capabilities
        ask, spent = _Ask(self._wire, request), Usage()
        while True:
            shown = False
            try:
                with closing(self._once(ask)) as pieces:
                    for piece in pieces:
                        if isinstance(piece, Reply):
                            reply = piece
                        else:
                            shown = True
                            yield piece
            except ProviderError as error:
                following = None if shown else self._after(error, ask)
                if following is None:
                    raise self.server.with_installed(error) from None
                ask = following
                continue
            spent += reply.usage
            if reply.message.text or reply.message.calls:
                yield replace(reply, usage=spent, notices=self._notices(ask, reply.usage))
                return
            if not ask.again or reply.finish == "length" or self._cut(ask, reply.usage):
                raise self._empty(ask, reply)
            ask = ask.whole()

    def close(self) -> None:
        """Give back connections."""
        self._transport.close()

    def _once(self, ask: _Ask) -> Generator[TextDelta | Reply, None, None]:
        """One request: pieces of text, then the reply, whose message may be empty."""
        body = merged(ask.wire.body(ask.request), self._extra)
        try:
            if body["stream"]:
                with self._transport.stream(PATH, body, self.model, lambda lines: self._read(lines, ask)) as pieces:
                    yield from pieces
                return
            reader = self._reader(ask)
            reader.feed(self._transport.post(PATH, body, self.model, check=self._refuse_errors))
        except UnreadableCallError as error:
            reader = self._reader(ask)
            yield self._recovered(error, reader, ask)
        else:
            yield reader.reply()

    def _read(self, lines: Iterator[str], ask: _Ask) -> Iterator[TextDelta | Reply]:
        """The pieces of a stream of JSON lines."""
        reader = self._reader(ask)
        try:
            for line in lines:
                if line.strip() and (text := reader.feed(self._transport.decoded(line, self.model))):
                    yield TextDelta(text)
        except UnreadableCallError as error:
            yield self._recovered(error, reader, ask)
        else:
            yield reader.reply()

    def _recovered(self, error: UnreadableCallError, reader: ReplyReader, ask: _Ask) -> Reply:
        """The reply with the call that the server could not parse. Raises the error where it is no strict JSON either."""
        call = recovered_call(error.raw, ask.request.tools, reader.names, reader.ids)
        if call is None:
            raise error
        return reader.made(Usage(cost=reader.cost), "tool_calls", call)

    def _reader(self, ask: _Ask) -> ReplyReader:
        cost = None if self._cloud else 0.0
        return ReplyReader(
            ask.wire, self._failed, ToolNames(tool.name for tool in ask.request.tools), CallIds(ask.request.messages), cost=cost
        )

    def _failed(self, line: Mapping[str, Any]) -> ProviderError:
        return self._transport.failure(line, self.model)

    def _refuse_errors(self, reply: Mapping[str, Any]) -> None:
        if holds_error(reply):
            raise self._failed(reply)

    def _after(self, error: ProviderError, ask: _Ask) -> _Ask | None:
        """What to ask next after an error, None when it is final."""
        if isinstance(error, UnreadableCallError):
            messages = (*ask.request.messages, Message("user", RE_ASKED))
            return replace(ask, again=False, request=replace(ask.request, messages=messages)) if ask.again else None
        if isinstance(error, BadReplyError):
            return ask.whole() if ask.again else None
        wire = ask.wire
        if found := _UNKNOWN_FIELD.search(str(error)):
            wire = replace(wire, left_out=wire.left_out | {found["field"]})
        elif found := _NOT_SUPPORTED.search(str(error)):
            wire = replace(wire, tools=False) if found["what"] == "tools" else replace(wire, thinking=False)
        if wire == ask.wire:
            return None
        self._wire = replace(wire, stream=self._wire.stream)
        if self._known is not None:
            self._known = replace(self._known, tools=wire.tools)
        return replace(ask, wire=wire, without_tools=ask.without_tools or wire.tools != ask.wire.tools)

    def _notices(self, ask: _Ask, usage: Usage) -> tuple[str, ...]:
        """What the person should know: tools that were left out, a conversation that was cut."""
        without = "this model cannot call tools: it was asked without them" if ask.without_tools else ""
        cut = self._cut(ask, usage)
        return tuple(
            notice for notice in (without, f"{cut}, and was cut: a new one, or a larger num_ctx, helps" if cut else "") if notice
        )

    def _cut(self, ask: _Ask, usage: Usage) -> str:
        """How a conversation outgrows the window, by what the server has read; "" when it does not."""
        body = merged(ask.wire.body(ask.request), self._extra)
        if not fills_window(body, usage) and not (was_cut(body, usage) and self._server_cuts()):
            return ""
        window = body.get("options", {}).get("num_ctx")
        return f"the conversation does not fit {self.name}'s window{f' of {window} tokens' if window else ''}"

    def _server_cuts(self) -> bool:
        """Whether the server is of a version that cuts long prompts although it is told not to; asked for once."""
        if self._cuts is None:
            version = re.match(r"(\d+)\.(\d+)\.(\d+)", str(self._transport.get("/api/version", self.model).get("version")))
            self._cuts = version is None or tuple(map(int, version.groups())) < REFUSES_TO_CUT
        return self._cuts

    def _empty(self, ask: _Ask, reply: Reply) -> ProviderError:
        """The error of a reply without text and calls."""
        kind: type[ProviderError] = BadReplyError
        what, hint = f"{self.name} answered nothing", "ask again, or choose another model"
        if cut := self._cut(ask, reply.usage):
            kind, what, hint = ContextLengthError, f"{cut}: it was cut, and answered nothing", TOO_LONG_HINT
        elif reply.finish == "length":
            what, hint = f"{what}: the tokens were used up before its first word", "allow more output tokens"
        return kind(what, provider=PROVIDER, model=self.model, hint=hint)


@dataclass(frozen=True, slots=True)
class _Ask:
    """A request as it is made. again: whether it may be repeated. without_tools: the server has just refused them."""

    wire: Wire
    request: Request
    again: bool = True
    without_tools: bool = False

    def whole(self) -> _Ask:
        """The same once more, not streamed."""
        return replace(self, again=False, wire=replace(self.wire, stream=False))


__all__ = ["NUM_CTX", "Ollama"]
