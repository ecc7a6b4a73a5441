"""How soon `archivist` shows its first prompt, against the import of sentence_transformers, which is loaded behind it.

    python scripts/bench_start_up.py [--rounds 5] [--most 0.35]

Prints both medians in seconds and their ratio; ends with 1 when the ratio is above --most.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from search import Library

_ROOT = Path(__file__).resolve().parent.parent
_SIGN = "❯".encode()
_LONGEST = 300.0  # seconds


def main() -> int:
    """Measure, print, and say by the exit code whether it is soon enough."""
    parser = argparse.ArgumentParser(description="Time to the first prompt over the time of importing sentence_transformers.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=0.35)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        Library.open(library, create=True).close()
        environment = os.environ | {"PYTHONPATH": str(_ROOT), "TERM": "xterm-256color", "LANG": "C.UTF-8", "XDG_STATE_HOME": folder}
        prompts, imports = [], []
        for _ in range(given.rounds):  # in turns, so that a busy minute meets both
            prompts.append(_first_prompt(library, environment))
            imports.append(_import(environment))
    prompt, imported = statistics.median(prompts), statistics.median(imports)
    print(f"first prompt {prompt:.2f} s, import of sentence_transformers {imported:.2f} s, ratio {prompt / imported:.2f}")
    return int(prompt / imported > given.most)


def _first_prompt(library: Path, environment: dict[str, str]) -> float:
    """Seconds from the start of the program until the prompt is written."""
    started = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        words = [sys.executable, "-m", "assistant", "chat", "-l", str(library), "-m", "offline"]
        os.execve(words[0], words, environment)  # noqa: S606 - this very interpreter
    shown = b""
    try:
        while _SIGN not in shown:
            if not select.select([terminal], [], [], _LONGEST)[0]:
                raise TimeoutError(f"no prompt: {shown.decode(errors='replace')}")
            shown += os.read(terminal, 65536)
        return time.perf_counter() - started
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def _import(environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import sentence_transformers"], check=True, env=environment, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
