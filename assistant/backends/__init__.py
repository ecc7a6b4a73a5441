"""The models: one module per provider, all with the same door (`base.Backend`). `resolve` finds one by its name."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assistant import settings
from assistant.errors import ProviderError, UsageError, UserError

if TYPE_CHECKING:
    from assistant.backends.base import Backend
    from assistant.backends.openrouter import OpenRouter
    from search import Library

PROVIDERS = ("gemini", "ollama", "openrouter", "replay", "offline")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model's name and why it is used."""

    spec: str
    why: str


def chosen() -> Choice | None:
    """The model of ARCHIVIST_MODEL, else the saved one, None where neither names one. No server is asked."""
    from_environment = os.environ.get("ARCHIVIST_MODEL", "").strip()
    if from_environment:
        return Choice(from_environment, "from ARCHIVIST_MODEL")
    saved = settings.saved_model()
    return Choice(saved, "saved in the settings") if saved else None


def choose(named: str | None) -> Choice:
    """The model to use: the one named, ARCHIVIST_MODEL, the saved one, a running Ollama that has a model with tools, else offline.

    A key in the environment alone never chooses a cloud.
    """
    if named is not None:
        return Choice(named, "named")
    settled = chosen()
    if settled is not None:
        return settled
    local = _local_model()
    if local:
        return Choice(f"ollama:{local}", "Ollama runs here and has it")
    return Choice("offline", "no model is named or saved, and no Ollama with a model for tools runs here")


def split(spec: str) -> tuple[str, str]:
    """`provider:model` in its two parts; `provider/model` is an alias. Raises UsageError with the nearest provider."""
    for sign in ":/":
        provider, found, model = spec.partition(sign)
        if found and provider in PROVIDERS:
            if not model and provider != "offline":
                raise UsageError(f"model: got {spec!r}, want {provider}:NAME", "archivist models lists what can be used")
            return provider, model
    if spec == "offline":
        return "offline", ""
    near = difflib.get_close_matches(spec.partition(":")[0].partition("/")[0], PROVIDERS, n=1, cutoff=0.4)
    meant = f" Did you mean {near[0]}:...?" if near else ""
    raise UsageError(
        f"model: got {spec!r}, want PROVIDER:MODEL with one of {', '.join(PROVIDERS)}.{meant}",
        "for example ollama:qwen3:8b, gemini:gemini-3.8-flash or offline",
    )


def resolve(
    spec: str,
    *,
    library: Library | None = None,
    today: date | None = None,
    base_url: str | None = None,
    stream: bool = True,
    extra_request: dict[str, Any] | None = None,
) -> Backend:
    """The backend with this name.

    library: what the offline backend reads names from. base_url: any OpenAI-compatible server, for openrouter only, else the one of
    the settings; a host that is not the provider's own gets ARCHIVIST_API_KEY and no other key. extra_request: merged into each
    body; for programs only.
    Raises UsageError for a name that is not understood.
    """
    provider, model = split(spec)
    if base_url is not None and provider != "openrouter":
        raise UsageError(f"base-url: {provider} has its own address", "use it with -m openrouter:MODEL")
    if provider == "gemini":
        from assistant.backends.gemini import Gemini

        return Gemini(model, key=_key("gemini"), stream=stream, extra_request=extra_request)
    if provider == "openrouter":
        return compatible(model, base_url, stream=stream, extra_request=extra_request)
    if provider == "ollama":
        from assistant.backends.ollama import Ollama

        return Ollama(model, key=_key("ollama"), stream=stream, extra_request=extra_request)
    if provider == "replay":
        from assistant.backends.replay import Replay

        return Replay(Path(model))
    if library is None:
        raise UserError("offline: needs a library", "archivist index DIR makes one")
    from assistant.backends.offline import Offline, catalogue_of

    return Offline(catalogue_of(library), today=today)


def compatible(
    model: str, base_url: str | None = None, *, stream: bool = True, extra_request: dict[str, Any] | None = None
) -> OpenRouter:
    """A model of OpenRouter, or of any server of its wire by its base URL. Raises UsageError for an address that cannot be used."""
    from assistant.backends.openrouter import BASE_URL, OpenRouter
    from assistant.transport import address_of, one_line

    url = base_url if base_url is not None else settings.own().base_url or BASE_URL
    example = "for example http://127.0.0.1:8080/v1"
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UsageError("base-url: want http(s)://host[:port]/path, got something else", example) from None
    if address_of(url) is None or not parts.hostname or "@" in parts.netloc or parts.query:
        shown = one_line(f"{parts.scheme}://{parts.hostname or ''}{parts.path}", 80)  # what else it holds may be a secret
        raise UsageError(f"base-url: got {shown!r}, want http(s)://host[:port]/path", example)
    if parts.hostname == urlsplit(BASE_URL).hostname:
        if parts.scheme != "https":
            raise UsageError("base-url: openrouter.ai is asked over https only, or its key would travel in the open")
        return OpenRouter(model, key=_key("openrouter"), base_url=url, stream=stream, extra_request=extra_request)
    return OpenRouter(model, key=_key("other"), base_url=url, stream=stream, extra_request=extra_request)


def _key(provider: str) -> str:
    """A provider's key, "" without one: the backend says so when it is asked, and can show a request without it."""
    found = settings.find_key(provider)
    return found.value if found else ""


def _local_model() -> str | None:
    """A model that takes tools, of the Ollama that runs on this machine; None when none does. Models of its cloud do not count."""
    from assistant.backends.ollama import OllamaServer

    server = OllamaServer()
    if not server.loopback:
        return None
    try:
        shown = ((name, server.facts(name)) for name in server.installed())
        return next((name for name, facts in shown if facts.tools and server.runs_local(name, facts)), None)
    except ProviderError:
        return None
