"""A whole session with a model as a person has it: ask, follow up, open, filter, stop, retry, save; and what goes wrong in one."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import Terminal, environment

from assistant.history import History
from search import Library

HERE = Path(__file__).parent
Begin = Callable[..., Terminal]
_SEARCH = {"call": "hybrid_search", "arguments": {"query": "gateway gives up"}}
_SPINNING = "[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]"


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library], library_file: Path) -> Path:
    write("runbooks/gateway.md", "# Gateway\n\nIntroduction.\n\n## Limits\n\nThe gateway gives up after 4 seconds.")
    write("notes/march.md", "---\ndate: 2026-03-10\n---\n# March\n\nIn March the gateway gave up 12 times.")
    indexed()
    return library_file


@pytest.fixture
def begin(library: Path, tmp_path: Path) -> Iterator[Begin]:
    """Starts a session with a model that answers from a script."""
    opened: list[subprocess.Popen[str]] = []
    terminals: list[Terminal] = []

    def run(*script: dict[str, object], arguments: tuple[str, ...] = (), command: str = "chat", **more: str) -> Terminal:
        file = tmp_path / f"script{len(opened)}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in script), "utf-8")
        words = [sys.executable, str(HERE / "repl_server.py"), str(file), str(tmp_path / "asked")]
        opened.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        assert opened[-1].stdout is not None
        port = int(opened[-1].stdout.readline())
        model = ("-m", "openrouter:scripted", "--base-url", f"http://127.0.0.1:{port}/v1")
        env = environment(tmp_path / "home", PYTHONPATH=f"{HERE.parents[1]}:{HERE.parent}", **more)
        words = [sys.executable, str(HERE / "repl_program.py"), command, "-l", str(library), *model, *arguments]
        terminals.append(Terminal(words, environment=env, cwd=tmp_path))
        if command == "chat":
            terminals[-1].wait_for("❯")
        return terminals[-1]

    yield run
    for terminal in terminals:
        terminal.child.close(force=True)
    for server in opened:
        server.kill()
        server.communicate()


def test_blocks_are_written_once_when_they_are_finished(begin: Begin, tmp_path: Path) -> None:
    more = tmp_path / "more"
    text = "# Limits\n\nIt gives up after **4 seconds** [KEY].\n\n- one\n- two\n\nThat is all there is to say."
    terminal = begin(_SEARCH, {"text": text, "until": str(more)})
    terminal.enter("when does the gateway give up?")
    shown = terminal.wait_for(r"It gives up after 4 seconds \[1\]\.")
    assert "**" not in shown
    assert "That is all" not in shown
    assert re.search(r'→ hybrid_search "gateway gives up"  3 hits in 2 documents  \d+ ms', shown)
    terminal.wait_for(f"{_SPINNING} thinking")
    more.touch()
    shown = terminal.wait_for("openrouter:scripted .* 2 steps · 1 call · 240 tokens")
    assert shown.count("It gives up after") == shown.count("That is all") == shown.count("• one") == 1
    assert not re.search(_SPINNING, shown)
    assert "[1] runbooks/gateway.md:" in shown


def test_one_question_shows_that_its_model_is_waited_for(begin: Begin, tmp_path: Path) -> None:
    more = tmp_path / "more"
    script = (_SEARCH, {"text": "It gives up after 4 seconds [KEY].\n\nThat is all.", "until": str(more)})
    terminal = begin(*script, command="ask", arguments=("when does the gateway give up?",))
    terminal.wait_for(f"{_SPINNING} waiting for openrouter:scripted")
    more.touch()
    assert terminal.wait_for_end() == 0
    assert terminal.text.count("It gives up after 4 seconds [1].") == terminal.text.count("That is all.") == 1
    assert not re.search(_SPINNING, terminal.text)


def test_what_is_typed_while_an_answer_is_made_is_the_next_question(begin: Begin, tmp_path: Path) -> None:
    more = tmp_path / "more"
    terminal = begin({"text": "One is made.", "until": str(more)}, {"text": "Two is made."})
    terminal.enter("the first?")
    terminal.wait_for(f"{_SPINNING} thinking  1 s")
    terminal.enter("and the second?")
    terminal.wait_for(f"{_SPINNING} thinking  [2-9] s")
    more.touch()
    shown = terminal.wait_for("Two is made")
    assert shown.count("and the second?") == 1
    assert "❯ and the second?" in shown
    assert not re.search(_SPINNING, shown.rpartition("One is made")[0])


def test_what_a_model_writes_moves_no_cursor(begin: Begin) -> None:
    terminal = begin({"text": "red \x1b[31mtext\x1b[0m, \x1b]0;title\x07a title, &#27;[2J and \u202ereversed"})
    terminal.enter("a question?")
    terminal.wait_for("2 tokens|120 tokens")
    assert b"\x1b[31mtext" not in terminal.raw
    assert b"]0;title" not in terminal.raw
    assert "\u202e" not in terminal.raw.decode()


def test_an_error_of_the_provider_leaves_the_session_alive(begin: Begin) -> None:
    terminal = begin({"status": 401}, _SEARCH, {"text": "It gives up after 4 seconds [KEY]."})
    terminal.enter("when does the gateway give up?")
    terminal.wait_for("openrouter:scripted answered 401")
    terminal.enter("/retry")
    terminal.wait_for("2 steps · 1 call")
    assert "4 seconds [1]." in terminal.text


def test_a_server_that_hangs_is_left_and_the_question_is_asked_elsewhere(begin: Begin) -> None:
    terminal = begin({"hang": True})
    terminal.enter("when does the gateway give up?")
    terminal.wait_for(f"{_SPINNING} thinking  [1-9]")
    terminal.type("\x03\x03\x03")
    terminal.wait_for("stopped; the conversation goes on")
    terminal.enter("/retry offline")
    terminal.wait_for("the answers come from offline now")
    terminal.wait_for("offline · 2 steps")
    terminal.enter("/trace")
    terminal.wait_for("step 1 offline")


def test_editing_the_last_question_asks_it_in_place_of_the_old_one(begin: Begin) -> None:
    terminal = begin({"text": "First answer."}, {"text": "Second answer."})
    terminal.enter("what is the limit of the gatway?")
    terminal.wait_for("First answer")
    terminal.wait_for("1 step · 0 calls")
    terminal.enter("/edit")
    terminal.wait_for("❯ what is the limit of the gatway\\?", after="/edit")
    terminal.type("\x08" * len("gatway?") + "gateway?\r")
    terminal.wait_for("Second answer")
    terminal.enter("/tokens")
    shown = terminal.wait_for("tokens for the next question")
    assert "First answer" in shown


def test_a_whole_session(begin: Begin, tmp_path: Path, folder: Path) -> None:
    kept, slow, busy = tmp_path / "kept", tmp_path / "slow", tmp_path / "busy"
    editor = tmp_path / "nano"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {kept}.part\nmv {kept}.part {kept}\n')
    editor.chmod(0o755)
    script = [
        _SEARCH,
        {"text": "The gateway gives up after 4 seconds [KEY]."},
        {"call": "hybrid_search", "arguments": {"query": "gateway gave up in March"}},
        {"text": "In March it gave up 12 times [KEY]."},
        {"call": "hybrid_search", "arguments": {"query": "something slow"}},
        _SEARCH,
        {"text": "Still after 4 seconds [KEY]."},
    ]
    more = {"EDITOR": str(editor), "VISUAL": "", "REPL_SLOW": str(slow), "REPL_BUSY": str(busy)}
    terminal = begin(*script, **more)

    terminal.enter("when does the gateway give up?")
    terminal.wait_for("2 steps · 1 call")
    terminal.enter("and in March?")
    terminal.wait_for("12 times", after="and in March")
    terminal.wait_for("2 steps · 1 call", after="12 times")

    terminal.enter("/why 1")
    terminal.wait_for('found by hybrid_search "gateway gave up in March": number 1 of 3')
    terminal.enter("/open 1")
    terminal.wait_for(lambda _: kept.exists())
    line, dashes, file = kept.read_text().splitlines()
    assert (dashes, Path(file).parent.parent) == ("--", folder)
    assert Path(file).read_text("utf-8").splitlines()[int(line.removeprefix("+")) - 1].startswith("#")

    terminal.enter("/filter category:runbooks")
    terminal.wait_for("category runbooks: 1 of 2 documents seen")
    slow.touch()
    terminal.enter("what about something slow?")
    terminal.wait_for(lambda _: busy.exists())
    terminal.type("\x03")
    terminal.wait_for("stopped; the conversation goes on")
    slow.unlink()
    terminal.enter("so when does it give up?")
    terminal.wait_for("Still after 4 seconds")
    terminal.wait_for("scope: category runbooks", after="Still after")

    terminal.enter("/save answer.md")
    terminal.wait_for("written to answer.md")
    saved = (tmp_path / "answer.md").read_text("utf-8")
    assert saved.startswith("# so when does it give up?\n\nStill after 4 seconds [1].\n\n- [1] runbooks/gateway.md:")
    terminal.enter("/eval cases.jsonl")
    terminal.wait_for("cases.jsonl: 1 case added")
    case = json.loads((tmp_path / "cases.jsonl").read_text("utf-8"))
    assert case["scope"] == {"category": ["runbooks"]}
    terminal.enter("/cost")
    terminal.wait_for("3 questions, 6 steps, 3 calls, 600 tokens in, 120 out")
    terminal.enter("/name Gateway limits")
    terminal.wait_for("this conversation is 'Gateway limits'")
    terminal.enter("/quit")
    assert terminal.wait_for_end() == 0
    # Each request was answered: the cancelled turn left nothing open that the model's server would have refused.
    assert (tmp_path / "asked").read_text() == "7"

    again = begin(_SEARCH, {"text": "As before, 4 seconds [KEY]."}, arguments=("--resume", "gateway"), **more)
    again.wait_for('going on with conversation 1 "Gateway limits": 3 turns')
    again.wait_for("> so when does it give up\\?")
    assert "category:runbooks ❯" in again.text
    assert "[1] runbooks/gateway.md:" in again.text
    again.enter("sure?")
    again.wait_for("As before, 4 seconds [1].".replace("[", r"\["))
    again.wait_for("2 steps · 1 call", after="As before")
    again.enter("/export talk.md")
    again.enter("/export talk.jsonl")
    again.wait_for("written to talk.jsonl")
    exported = (tmp_path / "talk.md").read_text("utf-8")
    for said in (
        "when does the gateway give up?",
        "12 times",
        "so when does it give up?",
        "As before, 4 seconds",
        "runbooks/gateway.md",
    ):
        assert said in exported
    assert len((tmp_path / "talk.jsonl").read_text("utf-8").splitlines()) >= 4
    again.type("\x04")
    assert again.wait_for_end() == 0


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_at_any_moment_loses_at_most_the_turn_under_way(begin: Begin, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    terminal = begin(*([_SEARCH, {"text": "After 4 seconds [KEY].\n\nThat is all."}] * 20))
    answered = 0
    while answered < 8:
        question = f"question {answered + 1}?"
        wanted = len(terminal.raw) + chance.randrange(4000)
        terminal.enter(question)
        terminal.wait_for(lambda text, q=question, w=wanted: len(terminal.raw) >= w or "2 steps" in text.partition(q)[2])
        if "2 steps" not in terminal.text.partition(question)[2]:
            break
        answered += 1
        terminal.wait_for(r"2 steps[^❯]*❯", after=question)
    terminal.kill()
    if answered == 0 and not (tmp_path / "home" / "xdg_data_home" / "archivist" / "conversations.db").exists():
        return
    with History.open(tmp_path / "home" / "xdg_data_home" / "archivist" / "conversations.db") as history:
        kept = [one for found in history.sessions() for one in history.load(found.id).turns]
    # The footer of an answer is written before it is kept: the turn under way ends with the next prompt.
    assert answered - 1 <= len(kept) <= answered + 1
    assert [one.turn.question for one in kept] == [f"question {number}?" for number in range(1, len(kept) + 1)]
    if kept:
        again = begin({"text": "Good."}, arguments=("--continue",))
        again.wait_for(f"going on with conversation 1: {len(kept)} turn")
