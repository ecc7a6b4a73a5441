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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from search import connections, documents, explaining, faults, keyword, reranking, status
from search.documents import GroupBy, OrderBy, Page, Reading
from search.errors import QueryError
from search.filters import Compiled, compile_filters, nearest
from search.hiding import revealed
from search.models import Coverage, DateField, DateRange, Document, Filters, Hit, Mode, Passage
from search.ranking import Ranked, Ranker, Ranking

if TYPE_CHECKING:
    from search.changes import Report, Summary
    from search.embedding import Embedder
    from search.reranking import Reranker
    from search.tables.door import Tables
    from search.upkeep import Rules

MAX_LIMIT = 1000
Again = Callable[[Sequence[str]], list[tuple[int, float]]]
_NO_FILTERS = Filters()


class Library:
    """An open library. Safe to use from several threads; every search sees one state of the file."""

    def __init__(self, path: Path, connection: sqlite3.Connection, embedder: Callable[[], Embedder]) -> None:
        self.path = path
        self._connection = connection
        self._make_embedder = embedder
        self._ranker = Ranker(path, connection, embedder)
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        embedder: Embedder | str | None = None,
        create: bool = False,
        announce: Callable[[str], None] = lambda _: None,
    ) -> Self:
        """Open a library file for searching; with `create`, make an empty one when there is none.

        embedder: what queries are embedded with, an object, a model's name or a folder; the default model when None. The model
        that a library names is only compared with it. announce: told of a model's download before it begins. Raises
        LibraryError for a missing, damaged or newer library.
        """
        place = _place(path)
        if create and not connections.is_there(place):
            connections.open_for_writing(place).close()
        return cls(place, connections.open_for_reading(place), _embedder_source(embedder, announce))

    def close(self) -> None:
        """Close the file, once another thread has read what it is reading: SQLite would crash under it."""
        with self._lock:
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
        reranker: Reranker | None = None,
    ) -> list[Hit]:
        """Search in one of the three ways. by_document: each document once, by its best passage.

        reranker: reads the best 50 once more (or `limit`, where that is more) and puts them in a new order. Raises QueryError for
        an empty query or a limit outside 1 to 1000, FilterError for a filter that is not understood.
        """
        _check(query, limit)
        with self.snapshot():
            ranking = self._ranking(mode, query, compile_filters(filters, today=today))
            return self._hits(ranking, limit, by_document, partial(reranking.rerank, query, reranker) if reranker else None)

    def keyword_search(
        self,
        query: str,
        filters: Filters = _NO_FILTERS,
        limit: int = 10,
        *,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Passages that hold words of the query, by BM25. Needs no model. How a query is read: `search.terms`."""
        _check(query, limit)
        with self.snapshot():
            return self._hits(self._ranker.by_words(query, compile_filters(filters, today=today)), limit, by_document)

    def vector_search(
        self,
        query: str | Passage,
        filters: Filters = _NO_FILTERS,
        limit: int = 10,
        *,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Passages whose meaning is nearest to a text, or to a passage (which itself is left out), by cosine, exactly.

        A text is read as it stands: quotes, "-" and "*" mean nothing here.
        """
        _check(query if isinstance(query, str) else query.text, limit)
        with self.snapshot():
            return self._hits(self._ranker.by_meaning(query, compile_filters(filters, today=today)), limit, by_document)

    def hybrid_search(
        self,
        query: str,
        filters: Filters = _NO_FILTERS,
        limit: int = 10,
        *,
        by_document: bool = False,
        today: date | None = None,
    ) -> list[Hit]:
        """Keyword and vector search fused (see `search.hybrid`); each hit carries its score and rank in both lists.

        Quoted phrases and exclusions hold for both lists. Where the model does not know the query's script, words decide.
        """
        _check(query, limit)
        with self.snapshot():
            return self._hits(self._ranker.by_both(query, compile_filters(filters, today=today)), limit, by_document)

    def rank_documents(
        self, query: str, filters: Filters = _NO_FILTERS, *, mode: Mode = "hybrid", limit: int = 10, today: date | None = None
    ) -> list[tuple[str, float]]:
        """Paths of documents with the score of their best passage, best first: `search` without what is shown of a hit."""
        _check(query, limit)
        with self.snapshot():
            best = self._best(self._ranking(mode, query, compile_filters(filters, today=today)), limit, by_document=True)
            paths = documents.fetch_paths(self._connection, [passage for passage, _ in best])
            return [(paths[passage], score) for passage, score in best]

    def index(self, *places: str | Path, rules: Rules | None = None, prune: bool = False, report: Report | None = None) -> Summary:
        """Bring the library in step with folders and files, or with all that it follows; see `search.upkeep.index`.

        A text that begins with ~/ means the home folder, as in a shell; a Path is taken as it is.
        """
        from search import upkeep

        return upkeep.index(
            self.path,
            [_place(place) for place in places],
            self._make_embedder(),
            rules=rules or upkeep.Rules(),
            prune=prune,
            report=report or (lambda _: None),
        )

    @property
    def tables(self) -> Tables:
        """The tables of the library: what they are, and queries over them."""
        from search.tables.door import Tables

        return Tables(self.path, self._connection, self.snapshot)

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
        with self.snapshot():
            compiled = compile_filters(filters, today=today)
            return documents.list_documents(self._connection, compiled, order_by=order_by, limit=limit, offset=offset)

    def count_documents(
        self, filters: Filters = _NO_FILTERS, group_by: GroupBy | None = None, *, today: date | None = None
    ) -> dict[str, int]:
        """How many documents pass the filters, by a field of theirs or under "total"."""
        with self.snapshot():
            return documents.count_documents(self._connection, compile_filters(filters, today=today), group_by)

    def hidden(self, filters: Filters, *, today: date | None = None) -> frozenset[int]:
        """The ids of the documents that pass the filters but for what is hidden by them."""
        with self.snapshot():
            passing = [compile_filters(each, today=today).without(None) for each in (revealed(filters), filters)]
            return documents.difference(self._connection, *passing)

    def passage(
        self, key: str, filters: Filters = _NO_FILTERS, *, today: date | None = None
    ) -> tuple[Document, Passage, str | None]:
        """The passage with a citation key or a unique prefix of it, its document, and the old key when it was moved.

        Only documents that pass the filters count. Raises NotFoundError when there is none, QueryError when there are several.
        """
        with self.snapshot():
            allowed = compile_filters(filters, today=today).select
            passage, moved_from = documents.find_passage(self._connection, key, allowed)
            document = documents.fetch_documents(self._connection, [passage.document_id])[passage.document_id]
            return document, passage, moved_from

    def neighbours(self, passage: Passage) -> tuple[Passage | None, Passage | None]:
        """The passages before and after one in its document."""
        with self.snapshot():
            return documents.neighbours(self._connection, passage)

    def passages(
        self, document: Document, first_line: int = 1, last_line: int | None = None, *, ordinal: int = 0, limit: int = 100
    ) -> list[Passage]:
        """The passages of a document that touch these lines, from the ordinal on, in order."""
        with self.snapshot():
            return documents.fetch_stretch(
                self._connection, document, first_line=first_line, last_line=last_line, ordinal=ordinal, limit=limit
            )

    def openings(self, found: Iterable[Document]) -> dict[int, Passage]:
        """The first passage of each document, by the document's id; those without text are left out."""
        with self.snapshot():
            return documents.fetch_openings(self._connection, [document.id for document in found])

    def document(self, path: str, filters: Filters = _NO_FILTERS, *, today: date | None = None) -> Document:
        """The document with a path, relative to its root or absolute, or a unique ending of it, that passes the filters.

        Raises NotFoundError when there is none, QueryError when there are several.
        """
        with self.snapshot():
            return documents.find_document(self._connection, path, compile_filters(filters, today=today).select)

    def read(self, what: Document | Passage | str, first_line: int | None = None, last_line: int | None = None) -> Reading:
        """Lines of the stored text of a document; of a passage, its own lines unless others are asked for.

        A text is the path of a document, as `document` takes it. Raises NotFoundError.
        """
        with self.snapshot():
            if isinstance(what, str):
                what = self.document(what)
            if isinstance(what, Passage):
                what = documents.current_passage(self._connection, what)
                document = documents.fetch_documents(self._connection, [what.document_id])[what.document_id]
                first_line = what.first_line if first_line is None else first_line
                last_line = what.last_line if last_line is None else last_line
            else:
                document = what
            return documents.read_lines(self._connection, document, first_line, last_line)

    def stale(self, document: Document) -> str | None:
        """How a document's file differs from what was indexed, None when it does not."""
        with self.snapshot():
            return documents.stale(self._connection, document)

    def resolved_dates(self, filters: Filters, *, today: date | None = None) -> tuple[DateRange | None, DateField]:
        """What the date filters mean in days (None without any) and which date they test; shown with every result."""
        compiled = compile_filters(filters, today=today)
        return compiled.range, compiled.date_field

    def notes(self, query: str | None, filters: Filters = _NO_FILTERS, *, today: date | None = None) -> list[str]:
        """What a person should know of a search: parts of the query not taken as written, names that the library does not have."""
        with self.snapshot():
            compiled = compile_filters(filters, today=today)
            parsed = keyword.read(self._connection, query, allowed_sql=compiled.select) if query else None
            return [*(parsed.notes if parsed else ()), *nearest(self._connection, filters, allowed_sql=compiled.outer)]

    def why_empty(self, query: str, filters: Filters = _NO_FILTERS, *, today: date | None = None) -> list[str]:
        """Why a search found nothing: which filter removed the most, what to broaden, the nearest names of unknown ones."""
        with self.snapshot():
            return explaining.why_empty(self._connection, query, filters, compile_filters(filters, today=today))

    def coverage(self) -> Coverage:
        """How much of the library can be searched."""
        with self.snapshot():
            return status.coverage(self._connection)

    def status(self) -> status.Status:
        """Documents, passages, coverage, age, model, size, roots and the files without text."""
        with self.snapshot():
            return status.status(self._connection, self.path)

    def digest(self) -> str:
        """A digest of what is indexed, by paths and contents, to tell whether two moments saw the same."""
        with self.snapshot():
            return status.digest(self._connection)

    def check_embedder(self) -> None:
        """Raise LibraryError when the embedding model in hand is not the one that the library was made with."""
        with self.snapshot():
            self._ranker.embedder()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One state of the library for several calls, whatever an indexer does meanwhile; other threads wait."""
        with self._lock, faults.translated(self.path), connections.reading(self._connection):
            yield

    def _ranking(self, mode: Mode, query: str, compiled: Compiled) -> Ranking:
        ways = {"keyword": self._ranker.by_words, "vector": self._ranker.by_meaning, "hybrid": self._ranker.by_both}
        if mode not in ways:
            raise QueryError(f"mode: got {mode!r}, want keyword, vector or hybrid")
        return ways[mode](query, compiled)

    def _best(self, ranking: Ranking, limit: int, by_document: bool) -> Ranked:
        """The first `limit` passages, or the best passage of each of the first `limit` documents."""
        if not by_document:
            return ranking.to_depth(limit)
        depth = limit * 4
        while True:
            found = ranking.to_depth(depth)
            owners = documents.fetch_owners(self._connection, [passage for passage, _ in found])
            best: dict[int, tuple[int, float]] = {}
            for passage, score in found:
                best.setdefault(owners[passage], (passage, score))
            if len(best) >= limit or len(found) < depth:
                return list(best.values())[:limit]
            depth *= 4

    def _hits(self, ranking: Ranking, limit: int, by_document: bool, again: Again | None = None) -> list[Hit]:
        """The hits with what explains them. again: puts the texts of the first ones in a new order, with new scores."""
        ranked = self._best(ranking, max(limit, reranking.RERANK_DEPTH) if again else limit, by_document)
        passages = documents.fetch_passages(self._connection, [passage for passage, _ in ranked])
        owners = documents.fetch_documents(self._connection, {passage.document_id for passage in passages.values()})
        hits = [Hit(owners[passages[found].document_id], passages[found], score) for found, score in ranked]
        if again is None:
            return [ranking.explain(hit, rank) for rank, hit in enumerate(hits, 1)]
        order = again([reranking.read_text(hit) for hit in hits])[:limit]
        return [replace(ranking.explain(hits[place], place + 1), score=score, reranked_from=place + 1) for place, score in order]


def _embedder_source(embedder: Embedder | str | None, announce: Callable[[str], None]) -> Callable[[], Embedder]:
    if embedder is not None and not isinstance(embedder, str):
        return lambda: embedder

    def load() -> Embedder:
        from search.embedding import load_embedder
        from search.weights import DEFAULT_MODEL

        return load_embedder(embedder or DEFAULT_MODEL, announce=announce)

    return load


def _check(query: str, limit: int) -> None:
    if not query.strip():
        raise QueryError("query: got an empty one, want some words")
    if not 1 <= limit <= MAX_LIMIT:
        raise QueryError(f"limit: got {limit}, want 1 to {MAX_LIMIT}")


def _place(given: str | Path) -> Path:
    """A file or folder as a person writes it; a shell would have put the home folder in for ~."""
    return Path(given).expanduser() if isinstance(given, str) and given.startswith("~/") else Path(given)
