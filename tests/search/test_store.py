"""What `search.connections` and `search.store` promise: which files are opened, which refused and why, citation keys, the lock."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standin import StandIn

from search import Library, LibraryError, connections, faults, schema, store, upkeep

Write = Callable[[str, str], Path]


@pytest.fixture
def made(write: Write, folder: Path, library_file: Path) -> Path:
    """A library with enough passages to fill several pages."""
    for number in range(30):
        write(f"note-{number:02}.md", f"# Note {number}\n\n" + " ".join(f"word{number}x{i}" for i in range(150)) + "\n")
    upkeep.index(library_file, [folder], StandIn())
    return library_file


def other_database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
        connection.execute("INSERT INTO bookmarks VALUES ('x')")
        connection.commit()
    return path


def refused(open_it: Callable[[], object]) -> LibraryError:
    with pytest.raises(LibraryError) as caught:
        open_it()
    assert caught.value.hint, "a refusal says what to do"
    return caught.value


# Files that are no library


def test_a_missing_file_is_refused_with_the_command_that_makes_one(tmp_path: Path) -> None:
    error = refused(lambda: connections.open_for_reading(tmp_path / "none.db"))
    assert "no library at" in str(error)
    assert error.hint.startswith("archivist index DIR")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_refused(tmp_path: Path) -> None:
    for open_it in (connections.open_for_reading, connections.open_for_writing):
        error = refused(lambda open_it=open_it: open_it(tmp_path))
        assert "is a folder" in str(error)
        assert "--library" in error.hint


@pytest.mark.parametrize("content", [b"hello, this is a text file\n", b"", b"SQLite format 2\x00"])
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    error = refused(lambda: connections.open_for_reading(path))
    assert "not an Archivist library" in str(error)
    assert "--library" in error.hint
    assert "archivist index --rebuild" in error.hint
    assert path.read_bytes() == content


@pytest.mark.parametrize("open_it", [connections.open_for_reading, connections.open_for_writing])
def test_a_database_of_another_program_is_refused_and_not_one_byte_of_it_changes(
    tmp_path: Path, open_it: Callable[[Path], sqlite3.Connection]
) -> None:
    path = other_database(tmp_path / "bookmarks.db")
    before = path.read_bytes()
    error = refused(lambda: open_it(path))
    assert "not an Archivist library" in str(error)
    assert "--library" in error.hint
    assert path.read_bytes() == before
    assert [place.name for place in tmp_path.iterdir()] == ["bookmarks.db"]


def test_rebuild_refuses_a_database_of_another_program_too(tmp_path: Path, folder: Path, write: Write) -> None:
    write("a.md", "text")
    path = other_database(tmp_path / "bookmarks.db")
    before = path.read_bytes()
    refused(lambda: upkeep.rebuild(path, [folder], StandIn()))
    assert path.read_bytes() == before


def test_an_empty_database_becomes_a_library(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
    connections.open_for_writing(path).close()
    connections.open_for_reading(path).close()


def test_a_new_library_and_its_folder_are_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "below" / "library.db"
    connections.open_for_writing(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["a library?x=1#y.db", "prozent%41.db", "日本語.db", "qu'ote\".db"])
def test_any_file_name_can_be_a_library(tmp_path: Path, name: str) -> None:
    connections.open_for_writing(tmp_path / name).close()
    connections.open_for_reading(tmp_path / name).close()
    assert [place.name for place in tmp_path.iterdir()] == [name]


def test_a_place_that_cannot_hold_a_library_is_refused(tmp_path: Path, folder: Path, write: Write) -> None:
    (tmp_path / "file").write_text("x")
    write("a.md", "text")
    place = tmp_path / "file" / "library.db"
    for attempt in (
        lambda: connections.open_for_writing(place),
        lambda: upkeep.index(place, [folder], StandIn()),
        lambda: upkeep.rebuild(place, [folder], StandIn()),
    ):
        assert "--library" in refused(attempt).hint


# Versions


def test_a_newer_library_is_refused_unchanged(made: Path, folder: Path) -> None:
    with closing(sqlite3.connect(made)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    before = made.read_bytes()
    for open_it in (connections.open_for_reading, connections.open_for_writing):
        error = refused(lambda open_it=open_it: open_it(made))
        assert f"schema {schema.SCHEMA_VERSION + 1}" in str(error)
        assert "newer Archivist" in str(error)
        assert "archivist index --rebuild" in error.hint
    refused(lambda: upkeep.index(made, [folder], StandIn()))
    assert made.read_bytes() == before


def test_a_newer_library_can_be_rebuilt(made: Path) -> None:
    with closing(sqlite3.connect(made)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    upkeep.rebuild(made, [], StandIn())
    with Library.open(made) as library:
        assert library.coverage().documents == 30


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> int:
    """A later Archivist: its schema has one more step."""
    released = schema._migrations

    def with_one_more() -> object:
        steps = released()

        @steps()
        def one_more(db: object) -> None:
            db.execute("CREATE TABLE _later (x)")  # type: ignore[attr-defined]

        return steps

    monkeypatch.setattr(schema, "_migrations", with_one_more)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    return schema.SCHEMA_VERSION


def test_an_older_library_is_migrated_by_the_next_index_run_and_a_backup_kept(made: Path, next_version: int) -> None:
    error = refused(lambda: connections.open_for_reading(made))
    assert "older schema" in str(error)
    assert error.hint.startswith("archivist index ")
    upkeep.index(made, [], StandIn())
    with closing(connections.open_for_reading(made)) as connection:
        assert schema.version(connection) == next_version
        assert connection.execute("SELECT count(*) FROM _later").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (30,)
    backup = made.with_name(f"{made.name}.schema{next_version - 1}.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with closing(sqlite3.connect(backup)) as connection:
        assert schema.version(connection) == next_version - 1
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (30,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_migration_that_fails_leaves_the_old_library(made: Path, next_version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    released = schema._migrations

    def failing() -> object:
        steps = released()

        @steps()
        def fails(db: object) -> None:
            raise RuntimeError("no")

        return steps

    monkeypatch.setattr(schema, "_migrations", failing)
    with pytest.raises(RuntimeError):
        connections.open_for_writing(made)
    with closing(sqlite3.connect(made)) as connection:
        assert schema.version(connection) == next_version - 1
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = '_later'").fetchone() == (0,)


# Damage


def test_a_damaged_beginning_is_refused_with_the_command_that_makes_it_anew(made: Path) -> None:
    with made.open("r+b") as file:
        file.write(b"\0" * 16)
    assert "archivist index --rebuild" in refused(lambda: connections.open_for_reading(made)).hint


def test_damaged_pages_are_refused_with_the_command_that_makes_it_anew(made: Path) -> None:
    size = made.stat().st_size
    with made.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))

    def search() -> object:
        with Library.open(made, embedder=StandIn()) as library:
            return library.keyword_search("word1x1"), library.filter_documents()

    error = refused(search)
    assert "damaged" in str(error)
    assert "archivist index --rebuild" in error.hint


def test_a_truncated_library_is_refused_with_the_command_that_makes_it_anew(made: Path) -> None:
    with made.open("r+b") as file:
        file.truncate(made.stat().st_size // 3)

    def search() -> object:
        with Library.open(made, embedder=StandIn()) as library:
            return [library.read(document) for document in library.filter_documents().items]

    assert "archivist index --rebuild" in refused(search).hint


def test_a_refusal_leaves_the_file_closed(made: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("PRAGMA user_version = 99")
    opened = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    for _ in range(5):
        refused(lambda: connections.open_for_writing(made))
        refused(lambda: connections.open_for_reading(made))
    if opened:
        assert len(list(Path("/proc/self/fd").iterdir())) == opened


def test_searching_cannot_write(made: Path) -> None:
    with closing(connections.open_for_reading(made)) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM documents")


# Citation keys


def by_hand(path: str, text: str, occurrence: int) -> str:
    whole = path.encode() + b"\0" + text.encode() + b"\0" + str(occurrence).encode()
    return base64.b32encode(hashlib.sha256(whole).digest()).decode().lower()[:10]


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.lists(st.sampled_from(["a", "b", "ä\n", ""]), max_size=8))
def test_a_key_is_ten_base32_characters_of_the_hash_of_path_text_and_occurrence(path: str, texts: list[str]) -> None:
    expected = [by_hand(path, text, texts[: place + 1].count(text)) for place, text in enumerate(texts)]
    assert store.citation_keys(path, texts) == expected
    assert len(set(expected)) == len(texts)


def keys_of(library: Path) -> dict[tuple[str, int], str]:
    with closing(connections.open_for_reading(library)) as connection:
        rows = connection.execute("SELECT d.path, p.ordinal, p.key FROM passages p JOIN documents d ON d.id = p.document_id")
        return {(path, ordinal): key for path, ordinal, key in rows}


def test_every_clone_has_the_same_keys_in_whatever_order_it_was_indexed(made: Path, folder: Path, tmp_path: Path) -> None:
    clone = tmp_path / "elsewhere"
    clone.mkdir()
    for file in sorted(folder.iterdir(), reverse=True):
        shutil.copy(file, clone)
        upkeep.index(tmp_path / "clone.db", [clone], StandIn())
    assert keys_of(tmp_path / "clone.db") == keys_of(made)


def test_an_edit_elsewhere_leaves_a_key_alone(library_file: Path, folder: Path, write: Write) -> None:
    sections = [f"# Part {number}\n\n" + " ".join(f"part{number}word{i}" for i in range(120)) for number in range(4)]
    write("a.md", "\n\n".join(sections))
    upkeep.index(library_file, [folder], StandIn())
    before = keys_of(library_file)
    assert len(before) == 4
    sections.insert(0, "# New\n\nsomething new in front")
    sections[2] += " one more word"
    write("a.md", "\n\n".join(sections))
    upkeep.index(library_file, [folder], StandIn())
    after = keys_of(library_file)
    assert [after["a.md", ordinal] for ordinal in (1, 3, 4)] == [before["a.md", ordinal] for ordinal in (0, 2, 3)]
    assert after["a.md", 2] != before["a.md", 1]


def test_a_moved_document_is_found_under_each_of_its_old_keys(
    library_file: Path, folder: Path, write: Write, embedder: StandIn
) -> None:
    write("first.md", "a text about gateways")
    upkeep.index(library_file, [folder], embedder)
    old = [keys_of(library_file)["first.md", 0]]
    for new in ("second.md", "third/place.md"):
        previous = folder / ("first.md" if new == "second.md" else "second.md")
        (folder / new).parent.mkdir(exist_ok=True)
        previous.rename(folder / new)
        summary = upkeep.index(library_file, [folder], embedder)
        assert (summary.moved, summary.embedded) == (1, 0)
        old.append(keys_of(library_file)[new, 0])
    with Library.open(library_file) as library:
        for key in old[:2]:
            document, passage, moved_from = library.passage(key)
            assert (document.path, passage.key, moved_from) == ("third/place.md", old[2], key)
        assert library.passage(old[2])[2] is None


def test_a_key_that_is_used_again_means_its_own_passage(library_file: Path, folder: Path, write: Write) -> None:
    write("a.md", "the same words")
    upkeep.index(library_file, [folder], StandIn())
    key = keys_of(library_file)["a.md", 0]
    (folder / "a.md").rename(folder / "b.md")
    upkeep.index(library_file, [folder], StandIn())
    write("a.md", "the same words")
    upkeep.index(library_file, [folder], StandIn())
    with Library.open(library_file) as library:
        document, _, moved_from = library.passage(key)
        assert (document.path, moved_from) == ("a.md", None)


def test_old_keys_are_forgotten_with_the_document(library_file: Path, folder: Path, write: Write) -> None:
    write("a.md", "some words")
    write("other.md", "other words")
    upkeep.index(library_file, [folder], StandIn())
    (folder / "a.md").rename(folder / "b.md")
    upkeep.index(library_file, [folder], StandIn())
    (folder / "b.md").unlink()
    upkeep.index(library_file, [folder], StandIn())
    with closing(connections.open_for_reading(library_file)) as connection:
        assert connection.execute("SELECT count(*) FROM _moved_keys").fetchone() == (0,)


def test_a_renamed_document_is_found_by_its_new_name_as_in_a_library_made_anew(
    library_file: Path, folder: Path, write: Write, tmp_path: Path
) -> None:
    write("FooBarBaz.txt", "plain words")
    upkeep.index(library_file, [folder], StandIn())
    (folder / "FooBarBaz.txt").rename(folder / "合約管理.txt")
    assert upkeep.index(library_file, [folder], StandIn()).moved == 1
    upkeep.index(tmp_path / "fresh.db", [folder], StandIn())
    select = "SELECT title, headings, text, terms FROM _passage_search"
    with (
        closing(connections.open_for_reading(library_file)) as moved,
        closing(connections.open_for_reading(tmp_path / "fresh.db")) as fresh,
    ):
        assert moved.execute(select).fetchall() == fresh.execute(select).fetchall()
    with Library.open(library_file) as library:
        assert [hit.document.path for hit in library.keyword_search("合約")] == ["合約管理.txt"]
        assert library.keyword_search("FooBarBaz") == []


# The index lock


def test_a_second_indexer_says_so_and_waits(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    said: list[str] = []
    order: list[str] = []
    waiting = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        waiting.set()

    def second() -> None:
        with connections.index_lock(path, say):
            order.append("second")

    thread = threading.Thread(target=second)
    with connections.index_lock(path, lambda _: pytest.fail("the first need not wait")):
        thread.start()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    assert len(said) == 1
    assert str(path) in said[0]
    assert list(tmp_path.iterdir()) == []


def test_the_lock_is_let_go_when_its_holder_fails(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    with pytest.raises(RuntimeError), connections.index_lock(path, pytest.fail):
        raise RuntimeError("a bug")
    with connections.index_lock(path, pytest.fail):
        assert (tmp_path / "library.db.lock").exists()


def test_many_that_wait_hold_the_lock_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    holders: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            with connections.index_lock(path, lambda _: None):
                holders.append(number)
                most.append(len(holders))
                holders.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 120
    assert max(most) == 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (sqlite3.SQLITE_FULL, "no space left"),
        (sqlite3.SQLITE_IOERR_WRITE, "cannot be read or written"),
        (sqlite3.SQLITE_CORRUPT, "is damaged"),
    ],
)
def test_a_disk_that_fails_is_not_called_a_damaged_library(code: int, said: str) -> None:
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorcode = code
    with pytest.raises(LibraryError, match=said), faults.translated(Path("library.db")):
        raise error


@pytest.mark.parametrize("opened", [connections.open_for_reading, connections.open_for_writing])
def test_a_pipe_is_no_library_and_is_not_waited_for(tmp_path: Path, opened: Callable[[Path], sqlite3.Connection]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, what in ((tmp_path / "pipe", "no regular file"), (Path("/dev/null"), "no regular file"), (tmp_path, "a folder")):
        with pytest.raises(LibraryError, match=f"is {what}, not a library"):
            opened(place)
