"""Ranking passages for a query: by words, by meaning, or both fused, within compiled filters.

In: an open connection inside a read transaction, a query, filters. Out: a Ranking: passage ids with scores to any depth, and what
explains each place. Turning ids into records is the business of whoever asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from search import faults, keyword, store
from search.errors import LibraryError, QueryError
from search.filters import Compiled
from search.models import Hit, Passage

if TYPE_CHECKING:
    from search.embedding import Embedder
    from search.terms import ParsedQuery
    from search.vector import Cosines, VectorSearch

Ranked = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranked list that is worked out as deep as it is asked for.

    to_depth(n): the n best as (passage id, score), best first, equal scores by path, then ordinal. explain(hit, rank): the hit
    with its score and rank in each list and the words matched.
    """

    to_depth: Callable[[int], Ranked]
    explain: Callable[[Hit, int], Hit]


class Ranker:
    """The three ways of ranking over one open library; keeps the vectors and the model between searches."""

    def __init__(self, path: Path, connection: sqlite3.Connection, make_embedder: Callable[[], Embedder]) -> None:
        self._path = path
        self._connection = connection
        self._make_embedder = make_embedder
        self._embedder: Embedder | None = None
        self._vectors: VectorSearch | None = None
        self._scripts: frozenset[str] | None = None

    def by_words(self, query: str, compiled: Compiled) -> Ranking:
        """Keyword search."""
        parsed = keyword.read(self._connection, query, allowed_sql=compiled.select)

        def explain(hit: Hit, rank: int) -> Hit:
            matched = keyword.matched_words(parsed, hit.passage.text)
            return replace(hit, keyword_score=hit.score, keyword_rank=rank, matched=matched)

        return Ranking(lambda depth: keyword.search(self._connection, parsed, allowed_sql=compiled.select, limit=depth), explain)

    def by_meaning(self, query: str | Passage, compiled: Compiled) -> Ranking:
        """Vector search for a text or a stored passage, which itself is left out."""
        cosines = self._allowed(self._cosines(query), compiled)
        own = query.id if isinstance(query, Passage) else None

        def to_depth(depth: int) -> Ranked:
            found = [(passage, score) for passage, score in cosines.best(depth + 1) if passage != own]
            return keyword.in_order(self._connection, found, limit=depth)

        return Ranking(to_depth, lambda hit, rank: replace(hit, vector_score=hit.score, vector_rank=rank))

    def by_both(self, query: str, compiled: Compiled) -> Ranking:
        """Hybrid search: both lists fused. Quoted phrases and exclusions hold for both."""
        from search import hybrid

        parsed = keyword.read(self._connection, query, allowed_sql=compiled.select)
        words = keyword.search(self._connection, parsed, allowed_sql=compiled.select, limit=hybrid.KEYWORD_DEPTH)
        weight = hybrid.vector_weight(parsed.text, self._known_scripts()) if parsed.text.strip() else 0.0
        everything = self._cosines(parsed.text) if weight else _no_cosines()
        meaning = self._allowed(everything, compiled, keyword.condition_sql(parsed))
        mean, deviation = everything.mean_and_deviation()
        count = len(words)
        if count == hybrid.KEYWORD_DEPTH:
            count = keyword.count(self._connection, parsed, allowed_sql=compiled.select)
        trust = hybrid.keyword_weight([score for _, score in words], hits=count, population=len(meaning.ids))
        places = {passage: (rank, score) for rank, (passage, score) in enumerate(words, 1)}

        def fused(depth: int) -> Ranked:
            scored = hybrid.fuse(
                dict(words),
                meaning.ids,
                meaning.values,
                mean=mean,
                deviation=deviation,
                vector_weight=weight,
                keyword_weight=trust,
                limit=depth,
            )
            return keyword.in_order(self._connection, scored, limit=depth)

        @cache
        def best() -> Ranked:
            looked_at = self._looked_at_again(fused(hybrid.AGAIN), parsed, weight)
            return keyword.in_order(self._connection, looked_at, limit=hybrid.AGAIN)

        def to_depth(depth: int) -> Ranked:
            # No score falls below the lowest of those that are looked at again, so what stands below stays below.
            return best()[:depth] if depth <= hybrid.AGAIN else [*best(), *fused(depth)[hybrid.AGAIN :]]

        def explain(hit: Hit, _: int) -> Hit:
            keyword_rank, keyword_score = places.get(hit.passage.id, (None, None))
            vector_rank, vector_score = meaning.place(hit.passage.id) or (None, None)
            return replace(
                hit,
                keyword_rank=keyword_rank,
                keyword_score=keyword_score,
                vector_rank=vector_rank,
                vector_score=vector_score,
                matched=keyword.matched_words(parsed, hit.passage.text),
            )

        return Ranking(to_depth, explain)

    def _looked_at_again(self, ranked: Ranked, parsed: ParsedQuery, weight: float) -> Ranked:
        """The best with a little for the share of the query that each holds, then moved towards their neighbours' scores.

        A passage without an embedding has no neighbours. weight: of the vector list; with 0 words decide alone.
        """
        from search import hybrid

        if not weight or not ranked:
            return ranked
        held = keyword.coverage(self._connection, parsed, [passage for passage, _ in ranked])
        scores = {passage: score + weight * hybrid.COVERAGE * held.get(passage, 0.0) for passage, score in ranked}
        vectors = self._vectors.rows(list(scores)) if self._vectors is not None else {}
        if vectors:
            import numpy as np

            own = [scores[passage] for passage in vectors]
            scores.update(
                zip(vectors, hybrid.smooth(own, np.stack(list(vectors.values())), share=weight * hybrid.SMOOTHING), strict=True)
            )
        return list(scores.items())

    def embedder(self) -> Embedder:
        """The embedding model, made when first needed. Raises LibraryError when the library was made with another."""
        made_with = store.get_meta(self._connection, "embedder")
        if self._embedder is None:
            self._embedder = self._make_embedder()
        if made_with is not None:
            store.check_identity(made_with, asdict(self._embedder.identity), self._path)
        return self._embedder

    def _known_scripts(self) -> frozenset[str]:
        from search import hybrid

        if self._scripts is None:
            self._scripts = hybrid.known_scripts(self.embedder().vocabulary())
        return self._scripts

    def _cosines(self, query: str | Passage) -> Cosines:
        """The cosine of every passage in the library with a text or a stored passage."""
        from search.vector import VectorSearch

        dimension = store.get_meta(self._connection, "dimension")
        if dimension is None:
            return _no_cosines()
        if self._vectors is None or self._vectors.dimension != dimension:  # a rebuild may have changed it meanwhile
            self._vectors = VectorSearch(self._connection, dimension)
        if isinstance(query, Passage):
            vector = self._vectors.vector(query.id, query.text)
            if vector is None:
                raise QueryError(f"the passage {query.key} is not in the library any more", "search again")
        else:
            vector = self.embedder().embed_query(query)
            if vector.shape != (dimension,):
                raise LibraryError(
                    f"the embedding model gives {vector.shape[-1]} dimensions, {self._path} has {dimension}",
                    f"{faults.REBUILD} makes the library anew with this model; --mode keyword needs none",
                )
        return self._vectors.cosines(vector)

    def _allowed(self, cosines: Cosines, compiled: Compiled, condition: tuple[str, Sequence[object]] | None = None) -> Cosines:
        """The cosines of the passages that pass the filters, and a condition on passages if there is one."""
        import numpy as np

        if (compiled.select is None and condition is None) or not len(cosines.ids):
            return cosines
        select, parameters = compiled.without(None)
        and_condition, bound = (f" AND {condition[0]}", condition[1]) if condition else ("", ())
        rows = self._connection.execute(
            f"SELECT id FROM passages WHERE document_id IN ({select}){and_condition}", (*parameters, *bound)
        )
        return cosines.among(np.fromiter((row[0] for row in rows), np.int64))


def _no_cosines() -> Cosines:
    import numpy as np

    from search.vector import Cosines

    return Cosines(np.empty(0, np.int64), np.empty(0, np.float32))
