"""`archivist completion`: the scripts in real shells, what is offered, and that nothing a library holds is obeyed by a shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standin import StandIn

from assistant import completing, settings, shells
from assistant.cli import run
from search import names, upkeep

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 60.0
EVIL = "$(touch pwned) `id` \"x' "


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library, settings and a program that is found as `archivist`."""
    home = tmp_path_factory.mktemp("shell")
    notes = home / "notes"
    for path, text in {
        "runbooks/gateway.md": "---\ntags: [edge]\nauthor: Ann Lee\n---\n# Gateway\n\nIt waits.",
        "release notes/日本語.md": "# 接続\n\nText.",
        "evil.md": f"---\ncategory: {json.dumps(EVIL)}\n---\n# Evil\n\nText.",
        "finance/budget.csv": "month,amount\n2026-01,3\n2026-02,4\n",
    }.items():
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        (notes / path).write_text(text, encoding="utf-8")
    upkeep.index(home / "work.db", [notes], StandIn())
    (home / "config").mkdir()
    (home / "config" / "config.toml").write_text(f'model = "ollama:qwen3:8b"\n[libraries]\nwork = "{home / "work.db"}"\n')
    program = home / "bin" / "archivist"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m assistant "$@"\n')
    program.chmod(0o755)
    return home


@pytest.fixture(scope="module")
def environment(home: Path) -> dict[str, str]:
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    xdg = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "CACHE", "STATE")}
    mine = {"PATH": path, "HOME": str(home), "ARCHIVIST_CONFIG_DIR": str(home / "config"), "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    kept = {name: value for name, value in os.environ.items() if name in {"FPATH", "LD_LIBRARY_PATH"}}
    return kept | mine | xdg | {"ARCHIVIST_LIBRARY": "work", "INPUTRC": "/dev/null"}


class Shell:
    """An interactive shell in which keys are pressed."""

    def __init__(self, command: list[str], environment: dict[str, str], home: Path, *begin: str) -> None:
        self._child = pexpect.spawn(
            command[0], command[1:], env=environment, cwd=str(home), encoding="utf-8", timeout=DEADLINE, dimensions=(50, 400)
        )
        self._count = 0
        for line in begin:
            self._child.sendline(line)
        assert self.typed("nothing", key="") == ["nothing"]

    def typed(self, line: str, key: str = "\t") -> list[str]:
        """The words of the line after a key was pressed, as the shell reads them."""
        self._count += 1
        mark = f"end{self._count}"
        self._child.send(f"{line}{key}\x01show {mark} \x05\n")
        self._child.expect(rf"begin-{mark}\r?\n(.*?)stop-{mark}")
        return [found.replace("\r", "") for found in re.findall(r"<(.*?)>\r?\n", self._child.match[1], re.DOTALL)]

    def close(self) -> None:
        self._child.close(force=True)


SHOW = r"""show() { local m=$1; shift; printf 'begin-%s\n' "$m"; printf '<%s>\n' "$@"; printf 'stop-%s\n' "$m"; }"""


@pytest.fixture(scope="module")
def bash(home: Path, environment: dict[str, str]) -> Iterator[Shell]:
    begin = ["bind 'set enable-bracketed-paste off'", 'eval "$(archivist completion bash)"', SHOW]
    shell = Shell(["bash", "--norc", "--noprofile", "-i"], environment, home, *begin)
    yield shell
    shell.close()


CASES = {
    "a command": ("archivist hist", ["archivist", "history"]),
    "a command of a command": ("archivist history exp", ["archivist", "history", "export"]),
    "an option": ("archivist search --expl", ["archivist", "search", "--explain"]),
    "an option behind a question": ('archivist "what is it?" --show-req', ["archivist", "what is it?", "--show-request"]),
    "a value with a space": ("archivist search --category rel", ["archivist", "search", "--category", "release notes"]),
    "within double quotes": ('archivist search --category "release n', ["archivist", "search", "--category", "release notes"]),
    "behind an equals sign": ("archivist search --category=run", ["archivist", "search", "--category=runbooks"]),
    "an author": ("archivist ask --author An", ["archivist", "ask", "--author", "Ann Lee"]),
    "a model with colons": ("archivist ask -m ollama:qw", ["archivist", "ask", "-m", "ollama:qwen3:8b"]),
    "a library by name": ("archivist status -l wo", ["archivist", "status", "-l", "work"]),
    "a table": ("archivist tables bud", ["archivist", "tables", "budget"]),
    "a path in another script": ("archivist show release\\ notes/日", ["archivist", "show", "release notes/日本語.md"]),
    "a shell": ("archivist completion fi", ["archivist", "completion", "fish"]),
    "a setting": ("archivist config set limits.co", ["archivist", "config", "set", "limits.cost"]),
    "what a shell would obey": ("archivist search --category \\$", ["archivist", "search", "--category", EVIL.strip()]),
}


@pytest.mark.parametrize(("line", "words"), CASES.values(), ids=CASES)
def test_bash_completes(bash: Shell, home: Path, line: str, words: list[str]) -> None:
    assert bash.typed(line) == words
    assert not (home / "pwned").exists()


def test_bash_inserts_all_that_fit(bash: Shell) -> None:
    assert bash.typed("archivist search --mode ", key="\x1b*") == ["archivist", "search", "--mode", "hybrid", "keyword", "vector"]


@pytest.mark.parametrize(
    "line", ["archivist nonsense --x ", "archivist -l /no/such/file search --category ", "archivist show \x1b"]
)
def test_bash_is_told_nothing_where_there_is_nothing(bash: Shell, line: str) -> None:
    words = line.replace("\x1b", "").split()
    assert bash.typed(line)[: len(words)] == words


def test_files_are_completed_where_files_are_meant(bash: Shell) -> None:
    assert bash.typed("archivist index no") == ["archivist", "index", "notes/"]


@pytest.mark.parametrize(("line", "words"), [CASES["a command"], CASES["a value with a space"], CASES["a model with colons"]])
def test_zsh_completes(home: Path, environment: dict[str, str], line: str, words: list[str]) -> None:
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    begin = ["bindkey -e; unsetopt PROMPT_SP", "autoload -U compinit && compinit -u", 'eval "$(archivist completion zsh)"', SHOW]
    shell = Shell(["zsh", "-f", "-i"], environment, home, *begin)
    try:
        assert shell.typed(line) == words
    finally:
        shell.close()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("archivist hist", ["history"]),
        ("archivist search --category rel", ["release notes"]),
        ("archivist search --category=run", ["--category=runbooks"]),
        ("archivist ask -m ollama:", ["ollama:qwen3:8b"]),
    ],
)
def test_fish_completes(environment: dict[str, str], line: str, found: list[str]) -> None:
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    program = f"archivist completion fish | source; complete -C {line!r}"
    done = subprocess.run(["fish", "--no-config", "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert [offered.partition("\t")[0] for offered in done.stdout.splitlines()] == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_says_where_it_goes(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert out.startswith("#compdef archivist\n") == (shell == "zsh")
    assert len([line for line in out.splitlines() if f"archivist completion {shell} >" in line]) == 1


# What is offered


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    """What bash is told for a line; nothing may stand on standard error."""

    def complete(line: str) -> list[str]:
        monkeypatch.setenv(completing.VARIABLE, "bash_complete")
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_WORDBREAKS", " \"'><=;|&(:")
        run([])
        captured = capfd.readouterr()
        assert captured.err == ""
        return [text.partition(",")[2] for text in captured.out.splitlines() if text]

    return complete


@pytest.fixture
def library(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A library of this test's own."""
    file = tmp_path / "own.db"
    shutil.copy(home / "work.db", file)
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(file))
    monkeypatch.setenv("ARCHIVIST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return file


Offered = Callable[[str], list[str]]


def test_every_command_is_offered(offered: Offered) -> None:
    assert {"index", "search", "ask", "doctor", "models", "completion"} <= set(offered("archivist "))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("archivist search --type ", ["csv", "markdown"]),
        ("archivist search --tag e", ["edge"]),
        ("archivist show fin", ["finance/budget.csv"]),
        ("archivist keys set g", ["gemini"]),
        ("archivist models use of", ["offline"]),
        ("ARCHIVIST_TODAY=2026-01-01 archivist models use of", ["offline"]),
        ("archivist history ", ["delete", "export", "list", "name", "search", "show"]),
    ],
)
def test_names_are_offered(library: Path, offered: Offered, line: str, found: list[str]) -> None:
    assert offered(line) == found


def test_the_library_that_the_line_names_is_the_one_that_is_asked(
    library: Path, offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCHIVIST_LIBRARY", "/no/such/file.db")
    assert offered(f"archivist search -l {library} --tag e") == ["edge"]


def test_keys_of_passages_are_offered_from_three_characters_on(library: Path, offered: Offered) -> None:
    with sqlite3.connect(library) as connection:
        (key,) = connection.execute("SELECT key FROM passages").fetchone()
    connection.close()
    assert key in offered(f"archivist show {key[:3]}")
    assert key not in offered(f"archivist show {key[:2]}")


def test_models_that_were_listed_are_offered(library: Path, offered: Offered) -> None:
    settings.save_model("gemini:gemini-3.8-flash")
    completing.remember_models(["offline", "ollama:tiny:latest"])
    assert offered("archivist ask -m ") == ["offline", "gemini:gemini-3.8-flash", "ollama:tiny:latest"]
    assert offered("archivist ask -m ollama:t") == ["tiny:latest"]


@pytest.mark.parametrize("damage", ["missing", "no database", "settings", "memory"])
def test_what_is_broken_gives_no_completion_and_no_word(library: Path, offered: Offered, damage: str, tmp_path: Path) -> None:
    if damage == "missing":
        library.unlink()
    elif damage == "no database":
        library.write_bytes(b"x" * 5000)
    elif damage == "settings":
        settings.write_private(settings.folder() / "config.toml", "model =")
    else:
        settings.write_private(tmp_path / "cache" / "archivist" / "models.json", "{[")
    assert offered("archivist search --tag e") == (["edge"] if damage == "memory" else [])
    assert offered("archivist ask -m off") == ["offline"]
    assert offered("archivist nonsense --x ") == []


def test_names_that_no_line_can_hold_are_left_out(library: Path, offered: Offered) -> None:
    with sqlite3.connect(library) as connection:
        connection.execute("UPDATE document_tags SET tag = 'e' || char(10) || 'plain,rm -rf /'")
    connection.close()
    assert offered("archivist search --tag e") == []


def test_a_library_that_takes_too_long_offers_nothing(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(library) as connection:
        many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT 1, 'e' || x FROM n"
        connection.execute(f"INSERT OR IGNORE INTO document_tags {many}")
    connection.close()
    assert len(names.beginning(library, "tag", "e")) == 50
    monkeypatch.setattr(names, "_SECONDS", -1)
    assert names.beginning(library, "tag", "e") == []


@pytest.mark.parametrize("kind", names.KINDS)
def test_names_are_those_that_begin_as_typed_whatever_stands_in_them(library: Path, kind: names.Kind) -> None:
    found = names.beginning(library, kind, "%_'")
    assert found == []


@pytest.mark.parametrize(
    ("line", "words", "current", "quote", "replaced"),
    [
        ("archivist ", ["archivist"], "", "", 0),
        ("archivist se", ["archivist"], "se", "", 0),
        ("a 'b c' d\\ e", ["a", "b c"], "d e", "", 0),
        ('a "b c', ["a"], "b c", '"', 0),
        ("a x:y:z", ["a"], "x:y:z", "", 4),
        ("a --b=c", ["a"], "--b=c", "", 4),
        ('a --b="c d', ["a"], "--b=c d", '"', 4),
        ("a 'x:y", ["a"], "x:y", "'", 0),
        ("a ''", ["a"], "", "", 0),
        ("a '' ", ["a", ""], "", "", 0),
    ],
)
def test_a_line_is_read_as_bash_reads_it(line: str, words: list[str], current: str, quote: str, replaced: int) -> None:
    found = shells.read_line(line, " \"'><=;|&(:")
    assert (found.words, found.current, found.quote, found.replaced) == (words, current, quote, replaced)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), st.sampled_from(["", '"']))
def test_a_quoted_value_is_read_back_as_it_was(value: str, quote: str) -> None:
    line = f"x {quote}{shells.quoted(value, quote)}{quote} "
    assert shells.read_line(line, "").words == ["x", value]
