"""`archivist` with the stand-in embedder, as a program of its own, for tests that watch a terminal.

REPL_SLOW names a file: while it is there, each search waits, and the file REPL_BUSY says that one does. REPL_MODEL names a file
without which the embedding model is not there yet.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from standin import StandIn

from assistant.cli import main
from search import Library, embedding


def slowed(search):  # type: ignore[no-untyped-def]
    """A search that waits while the file is there, at most two minutes."""

    def run(*arguments, **more):  # type: ignore[no-untyped-def]
        end = time.monotonic() + 120
        slow = Path(os.environ["REPL_SLOW"])
        while slow.exists() and time.monotonic() < end:
            Path(os.environ["REPL_BUSY"]).touch()
            time.sleep(0.02)
        return search(*arguments, **more)

    return run


def load(*_: object, **__: object) -> StandIn:
    end = time.monotonic() + 120
    while os.environ.get("REPL_MODEL") and not Path(os.environ["REPL_MODEL"]).exists() and time.monotonic() < end:
        time.sleep(0.02)
    return StandIn()


if __name__ == "__main__":
    embedding.load_embedder = load  # type: ignore[assignment]
    if os.environ.get("REPL_SLOW"):
        Library.hybrid_search = slowed(Library.hybrid_search)  # type: ignore[method-assign]
    main(sys.argv[1:])
