"""Reading the best hits once more with a cross-encoder, which sees the query and a passage together.

In: a query and the texts of the passages that a search found. Out: their new order, with the model's scores. Off unless a model
is named: it reads every passage for every query, which takes a second or so where the other searches take milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from search import weights
from search.chunking import embedded_text
from search.errors import EmbedderError
from search.models import Hit
from search.terms import parse
from search.weights import RERANKING, Announce

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

RERANK_DEPTH = 50  # passages that are read again, unless more are asked for
_MAX_QUERY_CHARACTERS = 2000


class Reranker(Protocol):
    """What a search needs of a cross-encoder."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, higher is better, in order of the texts."""
        ...


def read_text(hit: Hit) -> str:
    """What the model reads of a hit: where it stands on one line, then its text."""
    above = dict.fromkeys((hit.document.title, *hit.passage.headings))
    return embedded_text(" > ".join(name for name in above if name), hit.passage.text)


def rerank(query: str, reranker: Reranker, texts: Sequence[str]) -> list[tuple[int, float]]:
    """(place in `texts` from 0, score), best first; equal scores keep the order that they came in.

    Raises EmbedderError when the model does not give one finite score for each text.
    """
    if not texts:
        return []
    said = parse(query).text or query  # as a person would say it: without what is to be left out
    scores = [float(score) for score in reranker.scores(said[:_MAX_QUERY_CHARACTERS], texts)]
    if len(scores) != len(texts) or not all(map(math.isfinite, scores)):
        raise EmbedderError(f"the reranking model did not give each of {len(texts)} passages a score", RERANKING.hint)
    return sorted(enumerate(scores), key=lambda pair: -pair[1])


def load_reranker(name: str, *, announce: Announce = lambda _: None) -> SentenceReranker:
    """The cross-encoder with a name or in a folder; where it is looked for and what is refused: `weights.locate`."""
    return SentenceReranker(weights.locate(name, announce, RERANKING))


class SentenceReranker:
    """A sentence-transformers CrossEncoder in a local folder; torch is loaded when it first scores."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query; of a long text the model reads the beginning."""
        found = self._model.predict([(query, text) for text in texts], batch_size=16, show_progress_bar=False)
        if getattr(found, "ndim", 1) != 1:
            raise EmbedderError(
                f"{self.folder} sorts pairs into {found.shape[-1]} classes, want one score: it is no reranking model",
                RERANKING.hint,
            )
        return [float(score) for score in found]

    @cached_property
    def _model(self) -> CrossEncoder:
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging

        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
        try:
            model: CrossEncoder = CrossEncoder(str(self.folder), model_kwargs={"use_safetensors": True}, **options)
            return model
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise EmbedderError(
                f"the reranking model in {self.folder} cannot be loaded: {str(error).splitlines()[0][:200]}", RERANKING.hint
            ) from error
