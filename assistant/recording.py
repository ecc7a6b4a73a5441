"""Recordings: the replies of a model, so that a question can be answered again without the model; tools run for real.

One JSON object a line: first what was asked and of whom, then each reply with the digests of the tool results that it had
before it. No key, no header, no provider's own form is recorded.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, get_args

from assistant import settings
from assistant.backends.base import Backend, Capabilities
from assistant.errors import UserError
from assistant.messages import FinishReason, Message, Outcome, Reply, Request, TextDelta, ToolCall, Usage

VERSION = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording as read. results: for each reply, the digests of the results of the message before it."""

    question: str
    model: str
    today: str | None
    replies: tuple[Reply, ...]
    results: tuple[tuple[str, ...], ...]


class Recorder:
    """A backend that passes everything on and keeps what the model replied."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._lines: list[dict[str, Any]] = []

    @property
    def name(self) -> str:
        """The name of the backend behind it."""
        return self._backend.name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the backend behind it."""
        return self._backend.capabilities

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """What the backend sends; a complete reply is kept."""
        for piece in self._backend.send(request):
            if isinstance(piece, Reply):
                self._lines.append({"reply": _reply_as_json(piece), "results": digests(request)})
            yield piece

    def body(self, request: Request) -> Mapping[str, Any]:
        """The body that the backend would post."""
        return self._backend.body(request)

    def close(self) -> None:
        """Close the backend behind it."""
        self._backend.close()

    def write(self, path: Path, question: str, today: str | None) -> None:
        """Write the recording (0600), every known key masked."""
        head = {"archivist_recording": VERSION, "question": question, "model": self.name, "today": today}
        lines = [json.dumps(line, ensure_ascii=False) for line in (head, *self._lines)]
        settings.write_private(path, settings.redact("\n".join(lines) + "\n"))


def read(path: Path) -> Recorded:
    """A recording. Raises UserError, with the line, for a file that is none."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a recording: {error}", "archivist ask --record FILE makes one") from error
    head: dict[str, Any] = {}
    replies: list[Reply] = []
    results: list[tuple[str, ...]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() and number > 1:
            continue
        try:
            value = json.loads(line)
            if number == 1:
                head = {"question": "", "model": "", "today": None, **value}
                if head["today"] is not None:
                    date.fromisoformat(head["today"])
                if head["archivist_recording"] != VERSION:
                    raise UserError(f"{path}: made by another version of Archivist", "record it again: archivist ask --record FILE")
            else:
                replies.append(_reply_from_json(value["reply"], number))
                results.append(tuple(str(digest) for digest in value.get("results", ())))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"{path}:{number}: not a line of a recording ({type(error).__name__}: {error})") from error
    if not replies:
        raise UserError(f"{path}: holds no reply", "archivist ask --record FILE makes a recording")
    return Recorded(str(head["question"]), str(head["model"]), head["today"], tuple(replies), tuple(results))


def digests(request: Request) -> list[str]:
    """Short digests of the tool results that a request ends with; none when it ends with a question.

    A search counts by the passages it found, in any order: scores and near-ties differ from machine to machine in their last
    digits, and what an answer cites are the passages. When a file was written, which every checkout changes, counts for nothing.
    """
    last = request.messages[-1]
    return [hashlib.sha256(_essence(result.content).encode("utf-8", "surrogatepass")).hexdigest()[:16] for result in last.results]


def _essence(content: str) -> str:
    try:
        value = json.loads(content, parse_float=lambda number: f"{float(number):.6g}")
        if isinstance(value, dict) and isinstance(value.get("hits"), list):
            return json.dumps(sorted(str(hit["key"]) for hit in value["hits"]))
        return json.dumps(_undated(value), sort_keys=True)
    except (ValueError, KeyError, TypeError, RecursionError):
        return content


def _undated(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _undated(inner) for name, inner in value.items() if name not in {"modified", "stale"}}
    return [_undated(inner) for inner in value] if isinstance(value, list) else value


def _reply_as_json(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.message.text,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in reply.message.calls],
        "finish": reply.finish,
        "model": reply.model,
        "usage": asdict(reply.usage),
        **({"outcome": reply.outcome} if reply.outcome else {}),
    }


def _reply_from_json(value: dict[str, Any], line: int) -> Reply:
    calls = tuple(
        ToolCall(f"replay_{line}_{number}", str(call["name"]), _as_text(call["arguments"]))
        for number, call in enumerate(value.get("calls", ()), 1)
    )
    message = Message("assistant", str(value.get("text") or ""), calls)
    finish, outcome = value.get("finish", "stop"), value.get("outcome")
    if finish not in get_args(FinishReason) or outcome not in (None, *get_args(Outcome)):
        raise ValueError(f"finish {finish!r}, outcome {outcome!r}")
    return Reply(message, finish=finish, usage=_usage(value.get("usage", {})), model=str(value.get("model", "")), outcome=outcome)


def _usage(value: dict[str, Any]) -> Usage:
    usage = Usage(**value)
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    if not all(isinstance(count, int) for count in counts) or not (usage.cost is None or math.isfinite(usage.cost)):
        raise ValueError("usage holds no numbers")
    return usage


def _as_text(arguments: object) -> str:
    """Arguments written by hand may be an object."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
