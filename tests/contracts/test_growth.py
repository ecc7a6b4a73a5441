"""Memory does not grow with the number of documents, and a second run over an unchanged tree opens no file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_TESTS = Path(__file__).parents[1]

# A process of its own for each measurement: its peak is nobody else's.
_PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from search import sources, upkeep

folder, library, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
if kind == "real":
    from search.embedding import load_embedder
    embedder = load_embedder()
    embedder.embed_passages(["the model's own memory counts from the start"] * 64)
else:
    from standin import StandIn
    class Forgetful(StandIn):
        def embed_passages(self, texts):
            rows = super().embed_passages(texts)
            self.embedded.clear()
            return rows
    embedder = Forgetful()

opened = []
look = sources.read_bytes
def counting(source, limit):
    opened.append(1)
    return look(source, limit)
sources.read_bytes = counting

# In kilobytes. Linux hands ru_maxrss on through exec: it would tell of the test process that started this one.
def peak():
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

started = time.monotonic()
summary = upkeep.index(library, [folder], embedder)
print(json.dumps({
    "peak": peak(),
    "added": summary.added, "unchanged": summary.unchanged, "read": summary.read, "opened": len(opened),
    "seconds": round(time.monotonic() - started, 1),
}))
"""


_PLAIN = [
    "water",
    "table",
    "house",
    "river",
    "green",
    "paper",
    "light",
    "stone",
    "early",
    "winter",
    "under",
    "friend",
    "letter",
    "music",
    "street",
    "window",
    "garden",
    "market",
    "summer",
    "number",
    "story",
    "public",
    "people",
    "school",
    "church",
    "father",
    "mother",
    "sister",
    "yellow",
    "bridge",
    "island",
]


def make_documents(folder: Path, count: int, kind: str) -> None:
    """Documents of about 60 words, 500 to a folder, dated back so that their times of change are believed.

    Plain words for the real model, which reads each as one token; many different ones for the stand-in, to fill the index.
    """
    for number in range(count):
        file = folder / f"part{number // 500:03}" / f"note{number:05}.txt"
        if number % 500 == 0:
            file.parent.mkdir(parents=True)
        places = [number * 31 + place * 17 for place in range(60)]
        words = [_PLAIN[n % len(_PLAIN)] if kind == "real" else f"word{n % 7919}" for n in places]
        file.write_text(f"Note {number}: {' '.join(words)}.\n", "utf-8")
        os.utime(file, (1_700_000_000, 1_700_000_000))


def index(folder: Path, kind: str = "stand-in") -> dict[str, Any]:
    """Index a folder in a fresh process; its peak memory in kB, its counts and seconds."""
    command = [sys.executable, "-c", _PROGRAM, str(folder), str(folder.with_suffix(".db")), kind]
    paths = os.pathsep.join([str(_TESTS.parent), str(_TESTS)])
    environment = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(tmp_path: Path, capfd: pytest.CaptureFixture[str], few: int, many: int, kind: str) -> float:
    """How many times the peak memory for `few` documents that for `many` is; prints the figures."""
    runs = {}
    for count in (few, many):
        make_documents(tmp_path / str(count), count, kind)
        runs[count] = index(tmp_path / str(count), kind)
        assert runs[count]["added"] == count
    growth = float(runs[many]["peak"] / runs[few]["peak"])
    with capfd.disabled():
        shown = ", ".join(f"{count} documents {run['peak'] / 1024:.0f} MB in {run['seconds']} s" for count, run in runs.items())
        print(f"\ngrowth with the {kind} embedder: {shown}, {growth:.3f} times")  # noqa: T201 - the figures are to be seen
    return growth


@pytest.mark.slow
def test_memory_for_20000_documents_is_that_for_2000_and_a_second_run_reads_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert compare(tmp_path, capfd, 2_000, 20_000, "stand-in") <= 1.15
    again = index(tmp_path / "20000")
    with capfd.disabled():
        print(f"second run over 20000 unchanged documents: {again['seconds']} s, {again['opened']} files opened")  # noqa: T201 - the figures are to be seen
    assert (again["unchanged"], again["read"], again["opened"]) == (20_000, 0, 0)


@pytest.mark.slow
@pytest.mark.model
def test_memory_with_the_real_model_does_not_grow_either(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert compare(tmp_path, capfd, 200, 2_000, "real") <= 1.15
