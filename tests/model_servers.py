"""Running a real model server, and the short questions that so small a model can be asked."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from socket import socket
from typing import Any

import pytest
from scripted_server import asked

from assistant.backends.base import Backend
from assistant.errors import BadReplyError, ConnectionFailedError
from assistant.messages import Declaration, Message, Request, TextDelta

START_SECONDS = 120.0
SEARCH = Declaration(
    "search", "Find text.", {"type": "object", "properties": {"query": {"type": "string", "maxLength": 20}}, "required": ["query"]}
)
QUESTION = Request((Message("user", "Search for cats."),), (SEARCH,), max_output_tokens=48)
GREETING = Request((Message("user", "Say hello."),), max_output_tokens=16)


class RunningServer:
    """A server process of ours, and where it listens."""

    def __init__(self, command: list[str], port: int, page: str, environment: dict[str, str], log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(command, env=os.environ | environment, stdout=out, stderr=out, start_new_session=True)
        self._wait_for(page)

    def _wait_for(self, page: str) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(self.url + page, timeout=5) as answer:
                if answer.status == 200:
                    return
            time.sleep(0.2)
        self.kill()
        pytest.fail(f"the server did not start: {self.log.read_text('utf-8', 'replace')[-2000:]}")

    def kill(self) -> None:
        """End the process and what it has started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()


def free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def a_call_of(tool: Declaration) -> dict[str, Any]:
    """The `format` that leaves Ollama's model nothing to write but a call of this tool."""
    fields = {"name": {"const": tool.name}, "arguments": tool.parameters}
    return {"type": "object", "properties": fields, "required": ["name", "arguments"]}


def assert_a_death_is_told(server: RunningServer, model: Backend, request: Request) -> None:
    """A server killed after its first piece: the reply broke off, and the next request cannot reach it. Closes the model."""
    pieces = model.send(request)
    assert isinstance(next(pieces), TextDelta)
    server.kill()
    with pytest.raises(BadReplyError, match="broke off"):
        list(pieces)
    with pytest.raises(ConnectionFailedError, match="cannot be reached"):
        asked(model, GREETING)
    model.close()
