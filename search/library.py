"""Library: the one door to documents and passages.

    with Library.open(path) as library:
        for hit in library.hybrid_search("gateway timeout", Filters(category=("runbooks",)), limit=5):
            print(hit.document.path, hit.passage.first_line, hit.score)

Searching never writes; what changes a library (`index`, `forget`, `rebuild`) is in `search.upkeep`. A model is loaded only by
the first search that embeds its query.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from search import documents, explaining, keyword, status, store
from search.documents import GroupBy, OrderBy, Page, Reading
from search.errors import QueryError
from search.filters import Compiled, compile_filters, nearest
from search.models import Coverage, DateField, DateRange, Document, Filters, Hit, Mode, Passage

if TYPE_CHECKING:
    from search.embedding import Embedder
    from search.indexing import Report, Summary
    from search.upkeep import Rules
    from search.vector import Cosines, VectorSearch

MAX_LIMIT = 1000
_NO_FILTERS = Filters()
Ranked = list[tuple[int, float]]


class Library:
    """An open library. Safe to use from several threads; every search sees one state of the file."""

    def __init__(self, path: Path, connection: sqlite3.Connection, embedder: Callable[[], Embedder]) -> None:
        self.path = path
        self._connection = connection
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._vectors: VectorSearch | None = None
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: str | Path, *, embedder: Embedder | str | None = None, create: bool = False) -> Self:
        """Open a library file for searching; with `create`, make an empty one when there is none.

        embedder: what queries are embedded with, an object, a model's name or a folder; the default model when None. The model
        that a library names is only compared with it. Raises LibraryError for a missing, damaged or newer library.
        """
        place = Path(path)
        if create and not place.exists():
            store.open_for_writing(place).close()
        return cls(place, store.open_for_reading(place), _embedder_source(embedder))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def search(
        self,
        query: str,
        filters: Filters = _NO_FILTERS,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Search in one of the three ways. by_document: each document once, by its best passage.

        Raises QueryError for an empty query or a limit outside 1 to 1000, FilterError for a filter that is not understood.
        """
        ways = {"keyword": self.keyword_search, "vector": self.vector_search, "hybrid": self.hybrid_search}
        if mode not in ways:
            raise QueryError(f"mode: got {mode!r}, want keyword, vector or hybrid")
        return ways[mode](query, filters, limit, by_document=by_document, today=today)

    def keyword_search(
        self,
        query: str,
        filters: Filters = _NO_FILTERS,
        limit: int = 10,
        *,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Passages that hold words of the query, by BM25. Needs no model."""
        _check(query, limit)
        with self._snapshot():
            allowed = self._compiled(filters, today).select

            def ranked(depth: int) -> Ranked:
                return keyword.search(self._connection, query, allowed_sql=allowed, limit=depth)

            chosen = self._best(ranked, limit, by_document)
            hits = self._hits(chosen)
            return [
                replace(hit, keyword_score=hit.score, keyword_rank=rank, matched=keyword.matched_words(query, hit.passage.text))
                for rank, hit in enumerate(hits, 1)
            ]

    def vector_search(
        self,
        query: str | Passage,
        filters: Filters = _NO_FILTERS,
        limit: int = 10,
        *,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Passages whose meaning is nearest to a text, or to a passage (which itself is left out), by cosine, exactly."""
        _check(query if isinstance(query, str) else query.text, limit)
        with self._snapshot():
            cosines = self._cosines(query, self._compiled(filters, today))
            own = query.id if isinstance(query, Passage) else None

            def ranked(depth: int) -> Ranked:
                found = [(passage, score) for passage, score in cosines.best(depth + 1) if passage != own]
                return self._in_order(found)[:depth]

            hits = self._hits(self._best(ranked, limit, by_document))
            return [replace(hit, vector_score=hit.score, vector_rank=rank) for rank, hit in enumerate(hits, 1)]

    def hybrid_search(
        self,
        query: str,
        filters: Filters = _NO_FILTERS,
        limit: int = 10,
        *,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Keyword and vector search fused; each hit carries its score and rank in both lists."""
        _check(query, limit)
        raise NotImplementedError

    def index(
        self, *places: str | Path, rules: Rules | None = None, prune: bool = False, report: Report | None = None
    ) -> Summary:
        """Bring the library in step with folders and files, or with all that it follows; see `search.upkeep.index`."""
        from search import upkeep

        return upkeep.index(
            self.path,
            [Path(place) for place in places],
            self._embedder or self._make_embedder(),
            rules=rules or upkeep.Rules(),
            prune=prune,
            report=report or (lambda _: None),
        )

    def filter_documents(
        self,
        filters: Filters = _NO_FILTERS,
        *,
        order_by: OrderBy = "path",
        limit: int = 50,
        offset: int = 0,
        today: date | None = None,
    ) -> Page[Document]:
        """Documents that pass the filters, with the exact total."""
        if not 1 <= limit <= MAX_LIMIT or offset < 0:
            raise QueryError(f"limit, offset: got {limit}, {offset}, want 1 to {MAX_LIMIT}, 0 or more")
        with self._snapshot():
            compiled = self._compiled(filters, today)
            return documents.list_documents(self._connection, compiled, order_by=order_by, limit=limit, offset=offset)

    def count_documents(
        self, filters: Filters = _NO_FILTERS, group_by: GroupBy | None = None, *, today: date | None = None
    ) -> dict[str, int]:
        """How many documents pass the filters, by a field of theirs or under "total"."""
        with self._snapshot():
            return documents.count_documents(self._connection, self._compiled(filters, today), group_by)

    def passage(self, key: str) -> tuple[Document, Passage, str | None]:
        """The passage with a citation key or a unique prefix of it, its document, and the old key when it was moved."""
        with self._snapshot():
            passage, moved_from = documents.find_passage(self._connection, key)
            document = documents.fetch_documents(self._connection, [passage.document_id])[passage.document_id]
            return document, passage, moved_from

    def neighbours(self, passage: Passage) -> tuple[Passage | None, Passage | None]:
        """The passages before and after one in its document."""
        with self._snapshot():
            return documents.neighbours(self._connection, passage)

    def document(self, path: str) -> Document:
        """The document with a path, relative to its root or absolute, or a unique ending of it."""
        with self._snapshot():
            return documents.find_document(self._connection, path)

    def read(self, what: Document | Passage, first_line: int | None = None, last_line: int | None = None) -> Reading:
        """Lines of the stored text of a document; of a passage, its own lines unless others are asked for."""
        with self._snapshot():
            if isinstance(what, Passage):
                document = documents.fetch_documents(self._connection, [what.document_id])[what.document_id]
                first_line = what.first_line if first_line is None else first_line
                last_line = what.last_line if last_line is None else last_line
            else:
                document = what
            return documents.read_lines(self._connection, document, first_line, last_line)

    def stale(self, document: Document) -> str | None:
        """How a document's file differs from what was indexed, None when it does not."""
        with self._snapshot():
            return documents.stale(self._connection, document)

    def resolved_dates(self, filters: Filters, *, today: date | None = None) -> tuple[DateRange | None, DateField]:
        """What the date filters mean in days (None without any) and which date they test; shown with every result."""
        compiled = self._compiled(filters, today)
        return compiled.range, compiled.date_field

    def unknown_names(self, filters: Filters) -> list[str]:
        """A note for each category, tag, format, author or language that the library does not have, with the nearest ones."""
        with self._snapshot():
            return nearest(self._connection, filters)

    def why_empty(self, query: str, filters: Filters = _NO_FILTERS, *, today: date | None = None) -> list[str]:
        """Why a search found nothing: which filter removed the most, what to broaden, the nearest names of unknown ones."""
        with self._snapshot():
            return explaining.why_empty(self._connection, query, filters, self._compiled(filters, today))

    def coverage(self) -> Coverage:
        """How much of the library can be searched."""
        with self._snapshot():
            return status.coverage(self._connection)

    def status(self) -> status.Status:
        """Documents, passages, coverage, age, model, size, roots and the files without text."""
        with self._snapshot():
            return status.status(self._connection, self.path)

    def check_embedder(self) -> None:
        """Raise LibraryError when the embedding model in hand is not the one that the library was made with."""
        with self._snapshot():
            self._embedder_checked()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        with self._lock, store.translated(self.path), store.reading(self._connection):
            yield

    def _compiled(self, wanted: Filters, today: date | None) -> Compiled:
        return compile_filters(wanted, today=today)

    def _embedder_checked(self) -> Embedder:
        made_with = store.get_meta(self._connection, "embedder")
        if self._embedder is None:
            self._embedder = self._make_embedder()
        if made_with is not None:
            store.check_identity(made_with, asdict(self._embedder.identity), self.path)
        return self._embedder

    def _cosines(self, query: str | Passage, compiled: Compiled) -> Cosines:
        from search.vector import Cosines

        everything = self._all_cosines(query)
        if compiled.select is None or not len(everything.ids):
            return everything
        return Cosines(everything.ids, everything.values).among(self._allowed(compiled))

    def _all_cosines(self, query: str | Passage) -> Cosines:
        """The cosine of every passage in the library with a text or a stored passage."""
        import numpy as np

        from search.vector import Cosines, VectorSearch

        dimension = store.get_meta(self._connection, "dimension")
        if dimension is None:
            return Cosines(np.empty(0, np.int64), np.empty(0, np.float32))
        if self._vectors is None:
            self._vectors = VectorSearch(self._connection, dimension)
        if isinstance(query, Passage):
            vector = self._vectors.vector(query.id)
            if vector is None:
                raise QueryError(f"the passage {query.key} is not in the library any more", "search again")
        else:
            vector = self._embedder_checked().embed_query(query)
        return self._vectors.cosines(vector)

    def _allowed(self, compiled: Compiled) -> Any:
        import numpy as np

        select, parameters = compiled.without(None)
        rows = self._connection.execute(f"SELECT id FROM passages WHERE document_id IN ({select})", parameters)
        return np.fromiter((row[0] for row in rows), np.int64)

    def _in_order(self, ranked: Ranked) -> Ranked:
        """By score, equal scores by path, then ordinal."""
        scores = [score for _, score in ranked]
        if len(set(scores)) == len(scores):
            return ranked
        places = self._places([passage for passage, _ in ranked])
        return sorted(ranked, key=lambda entry: (-entry[1], places[entry[0]]))

    def _places(self, passages: Sequence[int]) -> dict[int, tuple[str, int, int]]:
        import json

        rows = self._connection.execute(
            "SELECT p.id, d.path, d.root, p.ordinal FROM passages p JOIN documents d ON d.id = p.document_id "
            "WHERE p.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passages)),),
        )
        return {row[0]: (row[1], row[3], row[2]) for row in rows}

    def _best(self, ranked: Callable[[int], Ranked], limit: int, by_document: bool) -> Ranked:
        """The first `limit` passages, or the best passage of each of the first `limit` documents."""
        if not by_document:
            return ranked(limit)
        depth = limit * 4
        while True:
            found = ranked(depth)
            owners = documents.fetch_owners(self._connection, [passage for passage, _ in found])
            best: dict[int, tuple[int, float]] = {}
            for passage, score in found:
                best.setdefault(owners[passage], (passage, score))
            if len(best) >= limit or len(found) < depth:
                return list(best.values())[:limit]
            depth *= 4

    def _hits(self, ranked: Ranked) -> list[Hit]:
        passages = documents.fetch_passages(self._connection, [passage for passage, _ in ranked])
        owners = documents.fetch_documents(self._connection, {passage.document_id for passage in passages.values()})
        return [Hit(owners[passages[found].document_id], passages[found], score) for found, score in ranked]


def _embedder_source(embedder: Embedder | str | None) -> Callable[[], Embedder]:
    if embedder is not None and not isinstance(embedder, str):
        return lambda: embedder

    def load() -> Embedder:
        from search.embedding import load_embedder
        from search.weights import DEFAULT_MODEL

        return load_embedder(embedder or DEFAULT_MODEL)

    return load


def _check(query: str, limit: int) -> None:
    if not query.strip():
        raise QueryError("query: got an empty one, want some words")
    if not 1 <= limit <= MAX_LIMIT:
        raise QueryError(f"limit: got {limit}, want 1 to {MAX_LIMIT}")
