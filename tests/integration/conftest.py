"""Real model servers on this machine: llama.cpp's and Ollama's, with a model so small that it proves the wire, not the answers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from model_servers import RunningServer, free_port

ROOT = Path(__file__).parents[2]
TEMPLATE = Path(__file__).with_name("chatml_tools.jinja")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What stands in this folder talks to servers on this machine, to nothing else, and takes its time."""
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            for mark in (pytest.mark.integration, pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])):
                item.add_marker(mark)


@pytest.fixture(scope="session")
def servers() -> Path:
    """The folder that scripts/servers.sh has made; tests are skipped without it."""
    place = ROOT / "build" / "servers"
    if not (place / "llama" / "ready").exists() or not (place / "ollama" / "ready").exists():
        pytest.skip(f"no model servers in {place}: bash scripts/servers.sh sets them up")
    return place


@pytest.fixture(scope="session")
def start_llama(servers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RunningServer]]:
    """Starts llama.cpp's server; all are ended with the session."""
    scripts = os.environ.get("ARCHIVIST_SERVERS")
    if not scripts:
        pytest.skip("ARCHIVIST_SERVERS is not set: it names the folder of llama_server.py")
    running: list[RunningServer] = []

    def start(*, context: int = 1024, template: Path = TEMPLATE) -> RunningServer:
        port = free_port()
        program = [str(servers / "llama" / "bin" / "python"), str(Path(scripts) / "llama_server.py"), str(servers / "model.gguf")]
        log = tmp_path_factory.mktemp("llama") / "log"
        running.append(RunningServer([*program, str(port), str(context), "1", str(template)], port, "/health", {}, log))
        return running[-1]

    yield start
    for server in running:
        server.kill()


@pytest.fixture(scope="session")
def start_ollama(servers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RunningServer]]:
    """Starts Ollama with the models of the Modelfiles; all are ended with the session."""
    place, models = servers / "ollama", tmp_path_factory.mktemp("models")
    running: list[RunningServer] = []

    def start() -> RunningServer:
        port = free_port()
        environment = {"OLLAMA_HOST": f"127.0.0.1:{port}", "OLLAMA_MODELS": str(models), "HOME": str(models)}
        log = tmp_path_factory.mktemp("ollama") / "log"
        server = RunningServer([str(place / "ollama.sh"), "serve"], port, "/api/version", environment, log)
        running.append(server)
        if not (models / "created").exists():
            for name in ("smollm2-json", "smollm2-notools"):
                command = [str(place / "ollama.sh"), "create", name, "-f", str(place / f"Modelfile.{name}")]
                subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, cwd=place)
            (models / "created").touch()
        return server

    yield start
    for server in running:
        server.kill()
