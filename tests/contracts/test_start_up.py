"""Promise 12: what needs no model loads none, and what needs no network works without any; start-up stays quick that way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from standin import StandIn

from search import upkeep

_MODEL = ("torch", "transformers", "sentence_transformers", "tokenizers")
_NETWORK = ("httpx", "ollama")
_REST = ("prompt_toolkit", "tomlkit")
_TABLES = ("openpyxl", "python_calamine", "pyarrow", "sqlglot", "numpy", "rich")
_HELP = ("sqlite_utils", "pydantic", "numpy", "pypdf", "selectolax", "markdown_it", "charset_normalizer", "yaml", "watchfiles")

# Runs a command with every socket refused, then says which modules it has loaded.
_PROGRAM = """
import socket, ssl, sys
def refuse(*_, **__):
    raise AssertionError("a socket was opened")
for name in ("socket", "create_connection", "getaddrinfo"):
    setattr(socket, name, refuse)
from assistant.cli import main
try:
    main(sys.argv[1:])
finally:
    print("LOADED", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture
def library(folder: Path, library_file: Path, embedder: StandIn) -> Path:
    """A library with one note."""
    (folder / "note.md").write_text("# Gateway\n\nThe gateway had a timeout.\n", "utf-8")
    upkeep.index(library_file, [folder], embedder)
    return library_file


def run(*arguments: str, library: Path) -> tuple[str, set[str]]:
    """What a command prints, and the packages that are loaded at its end."""
    environment = os.environ | {"ARCHIVIST_LIBRARY": str(library)}
    command = [sys.executable, "-c", _PROGRAM, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    shown, _, loaded = done.stdout.rpartition("LOADED ")
    return shown, set(loaded.split())


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--help",), "Commands"),
        (("search", "--help"), "--mode"),
        (("status",), "note"),
        (("roots",), "notes"),
        (("search", "gateway timeout", "--mode", "keyword"), "note.md"),
        (("search", "gateway timeout", "--mode", "keyword", "--json"), "note.md"),
    ],
    ids=" ".join,
)
def test_what_needs_no_model_loads_none_and_opens_no_socket(arguments: tuple[str, ...], shown: str, library: Path) -> None:
    output, loaded = run(*arguments, library=library)
    assert shown in output
    assert loaded.isdisjoint((*_MODEL, *_NETWORK, *_REST)), loaded.intersection((*_MODEL, *_NETWORK, *_REST))


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)], ids=str)
def test_sql_loads_no_reader_of_tables_and_opens_no_socket(form: tuple[str, ...], library: Path) -> None:
    output, loaded = run("sql", "select title from documents", *form, library=library)
    assert "Gateway" in output
    heavy = (*_MODEL, *_NETWORK, *_REST, *_TABLES)
    assert loaded.isdisjoint(heavy), loaded.intersection(heavy)


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("search", "--help")], ids=" ".join)
def test_help_loads_little_more_than_click(arguments: tuple[str, ...], library: Path) -> None:
    _, loaded = run(*arguments, library=library)
    assert loaded.isdisjoint(_HELP), loaded.intersection(_HELP)


def test_showing_a_passage_works_without_model_and_network(library: Path) -> None:
    output, _ = run("search", "gateway", "--mode", "keyword", "--json", library=library)
    key = output.partition('"key": "')[2][:10]
    assert len(key) == 10
    shown, loaded = run("show", key, library=library)
    assert "The gateway had a timeout." in shown
    assert loaded.isdisjoint((*_MODEL, *_NETWORK, *_REST))


def test_the_doctor_loads_no_model(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "models.example")  # another machine's, which is not asked
    with sqlite3.connect(library) as connection:
        connection.execute("DELETE FROM _meta WHERE key = 'embedder'")
    connection.close()
    output, loaded = run("doctor", library=library)
    assert "--online" in output
    assert loaded.isdisjoint(("torch", "transformers", "sentence_transformers")), loaded


def test_completing_a_line_loads_little_and_opens_no_socket(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ARCHIVIST_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_LINE", "archivist show no")
    output, loaded = run(library=library)
    assert output.strip() == "plain,note.md"
    assert loaded.isdisjoint((*_MODEL, *_NETWORK, *_REST, *_HELP)), loaded.intersection((*_MODEL, *_NETWORK, *_REST, *_HELP))


def test_the_refusal_of_sockets_is_real(library: Path) -> None:
    program = _PROGRAM.replace("main(sys.argv[1:])", "socket.create_connection(('localhost', 9))")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert "a socket was opened" in done.stderr
