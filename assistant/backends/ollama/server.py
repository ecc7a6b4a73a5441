"""An Ollama server and its models, through the `ollama` package: what is installed, what a model can do, pulling one.

The package is imported when a server is asked. Left alone it would send OLLAMA_API_KEY to any host, follow redirects and take
a proxy to this machine; here it does none of these.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assistant.backends.ollama.request import PROVIDER
from assistant.errors import BadReplyError, ConnectionFailedError, ProviderError, UserError
from assistant.failures import named, one_line
from assistant.transport import address_of, is_loopback

if TYPE_CHECKING:
    import ollama

    from assistant.transport import Client, HttpRequest, HttpResponse

DEFAULT_PORT = 11434
CLOUD_HOST = "ollama.com"
ASK_SECONDS = 15.0
START_HINT = "start it with `ollama serve`, or set OLLAMA_HOST to where it listens"
_CLOUD = re.compile(r"[-:]cloud\s*$", re.IGNORECASE)
_MOST_BYTES = 1 << 60
_SHOW = "/api/show"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model can do. context_length: tokens that it was made for, None when the server does not say. elsewhere: the server
    passes it on to another, which a copy of a cloud model under a name of the person's own does not show.
    """

    tools: bool = True
    thinking: bool = False
    context_length: int | None = None
    family: str = ""
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download is: what is being done, and bytes, 0 of 0 where there is nothing to count."""

    status: str
    done: int = 0
    total: int = 0


class OllamaServer:
    """A server by its host: `host`, `host:port` or a URL; None takes OLLAMA_HOST, else OLLAMA_BASE_URL, else this machine.

    key: for ollama.com alone. client: for tests.
    """

    def __init__(self, host: str | None = None, *, key: str = "", client: Client | None = None) -> None:
        self.url = server_url(host or os.environ.get("OLLAMA_HOST") or os.environ.get("OLLAMA_BASE_URL", "").removesuffix("/v1"))
        name = urlsplit(self.url).hostname or ""
        self.cloud = name == CLOUD_HOST or name.endswith(f".{CLOUD_HOST}")
        self.loopback = is_loopback(name)
        self.key = key if self.cloud and self.url.startswith("https:") else ""
        self._client = client

    def runs_local(self, model: str, facts: ModelFacts) -> bool:
        """Whether nothing leaves this machine: a server here, and none of the models that it passes on to the cloud."""
        return self.loopback and not is_cloud(model) and not facts.elsewhere

    def installed(self) -> tuple[str, ...]:
        """Names of the models on the server, newest first as it lists them. Raises ProviderError."""
        with self._asked() as client:
            return tuple(entry.model for entry in client.list().models if entry.model)

    def facts(self, model: str) -> ModelFacts:
        """What a model can do. Raises ProviderError: 404 when it is not installed, with what is."""
        from pydantic import ValidationError

        said: dict[str, Any] = {}
        try:
            with self._asked(model, said=said) as client:
                try:
                    shown = client.show(model)
                except ValidationError:
                    # A server that leaves out what the package insists on: nothing is known but where it runs.
                    return ModelFacts(elsewhere=_is_elsewhere(said))
        except ProviderError as error:
            raise self.with_installed(error) from None
        capabilities = shown.capabilities
        return ModelFacts(
            tools="tools" in capabilities if capabilities else ".Tools" in (shown.template or ".Tools"),
            thinking="thinking" in (capabilities or ()),
            context_length=_context(shown.modelinfo or {}),
            family=(shown.details.family if shown.details else "") or "",
            elsewhere=_is_elsewhere(said),
        )

    def pull(self, model: str) -> Generator[PullProgress, None, None]:
        """Download a model; closing the iterator stops it. Raises ProviderError."""
        with self._asked(model, seconds=None) as client:
            for step in client.pull(model, stream=True):
                total = _bytes(step.total)
                yield PullProgress(one_line(step.status or "", 80), min(_bytes(step.completed), total), total)

    def with_installed(self, error: ProviderError) -> ProviderError:
        """A "model not found" with the models that are there, and how to get the one that is not; other errors as they are."""
        if error.status != 404:
            return error
        try:
            names = [name.removesuffix(":latest") for name in self.installed()]
        except ProviderError:
            names = []  # the first error says more
        there = f"; installed are {', '.join(names[:12])}{' and more' if len(names) > 12 else ''}" if names else ""
        error.hint = f"`ollama pull {error.model}` gets it{there}"
        return error

    @contextmanager
    def _asked(
        self, model: str = "", *, seconds: float | None = ASK_SECONDS, said: dict[str, Any] | None = None
    ) -> Iterator[ollama.Client]:
        """A client of the package; what goes wrong with it becomes a ProviderError. said: takes what is shown of a model as it
        came, because the package leaves out the fields that it does not know.
        """
        import ollama

        options: dict[str, Any] = {"auth": self._authorized, "follow_redirects": False, "timeout": seconds}
        if said is not None:
            options["event_hooks"] = {"response": [partial(_note, said)]}
        if self._client is not None:
            options["transport"] = self._client._transport
        client = ollama.Client(host=self.url, trust_env=not self.loopback, **options)
        try:
            yield client
        except ollama.ResponseError as error:
            failed = refused(model, error.status_code, error.error)
        except ConnectionError:
            failed = ConnectionFailedError(
                f"{named(PROVIDER, model)} cannot be reached at {self.url}", provider=PROVIDER, model=model, hint=START_HINT
            )
        except (ValueError, TypeError, AttributeError):
            failed = BadReplyError(
                f"what answers at {self.url} is not Ollama", provider=PROVIDER, model=model, hint="check OLLAMA_HOST and its port"
            )
        except Exception as error:  # noqa: BLE001 - the package lets exceptions of its HTTP library through
            # A stream that cannot be opened comes without the package's own words for it.
            how = "cannot be reached" if type(error).__name__.startswith("Connect") else "broke off"
            failed = ConnectionFailedError(
                f"{named(PROVIDER, model)} {how} at {self.url} ({type(error).__name__})",
                provider=PROVIDER,
                model=model,
                hint=START_HINT,
            )
        else:
            return
        finally:
            client._client.close()
        raise failed

    def _authorized(self, request: HttpRequest) -> HttpRequest:
        """A request with our key, for ollama.com, or with none: the package would send that of the environment to any host."""
        request.headers.pop("authorization", None)
        if self.key:
            request.headers["authorization"] = f"Bearer {self.key}"
        return request


def _bytes(sent: int | None) -> int:
    return sent if sent is not None and 0 < sent < _MOST_BYTES else 0


def _note(said: dict[str, Any], response: HttpResponse) -> None:
    if response.request.url.path.endswith(_SHOW):
        response.read()
        with suppress(ValueError, RecursionError):
            shown = response.json()
            said.update(shown if isinstance(shown, dict) else {})


def _is_elsewhere(said: Mapping[str, Any]) -> bool:
    return bool(said.get("remote_host") or said.get("remote_model"))


def refused(model: str, status: int | None, said: str) -> ProviderError:
    """The error of a question about models, which has few ways to fail."""
    # An error within a stream comes without a status, which the package makes -1.
    how = "said" if status is None or status < 0 else f"answered {status}"
    return ProviderError(f"{named(PROVIDER, model)} {how}: {one_line(str(said))}", provider=PROVIDER, model=model, status=status)


def is_cloud(model: str) -> bool:
    """Whether a name is that of a model which runs at ollama.com, whatever server is asked."""
    return _CLOUD.search(model) is not None


def server_url(host: str) -> str:
    """The URL of a server, by Ollama's own rules: port 11434 unless a scheme says 80 or 443.

    An address to listen on everywhere is this machine. Raises UserError.
    """
    text = host.strip().strip("\"'").rstrip("/")
    if text == CLOUD_HOST:
        text = f"https://{text}"
    scheme, found, rest = text.partition("://")
    if not found:
        scheme, rest = "http", text
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError:
        raise _no_address() from None
    if scheme not in {"http", "https"} or "@" in rest:
        raise _no_address()
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104 - the contrary of binding to it
    port = port or ({"http": 80, "https": 443}[scheme] if found else DEFAULT_PORT)
    url = f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}{parts.path}"
    if address_of(url) is None:
        raise _no_address()
    return url


def _no_address() -> UserError:
    return UserError("OLLAMA_HOST is not an address", "give one like 127.0.0.1:11434 or http://server:11434")


def _context(info: Mapping[str, Any]) -> int | None:
    """The window that a model was made for: `<architecture>.context_length`."""
    sizes = [value for name, value in info.items() if name.endswith(".context_length") and isinstance(value, int)]
    return max(sizes, default=None)


__all__ = ["START_HINT", "ModelFacts", "OllamaServer", "PullProgress", "is_cloud", "refused", "server_url"]
