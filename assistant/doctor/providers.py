"""The models: which one is used, whether its server answers, and what it can do. Only this machine is asked unless `online`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from assistant import backends, settings
from assistant.backends import catalogues
from assistant.doctor.models import Check, Named, Scene, State
from assistant.errors import BadReplyError, ProviderError
from search.counting import counted

if TYPE_CHECKING:
    from assistant.backends.base import Listed
    from assistant.backends.ollama import OllamaServer

SUGGESTED = "qwen3:8b"
_SHOWN = 6
_LEAST_WINDOW = 4096  # tokens: declared tools and one result take most of it
_PULL = f"archivist models pull {SUGGESTED}"


def checks(scene: Scene) -> Iterator[Named]:
    """The model in use, the servers on this machine, the clouds."""
    ollama = _Ollama(scene)
    yield "in use", partial(_used, scene)
    yield "Ollama", partial(_ollama, scene, ollama)
    if ollama.asked and isinstance(ollama.found, tuple) and ollama.found:
        yield "tools", partial(_tools, scene, ollama)
        yield "context", partial(_context, scene, ollama)
    if scene.base_url is not None:
        yield "server", partial(_server, scene, scene.base_url)
    for provider in catalogues.CLOUDS:
        yield provider, partial(_cloud, scene, provider)


@dataclass
class _Ollama:
    """The Ollama that is asked, at most once; not at all where it is on another machine, unless others may be asked, too."""

    scene: Scene
    asked: bool = False

    @cached_property
    def server(self) -> OllamaServer:
        """Where it is. Raises UserError for an address that is none."""
        from assistant.backends.ollama import OllamaServer

        key = settings.find_key("ollama")
        return OllamaServer(key=key.value if key else "")

    @cached_property
    def found(self) -> tuple[Listed, ...] | ProviderError:
        """Its models, or why there are none to be had."""
        self.asked = True
        try:
            return catalogues.of_ollama(self.server)
        except ProviderError as error:
            return error


def _used(scene: Scene) -> Check:
    if scene.choice is None:
        finding = "none is named or saved: a model of a local Ollama that takes tools, else offline"
        return Check("in use", "ok", finding, "archivist models use offline")
    backends.split(scene.choice.spec)
    return Check("in use", "ok", f"{scene.choice.spec} ({scene.choice.why})")


def _ollama(scene: Scene, ollama: _Ollama) -> Check:
    url = ollama.server.url
    if not (ollama.server.loopback or scene.online):
        return Check("Ollama", "skipped", f"{url} is another machine; asked with --online", scene.command("doctor --online"))
    found = ollama.found
    if isinstance(found, BadReplyError):
        return Check("Ollama", "warning", str(found), "echo $OLLAMA_HOST")
    if isinstance(found, ProviderError):
        state: State = "failed" if scene.provider == "ollama" else "skipped"
        return Check("Ollama", state, f"not running at {url}", "ollama serve")
    if not found:
        return Check("Ollama", "warning", f"runs at {url}, without any model", _PULL)
    return Check("Ollama", "ok", f"runs at {url} with {counted(len(found), 'model')}")


def _tools(scene: Scene, ollama: _Ollama) -> Check:
    """Which models can call tools: the others get the passages of a first search and can do no more."""
    assert isinstance(ollama.found, tuple)
    able = [model.name for model in ollama.found if model.capabilities.tools]
    used = _model_in_use(scene)
    if used and not _same(used, ollama.found):
        return Check("tools", "failed", f"{used} is in use and not installed", f"archivist models pull {used}")
    if used and not _same(used, [model for model in ollama.found if model.capabilities.tools]):
        return Check("tools", "warning", f"{used} is in use and cannot call tools", _PULL)
    if not able:
        return Check("tools", "warning", "none of the models can call tools", _PULL)
    shown = ", ".join(able[:_SHOWN]) + (f" and {len(able) - _SHOWN} more" if len(able) > _SHOWN else "")
    return Check("tools", "ok", f"{len(able)} of {counted(len(ollama.found), 'model')} can call them: {shown}")


def _context(scene: Scene, ollama: _Ollama) -> Check:
    """The window of the model in use, or of the one that would be."""
    from assistant.backends.ollama import NUM_CTX

    assert isinstance(ollama.found, tuple)
    used = _model_in_use(scene)
    model = _same(used, ollama.found) if used else next((one for one in ollama.found if one.capabilities.tools), ollama.found[0])
    if model is None:
        return Check("context", "skipped", f"{used} is not installed")
    made_for = ollama.server.facts(model.name).context_length
    taken = model.capabilities.context_length
    if made_for is None or taken is None:
        return Check("context", "ok", f"{model.name} does not tell its window; {NUM_CTX:,} tokens are asked for")
    finding = f"{model.name} was made for {made_for:,} tokens, {taken:,} are used{' (num_ctx)' if taken < made_for else ''}"
    if taken < _LEAST_WINDOW:
        return Check("context", "warning", f"{finding}: little room beside the tools", _PULL)
    return Check("context", "ok", finding)


def _model_in_use(scene: Scene) -> str:
    """The name of the Ollama model in use, "" when another provider's is."""
    if scene.choice is None or scene.provider != "ollama":
        return ""
    return backends.split(scene.choice.spec)[1]


def _same(name: str, models: tuple[Listed, ...] | list[Listed]) -> Listed | None:
    """The model of this name; Ollama lists a name without a tag as NAME:latest."""
    return next((model for model in models if model.name in {name, f"{name}:latest"}), None)


def _server(scene: Scene, base_url: str) -> Check:
    here = catalogues.is_here(base_url)
    if not (here or scene.online):
        return Check("server", "skipped", "base_url is another machine's; asked with --online", scene.command("doctor --online"))
    try:
        models = catalogues.of_server(base_url)
    except ProviderError as error:
        return Check("server", "failed", str(error), error.hint)
    names = ", ".join(model.name for model in models[:_SHOWN]) or "no model"
    return Check("server", "ok", f"answers and lists {names}")


def _cloud(scene: Scene, provider: str) -> Check:
    if settings.find_key(provider) is None:
        return Check(provider, "skipped", "no key: not used")
    if not scene.online:
        return Check(provider, "skipped", "there is a key; asked with --online", "archivist doctor --online")
    try:
        catalogues.check_key(provider)
    except ProviderError as error:
        return Check(provider, "failed", str(error), error.hint)
    return Check(provider, "ok", "answers and knows the key")


__all__ = ["SUGGESTED", "checks"]
