"""Promise 1: any sequence of adding, editing, touching, renaming and deleting, indexed now and then, equals a rebuild."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from holdings import citations, holdings, unsound
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from standin import StandIn

from search import Library, indexing, readers, sources, upkeep
from search.models import Extract

_PLACES = ("a.md", "b.txt", "notes/a.md", "notes/c.md", "notes/2024-05-06-talk.md", "FooBar.txt", "deep/er/page.html")
_TABLES = ("sales.csv", "deep/sales.csv", "notes/sales.csv", "other/place/Sales table.csv", "2024-sales.csv", "documents.csv")
_FOLDERS = ("notes", "deep", "other/place")
_SUFFIXES = (".md", ".txt", ".markdown", ".html", ".py", ".csv")
_WORDS = ("valve", "ledger", "harbour", "getUserName", "snake_case", "Überprüfung", "数据库连接", "C++", "2024")
_FRONT = (
    "",
    "---\ntitle: The Ledger\ntags: [one, two]\ncategory: papers\n---\n",
    "---\ndate: 2023-03-01\nlanguage: en\nseverity: 3\n---\n",
)

texts = st.builds(
    lambda front, heading, words, copies: front + heading + "\n\n".join([" ".join(words)] * copies) + "\n",
    st.sampled_from(_FRONT),
    st.sampled_from(("", "# Valves and FooBar\n\n", "<h1>Page</h1>\n", "# One\n\n## Two\n\n")),
    st.lists(st.sampled_from(_WORDS), max_size=6),
    st.integers(1, 4),
)
tables = st.builds(
    lambda header, rows: "".join(",".join(row) + "\n" for row in (header, *rows)),
    st.sampled_from((("city", "year"), ("city", "City", "year"), ("documents",))),
    st.lists(st.lists(st.sampled_from((*_WORDS, "12", "007", "1,5", "")), min_size=1, max_size=3), max_size=5),
)
numbers = st.integers(0, 1000)
steps = st.one_of(
    st.tuples(st.just("add"), st.sampled_from(_PLACES), texts),
    st.tuples(st.just("add"), st.sampled_from(_TABLES), tables),
    st.tuples(st.just("edit"), numbers, st.one_of(texts, tables)),
    st.tuples(st.just("edit in the same size"), numbers, st.just(None)),
    st.tuples(st.just("touch"), numbers, st.integers(1, 900)),
    st.tuples(st.just("rename"), numbers, st.sampled_from((*_PLACES, *_TABLES))),
    st.tuples(st.just("change the suffix"), numbers, st.sampled_from(_SUFFIXES)),
    st.tuples(st.just("swap"), numbers, numbers),
    st.tuples(st.just("rename the folder"), st.sampled_from(_FOLDERS), st.sampled_from(_FOLDERS)),
    st.tuples(st.just("copy"), numbers, st.sampled_from((*_PLACES, *_TABLES))),
    st.tuples(st.just("delete"), numbers, st.just(None)),
    st.tuples(st.just("index"), st.just(None), st.just(None)),
)


def take(folder: Path, kind: str, one: object, two: object) -> None:
    """Do a step in a folder; one that makes no sense there does nothing."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    chosen = files[one % len(files)] if isinstance(one, int) and files else None
    if kind == "add":
        put(folder / str(one), str(two))
    elif kind == "rename the folder":
        source, target = folder / str(one), folder / str(two)
        if source.is_dir() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
    elif chosen is None:
        return
    elif kind == "edit":
        put(chosen, str(two))
    elif kind == "edit in the same size":
        put(chosen, chosen.read_text("utf-8").swapcase().swapcase()[::-1])
    elif kind == "touch":
        time_ns = chosen.stat().st_mtime_ns - int(str(two)) * 3_600_000_000_000
        os.utime(chosen, ns=(time_ns, time_ns))
    elif kind in {"rename", "copy", "change the suffix"}:
        target = chosen.with_suffix(str(two)) if kind == "change the suffix" else folder / str(two)
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == "copy" and target != chosen:
            shutil.copy(chosen, target)
        else:
            chosen.rename(target)
    elif kind == "swap":
        swap(chosen, files[int(str(two)) % len(files)])
    elif kind == "delete":
        chosen.unlink()


def put(file: Path, text: str) -> None:
    """Write a file, its folder too."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def swap(one: Path, other: Path) -> None:
    """Exchange the names of two files."""
    waiting = one.with_name("waiting")
    one.rename(waiting)
    if other.exists():
        other.rename(one)
    waiting.rename(other)


def rebuilt(folder: Path, place: Path) -> Path:
    """A fresh library over a folder."""
    place.mkdir(exist_ok=True)
    upkeep.index(place / "fresh.db", [folder], StandIn())
    return place / "fresh.db"


def answers(file: Path) -> list[list[tuple[str, int, float]]]:
    """What keyword and vector search answer, with scores."""
    with Library.open(file, embedder=StandIn()) as library:
        searches = (search(word, limit=50) for word in ("valve", "user name", "foo bar", "数据库") for search in ways(library))
        return [[(hit.document.path, hit.passage.ordinal, round(hit.score, 5)) for hit in hits] for hits in searches]


def ways(library: Library) -> tuple[Callable[..., list[object]], ...]:
    """The searches that need no fusing."""
    return library.keyword_search, library.vector_search  # type: ignore[return-value]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(steps, max_size=14))
def test_any_sequence_of_changes_equals_a_rebuild(changes: list[tuple[str, object, object]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folder, library = place / "folder", place / "library.db"
        for number, path in enumerate(_PLACES[:5]):
            put(folder / path, f"# Start {number}\n\nThe {_WORDS[number]} stood here first.\n")
        for path in _TABLES[:3]:
            put(folder / path, f"city,year\n{path},2024\n")
        upkeep.index(library, [folder], StandIn())
        for kind, one, two in changes:
            if kind == "index":
                upkeep.index(library, [folder], StandIn(), prune=True)
            else:
                take(folder, kind, one, two)
        upkeep.index(library, [folder], StandIn(), prune=True)
        fresh = rebuilt(folder, place)
        assert citations(holdings(library)) == citations(holdings(fresh))
        assert holdings(library) == holdings(fresh)
        assert unsound(library) == []
        assert answers(library) == answers(fresh)


def settle(folder: Path) -> None:
    """Date all files back by an hour and let the clock tick on, so that their times of change are believed."""
    for file in folder.rglob("*"):
        if file.is_file():
            time_ns = file.stat().st_mtime_ns - 3_600_000_000_000
            os.utime(file, ns=(time_ns, time_ns))
    let_the_clock_tick()


def let_the_clock_tick() -> None:
    time.sleep(2 * indexing._CLOCK_TICK_NS / 1e9)


@pytest.mark.parametrize("change", ["rename", "move to a folder", "rename the folder", "swap two names"])
def test_a_rename_embeds_nothing(change: str, folder: Path, tmp_path: Path, embedder: StandIn) -> None:
    put(folder / "kept.md", "# Kept\n\nThis one stays.\n")
    for number in range(3):
        put(folder / "notes" / f"note{number}.md", f"# Note {number}\n\n{'The valve. ' * (number + 1)}\n\n## More\n\nA ledger.\n")
    settle(folder)
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)
    embedder.embedded.clear()
    note = folder / "notes" / "note0.md"
    if change == "rename":
        note.rename(note.with_name("OtherName.md"))
    elif change == "move to a folder":
        (folder / "new").mkdir()
        note.rename(folder / "new" / "note0.md")
    elif change == "rename the folder":
        (folder / "notes").rename(folder / "renamed")
    else:
        swap(note, note.with_name("note1.md"))
    summary = upkeep.index(library, [folder], embedder)
    assert embedder.embedded == []
    assert summary.embedded == 0
    assert holdings(library) == holdings(rebuilt(folder, tmp_path))


@pytest.mark.parametrize(
    "change",
    ["rename", "to another folder", "rename the folder", "swap", "clash", "free a name", "no table any more", "now a table"],
)
def test_tables_follow_their_files(change: str, folder: Path, tmp_path: Path, embedder: StandIn) -> None:
    for path in ("a/sales.csv", "b/sales.csv", "costs.csv"):
        put(folder / path, f"city,year\n{path},2024\n")
    put(folder / "listed.txt", "city,year\nin a text,2024\n")
    settle(folder)
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)
    assert names_of_tables(library) == {"a/sales.csv": "sales", "b/sales.csv": "b_sales", "costs.csv": "costs"}
    moves = {
        "rename": ("costs.csv", "prices.csv"),
        "to another folder": ("a/sales.csv", "c/sales.csv"),
        "rename the folder": ("a", "z"),
        "clash": ("costs.csv", "a/a/sales.csv"),
        "no table any more": ("costs.csv", "costs.txt"),
        "now a table": ("listed.txt", "a/costs.csv"),
    }
    if change == "swap":
        swap(folder / "a/sales.csv", folder / "costs.csv")
    elif change == "free a name":
        (folder / "a/sales.csv").unlink()
    else:
        source, target = (folder / name for name in moves[change])
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
    upkeep.index(library, [folder], embedder)
    assert holdings(library) == holdings(rebuilt(folder, tmp_path))
    assert unsound(library) == []
    assert len(names_of_tables(library)) == {"free a name": 2, "no table any more": 2, "now a table": 4}.get(change, 3)


def names_of_tables(library: Path) -> dict[str, str]:
    return {path: held.table_names[0] for path, held in holdings(library).items() if held.tables}


@pytest.mark.parametrize("text", ["the same", "another"])
def test_another_reader_of_the_same_bytes_makes_other_tables(
    text: str, folder: Path, tmp_path: Path, embedder: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "sales.csv", "city,year\nUlm,2024\n")
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)

    released = readers.read

    def all_as_text(path: Path, data: bytes) -> Extract:
        extract = released(path, data)
        (table,) = extract.tables
        columns = tuple(replace(column, type="text") for column in table.columns)
        rows = [tuple(map(str, row)) for row in table.rows]
        described = extract.text if text == "the same" else "Another description."
        return replace(extract, text=described, tables=(replace(table, columns=columns, rows=rows),))

    monkeypatch.setattr(readers, "read", all_as_text)
    for change in ("touch", "rename"):
        if change == "touch":
            os.utime(folder / "sales.csv", ns=(1_700_000_000_000_000_000,) * 2)
        else:
            (folder / "sales.csv").rename(folder / "prices.csv")
            monkeypatch.setattr(readers, "read", released)
        upkeep.index(library, [folder], embedder)
        assert holdings(library) == holdings(rebuilt(folder, tmp_path / change))
    assert unsound(library) == []


def test_names_that_move_up_by_one_embed_next_to_nothing(folder: Path, tmp_path: Path, embedder: StandIn) -> None:
    for number in range(150):
        put(folder / f"page{number:03}.txt", f"The text that was page {number} at first{' and on' * number}.\n")
    settle(folder)
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)
    embedder.embedded.clear()
    for number in reversed(range(150)):
        (folder / f"page{number:03}.txt").rename(folder / f"page{number + 1:03}.txt")
    upkeep.index(library, [folder], embedder)
    # Every name now stands for another text; only what is replaced at the seam of two transactions is embedded again.
    assert len(embedder.embedded) <= 150 // indexing._BATCH_DOCUMENTS
    assert holdings(library) == holdings(rebuilt(folder, tmp_path))


def test_a_touch_embeds_nothing_and_reads_nothing_into_passages(
    folder: Path, tmp_path: Path, embedder: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "note.md", "# Note\n\nThe valve.\n")
    time_ns = 1_700_000_000_000_000_000
    os.utime(folder / "note.md", ns=(time_ns, time_ns))
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)
    embedder.embedded.clear()
    os.utime(folder / "note.md", ns=(time_ns + 60_000_000_000, time_ns + 60_000_000_000))
    let_the_clock_tick()
    read: list[Path] = []
    look = readers.read
    monkeypatch.setattr(readers, "read", lambda path, data: read.append(path) or look(path, data))
    first = upkeep.index(library, [folder], embedder)
    again = upkeep.index(library, [folder], embedder)
    assert (embedder.embedded, read) == ([], [])
    assert (first.unchanged, first.read, again.read) == (1, 1, 0)


def test_a_touch_on_another_day_changes_the_dates_and_embeds_nothing(folder: Path, tmp_path: Path, embedder: StandIn) -> None:
    put(folder / "note.md", "# Note\n\nThe valve.\n")
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)
    embedder.embedded.clear()
    os.utime(folder / "note.md", ns=(1_700_000_000_000_000_000,) * 2)
    assert upkeep.index(library, [folder], embedder).unchanged == 1
    assert embedder.embedded == []
    assert holdings(library)["note.md"].document[7] == "2023-11-14"
    assert holdings(library) == holdings(rebuilt(folder, tmp_path))


def test_a_change_within_a_tick_of_the_clock_is_seen(
    folder: Path, tmp_path: Path, embedder: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "_CLOCK_TICK_NS", 60_000_000_000)  # a slow clock, so that a slow machine is no excuse
    library = tmp_path / "library.db"
    put(folder / "note.txt", "version one\n")
    times = (folder / "note.txt").stat().st_mtime_ns
    upkeep.index(library, [folder], embedder)
    put(folder / "note.txt", "version two\n")
    os.utime(folder / "note.txt", ns=(times, times))
    upkeep.index(library, [folder], embedder)
    assert holdings(library)["note.txt"].text == "version two\n"


def test_another_file_of_equal_size_and_date_in_its_place_is_seen(folder: Path, tmp_path: Path, embedder: StandIn) -> None:
    library = tmp_path / "library.db"
    put(folder / "note.txt", "version one\n")
    put(tmp_path / "other.txt", "version two\n")
    settle(folder)
    os.utime(tmp_path / "other.txt", ns=(times := (folder / "note.txt").stat().st_mtime_ns, times))
    upkeep.index(library, [folder], embedder)
    (tmp_path / "other.txt").replace(folder / "note.txt")
    upkeep.index(library, [folder], embedder)
    assert holdings(library)["note.txt"].text == "version two\n"


def test_a_file_whose_rights_changed_is_read_once_and_not_embedded(folder: Path, tmp_path: Path, embedder: StandIn) -> None:
    library = tmp_path / "library.db"
    put(folder / "note.txt", "a note\n")
    settle(folder)
    upkeep.index(library, [folder], embedder)
    embedder.embedded.clear()
    (folder / "note.txt").chmod(0o640)
    let_the_clock_tick()
    runs = [upkeep.index(library, [folder], embedder) for _ in range(2)]
    assert [(run.read, run.unchanged, run.changed) for run in runs] == [(1, 1, 0), (0, 1, 0)]
    assert embedder.embedded == []
    with Library.open(library) as opened:
        assert opened.stale(opened.document("note.txt")) is None


def test_nothing_is_read_where_nothing_changed(
    folder: Path, tmp_path: Path, embedder: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "note.txt", "a note\n")
    settle(folder)
    library = tmp_path / "library.db"
    upkeep.index(library, [folder], embedder)
    read: list[Path] = []
    look = sources.read_bytes
    monkeypatch.setattr(sources, "read_bytes", lambda source, limit: read.append(source.full) or look(source, limit))
    assert upkeep.index(library, [folder], embedder).read == 0
    assert read == []
