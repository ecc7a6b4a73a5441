"""What errors of OpenRouter and of OpenAI-style servers mean, by status, by the body's code and by its words.

The shapes that are read: {"error": {code, message, metadata: {provider_name, raw, error_type}}}, the same inside a body of status
200 or a choice; {"error": {availability: {...}, http_status, error_type}}; {"error": "text"}; {"error": {type, n_ctx}} of
llama-server; {"message", "code"} and {"detail"} of vLLM.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from assistant.errors import ContextLengthError, ProviderError, QuotaError, RateLimitError, RefusedError
from assistant.failures import Failure, named, one_line

_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "token_limit_exceeded", "payload_too_large"})
_REFUSED = frozenset({"content_policy_violation", "refusal", "invalid_prompt", "content_filter"})
_PASSING = frozenset(
    {"provider_overloaded", "provider_unavailable", "server", "timeout", "capacity_exhausted", "temporarily_unavailable"}
)
_LASTING = frozenset(
    {
        "model_not_found",
        "no_endpoints",
        "model_deprecated",
        "constraint_filtered",
        "privacy_restricted",
        "free_variant_ended",
    }
)
_PASSING_STATUS = frozenset({408, 502, 503, 504, 524, 529})
_TOO_LONG_TEXT = re.compile(
    r"context (?:length|size|window)|prompt is too long|input length exceeds|too many (?:input )?tokens|maximum context",
    re.IGNORECASE,
)
_DAILY = re.compile(r"per[-_ ]day|\bdaily\b|\bper 24 hours\b", re.IGNORECASE)
_BAD_SIGNATURE = re.compile(r"(?:corrupt|invalid)\w*[^.]{0,40}signature|signature[^.]{0,40}(?:corrupt|invalid)", re.IGNORECASE)
A_DAY_LIMIT = 3600.0  # seconds: who asks for a longer wait means a quota


@dataclass(frozen=True, slots=True)
class Facts:
    """What a failed answer says. status: HTTP, or the body's code. kinds: every machine-readable word in it, in lower case."""

    status: int | None
    kinds: frozenset[str]
    said: str
    retryable: bool | None
    retry_after: float | None
    flagged: bool


def explain(failure: Failure, *, router: bool) -> ProviderError:
    """The error that a failed answer means. router: it came from OpenRouter itself, not from another server of the same wire."""
    facts = facts_of(failure)
    status = facts.status
    kind: type[ProviderError] = ProviderError
    retryable = status in _PASSING_STATUS or (router and status == 500) or bool(facts.kinds & _PASSING)
    hint = _hint(facts, router=router)
    too_long = status in {400, 413, 422, 500, None} and _TOO_LONG_TEXT.search(facts.said)
    if facts.kinds & _TOO_LONG or status == 413 or too_long:
        kind, retryable, hint = ContextLengthError, False, "begin a new conversation, or choose a model with a longer context"
    elif facts.kinds & _REFUSED or (status == 403 and facts.flagged):
        kind, retryable, hint = RefusedError, False, "put the question in other words, or choose another model"
    elif status == 402 or "payment_required" in facts.kinds:
        kind, retryable = QuotaError, False
        hint = "add credit at https://openrouter.ai/settings/credits" if router else "buy credit at the provider"
    elif status == 429 or "rate_limit_exceeded" in facts.kinds:
        daily = _DAILY.search(facts.said) or (facts.retry_after or 0.0) > A_DAY_LIMIT
        kind, retryable = (QuotaError, False) if daily else (RateLimitError, True)
        hint = "the limit of the day is used up: choose another model" if daily else "wait a little, or choose another model"
    if facts.kinds & _LASTING or facts.retryable is False:
        retryable = False
    elif facts.retryable and kind in {ProviderError, RateLimitError}:
        retryable = True
    answered = f"answered {status}" if status is not None else "reported an error"
    return kind(
        f"{named(failure.provider, failure.model)} {answered}{': ' if facts.said else ''}{facts.said}",
        provider=failure.provider,
        model=failure.model,
        status=status,
        hint=hint,
        retryable=retryable,
        retry_after=facts.retry_after,
    )


def is_bad_signature(error: ProviderError) -> bool:
    """Whether a provider refuses reasoning that it, or a sister of it, signed: sent back without, the request may pass."""
    return error.status == 400 and _BAD_SIGNATURE.search(str(error)) is not None


def facts_of(failure: Failure) -> Facts:
    """The facts of a failed answer, whatever its shape."""
    body = failure.body[0] if isinstance(failure.body, list) and failure.body else failure.body
    outer = body if isinstance(body, Mapping) else {}
    error = outer.get("error")
    if error is None and (choice := first_choice(outer)):
        error = choice.get("error")
    inner = error if isinstance(error, Mapping) else {} if error else outer
    metadata = _mapping(inner.get("metadata"))
    availability = _mapping(inner.get("availability"))
    codes = (failure.status, inner.get("code"), inner.get("http_status"), inner.get("status"))
    status = next((code for code in map(_number, codes) if code is not None), None)
    words = (
        *(part.get("error_type") for part in (inner, metadata, outer)),
        *(part.get("code") for part in (inner, availability)),
        inner.get("type"),
    )
    text = error if isinstance(error, str) else body if isinstance(body, str) else inner.get("message") or inner.get("detail")
    wait = availability.get("retry_after")
    return Facts(
        status=status,
        kinds=frozenset(word.lower() for word in words if isinstance(word, str)),
        said=one_line(_said(text, metadata)),
        retryable=availability["retryable"] if isinstance(availability.get("retryable"), bool) else None,
        retry_after=float(wait) if isinstance(wait, int | float) and not isinstance(wait, bool) and wait >= 0 else None,
        flagged=bool(metadata.get("reasons") or metadata.get("flagged_input")),
    )


def first_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of a reply or a chunk, {} where there is none."""
    choices = chunk.get("choices")
    return _mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _said(text: Any, metadata: Mapping[str, Any]) -> str:
    """The message, and behind it the words of the provider that OpenRouter asked ("Provider returned error" alone says nothing)."""
    message = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) if text else ""
    who = metadata.get("provider_name")
    raw = metadata.get("raw")
    if isinstance(raw, str):
        with suppress(ValueError, RecursionError):  # it may be plain text
            raw = json.loads(raw)
    if isinstance(raw, Mapping):
        nested = raw.get("error", raw)
        raw = nested.get("message") if isinstance(nested, Mapping) else nested
    said = str(raw) if raw and str(raw) != message else ""
    if said:
        return f"{message} ({who or 'provider'}: {said})"
    return f"{message} ({who})" if who else message


def _hint(facts: Facts, *, router: bool) -> str:
    """What to do about an error that has no class of its own."""
    status, kinds, said = facts.status, facts.kinds, facts.said.lower()
    settings = "https://openrouter.ai/settings" if router else "the server's settings"
    hints = (
        (
            "auto-tool-choice" in said or "tool-call-parser" in said,
            "start vLLM with --enable-auto-tool-choice and --tool-call-parser",
        ),
        (status == 401 and router, "set a valid key: archivist keys set openrouter"),
        (status == 401, "this server wants its key in ARCHIVIST_API_KEY"),
        (status == 403, f"the key may not use this model, or a guardrail forbids it: look at {settings}"),
        (
            "privacy" in said or "data policy" in said or "privacy_restricted" in kinds,
            f"a privacy setting excludes it: {settings}/privacy",
        ),
        (status == 404 and "tool use" in said, "no provider of this model takes tools: choose another model"),
        (status == 404 and not router, "check the model's name and the base URL"),
        (status == 404 or "model id" in said or kinds & _LASTING, "check the model's name at https://openrouter.ai/models"),
        (status is not None and 300 <= status < 400, "redirects are not followed: give the base URL that the server means"),
        (status == 500 or status in _PASSING_STATUS or kinds & _PASSING, "the provider is busy or broken: ask again later"),
    )
    return next((hint for applies, hint in hints if applies), "")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> int | None:
    """A status: a number from 100 to 599, also in a string."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 5:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600 else None


__all__ = ["Facts", "explain", "facts_of", "first_choice", "is_bad_signature"]
