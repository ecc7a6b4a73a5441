"""`archivist models` and `models pull`: what is listed from where, what a download tells, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from scripted_server import Cut, ScriptedServer

from assistant import models_command, settings
from assistant.backends.ollama import OllamaServer
from assistant.cli import run

KEY = "sk-planted-0123456789abcdef"
TAGS = {"models": [{"model": "qwen3:8b"}, {"model": "tiny:latest"}]}
SHOWN = {
    "qwen3:8b": {"capabilities": ["tools", "thinking"], "model_info": {"qwen3.context_length": 40960}},
    "tiny:latest": {"capabilities": ["completion"], "model_info": {"llama.context_length": 2048}},
}
ROUTER = {
    "data": [
        {
            "id": "anthropic/claude-haiku-5.5",
            "supported_parameters": ["tools", "reasoning"],
            "context_length": 200000,
            "pricing": {"prompt": "0.000001", "completion": "0.000005"},
        },
        {"id": "plain/model", "supported_parameters": [], "context_length": 8000, "pricing": {"prompt": "0", "completion": "0"}},
    ]
}
GEMINI = {
    "models": [
        {"name": "models/gemini-3.8-flash", "inputTokenLimit": 1048576, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/text-embedding", "inputTokenLimit": 2048, "supportedGenerationMethods": ["embedContent"]},
    ]
}


def wire(request: httpx.Request) -> httpx.Response:
    """Ollama here, the clouds where they are."""
    path = (request.url.host, request.url.path)
    if path == ("127.0.0.1", "/api/tags"):
        return httpx.Response(200, json=TAGS)
    if path == ("127.0.0.1", "/api/show"):
        return httpx.Response(200, json=SHOWN[json.loads(request.content)["model"]])
    if path == ("127.0.0.1", "/v1/models"):
        return httpx.Response(200, json={"data": [{"id": "local-gguf", "max_model_len": 4096}]})
    if path == ("openrouter.ai", "/api/v1/models"):
        return httpx.Response(200, json=ROUTER)
    if path == ("generativelanguage.googleapis.com", "/v1beta/models"):
        return httpx.Response(200, json=GEMINI)
    return httpx.Response(404, json={"error": "not found"})


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hosts that were asked."""
    hosts: list[str] = []

    def answer(_: object, request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return wire(request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    monkeypatch.setenv("ARCHIVIST_CONFIG_DIR", str(tmp_path / "config"))
    return hosts


def listed(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The list as JSON, by the names of the models."""
    assert run(["models", *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    return {entry["model"]: entry for entry in told["models"]} | {"": told}


def test_what_a_local_ollama_has_is_listed_with_what_it_can_do(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys)
    facts = {name: found["ollama:qwen3:8b"][name] for name in ("local", "tools", "thinking", "context", "used")}
    assert facts == {"local": True, "tools": True, "thinking": True, "context": 8192, "used": True}
    assert (found["ollama:tiny:latest"]["tools"], found["ollama:tiny:latest"]["context"]) == (False, 2048)
    assert found["offline"]["price"] == {"input": 0, "output": 0}


def test_no_cloud_is_asked_unless_it_is_wished(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_HOST", "gpu.local")
    found = listed(capsys, "--base-url", "http://models.example/v1")
    assert asked == []
    assert found["openrouter:anthropic/claude-haiku-5.5"]["known"] is False
    assert "OPENROUTER_API_KEY" in found["openrouter:anthropic/claude-haiku-5.5"]["note"]
    assert len(found[""]["notes"]) == 2


def test_with_online_the_clouds_that_have_a_key_are_listed_with_prices(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    found = listed(capsys, "--online")
    haiku = found["openrouter:anthropic/claude-haiku-5.5"]
    assert (haiku["tools"], haiku["thinking"], haiku["context"], haiku["price"]) == (True, True, 200000, {"input": 1, "output": 5})
    assert found["openrouter:plain/model"]["tools"] is False
    assert found["gemini:gemini-3.8-flash"]["context"] == 1048576
    assert "gemini:text-embedding" not in found
    assert KEY not in json.dumps(found)


def test_a_server_of_one_s_own_is_listed(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "--base-url", "http://127.0.0.1:8080/v1")["openrouter:local-gguf"]
    assert (found["local"], found["context"]) == (True, 4096)


def test_the_model_in_use_is_marked_and_the_columns_stand_below_each_other(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    settings.save_model("ollama:tiny")
    assert run(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("* o")] == ["ollama:tiny:latest"]
    tools = lines[0].index("tools")
    assert {line[tools : tools + 3].strip() for line in lines[1:] if "local" in line} == {"yes", "no"}


def test_a_model_in_use_that_is_not_listed_is_added(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCHIVIST_MODEL", "gemini:gemini-x")
    assert listed(capsys)["gemini:gemini-x"]["used"] is True


# Downloads


def steps(*told: dict[str, Any], breaks: bool = False) -> httpx.Response:
    pieces = [json.dumps(step).encode() + b"\n" for step in told]
    return httpx.Response(200, stream=Cut(pieces, breaks=breaks))


LAYER = [{"status": "pulling abc", "total": 1000000, "completed": done} for done in (0, 50000, 500000, 1000000)]


@pytest.fixture
def pulled(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Pulls from a server that tells these steps; the exit code and what was said."""

    def pull(*answers: Any, name: str = "qwen3:8b", quiet: bool = False) -> tuple[int, str]:
        server = ScriptedServer(*answers, pages={"/api/show": SHOWN["qwen3:8b"], "/api/tags": TAGS})
        code = models_command.pull(name, quiet=quiet, server=OllamaServer("127.0.0.1", client=server.client))
        captured = capsys.readouterr()
        assert captured.out == ""
        assert server.bodies[0]["model"] == name.removeprefix("ollama:")
        return code, captured.err

    return pull


@pytest.mark.parametrize("name", ["qwen3:8b", "ollama:qwen3:8b"])
def test_a_download_tells_how_far_it_is_and_what_to_do_next(pulled: Callable[..., tuple[int, str]], name: str) -> None:
    code, said = pulled(steps({"status": "pulling manifest"}, *LAYER, {"status": "success"}), name=name)
    assert code == 0
    assert said.splitlines() == [
        "pulling manifest",
        "pulling abc 0 % of 1 MB",
        "pulling abc 50 % of 1 MB",
        "pulling abc 100 % of 1 MB",
        "success",
        "qwen3:8b is there: can call tools, thinks, was made for 40,960 tokens",
        "archivist models use ollama:qwen3:8b makes it the one that is used",
    ]


@pytest.mark.parametrize("total", [-5, 10**400, 0])
def test_a_size_that_cannot_be_is_none(pulled: Callable[..., tuple[int, str]], total: int) -> None:
    code, said = pulled(steps({"status": "pulling", "total": total, "completed": 10**401}, {"status": "success"}))
    assert (code, said.splitlines()[:2]) == (0, ["pulling", "success"])


def test_no_more_than_all_is_ever_there(pulled: Callable[..., tuple[int, str]]) -> None:
    said = pulled(steps({"status": "pulling", "total": 1_000_000, "completed": 5_000_000}, {"status": "success"}))[1]
    assert said.splitlines()[0] == "pulling 100 % of 1 MB"


def test_a_quiet_download_says_nothing(pulled: Callable[..., tuple[int, str]]) -> None:
    assert pulled(steps(*LAYER, {"status": "success"}), quiet=True) == (0, "")


class Interrupted(httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield json.dumps(LAYER[1]).encode() + b"\n"
        raise KeyboardInterrupt


def test_ctrl_c_says_that_the_download_goes_on_from_there(capsys: pytest.CaptureFixture[str]) -> None:
    client = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, stream=Interrupted())))
    code = models_command.pull("qwen3:8b", quiet=False, server=OllamaServer("127.0.0.1", client=client))
    assert code == 130
    assert "what has come is kept, and archivist models pull qwen3:8b goes on from there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (steps({"status": "pulling manifest"}, {"error": "pull model manifest: file does not exist"}), "no such model"),
        (httpx.Response(500, json={"error": "no space left on device"}), "no space left on device"),
        (steps(*LAYER[:2], breaks=True), "broke off"),
        (steps(*LAYER[:2]), "ended early, at: pulling abc"),
        (httpx.ConnectError("refused"), "cannot be reached"),
    ],
    ids=["unknown", "disk full", "cut", "early end", "not running"],
)
def test_a_download_that_fails_says_why_and_what_to_do(
    answer: Any, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted = ScriptedServer(answer)
    monkeypatch.setattr("assistant.backends.ollama.OllamaServer", lambda: OllamaServer("127.0.0.1", client=scripted.client))
    assert run(["models", "pull", "qwen3:8b"]) == 1
    *_, what, hint = capsys.readouterr().err.splitlines()
    assert said in what
    assert hint.strip()


@pytest.mark.parametrize("name", ["gemini:gemini-3.8-flash", "offline", "openrouter/x", "", "two words", "a\nb"])
def test_what_cannot_be_downloaded_is_a_usage_error(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", name]) == 2
    assert "models pull:" in capsys.readouterr().err
