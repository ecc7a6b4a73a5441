"""Fusing keyword and vector search, and how far each list is to be trusted for a query.

In: BM25 scores of the passages that hold a word, cosines of all passages. Out: passage ids with one score, which the passages
that say nearly the same then settle among themselves. Pure functions: nothing here knows SQL or loads a model. Figures behind the
formula: docs/quality.md.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Chosen by nDCG@10 on half of the questions of five sets, confirmed on the other half: docs/quality.md.
KEYWORD_SCALE = 1.1
KEYWORD_WEIGHTS = (2.0, 6.0)  # the least and the most: among few passages nothing stands out, among a million anything rare does
KEYWORD_DEPTH = 1000  # how many keyword hits to fuse: with 100 questions in other words than their answer lose
AGAIN = 100  # how many of the best are looked at again: what they hold of the query, and how near they are to each other
COVERAGE = 0.3  # of a standard deviation of the cosines, for a passage that holds all of the query
NEIGHBOURS = 5
SMOOTHING = 0.25  # how much of a score comes from the neighbours
MIN_PIECES = 300
MIN_HAN = 2000


def fuse(
    keyword: Mapping[int, float],
    ids: NDArray[np.int64],
    cosine: NDArray[np.float32],
    *,
    mean: float,
    deviation: float,
    vector_weight: float = 1.0,
    keyword_weight: float,
    limit: int,
) -> list[tuple[int, float]]:
    """Fuse by score: (passage id, score), best first; equal scores by id, and all that tie with the last are included.

    The score is the cosine as a z-score, times `vector_weight`, plus BM25 over its maximum, times `keyword_weight`.
    keyword: BM25 by passage, higher is better, the best KEYWORD_DEPTH of them. ids, cosine: the passages that may be found, side
    by side. mean, deviation: of the cosines of the whole collection, so that a filter does not change what a cosine is worth.
    Passages without an embedding get the mean. With a weight of 0 only keyword hits are returned. Raises ValueError when ids and
    cosine differ in length or the weight lies outside 0..1.
    """
    if ids.shape != cosine.shape:
        raise ValueError(f"cosine: got shape {cosine.shape}, want one value per id, {ids.shape}")
    if not 0.0 <= vector_weight <= 1.0:
        raise ValueError(f"vector_weight: got {vector_weight}, want 0 to 1")
    words = dict(keyword)
    best = max(words.values(), default=0.0)
    scores = {passage: keyword_weight * score / best if best > 0 else 0.0 for passage, score in words.items()}
    if vector_weight > 0 and deviation > 0:
        meaning = vector_weight * (cosine.astype(np.float64) - mean) / deviation
        for position in _worth_scoring(ids, meaning, scores, limit):
            passage = int(ids[position])
            scores[passage] = scores.get(passage, 0.0) + float(meaning[position])
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [pair for pair in ranked if len(ranked) <= limit or pair[1] >= ranked[limit - 1][1]]


def keyword_weight(scores: Sequence[float], *, hits: int, population: int) -> float:
    """How far the keyword list counts for a query: 1.1 times the root of the z-score of its best BM25, within 2 to 6.

    A word that few passages hold makes its best hit stand out, and is probably what is looked for; where many match a little, as
    they do for a question in other words than its answer, the hits are mostly noise. scores: BM25, best first, as far as they were
    fetched. hits: how many passages match in all; those not fetched are taken to fall evenly from the last score to 0.
    population: how many passages could have matched; those that do not have a score of 0.
    """
    least, most = KEYWORD_WEIGHTS
    if not scores:
        return least
    found = np.asarray(scores, np.float64)
    rest, last = max(hits - len(found), 0), float(found[-1])
    population = max(population, hits, len(found))
    mean = (float(found.sum()) + rest * last / 2) / population
    variance = (float((found**2).sum()) + rest * last**2 / 3) / population - mean**2
    outstanding = (float(found[0]) - mean) / math.sqrt(variance) if variance > 1e-12 * mean**2 else 0.0
    return min(max(KEYWORD_SCALE * math.sqrt(max(outstanding, 0.0)), least), most)


def smooth(scores: Sequence[float], vectors: NDArray[np.float32], *, share: float = SMOOTHING) -> list[float]:
    """Move each score by `share` towards the mean of its 5 nearest neighbours among the same passages, weighed by cosine.

    Passages that say nearly the same are relevant together: one that only one list ranks high among neighbours that rank low was
    probably found by chance (Diaz 2005, "Regularizing ad hoc retrieval scores"). vectors: rows of length 1, one per score.
    No score falls below the lowest one given. Equal scores of equal vectors stay equal: all that tie with the fifth are neighbours.
    """
    if len(scores) < 2 or share <= 0:
        return list(scores)
    # einsum and fsum do not depend on the order of the passages, as the products of BLAS and plain sums do in their last digit.
    cosine = np.einsum("ik,jk->ij", vectors, vectors).astype(np.float64)
    np.fill_diagonal(cosine, -np.inf)
    place = len(scores) - min(NEIGHBOURS, len(scores) - 1)
    fifth = np.partition(cosine, place, axis=1)[:, place]
    lowest = min(scores)
    return [
        max((1 - share) * score + share * _around(score, scores, row, bound), lowest)
        for score, row, bound in zip(scores, cosine, fifth, strict=True)
    ]


def _around(own: float, scores: Sequence[float], cosine: NDArray[np.float64], bound: float) -> float:
    """The mean of the scores at a cosine of `bound` or more, weighed by cosine; `own` where none is similar at all."""
    near = [(float(cosine[place]), scores[place]) for place in np.flatnonzero((cosine >= bound) & (cosine > 0)).tolist()]
    return math.fsum(weight * score for weight, score in near) / math.fsum(weight for weight, _ in near) if near else own


def _worth_scoring(
    ids: NDArray[np.int64], meaning: NDArray[np.float64], scores: Mapping[int, float], limit: int
) -> NDArray[np.int64]:
    """Positions of the keyword hits and of the passages nearest in meaning: no other can be among the best `limit`."""
    chosen = np.isin(ids, np.fromiter(scores, np.int64, len(scores)))
    if len(ids) > limit:
        chosen |= meaning >= np.partition(meaning, len(ids) - limit)[len(ids) - limit]
    else:
        chosen[:] = True
    positions: NDArray[np.int64] = np.flatnonzero(chosen)
    return positions


def known_scripts(vocabulary: Iterable[str]) -> frozenset[str]:
    """The scripts that an embedding model has words for, by its tokenizer's pieces ("LATIN", "CYRILLIC", "CJK", "THAI", ...).

    A model that was trained on a script has pieces of several of its letters; one that was not has single letters at most, by
    chance of names in its texts. Han characters are words by themselves: there their number counts. Takes pieces as WordPiece,
    SentencePiece and byte-level BPE write them.
    """
    pieces = list(vocabulary)
    byte_level = any(piece.startswith("Ġ") for piece in pieces)
    words: Counter[str] = Counter()
    letters: dict[str, set[str]] = defaultdict(set)
    for piece in pieces:
        text = _from_bytes(piece) if byte_level else piece.removeprefix("##").lstrip("▁").removesuffix("</w>")
        scripts = {_script(letter) for letter in text}
        if len(scripts) != 1 or (script := scripts.pop()) is None:
            continue
        letters[script].update(text)
        words[script] += len(text) > 1
    known = {script for script, count in words.items() if count >= MIN_PIECES}
    known.discard("CJK")
    return frozenset(known | ({"CJK"} if len(letters["CJK"]) >= MIN_HAN else set()))


def vector_weight(query: str, known: frozenset[str]) -> float:
    """How far the vector list counts for a query, 0 to 1: by the share of its letters that are in scripts the model knows.

    Steep, because one unknown word in four already spoils the embedding of a short query: 1 at a share of 1, .32 at .75, 0
    from .5 down. Without letters (numbers, signs) 1.
    """
    scripts = [script for letter in unicodedata.normalize("NFKC", query) if (script := _script(letter)) is not None]
    if not scripts:
        return 1.0
    share = sum(script in known for script in scripts) / len(scripts)
    return 0.0 if share <= 0.5 else share**4


@lru_cache(maxsize=4096)
def _script(letter: str) -> str | None:
    """The script of a letter or vowel sign: the first word of its name in Unicode. None for anything else."""
    if unicodedata.category(letter) not in {"Lu", "Ll", "Lt", "Lo", "Lm", "Mc", "Mn"}:
        return None
    name = unicodedata.name(letter, "")
    first = name.partition(" ")[0].partition("-")[0]
    return None if first in {"", "COMBINING", "MODIFIER", "FEMININE", "MASCULINE"} else first


@lru_cache(maxsize=1)
def _byte_letters() -> dict[str, int]:
    """The letters by which byte-level BPE writes the 256 bytes: printable ones stand for themselves, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


def _from_bytes(piece: str) -> str:
    table = _byte_letters()
    raw = bytes(table[letter] for letter in piece if letter in table)
    return raw.decode("utf-8", errors="replace").strip()
