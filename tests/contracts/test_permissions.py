"""A library is its owner's alone; it can be read where nothing can be written; what cannot be read is not taken for gone.

The product runs in a process of its own that loads all it needs and then drops the rights of root, if it has them: root may do
anything, and the interpreter may lie where nobody else can read it.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from holdings import holdings
from standin import StandIn

from search import upkeep

_TESTS = Path(__file__).parents[1]
_NOBODY = 65534
Run = Callable[..., dict[str, Any]]

_PROGRAM = """
import json, os, sys, tempfile
from dataclasses import asdict
from pathlib import Path
from search import ArchivistError, Library, upkeep
from standin import StandIn

os.umask(0o022)
with tempfile.TemporaryDirectory() as warm:  # everything that is imported late is imported now
    (Path(warm) / "note.md").write_text("---\\ntags: [one]\\n---\\n# Note\\n\\nThe valve.\\n")
    upkeep.index(Path(warm) / "library.db", [Path(warm)], StandIn())
    with Library.open(Path(warm) / "library.db", embedder=StandIn()) as library:
        [library.search("valve", mode=mode) for mode in ("keyword", "vector", "hybrid")]
        library.status()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)

action, library, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
try:
    if action == "index":
        said = asdict(upkeep.index(library, [folder] if sys.argv[4] else [], StandIn()))
    elif action == "rebuild":
        said = asdict(upkeep.rebuild(library, [folder], StandIn()))
    else:
        with Library.open(library, embedder=StandIn()) as opened:
            said = {}
            for mode in ("keyword", "vector", "hybrid"):
                said[mode] = sorted(hit.document.path for hit in opened.search("valve", mode=mode))
            said["documents"] = opened.status().coverage.documents
except ArchivistError as error:
    said = {"error": f"{error} | {error.hint}"}
print(json.dumps(said))
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the unprivileged user owns, below others that they may enter; pytest's own are root's alone."""
    with tempfile.TemporaryDirectory() as name:
        own(Path(name))
        yield Path(name)
        for folder in (Path(name), *Path(name).rglob("*")):
            if folder.is_dir():
                folder.chmod(0o700)


@pytest.fixture
def notes(place: Path) -> Path:
    """Two notes, one in a folder of its own."""
    for path in ("notes/top.md", "notes/inner/deep.md"):
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {file.stem}\n\nThe valve of {file.stem}.\n", "utf-8")
        for owned in (file, file.parent):
            own(owned)
    own(place / "notes")
    return place / "notes"


@pytest.fixture
def run(place: Path) -> Run:
    """Runs an action of the product without root's rights and returns what came of it."""

    def as_nobody(action: str, library: Path, folder: Path, *, name_it: bool = True) -> dict[str, Any]:
        paths = os.pathsep.join([str(_TESTS.parent), str(_TESTS)])
        command = [sys.executable, "-c", _PROGRAM, action, str(library), str(folder), "yes" if name_it else ""]
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    return as_nobody


def own(path: Path) -> None:
    """Give a path to the unprivileged user."""
    if os.geteuid() == 0:
        os.chown(path, _NOBODY, _NOBODY)


def mode(path: Path) -> int:
    """The permission bits of a path."""
    return stat.S_IMODE(path.stat().st_mode)


def test_the_library_and_its_new_folders_are_for_the_owner_alone(place: Path, notes: Path, run: Run) -> None:
    library = place / "new" / "newer" / "library.db"
    assert run("index", library, notes)["added"] == 2
    assert mode(library) == 0o600
    assert mode(library.parent) == mode(library.parent.parent) == 0o700


def test_a_rebuilt_library_is_for_the_owner_alone(place: Path, notes: Path, run: Run) -> None:
    library = place / "library.db"
    assert run("rebuild", library, notes)["added"] == 2
    assert mode(library) == 0o600
    assert run("rebuild", library, notes)["added"] == 2
    assert mode(library) == 0o600


def test_files_beside_the_library_are_for_the_owner_alone_while_it_is_written(folder: Path, library_file: Path) -> None:
    modes: dict[str, int] = {}

    class Watching(StandIn):
        def embed_passages(self, texts: Any) -> Any:
            modes.update({file.name: mode(file) for file in library_file.parent.iterdir()})
            return super().embed_passages(texts)

    (folder / "note.txt").write_text("The valve.\n", "utf-8")
    before = os.umask(0o022)
    try:
        upkeep.index(library_file, [folder], Watching())
    finally:
        os.umask(before)
    assert len(modes) >= 3
    assert set(modes.values()) == {0o600}


def test_a_library_on_a_read_only_medium_can_be_searched(place: Path, notes: Path, run: Run) -> None:
    library = place / "medium" / "library.db"
    run("index", library, notes)
    library.chmod(0o444)
    library.parent.chmod(0o555)
    found = run("search", library, notes)
    assert found.pop("documents") == 2
    assert [found[way] for way in ("keyword", "vector", "hybrid")] == [["inner/deep.md", "top.md"]] * 3
    assert [file.name for file in library.parent.iterdir()] == ["library.db"]


def test_a_library_of_somebody_else_that_may_be_read_can_be_searched(place: Path, notes: Path, run: Run) -> None:
    library = place / "library.db"
    run("index", library, notes)
    library.chmod(0o444)
    assert run("search", library, notes)["documents"] == 2


def test_indexing_into_a_read_only_library_says_what_to_do(place: Path, notes: Path, run: Run) -> None:
    library = place / "medium" / "library.db"
    run("index", library, notes)
    library.chmod(0o444)
    library.parent.chmod(0o555)
    error = run("index", library, notes)["error"]
    assert "cannot" in error
    assert "--library" in error or "rights" in error


def test_a_library_that_may_not_be_read_is_refused_by_name(place: Path, notes: Path, run: Run) -> None:
    library = place / "library.db"
    run("index", library, notes)
    library.chmod(0)
    assert "library.db cannot be" in run("search", library, notes)["error"]


@pytest.mark.parametrize("action", ["index", "rebuild", "search"])
def test_a_library_in_a_folder_that_cannot_be_entered_is_refused_by_name(action: str, place: Path, notes: Path, run: Run) -> None:
    library = place / "locked" / "library.db"
    run("index", library, notes)
    library.parent.chmod(0)
    said = run(action, library, notes)
    library.parent.chmod(0o700)
    assert said["error"].startswith(f"cannot look at {library}: Permission denied")


@pytest.mark.parametrize("name_it", [True, False], ids=["named", "refreshed"])
def test_an_unreadable_root_removes_nothing(name_it: bool, place: Path, notes: Path, run: Run) -> None:
    library = place / "library.db"
    run("index", library, notes)
    notes.chmod(0)
    said = run("index", library, notes, name_it=name_it)
    notes.chmod(0o700)
    assert str(notes) in json.dumps(said)
    if name_it:
        assert "Permission denied; nothing of it was removed" in said["error"]
    else:
        assert said["refused"] == 1
    assert set(holdings(library)) == {"top.md", "inner/deep.md"}


def test_an_unreadable_folder_inside_keeps_its_documents_and_is_mentioned(place: Path, notes: Path, run: Run) -> None:
    library = place / "library.db"
    run("index", library, notes)
    (notes / "inner").chmod(0)
    said = run("index", library, notes)
    (notes / "inner").chmod(0o700)
    assert (said["removed"], said["skipped"]) == (0, 1)
    assert set(holdings(library)) == {"top.md", "inner/deep.md"}


def test_an_unreadable_file_keeps_what_is_known_of_it(place: Path, notes: Path, run: Run) -> None:
    library = place / "library.db"
    run("index", library, notes)
    file = notes / "top.md"
    file.write_text("# top\n\nSomething else, which nobody may read now.\n", "utf-8")
    file.chmod(0)
    said = run("index", library, notes)
    assert (said["kept"], said["removed"]) == (1, 0)
    assert "The valve of top." in holdings(library)["top.md"].text
    file.chmod(0o600)
    assert run("index", library, notes)["changed"] == 1
