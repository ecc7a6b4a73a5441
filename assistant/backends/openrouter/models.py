"""What a model behind OpenRouter or a server like it can do: tools, context, price, by `/models` and llama-server's `/props`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from assistant.backends.base import Capabilities, Listed, Price
from assistant.errors import ProviderError
from assistant.transport import Transport

_NOT_OFFERED = frozenset({400, 403, 404, 405, 501})  # answers of servers that have no such page
_CONTEXT_FIELDS = ("context_length", "max_model_len", "max_context_length")  # OpenRouter, vLLM, LM Studio


def router_capabilities(transport: Transport, model: str) -> Capabilities:
    """By OpenRouter's list of models; without the list, or for a model that is not on it, they are unknown.

    Its replies say what they cost, whatever the list says.
    """
    try:
        entry = _entry(transport.get("/models", model), model)
    except ProviderError:
        entry = {}  # the question itself is asked next, and what keeps it from being answered is said then
    return _told(entry)


def listed(transport: Transport, *, router: bool, local: bool) -> tuple[Listed, ...]:
    """The models that a server lists, in its order. router: it is OpenRouter itself. Raises ProviderError."""
    data = transport.get("/models").get("data")
    entries = [entry for entry in data if isinstance(entry, Mapping)] if isinstance(data, list) else []
    price = Price(0.0, 0.0) if local else None
    return tuple(
        Listed(
            str(entry["id"]),
            _told(entry) if router else Capabilities(context_length=_context(entry), price=price, local=local),
            thinking="reasoning" in (entry.get("supported_parameters") or ()),
        )
        for entry in entries
        if isinstance(entry.get("id"), str)
    )


def _told(entry: Mapping[str, Any]) -> Capabilities:
    """What OpenRouter's list says of a model; {} for one that is not on it."""
    parameters = entry.get("supported_parameters")
    return Capabilities(
        tools="tools" in parameters if isinstance(parameters, list) else True,
        context_length=_context(entry),
        price=_price(entry.get("pricing")),
        reports_cost=True,
    )


def server_capabilities(transport: Transport, root: Transport, model: str, *, local: bool) -> Capabilities:
    """By the list of another server, as far as it has one.

    root: the same server above `/v1`, where llama-server tells its window and its chat template; a template that has no place for
    tools makes it ignore them without a word. Raises ProviderError.
    """
    entry = _entry(_offered(transport, "/models", model), model)
    tools, context = True, _context(entry)
    if entry.get("owned_by") == "llamacpp":
        props = _offered(root, "/props", model)
        settings = props.get("default_generation_settings")
        context = _positive(settings.get("n_ctx")) if isinstance(settings, Mapping) else context
        tools = _template_takes_tools(props)
    return Capabilities(tools=tools, context_length=context, price=Price(0.0, 0.0) if local else None, local=local)


def _offered(transport: Transport, path: str, model: str) -> dict[str, Any]:
    """A page that a server may have, {} when it says that it does not."""
    try:
        return transport.get(path, model)
    except ProviderError as error:
        if error.status not in _NOT_OFFERED:
            raise
        return {}


def _entry(listed: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The model's entry, by its name or by that without `:variant`; the only one of a server that has one model for any name."""
    data = listed.get("data")
    entries = [entry for entry in data if isinstance(entry, Mapping)] if isinstance(data, list) else []
    by_name = {str(entry.get("id")): entry for entry in entries}
    found = by_name.get(model) or by_name.get(model.partition(":")[0])
    return found or (entries[0] if len(entries) == 1 else {})


def _template_takes_tools(props: Mapping[str, Any]) -> bool:
    """Whether a chat template mentions tools; True where the server tells no template."""
    templates = [props.get(name) for name in ("chat_template", "chat_template_tool_use")]
    told = [template for template in templates if isinstance(template, str) and template]
    return not told or any("tools" in template for template in told)


def _context(entry: Mapping[str, Any]) -> int | None:
    return next((size for size in (_positive(entry.get(name)) for name in _CONTEXT_FIELDS) if size), None)


def _price(pricing: Any) -> Price | None:
    """Dollars for a million tokens, from dollars for one as text; negative numbers stand for prices that vary."""
    if not isinstance(pricing, Mapping):
        return None
    try:
        found = Price(float(pricing["prompt"]) * 1e6, float(pricing["completion"]) * 1e6)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return found if all(math.isfinite(dollars) and dollars >= 0 for dollars in (found.input, found.output)) else None


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


__all__ = ["listed", "router_capabilities", "server_capabilities"]
