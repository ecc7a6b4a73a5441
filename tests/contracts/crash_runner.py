"""Indexers that are killed, and what they leave: a program of its own, so that it can fork cheaply and safely.

    python crash_runner.py PLACE moments|operations|first|rebuild [--kills N] [--seed N] [--delay N] [--documents N] [--real]

Forks a child per trial from a process that has imported all and started no thread. The child counts its store operations (SQL
statements on its own connections, those of triggers included) in memory it shares with its parent; it kills itself before a
given one, or is killed by its parent some microseconds after it. Prints a JSON report; `complaints` holds what was not as promised.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from holdings import Held, holdings, unsound
from standin import StandIn

from search import Library, LibraryError, connections, indexing, upkeep
from search.embedding import Embedder

OLD_NS, NEW_NS = 1_700_000_000_000_000_000, 1_700_600_000_000_000_000
_SUBJECTS = ("valve", "ledger", "harbour", "compiler", "orchard", "turbine", "archive", "signal")


@dataclass(slots=True)
class Report:
    """What was done and what was found. writing: kills between the first change of a document and the checkpoint."""

    kills: int = 0
    writing: int = 0
    inside_transaction: int = 0
    finished_first: int = 0
    operations: int = 0
    old: int = 0
    new: int = 0
    mixed: int = 0
    unborn: int = 0
    seconds: float = 0.0
    complaints: list[str] = field(default_factory=list)


class Counters(ctypes.Structure):
    """What a child tells its parent; in shared memory, so that it outlives a SIGKILL."""

    _fields_ = (("operations", ctypes.c_long), ("wrote", ctypes.c_long), ("ending", ctypes.c_long), ("inside", ctypes.c_long))


def body(number: int, version: str, sections: int = 2) -> str:
    """A document whose every passage names its version."""
    subject = _SUBJECTS[number % len(_SUBJECTS)]
    parts = [
        f"## Part {part} of {subject} {number}\n\nIn {version} the {subject} number {number} was checked, "
        f"part {part}, on day {number * 7 % 30}; nobody_else({part}) knew the LastReading of it.\n"
        for part in range(1, sections + 1)
    ]
    front = f"---\ntags: [{subject}, {version}]\n---\n" if number % 3 == 0 else ""
    return f"{front}# About {subject} {number}\n\n" + "\n".join(parts)


def table(name: str, version: str, rows: int) -> str:
    """A table whose every row names its version."""
    return f"name,version,number {version}\n" + "".join(f"{name},{version},{number}\n" for number in range(rows))


def put(file: Path, text: str, time_ns: int) -> None:
    """Write a file with a time of change that lies well in the past, so that it counts as settled."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(time_ns, time_ns))


def lay_out_old(folder: Path, documents: int) -> None:
    """Folder state A."""
    for number in range(documents):
        put(folder / f"{_SUBJECTS[number % 4]}s" / f"note{number:02}.md", body(number, "alpha"), OLD_NS)
    for name in ("swap-one.txt", "swap-other.txt", "plain-name.txt", "loses-text.txt", "same-size.txt", "touched.txt"):
        put(folder / "odd" / name, f"The alpha text of {name}, {'long ' * len(name)}before any change.\n", OLD_NS)
    put(folder / "odd" / "empty.txt", "", OLD_NS)
    for name in ("sales.csv", "2024/sales.csv", "stays.csv", "swap-one.csv", "swap-other.csv", "goes.csv"):
        put(folder / "tables" / name, table(name, "alpha", 5), OLD_NS)


def change_to_new(folder: Path, documents: int) -> set[tuple[str, str]]:
    """Folder state B: edits, additions, deletions, renames, lost and won text. Returns the plain renames as (old, new) paths."""
    files = sorted(folder.glob("*s/note*.md"))
    for file in files[0::3]:
        number = int(file.stem.removeprefix("note"))
        put(file, body(number, "omega", sections=1 + number % 3), NEW_NS)
    for file in files[1::6]:
        file.unlink()
    renames = set()
    for file in files[2::6]:
        target = folder / "moved" / f"{file.stem}-renamed.md"
        target.parent.mkdir(exist_ok=True)
        renames.add((file.relative_to(folder).as_posix(), target.relative_to(folder).as_posix()))
        file.rename(target)
    for number in range(documents, documents + documents // 4):
        put(folder / "added" / f"note{number:02}.md", body(number, "omega"), NEW_NS)
    odd = folder / "odd"
    (odd / "swap-one.txt").rename(odd / "waiting")
    (odd / "swap-other.txt").rename(odd / "swap-one.txt")
    (odd / "waiting").rename(odd / "swap-other.txt")
    (odd / "plain-name.txt").rename(odd / "OtherName.txt")
    renames.add(("odd/plain-name.txt", "odd/OtherName.txt"))
    put(odd / "loses-text.txt", "", NEW_NS)
    put(odd / "empty.txt", "The omega text of a file that was empty.\n", NEW_NS)
    put(odd / "same-size.txt", (odd / "same-size.txt").read_text().replace("alpha", "omega"), NEW_NS)
    os.utime(odd / "touched.txt", ns=(NEW_NS, NEW_NS))
    tables = folder / "tables"
    (tables / "swap-one.csv").rename(tables / "waiting")
    (tables / "swap-other.csv").rename(tables / "swap-one.csv")
    (tables / "waiting").rename(tables / "swap-other.csv")
    (tables / "2024" / "sales.csv").unlink()  # and the other one gets its name
    (tables / "goes.csv").rename(tables / "2024" / "goes.csv")
    renames.add(("tables/goes.csv", "tables/2024/goes.csv"))
    put(folder / "added" / "stays.csv", table("another", "omega", 3), NEW_NS)  # and takes the name of tables/stays.csv
    put(tables / "sales.csv", table("sales.csv", "omega", 7), NEW_NS)
    return renames


class Scene:
    """A folder in state B, the library over its state A as a template, and what libraries of A and B hold."""

    def __init__(self, place: Path, embedder: Embedder, documents: int) -> None:
        self.folder = place / "folder"
        self.embedder = embedder
        self.template = place / "old.db"
        self.library = place / "trial" / "library.db"
        self.report = Report()
        self.shared = Counters.from_buffer(mmap.mmap(-1, ctypes.sizeof(Counters)))
        lay_out_old(self.folder, documents)
        upkeep.index(self.template, [self.folder], embedder)
        self.old = holdings(self.template)
        self.renames = change_to_new(self.folder, documents)
        fresh = place / "new.db"
        upkeep.index(fresh, [self.folder], embedder)
        self.new = holdings(fresh)

    def reset(self, *, empty: bool = False) -> None:
        """The library as it was before a trial."""
        shutil.rmtree(self.library.parent, ignore_errors=True)
        self.library.parent.mkdir(mode=0o700)
        if not empty:
            shutil.copy(self.template, self.library)

    def index(self) -> None:
        """What a trial runs."""
        upkeep.index(self.library, [self.folder], self.embedder)

    def rebuild(self) -> None:
        """What a trial of a rebuild runs."""
        upkeep.rebuild(self.library, [self.folder], self.embedder)

    def start(self, action: Callable[[], None], die_before: int = 0) -> int:
        """Fork a child that runs `action`; it kills itself before its `die_before`-th store operation. Returns its id."""
        ctypes.memset(ctypes.addressof(self.shared), 0, ctypes.sizeof(Counters))
        child = os.fork()
        if child:
            return child
        code = 3
        try:
            self._count_operations(die_before)
            action()
            code = 0
        except BaseException:  # noqa: BLE001 - a forked child must not go on as its parent
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _count_operations(self, die_before: int) -> None:
        shared = self.shared

        def traced(statement: str) -> None:
            if shared.operations + 1 == die_before:
                os.kill(os.getpid(), signal.SIGKILL)
            shared.operations += 1
            if statement.startswith("BEGIN IMMEDIATE"):
                shared.inside = 1
            elif shared.inside == 2:
                shared.inside = 0
            elif statement.startswith(("COMMIT", "ROLLBACK")):
                shared.inside *= 2
            if not shared.wrote and statement.startswith(("INSERT INTO documents", "UPDATE documents", "DELETE FROM documents")):
                shared.wrote = shared.operations
            if statement.startswith("PRAGMA wal_checkpoint"):
                shared.ending = shared.operations

        connect = connections._connect

        def counting(path: Path, options: str) -> sqlite3.Connection:
            connection = connect(path, options)
            connection.set_trace_callback(traced)
            return connection

        connections._connect = counting

    def run_whole(self, action: Callable[[], None]) -> Counters:
        """The counts of a run that nobody kills."""
        child = self.start(action)
        if os.waitpid(child, 0)[1]:
            raise RuntimeError("a run that was not killed failed; its error stands above")
        counted = Counters()
        ctypes.memmove(ctypes.addressof(counted), ctypes.addressof(self.shared), ctypes.sizeof(Counters))
        self.report.operations = counted.operations
        return counted

    def kill(self, action: Callable[[], None], after: int, microseconds: int) -> bool:
        """Kill a child some time after its `after`-th store operation; False when it had ended before."""
        child = self.start(action)
        ended = 0
        while self.shared.operations < after and not ended:
            ended, status = os.waitpid(child, os.WNOHANG)
        until = time.perf_counter() + microseconds / 1e6
        while time.perf_counter() < until and not ended:
            ended, status = os.waitpid(child, os.WNOHANG)
        if not ended:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        return self._was_killed(status)

    def kill_before(self, action: Callable[[], None], operation: int) -> bool:
        """Kill a child right before its `operation`-th store operation; False when it had ended before."""
        return self._was_killed(os.waitpid(self.start(action, operation), 0)[1])

    def _was_killed(self, status: int) -> bool:
        if not os.WIFSIGNALED(status):
            if os.waitstatus_to_exitcode(status):
                raise RuntimeError("a child failed instead of being killed; its error stands above")
            self.report.finished_first += 1
            return False
        self.report.kills += 1
        self.report.writing += bool(self.shared.wrote and not self.shared.ending)
        self.report.inside_transaction += bool(self.shared.inside)
        return True

    def complain(self, trial: str, complaints: Iterator[str] | list[str]) -> None:
        """Note what is wrong after a trial."""
        self.report.complaints += [f"{trial}, killed after operation {self.shared.operations}: {each}" for each in complaints]

    def examine(self, *, whole: bool = False) -> Iterator[str]:
        """What a kill has left. whole: the library as a whole must be old or new, not each document alone."""
        with Library.open(self.library, embedder=self.embedder) as library:
            library.keyword_search("checked")
            library.vector_search("checked")
        yield from unsound(self.library)
        held = holdings(self.library)
        if same(held, self.old):
            self.report.old += 1
        elif same(held, self.new):
            self.report.new += 1
        else:
            self.report.mixed += 1
            if whole:
                yield "the library is neither the old nor the new one"
        yield from self._neither_old_nor_new(held)

    def _neither_old_nor_new(self, held: dict[str, Held]) -> Iterator[str]:
        for path in sorted({*held, *self.old, *self.new}):
            if bare(held.get(path)) not in (bare(self.old.get(path)), bare(self.new.get(path))):
                yield f"{path} is {'missing' if path not in held else 'neither wholly old nor wholly new'}"
        for before, after in sorted(self.renames):
            if before not in held and after not in held:
                yield f"{before}, renamed to {after}, is there under neither name"

    def examine_first_build(self) -> Iterator[str]:
        """What a kill during the very first run has left: nothing, a file that is no library yet, or a part of the new one."""
        try:
            Library.open(self.library, embedder=self.embedder).close()
        except LibraryError:
            self.report.unborn += 1
            if self.library.exists() and self.library.stat().st_size:
                with closing(sqlite3.connect(self.library)) as db:
                    if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                        yield "it cannot be opened, and is not empty either"
            return
        yield from unsound(self.library)
        for path, document in holdings(self.library).items():
            if bare(document) != bare(self.new.get(path)):
                yield f"{path} is not wholly there"

    def run_again(self) -> Iterator[str]:
        """Whether the next run makes it equal to a fresh build and leaves nothing lying about."""
        self.index()
        held = holdings(self.library)
        if not same(held, self.new):
            paths = sorted({*held, *self.new})
            yield f"run again, these differ from a fresh build: {[p for p in paths if bare(held.get(p)) != bare(self.new.get(p))]}"
        yield from (f"run again: {each}" for each in unsound(self.library))
        if left := [entry.name for entry in self.library.parent.iterdir() if entry != self.library]:
            yield f"run again, there are still {left}"


def bare(document: Held | None) -> Any:
    """A document without its vectors: a model's last bits depend on the batch they are computed in; that they are there counts.

    And without the names of its tables, which depend on all documents; `unsound` looks at them.
    """
    if document is None:
        return None
    tables = [table[1:] for table in document.tables]
    inputs = [embedding[0] for embedding in document.embeddings]
    return (document.document, document.tags, document.text, document.passages, inputs, tables)


def same(one: dict[str, Held], other: dict[str, Held]) -> bool:
    """Whether two libraries hold the same, and call their tables the same."""
    return one.keys() == other.keys() and all(
        bare(one[path]) == bare(other[path]) and one[path].table_names == other[path].table_names for path in one
    )


def at_moments(scene: Scene, kills: int, seed: int, delay: int) -> None:
    """Kills at moments drawn after the first store operation, nine of ten of them while documents are being written.

    delay: up to how many microseconds a kill falls after the operation that was drawn.
    """
    scene.reset()
    counted = scene.run_whole(scene.index)
    draw = random.Random(seed)
    while scene.report.kills < kills:
        scene.reset()
        first = counted.wrote if draw.random() < 0.9 else 1
        after = draw.randrange(first, counted.ending)
        if scene.kill(scene.index, after, draw.randrange(delay)):
            scene.complain("moment", scene.examine())
            scene.complain("moment", scene.run_again())


def at_every_operation(scene: Scene) -> None:
    """A kill before each store operation of a run."""
    scene.reset()
    for operation in range(1, scene.run_whole(scene.index).operations + 1):
        scene.reset()
        if scene.kill_before(scene.index, operation):
            scene.complain("operation", scene.examine())
            scene.complain("operation", scene.run_again())


def at_first_build(scene: Scene, kills: int, seed: int) -> None:
    """Kills while there is no library yet: before each statement that makes the tables, then at drawn operations."""
    scene.reset(empty=True)
    counted = scene.run_whole(scene.index)
    draw = random.Random(seed)
    chosen = [*range(1, counted.wrote), *(draw.randrange(counted.wrote, counted.operations + 1) for _ in range(kills))]
    for operation in chosen:
        scene.reset(empty=True)
        if scene.kill_before(scene.index, operation):
            scene.complain("first build", scene.examine_first_build())
            scene.complain("first build", scene.run_again())


def at_rebuild(scene: Scene, kills: int, seed: int, delay: int) -> None:
    """Kills during a rebuild, half of them while the new file is being swapped in."""
    scene.reset()
    counted = scene.run_whole(scene.rebuild)
    draw = random.Random(seed)
    while scene.report.kills < kills:
        scene.reset()
        swapping = draw.random() < 0.5
        after = draw.randrange(counted.operations - 4 if swapping else 1, counted.operations + 1)
        if scene.kill(scene.rebuild, after, draw.randrange(delay)):
            scene.complain("rebuild", scene.examine(whole=True))
            scene.complain("rebuild", scene.run_again())


def main() -> None:
    """Run one kind of trial and print the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("place", type=Path)
    parser.add_argument("kind", choices=["moments", "operations", "first", "rebuild"])
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--delay", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=9)
    parser.add_argument("--real", action="store_true")
    chosen = parser.parse_args()
    started = time.monotonic()
    # Small transactions: a run over few files has several of them, and a kill can fall between any two.
    indexing._BATCH_DOCUMENTS = 6
    scene = Scene(chosen.place, real_embedder() if chosen.real else StandIn(), chosen.documents)
    if chosen.kind == "operations":
        at_every_operation(scene)
    elif chosen.kind == "first":
        at_first_build(scene, chosen.kills, chosen.seed)
    else:
        trial = {"moments": at_moments, "rebuild": at_rebuild}[chosen.kind]
        trial(scene, chosen.kills, chosen.seed, chosen.delay)
    scene.report.seconds = round(time.monotonic() - started, 1)
    print(json.dumps(asdict(scene.report)))  # noqa: T201 - the figures are to be seen


def real_embedder() -> Embedder:
    """The default model, on one thread: a process with threads cannot be forked safely."""
    import torch

    from search.embedding import load_embedder

    torch.set_num_threads(1)
    return load_embedder()


if __name__ == "__main__":
    main()
