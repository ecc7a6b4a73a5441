"""Turning text into vectors with a sentence-transformers model.

`SentenceEmbedder` is made from a model's folder at once and loads torch only when something is embedded: its tokenizer and its
identity are there without it. Anything with the same four members can stand in for it (`Embedder`).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from search import weights
from search.errors import EmbedderError
from search.weights import DEFAULT_MODEL, Announce

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

_LONG_SECONDS = 2.0
Vectors = NDArray[np.float32]

# Query and passage prefixes that families of models were trained with, by what their names contain; the first match counts.
# From the models' cards: intfloat/e5-*, BAAI/bge-*, thenlper/gte-*, nomic-ai/nomic-embed-*, mixedbread-ai/mxbai-*, Snowflake/*.
_BGE_QUERY = "Represent this sentence for searching relevant passages: "
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("e5-", "query: ", "passage: "),
    ("bge-m3", "", ""),
    ("bge-small-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-base-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-large-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    ("bge-", _BGE_QUERY, ""),
    ("gte-", "", ""),
    ("nomic-embed", "search_query: ", "search_document: "),
    ("mxbai-embed", _BGE_QUERY, ""),
    ("arctic-embed-m-v2", "query: ", ""),
    ("arctic-embed-l-v2", "query: ", ""),
    ("arctic-embed", _BGE_QUERY, ""),
)


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes two sets of vectors comparable. revision: SHA-256 of the weights; dimension 0 means not known yet."""

    name: str
    revision: str
    query_prefix: str = ""
    passage_prefix: str = ""
    dimension: int = 0
    dtype: str = "float32"


class Embedder(Protocol):
    """What the library needs of an embedding model. Vectors are float32 rows of length 1."""

    @property
    def identity(self) -> Identity:
        """Which model this is, without loading it."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a passage the model reads, special tokens and prefix taken off."""
        ...

    def token_starts(self, text: str) -> Sequence[int]:
        """Character offset of each token, ascending, without special tokens."""
        ...

    def vocabulary(self) -> Iterable[str]:
        """The tokenizer's pieces: they show which scripts the model can read."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """One vector."""
        ...


def prefixes(name: str) -> tuple[str, str]:
    """Query and passage prefix of a model family, both empty for the families that use none."""
    lowered = name.lower()
    return next(((query, passage) for part, query, passage in _PREFIXES if part in lowered), ("", ""))


def load_embedder(name: str = DEFAULT_MODEL, *, announce: Announce = lambda _: None) -> SentenceEmbedder:
    """The embedder for a model's name or folder; see `weights.locate` for where it is looked for and what is refused."""
    folder = weights.locate(name, announce)
    return SentenceEmbedder(folder, DEFAULT_MODEL if weights.is_default(name) else name, announce)


class SentenceEmbedder:
    """A sentence-transformers model in a local folder. Not thread-safe while it loads; embedding is.

    announce: told when loading the weights takes long, while somebody watches on a terminal.
    """

    def __init__(self, folder: Path, name: str, announce: Announce = lambda _: None) -> None:
        self.folder = folder
        self._announce = announce
        query, passage = self._stated_prefixes() or prefixes(f"{Path(name).name} {folder.name}")
        self._identity = Identity(name, weights.weights_hash(folder), query, passage)

    @property
    def identity(self) -> Identity:
        """Name, hash of the weights and prefixes; the dimension is known once the model has embedded something."""
        return self._identity

    @cached_property
    def max_tokens(self) -> int:
        """Tokens of a passage that the model reads: its own limit less two special tokens and the passage prefix."""
        limit = 512
        for file, key in (("config.json", "max_position_embeddings"), ("sentence_bert_config.json", "max_seq_length")):
            value = self._settings(file).get(key)
            limit = value if isinstance(value, int) and value > 0 else limit
        return limit - 2 - len(self.token_starts(self._identity.passage_prefix))

    def token_starts(self, text: str) -> Sequence[int]:
        """Character offset of each token, ascending, without special tokens."""
        return [start for start, _ in self._tokenizer.encode(text, add_special_tokens=False).offsets]

    def vocabulary(self) -> Iterable[str]:
        """The tokenizer's pieces."""
        pieces: dict[str, int] = self._tokenizer.get_vocab()
        return pieces

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Rows of length 1, one per text; texts longer than the model reads are cut by it."""
        return self._encode([self._identity.passage_prefix + text for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """A vector of length 1; of a long text the model reads the beginning."""
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(
            1
        )  # for one short text more threads mostly wait for each other, forty times as long on a busy machine
        try:
            vector: Vectors = self._encode([self._identity.query_prefix + text[:20_000]])[0]
        finally:
            torch.set_num_threads(threads)
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    def _stated_prefixes(self) -> tuple[str, str] | None:
        """The prompts that a model states for queries and documents in its own configuration."""
        prompts = self._settings("config_sentence_transformers.json").get("prompts")
        if not isinstance(prompts, dict) or not prompts.get("query"):
            return None
        return str(prompts["query"]), str(prompts.get("document") or prompts.get("passage") or "")

    def _settings(self, file: str) -> dict[str, Any]:
        """One of the model's configuration files, empty when it has none."""
        path = self.folder / file
        settings = weights.read_json(path) if path.is_file() else {}
        if not isinstance(settings, dict):
            raise EmbedderError(f"{path} holds no settings", "download the model again, or choose another")
        return settings

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer

        file = self.folder / "tokenizer.json"
        if file.is_file():
            tokenizer = Tokenizer.from_file(str(file))
        else:
            from transformers import AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(str(self.folder), trust_remote_code=False).backend_tokenizer
        # The file may say to cut or pad (at 128 for the default model): counting needs every token, and no more.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _model(self) -> SentenceTransformer:
        with _told_when_long(self._announce, f"loading the embedding model {self._identity.name} …"):
            return self._loaded()

    def _loaded(self) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
        try:
            return SentenceTransformer(str(self.folder), model_kwargs={"use_safetensors": True}, **options)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise EmbedderError(
                f"the embedding model in {self.folder} cannot be loaded: {str(error).splitlines()[0][:200]}",
                "choose another with --embedder, or install it again",
            ) from error


@contextmanager
def _told_when_long(announce: Announce, text: str) -> Iterator[None]:
    """Says what takes so long, after two seconds and only to somebody at a terminal: in a log it would be noise."""
    timer = threading.Timer(_LONG_SECONDS, announce, [text])
    timer.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
