"""The exception tree of the assistant; the library's part of it is in `search.errors`.

ArchivistError
  UserError            the person must change something; exit 1 or 2, message and hint
    UsageError         the command line cannot be understood; exit 2
"""

from __future__ import annotations

from search.errors import ArchivistError, UserError


class UsageError(UserError):
    """The command line cannot be understood."""

    exit_code = 2


__all__ = ["ArchivistError", "UsageError", "UserError"]
