"""The embedding model, loaded behind while the first question is being typed.

Importing what it runs on takes seconds. Whoever needs it sooner waits here, and can be told so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from search.embedding import Embedder, Identity, Vectors


class Warming:
    """An Embedder that is loaded by `begin` in a thread of its own; each member waits for it.

    load: makes the embedder. A failure is raised to everyone who asks for anything.
    """

    def __init__(self, load: Callable[[], Embedder]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._begun = False
        self._done = threading.Event()
        self._embedder: Embedder | None = None
        self._error: Exception | None = None
        self._waiting = 0

    def begin(self) -> None:
        """Start loading, once."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._run, name="embedding model", daemon=True).start()

    @property
    def loading(self) -> bool:
        """Whether it is under way."""
        return self._begun and not self._done.is_set()

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it."""
        return self._waiting > 0 and not self._done.is_set()

    @property
    def failure(self) -> Exception | None:
        """Why it cannot be had, None while that is not known."""
        return self._error

    def wait(self) -> None:
        """Wait until it is there, or cannot be had."""
        self.begin()
        self._done.wait()

    @property
    def identity(self) -> Identity:
        """Which model this is."""
        return self._ready().identity

    @property
    def max_tokens(self) -> int:
        """How many tokens of a passage the model reads."""
        return self._ready().max_tokens

    def token_starts(self, text: str) -> Sequence[int]:
        """Character offset of each token, ascending."""
        return self._ready().token_starts(text)

    def vocabulary(self) -> Iterable[str]:
        """The tokenizer's pieces."""
        return self._ready().vocabulary()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return self._ready().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        """One vector."""
        return self._ready().embed_query(text)

    def _run(self) -> None:
        try:
            embedder = self._load()
            embedder.embed_query("ready")  # its weights are read by the first use
            self._embedder = embedder
        except Exception as error:  # noqa: BLE001 - raised again to whoever asks for the model
            self._error = error
        finally:
            self._done.set()

    def _ready(self) -> Embedder:
        self.begin()
        self._waiting += 1
        try:
            self._done.wait()
        finally:
            self._waiting -= 1
        if self._embedder is None:
            raise self._error or RuntimeError("the embedding model was not loaded")
        return self._embedder
