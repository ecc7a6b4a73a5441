"""What makes things worse falls at a gate and is shown case by case: an invented citation, a broken filter, a worse fusion."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluating import FILES, Answering, model, read, run_in, written
from standin import StandIn

from assistant import cli
from assistant.errors import UsageError
from assistant.evaluation import comparing, gates, summary
from assistant.evaluation.runs import Head, Run
from search import Library, embedding, filters, hybrid


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path, text in FILES.items():
        write(path, text)
    return indexed()


@pytest.fixture
def evaluate(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command over the small library."""
    monkeypatch.setattr(embedding, "load_embedder", lambda *_, **__: StandIn())
    cases = tmp_path / "cases.jsonl"
    cases.write_text(written(), "utf-8")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(["evaluate", str(cases), "-l", str(library.path), *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_an_invented_citation_falls_and_is_shown(library: Library, tmp_path: Path) -> None:
    honest, _, _ = run_in(tmp_path / "before", library, model(Answering()))
    inventing = Answering(cite=lambda key: f"{key}] and [inventedky")
    worse, _, _ = run_in(tmp_path / "after", library, model(inventing))
    gate = gates.read_gate("citation_precision=.7")
    assert gates.fallen([gate], honest) == []
    (told,) = gates.fallen([gate], worse)
    assert told == "cloud:test citation_precision is 0.375, want 0.7; below it are policies, gateway 0.500, keys 0.500, queue 0.500"
    found = comparing.compare(honest, worse)
    assert {change.case for change in found.changes if change.measure == "citation_precision" and change.worse} == {
        *("gateway", "queue", "keys"),  # the fourth has no right citation before
    }
    assert found.differences["cloud:test"]["citation_precision"].certain
    shown = summary.of_comparison(found, "before")
    assert any("gateway" in line and "citation_precision 1.000 -> 0.500" in line for line in shown)


@pytest.mark.parametrize("way", ["a broken filter", "a worse fusion"])
def test_a_worse_search_falls_and_is_shown_case_by_case(
    way: str, evaluate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = ("-m", "offline", "--min", "ndcg@10=.99")
    assert evaluate(*gate, "--run", str(tmp_path / "before"))[0] == 0
    if way == "a broken filter":
        monkeypatch.setattr(filters, "_any_of", lambda name, values: filters.Clause(name, "1 = 1", ()))
        fallen = {"policies"}
    else:
        fuse = hybrid.fuse
        monkeypatch.setattr(hybrid, "fuse", lambda *given, **more: [(found, -score) for found, score in fuse(*given, **more)])
        fallen = {"gateway", "queue", "keys"}
    code, out, err = evaluate(*gate, "--run", str(tmp_path / "after"), "--compare", str(tmp_path / "before"), "--json")
    told = json.loads(out)
    assert code == 1
    assert "cases: hybrid ndcg@10 is" in err
    assert [text.partition(" 0.")[0] for text in told["fallen"]] == ["hybrid ndcg@10 is"]
    assert fallen <= set(re.findall(r"\w+", told["fallen"][0].partition("below it")[2]))
    worse = [change for change in told["compared"]["changes"] if change["worse"]]
    assert fallen <= {change["case"] for change in worse if (change["who"], change["measure"]) == ("hybrid", "ndcg@10")}
    assert fallen & {change["case"] for change in worse if change["who"] == "offline" and change["measure"] != "seconds"}
    assert told["compared"]["differences"]["hybrid"]["ndcg@10"]["mean"] < 0


def test_the_same_again_shows_no_difference(evaluate: Any, tmp_path: Path) -> None:
    evaluate("-m", "offline", "--run", str(tmp_path / "before"))
    _, out, _ = evaluate("-m", "offline", "--run", str(tmp_path / "after"), "--compare", str(tmp_path / "before"), "--json")
    compared = json.loads(out)["compared"]
    assert [change for change in compared["changes"] if change["measure"] != "seconds"] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tool_choise=.9", "did you mean tool_choice?"),
        ("answer", "want [MODEL:]MEASURE=VALUE"),
        ("answer=high", "want a value from 0 to 1"),
        ("answer=1.1", "want a value from 0 to 1"),
        ("seconds=3", "better when it is lower"),
        ("keyword:answer=.5", "want a model before"),
        ("offline:map=.5", "want a search mode"),
    ],
)
def test_a_gate_that_is_not_understood_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        gates.read_gate(text)
    assert told in str(error.value)


def test_a_gate_of_a_model_with_colons_and_one_of_nothing_measured(tmp_path: Path) -> None:
    gate = gates.read_gate("ollama:qwen3:8b:tool_choice=.9")
    assert (gate.where, gate.measure, gate.least) == ("ollama:qwen3:8b", "tool_choice", 0.9)
    head = Head("x", "2026-10-15", "1", {}, {}, ("ollama:qwen3:8b",))
    run = Run.create(tmp_path / "run", head, read())
    assert gates.fallen([gate], run) == ["ollama:qwen3:8b tool_choice was not measured, want 0.9"]
    assert gates.fallen([gates.read_gate("map=.5")], run) == ["hybrid map was not measured, want 0.5"]
    with pytest.raises(UsageError, match="no model"):
        gates.check_names([gate], ["offline"])


def test_what_is_shown_fits_80_columns(library: Library, tmp_path: Path) -> None:
    names = ["ollama:a-very-long-name-of-a-model:70b-instruct-q4", "two:m", "three:m", "four:m"]
    run, _, _ = run_in(tmp_path / "run", library, *(model(Answering(name, cite=lambda _: "zzzzzzzzzz")) for name in names))
    lines = [*summary.of_run(run), *summary.of_comparison(comparing.compare(run, run), "itself")]
    assert max(map(len, lines)) <= 80
    assert any("not right: 16 questions" in line for line in lines)
