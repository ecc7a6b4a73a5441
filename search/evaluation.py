"""Measuring retrieval: recall, nDCG, MRR and MAP of each search mode on fixed queries with known answers.

In: a corpus with judgements (a BEIR folder) or cases over a library. Out: means per mode. Everything counts by document: a
document stands where its best passage stands. The measures are those of trec_eval; tests compare them with ir-measures.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, cast

from search import upkeep
from search.embedding import Embedder, Vectors
from search.errors import UserError
from search.library import Library
from search.models import Block, Extract, Filters, Mode
from search.reranking import RERANK_DEPTH, Reranker

MODES: tuple[Mode, ...] = ("keyword", "vector", "hybrid")
RERANKED = "reranked"  # hybrid search whose best hits a cross-encoder reads again
MILLISECONDS = "milliseconds"  # of one search, its query being embedded and all that it needs being loaded already
DEPTH = 100
DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)  # of the curves

Judgements = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A query with the grade of each relevant document (0 or missing: not relevant); filters apply before the search."""

    id: str
    query: str
    relevant: Judgements
    kind: str = ""
    filters: Filters = field(default_factory=Filters)
    today: date | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A BEIR folder: documents are read when they are needed."""

    name: str
    folder: Path
    cases: tuple[Case, ...]

    def documents(self) -> Iterator[tuple[str, Extract]]:
        """Each document's id and its text."""
        for _, row in _rows(self.folder / "corpus.jsonl", "_id", "text"):
            title, text = row.get("title") or "", row["text"]
            # A document that is nothing but its title is one line, a heading.
            blocks = () if text.strip() else (Block(0, len(title), "heading", 1, title),)
            yield str(row["_id"]), Extract(text=text if text.strip() else title, format="text", title=title or None, blocks=blocks)


def ndcg(ranking: Sequence[str], relevant: Judgements, depth: int = 10) -> float:
    """Normalized discounted cumulative gain, 0 to 1: gain is the grade, discount log2(rank + 1) (trec_eval's)."""
    gains = [max(relevant.get(document, 0), 0) for document in ranking[:depth]]
    ideal = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:depth]
    return _discounted(gains) / _discounted(ideal) if ideal else 0.0


def recall(ranking: Sequence[str], relevant: Judgements, depth: int = DEPTH) -> float:
    """Share of the relevant documents among the first `depth`, 0 to 1."""
    wanted = {document for document, grade in relevant.items() if grade > 0}
    return len(wanted.intersection(ranking[:depth])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Judgements, depth: int = 10) -> float:
    """1 / rank of the first relevant document among the first `depth`, 0 when there is none; its mean is MRR."""
    return next((1 / rank for rank, document in enumerate(ranking[:depth], 1) if relevant.get(document, 0) > 0), 0.0)


def average_precision(ranking: Sequence[str], relevant: Judgements) -> float:
    """Mean of the precision at each relevant document, those not found counting 0; its mean over queries is MAP."""
    wanted = sum(grade > 0 for grade in relevant.values())
    found, total = 0, 0.0
    for rank, document in enumerate(ranking, 1):
        if relevant.get(document, 0) > 0:
            found += 1
            total += found / rank
    return total / wanted if wanted else 0.0


MEASURES: dict[str, Callable[[Sequence[str], Judgements], float]] = {
    "ndcg@10": ndcg,
    "recall@100": recall,
    "mrr@10": reciprocal_rank,
    "map": average_precision,
}
# With these a report can draw recall and nDCG over the depth.
CURVES: dict[str, Callable[[Sequence[str], Judgements], float]] = {
    **MEASURES,
    **{f"recall@{depth}": partial(recall, depth=depth) for depth in DEPTHS},
    **{f"ndcg@{depth}": partial(ndcg, depth=depth) for depth in DEPTHS},
}


def read_corpus(folder: Path) -> Corpus:
    """A BEIR folder: corpus.jsonl, queries.jsonl, qrels/test.tsv. Queries without a judgement are left out. Raises UserError."""
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        if not (folder / name).is_file():
            raise UserError(f"{folder} is no BEIR folder: {name} is missing", "it holds these three files")
    judged = _judgements(folder / "qrels" / "test.tsv")
    cases = tuple(
        Case(str(row["_id"]), row["text"], judged[str(row["_id"])])
        for _, row in _rows(folder / "queries.jsonl", "_id", "text")
        if any(grade > 0 for grade in judged.get(str(row["_id"]), {}).values())
    )
    return Corpus(folder.name, folder, cases)


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """The grade of each document per query; the first line may name the columns."""
    judged: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            match = re.fullmatch(r"([^\t]+)\t([^\t]+)\t(-?[0-9]+)", line.strip())
            if match:
                judged.setdefault(match[1], {})[match[2]] = int(match[3])
            elif number > 1 and line.strip():
                raise UserError(f"{path}:{number}: got {line.strip()[:80]!r}, want query, document and grade with tabs between")
    return judged


def index_corpus(corpus: Corpus, library: Path, embedder: Embedder) -> None:
    """Put a corpus into a library file; its documents' paths are their ids."""
    upkeep.add_texts(library, corpus.name, corpus.documents(), embedder)


def evaluate(
    library: Path,
    cases: Sequence[Case],
    embedder: Embedder,
    modes: Iterable[Mode] = MODES,
    *,
    measures: Mapping[str, Callable[[Sequence[str], Judgements], float]] = MEASURES,
    begins: Callable[[str], None] = lambda _: None,
    reranker: Reranker | None = None,
) -> dict[str, list[dict[str, float]]]:
    """The measures of every case and the milliseconds of its search, in order, per mode.

    begins: told of each mode before its first case. reranker: reads the best hits of hybrid search again, as a mode of its own; the
    rest stand below in their order.
    """
    remembering = _Remembering(embedder)
    results: dict[str, list[dict[str, float]]] = {}
    with Library.open(library, embedder=remembering) as opened:
        for mode in (*modes, *([RERANKED] if reranker else [])):
            begins(mode)
            results[mode] = []
            search = partial(_read_again, reranker=reranker) if mode == RERANKED and reranker else partial(_ranked, mode=mode)
            for case in cases[:1]:
                search(opened, case)  # loads models and vectors, so that no question pays for it
            for case in cases:
                remembering.embed_query(case.query)
                started = time.perf_counter()
                ranking = search(opened, case)
                spent = {MILLISECONDS: round(1000 * (time.perf_counter() - started), 2)}
                if mode == RERANKED:
                    ranking = list(dict.fromkeys([*ranking, *_ranked(opened, case, mode="hybrid")]))
                results[mode].append({name: measure(ranking, case.relevant) for name, measure in measures.items()} | spent)
    return results


def _ranked(library: Library, case: Case, *, mode: str) -> list[str]:
    """Paths of documents, best first."""
    found = library.rank_documents(case.query, case.filters, mode=cast("Mode", mode), limit=DEPTH, today=case.today)
    return [path for path, _ in found]


def _read_again(library: Library, case: Case, *, reranker: Reranker) -> list[str]:
    """Paths of the documents whose best passages the reranking model reads, best first, and of no others."""
    hits = library.search(case.query, case.filters, limit=RERANK_DEPTH, by_document=True, today=case.today, reranker=reranker)
    return [hit.document.path for hit in hits]


def mean(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over cases, rounded to four digits; empty without cases."""
    if not measured:
        return {}
    return {name: round(sum(case[name] for case in measured) / len(measured), 4) for name in measured[0]}


class _Remembering:
    """An embedder that embeds each query once, for runs that ask the same in several modes."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self.identity = embedder.identity
        self.max_tokens = embedder.max_tokens

    def token_starts(self, text: str) -> Sequence[int]:
        return self._embedder.token_starts(text)

    def vocabulary(self) -> Iterable[str]:
        return self._embedder.vocabulary()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _rows(path: Path, *wanted: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with their line numbers; each must hold the keys `wanted`."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise UserError(f"{path}:{number}: not JSON: {error}") from error
            if not isinstance(row, dict) or not all(key in row for key in wanted):
                raise UserError(f"{path}:{number}: want an object with {', '.join(wanted)}")
            yield number, row
