"""Asks questions one after another and keeps each turn, telling on standard output what it is about to do: it is killed meanwhile.

A conversation that is in the file already goes on. Every statement that the file is given is told of before it is run. After so
many lines, if a number is given, the program stands still: in the middle of a transaction, where that is their place.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from itertools import count

from standin import StandIn

from assistant.history import Keeper, resuming
from search import Filters, Library
from tests.assistant.kept_talks import ask, talk


def teller(lines: int) -> Callable[[str], None]:
    """What tells a line, and stands still after so many, 0 for never."""
    told = 0

    def tell(text: str) -> None:
        nonlocal told
        told += 1
        sys.stdout.write(f"{' '.join(text.split())}\n")
        sys.stdout.flush()
        if told == lines:
            signal.pause()

    return tell


def main(library_file: str, lines: int) -> None:
    tell = teller(lines)
    with Library.open(library_file, embedder=StandIn()) as library, Keeper(library.path, tell) as keeper:
        conversation = talk(library)
        sessions = keeper.history.sessions(1)
        if sessions:
            conversation.restore(resuming.opened(library, keeper.resume(sessions[0].id))[0])
        keeper.history._connection.set_trace_callback(lambda statement: tell(f"statement {statement[:60]}"))
        for number in count(conversation.snapshot().turns + 1):
            tell(f"asking {number}")
            turn = ask(conversation, f"what of the gateway, {number}?")
            tell(f"answered {number}")
            keeper.keep(turn, conversation.snapshot(), Filters())
            tell(f"kept {number}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
