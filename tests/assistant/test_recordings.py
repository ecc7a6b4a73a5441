"""The recordings in data/recordings: they replay with the real tools on the sample library, and every claim in them holds."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from assistant import recording
from assistant.backends.replay import Replay
from assistant.conversation import Answered, Conversation, Turn
from assistant.errors import BadReplyError, UserError
from assistant.evaluation.asking import LibraryQuestions
from assistant.evaluation.cases import read_cases
from assistant.evaluation.scoring import QUALITY
from assistant.loop import Limits
from assistant.messages import Message, Request, ToolResult
from search import Library

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "data" / "recordings"
DAY = date(2026, 10, 15)


def replay(library: Library, name: str, question: str | None = None) -> Turn:
    backend = Replay(RECORDINGS / name)
    conversation = Conversation(library, backend, today=DAY)
    *_, last = conversation.ask(question or backend.question)
    assert isinstance(last, Answered)
    return last.turn


@pytest.mark.model
@pytest.mark.parametrize("name", ["endpoints.jsonl", "go_tutorials.jsonl", "recover.jsonl"])
def test_a_recording_replays_with_verified_citations(sample: Library, name: str) -> None:
    turn = replay(sample, name)
    assert turn.outcome == "answer"
    assert turn.checked.sound
    assert turn.checked.citations
    assert turn.checked.quotes or turn.checked.numbers
    assert turn.notices == ()


@pytest.mark.model
def test_the_recovery_run_is_refused_three_times_and_then_right(sample: Library) -> None:
    turn = replay(sample, "recover.jsonl")
    assert [call.ran.result.is_error for call in turn.calls] == [True, True, True, False]
    first, second, third, _ = (call.ran.result.content for call in turn.calls)
    assert "search_docs" in first
    assert '"limit"' in second
    assert '"top_k"' in third


@pytest.mark.model
def test_the_tutorials_are_filtered_searched_within_and_read(sample: Library) -> None:
    turn = replay(sample, "go_tutorials.jsonl")
    assert [call.call.name for call in turn.calls] == ["filter_documents", "hybrid_search", "read_document"]
    assert turn.calls[0].ran.output is not None
    assert "2026-09-15 to 2026-10-15" in turn.calls[0].ran.output.resolved["dates"]
    assert turn.coverage is not None


@pytest.mark.model
def test_the_endpoint_question_is_answered_by_a_chain_of_queries_with_their_sql(sample: Library) -> None:
    turn = replay(sample, "endpoints.jsonl")
    assert [call.call.name for call in turn.calls] == ["query_table", "query_table", "calculate", "calculate", "calculate"]
    assert {number.verdict for number in turn.checked.numbers} == {"found"}
    evidence = [citation.evidence for citation in turn.checked.citations]
    assert ['FROM "endpoints"' in found.sql or 'FROM "latency"' in found.sql for found in evidence if found and found.sql] == [
        True
    ] * 2


@pytest.mark.model
def test_a_replay_with_another_question_says_so(sample: Library) -> None:
    assert any("another question" in notice for notice in replay(sample, "recover.jsonl", "what is new?").notices)


def test_a_replay_on_another_library_says_so_and_marks_what_does_not_resolve(indexed, write) -> None:  # type: ignore[no-untyped-def]
    write("a.md", "# Timeouts\n\nA statement timeout.")
    turn = replay(indexed(), "recover.jsonl")
    assert any("another library" in notice for notice in turn.notices)
    assert not turn.checked.sound
    assert "[?]" in turn.checked.text


def test_a_recording_at_its_end_is_an_error() -> None:
    backend = Replay(RECORDINGS / "recover.jsonl")
    request = Request((Message("user", backend.question),))
    for _ in range(5):
        list(backend.send(request))
    with pytest.raises(BadReplyError, match="no further reply"):
        list(backend.send(request))


@pytest.mark.parametrize("text", ["", "x", "{}", '{"archivist_recording": 2}', '{"archivist_recording": 1}', "[]", "\x00"])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(UserError, match=str(path)):
        recording.read(path)


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"archivist_recording": 1}) + "\n" + json.dumps({"reply": {"calls": [{}]}}) + "\n")
    with pytest.raises(UserError, match=":2:"):
        recording.read(path)


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "x", "usage": "x"},
        {"text": "x", "usage": {"cost": "free"}},
        {"text": "x", "usage": {"input_tokens": "many"}},
        {"text": "x", "finish": "whenever"},
        {"text": "x", "outcome": "triumph"},
        {"text": "x", "calls": [{"name": "a"}]},
    ],
)
def test_a_reply_edited_into_nonsense_is_refused_with_its_line(tmp_path: Path, reply: dict[str, object]) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"archivist_recording": 1}) + "\n" + json.dumps({"reply": reply}) + "\n")
    with pytest.raises(UserError, match=":2:"):
        recording.read(path)


@pytest.mark.parametrize("cost", ["NaN", "1e999", "-Infinity"])
def test_a_cost_that_is_no_number_is_refused(tmp_path: Path, cost: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"archivist_recording": 1}\n{"reply": {"text": "x", "usage": {"cost": ' + cost + "}}}\n")
    with pytest.raises(UserError, match=":2:"):
        recording.read(path)


def test_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"archivist_recording": 1, "today": "last tuesday"}\n{"reply": {"text": "x"}}\n')
    with pytest.raises(UserError, match=":1:"):
        recording.read(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"archivist_recording": 1}\n' + "[" * 100_000 + "\n")
    with pytest.raises(UserError, match=":2:"):
        recording.read(path)


def _digests(content: str) -> list[str]:
    result = ToolResult("1", "hybrid_search", content, is_error=False)
    return recording.digests(Request((Message("user", "?"), Message("tool", results=(result,)))))


def test_a_digest_knows_which_passages_were_found_not_their_scores_or_order() -> None:
    one, other = {"key": "a1b2c3d4e5", "similarity": 0.41}, {"key": "f6g7h2j3k4", "similarity": 0.4}
    shifted = [other | {"similarity": 0.41}, one]
    assert _digests(json.dumps({"hits": [one, other]})) == _digests(json.dumps({"hits": shifted}))
    assert _digests(json.dumps({"hits": [one, other]})) != _digests(json.dumps({"hits": [one]}))


def test_a_digest_of_anything_else_tells_every_value_but_the_last_digits_of_a_fraction() -> None:
    assert _digests('{"rows":[[0.30000000000000004]]}') == _digests('{"rows": [[0.3]]}')
    assert _digests('{"rows":[[0.3]]}') != _digests('{"rows":[[0.31]]}')
    assert _digests("plain") != _digests("other")


def test_a_digest_does_not_know_when_a_file_was_written() -> None:
    listed = {"total": 1, "documents": [{"path": "a.md", "date": "2026-01-02", "modified": "2026-05-06"}]}
    again = {"total": 1, "documents": [{"path": "a.md", "date": "2026-01-02", "modified": "2026-07-08", "stale": "changed"}]}
    other = {"total": 1, "documents": [{"path": "b.md", "date": "2026-01-02"}]}
    assert _digests(json.dumps(listed)) == _digests(json.dumps(again)) != _digests(json.dumps(other))


@pytest.mark.model
@pytest.mark.parametrize(("cases", "place"), [("assistant", RECORDINGS / "cases"), ("replayed", RECORDINGS)])
def test_each_case_that_was_recorded_replays_without_a_key_and_is_right(sample: Library, cases: str, place: Path) -> None:
    known = {case.id: case for case in read_cases(ROOT / "data" / "evals" / f"{cases}.jsonl")}
    recorded = {file.stem: file for file in place.glob("*.jsonl")}
    assert len(recorded) >= 5
    for name, file in recorded.items():
        case = known[name]
        result = LibraryQuestions(sample, [case], DAY).put(case, Replay(file), Limits())
        detours = {"valid_calls"} if name == "recover" else set()
        wrong = {measure for measure in QUALITY if result.scores[measure] not in {None, 1.0}}
        assert (name, wrong - detours, result.notices) == (name, set(), [])


def test_every_case_of_the_replay_gate_has_its_recording() -> None:
    cases = read_cases(ROOT / "data" / "evals" / "replayed.jsonl")
    assert {case.id for case in cases} == {file.stem for file in RECORDINGS.glob("*.jsonl")}
    assert {recording.read(RECORDINGS / f"{case.id}.jsonl").question for case in cases} == {case.question for case in cases}


def test_every_kind_of_question_is_recorded() -> None:
    assistant = {case.id: case for case in read_cases(ROOT / "data" / "evals" / "assistant.jsonl")}
    kinds = {assistant[file.stem].kind for file in (RECORDINGS / "cases").glob("*.jsonl")}
    assert {"plain", "filtered", "dated", "chained", "table", "join", "absent", "ambiguous", "poisoned", "language"} <= kinds
    assert {"follow_up", "scope"} <= kinds
