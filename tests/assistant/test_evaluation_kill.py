"""An evaluation that is killed at any moment goes on where it was: it repeats at most what was under way, and says which."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from evaluating import CASES, FILES, written

from assistant.evaluation.runs import Run
from search import Library

PROGRAM = Path(__file__).with_name("evaluation_program.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(write: Callable[[str, str], Path], indexed: Callable[[], Library], library_file: Path, tmp_path: Path) -> list[str]:
    for path, text in FILES.items():
        write(path, text)
    indexed()
    cases = tmp_path / "cases.jsonl"
    cases.write_text(written(), "utf-8")
    own = ["evaluate", str(cases), "-l", str(library_file), "-m", "offline", "--jobs", "2"]
    return [sys.executable, str(PROGRAM), str(tmp_path / "go on"), *own]


def start(command: list[str], tmp_path: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", "XDG_STATE_HOME": str(tmp_path / "state")}
    return subprocess.Popen(command, env=environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("named", [True, False], ids=["--run", "the same command"])
def test_a_killed_run_goes_on(named: bool, command: list[str], tmp_path: Path) -> None:
    command += ["--run", str(tmp_path / "run")] if named else []
    killed = start(command, tmp_path)
    try:
        folder = wait_for_run(tmp_path)
        wait_until(lambda: len(Run.open(folder).results) == 2 and len(Run.open(folder).in_flight) == 2)
    finally:
        killed.send_signal(signal.SIGKILL)
        _, told = killed.communicate()
    # What is under way is on the disk before it is asked: the kill may come between.
    assert 2 <= len(re.findall("^ASKED", told, re.MULTILINE)) <= 4
    finished = {result.case for result in Run.open(folder).results}
    assert (len(finished), len(Run.open(folder).in_flight)) == (2, 2)
    (tmp_path / "go on").touch()
    done = start(command, tmp_path)
    out, told = done.communicate()
    assert done.returncode == 0, told
    under_way = {case["id"]: case["question"] for case in CASES if case["id"] not in finished}
    assert sorted(re.findall("^ASKED (.+)$", told, re.MULTILINE)) == sorted(under_way.values())
    line = next(line for line in told.splitlines() if "asked again" in line)
    assert all(f"{case} offline 1" in line for case in under_way)
    assert not any(f"{case} offline" in line for case in finished)
    assert {result.case for result in Run.open(folder).results} == {case["id"] for case in CASES}
    assert "answer" in out


def wait_for_run(tmp_path: Path) -> Path:
    """The folder of the run, named or below the state folder."""
    found: list[Path] = []

    def there() -> bool:
        found[:] = [path.parent for path in tmp_path.rglob("run.json")]
        return bool(found)

    wait_until(there)
    return found[0]


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("the evaluation did not come that far in a minute")
