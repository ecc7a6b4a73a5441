"""Runs: what was asked, answered and scored, in a folder that survives being killed at any moment.

run.json says what is measured; cases.jsonl holds the cases as they were; results.jsonl gets one line, flushed to the disk, for
each finished question; flight.jsonl one for each that was begun, so that what was under way at an end is known; recordings/ lets
every question be replayed without a key; retrieval.json holds the searches' own measures.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from assistant import settings
from assistant.errors import UserError
from assistant.evaluation import shapes
from assistant.evaluation.cases import Case, cases_from
from search.connections import make_folder

VERSION = 1


class Key(NamedTuple):
    """Which question of a run: a case put to a model for the n-th time, from 1."""

    case: str
    model: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Result:
    """One finished question.

    scores: by measure, None where the case expects nothing of it. calls: {name, arguments, ok, error, summary, seconds, repeated}.
    expected: the case's `expect`. citations, quotes, numbers: as `Checked.as_objects` gives them. cost: US dollars, None when
    unknown. recording: file name below recordings/. failed: the text of the error that ended it, None when it was answered.
    """

    case: str
    model: str
    repeat: int
    kind: str = ""
    language: str = ""
    question: str = ""
    answer: str = ""
    outcome: str = ""
    stopped: str = ""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    calls: Sequence[Mapping[str, Any]] = ()
    expected: Mapping[str, Any] = field(default_factory=dict)
    citations: Sequence[Mapping[str, Any]] = ()
    quotes: Sequence[Mapping[str, Any]] = ()
    numbers: Sequence[Mapping[str, Any]] = ()
    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    notices: Sequence[str] = ()
    recording: str | None = None
    failed: str | None = None

    @property
    def key(self) -> Key:
        """Which question it answers."""
        return Key(self.case, self.model, self.repeat)


@dataclass(frozen=True, slots=True)
class Head:
    """What a run measures: run.json.

    library: path, documents, passages, embedder. cases: file, digest, count. settings: limits and whatever else changes results.
    """

    name: str
    started: str
    archivist: str
    library: Mapping[str, Any]
    cases: Mapping[str, Any]
    models: tuple[str, ...]
    repeats: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = VERSION


class Run:
    """A run's folder. One process at a time writes to it."""

    def __init__(self, folder: Path, head: Head, cases: Sequence[Case]) -> None:
        self.folder = folder
        self.head = head
        self.cases = tuple(cases)
        self._read: tuple[int, list[Result]] = (-1, [])

    @classmethod
    def open(cls, folder: Path) -> Run:
        """The run of a folder. Raises UserError when it holds none, or one of a later version."""
        try:
            value = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            if not isinstance(value, dict) or not isinstance(value.get("version"), int):
                raise UserError(f"{folder}: run.json is none", "archivist evaluate FILE --run DIR makes one")
            if value["version"] > VERSION:
                raise UserError(f"{folder}: made by a later version of Archivist", "update Archivist")
            if wrong := shapes.fault(value, shapes.HEAD):
                raise UserError(f"{folder / 'run.json'}: {wrong}", "archivist evaluate FILE --run DIR makes another run")
            head = Head(**{name: value[name] for name in _HEAD if name in value})
            head = Head(**{**asdict(head), "models": tuple(head.models)})
            cases = cases_from((folder / "cases.jsonl").read_text(encoding="utf-8"), str(folder / "cases.jsonl"))
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{folder}: holds no run ({type(error).__name__})", "archivist evaluate FILE --run DIR makes one"
            ) from None
        return cls(folder, head, cases)

    @classmethod
    def create(cls, folder: Path, head: Head, cases: Sequence[Case]) -> Run:
        """A new run in a folder that holds none (0700, its files 0600)."""
        make_folder(folder / "recordings")
        lines = [json.dumps(case.given, ensure_ascii=False) for case in cases]
        settings.write_private(folder / "cases.jsonl", "\n".join(lines) + "\n")
        # What opens a run is written last: a folder without it is no run.
        settings.write_private(folder / "run.json", json.dumps(asdict(head), ensure_ascii=False, indent=1) + "\n")
        return cls(folder, head, cases)

    @property
    def results(self) -> list[Result]:
        """The finished questions, each once (the last line counts), by the order of cases, then of models, then of repeats."""
        path = self.folder / "results.jsonl"
        size = path.stat().st_size if path.exists() else 0
        if size != self._read[0]:  # the file only grows
            self._read = size, self._in_order(_result(row) for row in _lines(path, shapes.RESULT))
        return list(self._read[1])

    def _in_order(self, results: Iterable[Result]) -> list[Result]:
        found = {result.key: result for result in results}
        places = {case.id: number for number, case in enumerate(self.cases)}
        models = {model: number for number, model in enumerate(self.head.models)}
        far = len(places) + len(models)
        return sorted(
            found.values(), key=lambda one: (places.get(one.case, far), models.get(one.model, far), one.model, one.repeat)
        )

    @property
    def in_flight(self) -> list[Key]:
        """What was begun and has no result: under way when the process that asked it ended."""
        finished = {result.key for result in self.results}
        begun = dict.fromkeys(
            Key(row["case"], row["model"], row["repeat"]) for row in _lines(self.folder / "flight.jsonl", shapes.BEGUN)
        )
        return [key for key in begun if key not in finished]

    @property
    def retrieval(self) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
        """The measures of each case per search mode: {mode: {case: {measure: value}}}; empty when not measured."""
        try:
            value = json.loads((self.folder / "retrieval.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UserError(f"{self.folder / 'retrieval.json'}: cannot be read: {error}", "remove the file") from None
        wrong = shapes.fault_of_searches(value) if isinstance(value, dict) else "want an object"
        if wrong:
            raise UserError(f"{self.folder / 'retrieval.json'}: {wrong}", "remove the file: the searches are measured again")
        found: Mapping[str, Mapping[str, Mapping[str, float]]] = value
        return found

    def begin(self, key: Key) -> None:
        """Note, on the disk, that a question is about to be asked."""
        _append(self.folder / "flight.jsonl", key._asdict())

    def finish(self, result: Result) -> None:
        """Keep a result, on the disk before this returns."""
        _append(self.folder / "results.jsonl", asdict(result))

    def keep_retrieval(self, measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
        """Keep the searches' own measures."""
        path = self.folder / "retrieval.json"
        with writable(path):
            settings.write_private(path, json.dumps(measured, ensure_ascii=False) + "\n")

    def widen(self, head: Head) -> None:
        """Take more models or repeats into the run."""
        self.head = head
        path = self.folder / "run.json"
        with writable(path):
            settings.write_private(path, json.dumps(asdict(head), ensure_ascii=False, indent=1) + "\n")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the run for this process. Raises UserError while another one writes to it."""
        with os.fdopen(os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(
                    f"{self.folder}: another evaluation is writing to this run", "wait for it, or name another --run"
                ) from None
            yield


_HEAD = tuple(one.name for one in fields(Head))
_RESULT = frozenset(one.name for one in fields(Result))


def _result(row: Mapping[str, Any]) -> Result:
    return Result(**{name: value for name, value in row.items() if name in _RESULT})


def _append(path: Path, row: Mapping[str, Any]) -> None:
    """Add a line and wait until it is on the disk. A line that was torn by an earlier end is closed first. Raises UserError."""
    line = settings.redact(json.dumps(row, ensure_ascii=False)).encode("utf-8", "replace") + b"\n"
    with writable(path), os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
            line = b"\n" + line
        file.write(line)
        os.fsync(file.fileno())


@contextmanager
def writable(path: Path) -> Iterator[None]:
    """What is written to a run: the system's refusal, such as a full disk, says of which file it is and how to go on."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written: {error.strerror}", "make room; the same command goes on with the run"
        ) from None


def _lines(path: Path, shape: shapes.Shape) -> Iterator[dict[str, Any]]:
    """The objects of a file that is only added to; a line that was torn when its process was killed counts as not written.

    Raises UserError with the line for one that holds something else.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return
    for number, line in enumerate(text.split(b"\n"), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and {"case", "model", "repeat"} <= row.keys():
            if wrong := shapes.fault(row, shape):
                raise UserError(f"{path}:{number}: {wrong}", "remove the line: its question is asked again")
            yield row
