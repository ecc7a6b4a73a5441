"""`archivist` with the stand-in embedder, as a program of its own, for tests that watch a terminal.

REPL_SLOW names a file: while it is there, each keyword search waits; it is said in REPL_BUSY that one does.
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


if __name__ == "__main__":
    embedding.load_embedder = lambda *_, **__: StandIn()  # type: ignore[assignment,return-value]
    if os.environ.get("REPL_SLOW"):
        Library.hybrid_search = slowed(Library.hybrid_search)  # type: ignore[method-assign]
    main(sys.argv[1:])
