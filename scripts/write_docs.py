"""docs/commands.md from the help of the commands: written, or compared with --check."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assistant.cli import archivist
from assistant.cli.manual import page

TARGET = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
_HEAD = """# Commands

The help of every command, as `archivist COMMAND --help` prints it. This page is written by
`python scripts/write_docs.py`; the texts stand with the commands in `assistant/cli/`.
"""
Named = tuple[tuple[str, ...], click.Command]


def commands(group: click.Group = archivist, names: tuple[str, ...] = ("archivist",)) -> Iterator[Named]:
    """Every command with its names, a group before its commands, in the order of the help."""
    yield names, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name), command


def written() -> str:
    """The page as it should be."""
    found = list(commands())
    parts = [_HEAD]
    parts.append("\n".join(f"- [{' '.join(names)}](#{'-'.join(names)})" for names, _ in found if len(names) == 2))
    for names, command in found:
        level = "#" * (2 if len(names) < 3 else 3)
        parts.append(f"\n{level} {' '.join(names)}\n\n```text\n{page(command, names)}\n```")
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or compare it; returns the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: python scripts/write_docs.py [--check]", file=sys.stderr)
        return 2
    text = written()
    if arguments:
        same = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
        if not same:
            print(f"{TARGET} is not what the commands say: run python scripts/write_docs.py", file=sys.stderr)
        return 0 if same else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
