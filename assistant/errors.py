"""The exception tree of the assistant, by who must act; the library's part of it is in `search.errors`.

ArchivistError
  UserError                 the person must change something; `hint` says what to type
    UsageError              the command line cannot be understood; exit 2
    KeyMissingError         a provider wants a key that is nowhere
    HistoryError            the file of kept conversations cannot be used, or does not hold what was asked of it
  ModelError                the model must act: the text goes back to it as the result of its call
    ToolCallError           a call that was not run: unknown name, arguments that do not validate
    ToolError               a tool ran and failed; the text is for the model, and says what to try instead
  ProviderError             the provider or the way to it must change: names provider, model, status and what to do
    ConnectionFailedError   no answer at all: wrong port, no network, a server that died, a time limit
    RateLimitError          too many requests for now; `retry_after` seconds when the provider says
    QuotaError              a daily or paid limit: waiting does not help
    ContextLengthError      the conversation is longer than the model's window
    RefusedError            the provider blocked the prompt or the reply
    BadReplyError           a reply that cannot be read, or that was cut off
"""

from __future__ import annotations

from search.errors import ArchivistError, UserError


class UsageError(UserError):
    """The command line cannot be understood."""

    exit_code = 2


class KeyMissingError(UserError):
    """A provider wants a key and none is set."""


class HistoryError(UserError):
    """The file of kept conversations cannot be used, or does not hold what was asked of it."""


class ModelError(ArchivistError):
    """The model must act; the message is written for it."""


class ToolCallError(ModelError):
    """A call that is not run. The message names the argument first, in double quotes, and ends with a correct example."""


class ToolError(ModelError):
    """A tool that ran and failed; the message says what to try instead."""


class ProviderError(ArchivistError):
    """A request to a model's provider failed.

    provider, model: as in `provider:model`. status: the HTTP status, or the code that the body gave, None without one.
    hint: what a person can do. retryable: whether the same request may succeed in a moment. retry_after: seconds, when given.
    """

    def __init__(
        self,
        message: str,
        *,
        provider: str,
        model: str = "",
        status: int | None = None,
        hint: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.model = model
        self.status = status
        self.hint = hint
        self.retryable = retryable
        self.retry_after = retry_after


class ConnectionFailedError(ProviderError):
    """No answer came, or it broke off before its first byte of content."""


class RateLimitError(ProviderError):
    """Too many requests for the moment."""


class QuotaError(ProviderError):
    """A limit that waiting a minute does not lift: a daily quota, no credit left."""


class ContextLengthError(ProviderError):
    """The conversation does not fit the model's window."""


class RefusedError(ProviderError):
    """The provider blocked the prompt or the reply."""


class BadReplyError(ProviderError):
    """A reply that is empty, malformed or cut off."""


__all__ = [
    "ArchivistError",
    "BadReplyError",
    "ConnectionFailedError",
    "ContextLengthError",
    "HistoryError",
    "KeyMissingError",
    "ModelError",
    "ProviderError",
    "QuotaError",
    "RateLimitError",
    "RefusedError",
    "ToolCallError",
    "ToolError",
    "UsageError",
    "UserError",
]
