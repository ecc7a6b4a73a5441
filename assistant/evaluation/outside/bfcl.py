"""Function-calling cases in the form of the Berkeley Function-Calling Leaderboard: tools are declared, calls compared, none is run.

One request a case. Right is a call of the right name whose every argument is one of the values listed for it; "" in such a list
means that the argument may be left out. Texts are compared without case, spaces and punctuation, as the leaderboard does.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant import text_calls
from assistant.backends.base import Backend
from assistant.errors import BadReplyError, ToolCallError, UserError
from assistant.evaluation.cases import Case
from assistant.evaluation.outside.lines import rows
from assistant.evaluation.runs import Result
from assistant.evaluation.scoring import QUALITY, SPENT, Scores
from assistant.loop import Limits
from assistant.messages import Message, Reply, Request, Role, ToolCall
from assistant.schemas import token_cost
from assistant.tools import Tool, Toolbox
from search import Library

_LOOSE = re.compile(r"[ ,./\-_*^'\"]")
_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class _Set:
    """What a case declares and expects. expected: the right calls as {name: {argument: [values]}}; None where none may be made,
    or, for relevance, any may.
    """

    messages: tuple[Message, ...]
    toolbox: Toolbox
    expected: Sequence[Mapping[str, Mapping[str, Any]]] | None
    category: str


class FunctionCalls:
    """The cases of a file, or of cases.jsonl in a folder. Raises UserError with the line for one that is not understood."""

    def __init__(self, place: Path, first: int | None = None) -> None:
        self._sets: dict[str, _Set] = {}
        self.cases: Sequence[Case] = self._read(place / "cases.jsonl" if place.is_dir() else place)[:first]

    def _read(self, path: Path) -> list[Case]:
        cases = []
        for number, row in rows(path, "id", "question", "tools"):
            try:
                messages = tuple(Message(_ROLES[one["role"]], str(one["content"])) for turn in row["question"] for one in turn)
                tools = {tool["name"]: tool for tool in row["tools"]}
                made = [Tool(name, str(tool.get("description", "")), tool["parameters"], dict) for name, tool in tools.items()]
                category = str(row.get("category") or str(row["id"]).rpartition("_")[0])
                question = next(one.text for one in reversed(messages) if one.role == "user")
            except (KeyError, TypeError, ValueError, StopIteration, AttributeError) as error:
                why = f"{path}:{number}: {type(error).__name__}: {error}"
                raise UserError(why, "want question as lists of messages and tools with JSON Schemas") from None
            case = Case(str(row["id"]), question, category)
            given = {"id": case.id, "question": question or "-", "kind": category}
            self._sets[case.id] = _Set(messages, Toolbox(made), row.get("possible_answer"), category)
            cases.append(Case(case.id, question, category, given=given))
        if not cases:
            raise UserError(f"{path}: holds no case")
        return cases

    def library(self, case: Case) -> Library | None:  # noqa: ARG002 - there is none
        """None: these cases bring their own tools."""
        return None

    def tokens(self, case: Case) -> int:
        """The declarations and the question."""
        one = self._sets[case.id]
        return sum(map(token_cost, one.toolbox.declarations())) + sum(len(message.text) for message in one.messages) // 4

    def put(self, case: Case, backend: Backend, limits: Limits) -> Result:  # noqa: ARG002 - one request needs none
        """Send one request, check the calls of its reply and compare them. Raises ProviderError."""
        one = self._sets[case.id]
        started = time.monotonic()
        reply = _reply(backend, one)
        seconds = time.monotonic() - started
        calls = _calls(reply, one.toolbox, written=backend.capabilities.text_calls)
        quality = score(one.expected, calls, one.category)
        usage = reply.usage
        spent: Scores = dict(zip(SPENT, (1.0, float(usage.total_tokens), usage.cost, seconds), strict=True))
        return Result(
            case=case.id,
            model="",
            repeat=1,
            kind=case.kind,
            question=case.question,
            answer=reply.message.text,
            outcome="answer",
            scores=quality | spent,
            calls=calls,
            expected={"calls": one.expected},
            steps=1,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost,
            seconds=round(seconds, 3),
            notices=list(reply.notices),
        )


def _reply(backend: Backend, one: _Set) -> Reply:
    tools, messages = one.toolbox.declarations(), one.messages
    if not backend.capabilities.tools:
        listed = json.dumps([{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools])
        told = f'The tools: {listed}\nTo call some, answer with one line of JSON for each: {{"name": ..., "arguments": {{...}}}}'
        messages, tools = (Message("system", told), *messages), ()
    reply = next((piece for piece in backend.send(Request(messages, tools)) if isinstance(piece, Reply)), None)
    if reply is None:
        raise BadReplyError("the reply ended before it was complete", provider=backend.name.partition(":")[0])
    return reply


def _calls(reply: Reply, toolbox: Toolbox, *, written: bool) -> list[dict[str, Any]]:
    """The calls of a reply, native or in its text, each checked against the declared schema."""
    calls = reply.message.calls
    if not calls and written and reply.message.text:
        parsed = text_calls.parse(reply.message.text, list(toolbox.tools))
        calls = tuple(ToolCall(str(number), call.name, call.arguments) for number, call in enumerate(parsed.calls))
    found = []
    for call in calls:
        arguments: Any = call.arguments
        error = None
        try:
            arguments = toolbox.validate(call.name, call.arguments)
        except ToolCallError as refused:
            error = str(refused)[:500]
        told = {"name": call.name, "arguments": arguments, "ok": error is None, "error": error}
        found.append({**told, "summary": "", "seconds": 0.0, "repeated": False})
    return found


def score(expected: Sequence[Mapping[str, Mapping[str, Any]]] | None, calls: Sequence[Mapping[str, Any]], category: str) -> Scores:
    """tool_choice: the right names, each as often as expected; arguments: share of the expected calls that were made rightly;
    answer: all of them and no other; abstention: of cases without a fitting tool, none was called.
    """
    scores: Scores = dict.fromkeys(QUALITY)
    scores["valid_calls"] = sum(bool(call["ok"]) for call in calls) / len(calls) if calls else None
    if expected is None:
        any_call = "relevance" in category and "irrelevance" not in category
        right = float(bool(calls) == any_call)
        return scores | {"tool_choice": right, "answer": right, "abstention": None if any_call else right}
    wanted = [(name, arguments) for call in expected for name, arguments in call.items()]
    left = [call for call in calls if call["ok"]]
    matched = 0
    for name, arguments in wanted:
        found = next((call for call in left if call["name"] == name and _fits(call["arguments"], arguments)), None)
        if found is not None:
            left.remove(found)
            matched += 1
    names = sorted(str(call["name"]) for call in calls) == sorted(name for name, _ in wanted)
    share = matched / len(wanted) if wanted else 1.0
    return scores | {"tool_choice": float(names), "arguments": share, "answer": float(share == 1 and len(calls) == len(wanted))}


def _fits(given: Mapping[str, Any], allowed: Mapping[str, Any]) -> bool:
    """Whether every argument has one of its values, none is left out that must be there, and there is no other."""
    for name, values in allowed.items():
        if name not in given or given[name] is None:
            if "" not in values:
                return False
        elif not any(_is(given[name], value) for value in values if value != "" or given[name] == ""):
            return False
    return all(name in allowed or value is None for name, value in given.items())


def _is(given: Any, value: Any) -> bool:
    """Whether a value is the one that is allowed; members of an object have lists of values of their own."""
    if isinstance(value, Mapping):
        return isinstance(given, Mapping) and _fits(
            given, {key: each if isinstance(each, list) else [each] for key, each in value.items()}
        )
    if isinstance(value, list):
        return isinstance(given, list) and len(given) == len(value) and all(map(_is, given, value))
    if isinstance(given, str) and isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)  # the schema asks for a text, the set lists a number
    if isinstance(value, str):
        return isinstance(given, str) and _LOOSE.sub("", given).casefold() == _LOOSE.sub("", value).casefold()
    if isinstance(value, bool) or isinstance(given, bool):
        return given is value
    return bool(given == value)
