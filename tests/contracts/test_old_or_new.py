"""Promise 1: a kill at any moment leaves every document wholly old or wholly new, and the next run gives what a fresh build gives.

The trials run in crash_runner.py, which says how. Each one ends with: the library opens and answers, its pages, keyword index
and foreign keys are sound, every passage has one embedding, no document is missing or mixed, a second run equals a fresh build
in everything but times and ids, and nothing is left lying beside the library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Trials = Callable[..., dict[str, Any]]
_MEMORY = Path("/dev/shm")


@pytest.fixture
def trials(capfd: pytest.CaptureFixture[str]) -> Iterator[Trials]:
    """Runs one kind of trial, prints its figures and returns them. In memory where there is such a place: no power is cut here."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as place:

        def run(kind: str, *options: str) -> dict[str, Any]:
            runner = Path(__file__).with_name("crash_runner.py")
            # One thread: the runner forks.
            environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
            command = [sys.executable, str(runner), place, kind, *options]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
            with capfd.disabled():
                shown = ", ".join(f"{name} {value}" for name, value in report.items() if name != "complaints")
                print(f"\n{' '.join([kind, *options])}: {shown}")  # noqa: T201 - the figures are to be seen
            return report

        yield run


@pytest.mark.slow
def test_200_kills_at_drawn_moments(trials: Trials) -> None:
    report = trials("moments", "--kills", "200", "--seed", "2")
    assert report["complaints"] == []
    assert report["kills"] == 200
    assert report["writing"] >= 150, "too few kills fell between the first change of a document and the checkpoint"
    assert report["mixed"] > 100, "hardly a kill left some documents old and some new: it fell too early or too late"


@pytest.mark.slow
def test_a_kill_at_every_store_operation(trials: Trials) -> None:
    report = trials("operations", "--documents", "3")
    assert report["complaints"] == []
    assert report["kills"] == report["operations"] > 300
    assert all(report[state] for state in ("old", "mixed", "new"))


@pytest.mark.slow
def test_kills_during_the_first_build(trials: Trials) -> None:
    report = trials("first", "--kills", "30")
    assert report["complaints"] == []
    assert report["unborn"]
    assert report["writing"] == 30


@pytest.mark.slow
def test_kills_during_a_rebuild_leave_the_old_library_or_the_new_one(trials: Trials) -> None:
    report = trials("rebuild", "--kills", "40", "--delay", "4000")
    assert report["complaints"] == []
    assert report["old"] + report["new"] == report["kills"] == 40
    assert min(report["old"], report["new"]) > 0, "no kill fell on one side of the swap"


@pytest.mark.slow
@pytest.mark.model
def test_10_kills_with_the_real_model(trials: Trials) -> None:
    report = trials("moments", "--kills", "10", "--seed", "5", "--delay", "20000", "--documents", "6", "--real")
    assert report["complaints"] == []
    assert report["kills"] == 10
    assert report["writing"] >= 7
