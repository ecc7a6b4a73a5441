from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, **more: str) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **more}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.model
def test_the_wheel_works_beside_torch_in_an_environment_of_its_own(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT)
    (wheel,) = (tmp_path / "dist").glob("archivist-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "env")
    binaries = tmp_path / "env" / "bin"
    torch = f"torch=={importlib.metadata.version('torch')}"
    run(binaries / "pip", "install", "--quiet", "--disable-pip-version-check", torch)
    run(binaries / "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    assert run(binaries / "python", "-c", "import torch; print(torch.version.cuda)").strip() == "None"

    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "2026-09-01-tea.md").write_text("# Tea\n\nBrew green leaves at seventy degrees.\n")
    (notes / "2026-09-02-bread.md").write_text("# Bread\n\nLet the dough rise for two hours.\n")
    library = tmp_path / "library.db"
    run(binaries / "archivist", "index", notes, "--library", library, "-q")
    found = json.loads(run(binaries / "archivist", "search", "how hot should the water be?", "--library", library, "--json", "-q"))
    assert found["hits"][0]["path"] == "2026-09-01-tea.md"
    assert run(binaries / "python", "-I", "-c", "import search, assistant; print(search.__file__)").startswith(str(tmp_path))
