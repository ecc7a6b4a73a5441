"""`archivist evaluate`: does it work on these documents, with this model, and did a change make it better?

Figures and JSON go to standard output; what is asked, what it costs and what fell goes to standard error.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import assistant
from assistant import backends, options, render, settings
from assistant.errors import UsageError
from assistant.evaluation import comparing, figures, gates, keeping, models, proposing, summary
from assistant.evaluation.asking import LibraryQuestions, Questions
from assistant.evaluation.cases import Case, read_cases
from assistant.evaluation.runner import Finish, Plan, Runner
from assistant.evaluation.runs import Result, Run
from assistant.loop import Limits
from search import Library, dates
from search.connections import make_folder
from search.counting import counted
from search.evaluation import MEASURES as RETRIEVAL
from search.evaluation import RERANKED

if TYPE_CHECKING:
    from search.embedding import Embedder
    from search.reranking import Reranker

CHECKOUT = Path(assistant.__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure, how, and against what.

    library: as named on the command line; documents and BEIR folders are indexed into that one alone. The one that the environment
    or the settings name is only read.
    """

    file: Path | None = None
    models: tuple[str, ...] = ()
    base_url: str | None = None
    library: Path | None = None
    documents: Path | None = None
    embedder: str | None = None
    repeats: int = 1
    first: int | None = None
    jobs: Mapping[str, int] = field(default_factory=dict)
    max_cost: float | None = None
    limits: Limits = field(default_factory=lambda: Limits(seconds=600))
    run: Path | None = None
    replay: str | None = None
    retry: bool = False
    gates: tuple[gates.Gate, ...] = ()
    compare: str | None = None
    report: Path | None = None
    retrieval_only: bool = False
    rerank: str | None = None
    beir: Path | None = None
    bfcl: Path | None = None
    nl2sql: Path | None = None
    today: date | None = None
    as_json: bool = False
    quiet: bool = False


def evaluate(given: Options) -> int:
    """Measure, show, compare, and return the exit code: 1 when a gate fell or questions were left out. Raises UserError."""
    with _Session(given) as session:
        return session.evaluate()


def add(output: Path | None) -> None:
    """Make a case of the last turn of `ask`: added to a file, else printed."""
    from assistant import ask_command

    give([proposing.from_turn(ask_command.last_turn())], output)


def propose(given: Options, count: int, output: Path | None) -> None:
    """Propose cases from the library's own documents: added to a file, else printed."""
    file = options.library_path(given.library)
    with Library.open(file, embedder=given.embedder) as library:
        give(proposing.from_library(library, count, given.today), output)


def give(rows: Sequence[Mapping[str, Any]], output: Path | None) -> None:
    """Add cases to a file, or print them."""
    if output is None:
        for row in rows:
            render.out().write(render.as_json(row))
        return
    added = proposing.write(rows, output)
    told = [f"{counted(added, 'case')} added; edit what is expected before you rely on it"] if added else []
    told += [f"{counted(len(rows) - added, 'case')} there already"] if added < len(rows) else []
    render.err().write(render.one_line(f"{output}: {', '.join(told)}"))


def jobs_from(given: Sequence[str]) -> dict[str, int]:
    """How many questions at a time: "4" for every model, "ollama:qwen3:8b=2" for one. Raises UsageError."""
    found = {}
    for text in given:
        model, _, number = text.rpartition("=")
        if not number.isascii() or not number.isdigit() or not 1 <= int(number) <= 64:
            raise UsageError(f"--jobs: got {text!r}, want a number from 1 to 64, or MODEL=NUMBER", "for example --jobs 2")
        found[model] = int(number)
    return found


class _Session:
    """One command: what it opens is closed at its end."""

    def __init__(self, given: Options) -> None:
        self._given = given
        self._open = ExitStack()
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._seconds: dict[str, float] = {}

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def evaluate(self) -> int:
        given = self._given
        if sum(place is not None for place in (given.file, given.beir, given.bfcl, given.nl2sql)) > 1:
            raise UsageError("give one of FILE, --beir, --bfcl and --nl2sql")
        if given.rerank and (given.bfcl or given.nl2sql):
            raise UsageError("--rerank measures searches: give FILE or --beir, not --bfcl or --nl2sql")
        if given.report is not None:
            _check_writable(given.report)
        earlier = keeping.found(given.compare) if given.compare else None
        self._reranker = self._found_reranker()  # before anything is indexed or asked: it may be missing
        run, finish, runner = self._beir(given.beir) if given.beir else self._asked()
        return self._shown(run, finish, runner, earlier)

    # What is asked

    def _asked(self) -> tuple[Run, Finish | None, Runner | None]:
        given = self._given
        replayed = keeping.found(given.replay) if given.replay else None
        name, file, cases = self._cases(replayed)
        today = given.today or dates.today()
        if replayed is not None and not any(case.today for case in cases):
            today = date.fromisoformat(replayed.head.settings.get("today") or today.isoformat())
        questions, library = self._questions(cases, file, today)
        asked_day = None if all(case.today for case in cases) else today.isoformat()
        chosen = self._models(questions.cases, replayed)
        gates.check_names(given.gates, [model.name for model in chosen])
        repeats = replayed.head.repeats if replayed else given.repeats
        plan = Plan(chosen, repeats, given.jobs, given.max_cost, given.limits, given.retry)
        kept = {"replays": replayed.head.name} if replayed else {}
        limits = {name: value for name, value in asdict(given.limits).items() if value is not None}
        head = keeping.head_of(name, file, questions.cases, library, today=asked_day, limits=limits, **kept, **self._reranked())
        run = keeping.opened(given.run, head, questions.cases, plan)
        runner = Runner(run, plan, questions, self._told)
        if library is not None:
            self._measure_searches(run, library, questions.cases)
        return run, self._ran(run, runner, chosen) if chosen else None, runner

    def _cases(self, replayed: Run | None) -> tuple[str, Path | None, list[Case]]:
        """Name, file and cases of what is asked of a library; those of other sets bring their own."""
        given = self._given
        if given.bfcl or given.nl2sql:
            place = given.bfcl or given.nl2sql
            assert place is not None
            return place.stem, None, []
        if given.file is None and replayed is not None:
            cases = list(replayed.cases)
            return replayed.head.name, None, cases[: given.first]
        file = given.file or default_file()
        return file.stem, file, read_cases(file)[: given.first]

    def _questions(self, cases: list[Case], file: Path | None, today: date) -> tuple[Questions, Library | None]:
        given = self._given
        if given.bfcl:
            from assistant.evaluation.outside.bfcl import FunctionCalls

            return FunctionCalls(given.bfcl, given.first), None
        if given.nl2sql:
            from assistant.evaluation.outside.nl2sql import Databases

            databases = Databases(given.nl2sql, self._database, today, given.first, local_only=settings.load().local_only)
            self._open.callback(databases.close)
            return databases, None
        library = self._open.enter_context(Library.open(self._library(file), embedder=self._model()))
        return LibraryQuestions(library, cases, today, local_only=settings.load().local_only), library

    def _library(self, file: Path | None) -> Path:
        """The library file: named, else made of the documents that are named or, for a checkout's own cases, lie beside them."""
        given = self._given
        documents = given.documents
        if (
            documents is None
            and given.library is None
            and file is not None
            and file.resolve().parent == CHECKOUT / "data" / "evals"
        ):
            documents = CHECKOUT / "data" / "library"
        if documents is None:
            return options.library_path(given.library)
        return self._indexed(documents, given.library)

    def _indexed(self, documents: Path, library: Path | None = None) -> Path:
        """A library of a folder or a file: brought in step, and kept for the next time."""
        from search import upkeep

        model = self._model()
        name = hashlib.sha256(f"{documents.resolve()}\0{model.identity}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        place = library or keeping.folder() / "libraries" / f"{documents.stem}-{name}.db"
        with self._timed("indexing", f"{documents.name}: indexing …"):
            make_folder(place.parent)
            upkeep.index(place, [documents], model)
        return place

    def _database(self, file: Path) -> Library:
        return Library.open(self._indexed(file), embedder=self._model())

    def _models(self, cases: Sequence[Case], replayed: Run | None) -> list[models.Model]:
        given = self._given
        if given.retrieval_only:
            return []
        if replayed is not None:
            if given.models:
                raise UsageError("--replay asks the models of its run: give no --model")
            return models.of_run(replayed)
        specs = given.models
        if not specs:
            choice = backends.choose(None)
            self._say(f"model: {choice.spec} ({choice.why})")
            specs = (choice.spec,)
        return models.chosen(specs, cases, given.base_url)

    def _ran(self, run: Run, runner: Runner, chosen: Sequence[models.Model]) -> Finish:
        again = [key for key in runner.repeated if key.model in {one.model for one in runner.estimates}]
        if again:
            named = "; ".join(f"{key.case} {key.model} {key.repeat}" for key in again)
            self._say(f"under way when this run was stopped, asked again: {named}")
        width = render.err().width
        told = summary.of_unrecorded(chosen, run.cases, width)
        told += summary.of_estimates(runner.estimates, width) if runner.waiting else []
        for line in told:
            self._say(line)
        try:
            with self._timed("asking"):
                return runner.run()
        except KeyboardInterrupt:
            self._say(f"stopped; the same command goes on with {run.folder}")
            raise

    def _told(self, result: Result, done: int, of_all: int) -> None:
        terminal = render.err()
        if self._given.quiet or not terminal.interactive:
            return
        line = render.one_line(f"{done}/{of_all} {result.model} {result.case}")[: terminal.width - 1]
        terminal.stream.write(f"\r{line}\x1b[K" + ("\n" if done == of_all else ""))
        terminal.stream.flush()

    # What the searches find

    def _measure_searches(self, run: Run, library: Library, cases: Sequence[Case]) -> None:
        judged = [each for each in (case.for_retrieval for case in cases) if each is not None]
        if judged and not run.retrieval:
            self._search(run, library.path, judged)

    def _search(self, run: Run, library: Path, judged: Sequence[Any]) -> None:
        from search.evaluation import CURVES
        from search.evaluation import evaluate as measure

        def begins(mode: str) -> None:
            self._say(f"{run.head.name}: {mode} search, {counted(len(judged), 'question')} …")

        with self._timed("searching"):
            found = measure(library, judged, self._model(), measures=CURVES, begins=begins, reranker=self._reranker)
        run.keep_retrieval({mode: {case.id: row for case, row in zip(judged, rows, strict=True)} for mode, rows in found.items()})

    def _beir(self, place: Path) -> tuple[Run, None, None]:
        """A BEIR folder: search alone is measured. Without --run nothing of it is kept."""
        from search.evaluation import index_corpus, read_corpus

        given = self._given
        corpus = read_corpus(place)
        scratch = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        file = given.library or scratch / "library.db"
        with self._timed("indexing", f"{corpus.name}: indexing …"):
            index_corpus(corpus, file, self._model())
        judged = corpus.cases[: given.first]
        cases = [Case(one.id, one.query, given={"id": one.id, "question": one.query}) for one in judged]
        with Library.open(file, embedder=self._model()) as library:
            head = keeping.head_of(corpus.name, None, cases, library, beir=corpus.name, **self._reranked())
        run = keeping.opened(given.run or scratch / "run", head, cases, Plan(()))
        if not run.retrieval:
            self._search(run, file, judged)
        return run, None, None

    # What is shown

    def _shown(self, run: Run, finish: Finish | None, runner: Runner | None, earlier: Run | None) -> int:
        given = self._given
        fallen = gates.fallen(given.gates, run)
        kept = given.beir is None or given.run is not None
        comparison = comparing.compare(earlier, run) if earlier else None
        if given.as_json:
            told = _as_object(run, finish, runner) | {"seconds": self._seconds, "fallen": fallen}
            told["run"] = str(run.folder) if kept else None
            told |= {"compared": _compared(comparison)} if comparison else {}
            render.out().write(settings.redact(render.as_json(told)))
        else:
            terminal = render.out()
            width = min(summary.WIDTH, terminal.width)
            lines = summary.of_run(run, width)
            lines += ["", *summary.of_comparison(comparison, earlier.folder.name, width)] if comparison and earlier else []
            for line in lines:
                terminal.write(settings.redact(line))
        left_out = dict(finish.left_out) if finish else {}
        for model, why in left_out.items():
            render.err().write(render.one_line(settings.redact(f"{model}: not all was asked: {why}")))
        if kept:
            self._say(f"run: {run.folder}")
        if given.report is not None:
            from assistant.evaluation import report

            report.write(run, given.report, earlier, fallen=fallen if given.gates else None)
            self._say(f"report: {given.report}")
        for text in fallen:
            render.err().write(render.one_line(f"{run.head.name}: {text}"))
        return 1 if fallen or left_out else 0

    def _model(self) -> Embedder:
        from search.embedding import load_embedder
        from search.weights import DEFAULT_MODEL

        if self._embedder is None:
            self._embedder = load_embedder(self._given.embedder or DEFAULT_MODEL, announce=self._say)
        return self._embedder

    def _reranked(self) -> dict[str, str]:
        """What a run notes of the model that reads hits again."""
        return {"rerank": self._given.rerank} if self._given.rerank else {}

    def _found_reranker(self) -> Reranker | None:
        from search.reranking import load_reranker

        return load_reranker(self._given.rerank, announce=self._say) if self._given.rerank else None

    def _say(self, text: str) -> None:
        if not self._given.quiet:
            render.err().write(render.one_line(settings.redact(text)))

    @contextmanager
    def _timed(self, what: str, text: str = "") -> Iterator[None]:
        if text:
            self._say(text)
        started = time.monotonic()
        yield
        self._seconds[what] = round(self._seconds.get(what, 0.0) + time.monotonic() - started, 1)


def _check_writable(report: Path) -> None:
    """Raise UsageError, before anything is asked and paid for, where a report cannot be written."""
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
        may = os.access(report.parent, os.W_OK | os.X_OK)
    except OSError as error:
        raise UsageError(f"--report: {report}: {error.strerror}", "name another file") from None
    if not may:
        raise UsageError(f"--report: {report.parent} is not yours to write to", "name another file")


def default_file() -> Path:
    """The cases of a checkout. Raises UsageError where there is none."""
    file = CHECKOUT / "data" / "evals" / "assistant.jsonl"
    if not file.is_file():
        raise UsageError("give a file of cases", "archivist evaluate --from-library 20 -o cases.jsonl proposes some")
    return file


def _as_object(run: Run, finish: Finish | None, runner: Runner | None) -> dict[str, Any]:
    """A run as JSON shows it: means of the searches to four digits, measures of the models with their intervals."""
    searches = figures.of_retrieval(run)
    return {
        "set": run.head.name,
        "modes": {
            mode: {name: round(found[name].mean, 4) for name in RETRIEVAL if name in found} for mode, found in searches.items()
        },
        **_reranking(figures.of_reranking(run)),
        "queries": max((len(rows) for rows in run.retrieval.values()), default=0),
        "models": {
            model: {name: {key: _rounded(value) for key, value in asdict(one).items()} for name, one in found.items()}
            for model, found in figures.of_models(run).items()
        },
        "asked": finish.asked if finish else 0,
        "asked_again": [key._asdict() for key in runner.repeated] if runner else [],
        "spent": round(finish.spent, 6) if finish else 0.0,
        "left_out": dict(finish.left_out) if finish else {},
    }


def _reranking(found: figures.Reranking | None) -> dict[str, Any]:
    """Nothing where it was not measured."""
    if found is None:
        return {}
    gain = {key: _rounded(value) for key, value in asdict(found.gain).items()}
    milliseconds = {"hybrid": round(found.before, 2), RERANKED: round(found.after, 2)}
    return {"reranking": {"measure": found.measure, "gain": gain, "milliseconds": milliseconds}}


def _compared(found: comparing.Comparison) -> dict[str, Any]:
    return {
        "differences": {
            who: {name: {key: _rounded(value) for key, value in asdict(one).items()} for name, one in each.items()}
            for who, each in found.differences.items()
        },
        "changes": [asdict(change) | {"worse": change.worse} for change in found.changes],
        "alone": list(found.alone),
    }


def _rounded(value: float) -> float:
    return round(value, 6) if isinstance(value, float) else value
