"""A provider that answers as it is told: each request gets the next of its answers, and is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import httpx

from assistant.backends.base import Backend
from assistant.messages import Reply, Request, TextDelta

Answer = httpx.Response | Exception


class Cut(httpx.SyncByteStream):
    """A body in pieces of given bytes; then the connection breaks, if it is to."""

    def __init__(self, pieces: Iterable[bytes], *, breaks: bool = False) -> None:
        self.pieces = list(pieces)
        self.breaks = breaks

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces
        if self.breaks:
            raise httpx.ReadError("connection reset")


class ScriptedServer:
    """`pages` answer by path, whatever was asked before; every other request gets the next of `answers`, the last one for ever."""

    def __init__(self, *answers: Answer, pages: Mapping[str, Any] | None = None) -> None:
        self.answers = list(answers)
        self.pages = dict(pages or {})
        self.requests: list[httpx.Request] = []
        self.client = httpx.Client(transport=httpx.MockTransport(self.answer), trust_env=False)

    def answer(self, request: httpx.Request) -> httpx.Response:
        page = self.pages.get(request.url.path)
        if page is not None:
            return page if isinstance(page, httpx.Response) else httpx.Response(200, json=page)
        self.requests.append(request)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        # A response is read once: a copy keeps it for the next request.
        body = found.stream if isinstance(found.stream, Cut) else httpx.ByteStream(found.content)
        return httpx.Response(found.status_code, headers=found.headers, stream=body)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was posted."""
        return [json.loads(request.content) for request in self.requests]


def asked(backend: Backend, request: Request) -> tuple[str, Reply]:
    """What was shown while the reply came, and the reply."""
    *pieces, last = backend.send(request)
    assert isinstance(last, Reply)
    assert all(isinstance(piece, TextDelta) for piece in pieces)
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)), last
