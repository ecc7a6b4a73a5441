"""Which models each provider has, asked of the provider itself: of an Ollama, of a cloud, of any OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assistant import backends, settings
from assistant.backends.base import Capabilities, Listed, Price
from assistant.errors import KeyMissingError
from assistant.transport import Timeouts, address_of, is_loopback

if TYPE_CHECKING:
    from assistant.backends.gemini import Gemini
    from assistant.backends.ollama import OllamaServer
    from assistant.backends.openrouter import OpenRouter

CLOUDS: Mapping[str, str] = {"gemini": "gemini-3.8-flash", "openrouter": "anthropic/claude-haiku-5.5"}  # and a model of each
_SECONDS = 10.0


def of_ollama(server: OllamaServer) -> tuple[Listed, ...]:
    """The models of an Ollama, with the window that is used of each. Raises ProviderError."""
    from assistant.backends.ollama import NUM_CTX

    found = []
    for name in server.installed():
        facts = server.facts(name)
        local = server.runs_local(name, facts)
        window = min(NUM_CTX, facts.context_length or NUM_CTX) if local else facts.context_length
        known = Capabilities(facts.tools, window, Price(0.0, 0.0) if local else None, local=local)
        found.append(Listed(name, known, thinking=facts.thinking))
    return tuple(found)


def of_cloud(provider: str) -> tuple[Listed, ...]:
    """The models of gemini or openrouter. Raises KeyMissingError without a key, ProviderError."""
    return _gemini().listed() if provider == "gemini" else _openrouter().listed()


def of_server(base_url: str) -> tuple[Listed, ...]:
    """The models of an OpenAI-compatible server. Raises UsageError for an address that is none, ProviderError."""
    backend = backends.compatible("list", base_url)
    try:
        return backend.listed()
    finally:
        backend.close()


def check_key(provider: str) -> None:
    """Ask a cloud whether it knows the key. Raises ProviderError where it does not, KeyMissingError without one."""
    if provider == "gemini":
        _gemini().listed()
    else:
        _openrouter().check_key()


def is_here(base_url: str) -> bool:
    """Whether a server's address is on this machine."""
    from urllib.parse import urlsplit

    return address_of(base_url) is not None and is_loopback(urlsplit(base_url).hostname or "")


def _gemini() -> Gemini:
    from assistant.backends.gemini import Gemini

    brief = Timeouts(connect=_SECONDS, read=_SECONDS, body=_SECONDS)
    return Gemini("list", key=_key("gemini"), timeouts=brief, retries=0)


def _openrouter() -> OpenRouter:
    from assistant.backends.openrouter import BASE_URL

    _key("openrouter")
    return backends.compatible("list", BASE_URL)


def _key(provider: str) -> str:
    found = settings.find_key(provider)
    if found is None:
        raise KeyMissingError(f"{provider} wants a key, and none is set", f"archivist keys set {provider}")
    return found.value


__all__ = ["CLOUDS", "check_key", "is_here", "of_cloud", "of_ollama", "of_server"]
