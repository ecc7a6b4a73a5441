"""The REPL on terminals of all kinds: narrow, wide, without colour, dumb, none at all; what is typed, pasted, stopped, killed."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from terminal import SECONDS, Terminal, environment

from assistant import render
from search import Library

TESTS = Path(__file__).parents[1]
PROGRAM = str(Path(__file__).with_name("repl_program.py"))
QUESTION = "when does the gateway give up?"
_COLOUR = re.compile(rb"\x1b\[(?:[0-9]+;)*(?:3[0-7]|9[0-7]|4[0-7]|38;[0-9;]+)m")
_STYLE = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\\\")
Start = Callable[..., Terminal]


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library], library_file: Path) -> Path:
    write("runbooks/gateway.md", "# Gateway\n\nThe gateway gives up after 4 seconds. Raising the limit is forbidden.")
    write("runbooks/keys.md", "# Keys\n\nThe signing keys are rotated every 90 days by the platform team.")
    write("notes/日本.md", "# ゲートウェイ\n\nゲートウェイは四秒後に諦めます。上限を上げることは禁止されています。")
    write("data/carriers.csv", "carrier,parcels\nNorth,12\nSouth,30\n")
    indexed()
    return library_file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def start(library: Path, home: Path) -> Iterator[Start]:
    """Starts `archivist chat` over the library on a terminal, offline unless another model is given."""
    begun: list[Terminal] = []

    def run(*arguments: str, columns: int = 100, rows: int = 40, **more: str) -> Terminal:
        words = [sys.executable, PROGRAM, "chat", "-l", str(library), *(() if "-m" in arguments else ("-m", "offline")), *arguments]
        env = environment(home, PYTHONPATH=f"{TESTS.parent}:{TESTS}", **more)
        begun.append(Terminal(words, environment=env, columns=columns, rows=rows))
        return begun[-1]

    yield run
    for terminal in begun:
        terminal.child.close(force=True)


def piped(library: Path, home: Path, text: str | bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`archivist chat` with a pipe at its input."""
    data = text if isinstance(text, bytes) else text.encode()
    words = [sys.executable, PROGRAM, "chat", "-l", str(library), "-m", "offline", *arguments]
    env = environment(home, PYTHONPATH=f"{TESTS.parent}:{TESTS}")
    done = subprocess.run(words, input=data, env=env, capture_output=True, check=False, timeout=SECONDS)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("columns", [40, 72, 200])
def test_nothing_is_wider_than_the_terminal_and_the_spinner_leaves_nothing(start: Start, columns: int) -> None:
    terminal = start(columns=columns)
    terminal.wait_for("❯")
    terminal.enter(QUESTION)
    shown = terminal.wait_for(r"offline · 2 steps")
    assert "gives up after 4 seconds" in " ".join(shown.split())
    assert "thinking" not in shown
    assert not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", shown)
    terminal.enter("/filter category:runbooks")
    terminal.enter("/help")
    terminal.wait_for("Ctrl-D[ \n]leaves.")
    written = [_STYLE.sub("", line) for line in terminal.raw.decode().split("\r\n")]
    lines = [line for line in written if "\x1b" not in line]  # what is drawn moves the cursor, what is written does not
    assert len(lines) > 40
    assert [line for line in lines if render.columns(line) > columns] == []


def test_no_color_means_none(start: Start) -> None:
    terminal = start(NO_COLOR="1")
    terminal.wait_for("❯")
    terminal.enter(QUESTION)
    terminal.wait_for("offline · 2 steps")
    terminal.enter("/search gateway")
    terminal.wait_for("4 documents, indexed", after="/search")
    assert not _COLOUR.search(terminal.raw)


def test_an_error_is_broken_between_words(start: Start) -> None:
    terminal = start(columns=60)
    terminal.wait_for("❯")
    terminal.enter("/sql SELECT * FROM a_table_of_another_library_whose_name_is_long")
    shown = terminal.wait_for(r"document_tags")
    assert max(map(len, shown.splitlines())) <= 60
    assert re.search(r"\bdocuments\b", shown)
    assert re.search(r"\bdocument_tags\b", shown)
    assert re.search(r"\bpassages\b", terminal.wait_for(r"\bpassages\b"))


def test_a_dumb_terminal_gets_no_escape(start: Start) -> None:
    terminal = start(TERM="dumb")
    terminal.wait_for(r"^>$")
    terminal.enter(QUESTION)
    terminal.wait_for(r"offline · 2 steps")
    terminal.enter('"""')
    terminal.enter("how often are the")
    terminal.enter('signing keys rotated?"""')
    terminal.wait_for("every 90 days")
    assert b"\x1b" not in terminal.raw
    terminal.type("\x04")
    assert terminal.wait_for_end() == 0


def test_bytes_of_another_encoding_end_nothing(start: Start) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.type(b"/resume caf\xe9\r")
    terminal.wait_for("no conversation 'caf\ufffd'")
    terminal.type(b"when does the gateway give up, caf\xe9?\r")
    terminal.wait_for("offline · .*2 steps")


def test_ctrl_z_suspends_and_what_was_typed_is_still_there(library: Library, home: Path) -> None:
    words = ["bash", "--norc", "-ic", f'{sys.executable} {PROGRAM} chat -l {library} -m offline; echo "suspended"; fg']
    with Terminal(words, environment=environment(home, PYTHONPATH=f"{TESTS.parent}:{TESTS}")) as terminal:
        terminal.wait_for("❯")
        terminal.type("/help ope")
        terminal.wait_for("❯ /help ope")
        terminal.type("\x1a")
        terminal.wait_for("suspended")
        terminal.wait_for("❯ /help ope", after="suspended")
        terminal.enter("n")
        terminal.wait_for("/open N", after="suspended")


def test_without_a_terminal_each_line_is_a_question(library: Path, home: Path) -> None:
    done = piped(library, home, f"{QUESTION}\n\n/filter category:notes\n{QUESTION}\n")
    assert done.returncode == 0
    assert "gives up after 4 seconds" in done.stdout
    assert f"> {QUESTION}" in done.stderr
    assert "scope: category notes" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_pipe_with_a_mistake_goes_on_and_ends_with_1(library: Path, home: Path) -> None:
    done = piped(library, home, f"/serach x\n{QUESTION}\n")
    assert done.returncode == 1
    assert "no command /serach; did you mean /search?" in done.stderr
    assert "gives up after 4 seconds" in done.stdout


def test_bytes_that_are_no_text_are_asked_all_the_same(library: Path, home: Path) -> None:
    assert "gives up after 4 seconds" in piped(library, home, b"when does the gateway give up \xff\xfe?\n").stdout


def test_alone_without_a_terminal_it_is_a_usage_error(library: Path, home: Path) -> None:
    env = environment(home, PYTHONPATH=f"{TESTS.parent}:{TESTS}")
    done = subprocess.run([sys.executable, PROGRAM], env=env, input=b"x\n", capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode == 2


def test_japanese_is_typed_shown_and_wrapped_by_its_width(start: Start) -> None:
    terminal = start(columns=40)
    terminal.wait_for("❯")
    terminal.enter("/search ゲートウェイ")
    shown = terminal.wait_for(r"indexed", after="/search")
    assert "notes/日本.md" in shown
    terminal.enter("ゲートウェイはいつ諦めますか？")
    terminal.wait_for(r"offline · \d", after="ますか")
    assert "ゲートウェイは四秒後に諦めます" in terminal.text.replace("\n", "").replace("▌ ", "").replace(" ", "")


def test_a_resized_terminal_is_written_on_in_its_new_width(start: Start) -> None:
    terminal = start(columns=120)
    terminal.wait_for("❯")
    terminal.enter(QUESTION)
    terminal.wait_for("offline · 2 steps")
    terminal.resize(44, 30)
    terminal.enter("/sources")
    terminal.enter("/clear")
    terminal.enter(f"and now, {QUESTION}")
    terminal.wait_for("offline · 2 steps", after="a new conversation")
    last = terminal.text.rpartition("a new conversation")[2]
    assert max(map(len, last.splitlines())) <= 44


def test_100_kilobytes_pasted_are_one_question(start: Start, home: Path) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.paste("when does the gateway give up? " + "log line of no interest\n" * 4200)
    terminal.wait_for(r"\[pasted 1: 100,83\d characters\]")
    terminal.enter("")
    terminal.wait_for(r"offline · ")
    terminal.enter("/cost")
    terminal.wait_for("1 question,")


def test_a_small_paste_of_two_lines_waits_for_enter(start: Start) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.paste("when does\nthe gateway give up?")
    terminal.wait_for("· the gateway give up")
    assert "offline · 2" not in terminal.text
    terminal.enter("")
    terminal.wait_for("offline · 2 steps")


def test_a_typo_gets_the_nearest_command_and_a_path_is_a_question(start: Start) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.enter("/sorces")
    terminal.wait_for("no command /sorces; did you mean /sources?")
    terminal.enter("/etc/gateway gives up when?")
    terminal.wait_for("offline · 2 steps")


def test_ctrl_c_clears_the_line_and_hints_at_ctrl_d_which_leaves(start: Start) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.type("half a question")
    terminal.wait_for("half a question")
    terminal.type("\x03")
    terminal.wait_for(lambda text: "half a question" not in text)
    terminal.type("\x03")
    terminal.wait_for(lambda text: text.count("Ctrl-D leaves") == 2)
    terminal.type("\x04")
    assert terminal.wait_for_end() == 0


def test_tab_completes_commands_and_names_of_the_library(start: Start) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.type("/sour\t")
    terminal.wait_for("❯ /sources")
    terminal.type("\x15/filter category:runb")
    terminal.wait_for(r"category:runb[^\n]*\n\s+runbooks\s+category")
    terminal.type("\t\r")
    terminal.wait_for("category runbooks: 2 of 4 documents seen")
    terminal.type("what is in carri\t")
    terminal.wait_for(r"carriers +table\n +data/carriers.csv +file")


def test_what_was_typed_is_kept_for_its_owner_alone_and_found_again(start: Start, home: Path) -> None:
    terminal = start()
    terminal.wait_for("❯")
    terminal.enter("/search gateway")
    terminal.wait_for("indexed", after="/search")
    terminal.type("\x04")
    assert terminal.wait_for_end() == 0
    file = home / "xdg_state_home" / "archivist" / "typed"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    again = start()
    again.wait_for("❯")
    again.type("\x12gatew")
    again.wait_for("search gateway")
    again.type("\x03")


def test_no_history_keeps_nothing_of_it(start: Start, home: Path) -> None:
    terminal = start("--no-history")
    terminal.wait_for("❯")
    terminal.enter(QUESTION)
    terminal.wait_for("offline · 2 steps")
    terminal.type("\x04")
    assert terminal.wait_for_end() == 0
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_a_call_that_hangs_is_cancelled_and_the_conversation_goes_on(start: Start, tmp_path: Path) -> None:
    slow, busy = tmp_path / "slow", tmp_path / "busy"
    slow.touch()
    terminal = start(REPL_SLOW=str(slow), REPL_BUSY=str(busy))
    terminal.wait_for("❯")
    terminal.enter(QUESTION)
    terminal.wait_for(lambda _: busy.exists())
    terminal.wait_for("hybrid_search")
    terminal.type("\x03")
    terminal.wait_for("stopped; the conversation goes on")
    slow.unlink()
    terminal.enter("/retry")
    terminal.wait_for("offline · 2 steps", after="stopped")
    assert "gives up after 4 seconds" in terminal.text


@pytest.mark.parametrize("moment", ["at the prompt", "in a call", "after an answer"])
def test_a_killed_session_leaves_what_was_kept_whole(start: Start, tmp_path: Path, home: Path, moment: str) -> None:
    slow, busy = tmp_path / "slow", tmp_path / "busy"
    terminal = start(REPL_SLOW=str(slow), REPL_BUSY=str(busy))
    terminal.wait_for("❯")
    if moment != "at the prompt":
        terminal.enter(QUESTION)
        terminal.wait_for("offline · 2 steps")
    if moment == "in a call":
        slow.touch()
        terminal.enter("how often are the signing keys rotated?")
        terminal.wait_for(lambda _: busy.exists())
    terminal.kill()
    slow.unlink(missing_ok=True)
    again = start()
    again.wait_for("❯")
    again.enter("how often are the signing keys rotated?")
    again.wait_for("every 90 days")


def test_the_embedding_model_is_not_waited_for_at_the_prompt(start: Start, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    terminal = start(REPL_MODEL=str(gate))
    terminal.wait_for("loading the embedding model")
    terminal.enter(QUESTION)
    terminal.wait_for(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] loading the embedding model")
    gate.touch()
    terminal.wait_for("offline · 2 steps")
    assert "gives up after 4 seconds" in terminal.text


def test_an_editor_gets_a_list_of_arguments(start: Start, tmp_path: Path, folder: Path) -> None:
    kept = tmp_path / "kept"
    editor = tmp_path / "vim"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {kept}\n')
    editor.chmod(0o755)
    terminal = start(EDITOR=f"{editor} -n", VISUAL="")
    terminal.wait_for("❯")
    terminal.enter("/open 1")
    terminal.wait_for("/open: there is nothing numbered yet")
    terminal.enter("/search gateway gives up")
    terminal.wait_for("indexed", after="gives up")
    terminal.enter("/open 1")
    end = time.monotonic() + SECONDS
    while not kept.exists() and time.monotonic() < end:
        terminal._take(0.05)
    terminal.enter("/open 99")
    terminal.wait_for(r"there is no \[99\]")
    assert kept.read_text().splitlines() == ["-n", "+1", "--", str(folder / "runbooks" / "gateway.md")]


def test_it_runs_in_tmux_as_well(library: Path, home: Path, tmp_path: Path) -> None:
    """A real terminal multiplexer answers what a program asks of a terminal."""
    tmux = next((place for place in os.environ["PATH"].split(":") if (Path(place) / "tmux").exists()), None)
    if tmux is None:
        pytest.skip("tmux is not installed")
    socket = str(tmp_path / "tmux")
    env = environment(home, PYTHONPATH=f"{TESTS.parent}:{TESTS}", LC_ALL="C.UTF-8")
    base = ["tmux", "-S", socket, "-u"]
    command = f"{sys.executable} {PROGRAM} chat -l {library} -m offline"
    subprocess.run([*base, "-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "30", command], env=env, check=True)
    try:
        screen(base, env, lambda text: "❯" in text)
        subprocess.run([*base, "send-keys", QUESTION, "Enter"], env=env, check=True)
        shown = screen(base, env, lambda text: "offline · 2 steps" in text)
        assert "gives up after 4 seconds" in shown
        subprocess.run([*base, "send-keys", "/quit", "Enter"], env=env, check=True)
    finally:
        subprocess.run([*base, "kill-server"], env=env, check=False, capture_output=True)


def screen(base: list[str], env: dict[str, str], wanted: Callable[[str], bool]) -> str:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done = subprocess.run([*base, "capture-pane", "-p"], env=env, capture_output=True, text=True, check=True)
        if wanted(done.stdout):
            return done.stdout
        time.sleep(0.05)
    raise AssertionError(done.stdout)
