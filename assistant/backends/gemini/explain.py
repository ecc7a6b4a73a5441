"""What Gemini's errors mean: google.rpc.Status in the body, with the facts in `details`.

The status code alone misleads: a wrong key is a 400, a daily quota and a short wait are both 429, and the delay is in the body,
never in a header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assistant.errors import ContextLengthError, ProviderError, QuotaError, RateLimitError
from assistant.failures import Failure, explain_by_status

KEY_HINT = "check the key in GOOGLE_API_KEY (it goes before GEMINI_API_KEY): archivist keys set gemini"
TOO_LONG = re.compile(r"input token count.{0,80}exceeds the maximum", re.IGNORECASE | re.DOTALL)
SIGNATURE = re.compile(r"thought[ _]?signature", re.IGNORECASE)


def explain(failure: Failure) -> ProviderError:
    """The error for a status, or for an `error` inside a body of status 200."""
    found = error_of(failure.body)
    code = found.get("code")
    failure = replace(failure, status=code if isinstance(code, int) and failure.status in {None, 200} else failure.status)
    error = explain_by_status(failure)
    text = str(found.get("message") or failure.message)
    details = list(_objects(found.get("details")))
    if any(detail.get("reason") == "API_KEY_INVALID" for detail in details) or "API key not valid" in text:
        error.hint = KEY_HINT
    elif failure.status == 429:
        return _too_much(error, text, details)
    elif TOO_LONG.search(text):
        return _as(ContextLengthError, error, hint="ask for less, or begin a new conversation")
    elif found.get("status") == "FAILED_PRECONDITION":
        error.hint = "the free tier is not offered everywhere: billing may have to be set up for the key"
    elif failure.status in {401, 403}:
        error.hint = KEY_HINT
    elif failure.status == 404:
        error.hint = "the model may be retired or misspelled: try -m gemini:gemini-3.8-flash"
    return error


def is_about_signatures(error: ProviderError) -> bool:
    """Whether a request failed for a thought signature that is missing or was issued elsewhere."""
    return error.status == 400 and SIGNATURE.search(str(error)) is not None


def error_of(body: Any) -> Mapping[str, Any]:
    """The `error` object of a body, which may stand in a list of one; empty when there is none."""
    found = body[0] if isinstance(body, list) and body else body
    found = found.get("error") if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _too_much(error: ProviderError, text: str, details: list[Mapping[str, Any]]) -> ProviderError:
    """A quota of the day (or of nothing at all) never to be waited for, or a limit for the moment with its delay."""
    violations = [item for detail in details for item in _objects(detail.get("violations"))]
    quotas = " ".join(str(item.get("quotaId", "")) for item in violations)
    if "PerDay" in quotas or re.search(r"limit: 0(?![\d.])", text):
        return _as(
            QuotaError, error, hint="this quota does not come back within minutes: use another model or key, or set up billing"
        )
    limited = _as(RateLimitError, error, hint=error.hint)
    limited.retryable = True
    delays = [str(detail.get("retryDelay", "")) for detail in details]
    told = re.search(r"retry in ([\d.]+)s", text)
    limited.retry_after = next((wait for wait in map(_seconds, [*delays, f"{told[1]}s" if told else ""]) if wait is not None), None)
    return limited


def _as(kind: type[ProviderError], error: ProviderError, *, hint: str) -> ProviderError:
    """The same error as one that is not retried, of another kind."""
    return kind(str(error), provider=error.provider, model=error.model, status=error.status, hint=hint)


def _objects(listed: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; none when it is no list."""
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping):
            yield item


def _seconds(duration: str) -> float | None:
    """Seconds of a protobuf Duration ("38.601658672s")."""
    return float(duration[:-1]) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?s", duration) else None
