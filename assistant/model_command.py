"""`archivist tools`, `models` and `keys`: what a model is given, which ones there are, and the keys they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant import backends, render, settings
from assistant.schemas import token_cost
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from assistant.tools import Toolbox

if TYPE_CHECKING:
    from assistant.backends.ollama import ModelFacts
    from search import Library


def tools(library: Library, *, as_json: bool) -> None:
    """Print each declaration and its token cost, or the schemas as JSON."""
    out = render.out()
    declared = Toolbox((*build(library), *build_table_tools(library))).declarations()
    if as_json:
        shown = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters, "tokens": token_cost(tool)}
            for tool in declared
        ]
        out.write(render.as_json({"tools": shown, "tokens": sum(token_cost(tool) for tool in declared)}))
        return
    for tool in declared:
        out.write(f"{out.style(tool.name, '1')}  about {token_cost(tool)} tokens")
        for line in tool.description.splitlines():
            out.write(f"  {render.safe(line)}")
        required = set(tool.parameters.get("required", ()))
        for name, field in tool.parameters.get("properties", {}).items():
            out.write(f"    {name}{' (required)' if name in required else ''}: {render.one_line(field.get('description', ''))}")
        out.write()
    out.write(f"{len(declared)} tools, about {sum(token_cost(tool) for tool in declared)} tokens in every request")


def models(*, as_json: bool) -> None:
    """List what can be used now: offline, the models of the Ollama that runs here, the clouds that a key is there for."""
    from assistant.backends.ollama import OllamaServer
    from assistant.errors import ProviderError

    listed: list[dict[str, str]] = [{"model": "offline", "note": "no model: rules and verbatim sentences"}]
    trouble = ""
    try:
        server = OllamaServer()
        listed += [{"model": f"ollama:{name}", "note": _abilities(server.facts(name))} for name in server.installed()]
    except ProviderError as error:
        trouble = f"{error} ({error.hint})"
    for provider, example in (("gemini", "gemini-3.8-flash"), ("openrouter", "anthropic/claude-haiku-5.5")):
        key = settings.find_key(provider)
        note = f"key from {key.source}" if key else f"needs a key: archivist keys set {provider}"
        listed.append({"model": f"{provider}:{example}", "note": f"for example; {note}"})
    choice = backends.choose(None)
    out = render.out()
    if as_json:
        out.write(render.as_json({"models": listed, "used": choice.spec, "why": choice.why, "ollama": trouble or "runs"}))
        return
    width = max(len(entry["model"]) for entry in listed)
    for entry in listed:
        out.write(f"{render.one_line(entry['model']):{width}}  {render.one_line(entry['note'])}")
    if trouble:
        render.err().write(render.one_line(trouble))
    out.write(render.one_line(f"used when none is named: {choice.spec} ({choice.why})"))


def _abilities(facts: ModelFacts) -> str:
    known = ["tools" if facts.tools else "no tools: gets the passages of a first search", *(["thinking"] if facts.thinking else [])]
    return ", ".join([*known, *([f"window {facts.context_length:,} tokens"] if facts.context_length else [])])


def use(spec: str) -> None:
    """Save a model. Raises UserError for a name that is not understood."""
    provider, model = backends.split(spec)
    kept = f"{provider}:{model}" if model else provider
    path = settings.save_model(kept)
    render.err().write(render.one_line(f"{kept} is used from now on when none is named ({path})"))
    if provider in settings.KEY_NAMES and provider != "ollama" and settings.find_key(provider) is None:
        render.err().write(f"it needs a key: archivist keys set {provider}")


def set_key(provider: str, value: str) -> None:
    """Save a key. Raises UserError for an unknown provider or a value that is no key."""
    path = settings.save_key(provider, value)
    render.err().write(render.one_line(f"key for {provider} saved in {path}, readable by you alone"))


def list_keys() -> None:
    """For each provider, where its key comes from."""
    out = render.out()
    for provider, names in settings.KEY_NAMES.items():
        key = settings.find_key(provider)
        out.write(f"{provider:12}{render.one_line(key.source if key else 'none: set ' + ' or '.join(names))}")
