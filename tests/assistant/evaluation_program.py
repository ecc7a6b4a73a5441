"""`archivist evaluate` in a process of its own, with the stand-in embedder and slow answers: it is killed while it works.

The third answer and those after it wait for a file, so that the process is killed in the middle on any machine. Prints what was
asked to standard error.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from standin import StandIn

from assistant import cli, conversation
from search import embedding


def main(go_on: Path, arguments: list[str]) -> None:
    embedding.load_embedder = lambda *_, **__: StandIn()  # type: ignore[assignment, return-value]
    ask = conversation.Conversation.ask
    begun = 0

    def slowly(self: Any, question: str) -> Any:
        nonlocal begun
        begun += 1
        sys.stderr.write(f"ASKED {question}\n")  # at once, whatever another thread writes
        while begun > 2 and not go_on.exists():
            time.sleep(0.02)
        return ask(self, question)

    conversation.Conversation.ask = slowly  # type: ignore[method-assign]
    cli.main(arguments)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
