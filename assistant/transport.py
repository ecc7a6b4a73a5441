"""The one way to a provider: HTTP with retries, time limits and errors that say what to do. The only module that imports httpx.

In: a path below the base URL and a JSON body. Out: a JSON object, or the pieces of a stream, one at a time. What a failed status
means is a provider's own matter: its `explain` turns a Failure into a ProviderError, whose `retryable` and `retry_after` the
transport obeys. A key is sent in one header to the base URL's host alone, and is masked in everything that an error says.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from itertools import chain, islice
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from assistant.errors import BadReplyError, ConnectionFailedError, ProviderError, UserError
from assistant.failures import Failure, explain_by_status, named, one_line
from assistant.sse import sse_events

Client = httpx.Client
HttpRequest = httpx.Request
HttpResponse = httpx.Response
LONGEST_WAIT = 120.0  # seconds: who asks for more is waited for once
FIRST_WAIT = 1.0
LAST_PORT = 65535
LARGEST_BODY = 64 * 1024 * 1024
LOCAL_HINT = "is the server running, and is this its port?"
REMOTE_HINT = "is the network up, and a proxy in HTTPS_PROXY reachable?"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. read: the longest silence of a server, which for a model that loads or thinks may be minutes. body: of a body from
    its first byte to its last, however it trickles; None is no limit.
    """

    connect: float = 10.0
    read: float = 300.0
    body: float | None = None


class Transport:
    """Requests to one provider.

    base_url: http or https, with the path that all requests share. headers: sent with every request, not secret. auth: name and
    value of the header that holds the key; secret: the key itself, as it must never be shown (found in `auth` when not given).
    retries: how many times a request is repeated at most. per_minute: how many requests may start in a minute, None for no limit.
    explain: what a failed answer means. hint: what to do when no connection can be made ("is the server running? ollama serve").
    client, sleep, clock, now, jitter: for tests; a client that is given is not closed. Raises UserError for a base URL or a key
    that cannot be used.
    """

    def __init__(
        self,
        provider: str,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        auth: tuple[str, str] | None = None,
        secret: str = "",
        timeouts: Timeouts | None = None,
        retries: int = 4,
        per_minute: int | None = None,
        explain: Callable[[Failure], ProviderError] | None = None,
        hint: str = "",
        client: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        jitter: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.provider = provider
        self.base_url = base_url.rstrip("/")
        self.host, self.where = _checked_host(provider, base_url)
        self.retries = retries
        self.timeouts = timeouts or Timeouts()
        self._headers = {"user-agent": "archivist", **(headers or {})}
        self._secrets: tuple[str, ...] = ()
        if auth is not None:
            name, value = auth
            if not (value.isascii() and value.isprintable()):
                raise UserError(f"the key of {provider} holds a sign that no key has", "set it again without line breaks or quotes")
            self._headers[name] = value
            self._secrets = _forms(secret or value.removeprefix("Bearer "))
        self._explain = explain or explain_by_status
        self._hint = hint
        self._client = client
        self._owns_client = client is None
        self._lock = threading.Lock()
        self._limiter = RateLimiter(per_minute, sleep=sleep, clock=clock) if per_minute else None
        self._sleep = sleep
        self._clock = clock
        self._now = now
        self._jitter = jitter

    def post(
        self, path: str, body: Mapping[str, Any], model: str = "", *, check: Callable[[dict[str, Any]], None] | None = None
    ) -> dict[str, Any]:
        """POST a JSON body and return the JSON object that comes back.

        check: looks at the object and may raise a ProviderError, for an error inside a 200 body; one that is retryable is retried
        like a status. Raises ConnectionFailedError, BadReplyError (empty, not JSON, cut, too large), and what `explain` makes of a
        status.
        """
        return self._retrying(lambda: self._whole("POST", path, body, model, check))

    def get(self, path: str, model: str = "") -> dict[str, Any]:
        """GET a JSON object. Raises as `post`."""
        return self._retrying(lambda: self._whole("GET", path, None, model, None))

    @contextmanager
    def stream(
        self, path: str, body: Mapping[str, Any], model: str, read: Callable[[Iterator[str]], Iterator[T]]
    ) -> Iterator[Iterator[T]]:
        """POST a JSON body and read what comes back while it comes; leaving the block closes the connection.

        read: makes pieces of the lines (without their ends), `iter` leaves them as they are; it may raise ProviderError. Failures
        are retried until there is a first piece. A connection that breaks after that is a BadReplyError. Raises as `post`.
        """
        response, pieces = self._retrying(lambda: self._opened(path, body, model, read))
        try:
            yield self._rest(pieces)
        finally:
            response.close()

    def close(self) -> None:
        """Give back the connections."""
        with self._lock:
            if self._client is not None and self._owns_client:
                self._client.close()
                self._client = None

    def failure(self, body: Any, model: str, status: int | None = None) -> ProviderError:
        """The error for a body that holds one although its status was 200."""
        body = json.loads(self.masked(json.dumps(body, ensure_ascii=False)))
        return self._explained(Failure(self.provider, model, status, body, {}, self.where))

    def decoded(self, text: str, model: str) -> dict[str, Any]:
        """A JSON object from text; a list of one object is that object. Raises BadReplyError."""
        if not text.strip():
            raise BadReplyError(f"{self._named(model)} sent an empty reply", provider=self.provider, model=model)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if not isinstance(found, dict):
            raise BadReplyError(
                f"{self._named(model)} sent something that is not a JSON object: {one_line(self.masked(text), 80)}",
                provider=self.provider,
                model=model,
                hint="check the base URL: another program may listen there",
            )
        return found

    def masked(self, text: str) -> str:
        """Text without the key."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _retrying(self, once: Callable[[], T]) -> T:
        """The result of `once`, repeated after retryable errors: exponential backoff with full jitter, or as the server says."""
        attempt = 0
        while True:
            try:
                return once()
            except ProviderError as error:
                failed = error
            wanted = failed.retry_after
            if not failed.retryable or attempt >= self.retries:
                raise failed
            wait = self._jitter(0.0, min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)) if wanted is None else max(0.0, wanted)
            attempt = self.retries if wait > LONGEST_WAIT else attempt + 1
            self._sleep(min(wait, LONGEST_WAIT))

    def _whole(
        self, method: str, path: str, body: Mapping[str, Any] | None, model: str, check: Callable[[dict[str, Any]], None] | None
    ) -> dict[str, Any]:
        response = self._sent(method, path, body, model)
        try:
            text = "\n".join(self._lines(response, model))
        finally:
            response.close()
        found = self.decoded(text, model)
        if check is not None:
            check(found)
        return found

    def _opened(
        self, path: str, body: Mapping[str, Any], model: str, read: Callable[[Iterator[str]], Iterator[T]]
    ) -> tuple[httpx.Response, Iterator[T]]:
        """A response whose first piece has come."""
        response = self._sent("POST", path, body, model)
        try:
            pieces = read(self._lines(response, model))
            first = list(islice(pieces, 1))
        except BaseException:
            response.close()
            raise
        return response, chain(first, pieces)

    def _rest(self, pieces: Iterator[T]) -> Iterator[T]:
        try:
            yield from pieces
        except ConnectionFailedError as error:
            broken = BadReplyError(str(error), provider=error.provider, model=error.model, hint="ask again")
        else:
            return
        raise broken

    def _sent(self, method: str, path: str, body: Mapping[str, Any] | None, model: str) -> httpx.Response:
        """A response of status 2xx whose body has not been read."""
        if not path.startswith("/"):
            raise ValueError(f"path: got {path!r}, want one below the base URL, beginning with /")
        content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        headers = dict(self._headers) if body is None else {"content-type": "application/json", **self._headers}
        if self._limiter:
            self._limiter.wait()
        client = self._connected()
        limits = httpx.Timeout(self.timeouts.read, connect=self.timeouts.connect)
        try:
            request = client.build_request(method, self.base_url + path, content=content, headers=headers, timeout=limits)
            response = client.send(request, stream=True, follow_redirects=False)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            error = self._unreached(failure, model)
        else:
            if response.is_success:
                return response
            error = self._refused(response, model)
        # Outside of the except block, so that no httpx exception hangs on it: its request holds the key.
        raise error

    def _connected(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                try:
                    direct = (
                        {f"all://{f'[{self.host}]' if ':' in self.host else self.host}": None} if is_loopback(self.host) else {}
                    )
                    self._client = httpx.Client(mounts=direct, trust_env=True)
                except (ValueError, ImportError, OSError, httpx.InvalidURL):
                    self._client = None
            if self._client is not None:
                return self._client
        raise UserError(
            f"no connection to {self.provider} can be set up with the proxies or certificates of the environment",
            "look at HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
        )

    def _lines(self, response: httpx.Response, model: str) -> Iterator[str]:
        """The lines of a body, split at line feeds alone: a JSON string may hold any other separator of Unicode."""
        chunks = response.iter_bytes()
        size, rest = 0, [b""]
        until = None if self.timeouts.body is None else self._clock() + self.timeouts.body
        while True:
            try:
                chunk = next(chunks, None)
            except (httpx.HTTPError, httpx.StreamError) as failure:
                error = self._unreached(failure, model, began=True)
                break
            if until is not None and self._clock() > until:
                what = f"{self._named(model)} sent no whole reply within {self.timeouts.body:g} s"
                error = ConnectionFailedError(what, provider=self.provider, model=model, hint="ask again")
                break
            if chunk is None:
                if last := b"".join(rest):
                    yield _text(last)
                return
            size += len(chunk)
            if size > LARGEST_BODY:
                error = BadReplyError(
                    f"{self._named(model)} sent more than {LARGEST_BODY >> 20} MB", provider=self.provider, model=model
                )
                break
            *whole, tail = chunk.split(b"\n")
            for line in whole:
                yield _text(b"".join([*rest, line]))
                rest = []
            rest.append(tail)
        raise error

    def _refused(self, response: httpx.Response, model: str) -> ProviderError:
        """What a status that is not 2xx means; with the delay that the server asks for."""
        try:
            text = self.masked("\n".join(self._lines(response, model)))
        except ProviderError:
            text = ""  # the status says enough
        finally:
            response.close()
        try:
            body: Any = json.loads(text)
        except (ValueError, RecursionError):
            body = text
        headers = {name.lower(): self.masked(value) for name, value in response.headers.items()}
        error = self._explained(Failure(self.provider, model, response.status_code, body, headers, self.where))
        if error.retry_after is None and (wait := headers.get("retry-after")):
            error.retry_after = self._seconds(wait)
        return error

    def _explained(self, failure: Failure) -> ProviderError:
        error = self._explain(failure)
        error.args = tuple(self.masked(part) if isinstance(part, str) else part for part in error.args)
        error.hint = self.masked(error.hint)
        return error

    def _seconds(self, value: str) -> float | None:
        """Seconds to wait by a Retry-After header: a number or an HTTP date; None when it is neither."""
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value.strip()):
            return float(value)
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, when.timestamp() - self._now())

    def _unreached(self, failure: Exception, model: str, *, began: bool = False) -> ProviderError:
        """What an exception of httpx means. Its own text is not repeated: it may quote headers or a proxy's password."""
        if isinstance(failure, httpx.DecodingError):
            broken = f"{self._named(model)} sent a body that cannot be unpacked"
            return BadReplyError(broken, provider=self.provider, model=model, hint="ask again")
        hint = self._hint or (LOCAL_HINT if is_loopback(self.host) else REMOTE_HINT)
        retryable = isinstance(failure, httpx.NetworkError | httpx.RemoteProtocolError | httpx.ConnectTimeout)
        if isinstance(failure, httpx.ConnectTimeout):
            what = f"cannot be reached at {self.where}: no connection within {self.timeouts.connect:g} s"
        elif isinstance(failure, httpx.TimeoutException):
            what, hint = f"was silent for {self.timeouts.read:g} s", "ask again, or allow more time"
        elif isinstance(failure, httpx.ConnectError):
            what = f"cannot be reached at {self.where}: {_reason(self.masked(str(failure)))}"
            # Where nobody listens on this machine nobody will in ten seconds.
            retryable = not is_loopback(self.host) and "certificate" not in what
            hint = "look at SSL_CERT_FILE: is there a proxy that signs for others?" if "certificate" in what else hint
        elif isinstance(failure, httpx.ProxyError):
            what, hint = f"cannot be reached at {self.where}: the proxy refused", "look at HTTPS_PROXY and NO_PROXY"
        elif began:
            what, hint = "broke off in the middle of its reply", "ask again"
        elif retryable:
            what = f"closed the connection at {self.where} without an answer"
        else:
            what, hint = f"could not be asked at {self.where} ({type(failure).__name__})", "check the base URL"
        return ConnectionFailedError(
            f"{self._named(model)} {what}", provider=self.provider, model=model, hint=hint, retryable=retryable
        )

    def _named(self, model: str) -> str:
        return named(self.provider, model)


class RateLimiter:
    """Lets at most `per_minute` requests start in any 60 seconds; the next one waits."""

    def __init__(
        self, per_minute: int, *, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._starts: deque[float] = deque(maxlen=per_minute)
        self._sleep = sleep
        self._clock = clock
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return when a request may start."""
        with self._lock:
            if len(self._starts) == self._starts.maxlen and (wait := self._starts[0] + 60.0 - self._clock()) > 0:
                self._sleep(wait)
            self._starts.append(self._clock())


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or address."""
    if host == "localhost":  # what ends in .localhost is asked of a name server by most systems
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(url: str) -> tuple[str, str] | None:
    """Host, and host with port as it is shown, of an http(s) URL; None for one that could not be asked."""
    try:
        parts = httpx.URL(url)
        host, port = parts.host, parts.port or (443 if parts.scheme == "https" else 80)
        # As the socket will do it: an empty or overlong part of a name, or a port beyond all, would only fail there.
        parts.raw_host.decode("ascii").encode("idna")
    except (httpx.InvalidURL, ValueError):
        return None
    if parts.scheme not in {"http", "https"} or not host or port > LAST_PORT:
        return None
    return host, f"{f'[{host}]' if ':' in host else host}:{port}"


def _checked_host(provider: str, base_url: str) -> tuple[str, str]:
    """Host, and host with port as it is shown. Raises UserError."""
    found = address_of(base_url)
    if found is None:
        raise UserError(f"the base URL of {provider} is none", "give one like http://localhost:8080/v1")
    return found


def _forms(secret: str) -> tuple[str, ...]:
    """The ways in which a key may be quoted. Short ones ("none", "ollama") are words that local servers are given, not secrets."""
    if len(secret) < 8:
        return ()
    return tuple(dict.fromkeys([secret, quote(secret), quote(secret, safe=""), secret.replace("/", "\\/")]))


def _reason(said: str) -> str:
    """The operating system's words for a connection that failed."""
    text = re.sub(r"^\[Errno -?\d+\] ", "", said)
    return one_line(text[:1].lower() + text[1:], 200) or "no connection"


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


__all__ = [
    "Client",
    "Failure",
    "HttpRequest",
    "HttpResponse",
    "RateLimiter",
    "Timeouts",
    "Transport",
    "address_of",
    "explain_by_status",
    "is_loopback",
    "named",
    "one_line",
    "sse_events",
]
