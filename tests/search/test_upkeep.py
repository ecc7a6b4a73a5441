"""What `search.upkeep` promises: roots, rules kept, forgetting, removals held back, dry runs, rebuilding, texts of programs."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from standin import StandIn

from search import (
    EmbedderError,
    Filters,
    Library,
    LibraryError,
    NotFoundError,
    QueryError,
    SourceError,
    connections,
    schema,
    sources,
    upkeep,
)
from search.changes import Change, Progress, Summary
from search.embedding import Vectors
from search.models import Extract
from search.upkeep import Rules

Write = Callable[[str, str], Path]


@pytest.fixture
def index(library_file: Path, embedder: StandIn) -> Callable[..., Summary]:
    """Indexes places into the library."""

    def run(*places: Path, **options: object) -> Summary:
        return upkeep.index(library_file, places, embedder, **options)  # type: ignore[arg-type]

    return run


Index = Callable[..., Summary]


def held(library: Path) -> dict[str, list[str]]:
    """The paths in a library, by root."""
    with closing(connections.open_for_reading(library)) as connection:
        roots: dict[str, list[str]] = {path: [] for (path,) in connection.execute("SELECT path FROM _roots")}
        for root, path in connection.execute(
            "SELECT r.path, d.path FROM documents d JOIN _roots r ON r.id = d.root ORDER BY d.path"
        ):
            roots[root].append(path)
        return roots


def paths(library: Path) -> list[str]:
    return sorted(path for below in held(library).values() for path in below)


def sound(library: Path) -> None:
    """Nothing is left over, nothing is missing, and the keyword index agrees with the passages."""
    with closing(sqlite3.connect(library)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.execute("INSERT INTO _passages_fts(_passages_fts, rank) VALUES ('integrity-check', 1)")
        assert connection.execute(
            "SELECT count(*) FROM passages WHERE id NOT IN (SELECT passage_id FROM _embeddings)"
        ).fetchone() == (0,)


# Roots


def test_a_folder_is_a_root_and_its_runs_add_change_and_remove(
    index: Index, write: Write, folder: Path, library_file: Path
) -> None:
    write("a.md", "one")
    write("b/c.md", "two")
    summary = index(folder)
    assert (summary.added, summary.embedded, summary.read) == (2, 2, 2)
    assert held(library_file) == {str(folder): ["a.md", "b/c.md"]}
    write("a.md", "another text")
    (folder / "b/c.md").unlink()
    write("d.md", "new")
    summary = index(folder)
    assert (summary.added, summary.changed, summary.removed, summary.unchanged) == (1, 1, 1, 0)
    assert paths(library_file) == ["a.md", "d.md"]
    sound(library_file)


def test_a_file_by_itself_is_indexed_alone(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    only = write("a.md", "one")
    write("b.md", "two")
    index(only)
    assert held(library_file) == {str(folder): ["a.md"]}
    index()
    assert paths(library_file) == ["a.md"]
    index(folder / "b.md")
    assert held(library_file) == {str(folder): ["a.md", "b.md"]}
    only.unlink()
    assert index().removed == 1
    sound(library_file)


def test_a_file_by_itself_is_taken_whatever_the_rules_say(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write(".gitignore", "*.log\n")
    write("a.md", "one")
    log = write("x.log", "two")
    hidden = write(".hidden.md", "three")
    index(folder)
    assert paths(library_file) == ["a.md"]
    index(log, hidden)
    assert paths(library_file) == [".hidden.md", "a.md", "x.log"]
    assert index(folder).removed == 0
    assert paths(library_file) == [".hidden.md", "a.md", "x.log"]


def test_a_folder_inside_a_known_root_refreshes_that_part_alone(
    index: Index, write: Write, folder: Path, library_file: Path
) -> None:
    write("a/one.md", "one")
    write("b/two.md", "two")
    index(folder)
    write("a/three.md", "three")
    write("b/four.md", "four")
    (folder / "b/two.md").unlink()
    summary = index(folder / "a")
    assert (summary.added, summary.removed) == (1, 0)
    assert held(library_file) == {str(folder): ["a/one.md", "a/three.md", "b/two.md"]}


def test_a_wider_folder_takes_over_a_narrower_root_and_embeds_nothing(
    index: Index, write: Write, folder: Path, library_file: Path, embedder: StandIn
) -> None:
    for number in range(30):
        write(f"inner/deep/{number}.md", f"text number {number}")
    write("outer.md", "outside")
    index(folder / "inner" / "deep")
    with Library.open(library_file, embedder=embedder) as library:
        old_key = library.keyword_search("29")[0].passage.key
    embedder.embedded.clear()
    summary = index(folder)
    assert (summary.moved, summary.added, summary.removed, summary.embedded) == (30, 1, 0, 1)
    assert list(held(library_file)) == [str(folder)]
    with Library.open(library_file, embedder=embedder) as library:
        document, _, moved_from = library.passage(old_key)
        assert (document.path, moved_from) == ("inner/deep/29.md", old_key)
    sound(library_file)


def test_a_wider_folder_keeps_what_was_wished_for_the_narrower(
    index: Index, write: Write, folder: Path, library_file: Path
) -> None:
    for path in ("in/a.md", "in/secret.md", "in/drafts/d.md", "in/sub/x.tmp", "in/top.txt", "in/.named.md", "secret.md", "y.tmp"):
        write(path, f"text of {path}")
    index(folder / "in", rules=Rules(exclude=("*.tmp", "drafts/", "/top.txt")))
    index(folder / "in" / ".named.md")
    upkeep.forget(library_file, folder / "in" / "secret.md")
    assert paths(library_file) == [".named.md", "a.md"]
    index(folder)
    assert held(library_file) == {str(folder): ["in/.named.md", "in/a.md", "secret.md", "y.tmp"]}
    index()
    assert paths(library_file) == ["in/.named.md", "in/a.md", "secret.md", "y.tmp"]


def test_a_root_that_is_a_link_is_followed_and_stays_one_root(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "one")
    link = folder.parent / "link"
    link.symlink_to(folder)
    index(link)
    assert held(library_file) == {str(link): ["a.md"]}
    assert index().unchanged == 1


def test_a_library_inside_its_root_does_not_index_itself(folder: Path, write: Write, embedder: StandIn) -> None:
    write("a.md", "one")
    write("library.db.md", "a document about the library")
    place = folder / "library.db"
    upkeep.index(place, [folder], embedder)
    assert paths(place) == ["a.md", "library.db.md"]
    time.sleep(0.1)  # a file changed within the clock's last tick is looked at again
    upkeep.index(place, [], embedder)
    summary = upkeep.index(place, [], embedder)
    assert (summary.unchanged, summary.read, summary.no_text) == (2, 0, 0)
    upkeep.rebuild(place, [], embedder)
    assert paths(place) == ["a.md", "library.db.md"]


def test_several_places_are_checked_before_any_is_indexed(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "one")
    with pytest.raises(SourceError, match="no such file or folder"):
        index(folder, folder.parent / "missing")
    assert not library_file.exists()


def test_a_run_without_any_folder_known_says_what_to_type(index: Index) -> None:
    with pytest.raises(SourceError, match="follows no folder yet") as caught:
        index()
    assert caught.value.hint == "archivist index DIR"


# Rules


def test_include_and_exclude_are_kept_for_later_runs(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    for path in ("a.md", "b.txt", "drafts/c.md", "d.md"):
        write(path, path)
    index(folder, rules=Rules(include=("*.md",), exclude=("drafts/**",)))
    assert paths(library_file) == ["a.md", "d.md"]
    write("e.md", "e")
    write("f.txt", "f")
    for places in ((), (folder,)):
        index(*places)
        assert paths(library_file) == ["a.md", "d.md", "e.md"]
    index(folder, rules=Rules(exclude=("e.md",)))
    assert paths(library_file) == ["a.md", "d.md", "drafts/c.md"]


def test_rules_for_a_part_of_a_root_are_refused_not_dropped(index: Index, write: Write, folder: Path) -> None:
    inner = write("in/a.md", "a")
    index(folder)
    for place in (inner, inner.parent):
        for rules in (Rules(exclude=("*.txt",)), Rules(include=("*.md",)), Rules(max_bytes=5)):
            with pytest.raises(SourceError, match="kept for the whole") as caught:
                index(place, rules=rules)
            assert str(folder) in caught.value.hint


def test_a_malformed_glob_is_refused_and_removes_nothing(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "a")
    index(folder)
    with pytest.raises(SourceError, match="glob"):
        index(folder, rules=Rules(include=("",)))
    assert paths(library_file) == ["a.md"]


def test_a_file_over_the_size_limit_is_told_and_the_limit_kept(
    index: Index, write: Write, folder: Path, library_file: Path
) -> None:
    write("small.md", "x")
    write("large.md", "x" * 3000)
    said: list[Change | Progress] = []
    summary = index(folder, rules=Rules(max_bytes=2000), report=said.append)
    assert summary.skipped == 1
    assert Change("skipped", "large.md", "larger than 2 kB; --max-size raises the limit") in said
    assert index(folder).skipped == 1
    assert paths(library_file) == ["small.md"]
    assert index(folder, rules=Rules(max_bytes=4000)).added == 1


# Forgetting


def test_a_forgotten_root_is_gone_with_its_documents(
    index: Index, write: Write, folder: Path, library_file: Path, tmp_path: Path
) -> None:
    write("a.md", "one")
    write("b.md", "two")
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("three")
    index(folder, other)
    assert upkeep.forget(library_file, folder) == 2
    assert held(library_file) == {str(other): ["c.md"]}
    assert (folder / "a.md").exists()
    index()
    assert paths(library_file) == ["c.md"]
    sound(library_file)


def test_a_root_whose_folder_is_gone_can_be_forgotten(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "one").unlink()
    write("b.md", "one")
    index(folder)
    (folder / "b.md").unlink()
    folder.rmdir()
    assert upkeep.forget(library_file, folder) == 1
    assert held(library_file) == {}


@pytest.mark.parametrize("name", ["drafts", "we[i]rd*?", "ends in space ", "#hash", "!bang", "umläut", "back\\slash", "日本"])
def test_a_forgotten_place_stays_forgotten_until_it_is_indexed_by_name(
    index: Index, write: Write, folder: Path, library_file: Path, name: str
) -> None:
    for path in ("a.md", f"{name}/one.md", f"{name}/two.md", f"{name}x/three.md"):
        write(path, path)
    index(folder)
    assert upkeep.forget(library_file, folder / name) == 2
    kept = sorted(["a.md", f"{name}x/three.md"])
    for places, options in (((), {}), ((folder,), {}), ((folder,), {"rules": Rules(exclude=("*.tmp",))})):
        index(*places, **options)
        assert paths(library_file) == kept
    index(folder / name)
    assert len(paths(library_file)) == 4
    index()
    assert len(paths(library_file)) == 4


def test_a_forgotten_file_stays_forgotten_until_it_is_indexed_by_name(
    index: Index, write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("a.md", "in/b.md", "in/c.md"):
        write(path, path)
    index(folder)
    assert upkeep.forget(library_file, Path("in/b.md")) == 1  # as `search` shows it
    monkeypatch.chdir(folder / "in")
    assert upkeep.forget(library_file, Path("c.md")) == 1  # as the shell completes it
    index(folder)
    index(folder / "in")
    assert paths(library_file) == ["a.md"]
    index(folder / "in" / "c.md")
    assert paths(library_file) == ["a.md", "in/c.md"]
    upkeep.rebuild(library_file, [], StandIn())
    assert paths(library_file) == ["a.md", "in/c.md"]


def test_a_part_of_what_was_forgotten_is_refused_with_what_to_type(
    index: Index, write: Write, folder: Path, library_file: Path
) -> None:
    inner = write("drafts/sub/a.md", "a")
    index(folder)
    upkeep.forget(library_file, folder / "drafts")
    with pytest.raises(SourceError, match="was forgotten") as caught:
        index(inner.parent)
    assert caught.value.hint == f"archivist index {folder}/drafts"
    index(inner)
    assert paths(library_file) == ["drafts/sub/a.md"]


def test_what_is_not_there_cannot_be_forgotten(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "one")
    index(folder)
    loop = folder.parent / "loop"
    loop.symlink_to(loop)
    for what in (folder / "none.md", Path("nowhere"), loop / "x"):
        with pytest.raises(NotFoundError, match="no document with the path"):
            upkeep.forget(library_file, what)
    with pytest.raises(LibraryError, match="no library"):
        upkeep.forget(library_file.with_name("none.db"), folder)
    assert paths(library_file) == ["a.md"]


# Removals held back


def many(write: Write, count: int, prefix: str = "") -> list[Path]:
    return [write(f"{prefix}{number:03}.md", f"{prefix} number {number}") for number in range(count)]


@pytest.mark.parametrize(
    ("count", "gone", "refused"), [(40, 21, True), (41, 20, False), (42, 21, False), (43, 22, True), (20, 20, False)]
)
def test_more_than_half_and_more_than_20_are_not_removed(
    index: Index, write: Write, folder: Path, library_file: Path, count: int, gone: int, refused: bool
) -> None:
    files = many(write, count)
    index(folder)
    for file in files[:gone]:
        file.unlink()
    write("new.md", "new")
    summary = index(folder)
    assert (summary.removed, summary.refused, summary.added) == ((0, gone, 1) if refused else (gone, 0, 1))
    assert len(paths(library_file)) == 1 + count - (0 if refused else gone)
    assert bool(summary.messages) == refused
    if refused:
        assert f"{gone} of {count} documents" in summary.messages[0]
        assert "--prune" in summary.messages[0]
        assert index(folder, prune=True).removed == gone
        assert len(paths(library_file)) == 1 + count - gone


def test_a_part_of_a_root_is_held_back_by_its_own_count(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    many(write, 100, "a/")
    files = many(write, 30, "b/")
    index(folder)
    for file in files[:25]:
        file.unlink()
    assert index(folder / "b").refused == 25
    assert index(folder).removed == 25


def test_removals_held_back_still_let_renames_through(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    files = many(write, 50)
    index(folder)
    for number, file in enumerate(files):
        file.rename(folder / f"renamed-{number}.md")
    summary = index(folder)
    assert (summary.moved, summary.removed, summary.refused, summary.embedded) == (50, 0, 0, 0)


@pytest.mark.parametrize("alone", [True, False], ids=["a file by itself", "a folder"])
def test_a_missing_root_is_an_error_and_removes_nothing(
    index: Index, write: Write, folder: Path, library_file: Path, alone: bool
) -> None:
    file = write("a.md", "one")
    index(file if alone else folder)
    folder.rename(folder.parent / "unplugged")
    with pytest.raises(SourceError, match="no such file or folder"):
        index(file if alone else folder)
    summary = index()
    assert (summary.refused, summary.removed) == (1, 0)
    assert "its documents stay; archivist forget" in summary.messages[0]
    assert paths(library_file) == ["a.md"]
    folder.write_text("a file has taken its place")
    assert index().refused == 1
    assert paths(library_file) == ["a.md"]


def test_one_root_that_is_gone_does_not_stop_the_others(
    index: Index, write: Write, folder: Path, library_file: Path, tmp_path: Path
) -> None:
    places = [tmp_path / name for name in ("a", "b", "c")]
    for place in places:
        place.mkdir()
        (place / "x.md").write_text(place.name)
    index(*places)
    (places[1] / "x.md").unlink()
    places[1].rmdir()
    for place in (places[0], places[2]):
        (place / "y.md").write_text("more")
    summary = index()
    assert (summary.added, summary.refused, summary.removed) == (2, 1, 0)
    assert len(paths(library_file)) == 5


def test_an_unreadable_file_keeps_what_is_known(
    index: Index, write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", "the gateway")
    index(folder)
    write("a.md", "something else that is longer")
    write("b.md", "never read")

    def locked(source: sources.SourceFile, max_bytes: int) -> bytes:
        raise sources.ReadError("cannot be read: Permission denied")

    monkeypatch.setattr(sources, "read_bytes", locked)
    said: list[Change | Progress] = []
    summary = index(folder, report=said.append)
    assert (summary.kept, summary.failed, summary.removed) == (1, 1, 0)
    assert any(isinstance(each, Change) and each.kind == "kept" and "Permission denied" in each.reason for each in said)
    again: list[Change | Progress] = []
    summary = index(folder, report=again.append)
    assert (summary.kept, summary.failed) == (1, 1)
    reasons = {each.path: each.reason for each in again if isinstance(each, Change)}
    assert reasons["b.md"] == "cannot be read: Permission denied", "nothing of it was ever held"
    monkeypatch.undo()
    with Library.open(library_file, embedder=StandIn()) as library:
        assert library.status().formats == {"markdown": 2}
        assert [hit.document.path for hit in library.keyword_search("gateway")] == ["a.md"]
        assert library.document("b.md").text_status == "cannot be read: Permission denied"
    summary = index(folder)
    assert (summary.changed, summary.no_text, summary.failed) == (2, 0, 0)


# Dry runs


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.rglob("*") if file.is_file()
    }


def test_a_dry_run_tells_all_and_changes_not_one_byte(
    index: Index, write: Write, folder: Path, library_file: Path, tmp_path: Path, embedder: StandIn
) -> None:
    files = many(write, 6)
    index(folder)
    before, names = snapshot(library_file.parent), sorted(library_file.parent.iterdir())
    embedder.embedded.clear()
    files[0].unlink()
    files[1].rename(folder / "moved.md")
    write("002.md", "changed")
    write("new.md", "new")
    os.utime(files[3], ns=(1, 1))
    other = tmp_path / "other"
    (other / "in").mkdir(parents=True)
    (other / "in" / "x.md").write_text("x")
    for places in ((), (folder,), (other,), (other / "in" / "x.md",), (folder / "new.md",), (tmp_path,)):
        index(*places, dry_run=True)
        assert snapshot(library_file.parent) == before
        assert sorted(library_file.parent.iterdir()) == names
    said: list[Change | Progress] = []
    summary = index(folder, dry_run=True, report=said.append, rules=Rules(exclude=("003.md",)))
    assert (summary.added, summary.changed, summary.moved, summary.removed, summary.unchanged) == (1, 1, 1, 2, 2)
    assert {each.path for each in said if isinstance(each, Change)} == {"000.md", "002.md", "003.md", "moved.md", "new.md"}
    assert snapshot(library_file.parent) == before
    assert embedder.embedded == []
    assert index(folder).removed == 1  # the rules of the dry run were not kept


def test_a_folder_is_forgotten_by_its_path_from_the_root_on(
    index: Index, write: Write, folder: Path, library_file: Path, tmp_path: Path
) -> None:
    for path in ("support/a.md", "support/deep/b.md", "supports/c.md", "d.md"):
        write(path, path)
    other = tmp_path / "other" / "support"
    other.mkdir(parents=True)
    (other / "e.md").write_text("e")
    index(folder, other.parent)
    with pytest.raises(QueryError, match=r"'support' fits 2 folders: .*/notes/support, .*/other/support"):
        upkeep.forget(library_file, Path("support"))
    assert upkeep.forget(library_file, Path("support/deep/")) == 1
    assert upkeep.forget(library_file, other.parent) == 1
    assert upkeep.forget(library_file, Path("support/")) == 1
    assert index().unchanged == 2, "what was forgotten does not come back"
    with pytest.raises(NotFoundError):
        upkeep.forget(library_file, Path("support"))


def test_a_dry_run_makes_no_library_and_migrates_none(
    index: Index, write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", "a")
    assert index(folder, dry_run=True).added == 1, "it is compared with an empty one"
    assert not library_file.parent.exists()
    index(folder)
    before = snapshot(library_file.parent)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    with pytest.raises(LibraryError, match="older schema"):
        index(folder, dry_run=True)
    assert snapshot(library_file.parent) == before


# Rebuilding


def test_rebuild_changes_to_another_model(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "the gateway")
    write("skip.tmp", "no")
    index(folder, rules=Rules(exclude=("*.tmp",)))
    other = StandIn("other", "1" * 64)
    with pytest.raises(LibraryError):
        upkeep.index(library_file, [folder], other)
    summary = upkeep.rebuild(library_file, [], other)
    assert (summary.added, summary.embedded) == (1, 1)
    with Library.open(library_file, embedder=other) as library:
        assert library.vector_search("gateway")
        assert library.status().model == "other"
    assert upkeep.index(library_file, [], other).unchanged == 1
    assert [file.name for file in library_file.parent.iterdir()] == ["library.db"]
    sound(library_file)


def test_a_reader_sees_the_old_or_the_new_state_of_a_rebuild(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    for number in range(80):
        write(f"{number:02}.md", f"the gateway {number}")
    index(folder)
    counts: set[int] = set()
    ready, done = threading.Event(), threading.Event()

    def read() -> None:
        with Library.open(library_file, embedder=StandIn()) as library:
            while not done.is_set():
                counts.add(len(library.keyword_search("gateway", limit=200)))
                counts.add(library.filter_documents().total)
                ready.set()

    thread = threading.Thread(target=read)
    thread.start()
    assert ready.wait(20)
    for number in range(40):
        (folder / f"{number:02}.md").unlink()
    for _ in range(3):
        upkeep.rebuild(library_file, [], StandIn())
    with Library.open(library_file) as library:
        assert library.filter_documents().total == 40
    done.set()
    thread.join(20)
    assert 80 in counts
    assert counts <= {80, 40}


def test_a_damaged_library_is_set_aside_and_made_anew(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "the gateway")
    index(folder)
    with library_file.open("r+b") as file:
        file.write(b"\0" * 100)
    damaged = library_file.read_bytes()
    with pytest.raises(SourceError, match="not known which folders") as caught:
        upkeep.rebuild(library_file, [], StandIn())
    assert caught.value.hint == "archivist index --rebuild DIR"
    assert library_file.read_bytes() == damaged
    said: list[str] = []
    upkeep.rebuild(library_file, [folder], StandIn(), say=said.append)
    assert paths(library_file) == ["a.md"]
    aside = [file for file in library_file.parent.iterdir() if ".damaged-" in file.name]
    assert [file.read_bytes() for file in aside] == [damaged]
    assert aside[0].name in said[0]
    sound(library_file)


def test_a_library_with_damaged_pages_still_tells_its_folders(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    for number in range(40):
        write(f"{number}.md", " ".join(f"w{number}x{i}" for i in range(200)))
    index(folder)
    size = library_file.stat().st_size
    with library_file.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xa5" * (size // 2))
    upkeep.rebuild(library_file, [], StandIn())
    assert len(paths(library_file)) == 40
    sound(library_file)


def test_a_rebuild_that_fails_leaves_the_old_library(index: Index, write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "the gateway")
    index(folder)
    before = snapshot(library_file.parent)

    class Failing(StandIn):
        def embed_passages(self, texts: object) -> object:  # type: ignore[override]
            raise EmbedderError("no")

    with pytest.raises(EmbedderError):
        upkeep.rebuild(library_file, [], Failing())  # type: ignore[arg-type]
    folder.rename(folder.parent / "unplugged")
    with pytest.raises(SourceError):
        upkeep.rebuild(library_file, [], StandIn())
    assert snapshot(library_file.parent) == before


def test_rebuild_makes_a_library_where_there_is_none(write: Write, folder: Path, library_file: Path) -> None:
    write("a.md", "the gateway")
    assert upkeep.rebuild(library_file, [folder], StandIn()).added == 1
    assert paths(library_file) == ["a.md"]
    assert library_file.stat().st_mode & 0o777 == 0o600


# Encodings


def test_how_bytes_were_decoded_is_told_and_kept(index: Index, folder: Path, library_file: Path) -> None:
    (folder / "latin.txt").write_bytes(
        "Gr\u00fc\u00dfe aus K\u00f6ln, sch\u00f6ne Stra\u00dfen und \u00c4pfel.\n".encode("latin-1") * 5
    )
    (folder / "utf16.txt").write_text("Guten Tag, dies ist ein Text.\n" * 5, encoding="utf-16")
    said: list[Change | Progress] = []
    index(folder, report=said.append)
    reasons = {each.path: "".join(each.remarks) for each in said if isinstance(each, Change)}
    assert "decoded as" in reasons["latin.txt"]
    with Library.open(library_file, embedder=StandIn()) as library:
        assert [hit.document.path for hit in library.keyword_search("Köln")] == ["latin.txt"]
        assert [hit.document.path for hit in library.keyword_search("Guten")] == ["utf16.txt"]


@pytest.mark.parametrize("error", [ZeroDivisionError("by\nnothing"), RecursionError("too deep"), MemoryError()])
def test_a_file_that_a_reader_fails_on_is_recorded_and_the_run_goes_on(
    index: Index, write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def read(path: Path, data: bytes) -> Extract:
        if path.name == "bad.txt":
            raise error
        return Extract(text=data.decode(), format="text")

    monkeypatch.setattr("search.readers.read", read)
    write("bad.txt", "one")
    write("good.txt", "two")
    summary = index(folder)
    assert (summary.added, summary.failed) == (1, 1)
    with Library.open(library_file) as library:
        reason = dict(library.status().without_text)["bad.txt"]
    assert reason == f"could not be read: {type(error).__name__}: {error}".replace("\n", " ").removesuffix(": ")


def test_a_model_that_cannot_be_used_ends_the_run_and_blames_no_file(index: Index, write: Write, folder: Path) -> None:
    class Broken(StandIn):
        def token_starts(self, text: str) -> list[int]:
            raise EmbedderError("no tokenizer")

    write("a.txt", "one")
    with pytest.raises(EmbedderError):
        upkeep.index(folder.parent / "library.db", [folder], Broken())


def test_file_names_in_any_encoding_are_indexed_found_and_forgotten(
    index: Index, folder: Path, library_file: Path, embedder: StandIn
) -> None:
    raw = os.fsencode(folder) + b"/caf\xe9.md"
    Path(os.fsdecode(raw)).write_bytes(b"the gateway")
    assert index(folder).added == 1
    assert index(folder).unchanged == 1
    with Library.open(library_file, embedder=embedder) as library:
        document = library.keyword_search("gateway")[0].document
        assert library.stale(document) is None
        assert library.document(os.fsdecode(raw)).id == document.id
        assert library.filter_documents(Filters(source=(os.fsdecode(b"*caf\xe9*"),))).total == 1
    assert upkeep.forget(library_file, Path(os.fsdecode(raw))) == 1
    index(folder)
    assert paths(library_file) == []


# Texts of programs


def texts(*pairs: tuple[str, str]) -> Iterable[tuple[str, Extract]]:
    return iter([(path, Extract(text=text, format="text")) for path, text in pairs])


def test_texts_of_a_program_are_found_and_replaced(library_file: Path, embedder: StandIn) -> None:
    upkeep.add_texts(library_file, "corpus", texts(("1", "the gateway"), ("2", "the cache")), embedder)  # type: ignore[arg-type]
    upkeep.add_texts(library_file, "corpus", texts(("2", "a cold cellar")), embedder)  # type: ignore[arg-type]
    with Library.open(library_file, embedder=embedder) as library:
        assert [hit.document.path for hit in library.keyword_search("gateway cellar cache")] == ["1", "2"]
        assert library.document("1").root == "corpus"
        assert library.stale(library.document("1")) is None
        assert "cache" not in "".join(library.read(library.document("2")).lines)
    sound(library_file)


def test_refreshing_leaves_texts_of_programs_alone(
    index: Index, write: Write, folder: Path, library_file: Path, embedder: StandIn
) -> None:
    upkeep.add_texts(library_file, "corpus", texts(("1", "the gateway")), embedder)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="follows no folder"):
        index()
    write("a.md", "one")
    index(folder)
    summary = index()
    assert (summary.removed, summary.refused) == (0, 0)
    assert paths(library_file) == ["1", "a.md"]
    with pytest.raises(LibraryError, match="texts that a program added"):
        upkeep.rebuild(library_file, [], embedder)
    assert paths(library_file) == ["1", "a.md"]


def test_a_file_dated_in_the_future_is_not_read_again_at_every_run(index: Index, write: Write) -> None:
    written = write("a.md", "one")
    os.utime(written, (9e9, 9e9))
    time.sleep(0.1)  # the file system's own time of change is to be believed
    index(written.parent)
    assert index(written.parent).read == 0


def test_an_interrupted_batch_keeps_and_tells_what_was_complete(
    write: Write, folder: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(StandIn):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if self.embedded:
                raise KeyboardInterrupt
            return super().embed_passages(texts)

    monkeypatch.setattr("search.indexing._SLICE", 2)
    for name in "abc":
        write(f"{name}.md", f"the text of {name}")
    write("d.md", "# One\n\none\n\n# Two\n\n" + "words of another passage " * 200)
    said: list[Change | Progress] = []
    with pytest.raises(KeyboardInterrupt):
        upkeep.index(library_file, [folder], Interrupted(), report=said.append)
    told = [each.path for each in said if isinstance(each, Change)]
    assert told == paths(library_file) == ["a.md", "b.md"]
    sound(library_file)


def test_names_that_are_no_text_hinder_nothing(tmp_path: Path, embedder: StandIn) -> None:
    odd = tmp_path / os.fsdecode(b"lat\xe9")
    odd.mkdir()
    (odd / "note.md").write_text("the gateway")
    library = odd / "library.db"
    upkeep.index(library, [odd], embedder)
    assert paths(library) == ["note.md"]
    with Library.open(library) as opened:
        (root,) = opened.status().roots
        assert root.path == f"{tmp_path}/lat\N{REPLACEMENT CHARACTER}E9"
        assert opened.document(f"{root.path}/note.md").path == "note.md"
    assert upkeep.forget(library, Path(root.path)) == 1
    upkeep.index(library, [odd], embedder)
    assert upkeep.forget(library, odd) == 1


@pytest.mark.parametrize("rules", [Rules(include=("[",)), Rules(exclude=("",)), Rules(include=("*.md",), exclude=("[z-a]",))])
def test_a_glob_that_is_refused_is_not_kept(index: Index, write: Write, folder: Path, library_file: Path, rules: Rules) -> None:
    write("a.md", "one")
    with pytest.raises(SourceError, match="cannot understand the glob"):
        index(folder, rules=rules)
    index(folder)
    assert paths(library_file) == ["a.md"]


def test_a_rebuild_on_a_disk_that_fails_sets_nothing_aside(
    index: Index, write: Write, folder: Path, library_file: Path, embedder: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.md", "one")
    index(folder)

    def full(path: Path) -> sqlite3.Connection:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
        raise error

    monkeypatch.setattr(connections, "open_for_replacing", full)
    with pytest.raises(LibraryError, match="cannot be read or written: disk I/O error"):
        upkeep.rebuild(library_file, [], embedder)
    assert sorted(file.name for file in library_file.parent.iterdir()) == ["library.db"]
    assert paths(library_file) == ["a.md"]


def test_a_broken_file_is_told_of_at_every_run_and_read_once(index: Index, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF at all")
    os.utime(folder / "broken.pdf", (1e9, 1e9))
    time.sleep(0.06)  # the file is older than a tick of the clock then
    summary = index(folder)
    assert (summary.failed, summary.read) == (1, 1)
    said: list[Change | Progress] = []
    summary = index(folder, report=said.append)
    assert (summary.failed, summary.unchanged, summary.read) == (1, 0, 0)
    assert [each.kind for each in said if isinstance(each, Change)] == ["failed"]
    (folder / "broken.pdf").rename(folder / "moved.pdf")
    assert (index(folder).moved, index(folder).failed) == (1, 1)
