"""Runs: several models side by side, within limits of number and money, recorded, resumed, replayed."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluating import CASES, FILES, Answering, model, read, run_in

from assistant.backends.base import Capabilities, Price
from assistant.errors import ConnectionFailedError, KeyMissingError, UserError
from assistant.evaluation import models
from assistant.evaluation.runs import Key, Result, Run
from search import Library

CLOUD = Capabilities(price=Price(1.0, 2.0))


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    for path, text in FILES.items():
        write(path, text)
    return indexed()


def test_every_model_answers_every_case_as_often_as_asked(library: Library, tmp_path: Path) -> None:
    one, two = Answering("one:m"), Answering("two:m", cite=lambda _: "zzzzzzzzzz")
    run, finish, _ = run_in(tmp_path / "run", library, model(one), model(two), repeats=2)
    assert finish.asked == 16
    assert [result.key for result in run.results][:3] == [
        Key("gateway", "one:m", 1),
        Key("gateway", "one:m", 2),
        Key("gateway", "two:m", 1),
    ]
    assert {result.scores["answer"] for result in run.results if result.model == "one:m"} >= {1.0}
    assert {result.scores["citation_precision"] for result in run.results if result.model == "two:m"} == {0.0}


def test_a_result_holds_what_a_report_needs(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    (result,) = [one for one in Run.open(run.folder).results if one.case == "gateway"]
    assert result.kind == "plain"
    assert result.calls[0].keys() == {"name", "arguments", "ok", "error", "summary", "seconds", "repeated"}
    assert result.citations[0]["source"].startswith("runbooks/gateway.md")
    assert (result.steps, result.input_tokens, result.output_tokens) == (2, 20, 10)
    assert result.expected == {"documents": ["runbooks/gateway.md"]}
    assert (run.folder / "recordings" / str(result.recording)).is_file()


def test_a_run_is_private(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    assert stat.S_IMODE(run.folder.stat().st_mode) == 0o700
    files = [path for path in run.folder.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_what_is_finished_is_not_asked_again(library: Library, tmp_path: Path) -> None:
    run_in(tmp_path / "run", library, model(Answering()))
    again = Answering()
    _, finish, runner = run_in(tmp_path / "run", library, model(again))
    assert (finish.asked, again.asked, runner.repeated) == (0, [], [])
    other = Answering("other:m")
    run, finish, _ = run_in(tmp_path / "run", library, model(other))
    assert finish.asked == 4
    assert run.head.models == ("cloud:test", "other:m")


def test_what_was_under_way_is_asked_again_and_named_even_after_a_torn_line(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    path = run.folder / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-30])  # the last result was being written
    again = Answering()
    _, finish, runner = run_in(tmp_path / "run", library, model(again))
    assert runner.repeated == [Key("keys", "cloud:test", 1)]
    assert again.asked == ["how often are the signing keys rotated?"]
    assert (finish.asked, len(Run.open(run.folder).results)) == (1, 4)


def test_other_cases_are_no_continuation(library: Library, tmp_path: Path) -> None:
    run_in(tmp_path / "run", library, model(Answering()))
    with pytest.raises(UserError, match="a run of other cases"):
        run_in(tmp_path / "run", library, model(Answering()), cases=read()[:2])


def test_a_folder_of_something_else_is_left_alone(library: Library, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("a", "utf-8")
    with pytest.raises(UserError, match="something else than a run"):
        run_in(tmp_path / "letters", library, model(Answering()))


def test_a_run_that_was_killed_before_it_began_is_begun_again(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    for path in run.folder.iterdir():
        if path.name not in {"cases.jsonl", "recordings"}:
            path.unlink()
    (run.folder / ".run.json-abc").write_text("{", "utf-8")
    assert run_in(tmp_path / "run", library, model(Answering()))[1].asked == 4


def test_two_processes_do_not_write_to_one_run(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    with run.writing(), pytest.raises(UserError, match="another evaluation"):
        run_in(tmp_path / "run", library, model(Answering("other:m")))


@pytest.mark.parametrize(
    ("known", "jobs", "most"), [(None, {}, 1), (CLOUD, {}, 4), (CLOUD, {"": 2}, 2), (None, {"cloud:test": 3}, 3)]
)
def test_a_model_has_as_many_questions_at_a_time_as_it_may(
    library: Library, tmp_path: Path, known: Capabilities | None, jobs: dict[str, int], most: int
) -> None:
    own = Answering(known=known, delay=0.1)
    run_in(tmp_path / "run", library, model(own), jobs=jobs)
    assert own.most_at_once == most


def test_a_cap_is_kept_and_what_was_left_out_is_told(library: Library, tmp_path: Path) -> None:
    own = Answering(known=CLOUD, cost=0.02)  # two steps a question: $0.04
    _, finish, runner = run_in(tmp_path / "run", library, model(own), max_cost=0.1, jobs={"": 1})
    assert (len(own.asked), finish.spent) == (2, pytest.approx(0.08))
    assert "the cap of $0.1" in finish.left_out["cloud:test"]
    assert 0 < runner.estimates[0].each < 0.1  # type: ignore[operator]
    _, more, _ = run_in(tmp_path / "run", library, model(Answering(known=CLOUD, cost=0.02)), max_cost=1.0)
    assert (more.left_out, more.spent) == ({}, pytest.approx(0.16))


def test_a_cap_that_cannot_be_kept_is_refused_before_anything_is_asked(library: Library, tmp_path: Path) -> None:
    own = Answering(known=Capabilities(price=None))
    with pytest.raises(UserError, match="price of cloud:test is not known"):
        run_in(tmp_path / "run", library, model(own), max_cost=1.0)
    assert own.asked == []


def test_a_failure_is_a_result_and_three_in_a_row_end_a_model(library: Library, tmp_path: Path) -> None:
    down = Answering("down:m", error=ConnectionFailedError("no answer", provider="down", hint="start it"))
    run, finish, _ = run_in(tmp_path / "run", library, model(down), model(Answering()))
    failed = [result for result in run.results if result.model == "down:m"]
    assert [result.failed for result in failed] == ["no answer start it"] * 3
    assert failed[0].scores["answer"] == 0
    assert "3 failures in a row" in finish.left_out["down:m"]
    assert len(run.results) == 7
    _, finish, _ = run_in(tmp_path / "run", library, model(Answering("down:m")), retry=True)
    assert finish.asked == 4


def test_a_missing_key_stops_its_model_and_no_other(library: Library, tmp_path: Path) -> None:
    keyless = Answering("keyless:m", error=KeyMissingError("no key is set", "archivist keys set keyless"))
    run, finish, _ = run_in(tmp_path / "run", library, model(keyless), model(Answering()))
    assert "no key is set" in finish.left_out["keyless:m"]
    assert {result.model for result in run.results} == {"cloud:test"}


def test_a_recorded_run_is_replayed_without_its_model(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()), repeats=2)
    replayed, finish, _ = run_in(tmp_path / "again", library, *models.of_run(run), repeats=2)
    assert finish.asked == 8
    told = [(one.key, one.answer, one.scores["answer"], one.calls[0]["arguments"]) for one in run.results]
    assert [(one.key, one.answer, one.scores["answer"], one.calls[0]["arguments"]) for one in replayed.results] == told
    assert {notice for one in replayed.results for notice in one.notices} == set()


def test_earlier_questions_are_asked_first_and_replayed_too(library: Library, tmp_path: Path) -> None:
    cases = read([{"id": "two", "question": "and the queue?", "turns": ["when does the gateway give up?"], "expect": {}}])
    own = Answering()
    run, _, _ = run_in(tmp_path / "run", library, model(own), cases=cases)
    assert own.asked == ["when does the gateway give up?", "and the queue?"]
    assert run.results[0].steps == 4
    replayed, _, _ = run_in(tmp_path / "again", library, *models.of_run(run), cases=cases)
    assert replayed.results[0].answer == run.results[0].answer


def test_recordings_of_a_folder_are_found_by_case_or_by_question(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    files = {one.case: run.folder / "recordings" / str(one.recording) for one in run.results}
    (recordings / "gateway.jsonl").write_bytes(files["gateway"].read_bytes())
    (recordings / "any name.jsonl").write_bytes(files["queue"].read_bytes())
    (found,) = models.chosen([f"replay:{recordings}"], read())
    assert {case for case, _ in found.recordings or {}} == {"gateway", "queue"}
    same = read([*CASES, {"id": "scoped", "question": CASES[0]["question"], "scope": {"category": "policies"}}])
    (found,) = models.chosen([f"replay:{recordings}"], same)
    assert {case for case, _ in found.recordings or {}} == {"gateway", "queue"}, "a recording of one case is not another's"
    assert [one.name for one in models.chosen([f"replay:{run.folder}"], read())] == ["replay:cloud:test"]
    with pytest.raises(UserError, match="answers none of the cases"):
        models.chosen([f"replay:{files['keys']}"], read()[:1])


def test_no_key_gets_into_a_run(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-secret-12345678")
    leaking = Answering(cite=lambda key: f"{key}] sk-or-secret-12345678 [{key}")
    run, _, _ = run_in(tmp_path / "run", library, model(leaking))
    assert all(b"sk-or-secret" not in path.read_bytes() for path in run.folder.rglob("*") if path.is_file())


def test_a_later_version_and_a_folder_without_a_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        Run.open(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"version": 99}), "utf-8")
    with pytest.raises(UserError, match="later version"):
        Run.open(tmp_path)


def everything_of(folder: Path) -> object:
    run = Run.open(folder)
    return run.results, run.in_flight, run.retrieval


@pytest.mark.parametrize(
    ("file", "field", "value"),
    [
        ("run.json", "library", []),
        ("run.json", "models", ["a", 5]),
        ("run.json", "repeats", "many"),
        ("run.json", "settings", 3),
        ("results.jsonl", "scores", {"answer": "yes"}),
        ("results.jsonl", "calls", [{"name": 3}]),
        ("results.jsonl", "seconds", None),
        ("results.jsonl", "repeat", 1.5),
        ("results.jsonl", "citations", {"key": "x"}),
        ("flight.jsonl", "model", None),
        ("retrieval.json", "hybrid", {"gateway": 5}),
    ],
)
def test_a_run_that_was_edited_into_nonsense_is_refused_with_its_file_and_field(
    library: Library, tmp_path: Path, file: str, field: str, value: Any
) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    run.keep_retrieval({"hybrid": {"gateway": {"map": 1.0}}})
    path = run.folder / file
    first, *others = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
    path.write_text("\n".join([json.dumps({**json.loads(first), field: value}), *others]), "utf-8")
    with pytest.raises(UserError) as error:
        everything_of(run.folder)
    assert str(path) in str(error.value)
    assert f'"{field}": want ' in str(error.value)


def test_a_recording_outside_its_run_is_not_read(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    run.finish(replace(run.results[0], recording="../../elsewhere.jsonl"))
    with pytest.raises(UserError, match="is not in this run"):
        models.of_run(run)


def test_the_last_line_of_a_question_counts(library: Library, tmp_path: Path) -> None:
    run, _, _ = run_in(tmp_path / "run", library, model(Answering()))
    run.finish(Result("gateway", "cloud:test", 1, answer="other"))
    assert [one.answer for one in run.results if one.case == "gateway"] == ["other"]
