"""Fusing keyword and vector search, and how far the vector list is to be trusted for a query.

In: BM25 scores of the passages that hold a word, cosines of all passages. Out: passage ids with one score. Pure functions: nothing
here knows SQL or loads a model. Figures behind the formula: docs/quality.md.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

KEYWORD_WEIGHT = 3.0
KEYWORD_DEPTH = 1000  # how many keyword hits to fuse: with 100 questions in other words than their answer lose
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
    limit: int,
) -> list[tuple[int, float]]:
    """Fuse by score: (passage id, score), best first; equal scores by id, and all that tie with the last are included.

    The score is the cosine as a z-score, times `vector_weight`, plus 3 times BM25 over its maximum.
    keyword: BM25 by passage, higher is better, the best KEYWORD_DEPTH of them. ids, cosine: the passages that may be found, side
    by side. mean, deviation: of the cosines of the whole collection, whatever the filters, so that a filter changes no score.
    Passages without an embedding get the mean. With a weight of 0 only keyword hits are returned. Raises ValueError when ids and
    cosine differ in length or the weight lies outside 0..1.
    """
    if ids.shape != cosine.shape:
        raise ValueError(f"cosine: got shape {cosine.shape}, want one value per id, {ids.shape}")
    if not 0.0 <= vector_weight <= 1.0:
        raise ValueError(f"vector_weight: got {vector_weight}, want 0 to 1")
    words = dict(keyword)
    best = max(words.values(), default=0.0)
    scores = {passage: KEYWORD_WEIGHT * score / best if best > 0 else 0.0 for passage, score in words.items()}
    if vector_weight > 0 and deviation > 0:
        meaning = vector_weight * (cosine.astype(np.float64) - mean) / deviation
        for position in _worth_scoring(ids, meaning, scores, limit):
            passage = int(ids[position])
            scores[passage] = scores.get(passage, 0.0) + float(meaning[position])
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [pair for pair in ranked if len(ranked) <= limit or pair[1] >= ranked[limit - 1][1]]


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
