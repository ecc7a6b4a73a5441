"""Exact vector search over the stored embeddings.

In: a query vector. Out: the cosine of every passage of the library, which the fusion needs for its mean and spread as well. The
vectors are kept in memory between searches while the file does not change and they fit; otherwise they are read in batches.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]

KEEP_BYTES = 512 * 1024 * 1024
_BATCH = 8192


@dataclass(frozen=True, slots=True)
class Cosines:
    """The cosine of each passage with a query: `values[i]` belongs to passage `ids[i]`; ids ascend."""

    ids: Ids
    values: Floats

    def among(self, passages: Ids) -> Cosines:
        """The same for some passages only; unknown ids are left out."""
        kept = np.isin(self.ids, passages, assume_unique=True)
        return Cosines(self.ids[kept], self.values[kept])

    def mean_and_deviation(self) -> tuple[float, float]:
        """Mean and standard deviation of the values; 0 and 0 when there are none."""
        return (float(self.values.mean()), float(self.values.std())) if len(self.values) else (0.0, 0.0)

    def place(self, passage: int) -> tuple[int, float] | None:
        """Rank (from 1) and cosine of a passage, None when it is not among them."""
        position = int(np.searchsorted(self.ids, passage))
        if position == len(self.ids) or self.ids[position] != passage:
            return None
        return int((self.values > self.values[position]).sum()) + 1, float(self.values[position])

    def best(self, limit: int) -> list[tuple[int, float]]:
        """The highest ones as (passage, cosine). All that tie with the last are included, so that the caller can order ties."""
        if len(self.ids) > limit:
            threshold = np.partition(self.values, len(self.values) - limit)[len(self.values) - limit]
            chosen = np.flatnonzero(self.values >= threshold)
        else:
            chosen = np.arange(len(self.ids))
        order = chosen[np.argsort(-self.values[chosen], kind="stable")]
        return [(int(self.ids[i]), float(self.values[i])) for i in order]


class VectorSearch:
    """Cosines over one open library. Vectors have length 1, so the cosine is the dot product."""

    def __init__(self, connection: sqlite3.Connection, dimension: int) -> None:
        self._connection = connection
        self.dimension = dimension
        self._kept: tuple[Any, Ids, Floats] | None = None

    def cosines(self, query: Floats) -> Cosines:
        """The cosine of every passage; to be called inside a read transaction. Raises ValueError for a wrong dimension."""
        if query.shape != (self.dimension,):
            raise ValueError(f"query vector: got shape {query.shape}, want ({self.dimension},)")
        ids, matrix = self._in_memory()
        if matrix is not None:
            return Cosines(ids, _dot(matrix, query))
        parts = [(batch, _dot(vectors, query)) for batch, vectors in self._batches()]
        return Cosines(np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))

    def vector(self, passage: int, text: str) -> Floats | None:
        """The stored vector of a passage with this text; ids are used again, so the id alone may mean another one by now."""
        row = self._connection.execute(
            "SELECT e.vector FROM _embeddings e JOIN passages p ON p.id = e.passage_id WHERE p.id = ? AND p.text = ?",
            (passage, text),
        ).fetchone()
        return None if row is None else unpack([row[0]], self.dimension)[0]

    def rows(self, passages: Sequence[int]) -> dict[int, Floats]:
        """The stored vectors of some passages; those without one are left out."""
        rows = self._connection.execute(
            "SELECT passage_id, vector FROM _embeddings WHERE passage_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(passages)),),
        ).fetchall()
        return {row[0]: unpack([row[1]], self.dimension)[0] for row in rows}

    def _in_memory(self) -> tuple[Ids, Floats | None]:
        count = self._connection.execute("SELECT count(*) FROM _embeddings").fetchone()[0]
        if count * self.dimension * 4 > KEEP_BYTES:
            self._kept = None
            return np.empty(0, np.int64), None
        # data_version changes with every commit of another connection, total_changes with our own.
        version = (self._connection.execute("PRAGMA data_version").fetchone()[0], self._connection.total_changes)
        if self._kept is None or self._kept[0] != version:
            ids, matrix = np.empty(count, np.int64), np.empty((count, self.dimension), np.float32)
            position = 0
            for batch, vectors in self._batches():
                ids[position : position + len(batch)] = batch
                matrix[position : position + len(batch)] = vectors
                position += len(batch)
            self._kept = (version, ids, matrix)
        return self._kept[1], self._kept[2]

    def _batches(self) -> Iterator[tuple[Ids, Floats]]:
        cursor = self._connection.execute("SELECT passage_id, vector FROM _embeddings ORDER BY passage_id")
        while rows := cursor.fetchmany(_BATCH):
            yield np.array([row[0] for row in rows], np.int64), unpack([row[1] for row in rows], self.dimension)


def _dot(vectors: Floats, query: Floats) -> Floats:
    # einsum adds up each row alone, so that equal passages tie exactly; BLAS may round rows of one matrix differently.
    products: Floats = np.einsum("ij,j->i", vectors, query)
    return products


def pack(vector: Floats) -> bytes:
    """A vector as stored: little-endian float32."""
    return vector.astype("<f4").tobytes()


def unpack(blobs: Sequence[bytes], dimension: int) -> Floats:
    """Stored vectors as rows. Raises ValueError when one has another length."""
    return np.frombuffer(b"".join(blobs), "<f4").reshape(len(blobs), dimension).astype(np.float32, copy=False)
