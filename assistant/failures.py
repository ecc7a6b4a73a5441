"""What a provider's refusal means: from an HTTP status and a body to an error of the tree in `assistant.errors`."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.errors import ContextLengthError, ProviderError, QuotaError, RateLimitError

RETRIED = frozenset({408, 429, 500, 502, 503, 504, 529})
SHOWN = 500  # letters of a provider's own words in an error


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that is an error, as `explain` gets it: by status, or inside a body of status 200 (then status is the body's code).

    body: decoded JSON, else text. headers: of the response, names in lower case. where: host and port.
    """

    provider: str
    model: str
    status: int | None
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    where: str = ""

    @property
    def message(self) -> str:
        """Their words in one line of at most 500 letters: `error.message`, `error` or `message` of the body, else its text."""
        body = self.body[0] if isinstance(self.body, list) and self.body else self.body
        found: Any = body
        if isinstance(body, Mapping):
            found = body.get("error", body.get("message", ""))
            if isinstance(found, Mapping):
                found = found.get("message") or found.get("status") or found.get("code") or ""
        return one_line(str(found or ""))


def explain_by_status(failure: Failure) -> ProviderError:
    """The error of an HTTP status, for providers that have no better reading of the body."""
    status = failure.status
    kind: type[ProviderError] = ProviderError
    hint = ""
    if status == 429:
        kind, hint = RateLimitError, "wait a little, or choose another model"
    elif status == 402:
        kind, hint = QuotaError, "buy credit at the provider, or choose another model"
    elif status == 413:
        kind, hint = ContextLengthError, "ask for less, or begin a new conversation"
    elif status in {401, 403}:
        hint = f"check the key of {failure.provider}: is it set, valid, and allowed to use this model?"
    elif status == 404:
        hint = "check the model's name and the base URL"
    elif status is not None and 300 <= status < 400:
        hint = "redirects are not followed: give the base URL that the server means"
    elif status in RETRIED:
        hint = "the provider is busy or broken: ask again later, or choose another model"
    said = f": {failure.message}" if failure.message else ""
    code = f" answered {status}" if status is not None else " reported an error"
    return kind(
        f"{named(failure.provider, failure.model)}{code}{said}",
        provider=failure.provider,
        model=failure.model,
        status=status,
        hint=hint,
        retryable=status in RETRIED,
    )


def named(provider: str, model: str) -> str:
    """`provider:model`, or the provider alone."""
    return f"{provider}:{model}" if model else provider


def one_line(text: str, longest: int = SHOWN) -> str:
    """Text from outside as one harmless line: control characters become spaces, what is longer is cut."""
    line = " ".join("".join(" " if unicodedata.category(sign)[0] == "C" else sign for sign in text[: longest * 4]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
