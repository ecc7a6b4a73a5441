"""A deterministic embedder without weights: vectors from hashed words, so that tests of everything else are fast and exact."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

import numpy as np

from search.embedding import Identity, Vectors

DIMENSION = 64


class StandIn:
    """Texts that share words are near each other; equal texts have equal vectors. Counts what it embeds."""

    def __init__(self, name: str = "stand-in", revision: str = "0" * 64) -> None:
        self.identity = Identity(name, revision)
        self.max_tokens = 254
        self.embedded: list[str] = []

    def token_starts(self, text: str) -> Sequence[int]:
        return [match.start() for match in re.finditer(r"\w+|[^\w\s]", text)]

    def vocabulary(self) -> Iterable[str]:
        return [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(676)]  # it knows Latin letters

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        return np.stack([_vector(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return _vector(text)


def _vector(text: str) -> Vectors:
    vector = np.full(DIMENSION, 1e-3, np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        vector[digest[0] % DIMENSION] += 1 if digest[1] % 2 else -1
    return (vector / np.linalg.norm(vector)).astype(np.float32)
