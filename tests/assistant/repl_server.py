"""A server that speaks chat completions, as a program of its own: each request gets the next line of its script.

A line of the script, a file of JSON lines, is one of {"text": ...}, {"call": NAME, "arguments": {...}}, {"status": 500} and
{"hang": true}; a text with "until" stops in its middle until the file named there exists. The last line stays. [KEY] in a text
becomes the first citation key of the last tool result. It prints its port, and counts its requests in the file named by its second
argument.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_KEY = re.compile(r'"key":\s*"([a-z2-7]{10})"')
_PIECE = 24
_LONGEST = 120.0  # seconds that anything is held back


class Script:
    """The lines, handed out one after another."""

    def __init__(self, file: Path, counted: Path) -> None:
        self._lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        self._counted = counted
        self._lock = threading.Lock()
        self._asked = 0

    def next(self) -> dict[str, Any]:
        with self._lock:
            line = self._lines[min(self._asked, len(self._lines) - 1)]
            self._asked += 1
            self._counted.write_text(str(self._asked))
            return dict(line)


class Handler(BaseHTTPRequestHandler):
    script: Script

    def do_GET(self) -> None:
        self._send(200, "application/json", b'{"data": []}')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        line = self.script.next()
        if "status" in line:
            self._send(line["status"], "application/json", b'{"error": {"message": "the machine is on fire"}}')
            return
        if line.get("hang"):
            time.sleep(_LONGEST)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if "call" in line:
            function = {"name": line["call"], "arguments": json.dumps(line["arguments"])}
            self._event({"tool_calls": [{"index": 0, "id": f"c{time.monotonic_ns()}", "function": function}]}, "tool_calls")
        else:
            self._text(line, body)
        self.wfile.write(b"data: [DONE]\n\n")

    def _text(self, line: dict[str, Any], body: str) -> None:
        told = [message["content"] for message in json.loads(body)["messages"] if message["role"] == "tool"]
        keys = _KEY.findall(str(told[-1])) if told else []
        text = line["text"].replace("[KEY]", f"[{keys[0]}]" if keys else "")
        pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
        for number, piece in enumerate(pieces):
            if number == len(pieces) - 1 and "until" in line:
                end = time.monotonic() + _LONGEST
                while not Path(line["until"]).exists() and time.monotonic() < end:
                    time.sleep(0.02)
            self._event({"content": piece}, None)
        self._event({}, "stop")

    def _event(self, delta: dict[str, Any], finish: str | None) -> None:
        usage = {"prompt_tokens": 100, "completion_tokens": 20} if finish else None
        chunk = {"model": "scripted", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": usage}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is told."""


if __name__ == "__main__":
    Handler.script = Script(Path(sys.argv[1]), Path(sys.argv[2]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
