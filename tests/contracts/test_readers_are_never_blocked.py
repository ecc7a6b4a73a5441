"""Promise 3: searching goes on while a library is being written, and never sees halves; two indexers do not disturb each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from holdings import holdings, unsound
from standin import StandIn

from search import Filters, Hit, Library, upkeep
from search.embedding import Vectors
from search.tables import catalogue
from search.tables.names import quoted

DOCUMENTS, PASSAGES, GROUPS = 500, 3, 10
VERSIONS = ("amber", "basalt", "cobalt", "damask")
_VERSION = re.compile("|".join(VERSIONS))
_TESTS = Path(__file__).parents[1]

_INDEXER = """
import sys
from pathlib import Path
from search import upkeep
from standin import StandIn
summary = upkeep.index(Path(sys.argv[1]), [Path(sys.argv[2])], StandIn(), say=lambda words: print(words, flush=True))
print("changed", summary.changed, flush=True)
"""


def write_version(folder: Path, version: str) -> None:
    """500 documents in 10 folders, each with the version's name in its title, its tag and every passage."""
    for number in range(DOCUMENTS):
        file = folder / f"group{number % GROUPS}" / f"note{number:03}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"## Part {part}\n\nThe valve of note {number} is {version}, part {part}.\n" for part in range(PASSAGES)]
        text = f"---\ntitle: Note {number} {version}\ntags: [{version}]\n---\n" + "\n".join(parts)
        waiting = file.with_name(".waiting")  # files change at once, so that a half could only come from the library
        waiting.write_text(text, "utf-8")
        waiting.replace(file)


def start_indexer(library: Path, folder: Path) -> subprocess.Popen[str]:
    """An indexer in a process of its own."""
    paths = os.pathsep.join([str(_TESTS.parent), str(_TESTS)])
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _INDEXER, str(library), str(folder)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def halves(hits: Sequence[Hit], expected: int) -> list[str]:
    """What is wrong with the passages of one search that asked for all passages of `expected` documents."""
    passages: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        passages[hit.document.path].append(hit)
    wrong = [] if len(passages) == expected else [f"{len(passages)} documents instead of {expected}"]
    for path, found in passages.items():
        versions = {
            _VERSION.findall(text)[0] for hit in found for text in (hit.passage.text, hit.document.title, *hit.document.tags)
        }
        if len(found) != PASSAGES or len(versions) != 1:
            wrong.append(f"{path}: {len(found)} passages, versions {sorted(versions)}")
    return wrong


class Reader:
    """Searches one group after the other and keeps what was wrong and which versions were seen."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.rounds = 0
        self.wrong: list[str] = []
        self.seen: set[str] = set()
        self.mixed = 0

    def look(self) -> None:
        """One round: keyword, vector, documents with their text."""
        group = self.rounds % GROUPS
        within = Filters(source=(f"group{group}/*",))
        expected, enough = DOCUMENTS // GROUPS, DOCUMENTS // GROUPS * PASSAGES * 2
        for search in (self.library.keyword_search, self.library.vector_search, self.library.hybrid_search):
            self.wrong += halves(search("valve", within, enough), expected)
        page = self.library.filter_documents(within, limit=enough)
        versions = {document.tags[0] for document in page.items}
        if page.total != expected or len(page.items) != expected:
            self.wrong.append(f"group{group}: {page.total} documents in all, {len(page.items)} listed")
        try:
            lines = "\n".join(self.library.read(page.items[0]).lines)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure of the promise
            self.wrong.append(f"read: {error!r}")
        else:
            if len(set(_VERSION.findall(lines))) != 1:
                self.wrong.append(f"read: versions {set(_VERSION.findall(lines))} in one text")
        if sum(self.library.count_documents(group_by="tag").values()) != DOCUMENTS:
            self.wrong.append("not every document is counted under one tag")
        self.seen |= versions
        self.mixed += len(self.library.count_documents(group_by="tag")) > 1
        self.rounds += 1


@pytest.mark.slow
def test_a_reader_in_a_loop_sees_whole_documents_while_500_are_rewritten(
    folder: Path, library_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_version(folder, VERSIONS[0])
    upkeep.index(library_file, [folder], StandIn())
    during = 0
    with Library.open(library_file, embedder=StandIn()) as library:
        reader = Reader(library)
        reader.look()
        for version in VERSIONS[1:]:
            write_version(folder, version)
            indexer = start_indexer(library_file, folder)
            before = reader.rounds
            while indexer.poll() is None:
                reader.look()
            during += reader.rounds - before
            said, errors = indexer.communicate()
            assert indexer.returncode == 0, errors
            assert f"changed {DOCUMENTS}" in said
        for _ in range(GROUPS):
            reader.look()
        assert library.count_documents(group_by="tag") == {VERSIONS[-1]: DOCUMENTS}
    with capfd.disabled():
        print(  # noqa: T201 - the figures are to be seen
            f"\n{during} rounds of reading while 500 documents were rewritten 3 times, {reader.mixed} of them between two versions"
        )
    assert reader.wrong == []
    assert reader.seen == set(VERSIONS)
    assert reader.mixed > 3, "the reader hardly ever looked while documents were being replaced"
    assert unsound(library_file) == []


def test_a_reader_goes_on_while_a_write_transaction_is_open(folder: Path, library_file: Path) -> None:
    write_version(folder, VERSIONS[0])
    upkeep.index(library_file, [folder], StandIn())
    from search import connections, store

    with Library.open(library_file, embedder=StandIn()) as library:
        writer = connections.open_for_writing(library_file)
        with connections.writing(writer):
            store.remove_documents(writer, range(1, DOCUMENTS // 2))
            reader = Reader(library)
            reader.look()
            with Library.open(library_file, embedder=StandIn()) as another:
                assert another.count_documents() == {"total": DOCUMENTS}
        writer.close()
        assert reader.wrong == []
        assert library.count_documents()["total"] < DOCUMENTS


def write_tables(folder: Path, version: str) -> None:
    """40 tables, each with the version's name in every row; half of them wish for the name of one of the others."""
    for number in range(40):
        file = folder / f"{'ab'[number % 2]}" / f"measured{number // 2}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        waiting = file.with_name(".waiting")
        rows = "".join(f"{place},{version},{number}\n" for place in range(100))
        waiting.write_text(f"place,version,number\n{rows}", "utf-8")
        waiting.replace(file)


@pytest.mark.slow
def test_a_reader_sees_whole_tables_under_their_names_while_they_are_rewritten(folder: Path, library_file: Path) -> None:
    write_tables(folder, VERSIONS[0])
    upkeep.index(library_file, [folder], StandIn())
    seen: set[str] = set()
    with Library.open(library_file, embedder=StandIn()) as library:
        for version in VERSIONS[1:]:
            write_tables(folder, version)
            indexer = start_indexer(library_file, folder)
            ended = False
            while not ended:
                ended = indexer.poll() is not None
                with library.snapshot():
                    tables = catalogue.read_tables(library._connection)
                    assert len(tables) == 40
                    for table in tables:
                        count = f"SELECT count(*), min(version), max(version), min(number) FROM {quoted(table.name)}"
                        rows, first, last, number = library._connection.execute(count).fetchone()
                        assert (rows, first) == (100, last)
                        assert table.path == f"{'ab'[number % 2]}/measured{number // 2}.csv"
                        seen.add(first)
            said, errors = indexer.communicate()
            assert indexer.returncode == 0, errors
            assert "changed 40" in said
    assert seen == set(VERSIONS)
    assert unsound(library_file) == []


class Waiting(StandIn):
    """Embeds nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.go_on.wait(60)
        return super().embed_passages(texts)


def test_a_second_indexer_says_that_it_waits_and_both_end_well(
    write: Callable[[str, str], Path], folder: Path, library_file: Path, tmp_path: Path
) -> None:
    for number in range(20):
        write(f"note{number}.md", f"# Note {number}\n\nThe valve is amber.\n")
    first, said, summaries = Waiting(), [], {}

    def hear(words: str) -> None:
        said.append(words)
        first.go_on.set()

    def run(name: str, embedder: StandIn) -> None:
        summaries[name] = upkeep.index(library_file, [folder], embedder, say=hear)

    threads = [threading.Thread(target=run, args=("first", first))]
    threads[0].start()
    assert first.begun.wait(60)
    write("late.md", "# Late\n\nThis came while the first one was at work.\n")
    threads.append(threading.Thread(target=run, args=("second", StandIn())))
    threads[1].start()
    for thread in threads:
        thread.join(60)
    assert len(said) == 1
    assert "waiting" in said[0]
    assert (summaries["first"].added, summaries["second"].added, summaries["second"].unchanged) == (20, 1, 20)
    upkeep.index(tmp_path / "single.db", [folder], StandIn())
    assert holdings(library_file) == holdings(tmp_path / "single.db")
    assert [entry.name for entry in library_file.parent.iterdir()] == [library_file.name]


def test_five_indexers_at_once_give_what_one_gives(
    write: Callable[[str, str], Path], folder: Path, library_file: Path, tmp_path: Path
) -> None:
    for number in range(60):
        write(f"note{number}.md", f"# Note {number}\n\nThe valve is amber.\n")
    indexers = [start_indexer(library_file, folder) for _ in range(5)]
    for indexer in indexers:
        _, errors = indexer.communicate(timeout=120)
        assert indexer.returncode == 0, errors
    upkeep.index(tmp_path / "single.db", [folder], StandIn())
    assert holdings(library_file) == holdings(tmp_path / "single.db")
    assert unsound(library_file) == []
    assert [entry.name for entry in library_file.parent.iterdir()] == [library_file.name]
