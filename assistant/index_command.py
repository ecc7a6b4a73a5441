"""`archivist index` and `archivist forget`: running the library's upkeep and telling what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant import render
from assistant.errors import UsageError
from search.counting import counted

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from search.changes import Change, Progress, Summary
    from search.embedding import Embedder

_LISTED = 20
_SIGNS = {
    "added": "+",
    "changed": "~",
    "moved": ">",
    "removed": "-",
    "no text": "?",
    "failed": "!",
    "skipped": "!",
    "kept": "!",
}


def run(
    places: Sequence[Path],
    library: Path,
    *,
    embedder: Embedder | str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    max_size: int | None,
    prune: bool,
    dry_run: bool,
    rebuild: bool,
    watch: bool,
    strict: bool,
    verbose: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Index once, or again and again while watching; returns the exit code. embedder: a model, its name, or the usual one."""
    from search import upkeep
    from search.embedding import load_embedder
    from search.weights import DEFAULT_MODEL

    if watch and (dry_run or rebuild):
        raise UsageError("--watch goes neither with --dry-run nor with --rebuild")
    if rebuild and (dry_run or include or exclude or max_size or prune):
        raise UsageError("--rebuild takes folders and --embedder alone", "run archivist index with the other options afterwards")

    def say(text: str) -> None:
        if not quiet:
            render.err().write(render.safe(text))  # asked for each time: a bar stands in for the stream while it is shown

    rules = upkeep.Rules(_globs(include), _globs(exclude), max_size * 1_000_000 if max_size else None)
    telling = _Telling(verbose=verbose, quiet=quiet, as_json=as_json, dry_run=dry_run)
    try:
        named = embedder or DEFAULT_MODEL
        model: Embedder = load_embedder(named, announce=say) if isinstance(named, str) else named
        with telling:
            if rebuild:
                summary = upkeep.rebuild(library, places, model, report=telling.report, say=say)
            else:
                summary = upkeep.index(
                    library, places, model, rules=rules, prune=prune, dry_run=dry_run, report=telling.report, say=say
                )
        telling.finish(summary, library)
        if watch:
            _watch(library, model, telling, say, told=summary.messages)
    except KeyboardInterrupt:
        render.err().write(render.safe(f"interrupted; {_holdings(library, rebuild=rebuild)}"))
        return 130
    return 1 if summary.refused or (strict and summary.failed + summary.kept) else 0


def _globs(given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The globs that replace those kept: None when none were given, an empty one alone (--exclude '') for no globs any more."""
    return () if given == ("",) else given or None


def _holdings(library: Path, *, rebuild: bool) -> str:
    """What is kept of a run that was interrupted, asked of the library itself."""
    from search import Library
    from search.errors import LibraryError

    try:
        with Library.open(library) as opened:
            count = opened.coverage().documents
    except LibraryError:
        return "there is no library yet"  # it is made, with all its tables, before the first document is read
    held = f"the library holds {counted(count, 'document')}"
    return f"{held} as before, nothing of the new one is kept" if rebuild else f"{held}, the next run goes on from there"


def forget(library: Path, what: Path, *, as_json: bool, quiet: bool) -> None:
    """Remove documents from the library and say how many."""
    from search import upkeep

    notes = render.err()
    removed = upkeep.forget(library, what, say=lambda text: None if quiet else notes.write(render.safe(text)))
    if as_json:
        render.out().write(render.as_json({"removed": removed}))
    elif not quiet:
        render.out().write(f"removed {counted(removed, 'document')}; the files stay where they are")


def _watch(library: Path, model: Embedder, telling: _Telling, say: Any, *, told: list[str]) -> None:
    """Index what changes. told: the messages of the last run; they are said again only when they have changed."""
    from search import Library, sources, upkeep

    with Library.open(library) as opened:
        places = [Path(sources.to_os(root.path)) for root in opened.status().roots]
    followed = [place for place in places if place.is_absolute()]  # the others hold texts that a program added
    say(f"watching {', '.join(str(root) for root in followed)}; Ctrl-C ends it")
    first = True
    for changed in sources.watch(followed, besides=[library]):
        places = sorted(changed)
        with telling:
            summary = upkeep.index(library, [] if first else places, model, report=telling.report, say=say)
        first = False
        if telling.counts or summary.messages not in ([], told):
            telling.finish(summary, library)
        told = summary.messages


class _Telling:
    """Tells changes as they come, the first of each kind by name, and shows a bar on a terminal."""

    def __init__(self, *, verbose: bool, quiet: bool, as_json: bool, dry_run: bool) -> None:
        self.counts: Counter[str] = Counter()
        self._verbose = verbose
        self._quiet = quiet
        self._as_json = as_json
        self._dry_run = dry_run
        self._changes: list[dict[str, Any]] = []
        self._standing: dict[str, Change] = {}  # what each run would tell again while watching
        self._out = render.out()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> _Telling:
        self.counts.clear()
        self._changes.clear()
        if render.err().interactive and not self._quiet:
            self._bar = _bar()
            self._task = self._bar.add_task("indexing", total=None)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def report(self, event: Change | Progress) -> None:
        """Take one event of a run."""
        from search.changes import Change

        if isinstance(event, Change):
            self._tell(event)
        elif self._bar is not None and self._task is not None:
            text = f"indexing, {counted(event.embedded, 'passage')} embedded"
            self._bar.update(self._task, completed=event.done, total=event.total, description=text)

    def finish(self, summary: Summary, library: Path) -> None:
        """The closing line, messages, or the JSON object."""
        if self._as_json:
            counts = {key: value for key, value in asdict(summary).items() if key != "messages"}
            whole = {
                "library": str(library),
                "dry_run": self._dry_run,
                **counts,
                "messages": summary.messages,
                "changes": self._changes,
            }
            self._out.write(render.as_json(whole))
            return
        for message in summary.messages:
            render.err().write(f"archivist: {render.safe(message)}")
        if self._quiet:
            return
        for kind, count in self.counts.items():
            if count > _LISTED and not self._verbose:
                self._out.write(f"{_SIGNS[kind]} … {count - _LISTED} more {kind} (-v lists them)")
        would = "would be " if self._dry_run else ""
        parts = [f"{getattr(summary, name)} {would}{name}" for name in ("added", "changed", "moved", "removed")]
        line = ", ".join([*parts, f"{summary.unchanged} unchanged"])
        line += f"; {summary.no_text} new without text" if summary.no_text else ""
        unread = summary.failed + summary.kept
        line += f"; {unread} could not be read" if unread else ""
        line += f"; {counted(summary.tables, 'table')}" if summary.tables else ""
        line += f"; {counted(summary.embedded, 'passage')} embedded in {summary.seconds:.1f} s" if summary.embedded else ""
        self._out.write(line)

    def _tell(self, change: Change) -> None:
        if self._standing.get(change.path) == change:
            return
        self._standing.pop(change.path, None)
        if _SIGNS[change.kind] == "!":
            self._standing[change.path] = change
        self.counts[change.kind] += 1
        if self._as_json:
            told = {"remarks": list(change.remarks)} if change.remarks else {}
            self._changes.append({"kind": change.kind, "path": change.path, "reason": change.reason, **told})
        elif not self._quiet and (self._verbose or self.counts[change.kind] <= _LISTED):
            kept = change.tables > 0 and not self._dry_run
            for line in _lines(change, verbose=self._verbose, others="archivist tables shows" if kept else "-v lists"):
                if self._bar is not None and self._out.interactive:
                    self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
                else:
                    self._out.write(line)


def _lines(change: Change, *, verbose: bool, others: str) -> list[str]:
    """What is told of a change: one line with the first remark and what has the others, or one for each of them below it."""
    head, remarks = f"{_SIGNS[change.kind]} {render.one_line(change.path)}", list(map(render.one_line, change.remarks))
    reason = render.one_line(change.reason)
    if change.kind == "moved":
        head += f" (was {reason})"
    elif verbose:
        head += f": {reason}" if reason else ""
        return [head, *(f"    {remark}" for remark in remarks)]
    else:
        rest = len(remarks) - 1
        more = [f"{counted(rest, 'more remark')} ({others} {'it' if rest == 1 else 'them'})"] if rest > 0 else []
        said = "; ".join([*filter(None, [reason]), *remarks[:1], *more])
        head += f": {said}" if said else ""
    return [head]


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
