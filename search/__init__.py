"""Archivist's library: documents in, ranked passages out. Usable alone, without the assistant.

from search import Filters, Library

with Library.open("library.db") as library:
    hits = library.hybrid_search("gateway timeout", Filters(category=("runbooks",)))
"""

from search.documents import Page, Reading
from search.errors import (
    ArchivistError,
    EmbedderError,
    FilterError,
    LibraryError,
    NotFoundError,
    QueryError,
    ReadError,
    SourceError,
    UserError,
)
from search.library import Library
from search.models import Condition, Coverage, DateRange, Document, Filters, Hit, Mode, Passage
from search.status import Status

__all__ = [
    "ArchivistError",
    "Condition",
    "Coverage",
    "DateRange",
    "Document",
    "EmbedderError",
    "FilterError",
    "Filters",
    "Hit",
    "Library",
    "LibraryError",
    "Mode",
    "NotFoundError",
    "Page",
    "Passage",
    "QueryError",
    "ReadError",
    "Reading",
    "SourceError",
    "Status",
    "UserError",
]
