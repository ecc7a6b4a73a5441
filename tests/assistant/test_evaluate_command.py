"""`archivist evaluate`: what is refused, what is shown, what is kept, and scripts/evaluate.py beside it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from evaluating import FILES, Answering, written
from standin import StandIn

from assistant import backends, cli, evaluate_command
from assistant.backends.base import Capabilities, Price
from assistant.evaluation import keeping
from assistant.evaluation.runs import Run
from search import Library, embedding

ROOT = Path(__file__).parents[2]
QUICK = ("-m", "offline", "-n", "2")


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text(written(), "utf-8")
    return path


@pytest.fixture
def run(
    write: Callable[[str, str], Path],
    indexed: Callable[[], Library],
    library_file: Path,
    cases: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command on the small library; its runs are kept below the test's own folder."""
    for path, text in FILES.items():
        write(path, text)
    indexed()
    monkeypatch.setattr(embedding, "load_embedder", lambda *_, **__: StandIn())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(library_file))

    def run_command(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(["evaluate", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run_command


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nowhere.jsonl", "-m", "offline"], 1, "cannot be read as cases"),
        (["CASES", "-m", "offlin"], 2, "want PROVIDER:MODEL"),
        (["CASES", "-m", "offline", "-m", "offline"], 2, "stands twice"),
        (["CASES", "-m", "offline", "--min", "anser=.5"], 2, "did you mean answer?"),
        (["CASES", "-m", "offline", "--min", "ollama:x:answer=.5"], 2, "no model 'ollama:x' is asked"),
        (["CASES", "-m", "offline", "--jobs", "many"], 2, "--jobs: got 'many'"),
        (["CASES", "-m", "offline", "--compare", "nothing"], 1, "holds no run"),
        (["CASES", "-m", "offline", "-o", "x.jsonl"], 2, "--output goes with"),
        (["CASES", "-m", "offline", "--base-url", "http://x/v1"], 2, "no model takes it"),
        (["CASES", "--beir", "."], 2, "give one of FILE"),
        (["--beir", "."], 1, "is no BEIR folder"),
        (["CASES", "-m", "replay:nowhere.jsonl"], 1, "cannot be read as a recording"),
        (["CASES", "-m", "offline", "--max-cost", "0"], 2, "--max-cost"),
    ],
)
def test_what_cannot_be_done_is_refused(run: Any, cases: Path, arguments: list[str], code: int, told: str) -> None:
    given = [str(cases) if argument == "CASES" else argument for argument in arguments]
    got, _, err = run(*given)
    assert told in err
    assert got == code


def test_figures_go_to_standard_output_and_the_rest_to_standard_error(run: Any, cases: Path) -> None:
    code, out, err = run(str(cases), *QUICK)
    assert code == 0
    assert "offline: 2 questions to ask, no cost" in err
    assert "ndcg@10" in out
    assert "answer             1.000 [1.00 1.00]" in out
    (kept,) = [line.removeprefix("run: ") for line in err.splitlines() if line.startswith("run: ")]
    assert len(Run.open(Path(kept)).results) == 2
    assert Path(kept).is_relative_to(keeping.folder())


def test_quiet_leaves_errors_alone(run: Any, cases: Path) -> None:
    assert run(str(cases), *QUICK, "--quiet")[2] == ""


def test_json_has_modes_models_and_what_was_asked(run: Any, cases: Path) -> None:
    told = json.loads(run(str(cases), *QUICK, "--json")[1])
    assert told["set"] == "cases"
    assert set(told["modes"]) == {"keyword", "vector", "hybrid"}
    assert told["models"]["offline"]["answer"].keys() == {"mean", "low", "high", "count"}
    assert (told["asked"], told["queries"], told["fallen"], told["left_out"]) == (2, 2, [], {})


def test_the_searches_alone_ask_no_model(run: Any, cases: Path) -> None:
    told = json.loads(run("--cases", str(cases), "--json", "--min", "hybrid:ndcg@10=.5")[1])
    assert (told["models"], told["asked"], told["queries"]) == ({}, 0, 4)


def test_a_finished_run_is_done_anew_and_a_named_one_shown_again(run: Any, cases: Path, tmp_path: Path) -> None:
    run(str(cases), *QUICK)
    assert json.loads(run(str(cases), *QUICK, "--json")[1])["asked"] == 2
    named = ("--run", str(tmp_path / "run"))
    assert json.loads(run(str(cases), *QUICK, *named, "--json")[1])["asked"] == 2
    again = json.loads(run(str(cases), *QUICK, *named, "--json")[1])
    assert again["asked"] == 0
    assert again["models"]["offline"]["answer"]["count"] == 2


def test_a_run_is_replayed_by_its_folder_or_its_name(run: Any, cases: Path, tmp_path: Path) -> None:
    first = json.loads(run(str(cases), *QUICK, "--json")[1])
    for name in (first["run"], Path(first["run"]).name):
        told = json.loads(run("--replay", name, "--json", "--run", str(tmp_path / Path(name).name / str(len(name))))[1])
        assert told["asked"] == 2
        assert told["models"]["offline"]["answer"] == first["models"]["offline"]["answer"]


def test_cases_without_a_recording_are_named(run: Any, cases: Path, tmp_path: Path) -> None:
    told = json.loads(run(str(cases), *QUICK, "--json")[1])
    code, out, err = run(str(cases), "-m", "offline", "-m", f"replay:{told['run']}", "--json", "--run", str(tmp_path / "both"))
    assert (code, json.loads(out)["asked"]) == (0, 6)
    assert "replay:offline: no recording of 2 cases: policies, keys" in err


def test_the_cost_is_told_before_and_what_the_cap_left_out_ends_with_1(
    run: Any, cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Answering("openrouter:m", known=Capabilities(price=Price(1.0, 2.0)), cost=0.02)
    monkeypatch.setattr(backends, "resolve", lambda *_, **__: own)
    code, _, err = run(str(cases), "-m", "openrouter:m", "--max-cost", "0.05", "--jobs", "1")
    assert code == 1
    assert "openrouter:m: 4 questions to ask, about $0.0" in err
    assert "not all was asked: the cap of $0.05" in err
    assert len(own.asked) < 4


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(run: Any, cases: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, out, err = run(str(cases), *QUICK, "--report", str(tmp_path / "file" / "report.html"), "--run", str(tmp_path / "run"))
    assert (code, out) == (2, "")
    assert "--report: " in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["CASES", *QUICK, "--run", "FILE/run"], "a run cannot be kept there"),
        (["--from-library", "2", "-o", "FILE/cases.jsonl"], "cannot be"),
    ],
)
def test_a_place_that_cannot_be_written_is_told(
    run: Any, cases: Path, tmp_path: Path, library_file: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "file").touch()
    given = [argument.replace("CASES", str(cases)).replace("FILE", str(tmp_path / "file")) for argument in arguments]
    code, _, err = run(*given, "-l", str(library_file))
    assert code == 1
    assert told in err
    assert str(tmp_path / "file") in err


def test_documents_are_indexed_first(run: Any, cases: Path, folder: Path) -> None:
    told = json.loads(run(str(cases), *QUICK, "--documents", str(folder), "--json")[1])
    assert told["models"]["offline"]["answer"]["mean"] == 1
    assert "indexing" in told["seconds"]
    assert list((keeping.folder() / "libraries").glob("notes-*.db"))


def test_ctrl_c_says_how_to_go_on(run: Any, cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate_command._Session, "_told", stop)
    code, _, err = run(str(cases), *QUICK)
    assert code == 130
    assert "the same command goes on with" in err
    monkeypatch.undo()


def test_without_cases_it_says_what_to_give(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate_command, "CHECKOUT", tmp_path)
    code, _, err = run("-m", "offline")
    assert code == 2
    assert "give a file of cases" in err
    assert "--from-library" in err


def test_the_script_is_the_same_command() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "--help"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(script, capture_output=True, text=True, check=True, env=environment)
    assert "--beir" in done.stdout
    assert "--from-library" in done.stdout


def test_nothing_is_indexed_into_the_library_of_the_environment(
    run: Any, cases: Path, tmp_path: Path, library_file: Path, folder: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "new.md").write_text("# New\n\nThe gateway gives up.\n", "utf-8")
    run(str(cases), *QUICK, "--documents", str(tmp_path / "other"))
    with Library.open(library_file, embedder=StandIn()) as library:
        assert library.count_documents() == {"total": len(FILES)}
    run(str(cases), *QUICK, "--documents", str(tmp_path / "other"), "-l", str(tmp_path / "named.db"))
    with Library.open(tmp_path / "named.db", embedder=StandIn()) as library:
        assert library.count_documents() == {"total": 1}


class Longest:
    """Finds the longest texts best."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(len(text)) for text in texts]


def test_a_reranking_model_stands_beside_hybrid_search_with_its_gain_and_its_milliseconds(
    run: Callable[..., tuple[int, str, str]], cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.reranking.load_reranker", lambda name, announce: Longest())
    page = tmp_path / "page.html"
    code, out, _ = run(str(cases), "--retrieval", "--rerank", "any", "--report", str(page))
    assert code == 0
    assert re.search(r"^reranked: ndcg@10 [+-]\d\.\d{3} \[\S+ \S+\] over hybrid, \d+ ms a question against \d+$", out, re.MULTILINE)
    assert "reranked" in page.read_text("utf-8")
    assert "ms a question instead of" in page.read_text("utf-8")
    _, out, _ = run(str(cases), "--retrieval", "--json", "--rerank", "any")
    told = json.loads(out)
    assert list(told["modes"]) == ["keyword", "vector", "hybrid", "reranked"]
    means = {mode: found["ndcg@10"] for mode, found in told["modes"].items()}
    assert told["reranking"]["gain"]["mean"] == pytest.approx(means["reranked"] - means["hybrid"], abs=2e-4)
    assert set(told["reranking"]["milliseconds"]) == {"hybrid", "reranked"}


def test_the_model_that_reads_again_can_have_a_gate(
    run: Callable[..., tuple[int, str, str]], cases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.reranking.load_reranker", lambda name, announce: Longest())
    code, _, err = run(str(cases), "--retrieval", "--rerank", "any", "--min", "reranked:ndcg@10=1")
    assert (code, "reranked ndcg@10 is" in err) == (1, True)
    code, _, err = run(str(cases), "--retrieval", "--min", "reranked:ndcg@10=0")
    assert (code, "reranked ndcg@10 was not measured" in err) == (1, True)


def test_a_reranking_model_goes_with_searches(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, _, err = run("--bfcl", str(tmp_path), "--rerank", "any")
    assert (code, "--rerank measures searches" in err) == (2, True)
