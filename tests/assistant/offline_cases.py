"""The fixed cases put to the offline backend: a conversation with the library's own functions, and what was right in it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from assistant.backends.base import Backend
from assistant.backends.offline.phrases import ABSENT
from assistant.messages import Message, Reply, Request, ToolCall, ToolResult
from assistant.tools import Toolbox
from search.dates import bounds

EVALS = Path(__file__).parents[2] / "data" / "evals"
_LISTS = ("category", "tags", "source", "format", "author", "language")


@dataclass(frozen=True)
class Outcome:
    """A question put to the backend: the calls it made, their results, its answer."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    text: str
    notices: tuple[str, ...]


def put(backend: Backend, question: str, tools: Toolbox) -> Outcome:
    """Ask, run what is called, until there is an answer."""
    messages: list[Message] = [Message("user", question)]
    notices: list[str] = []
    for _ in range(6):
        *_, reply = backend.send(Request(tuple(messages), tools.declarations()))
        assert isinstance(reply, Reply)
        messages.append(reply.message)
        notices.extend(reply.notices)
        if not reply.message.calls:
            calls = tuple(call for message in messages for call in message.calls)
            results = tuple(result for message in messages for result in message.results)
            return Outcome(calls, results, reply.message.text, tuple(notices))
        messages.append(Message("tool", results=tuple(tools.run(call).result for call in reply.message.calls)))
    raise AssertionError(f"no answer after six steps: {question}")


@dataclass(frozen=True)
class Scored:
    """What was right of a case; None where it cannot be asked. detail: what was done instead, for the table."""

    case: Mapping[str, Any]
    tools: bool
    filters: bool
    cited: bool | None
    absent: bool | None
    detail: str

    @property
    def right(self) -> bool:
        """Everything that can be asked was right."""
        return self.tools and self.filters and self.cited is not False and self.absent is not False


def score(case: Mapping[str, Any], outcome: Outcome) -> Scored:
    """Compare an outcome with what a case expects. The number of a count stands for its citation."""
    expect = case["expect"]
    chain = [call.name for call in outcome.calls]
    filters, wanted = understood(outcome.calls), _wanted(expect["filters"])
    says_absent = any(phrase in outcome.text for phrase in ABSENT)
    first = first_cited(outcome)
    cited: bool | None = None
    if not expect["absent"] and expect["documents"]:
        if chain[-1:] == ["count_documents"]:
            cited = outcome.text.startswith(str(len(expect["documents"])) + " ")
        else:
            cited = first in expect["documents"] and not says_absent
    absent = says_absent if expect["absent"] else None
    detail = f"{' > '.join(chain)} {filters} first {first}{' ABSENT' if says_absent else ''}"
    return Scored(case, chain in expect["tools"], filters == wanted, cited, absent, detail)


def understood(calls: Sequence[ToolCall]) -> dict[str, Any]:
    """The filters of all calls together, in the form of the cases; the dates as days, both inclusive."""
    filters: dict[str, Any] = {}
    for call in calls:
        for name, value in json.loads(call.arguments).items():
            if name in _LISTS:
                filters[name] = [value] if isinstance(value, str) else sorted(value)
            elif name == "metadata":
                filters[name] = dict(condition.split("=", 1) for condition in value)
            elif name == "date_field":
                filters[name] = value
            elif name == "after":
                filters["range"] = [value, filters.get("range", [None, None])[1]]
            elif name == "before":
                last = (date.fromisoformat(value) - timedelta(days=1)).isoformat()
                filters["range"] = [filters.get("range", [None, None])[0], last]
            elif name == "during":
                span = bounds(after=None, before=None, during=value)
                filters["range"] = [span.start, span.end]
    return filters


def _wanted(filters: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {name: value for name, value in filters.items() if name not in {"after", "before", "during"}}
    return {name: sorted(value) if name in _LISTS else value for name, value in wanted.items()}


def first_cited(outcome: Outcome) -> str | None:
    """The path of the document that the answer cites first."""
    paths: dict[str, str] = {}
    for result in outcome.results:
        value = {} if result.is_error else json.loads(result.content)
        paths |= {hit["key"]: re.sub(r"(:\d+(-\d+)?| p\. \d+)$", "", hit["source"]) for hit in value.get("hits", ())}
        listed = value.get("documents")  # a search says how many there are
        paths |= {document["key"]: document["path"] for document in listed if "key" in document} if isinstance(listed, list) else {}
    found = re.findall(r"\[([^\[\]]+)\]", outcome.text)
    return next((paths[key] for key in found if key in paths), None)


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file below data/evals."""
    return [json.loads(line) for line in (EVALS / name).read_text("utf-8").splitlines() if line.strip()]


def table(scored: Sequence[Scored]) -> str:
    """What fails, one case a line, and the shares of what is right."""
    lines = []
    for one in scored:
        if not one.right:
            marks = {"tools": one.tools, "filters": one.filters, "cited": one.cited, "absent": one.absent}
            wrong = "+".join(name for name, value in marks.items() if value is False)
            lines.append(f"{one.case['id']:<14} {wrong:<14} {one.case['question'][:60]:<60} {one.detail}")
    return "\n".join([*lines, *(f"{name}: {share:.3f} of {count}" for name, (share, count) in shares(scored).items())])


def shares(scored: Sequence[Scored]) -> dict[str, tuple[float, int]]:
    """The share of cases right in what can be asked of them, and of how many it is one."""
    asked = {
        "tools and filters": [one.tools and one.filters for one in scored],
        "first citation": [one.cited for one in scored if one.cited is not None],
        "absent": [one.absent for one in scored if one.absent is not None],
        "all": [one.right for one in scored],
    }
    return {name: (sum(values) / len(values), len(values)) for name, values in asked.items() if values}
