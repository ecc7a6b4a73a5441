"""`archivist tools`, `models use` and `keys`: what a model is given, which one is used, and the keys they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant import backends, render, settings
from assistant.schemas import token_cost
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from assistant.tools import Toolbox

if TYPE_CHECKING:
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


def use(spec: str) -> None:
    """Save a model. Raises UserError for a name that is not understood."""
    provider, model = backends.split(spec)
    kept = f"{provider}:{model}" if model else provider
    path = settings.save_model(kept)
    render.err().write(render.one_line(settings.redact(f"{kept} is used from now on when none is named ({path})")))
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
