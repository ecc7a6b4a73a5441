"""The models of a run: how each is reached for one question, whether that costs money, and which recordings stand for one.

`replay:` takes a recording, a folder of them (named after their cases, else found by their questions), or a run's folder, whose
models come one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant import backends, recording
from assistant.backends.base import Backend, Capabilities, Price
from assistant.errors import UsageError, UserError
from assistant.evaluation.cases import Case
from assistant.evaluation.runs import Run
from search import Library

_REPLAYED = Capabilities(price=Price(0.0, 0.0), local=True)


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a run. name: as the run calls it. recordings: by case and repeat, for one that is replayed, else None."""

    name: str
    spec: str
    base_url: str | None = None
    recordings: Mapping[tuple[str, int], Path] | None = field(default=None, repr=False)

    def answers(self, case: str, repeat: int) -> bool:
        """Whether it can be asked: a replayed model has only what was recorded."""
        return self.recordings is None or (case, repeat) in self.recordings

    def backend(self, case: Case, repeat: int, library: Library | None) -> Backend:
        """The backend for one question. Raises UserError."""
        if self.recordings is not None:
            return backends.resolve(f"replay:{self.recordings[case.id, repeat]}")
        return backends.resolve(self.spec, library=library, today=case.today, base_url=self.base_url, stream=False)

    def capabilities(self, library: Library | None) -> Capabilities:
        """What it can do and costs. Raises ProviderError, UserError."""
        if self.recordings is not None:
            return _REPLAYED
        if self.spec == "offline" and library is None:
            raise UserError(
                "offline: it answers from a library, and these cases bring functions of their own instead",
                "name a model that calls functions: -m ollama:NAME",
            )
        backend = backends.resolve(self.spec, library=library, base_url=self.base_url)
        try:
            return backend.capabilities
        finally:
            backend.close()


def chosen(specs: Sequence[str], cases: Sequence[Case], base_url: str | None = None) -> list[Model]:
    """The models of a command line. Raises UsageError for a name that is not understood or stands twice."""
    found: list[Model] = []
    for spec in specs:
        provider, place = backends.split(spec)
        if provider != "replay":
            found.append(Model(spec, spec, base_url if provider == "openrouter" else None))
        elif (Path(place) / "run.json").is_file():
            found += [Model(f"replay:{one.name}", spec, recordings=one.recordings) for one in of_run(Run.open(Path(place)))]
        else:
            found.append(Model(spec, spec, recordings=_recordings(Path(place), cases)))
    if base_url is not None and not any(model.base_url for model in found):
        raise UsageError("--base-url: no model takes it", "use it with -m openrouter:MODEL")
    for model in found:
        if sum(one.name == model.name for one in found) > 1:
            raise UsageError(f"--model: {model.name} stands twice", "--repeat N asks the same model several times")
    return found


def of_run(run: Run) -> list[Model]:
    """The models of a run, replayed from its recordings. Raises UserError when nothing was recorded."""
    models = []
    for name in run.head.models:
        kept = {
            (result.case, result.repeat): run.folder / "recordings" / _bare(result.recording, run)
            for result in run.results
            if result.model == name and result.recording
        }
        if kept:
            models.append(Model(name, f"replay:{run.folder}", recordings=kept))
    if not models:
        raise UserError(f"{run.folder}: holds no recording", "a run keeps one for every question that was answered")
    return models


def _bare(name: str, run: Run) -> str:
    """The name of a recording, which lies in its run's own folder and nowhere else."""
    if Path(name).name != name:
        raise UserError(
            f"{run.folder / 'results.jsonl'}: the recording {name[:80]!r} is not in this run", "use the run as it was made"
        )
    return name


def _recordings(place: Path, cases: Sequence[Case]) -> dict[tuple[str, int], Path]:
    """Which recording answers which case: the one named after it, else one named after none whose first question is its own."""
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    by_stem = {file.stem: file for file in files} if place.is_dir() else {}
    named = {case.id for case in cases} & by_stem.keys()
    by_question = {recording.read(file).question.strip(): file for file in reversed(files) if file.stem not in named}
    found = {}
    for case in cases:
        file = by_stem.get(case.id) or by_question.get((case.turns or (case.question,))[0].strip())
        if file is not None:
            found[case.id, 1] = file
    if not found:
        raise UserError(f"replay: {place} answers none of the cases", "a recording is named after its case, or holds its question")
    return found
