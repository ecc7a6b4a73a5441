"""Every command has a page that can be trusted: examples that are understood, lines that fit, and the same text in docs/."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from assistant.cli import archivist, run
from assistant.cli.manual import WIDTH, described, examples, page

ROOT = Path(__file__).resolve().parents[2]
SIGNS = {"|", ">", "<", ";", "&&", "(", ")"}


def every_command(
    group: click.Group = archivist, names: tuple[str, ...] = ("archivist",)
) -> list[tuple[tuple[str, ...], click.Command]]:
    """All commands by their names."""
    found: list[tuple[tuple[str, ...], click.Command]] = [(names, group)]
    for name, command in group.commands.items():
        found += every_command(command, (*names, name)) if isinstance(command, click.Group) else [((*names, name), command)]
    return found


COMMANDS = every_command()
EXAMPLES = [line for _, command in COMMANDS for line in examples(command)]


def our_words(line: str) -> list[str]:
    """The words of our program in a shell's line, without what stands around them."""
    lexer = shlex.shlex(line.replace('"$(', "( ").replace(')"', " )"), posix=True, punctuation_chars="|<>;&()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = list(lexer)
    start = words.index("archivist") + 1
    end = next((place for place in range(start, len(words)) if words[place] in SIGNS), len(words))
    return words[start:end]


@pytest.mark.parametrize(("names", "command"), COMMANDS, ids=[" ".join(names) for names, _ in COMMANDS])
def test_a_page_says_what_the_command_does_shows_an_example_and_fits(names: tuple[str, ...], command: click.Command) -> None:
    text = page(command, names)
    assert text.startswith(f"Usage: {' '.join(names)} ")
    assert len(described(command).split()) >= 4
    assert described(command).split("\n\n")[0].rstrip().endswith(".")
    assert "\nExamples:\n" in text
    assert max(map(len, text.splitlines())) <= WIDTH
    shown = [line.strip() for line in text.splitlines()]
    assert [line for line in examples(command) if line not in shown] == []
    if len(names) > 1:
        own = " ".join(names[1:])
        assert [line for line in examples(command) if f"archivist {own}" in line or (names[1:] == ("ask",))], "its own name"


@pytest.mark.parametrize(("names", "command"), COMMANDS, ids=[" ".join(names) for names, _ in COMMANDS])
def test_every_option_is_explained(names: tuple[str, ...], command: click.Command) -> None:
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    assert [option.name for option in options if not option.help] == []
    text = page(command, names)
    assert [option.opts for option in options if not any(form in text for form in option.opts)] == []


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_a_command_line_that_is_understood(line: str) -> None:
    rest, command, context = our_words(line), archivist, click.Context(archivist, info_name="archivist")
    while isinstance(command, click.Group) and rest:
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None
        command = found
        context = command.make_context(name, list(rest), parent=context)
        rest = [*context._protected_args, *context.args] if isinstance(command, click.Group) else []


def test_there_are_examples_enough() -> None:
    assert len(EXAMPLES) > 60
    assert len(set(EXAMPLES)) > 50


def test_the_documentation_shows_the_pages_as_they_are() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/write_docs.py", "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "40", "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_front_page_names_every_command_once_with_its_first_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    for name in archivist.commands:
        assert len(re.findall(rf"^  {name}  +\S", out, re.MULTILINE)) == 1
    assert "..." not in out.replace("ARGS]...", "")
    assert "Exit code" in out


def test_a_version_is_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert re.fullmatch(r"archivist \d+\.\d+\.\d+\n", capsys.readouterr().out)
