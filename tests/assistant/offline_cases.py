"""The fixed cases put to the offline backend: a conversation with the library's own functions, and what was right in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

from assistant.backends.base import Backend
from assistant.backends.offline.phrases import ABSENT
from assistant.messages import Declaration, Message, Reply, Request, ToolCall, ToolResult
from search import Filters, Hit, Library
from search.dates import bounds
from search.documents import GroupBy
from search.filters import parse_condition

EVALS = Path(__file__).parents[2] / "data" / "evals"
_LISTS = ("category", "tags", "source", "format", "author", "language")
_SEARCH = ("query", "limit", "category", "tags", "after", "before", "within")
_FILTER = (*_LISTS, "title", "after", "before", "during", "date_field", "metadata", "order_by", "limit", "offset")
ARGUMENTS = {
    "hybrid_search": _SEARCH,
    "keyword_search": _SEARCH,
    "vector_search": _SEARCH,
    "find_similar": ("key", "text", "limit", "category", "tags", "after", "before"),
    "filter_documents": _FILTER,
    "count_documents": (*_FILTER[:11], "group_by"),
}


def declarations() -> tuple[Declaration, ...]:
    """The tools, declared by the names of their arguments."""
    lists = {*_LISTS, "metadata"}
    return tuple(
        Declaration(
            name, "", {"type": "object", "properties": {each: {"type": "array"} if each in lists else {} for each in arguments}}
        )
        for name, arguments in ARGUMENTS.items()
    )


@dataclass
class LibraryTools:
    """The search functions of an open library, run as the tools run them, with the same results."""

    library: Library
    today: date
    similarity: bool = True
    sets: dict[str, frozenset[int]] = field(default_factory=dict)

    def run(self, call: ToolCall) -> ToolResult:
        """The result of a call."""
        arguments = json.loads(call.arguments)
        assert set(arguments) <= set(ARGUMENTS[call.name]), arguments
        filters = self.filters(arguments)
        if call.name in {"filter_documents", "count_documents"}:
            value = self._documents(call.name, filters, arguments)
        else:
            value = self._search(call.name, filters, arguments)
        return ToolResult(call.id, call.name, json.dumps(value, ensure_ascii=False))

    def filters(self, arguments: Mapping[str, Any]) -> Filters:
        """The filters that the arguments mean."""
        lists: dict[str, Any] = {name: tuple(arguments.get(name, ())) for name in _LISTS}
        dates = {name: arguments.get(name) for name in ("after", "before", "during", "title")}
        conditions = tuple(parse_condition(text) for text in arguments.get("metadata", ()))
        field_ = arguments.get("date_field", "date")
        within = self.sets[arguments["within"]] if "within" in arguments else None
        return Filters(**lists, **dates, metadata=conditions, date_field=field_, documents=within)

    def _documents(self, name: str, filters: Filters, arguments: Mapping[str, Any]) -> dict[str, Any]:
        limit = arguments.get("limit", 50)
        page = self.library.filter_documents(filters, order_by=arguments.get("order_by", "path"), limit=1000, today=self.today)
        if not page.total:
            return {"found": 0, "why": self.library.why_empty("", filters, today=self.today), **_said(arguments)}
        key = f"set_{len(self.sets) + 1}"
        self.sets[key] = frozenset(document.id for document in page.items)
        value: dict[str, Any] = {"total": page.total, "set": key, **_said(arguments)}
        if name == "count_documents":
            group = arguments.get("group_by")
            assert group is None or group in get_args(GroupBy)
            return value | ({"counts": self.library.count_documents(filters, group, today=self.today)} if group else {})
        value["documents"] = [
            {"key": _key(document.path), "path": document.path, "title": document.title, "date": document.date}
            for document in page.items[:limit]
        ]
        return value | ({"more": f"offset {limit} shows the next"} if page.total > limit else {})

    def _search(self, name: str, filters: Filters, arguments: Mapping[str, Any]) -> dict[str, Any]:
        query, limit = arguments.get("query") or arguments.get("text") or arguments["key"], arguments["limit"]
        if name == "find_similar" and "key" in arguments:
            hits = self.library.vector_search(self.library.passage(arguments["key"])[1], filters, limit, today=self.today)
        else:
            mode = {"hybrid_search": "hybrid", "keyword_search": "keyword"}.get(name, "vector")
            hits = self.library.search(query, filters, mode=mode, limit=limit, today=self.today)  # type: ignore[arg-type]
        if not hits:
            return {"found": 0, "why": self.library.why_empty(query, filters, today=self.today), **_said(arguments)}
        return {"hits": [self._hit(hit) for hit in hits], "documents": len({hit.document.id for hit in hits}), **_said(arguments)}

    def _hit(self, hit: Hit) -> dict[str, Any]:
        source = f"{hit.document.path}:{hit.passage.first_line}-{hit.passage.last_line}"
        shown = {"key": hit.passage.key, "source": source, "title": hit.document.title}
        shown |= {"headings": " > ".join(hit.passage.headings), "text": hit.passage.text}
        score = hit.vector_score
        return shown | ({"similarity": round(score, 3)} if self.similarity and score is not None else {})


def _said(arguments: Mapping[str, Any]) -> dict[str, Any]:
    used = {name: value for name, value in arguments.items() if name in _FILTER[:11]}
    return {"filters": used} if used else {}


def _key(path: str) -> str:
    """A stand-in for the key of a document's first passage."""
    return "doc:" + path


@dataclass(frozen=True)
class Outcome:
    """A question put to the backend: the calls it made, their results, its answer."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    text: str
    notices: tuple[str, ...]


def put(backend: Backend, question: str, tools: Iterable[Declaration], run: Callable[[ToolCall], ToolResult]) -> Outcome:
    """Ask, run what is called, until there is an answer."""
    messages: list[Message] = [Message("user", question)]
    notices: list[str] = []
    for _ in range(6):
        *_, reply = backend.send(Request(tuple(messages), tuple(tools)))
        assert isinstance(reply, Reply)
        messages.append(reply.message)
        notices.extend(reply.notices)
        if not reply.message.calls:
            calls = tuple(call for message in messages for call in message.calls)
            results = tuple(result for message in messages for result in message.results)
            return Outcome(calls, results, reply.message.text, tuple(notices))
        messages.append(Message("tool", results=tuple(run(call) for call in reply.message.calls)))
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
                filters[name] = sorted(value)
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
        value = json.loads(result.content)
        paths |= {hit["key"]: re.sub(r":\d+(-\d+)?$", "", hit["source"]) for hit in value.get("hits", ())}
        listed = value.get("documents")  # a search says how many there are
        paths |= {document["key"]: document["path"] for document in listed} if isinstance(listed, list) else {}
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
