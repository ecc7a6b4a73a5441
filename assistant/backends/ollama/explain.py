"""What Ollama's errors mean, and calls that it could not parse, read again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assistant.backends.chat_wire import CallIds
from assistant.backends.ollama.request import PROVIDER
from assistant.backends.tool_names import ToolNames
from assistant.errors import BadReplyError, ContextLengthError, ProviderError, RateLimitError
from assistant.failures import Failure, named, one_line
from assistant.messages import Declaration, ToolCall

TOO_LONG_HINT = "begin a new conversation, or give the model a larger window (num_ctx)"
_TOO_LONG = re.compile(
    r"exceeds? the (?:available )?context|longer than the context|context (?:length|size|window) exceeded|no user query found",
    re.IGNORECASE,
)
_UNREADABLE_CALL = re.compile(
    r"error parsing tool call|failed to parse JSON|unexpected end of JSON input|invalid character .* (?:after|looking for|in) ",
    re.IGNORECASE,
)
_RAW = re.compile(r"raw='(?P<raw>.*)', err=", re.DOTALL)


class UnreadableCallError(BadReplyError):
    """A call that the model wrote and the server could not parse. raw: what it wrote, "" when the server does not say."""

    raw: str = ""


def _error_text(body: Any) -> str:
    """The words of an error, whole: raw calls in it are read again."""
    if not isinstance(body, Mapping):
        return str(body or "")
    error = body.get("error")
    if isinstance(error, Mapping):
        return str(error.get("message") or error)
    if error:
        return str(error)
    return " ".join(f"{name}: {value}" if value else name for name, value in body.items() if name.startswith("error"))


def explain(failure: Failure) -> ProviderError:
    """What an error of Ollama means."""
    said, status, model = _error_text(failure.body), failure.status, failure.model
    kind: Callable[..., ProviderError] = ProviderError
    hint, retryable = "", False
    if status in {400, 500, None} and _TOO_LONG.search(said):
        kind, hint = ContextLengthError, TOO_LONG_HINT
    elif status in {500, None} and _UNREADABLE_CALL.search(said):
        kind, hint = UnreadableCallError, "ask again, or choose another model: this one writes calls that cannot be read"
    elif status == 429:
        kind, hint, retryable = RateLimitError, "wait a little, or choose another model", True
    elif status == 404:
        hint = f"`ollama pull {model}` gets it"
    elif status in {401, 403}:
        hint = "models of ollama.com want a sign-in: `ollama signin`, or OLLAMA_API_KEY"
    elif status == 503:
        hint, retryable = "the server is busy: ask again later", True
    elif status is None or status >= 500:
        hint = "look into the server's log; a model that is too large for the memory ends like this"
    answered = f"answered {status}" if status is not None else "reported an error"
    error = kind(
        f"{named(PROVIDER, model)} {answered}: {one_line(said)}",
        provider=PROVIDER,
        model=model,
        status=status,
        hint=hint,
        retryable=retryable,
    )
    if isinstance(error, UnreadableCallError) and (found := _RAW.search(said)):
        error.raw = found["raw"]
    return error


def recovered_call(raw: str, tools: Sequence[Declaration], names: ToolNames, ids: CallIds) -> ToolCall | None:
    """The call that a server could not parse, where it is strict JSON of a known form; None otherwise.

    Forms: {"name": declared, "arguments": {...}}, or arguments alone, also as a list of one; these belong to the one tool whose
    schema has all of their names and misses none that it requires.
    """
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if not isinstance(found, dict):
        return None
    declared = {tool.name for tool in tools}
    name = names.declared(str(found.get("name")))
    if name in declared and isinstance(found.get("arguments"), dict):
        return ToolCall(ids.take(None), name, json.dumps(found["arguments"], ensure_ascii=False))
    fitting = [tool.name for tool in tools if _fits(found, tool.parameters)]
    return ToolCall(ids.take(None), fitting[0], json.dumps(found, ensure_ascii=False)) if len(fitting) == 1 else None


def _fits(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    return set(schema.get("required", ())) <= set(arguments) <= set(schema.get("properties", ()))


__all__ = ["TOO_LONG_HINT", "UnreadableCallError", "explain", "recovered_call"]
