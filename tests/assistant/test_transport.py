"""The way to a provider: what is repeated, what is waited for, what an error says, and that no key is ever in it."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant import transport
from assistant.errors import (
    BadReplyError,
    ConnectionFailedError,
    ContextLengthError,
    ProviderError,
    QuotaError,
    RateLimitError,
    UserError,
)
from assistant.transport import Failure, RateLimiter, Timeouts, Transport, explain_by_status, sse_events

KEY = "sk-planted/key+0123456789"
Handler = Callable[[httpx.Request], httpx.Response]


class Server:
    """Answers with what it is given, the last again and again; keeps what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception | Handler) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)


class Parts(httpx.SyncByteStream):
    """A body that comes in pieces, and may break; says whether it was closed."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.pieces = pieces
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def close(self) -> None:
        self.closed = True


class Waits(list[float]):
    """What was slept, in place of sleeping."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


def connected(server: Handler, base_url: str = "https://api.example/v1", **options: Any) -> Transport:
    options.setdefault("sleep", Waits())
    options.setdefault("jitter", lambda _, most: most)
    return Transport("provider", base_url, client=httpx.Client(transport=httpx.MockTransport(server)), **options)


def good() -> httpx.Response:
    return httpx.Response(200, json={"ok": True})


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_passing_failures_are_repeated(status: int, waits: Waits) -> None:
    server = Server(httpx.Response(status), good())
    assert connected(server, sleep=waits).post("/chat", {}, "m") == {"ok": True}
    assert waits == [1.0]


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 413, 422, 501])
def test_other_statuses_are_not_repeated(status: int, waits: Waits) -> None:
    server = Server(httpx.Response(status, headers={"location": "https://elsewhere.example/"}))
    with pytest.raises(ProviderError) as caught:
        connected(server, sleep=waits).post("/chat", {}, "m")
    assert (len(server.asked), waits, caught.value.status) == (1, [], status)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, RateLimitError), (402, QuotaError), (413, ContextLengthError), (400, ProviderError), (500, ProviderError)],
)
def test_a_status_becomes_its_error(status: int, kind: type[ProviderError]) -> None:
    with pytest.raises(ProviderError) as caught:
        connected(Server(httpx.Response(status, json={"error": {"message": "so it is"}})), retries=0).post("/chat", {}, "m")
    assert type(caught.value) is kind
    assert str(caught.value) == f"provider:m answered {status}: so it is"
    assert (caught.value.provider, caught.value.model) == ("provider", "m")


def test_waits_double_up_to_the_cap_and_end(waits: Waits) -> None:
    server = Server(httpx.Response(503))
    with pytest.raises(ProviderError):
        connected(server, sleep=waits, retries=9).post("/chat", {})
    assert waits == [1, 2, 4, 8, 16, 32, 64, 120, 120]


def test_jitter_takes_any_share_of_the_wait(waits: Waits) -> None:
    bounds: list[tuple[float, float]] = []

    def jitter(least: float, most: float) -> float:
        bounds.append((least, most))
        return 0.25

    connected(Server(httpx.Response(503), httpx.Response(503), good()), sleep=waits, jitter=jitter).post("/chat", {})
    assert bounds == [(0.0, 1.0), (0.0, 2.0)]
    assert waits == [0.25, 0.25]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("1.5", 1.5),
        ("Thu, 15 Oct 2026 12:00:30 GMT", 30.0),
        ("Thu, 15 Oct 2026 11:00:00 GMT", 0.0),
        ("soon", 1.0),
        ("-3", 1.0),
    ],
)
def test_retry_after_is_obeyed_in_seconds_or_as_a_date(header: str, seconds: float, waits: Waits) -> None:
    server = Server(httpx.Response(429, headers={"retry-after": header}), good())
    noon = 1_792_065_600.0
    connected(server, sleep=waits, now=lambda: noon).post("/chat", {})
    assert waits == [seconds]


def test_a_delay_beyond_the_cap_is_waited_for_once(waits: Waits) -> None:
    server = Server(httpx.Response(429, headers={"retry-after": "86400"}))
    with pytest.raises(RateLimitError) as caught:
        connected(server, sleep=waits).post("/chat", {})
    assert waits == [120.0]
    assert caught.value.retry_after == 86400.0


def test_a_provider_names_the_delay_from_its_body(waits: Waits) -> None:
    def explain(failure: Failure) -> ProviderError:
        return RateLimitError("wait", provider="provider", retryable=True, retry_after=failure.body["delay"])

    server = Server(httpx.Response(429, json={"delay": 38.601658672}), good())
    connected(server, sleep=waits, explain=explain).post("/chat", {})
    assert waits == [38.601658672]


def test_what_the_provider_calls_final_is_not_repeated(waits: Waits) -> None:
    server = Server(httpx.Response(429))
    with pytest.raises(QuotaError):
        connected(server, sleep=waits, explain=lambda _: QuotaError("no more today", provider="provider")).post("/chat", {})
    assert (len(server.asked), waits) == (1, [])


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("[Errno -2] Name or service not known"),
        httpx.ConnectTimeout("x"),
        httpx.ReadError("x"),
        httpx.WriteError("x"),
        httpx.RemoteProtocolError("Server disconnected"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_connection_that_fails_is_tried_again(failure: Exception) -> None:
    server = Server(failure, good())
    assert connected(server).post("/chat", {}) == {"ok": True}


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ReadTimeout("x"),
        httpx.ProxyError("407 proxy:secret@10.0.0.1"),
        httpx.UnsupportedProtocol("x"),
        httpx.LocalProtocolError(f"Illegal header value {KEY}"),
        httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"),
        httpx.InvalidURL("x"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_connection_that_cannot_succeed_is_not(failure: Exception, waits: Waits) -> None:
    server = Server(failure)
    with pytest.raises(ConnectionFailedError) as caught:
        connected(server, sleep=waits).post("/chat", {}, "m")
    assert (len(server.asked), waits) == (1, [])
    assert caught.value.hint
    assert "secret" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_nobody_listening_on_this_machine_is_said_at_once_with_what_to_do(waits: Waits) -> None:
    server = Server(httpx.ConnectError("[Errno 111] Connection refused"))
    with pytest.raises(ConnectionFailedError) as caught:
        connected(server, "http://localhost:11434", sleep=waits, hint="is it running? ollama serve").post(
            "/api/chat", {}, "qwen3:8b"
        )
    assert str(caught.value) == "provider:qwen3:8b cannot be reached at localhost:11434: connection refused"
    assert caught.value.hint == "is it running? ollama serve"
    assert waits == []


def test_a_wrong_port_is_a_connection_failure(unused_port: int) -> None:
    with pytest.raises(ConnectionFailedError, match=f"127.0.0.1:{unused_port}"):
        Transport("provider", f"http://127.0.0.1:{unused_port}", retries=0).get("/")


@pytest.fixture
def unused_port(socket_enabled: None) -> int:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.parametrize(
    "body",
    [b"", b"  \n", b"<html>welcome</html>", b'{"choices": [', b"[]", b'["a"]', b'"text"', b"null", b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "blank", "html", "cut", "no object", "list", "string", "null", "no text", "deep"],
)
def test_a_200_that_is_no_json_object_is_a_bad_reply(body: bytes) -> None:
    with pytest.raises(BadReplyError):
        connected(Server(httpx.Response(200, content=body))).post("/chat", {})


def test_a_list_of_one_object_is_that_object() -> None:
    assert connected(Server(httpx.Response(200, json=[{"error": 1}]))).post("/chat", {}) == {"error": 1}


def test_an_error_in_a_200_body_is_repeated_like_a_status() -> None:
    server = Server(httpx.Response(200, json={"error": {"code": 503}}), good())
    provider = connected(server)

    def check(body: dict[str, Any]) -> None:
        if "error" in body:
            raise provider.failure(body, "m", body["error"]["code"])

    assert provider.post("/chat", {}, "m", check=check) == {"ok": True}


def test_a_huge_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LARGEST_BODY", 1000)
    endless = Parts(*[b"x" * 400] * 5)
    with pytest.raises(BadReplyError, match="more than"):
        connected(Server(httpx.Response(200, stream=endless))).post("/chat", {})
    assert endless.closed


def test_a_body_that_cannot_be_unpacked_is_a_bad_reply() -> None:
    # `good` would answer a second request: unpacking fails for good, so there is none.
    broken = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Parts(b"not gzip"))
    with pytest.raises(BadReplyError):
        connected(Server(broken, good())).post("/chat", {})


def test_the_body_is_utf_8_whatever_the_documents_hold() -> None:
    server = Server(good())
    connected(server).post("/chat", {"text": "é \ud800 合"})
    assert json.loads(server.asked[0].content) == {"text": "é ? 合"}


# Streams


def streamed(*pieces: bytes | Exception) -> httpx.Response:
    return httpx.Response(200, stream=Parts(*pieces))


def test_a_stream_gives_lines_as_they_come() -> None:
    seen: list[str] = []

    def pieces() -> Iterator[bytes]:
        yield b'{"n": 1}\n{"n"'
        assert seen == ['{"n": 1}']
        yield b': 2}\r\n\n{"n": 3}'

    class Live(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return pieces()

    with connected(Server(httpx.Response(200, stream=Live()))).stream("/chat", {}, "m", iter) as lines:
        for line in lines:
            seen.append(line)  # noqa: PERF402 - what has come is looked at while it comes
    assert seen == ['{"n": 1}', '{"n": 2}', "", '{"n": 3}']


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))), st.integers(1, 7))
def test_lines_end_at_line_feeds_alone_wherever_the_pieces_are_cut(lines: list[str], size: int) -> None:
    # httpx's own lines end at U+2028, U+0085 and the like as well, which a JSON string may hold.
    raw = "".join(f"{line}\n" for line in lines).encode()
    pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
    with connected(Server(streamed(*pieces))).stream("/chat", {}, "m", iter) as found:
        assert list(found) == lines


@pytest.mark.parametrize(
    "failing",
    [httpx.Response(503), httpx.ReadError("x"), streamed(httpx.ReadError("x")), streamed(b"no whole line", httpx.ReadError("x"))],
    ids=["status", "connection", "first byte", "first line"],
)
def test_a_stream_is_repeated_until_its_first_piece(failing: httpx.Response | Exception) -> None:
    with connected(Server(failing, streamed(b"a\nb\n"))).stream("/chat", {}, "m", iter) as lines:
        assert list(lines) == ["a", "b"]


def test_a_stream_whose_reader_finds_a_passing_error_first_is_repeated() -> None:
    def read(lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            if line == "busy":
                raise ProviderError("busy", provider="provider", retryable=True)
            yield line

    with connected(Server(streamed(b"busy\n"), streamed(b"a\n"))).stream("/chat", {}, "m", read) as lines:
        assert list(lines) == ["a"]


def test_a_server_that_dies_in_the_middle_is_a_bad_reply_and_not_repeated() -> None:
    server = Server(streamed(b"a\n", httpx.RemoteProtocolError("peer closed connection")), streamed(b"again\n"))
    seen = []
    with pytest.raises(BadReplyError, match="broke off"), connected(server).stream("/chat", {}, "m", iter) as lines:
        seen.extend(lines)
    assert len(server.asked) == 1


def test_leaving_a_stream_closes_the_connection() -> None:
    body = Parts(b"a\n", b"b\n")
    with connected(Server(httpx.Response(200, stream=body))).stream("/chat", {}, "m", iter) as lines:
        assert next(lines) == "a"
        assert not body.closed
    assert body.closed


def test_closing_a_generator_over_a_stream_closes_the_connection() -> None:
    body = Parts(b"a\n", b"b\n")
    provider = connected(Server(httpx.Response(200, stream=body)))

    def reply() -> Iterator[str]:
        with provider.stream("/chat", {}, "m", iter) as lines:
            yield from lines

    pieces = reply()
    assert next(pieces) == "a"
    pieces.close()  # type: ignore[attr-defined]
    assert body.closed


def test_a_refused_stream_reads_its_error() -> None:
    answer = httpx.Response(400, json={"error": {"message": "no such field"}})
    with pytest.raises(ProviderError, match="no such field"), connected(Server(answer)).stream("/chat", {}, "m", iter):
        pass


# Keys


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
@pytest.mark.parametrize("echo", [KEY, "sk-planted%2Fkey%2B0123456789", r"sk-planted\/key+0123456789"])
@pytest.mark.parametrize(
    "shape", ['{"error":{"message":"bad key %s"}}', "<p>%s</p>", '{"error":{"message":"' + "x" * 480 + ' %s"}}']
)
def test_a_key_that_the_server_echoes_is_masked(status: int, echo: str, shape: str) -> None:
    server = Server(httpx.Response(status, text=shape % echo, headers={"x-echo": KEY}))
    provider = connected(server, auth=("authorization", f"Bearer {KEY}"), retries=1)

    def check(body: dict[str, Any]) -> None:
        raise provider.failure(body, "m", 400)

    with pytest.raises(ProviderError) as caught:
        provider.post("/chat", {}, "m", check=check)
    shown = "".join([repr(caught.value), str(caught.value), caught.value.hint, *traceback.format_exception(caught.value)])
    assert "sk-planted" not in shown.replace("x" * 40, "")
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError(KEY), httpx.ReadTimeout(KEY), httpx.LocalProtocolError(KEY), httpx.InvalidURL(KEY)]
)
def test_no_exception_that_holds_the_request_hangs_on_an_error(failure: Exception) -> None:
    with pytest.raises(ConnectionFailedError) as caught:
        connected(Server(failure), auth=("x-key", KEY), retries=0).post("/chat", {}, "m")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nX-Evil: 1", f"„{KEY}“"])
def test_a_key_that_no_header_can_hold_is_refused_unshown(key: str) -> None:
    with pytest.raises(UserError) as caught:
        Transport("provider", "https://api.example", auth=("x-key", key))
    assert "planted" not in "".join(traceback.format_exception(caught.value))


def test_the_key_goes_to_the_base_url_alone() -> None:
    server = Server(httpx.Response(302, headers={"location": "https://thief.example/"}))
    provider = Transport(
        "provider",
        "https://api.example/v1",
        auth=("x-key", KEY),
        client=httpx.Client(transport=httpx.MockTransport(server), follow_redirects=True),
    )
    with pytest.raises(ProviderError) as caught:
        provider.post("/chat", {})
    assert [str(request.url) for request in server.asked] == ["https://api.example/v1/chat"]
    assert server.asked[0].headers["x-key"] == KEY
    assert "redirects" in caught.value.hint
    with pytest.raises(ValueError, match="path"):
        provider.post("https://thief.example/", {})
    with pytest.raises(ValueError, match="path"):
        provider.post("@thief.example/", {})


def test_passwords_and_queries_of_a_url_are_not_shown() -> None:
    provider = connected(Server(httpx.ConnectError("refused")), "https://user:pass-word@api.example:8443/v1", retries=0)
    with pytest.raises(ConnectionFailedError) as caught:
        provider.post("/chat?key=hidden", {})
    assert "api.example:8443" in str(caught.value)
    assert "pass-word" not in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_dummy_keys_of_local_servers_mask_no_words() -> None:
    with pytest.raises(ProviderError, match="no ollama here"):
        connected(Server(httpx.Response(400, text="no ollama here")), auth=("authorization", "Bearer ollama")).post("/chat", {})


def test_what_a_provider_says_is_one_harmless_line() -> None:
    said = "\x1b[31mred\x1b[0m\n\u202eevil\x00" + "x" * 5000
    with pytest.raises(ProviderError) as caught:
        connected(Server(httpx.Response(400, json={"error": said}))).post("/chat", {})
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


# Settings


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "localhost:8080",
        "ftp://host/",
        "http://",
        "http://[::1",
        "file:///etc/passwd",
        "http://xn--/v1",
        "http://a..b/",
        "http://x:65536/",
    ],
)
def test_a_base_url_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(UserError, match="base URL"):
        Transport("provider", base_url)


def test_time_limits_are_those_of_the_settings() -> None:
    server = Server(good())
    connected(server, timeouts=Timeouts(connect=2.0, read=7.0)).post("/chat", {})
    found = server.asked[0].extensions["timeout"]
    assert (found["connect"], found["read"]) == (2.0, 7.0)
    assert (Timeouts().connect, Timeouts().read) == (10.0, 300.0)


def test_a_body_that_trickles_ends_at_its_limit() -> None:
    seconds = iter(range(0, 1000, 4))
    body = Parts(*[b" "] * 50)
    provider = connected(Server(httpx.Response(200, stream=body)), timeouts=Timeouts(body=10), clock=lambda: float(next(seconds)))
    with pytest.raises(ConnectionFailedError, match="within 10 s"):
        provider.get("/models")
    assert body.closed
    assert next(seconds) < 40


@pytest.mark.parametrize(
    ("base_url", "direct"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://127.8.9.1", True),
        ("http://[::1]:8080", True),
        ("https://api.example", False),
        ("http://192.168.1.5:11434", False),
    ],
)
def test_a_proxy_is_used_but_never_for_this_machine(base_url: str, direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    provider = Transport("provider", base_url)
    client = provider._connected()
    assert (client._transport_for_url(httpx.URL(base_url)) is client._transport) is direct
    provider.close()


def test_proxy_settings_that_cannot_be_used_are_named_without_their_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "nonsense://user:pass-word@proxy")
    with pytest.raises(UserError) as caught:
        Transport("provider", "https://api.example").get("/")
    assert "HTTPS_PROXY" in caught.value.hint
    assert "pass-word" not in "".join(traceback.format_exception(caught.value))


def test_closing_leaves_a_client_that_was_given() -> None:
    client = httpx.Client(transport=httpx.MockTransport(Server(good())))
    Transport("provider", "https://api.example", client=client).close()
    assert not client.is_closed


def test_the_limiter_lets_no_more_requests_start_in_a_minute() -> None:
    time = [0.0]
    starts: list[float] = []

    def sleep(seconds: float) -> None:
        time[0] += seconds

    limiter = RateLimiter(3, sleep=sleep, clock=lambda: time[0])
    for _ in range(7):
        limiter.wait()
        starts.append(time[0])
        time[0] += 1.0
    assert starts == [0.0, 1.0, 2.0, 60.0, 61.0, 62.0, 120.0]


def test_a_transport_with_a_limit_waits_before_retries_too(waits: Waits) -> None:
    server = Server(httpx.Response(503), good())
    connected(server, sleep=waits, per_minute=1, clock=lambda: 0.0).post("/chat", {})
    assert waits == [1.0, 60.0]


# Meaning of a failure


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "text"}}, "text"),
        ({"error": "text"}, "text"),
        ([{"error": {"message": "text"}}], "text"),
        ({"message": "text"}, "text"),
        ({"error": {"status": "UNAVAILABLE"}}, "UNAVAILABLE"),
        ({}, ""),
        (None, ""),
        ("bare text", "bare text"),
    ],
)
def test_the_message_of_a_failure_is_found_in_every_shape(body: Any, message: str) -> None:
    assert Failure("provider", "m", 400, body).message == message


def test_a_failure_without_a_status_is_not_repeated() -> None:
    assert not explain_by_status(Failure("provider", "m", None, {"error": "x"})).retryable


# Server-sent events


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("data: a\n\ndata: b\n\n", ["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        ("data: a\r\rdata: b\r\r", ["a", "b"]),
        ("data:a\n\n", ["a"]),
        ("data:  a\n\n", [" a"]),
        ("data: a\ndata: b\n\n", ["a\nb"]),
        (": PROCESSING\n\n: PROCESSING\n\ndata: a\n\n", ["a"]),
        ("event: message\nid: 1\nretry: 5\ndata: a\n\n", ["a"]),
        ("data: a\n\ndata: [DONE]\n\ndata: late\n\n", ["a"]),
        ("data: a\ndata: [DONE]\n\n", ["a"]),
        ("data: a", ["a"]),
        ("\ufeffdata: a\n\n", ["a"]),
        ("", []),
        ("\n\n\n", []),
        ("<html>\n</html>", []),
        ('{"error": {"code": 503}}\n', ['{"error": {"code": 503}}']),
        (
            'data: a\n\n{"error": {\n  "message": "a } in \\" text {"\n}}\ndata: b\n\n',
            ["a", '{"error": {\n  "message": "a } in \\" text {"\n}}', "b"],
        ),
        ('data: a\n[{\n"error": 1\n}\n]\n', ["a", '[{\n"error": 1\n}\n]']),
        ('{"error": {\n', ['{"error": {\n']),
        ('error: {"code": 500}\n\n', ['{"error": {"code": 500}}']),
    ],
)
def test_events_of_a_text(text: str, events: list[str]) -> None:
    assert list(sse_events(text.split("\n"))) == events


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), max_size=3))
def test_any_data_comes_back(data: list[str]) -> None:
    lines = [line for item in data for line in (f"data: x{item}", "")]
    assert list(sse_events(lines)) == [f"x{item}" for item in data]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=9),
        lambda below: st.lists(below) | st.dictionaries(st.text(max_size=9), below),
        max_leaves=6,
    )
)
def test_any_bare_object_is_balanced_over_its_lines(value: Any) -> None:
    text = json.dumps({"error": value}, indent=1)
    (found,) = sse_events([*text.split("\n"), "data: [DONE]"])
    assert json.loads(found) == {"error": value}


# The house


def test_httpx_is_imported_here_alone() -> None:
    package = Path(transport.__file__).parent
    users = [
        path.name
        for path in package.rglob("*.py")
        if re.search(r"^\s*(import|from) httpx\b", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert users == ["transport.py"]


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost.", False),
        ("model.localhost", False),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("127.1", False),
        ("0.0.0.0", False),
        ("::ffff:8.8.8.8", False),
        ("169.254.169.254", False),
        ("", False),
    ],
)
def test_this_machine_is_what_needs_no_name_server(host: str, here: bool) -> None:
    assert transport.is_loopback(host) is here
