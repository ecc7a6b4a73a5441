"""Kill -9 at a random moment of a conversation loses at most the turn under way; what is kept can be gone on with."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.history import History
from search import Library
from tests.assistant.kept_talks import FILES

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("kept_program.py")
KILLS = 6
LINES = 100  # what the program tells in about five turns


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path, text in FILES.items():
        write(path, text)
    return indexed()


def killed_after(lines: int, library: Library, *, still: bool) -> list[str]:
    """All that the program told before it was killed: after so many lines, at which it stands still, or somewhat later."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    command = [sys.executable, str(PROGRAM), str(library.path), str(lines if still else 0)]
    program = subprocess.Popen(command, env=environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert program.stdout is not None
    told = [program.stdout.readline() for _ in range(lines)]
    program.send_signal(signal.SIGKILL)
    rest, complaint = program.communicate()
    assert program.returncode == -signal.SIGKILL, complaint
    return [*told, *rest.splitlines()]


def last(what: str, told: list[str]) -> int:
    """The highest number that the program has told of, 0 without any."""
    return max((int(found[1]) for line in told if (found := re.match(rf"{what} (\d+)$", line.strip()))), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("still", [True, False], ids=["at a statement", "while it works"])
def test_a_kill_loses_at_most_the_turn_under_way(library: Library, still: bool) -> None:
    chance = random.Random(20)
    before = 0
    # The first two hit the middle of the transactions of the first and of the second turn.
    for lines in (20, 45, *(chance.randint(1, LINES) for _ in range(KILLS - 2))):
        told = killed_after(lines, library, still=still)
        with History.open() as history:
            assert history._connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert history._connection.execute("PRAGMA foreign_key_check").fetchall() == []
            history._connection.execute("INSERT INTO found (found) VALUES ('integrity-check')")
            sessions = history.sessions()
            turns = sum(session.turns for session in sessions)
            assert max(before, last("asking", told) - 1) <= turns <= max(before, last("answered", told))
            before = turns
            kept = [history.load(session.id) for session in sessions]
        asked = [f"what of the gateway, {number}?" for number in range(1, turns + 1)]
        assert [one.turn.question for each in kept for one in each.turns] == asked
        assert [words for each in kept for words in each.snapshot.questions] == asked
        assert all(one.turn.checked.sources for each in kept for one in each.turns)
    assert before > 1


def test_the_kills_hit_transactions(library: Library) -> None:
    told = killed_after(20, library, still=True)
    begun = [line for line in told if line.strip() in {"statement BEGIN IMMEDIATE", "statement COMMIT"}]
    assert begun[-1].strip() == "statement BEGIN IMMEDIATE"
