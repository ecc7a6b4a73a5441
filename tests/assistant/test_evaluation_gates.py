"""The gates of `make gates`, as the Makefile runs them: they hold, and a planted fault falls at one, which names its cases."""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assistant import cli, recording
from assistant.citations import keys
from search import Library, embedding, filters, hybrid

pytestmark = [pytest.mark.model, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
Fallen = dict[str, set[str]]  # the cases below each gate that fell


def commands() -> dict[str, list[str]]:
    """The arguments of each `archivist evaluate` of `make gates`, by the name of its file of cases."""
    make = ["make", "--dry-run", "--old-file=.venv/installed", "--no-print-directory", "gates"]
    told = subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [shlex.split(line) for line in told.replace("\\\n", " ").splitlines()]
    return {Path(line[2]).stem: line[1:] for line in lines if line[1:2] == ["evaluate"]}


def without(arguments: Sequence[str], unwanted: Callable[[str, str], bool]) -> list[str]:
    """Arguments without the options, with their values, that are not wanted."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument.startswith("-") and argument != "-q":
            value = next(rest)
            kept += [] if unwanted(argument, value) else [argument, value]
        else:
            kept.append(argument)
    return kept


@pytest.fixture
def gate(sample: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs one gate over the sample library; the offline backend, which the searches take a minute for, is left out."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(embedding, "load_embedder", functools.cache(embedding.load_embedder))

    def run(name: str, *more: str) -> tuple[int, Fallen, dict[str, Any]]:
        own = {"--documents", "--library", "--run", "--report"}
        given = without(commands()[name], lambda option, value: option in own or value.startswith("offline"))
        place = tmp_path / f"{name}{len(list(tmp_path.iterdir()))}"
        code = cli.run([*given, "--library", str(sample.path), "--run", str(place), "--json", *more])
        told = json.loads(capsys.readouterr().out)
        return code, dict(map(fallen, told["fallen"])), told

    return run


def fallen(text: str) -> tuple[str, set[str]]:
    """A gate that fell and the cases below it, of its sentence."""
    found = re.fullmatch(r"(.+) is [\d.]+, want [\d.]+; below it (?:is|are) (.+)", text)
    assert found is not None, text
    return found[1], {case.split()[0] for case in found[2].split(", ")}


@pytest.mark.parametrize("name", ["replayed", "assistant"])
def test_the_gates_hold(gate: Any, name: str) -> None:
    code, found, told = gate(name)
    assert (code, found, told["left_out"]) == (0, {}, {})


def test_an_invented_citation_falls_and_its_case_is_named(gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, before = gate("assistant")
    read = recording.read

    def inventing(path: Path) -> recording.Recorded:
        found = read(path)
        if path.stem != "plain-01":
            return found
        *earlier, last = found.replies
        message = replace(last.message, text=f"{last.message.text} It was always so [zq7inv3ntd].")
        return replace(found, replies=(*earlier, replace(last, message=message)))

    monkeypatch.setattr(recording, "read", inventing)
    code, found, told = gate("assistant", "--compare", before["run"])
    assert code == 1
    assert found == {"replay:data/recordings/cases citation_precision": {"plain-01"}}
    changes = [change for change in told["compared"]["changes"] if change["measure"] != "seconds"]
    assert [(change["case"], change["measure"], change["before"], change["worse"]) for change in changes] == [
        ("plain-01", "citation_precision", 1, True)
    ]


def test_an_invention_that_is_marked_no_more_falls(gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    of = keys.Numbering.resolve
    monkeypatch.setattr(keys.Numbering, "resolve", lambda self, written: of(self, written) or next(iter(self.evidence)))
    code, found, _ = gate("replayed")
    assert code == 1
    assert found["replay:data/recordings answer"] == {"invented"}


def unfiltered(*_: Any, **__: Any) -> filters.Clause:
    return filters.Clause("everything", "1 = 1", ())


@pytest.mark.parametrize("broken", ["_any_of", "_tag", "_globs", "_metadata", "_dates"])
def test_a_broken_filter_falls_and_its_cases_are_named(broken: str, gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = filters._dates
    monkeypatch.setattr(filters, broken, unfiltered)
    if broken == "_dates":
        monkeypatch.setattr(filters, "_dates", lambda *given: (found := whole(*given)) and ([], *found[1:]))
    code, found, _ = gate("replayed")
    assert code == 1
    assert "counts" in found["replay:data/recordings numbers_found"]


def test_a_scope_that_does_not_hold_falls_and_its_cases_are_named(gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "_within", lambda *_: None)
    code, found, _ = gate("assistant")
    assert code == 1
    assert "scope-05" in found["replay:data/recordings/cases numbers_found"]


@pytest.mark.parametrize(
    ("way", "weights"),
    [("upside down", {}), ("by meaning alone", {"keyword_weight": 0.0}), ("by words alone", {"vector_weight": 0.0})],
)
def test_a_worse_fusion_falls_and_its_cases_are_named(
    way: str, weights: dict[str, float], gate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, before = gate("assistant")
    fuse = hybrid.fuse

    def worse(*given: Any, **more: Any) -> list[tuple[int, float]]:
        found = fuse(*given, **more | weights)
        return [(passage, -score) for passage, score in found] if way == "upside down" else found

    monkeypatch.setattr(hybrid, "fuse", worse)
    code, found, told = gate("assistant", "--compare", before["run"])
    assert code == 1
    named = found["hybrid ndcg@10"]
    changed = {one["case"] for one in told["compared"]["changes"] if (one["who"], one["measure"]) == ("hybrid", "ndcg@10")}
    assert named & changed
    assert told["compared"]["differences"]["hybrid"]["ndcg@10"]["mean"] < -0.01
    if way != "by words alone":
        assert found["replay:data/recordings/cases citation_precision"] & {"language-01", "scope-01", "plain-01"}
