"""OpenRouter, and through a base URL any server of the same wire: llama-server, vLLM, LM Studio."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.backends.base import Capabilities, Listed, merged
from assistant.backends.chat_wire import CallIds
from assistant.backends.openrouter.explain import explain, is_bad_signature
from assistant.backends.openrouter.models import listed, router_capabilities, server_capabilities
from assistant.backends.openrouter.reply import ReplyReader, holds_error, unwrapped
from assistant.backends.openrouter.request import PROVIDER, Wire
from assistant.backends.tool_names import ToolNames
from assistant.errors import BadReplyError, KeyMissingError, ProviderError
from assistant.messages import Reply, Request, TextDelta, Usage
from assistant.transport import Timeouts, Transport, is_loopback, sse_events

if TYPE_CHECKING:
    from assistant.transport import Client

BASE_URL = "https://openrouter.ai/api/v1"
PATH = "/chat/completions"
LIST_SECONDS = 10.0  # what the list of models may take: it is asked for before a turn, outside of its limits
NO_TOOLS = (
    "the model was not told of the tools: the chat template of this server has no place for them "
    "(start llama-server with --jinja and a template that renders tools)"
)


class OpenRouter:
    """A model behind OpenRouter or a server of the same wire.

    key: sent as a bearer to the base URL's host alone; "" for servers that want none. stream: whether pieces come while they are
    written. strict: schemas are sent as strict ones where they can be; arguments are checked all the same. extra_request: merged
    into the body. client, sleep: for tests. Raises UserError for a base URL or key that cannot be used.
    """

    def __init__(
        self,
        model: str,
        *,
        key: str = "",
        base_url: str = BASE_URL,
        stream: bool = True,
        strict: bool = False,
        extra_request: Mapping[str, Any] | None = None,
        timeouts: Timeouts | None = None,
        per_minute: int | None = None,
        client: Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self._has_key = bool(key)
        connect = partial(
            Transport,
            PROVIDER,
            auth=("authorization", f"Bearer {key}") if key else None,
            timeouts=timeouts,
            per_minute=per_minute,
            client=client,
            sleep=sleep,
        )
        host = connect(base_url).host
        self._router = host == "openrouter.ai" or host.endswith(".openrouter.ai")
        self._local = is_loopback(host)
        explained = partial(explain, router=self._router)
        self._transport = connect(base_url, explain=explained)
        # Once and briefly: a question can be asked without the list.
        brief = Timeouts(connect=LIST_SECONDS, read=LIST_SECONDS, body=LIST_SECONDS)
        self._list = connect(base_url, explain=explained, timeouts=brief, retries=0)
        self._root = connect(base_url.rstrip("/").removesuffix("/v1"), explain=explained)
        self._wire = Wire(model, router=self._router, stream=stream, strict=strict)
        self._extra = extra_request
        self._known: Capabilities | None = None

    @property
    def name(self) -> str:
        """`openrouter:model`, whatever server answers."""
        return f"{PROVIDER}:{self.model}"

    @property
    def capabilities(self) -> Capabilities:
        """By the list of models of the server; asked for once. Raises ProviderError for a server that is not OpenRouter, without
        whose list they are unknown.
        """
        if self._known is None:
            if self._router:
                self._known = router_capabilities(self._list, self.model)
            else:
                self._known = server_capabilities(self._transport, self._root, self.model, local=self._local)
            self._wire = replace(self._wire, tools=self._known.tools)
        return self._known

    def listed(self) -> tuple[Listed, ...]:
        """The models of the server, as it lists them. Raises ProviderError."""
        return listed(self._list, router=self._router, local=self._local)

    def check_key(self) -> None:
        """Ask OpenRouter whether it knows the key: its list of models is open to everybody. Raises ProviderError."""
        self._list.get("/key")

    def body(self, request: Request) -> Mapping[str, Any]:
        """The body that would be posted, as far as the server is known by now."""
        return merged(self._wire.body(request), self._extra)

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """Ask the model. Raises ProviderError, and KeyMissingError where OpenRouter is to be asked without a key.

        An empty or unreadable reply is asked for once more, and so is one that was refused because of signed reasoning, without
        that; both only before any text was shown.
        """
        if self._router and not self._has_key:
            raise KeyMissingError("OpenRouter wants a key", "archivist keys set openrouter, or set OPENROUTER_API_KEY")
        if request.tools and not self._router:
            _ = self.capabilities  # such a server may ignore tools without a word
        spent, reasoning, again = Usage(), True, True
        while True:
            shown = False
            try:
                with closing(self._once(request, reasoning=reasoning)) as pieces:
                    for piece in pieces:
                        if isinstance(piece, Reply):
                            reply = piece
                        else:
                            shown = True
                            yield piece
            except BadReplyError:
                if shown or not again:
                    raise
                again = False
                continue
            except ProviderError as error:
                if shown or not (reasoning and self._sends_reasoning(request) and is_bad_signature(error)):
                    raise
                reasoning = False
                continue
            spent += reply.usage
            if reply.message.text or reply.message.calls:
                yield replace(reply, usage=spent, notices=self._notices(request))
                return
            if not again or reply.finish == "length":
                raise self._empty(reply)
            again = False

    def close(self) -> None:
        """Give back connections."""
        self._transport.close()
        self._list.close()
        self._root.close()

    def _once(self, request: Request, *, reasoning: bool) -> Generator[TextDelta | Reply, None, None]:
        """One request: pieces of text, then the reply, whose message may be empty."""
        body = merged(self._wire.body(request, reasoning=reasoning), self._extra)
        if body.get("stream"):
            with self._transport.stream(PATH, body, self.model, lambda lines: self._read(lines, self._reader(request))) as pieces:
                yield from pieces
            return
        reader = self._reader(request)
        reader.feed(self._transport.post(PATH, body, self.model, check=self._refuse_errors))
        yield reader.reply(complete=True)

    def _read(self, lines: Iterator[str], reader: ReplyReader) -> Iterator[TextDelta | Reply]:
        """The pieces of a stream. A server that does not stream answers in one object, which is read as well."""
        done: list[str] = []
        for event in sse_events(_watched(lines, done)):
            if text := reader.feed(self._transport.decoded(event, self.model)):
                yield TextDelta(text)
        yield reader.reply(complete=bool(done))

    def _reader(self, request: Request) -> ReplyReader:
        return ReplyReader(
            self._wire,
            self._failed,
            ToolNames(tool.name for tool in request.tools),
            CallIds(request.messages),
            local=self._local,
            price=self._known.price if self._known else None,
        )

    def _sends_reasoning(self, request: Request) -> bool:
        return self._wire.body(request) != self._wire.body(request, reasoning=False)

    def _failed(self, body: Mapping[str, Any]) -> ProviderError:
        return self._transport.failure(body, self.model)

    def _refuse_errors(self, reply: Mapping[str, Any]) -> None:
        """Raise the error that a reply of status 200 holds."""
        if holds_error(unwrapped(reply)):
            raise self._failed(unwrapped(reply))

    def _notices(self, request: Request) -> tuple[str, ...]:
        silent = request.tools and request.may_call and not self._router and not self._wire.tools
        return (NO_TOOLS,) if silent else ()

    def _empty(self, reply: Reply) -> BadReplyError:
        short = reply.finish == "length"
        return BadReplyError(
            f"{self.name} answered nothing{': the limit of output tokens was used up before its first word' if short else ''}",
            provider=PROVIDER,
            model=self.model,
            hint="allow more output tokens" if short else "ask again, or choose another model",
        )


def _watched(lines: Iterator[str], done: list[str]) -> Iterator[str]:
    """The lines as they are; `[DONE]`, which tells an end from a break, is noted in `done`."""
    for line in lines:
        if any(part.startswith("data:") and part[5:].strip() == "[DONE]" for part in line.split("\r")):
            done.append(line)
        yield line


__all__ = ["BASE_URL", "OpenRouter"]
