"""The floors of retrieval quality: nDCG@10 by document on the public sets in ARCHIVIST_EVALS, one process a set.

Exits 1 when a mean lies below its floor, or hybrid search more than .005 below the better of the two lists it fuses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

EVALUATE = Path(__file__).with_name("evaluate.py")
FLOORS = {
    "xquad/en": (0.965, 0.945, 0.975),
    "anthropic_code": (0.67, 0.575, 0.74),
    "cacm": (0.42, 0.395, 0.55),
    "cranfield": (0.355, 0.365, 0.43),
    "xquad/zh": (0.96, 0.0, 0.965),
    "xquad/th": (0.95, 0.0, 0.95),
}


def main() -> int:
    """Measure every set and say which floors held."""
    evals = os.environ.get("ARCHIVIST_EVALS")
    if not evals:
        print("floors: ARCHIVIST_EVALS is not set, nothing measured")
        return 0
    fallen = 0
    for name, floors in FLOORS.items():
        folder = Path(evals) / "retrieval" / name
        done = subprocess.run(  # noqa: S603 - our own script on a folder of the environment
            [sys.executable, str(EVALUATE), "--beir", str(folder), "--json"], stdout=subprocess.PIPE, check=True
        )
        modes = json.loads(done.stdout)["modes"]
        keyword, vector, hybrid = (modes[mode]["ndcg@10"] for mode in ("keyword", "vector", "hybrid"))
        held = all(got >= want for got, want in zip((keyword, vector, hybrid), floors, strict=True))
        held = held and hybrid >= max(keyword, vector) - 0.005
        fallen += not held
        print(
            f"{name:16} keyword {keyword:.3f}  vector {vector:.3f}  hybrid {hybrid:.3f}  {'held' if held else f'want {floors}'}",
            flush=True,
        )
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
