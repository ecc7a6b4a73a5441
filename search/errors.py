"""What can go wrong in the library, by who must act.

    ArchivistError
      UserError            the person must change something; `hint` says what to type
        LibraryError       wrong, newer, damaged or mismatched library file
        FilterError        a filter or date phrase that cannot be understood
        QueryError         a query or passage key that cannot be searched for
          QueryLimitError  a query that was stopped: time, memory or size
          NotFoundError    a passage or document that the library does not have
        SourceError        a folder or file that cannot be indexed
        EmbedderError      an embedding model that cannot be used
      ReadError            one file cannot be read as text: recorded with its reason, never ends a run

`assistant/errors.py` adds the errors of models and providers to the same tree.
"""

from __future__ import annotations


class ArchivistError(Exception):
    """The root of every error that Archivist raises on purpose."""


class UserError(ArchivistError):
    """The person must change something: the message says what is wrong, `hint` what to do about it."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class LibraryError(UserError):
    """A file cannot be used as a library; `hint` holds the command that mends it."""


class FilterError(UserError):
    """A filter's value is not understood: names the filter, what was got and what is wanted."""

    exit_code = 2


class QueryError(UserError):
    """A query, citation key or limit that cannot be searched for."""

    exit_code = 2


class QueryLimitError(QueryError):
    """A query that can be run, but not within its bounds of time, memory or size."""

    exit_code = 1


class NotFoundError(QueryError):
    """What was asked for by name is not in the library."""

    exit_code = 1


class SourceError(UserError):
    """A folder or file that was to be indexed is missing, unreadable or outside the known roots."""


class EmbedderError(UserError):
    """An embedding model is missing, damaged, unsafe or not the one that the library was made with."""


class ReadError(ArchivistError):
    """A file gave no text, and why: the reason is stored with the document and shown by `status`."""
