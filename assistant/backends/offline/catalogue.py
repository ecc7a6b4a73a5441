"""The names that a library holds, as far as a question can mean them: categories, tags, formats, authors, languages, metadata,
tables.

In: an open Library. Out: a Catalogue, small and frozen, which `understand` reads instead of the library. No rule of the offline
backend knows a name by itself: all come from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from search.models import Document
from search.tables.models import Table

if TYPE_CHECKING:
    from search.documents import GroupBy
    from search.library import Library

_NONE = "(none)"  # how the library counts documents without a value
_DOCUMENTS = 1000  # that are looked at for metadata
_MOST_KEYS = 60
_MOST_VALUES = 60
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Names as the library spells them.

    metadata: the values of each key that is used like a label, as text. tables: with their columns. titles: of the
    documents that these are from, by id. only_tables: there is no document beside the files that they come from.
    """

    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    titles: Mapping[int, str] = field(default_factory=dict)
    only_tables: bool = False


def catalogue_of(library: Library) -> Catalogue:
    """The catalogue of an open library; metadata and titles from its first thousand documents by path."""

    def names(group: GroupBy) -> tuple[str, ...]:
        return tuple(sorted(name for name in library.count_documents(group_by=group) if name and name != _NONE))

    tables = tuple(library.tables.describe())
    documents = sum(library.count_documents(group_by="category").values())
    first = library.filter_documents(limit=_DOCUMENTS).items
    holding = {table.document_id for table in tables}
    return Catalogue(
        categories=names("category"),
        tags=names("tag"),
        formats=names("format"),
        authors=names("author"),
        languages=names("language"),
        metadata=_metadata(first),
        tables=tables,
        titles={document.id: document.title for document in first if document.id in holding},
        only_tables=bool(tables) and documents <= len(holding),
    )


def _metadata(documents: Sequence[Document]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for document in documents:
        for key, value in document.metadata.items():
            values = value if isinstance(value, list | tuple) else (value,)
            known = found.setdefault(str(key), set())
            known.update(str(each) for each in values if isinstance(each, str | int | float) and len(str(each)) <= _LONGEST)
    few = {key: values for key, values in sorted(found.items()) if 0 < len(values) <= _MOST_VALUES}
    return {key: tuple(sorted(few[key])) for key in list(few)[:_MOST_KEYS]}
