"""The Gemini backend: sends a Request, streamed or not, and mends what one more try can mend."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from typing import Any, Literal

from assistant.backends.base import Capabilities, Listed, merged
from assistant.backends.gemini.explain import error_of, explain, is_about_signatures
from assistant.backends.gemini.reply import UNSIGNED, Gathered
from assistant.backends.gemini.request import PROVIDER, body_of, generation, nudged, with_stand_ins
from assistant.backends.tool_names import ToolNames
from assistant.errors import BadReplyError, KeyMissingError, ProviderError, RefusedError, UserError
from assistant.messages import Reply, Request, TextDelta, Usage
from assistant.transport import Transport, sse_events

BASE_URL = "https://generativelanguage.googleapis.com"
KEY_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY")  # the first that is set counts, as in Google's own library


class Gemini:
    """A Gemini model.

    key: may be "" as long as nothing is sent. version: of the API; the aliases gemini-*-latest exist on v1beta alone. stream:
    whether the reply is asked for piece by piece. mode: of function calling; VALIDATED (text or calls, calls held to their
    schema) from 2.5 on unless another is given. extra_request: laid over the body. connection: for the transport (timeouts,
    retries, per_minute; client and sleep in tests). Raises UserError for a model or base URL that cannot be one.
    """

    def __init__(
        self,
        model: str,
        *,
        key: str,
        base_url: str = BASE_URL,
        version: str = "v1beta",
        stream: bool = True,
        mode: Literal["AUTO", "VALIDATED", "ANY"] | None = None,
        extra_request: Mapping[str, Any] | None = None,
        **connection: Any,
    ) -> None:
        self.model = model.removeprefix("models/")
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", self.model):
            raise UserError(f"{model!r} cannot be the name of a Gemini model", "name one like gemini:gemini-3.8-flash")
        self.stream = stream
        self._mode = mode or ("VALIDATED" if generation(self.model) >= 2.5 else "AUTO")
        self._extra = extra_request or {}
        self._has_key = bool(key.strip())
        self._list = f"/{version}/models?pageSize=1000"
        kind = self.model if "/" in self.model else f"models/{self.model}"
        self._path = f"/{version}/{kind}"
        auth = ("x-goog-api-key", key.strip()) if self._has_key else None
        self.transport = Transport(PROVIDER, base_url, auth=auth, explain=explain, **connection)

    @property
    def name(self) -> str:
        """`gemini:model`."""
        return f"{PROVIDER}:{self.model}"

    @property
    def capabilities(self) -> Capabilities:
        """Tools, yes; the window and the price are not told by the wire."""
        return Capabilities(tools=True)

    def listed(self) -> tuple[Listed, ...]:
        """The models that answer questions, as the wire lists them. Raises ProviderError."""
        entries = self.transport.get(self._list).get("models")
        return tuple(
            Listed(
                str(entry.get("name", "")).removeprefix("models/"),
                Capabilities(context_length=limit if isinstance(limit := entry.get("inputTokenLimit"), int) else None),
                thinking=entry.get("thinking") is True,
            )
            for entry in (entries if isinstance(entries, list) else ())
            if isinstance(entry, Mapping) and "generateContent" in (entry.get("supportedGenerationMethods") or ())
        )

    def body(self, request: Request) -> Mapping[str, Any]:
        """The body of the first request that `send` makes."""
        return merged(body_of(request, model=self.model, mode=self._mode), self._extra)

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """Ask the model, as `Backend.send` says.

        Sent once more when nothing was yielded yet: after an empty reply, after a malformed call (with a word to the model), and
        with stand-in signatures when the wire refuses those that it got. Raises KeyMissingError, RefusedError for a blocked
        prompt or a blocked reply without text, BadReplyError for a reply without content or end.
        """
        if not self._has_key:
            raise KeyMissingError(
                "gemini wants a key, and none is set", f"set {KEY_VARIABLES[0]}, or: archivist keys set {PROVIDER}"
            )
        body = self.body(request)
        usage = Usage()
        resigned = repeated = False
        while True:
            gathered = Gathered()
            said = False
            try:
                for text in self._asked(body, gathered):
                    said = True
                    yield TextDelta(text)
                self._check(gathered)
            except ProviderError as error:
                if said or resigned or not is_about_signatures(error):
                    raise
                resigned, body = True, with_stand_ins(body)
                continue
            usage += gathered.usage
            fault = _fault(gathered)
            if not fault:
                break
            if said or repeated:
                raise BadReplyError(
                    f"{self.name} {fault}", provider=PROVIDER, model=self.model, hint="ask again, or choose another model"
                )
            repeated = True
            if gathered.reason == UNSIGNED:
                body = with_stand_ins(body)
            elif gathered.is_malformed:
                body = nudged(body)
        if not self.stream and gathered.text:
            yield TextDelta(gathered.text)
        taken = [call.id for message in request.messages for call in message.calls]
        names = ToolNames(tool.name for tool in request.tools)
        yield gathered.reply(model=self.model, names=names, taken=taken, usage=usage)

    def close(self) -> None:
        """Give back connections."""
        self.transport.close()

    def _asked(self, body: Mapping[str, Any], gathered: Gathered) -> Iterator[str]:
        """Send a body and gather what comes; yields text while it is streamed."""
        if not self.stream:
            gathered.add(self.transport.post(f"{self._path}:generateContent", body, self.model, check=self._no_error))
            return
        path = f"{self._path}:streamGenerateContent?alt=sse"
        with self.transport.stream(path, body, self.model, self._events) as events:
            held = ""  # blank lines before anything else: they may be all that comes, and then the reply is asked for again
            for event in events:
                held += gathered.add(event)
                if held and gathered.text.strip():
                    yield held
                    held = ""
        if not gathered.reason and not gathered.blocked:
            raise BadReplyError(
                f"{self.name} broke off before the end of its reply", provider=PROVIDER, model=self.model, hint="ask again"
            )

    def _events(self, lines: Iterator[str]) -> Iterator[Mapping[str, Any]]:
        for data in sse_events(lines):
            event = self.transport.decoded(data, self.model)
            self._no_error(event)
            yield event

    def _no_error(self, event: Mapping[str, Any]) -> None:
        """Raise the error that an event holds."""
        if error_of(event):
            raise self.transport.failure(event, self.model)

    def _check(self, gathered: Gathered) -> None:
        """Raise RefusedError when the prompt was blocked, or the reply before it had any content."""
        reason = gathered.blocked or (gathered.reason if gathered.finish == "refused" else "")
        if reason and gathered.is_nothing:
            blocked = "the question, or a passage that was shown," if gathered.blocked else "its own reply"
            raise RefusedError(
                f"{self.name} blocked {blocked}: {reason}",
                provider=PROVIDER,
                model=self.model,
                hint="ask in other words, leave out the document in question, or choose another model",
            )


def _fault(gathered: Gathered) -> str:
    """What is wrong with a reply that has come to its end; "" when it can be used."""
    if gathered.is_malformed or gathered.reason == UNSIGNED:
        return f"tried to call a function, and the call could not be read ({gathered.reason})"
    if gathered.is_nothing and gathered.finish != "length":
        return f"sent an empty reply ({gathered.reason or 'no reason given'})"
    return ""


__all__ = ["BASE_URL", "KEY_VARIABLES", "Gemini"]
