"""Where runs are kept, and which of them a command line continues: the one of the same cases, library, models and settings."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assistant.errors import UserError
from assistant.evaluation.cases import Case
from assistant.evaluation.runner import Plan, missing
from assistant.evaluation.runs import Head, Run
from search import Library

_SAME = ("library", "cases", "settings")


def folder() -> Path:
    """The folder of runs that nobody named."""
    from platformdirs import user_state_path

    return user_state_path("archivist") / "evaluations"


def head_of(name: str, file: Path | None, cases: Sequence[Case], library: Library | None, **settings: Any) -> Head:
    """What a run of these cases over a library measures; models and repeats are the plan's."""
    told: dict[str, Any] = {}
    if library is not None:
        status = library.status()
        told = {"path": str(status.path), "embedder": status.model}
        told |= {"documents": status.coverage.documents, "passages": status.coverage.passages}
    written = json.dumps([case.given for case in cases], ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
    return Head(
        name=name,
        started=datetime.now().astimezone().isoformat(timespec="seconds"),
        archivist=version("archivist"),
        library=told,
        cases={"file": str(file) if file else None, "digest": digest, "count": len(cases)},
        models=(),
        settings=settings,
    )


def opened(place: Path | None, head: Head, cases: Sequence[Case], plan: Plan) -> Run:
    """The run to go on with, else a new one.

    place: the folder named; without it an unfinished run of the same kind is looked for, the latest first. Raises UserError for a
    folder that holds something else.
    """
    names = tuple(model.name for model in plan.models)
    if place is not None and (place / "run.json").exists():
        return _taken_up(Run.open(place), head, names, plan.repeats)
    if place is not None and place.exists() and not _is_free(place):
        raise UserError(f"--run: {place} holds something else than a run", "name a new folder")
    if place is None:
        for run in _kept():
            alike = not _differences(run.head, head) and run.head.models == names and run.head.repeats == plan.repeats
            if alike and (missing(run, run.cases, plan) or _retrieval_missing(run)):
                return run
        place = _new(head.name)
    try:
        return Run.create(place, replace(head, models=names, repeats=plan.repeats), cases)
    except OSError as error:
        raise UserError(f"{place}: a run cannot be kept there: {error.strerror}", "name a folder of your own: --run DIR") from None


def found(name: str) -> Run:
    """A run by its folder, or by its name among those that are kept. Raises UserError."""
    kept = folder() / name
    return Run.open(kept if "/" not in name and not Path(name).exists() and kept.is_dir() else Path(name))


def _taken_up(run: Run, head: Head, models: Sequence[str], repeats: int) -> Run:
    """A run that is named: it must be of the same cases, library and settings; models and repeats may be added."""
    different = _differences(run.head, head)
    if different:
        raise UserError(f"--run: {run.folder} is a run of other {' and '.join(different)}", "name a new folder, or leave --run out")
    together = tuple(dict.fromkeys((*run.head.models, *models)))
    if together != run.head.models or repeats > run.head.repeats:
        run.widen(replace(run.head, models=together, repeats=max(repeats, run.head.repeats)))
    return run


def _differences(one: Head, other: Head) -> list[str]:
    """In what two runs differ that must be alike."""
    return [name for name in _SAME if _essence(name, getattr(one, name)) != _essence(name, getattr(other, name))]


def _essence(name: str, value: Mapping[str, Any]) -> str:
    kept = {key: each for key, each in value.items() if name != "cases" or key == "digest"}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _is_free(place: Path) -> bool:
    """Whether a folder is empty, or holds no more than a run that was killed before it began."""
    return place.is_dir() and all(
        path.name in {"cases.jsonl", "recordings"} or path.name.startswith((".cases.jsonl-", ".run.json-"))
        for path in place.iterdir()
    )


def _retrieval_missing(run: Run) -> bool:
    return not run.retrieval and any(case.for_retrieval for case in run.cases)


def _kept() -> list[Run]:
    """The runs that are kept, the latest first; folders that hold none are passed over."""
    places = sorted(folder().glob("*/run.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    runs = []
    for path in places:
        try:
            runs.append(Run.open(path.parent))
        except UserError:
            continue
    return runs


def _new(name: str) -> Path:
    stem = re.sub(r"[^\w.-]+", "_", name)[:60] or "run"
    base = folder() / f"{stem}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    place, number = base, 2
    while place.exists():
        place, number = base.with_name(f"{base.name}-{number}"), number + 1
    return place
