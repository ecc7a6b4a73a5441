"""Every command and every program in the documentation runs as it stands, in order, and gives what is shown below it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import pytest

from assistant.cli import archivist, run
from docs.blocks import Block, Command, blocks
from search.embedding import Embedder, Vectors, load_embedder

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name not in {"plan.md", "commands.md"})]
CLOUDS = re.compile(r"\b(?:ollama|gemini|openrouter)[:/]\w")  # models that no test may ask: the command is parsed, not run
STAYING = ({"--watch"}, {"chat"}, {"config", "edit"}, {"models", "pull"})  # what waits for a person or a network: parsed as well
TIMES = re.compile(
    r"\d+(?:\.\d+)? (?:s|ms)\b|\b\d+\.\d{3}\b|just now|\d+ (?:seconds?|minutes?|hours?|days?) (?:ago|old)"
)  # and scores

NOTES = {
    "2026-09-20-sourdough.md": (
        "# Sourdough\n\nFeed the starter every 12 hours with equal parts of flour and water.\n\n## Baking\n\n"
        "Bake at 240 °C for 20 minutes with steam, then 25 minutes at 210 °C without.\n"
    ),
    "bakes.csv": "date,loaf,flour_g,minutes\n2026-09-21,country,450,45\n2026-09-28,rye,500,55\n2026-10-05,country,480,44\n",
}

pytestmark = [pytest.mark.model, pytest.mark.slow]


class Remembering:
    """The real model, which embeds each text once for all pages."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._embedder, name)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.embed_passages(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])


@pytest.fixture(scope="session")
def remembering() -> Remembering:
    return Remembering(load_embedder())


@pytest.fixture
def place(tmp_path: Path, remembering: Remembering, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout's data, and a home with notes and papers."""
    from search import embedding

    home, checkout = tmp_path / "home", tmp_path / "archivist"
    shutil.copytree(ROOT / "data", checkout / "data")
    for name, folder in (("papers", "policies"), ("work-notes", "tutorials")):
        shutil.copytree(ROOT / "data" / "library" / folder, home / name)
    (home / "notes").mkdir()
    for name, text in NOTES.items():
        (home / "notes" / name).write_text(text, encoding="utf-8")
    (checkout / "error.log").write_text("upstream did not answer in time\nTR-5040 GatewayUpstreamSlow\n", encoding="utf-8")
    (checkout / "style.md").write_text("Answer in one sentence.\n", encoding="utf-8")
    (checkout / "questions.txt").write_text("who is on call?\nwhat is TR-5040?\n", encoding="utf-8")
    first = (ROOT / "data" / "evals" / "assistant.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:3]
    (checkout / "cases.jsonl").write_text("".join(first), encoding="utf-8")
    for name in ("config", "data", "state", "cache"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(home / f".{name}"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ARCHIVIST_LIBRARY", str(checkout / "library.db"))
    monkeypatch.setenv("OLLAMA_HOST", "http://models.example:11434")
    monkeypatch.setenv("COLUMNS", "132")
    monkeypatch.chdir(checkout)
    monkeypatch.setattr(embedding, "load_embedder", lambda *_, **__: remembering)
    return checkout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_does_what_it_says(
    page: Path, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = blocks(page)
    first = next((command for block in found if not block.mark.startswith("no: ") for command in block.commands), None)
    if first is None or not first.line.startswith("archivist index"):
        assert run(["index", "data/library", "-q"]) == 0
    for block in found:
        if block.mark.startswith("no: ") or (block.mark == "evals" and "ARCHIVIST_EVALS" not in os.environ):
            continue
        if block.program:
            exec(compile(block.program, f"{page.name}:{block.line}", "exec"), {"__name__": "__main__"})
        for command in block.commands:
            where = f"{page.name}:{block.line}: {command.line}"
            done(command, expected_code(block, command), where, monkeypatch, capsys, runs=not block.mark.startswith("parsed: "))


def test_pages_hold_commands_and_programs() -> None:
    found = [block for page in PAGES for block in blocks(page)]
    assert sum(len(block.commands) for block in found) > 100
    assert any(block.program for block in found)


def expected_code(block: Block, command: Command) -> int:
    last = command is block.commands[-1]
    return int(block.mark.removeprefix("exit ")) if block.mark.startswith("exit ") and last else 0


def done(
    command: Command, code: int, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, runs: bool
) -> None:
    """Run a command, or parse it where it needs what no test has; compare the exit code and what is shown below it."""
    stages = command.stages
    given = ""
    if stages[0][0] == "cat":
        given = Path(stages.pop(0)[1]).read_text(encoding="utf-8")
    words = stages[0]
    if "<" in words:
        given = Path(words[words.index("<") + 1]).read_text(encoding="utf-8")
        words = words[: words.index("<")]
    if words[0] == "export":
        name, _, value = words[1].partition("=")
        monkeypatch.setenv(name, value)
        return
    if words[0].rpartition("/")[2] != "archivist":
        return  # make, python and what reads our output: other tests run these
    words = [os.path.expandvars(re.sub(r"^~(?=/|$)", os.environ["HOME"], word)) for word in words[1:]]
    if any("$ARCHIVIST_EVALS" in word for word in words):
        return  # what is not there cannot be named
    if not runs or not words or CLOUDS.search(command.line) or any(need <= set(words) for need in STAYING):
        parsed(words, where)
        return
    capsys.readouterr()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as stdin:
        stdin.write(given)
        stdin.seek(0)
        monkeypatch.setattr("sys.stdin", stdin)
        got = run(words)
    shown = capsys.readouterr()
    output = "".join((shown.err, shown.out))
    assert got == code, f"{where}\nended with {got}, want {code}:\n{output}"
    missing = first_missing(command.shown, [stream.replace(os.environ["HOME"], "/home/me").splitlines() for stream in shown])
    assert missing is None, f"{where}\ndoes not show {missing!r}:\n{output}"


def parsed(words: Sequence[str], where: str) -> None:
    """Take a command line apart as click does, without running it. Fails for unknown commands and options."""
    rest, command, context = list(words), archivist, click.Context(archivist, info_name="archivist")
    try:
        while isinstance(command, click.Group) and rest:
            name, found, rest = command.resolve_command(context, rest)
            assert found is not None
            command = found
            context = command.make_context(name, list(rest), parent=context)
            rest = list(context.protected_args) + context.args if isinstance(command, click.Group) else []
    except click.ClickException as error:
        pytest.fail(f"{where}\n{error.format_message()}")


def first_missing(shown: Sequence[str], streams: Sequence[Sequence[str]]) -> str | None:
    """The first line shown that no stream has below those before it; `…` stands for anything, times and scores may differ."""
    at = [0] * len(streams)
    for line in shown:
        if line.strip() == "…":
            continue
        pattern = re.compile(".*".join(map(re.escape, TIMES.sub("…", line).rstrip().split("…"))))
        for stream, output in enumerate(streams):
            found = (n for n in range(at[stream], len(output)) if pattern.fullmatch(TIMES.sub("…", output[n]).rstrip()))
            if (place := next(found, None)) is not None:
                at[stream] = place + 1
                break
        else:
            return line
    return None
