"""New cases: of the last turn, and proposed from the library itself; both are cases that can be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evaluating import FILES
from standin import StandIn

from assistant import cli
from assistant.evaluation.cases import cases_from, read_cases
from assistant.evaluation.proposing import from_library, from_turn
from search import Library
from search import library as library_module

TABLE = "carrier,parcels\nNordpost,120\nKurierwerk,90\n"


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library], monkeypatch: pytest.MonkeyPatch) -> Library:
    for path, text in FILES.items():
        write(
            path,
            text + "\n\n## Contact\n\nThe team on duty answers within one hour, day and night. Ask it before you change anything.",
        )
    write("tables/carriers.csv", TABLE)
    opened = library_module.Library.open.__func__  # type: ignore[attr-defined]

    def with_stand_in(cls: Any, path: Path, *, embedder: Any = None, **more: Any) -> Library:
        return opened(cls, path, embedder=embedder or StandIn(), **more)  # type: ignore[no-any-return]

    library = indexed()
    monkeypatch.setattr(library_module.Library, "open", classmethod(with_stand_in))
    return library


@pytest.fixture
def run(library: Library, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run_command(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(arguments)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run_command


def test_proposals_are_cases_of_headings_sentences_and_tables(library: Library) -> None:
    rows = from_library(library, 20)
    cases = cases_from("\n".join(map(json.dumps, rows)), "proposed")
    assert {case.kind for case in cases} == {"heading", "sentence", "table"}
    tables = {case.question: case.expect.numbers for case in cases if case.kind == "table"}
    assert tables == {"How many rows does the table carriers have?": (2.0,), "What is the highest parcels in carriers?": (120.0,)}
    documents = {path for case in cases for path in case.expect.documents}
    assert documents == set(FILES)  # no sentence of the description of a table
    assert len({case.question for case in cases}) == len(cases)


def test_a_question_that_two_documents_answer_alike_is_not_proposed(
    write: Callable[[str, str], Path], indexed: Callable[[], Library]
) -> None:
    for day in ("01", "02"):
        write(f"meetings/{day}.md", f"# Team meeting\n\n## Decisions\n\nOn day {day} the team decided to go on as before.")
    with indexed() as library:
        questions = [row["question"] for row in from_library(library, 20)]
    assert not any("Decisions (Team meeting)" in question for question in questions)
    assert any("On day 02" in question for question in questions)


def test_as_many_as_asked_and_the_same_each_time(library: Library) -> None:
    assert len(from_library(library, 3)) == 3
    assert from_library(library, 5) == from_library(library, 5)


def test_proposals_are_printed_or_added_to_a_file_once(run: Any, library: Library, tmp_path: Path) -> None:
    code, out, _ = run("evaluate", "--from-library", "4", "-l", str(library.path))
    assert code == 0
    assert len(cases_from(out, "printed")) == 4
    file = tmp_path / "cases.jsonl"
    run("evaluate", "--from-library", "3", "-l", str(library.path), "-o", str(file))
    _, _, err = run("evaluate", "--from-library", "4", "-l", str(library.path), "-o", str(file))
    assert "1 case added" in err
    assert "3 cases there already" in err
    assert len(read_cases(file)) == 4


def test_a_file_of_something_else_is_left_as_it_is(run: Any, library: Library, tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\xff")
    code, _, err = run("evaluate", "--from-library", "3", "-l", str(library.path), "-o", str(file))
    assert (code, file.read_bytes()) == (1, b"\x89PNG\xff")
    assert "cannot be read as cases" in err


def test_the_last_turn_becomes_a_case(run: Any, library: Library) -> None:
    asked = "when does the gateway give up?"
    run("ask", asked, "-l", str(library.path), "-m", "offline", "--category", "runbooks", "--where", "status!=old")
    code, out, _ = run("evaluate", "--add")
    assert code == 0
    (case,) = cases_from(out, "added")
    assert case.question == asked
    assert case.expect.documents == ("runbooks/gateway.md",)
    assert case.expect.tools == (("hybrid_search",),)
    assert case.expect.absent is False
    assert case.scope.category == ("runbooks",)
    assert [(one.key, one.operator, one.value) for one in case.scope.metadata] == [("status", "!=", "old")]
    assert case.today is not None
    assert case.today.isoformat() == "2026-10-15"


def test_a_turn_that_found_nothing_and_one_that_asks_back() -> None:
    absent = from_turn({"question": "q", "outcome": "absent", "citations": [], "calls": []})
    assert absent["expect"] == {"absent": True}
    back = from_turn({"question": "q", "outcome": "question", "turns": ["before"], "at": "2026-10-15T10:00:00+02:00"})
    assert back["expect"] == {"absent": False, "asks_back": True}
    assert (back["turns"], back["today"]) == (["before"], "2026-10-15")


def test_without_a_last_turn_there_is_nothing_to_add(run: Any) -> None:
    code, _, err = run("evaluate", "--add")
    assert code == 1
    assert "no last question" in err
