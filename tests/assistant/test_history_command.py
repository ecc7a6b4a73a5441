"""`archivist history` and `ask --continue`: what a person types, and what comes of it."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from standin import StandIn

from assistant import cli, history
from search import Library
from search import library as library_module
from tests.assistant.kept_talks import FILES

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def library(
    write: Callable[[str, str], Path],
    indexed: Callable[[], Library],
    library_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    for path, text in FILES.items():
        write(path, text)
    opened = library_module.Library.open.__func__  # type: ignore[attr-defined]

    def with_stand_in(cls: Any, path: Path, *, embedder: Any = None, **more: Any) -> Library:
        return opened(cls, path, embedder=embedder or StandIn(), **more)  # type: ignore[no-any-return]

    indexed()
    monkeypatch.setattr(library_module.Library, "open", classmethod(with_stand_in))
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(library_file))
    monkeypatch.setenv("OLLAMA_HOST", "http://models.example:11434")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return library_file


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(arguments)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run_command


def ask(run: Run, *arguments: str) -> str:
    code, _, told = run("ask", "-m", "offline", *arguments)
    assert code == 0, told
    return told


def test_what_was_asked_is_listed_shown_and_searched(run: Run, library: Path) -> None:
    ask(run, "when does the gateway give up?")
    ask(run, "when is high water?")
    code, out, _ = run("history")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["id", "2", "1"]
    assert "when is high water?" in out
    assert run("history", "list", "-n", "1")[1].count("\n") == 2
    assert run("history", "-n", "1")[1] == run("history", "list", "-n", "1")[1]
    listed = json.loads(run("history", "--json")[1])["conversations"]
    assert [(one["id"], one["turns"], one["library"], one["model"]) for one in listed] == [
        (2, 1, str(library), "offline"),
        (1, 1, str(library), "offline"),
    ]
    _, shown, _ = run("history", "show", "1")
    assert "> when does the gateway give up?" in shown
    assert "gives up after 4 seconds" in shown
    assert "[1] runbooks/gateway.md:" in shown
    assert "offline · " in shown
    code, found, _ = run("history", "search", "4 seconds")
    assert (code, found.splitlines()[0][:9]) == (0, "1  turn 1")
    assert json.loads(run("history", "search", "seconds", "--json")[1])["turns"][0]["question"] == "when does the gateway give up?"
    assert "no kept turn has cheese" in run("history", "search", "cheese")[2]


def test_the_list_can_be_of_one_library(run: Run, library: Path, tmp_path: Path) -> None:
    ask(run, "when is high water?")
    assert "high water" in run("history", "-l", str(library))[1]
    assert run("history", "-l", str(tmp_path / "other.db")) == (
        0,
        "",
        'no conversation is kept; archivist ask "how do we rotate keys?" begins one\n',
    )


def test_a_conversation_is_named_and_found_by_its_name(run: Run) -> None:
    ask(run, "when is high water?")
    assert run("history", "name", "1", "tides in Bristol") == (0, "", "conversation 1 is named tides in Bristol\n")
    assert "tides in Bristol: when is high water?" in run("history")[1]
    assert run("history", "show", "tides")[0] == 0
    code, _, told = run("history", "show", "tides in Bistrol")
    assert code == 1
    assert "did you mean 'tides in Bristol'" in told


def test_an_export_never_writes_over_a_file_unless_told_to(run: Run, tmp_path: Path) -> None:
    ask(run, "when is high water?")
    file = tmp_path / "tides.md"
    assert run("history", "export", "1", "-o", str(file))[0] == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text("utf-8") == run("history", "export", "1")[1]
    file.write_text("mine")
    code, _, told = run("history", "export", "1", "-o", str(file))
    assert (code, file.read_text()) == (1, "mine")
    assert "--force" in told
    assert run("history", "export", "1", "-o", str(file), "--force")[0] == 0
    assert "High water" in file.read_text("utf-8")
    code, _, told = run("history", "export", "1", "-o", str(tmp_path / "none" / "x.md"))
    assert (code, (tmp_path / "none").exists()) == (1, False)
    (row,) = map(json.loads, run("history", "export", "1", "--format", "jsonl")[1].splitlines())
    assert (row["question"], row["conversation"]) == ("when is high water?", 1)


def test_nothing_is_deleted_unasked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(run, "when is high water?")
    ask(run, "when does the gateway give up?")
    code, _, told = run("history", "delete", "1")
    assert code == 2
    assert "--yes" in told
    terminal = io.StringIO("n\ny\n")
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", terminal)
    code, _, told = run("history", "delete", "1")
    assert code == 0
    assert "when is high water?" in told
    assert "nothing was deleted" in told
    assert "1 conversation deleted" in run("history", "delete", "1")[2]
    assert "1 conversation deleted" in run("history", "delete", "2", "2", "--yes")[2]
    assert run("history")[1] == ""


def test_what_is_old_goes(run: Run) -> None:
    ask(run, "when is high water?")
    assert "no conversation is older than 30d" in run("history", "delete", "--older-than", "30d", "--yes")[2]
    with history.History.open() as opened:
        opened._connection.execute("UPDATE sessions SET last = '2020-01-01T00:00:00+00:00'")
    assert "1 conversation deleted" in run("history", "delete", "--older-than", "4w", "--yes")[2]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["history", "shwo", "1"], 2, "did you mean 'show'"),
        (["history", "show", "7"], 1, "no conversation '7'"),
        (["history", "delete"], 2, "give the ids or names"),
        (["history", "delete", "1", "--older-than", "3d"], 2, "give the ids or names"),
        *((["history", "delete", "--older-than", age], 2, "--older-than: got") for age in ("3", "d", "-3d", "3h", "999999y", "³d")),
        (["history", "name", "1", "77"], 2, "name: got '77'"),
        (["history", "search", " "], 2, "give words"),
        (["history", "export", "1", "--format", "pdf"], 2, "pdf"),
        (["ask", "-c", "--again"], 2, "give one of"),
        (["ask", "x?", "-c", "--resume", "1"], 2, "give one of"),
        (["ask", "x?", "--resume", "tide"], 1, "no conversation 'tide'"),
        (["ask", "x?", "--resume", "1", "-l", "/elsewhere.db"], 2, "--library"),
        (["ask", "x?", "-c", "-l", "/elsewhere.db"], 1, "no conversation about /elsewhere.db"),
    ],
)
def test_bad_input_ends_in_a_message_and_the_right_code(run: Run, arguments: list[str], code: int, message: str) -> None:
    ask(run, "when is high water?")
    got, out, told = run(*arguments)
    assert (got, out) == (code, "")
    assert message in told


@pytest.mark.parametrize(
    "arguments", [["show", "1"], ["search", "x"], ["export", "1"], ["delete", "1", "--yes"], ["name", "1", "x"]]
)
def test_looking_into_a_history_that_is_not_there_makes_none(run: Run, arguments: list[str]) -> None:
    code, out, told = run("history", *arguments)
    assert (code, out) == (1, "")
    assert "no conversation is kept yet" in told
    assert run("history")[0] == 0
    assert not history.place().exists()


# Going on


def test_continue_goes_on_with_the_last_conversation_of_the_library(run: Run) -> None:
    ask(run, "when does the gateway give up?")
    ask(run, "when is high water?")
    told = ask(run, "-c", "and in Bristol?")
    assert "going on with conversation 2: 1 turn, the last just now" in told
    ask(run, "--resume", "1", "is raising the limit forbidden?")
    ask(run, "--continue", "why?")
    with history.History.open() as opened:
        assert [one.turn.question for one in opened.load(1).turns] == [
            "when does the gateway give up?",
            "is raising the limit forbidden?",
            "why?",
        ]
        assert opened.load(2).snapshot.questions == ("when is high water?", "and in Bristol?")
    assert len(json.loads(run("history", "--json")[1])["conversations"]) == 2


def test_a_conversation_goes_on_with_its_filters_and_its_model_unless_others_are_given(run: Run) -> None:
    ask(run, "when is high water?", "--source", "notes/*")
    _, _, told = run("ask", "-c", "and the gateway?")
    assert "model: offline (of the conversation)" in told
    assert "scope: source notes/*" in told
    assert "scope: source runbooks/*" in ask(run, "-c", "and the gateway?", "--source", "runbooks/*")
    assert "scope: source runbooks/*" in ask(run, "-c", "when does the gateway give up?")


def test_a_conversation_with_a_server_of_one_s_own_goes_on_there_and_nowhere_else(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(_: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"data": []})
        asked.append(str(request.url))
        choice = {"message": {"role": "assistant", "content": "At six."}, "finish_reason": "stop"}
        return httpx.Response(200, json={"id": "1", "model": "m", "choices": [choice], "usage": {}})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    own = ["-m", "openrouter:m", "--base-url", "http://own.example:8080/v1", "--no-stream"]
    assert run("ask", *own, "when is high water?")[0] == 0
    code, _, told = run("ask", "-c", "--no-stream", "and in Bristol?")
    assert (code, len(asked)) == (0, 2), told
    assert all(url.startswith("http://own.example:8080/") for url in asked)
    assert "model: offline" not in told
    ask(run, "-c", "and at the gateway?")
    assert run("ask", "-c", "and when?")[0] == 0
    assert len(asked) == 2


def test_the_shown_request_of_a_continued_conversation_has_what_was_said(run: Run) -> None:
    ask(run, "when is high water?")
    code, out, _ = run("ask", "-c", "--show-request", "-m", "openrouter:x/y", "and in Bristol?")
    assert code == 0
    assert [one["content"] for one in json.loads(out)["messages"] if one["role"] == "user"] == [
        "when is high water?",
        "and in Bristol?",
    ]


def test_no_history_goes_on_and_keeps_nothing(run: Run) -> None:
    ask(run, "when is high water?")
    assert "going on with conversation 1" in ask(run, "-c", "--no-history", "and in Bristol?")
    ask(run, "--no-history", "when does the gateway give up?")
    listed = json.loads(run("history", "--json")[1])["conversations"]
    assert [(one["id"], one["turns"]) for one in listed] == [(1, 1)]
    assert json.loads(run("ask", "--again", "-m", "offline", "--json", "--no-history")[1])["question"] == "when is high water?"
