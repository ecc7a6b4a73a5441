"""A turn as it is kept: what JSON shows of it, and what its question meant; and the turn again, made of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any, get_args

from assistant import answer_view
from assistant.citations import Checked, Citation, Number, Quote
from assistant.conversation import Turn, Withheld
from assistant.events import CallFinished
from assistant.messages import Outcome, ToolCall, ToolResult, Usage
from assistant.tools import Evidence, Ran
from search import Coverage, Filters

_APART = frozenset({"metadata", "documents", "within", "hidden"})
_QUOTES = frozenset({"verified", "elsewhere", "altered", "not found"})


def as_kept(turn: Turn, *, today: date, filters: Filters, asked: Sequence[str]) -> dict[str, Any]:
    """A turn with its moment and seconds, the day it was asked on, the person's own filters and the questions before it."""
    shown = {**answer_view.as_object(turn), "at": turn.at, "seconds": round(turn.seconds, 3)}
    shown["repeated"] = [place for place, call in enumerate(turn.calls) if call.repeated]
    return shown | {"today": today.isoformat(), "filters": _as_written(filters), "turns": list(asked)}


def turn_from(record: Mapping[str, Any], evidence: Mapping[str, Evidence]) -> Turn:
    """The turn of a record. evidence: of its conversation, by key.

    Raises ValueError, KeyError, TypeError or AttributeError for a record that is none.
    """
    outcome = record["outcome"]
    if outcome not in get_args(Outcome):
        raise ValueError(f"outcome {outcome!r}")
    checked = _checked(record, evidence)
    usage, cost = record["usage"], record["cost"]
    found = {name: [evidence[one["key"]] for one in record[name] if one["key"] in evidence] for name in ("nearest", "queries")}
    coverage, withheld = record["coverage"], record.get("withheld")
    return Turn(
        question=str(record["question"]),
        model=str(record["model"]),
        answered_by=str(record["answered_by"]),
        answer=checked.text,
        outcome=outcome,
        stopped=str(record["stopped"] or ""),
        checked=checked,
        unprinted=checked.text,
        calls=tuple(_calls(record)),
        nearest=tuple(found["nearest"]),
        queries=tuple(found["queries"]),
        coverage=Coverage(**coverage) if coverage else None,
        scope=str(record["scope"] or ""),
        usage=Usage(**{name: int(number) for name, number in usage.items()}, cost=None if cost is None else float(cost)),
        steps=int(record["steps"]),
        seconds=float(record["seconds"]),
        notices=tuple(map(str, record["notices"])),
        at=str(record["at"]),
        withheld=Withheld(**{**withheld, "patterns": tuple(withheld["patterns"])}) if withheld else None,
    )


def _checked(record: Mapping[str, Any], evidence: Mapping[str, Evidence]) -> Checked:
    citations = tuple(
        Citation(
            None if one["number"] is None else int(one["number"]),
            str(one["key"]),
            evidence.get(one["key"]),
            "retrieved" if one["verdict"] == "retrieved" else "unknown",
        )
        for one in record["citations"]
    )
    quotes = tuple(
        Quote(str(one["text"]), one["key"], one["verdict"], one["nearest"], one["other_key"])
        for one in record["quotes"]
        if one["verdict"] in _QUOTES
    )
    numbers = tuple(Number(str(one["text"]), "found" if one["verdict"] == "found" else "not found") for one in record["numbers"])
    return Checked(str(record["answer"]), citations, quotes, numbers)


def _calls(record: Mapping[str, Any]) -> list[CallFinished]:
    """The calls of a turn: name, arguments, whether they went well, and whether they were answered from memory."""
    from assistant.history.serial import as_text

    made = []
    for place, call in enumerate(record["calls"]):
        arguments = call["arguments"]
        asked = ToolCall(f"kept_{place + 1}", str(call["name"]), arguments if isinstance(arguments, str) else as_text(arguments))
        result = ToolResult(asked.id, asked.name, "", is_error=not call["ok"])
        ran = Ran(result, None, arguments if isinstance(arguments, dict) else None, 0.0)
        made.append(CallFinished(asked, ran, 0, repeated=place in record["repeated"]))
    return made


def _as_written(filters: Filters) -> dict[str, Any]:
    """The person's own filters in the form of a case: what was given, metadata as conditions."""
    given = {name: value for name, value in asdict(filters).items() if value and name not in _APART}
    conditions = []
    for one in filters.metadata:
        value = ", ".join(one.value) if isinstance(one.value, tuple) else one.value
        conditions.append(f"{one.key} {one.operator} {value}")
    return {name: value for name, value in given.items() if (name, value) != ("date_field", "date")} | (
        {"metadata": conditions} if conditions else {}
    )


__all__ = ["as_kept", "turn_from"]
