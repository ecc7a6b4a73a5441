"""Snapshots and filters as JSON, and back: nothing is lost, and whatever is read is checked for its shape.

The providers' own forms of messages (`Origin.data`) are kept as they came: they go back to the same provider and model unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from assistant.conversation import Snapshot
from assistant.messages import Message, Origin, Role, ToolCall, ToolResult, split_turns
from assistant.tools import Evidence
from assistant.turn import question_of
from search import Condition, Filters

_PLAIN = ("title", "after", "before", "during", "date_field")
_LISTS = ("category", "tags", "source", "format", "author", "language")


@dataclass(frozen=True, slots=True)
class Said:
    """The messages of one turn, its question as it was typed, and what was withheld meanwhile."""

    question: str
    guard: tuple[str, ...]
    messages: tuple[Message, ...]


def turns_of(snapshot: Snapshot) -> tuple[Said, ...]:
    """A snapshot, turn by turn."""
    turns = split_turns(snapshot.messages)
    questions = snapshot.questions if len(snapshot.questions) == len(turns) else tuple(map(question_of, turns))
    guards = snapshot.guards if len(snapshot.guards) == len(turns) else ((),) * len(turns)
    return tuple(Said(*each) for each in zip(questions, guards, turns, strict=True))


def snapshot_of(turns: Sequence[Said], evidence: Sequence[Evidence]) -> Snapshot:
    """Turns as a snapshot again."""
    messages = tuple(message for turn in turns for message in turn.messages)
    return Snapshot(messages, tuple(evidence), tuple(turn.question for turn in turns), tuple(turn.guard for turn in turns))


def said_as_json(said: Said) -> str:
    """The messages of a turn as JSON."""
    return as_text({"question": said.question, "guard": said.guard, "messages": [_message(one) for one in said.messages]})


def said_from_json(text: str) -> Said:
    """The messages of a turn. Raises ValueError, KeyError, TypeError, AttributeError or RecursionError for what is none."""
    value = json.loads(text)
    return Said(str(value["question"]), tuple(map(str, value["guard"])), tuple(map(_message_from, value["messages"])))


def evidence_as_json(evidence: Evidence) -> str:
    """A passage or a result as JSON."""
    return as_text(asdict(evidence))


def evidence_from_json(text: str) -> Evidence:
    """A passage or a result. Raises what `said_from_json` raises."""
    value = json.loads(text)
    for name in ("key", "path", "root", "title", "text", "sql", "expression"):
        if not isinstance(value[name], str):
            raise TypeError(f"{name} is no text")
    for name in ("first_line", "last_line"):
        value[name] = int(value[name])
    known = {one.name for one in fields(Evidence)}
    value |= {"headings": tuple(map(str, value["headings"])), "parameters": tuple(value["parameters"])}
    return Evidence(**{name: inner for name, inner in value.items() if name in known})


def filters_as_json(filters: Filters) -> str:
    """The person's own filters as JSON: all that a command line can give."""
    given: dict[str, Any] = {name: getattr(filters, name) for name in (*_LISTS, *_PLAIN) if getattr(filters, name)}
    given["metadata"] = [asdict(condition) for condition in filters.metadata]
    return as_text(given)


def filters_from_json(text: str) -> Filters:
    """Filters. Raises what `said_from_json` raises."""
    value = json.loads(text)
    known: dict[str, Any] = {name: tuple(map(str, value[name])) for name in _LISTS if name in value}
    known |= {name: str(value[name]) for name in _PLAIN if name in value}
    return Filters(**known, metadata=tuple(map(_condition, value["metadata"])))


def as_text(value: Any) -> str:
    """JSON that a database can hold: half a character, which a model may have written, stands there as an escape."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _message(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.calls:
        value["calls"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    if message.results:
        value["results"] = [
            {"call_id": one.call_id, "name": one.name, "content": one.content, "is_error": one.is_error} for one in message.results
        ]
    if message.origin is not None:
        origin = message.origin
        value["origin"] = {
            "provider": origin.provider,
            "model": origin.model,
            "data": origin.data,
            "text_calls": origin.text_calls,
        }
    return value


def _message_from(value: Mapping[str, Any]) -> Message:
    role = value["role"]
    if role not in get_args(Role):
        raise ValueError(f"role {role!r}")
    calls = tuple(ToolCall(str(one["id"]), str(one["name"]), str(one["arguments"])) for one in value.get("calls", ()))
    results = tuple(
        ToolResult(str(one["call_id"]), str(one["name"]), str(one["content"]), one["is_error"] is True)
        for one in value.get("results", ())
    )
    came = value.get("origin")
    origin = Origin(str(came["provider"]), str(came["model"]), came["data"], came["text_calls"] is True) if came else None
    return Message(role, str(value["text"]), calls, results, origin)


def _condition(value: Mapping[str, Any]) -> Condition:
    wanted = value["value"]
    return Condition(str(value["key"]), value["operator"], tuple(map(str, wanted)) if isinstance(wanted, list) else wanted)


__all__ = [
    "Said",
    "as_text",
    "evidence_as_json",
    "evidence_from_json",
    "filters_as_json",
    "filters_from_json",
    "said_as_json",
    "said_from_json",
    "snapshot_of",
    "turns_of",
]
