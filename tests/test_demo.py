"""`make demo` shows what Archivist does and touches nothing of the person's own."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_demo_keeps_its_state_and_its_run_below_build(tmp_path: Path) -> None:
    log = tmp_path / "log"
    (tmp_path / "archivist").write_text(f'#!/bin/sh\nprintf "%s|" "$XDG_STATE_HOME" "$@" >> "{log}"\necho >> "{log}"\n', "utf-8")
    (tmp_path / "archivist").chmod(0o755)
    kept = tmp_path / "build" / "evaluation" / "run.json"
    kept.parent.mkdir(parents=True)
    kept.touch()
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "ARCHIVIST_LIBRARY": "build/demo.db"}
    subprocess.run(
        ["bash", str(ROOT / "scripts" / "demo.sh")], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    calls = [line.split("|")[:-1] for line in log.read_text("utf-8").splitlines()]
    assert {call[0] for call in calls} == {str(tmp_path / "build")}, "a relative folder counts as none"
    evaluation = calls[-1]
    assert evaluation[1] == "evaluate"
    pairs = set(pairwise(evaluation))
    assert {("-l", "build/demo.db"), ("--run", "build/evaluation"), ("--report", "build/report.html")} <= pairs
    assert not kept.exists(), "a run of last time is not gone on with"
