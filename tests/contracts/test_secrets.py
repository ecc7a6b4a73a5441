"""Promise 13: a key that is set, saved, echoed by a server or typed into a question appears in no file, log, error or output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from assistant import cli, settings
from search import Library

ROOT = Path(__file__).parents[2]
KEY = "sk-planted-0123456789abcdef"
SAVED = "sk-saved-fedcba9876543210"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Places of its own for settings and state; a key in the environment and another in the file."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for names in settings.KEY_NAMES.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("ARCHIVIST_CONFIG_DIR", raising=False)
    monkeypatch.setenv("ARCHIVIST_HISTORY", str(tmp_path / "conversations.db"))
    monkeypatch.delenv("ARCHIVIST_MODEL", raising=False)
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    settings.save_key("gemini", SAVED)
    return tmp_path


@pytest.fixture
def library(indexed: Callable[[], Library], write: Callable[[str, str], Path], library_file: Path) -> Path:
    write("a.md", "# Gateway\n\nThe gateway waits 30 seconds.")
    indexed()
    return library_file


def files_with(folder: Path, secret: str) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name != "keys.json" and secret.encode() in path.read_bytes()
    ]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> list[httpx.Request]:
    """A provider that echoes every header that it gets, in replies and in errors."""
    asked: list[httpx.Request] = []

    def answer(_: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"data": []})
        asked.append(request)
        seen = " ".join(f"{name}: {value}" for name, value in request.headers.items())
        if "fail" in request.content.decode():
            return httpx.Response(401, json={"error": {"code": 401, "message": f"bad key in {seen}"}})
        message = {"role": "assistant", "content": f"I saw {seen}."}
        body = {"id": "gen-1", "model": "m", "choices": [{"message": message, "finish_reason": "stop"}], "usage": {}}
        return httpx.Response(200, json=body)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    return asked


@pytest.mark.parametrize("form", [[], ["--json"], ["--trace"]])
@pytest.mark.parametrize("question", ["what waits?", "does it fail?", f"is {KEY} or {SAVED} my key?"])
def test_no_key_is_shown_or_written(
    home: Path, library: Path, server: list[httpx.Request], form: list[str], question: str, capfd: pytest.CaptureFixture[str]
) -> None:
    record = home / "record.jsonl"
    arguments = ["ask", "-m", "openrouter:x/y", "--no-stream", "-l", str(library), "--record", str(record), *form, question]
    code = cli.run(arguments)
    assert code == (1 if "fail" in question else 0)
    assert server
    assert server[-1].headers["authorization"] == f"Bearer {KEY}"
    out = "".join(capfd.readouterr())
    assert KEY not in out
    assert SAVED not in out
    assert files_with(home, KEY) == []
    assert files_with(home, SAVED) == []
    assert (home / "conversations.db").exists() == (code == 0)


def test_the_request_is_shown_without_the_key(
    home: Path, library: Path, server: list[httpx.Request], capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["ask", "-m", "openrouter:x/y", "-l", str(library), "--show-request", f"what waits? {KEY}"]) == 0
    shown = capfd.readouterr().out
    assert json.loads(shown)["model"] == "x/y"
    assert KEY not in shown
    assert server == []


def test_a_provider_s_key_goes_to_its_host_only(
    home: Path, library: Path, server: list[httpx.Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["ask", "-m", "openrouter:x", "--base-url", "http://models.example:8080/v1", "--no-stream", "-l", str(library)]
    assert cli.run([*arguments, "what waits?"]) == 0
    assert KEY not in str(server[-1].headers.raw)
    monkeypatch.setenv("ARCHIVIST_API_KEY", "sk-other-0011223344")
    assert cli.run([*arguments, "what waits?"]) == 0
    assert server[-1].headers["authorization"] == "Bearer sk-other-0011223344"
    assert server[-1].url.host == "models.example"


def test_settings_and_keys_are_private(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = settings.save_key("openrouter", KEY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert cli.run(["keys", "list"]) == 0
    shown = capfd.readouterr().out
    assert "OPENROUTER_API_KEY" in shown
    assert KEY not in shown
    assert repr(settings.find_key("openrouter")) == "Key(source='OPENROUTER_API_KEY')"


@pytest.mark.parametrize("words", [["openrouter", KEY], ["openrouter", "--", KEY], [KEY], [KEY, KEY]])
def test_a_key_that_is_typed_in_the_wrong_place_is_not_repeated(
    home: Path, words: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY")
    assert cli.run(["keys", "set", *words]) == 2
    assert KEY not in "".join(capfd.readouterr())
    assert files_with(home, KEY) == []


def test_a_key_in_the_place_of_the_model_is_neither_shown_nor_kept(
    home: Path, library: Path, server: list[httpx.Request], capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["ask", "-m", f"openrouter:{KEY}", "--no-stream", "-l", str(library), "what waits?"]) == 0
    assert cli.run(["models", "use", f"openrouter:{KEY}"]) == 0
    assert cli.run(["history", "list"]) == 0
    assert KEY not in "".join(capfd.readouterr())
    assert [file for file in files_with(home, KEY) if Path(file).name != "config.toml"] == []


def test_a_pipe_without_end_is_not_read_without_end(home: Path) -> None:
    with Path("/dev/zero").open() as zeros:
        command = [sys.executable, "-m", "assistant", "keys", "set", "openrouter"]
        done = subprocess.run(command, stdin=zeros, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)
    assert (done.returncode, "key: want one word" in done.stderr) == (1, True)
