"""The offline backend as the loop sees it: a Backend whose replies are made by rules.

In: a Request. Out: a Reply with the next tool call of the plan, or with the answer once the tools have run. It keeps no state:
the plan is made anew from the questions so far, and where it stands is read from the results behind the last one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from assistant.backends.base import Capabilities, Price
from assistant.backends.offline.answer import Lacking, compose, is_answered, read_result
from assistant.backends.offline.attached import own_words, telling
from assistant.backends.offline.catalogue import Catalogue
from assistant.backends.offline.following import Followed, follow
from assistant.backends.offline.ordering import MOST_LISTED
from assistant.backends.offline.phrases import phrases
from assistant.backends.offline.tables.models import Reading
from assistant.backends.offline.tables.phrases import table_phrases
from assistant.backends.offline.tables.questions import TOOLS, TableQuestions
from assistant.backends.offline.understand import Plan, understand
from assistant.messages import Declaration, Message, Reply, Request, TextDelta, ToolCall, ToolResult
from assistant.prompts import LAST_REQUEST, question_alone, split_attached

_HITS = 10  # as many as keep most of their text within the budget of a result
_LONGEST_QUERY = 2000
_PREFIX = "offline_"
_MARKS = re.compile(r"[\"“”„«»]")  # in the answer they would pass for words of a document
_FOR_MODELS = re.compile(r"bad arguments|JSON|unknown tool|query_table|run_sql")
_IN_SEARCHES = frozenset({"category", "tags", "after", "before"})
_TOOLS = {
    "search": ("hybrid_search", "keyword_search", "vector_search"),
    "keyword": ("keyword_search", "hybrid_search", "vector_search"),
    "similar": ("find_similar", "hybrid_search", "vector_search", "keyword_search"),
    "list": ("filter_documents",),
    "count": ("count_documents", "filter_documents"),
}
_ANY = tuple(dict.fromkeys(name for names in _TOOLS.values() for name in names))  # rather than none


class Offline:
    """Answers from the library's own words."""

    def __init__(self, catalogue: Catalogue, *, today: date | None = None) -> None:
        """Answer with the names of a catalogue. today: the day that phrases such as "last month" are said on."""
        self._catalogue = catalogue
        self._today = today
        self._tables = TableQuestions(catalogue)

    @property
    def name(self) -> str:
        """As a person names it."""
        return "offline"

    @property
    def capabilities(self) -> Capabilities:
        """It calls tools, costs nothing, and nothing leaves the machine. Its text is made of documents: no call is read from it."""
        return Capabilities(tools=True, price=Price(0.0, 0.0), local=True, text_calls=False)

    def send(self, request: Request) -> Generator[TextDelta | Reply, None, None]:
        """The next call of the plan, or the answer."""
        meant, results = self._meant(request)
        question, plan, reading = meant.text, meant.plan, meant.reading
        asked = [result for result in results if result.name in TOOLS]
        failed = next((result for result in asked if result.is_error), None)
        if reading is not None and failed is None and (asked or request.may_call):
            yield from self._over_tables(reading, asked, request)
            return
        results = [result for result in results if result.name not in TOOLS]
        call = _next_call(plan, question, request, results) if request.may_call else None
        if call:
            notices = (plan.said, *plan.notes, *_left_out(plan, call, request)) if not results else ()
            yield Reply(Message("assistant", calls=(call,)), finish="tool_calls", model=self.name, notices=notices)
            return
        answer = compose(
            plan, question, results, lacking=_lacking(plan, self._catalogue), without_days=_is_undated(plan, question, results)
        )
        text = answer.text
        if failed is not None and reading is not None:
            reason = _reason(failed, reading)
            text = f"{table_phrases(reading.language).fallback.format(reason=reason)}\n\n{text}"
        yield TextDelta(text)
        yield Reply(Message("assistant", text), model=self.name, outcome=answer.outcome)

    def _meant(self, request: Request) -> tuple[Followed, list[ToolResult]]:
        """What the last question means, and the results behind it."""
        questions, results = _turn(request.messages)
        asked, attached = split_attached(questions[-1]) if questions else ("", "")
        if attached:
            return self._of_attached(asked, attached), results
        questions = [question_alone(question) for question in questions]
        return follow(questions, self._catalogue, lambda text: self._reading(text, request), today=self._today), results

    def _of_attached(self, asked: str, attached: str) -> Followed:
        """A question about a text beside it: its telling words are searched, within the filters that the question names."""
        alone = replace(understand(asked, self._catalogue, today=self._today), key="", group_by="", order_by="", limit=0)
        words = telling(attached)
        if not words:
            return Followed(asked, replace(alone, intent="similar", query=attached.strip()[-_LONGEST_QUERY:], filters={}))
        own = " ".join(own_words(asked)) if alone.query else ""
        query = f"{own} {words}".strip()
        return Followed(query, replace(alone, intent="search", query=query, documents=False, beside=True))

    def _reading(self, question: str, request: Request) -> Reading | None:
        """The question as one over tables: where the tools for them are declared, and no documents are asked for by name."""
        if not {tool.name for tool in request.tools} >= TOOLS:
            return None
        plan = understand(question, self._catalogue, today=self._today)
        if plan.documents and not self._catalogue.only_tables and not self._tables.are_named(question):
            return None
        return self._tables.read(question, language=plan.language, today=self._today)

    def _over_tables(
        self, reading: Reading, results: Sequence[ToolResult], request: Request
    ) -> Generator[TextDelta | Reply, None, None]:
        """The next call of a question over tables, or its answer. A Reading has a first call, as `TableQuestions.read` sees to."""
        values = [read_result(result) or {} for result in results]
        called = self._tables.call(reading, values) if request.may_call else None
        if called is not None:
            tool = next(tool for tool in request.tools if tool.name == called[0])
            understood = phrases(reading.language).understood.format(parts=self._tables.said(reading))
            yield Reply(
                Message("assistant", calls=(_call(tool, called[1], request),)),
                finish="tool_calls",
                model=self.name,
                notices=() if results else (understood,),
            )
            return
        text, outcome = self._tables.answer(reading, values)
        yield TextDelta(text)
        yield Reply(Message("assistant", text), model=self.name, outcome=outcome)

    def body(self, request: Request) -> Mapping[str, Any]:
        """The question as it is understood: there is no other request."""
        meant, _ = self._meant(request)
        question, plan = meant.text, meant.plan
        if meant.reading is not None:
            return {"question": question, "intent": "table", "said": self._tables.said(meant.reading)}
        return {"question": question, "intent": plan.intent, "query": plan.query, "filters": dict(plan.filters), "said": plan.said}

    def close(self) -> None:
        """Nothing is held."""


def _reason(failed: ToolResult, reading: Reading) -> str:
    """Why a query failed, for a person: what the tool tells a model to write instead is not for them."""
    reason = _MARKS.sub("", " ".join(failed.content.removeprefix("Error:").split()))
    return table_phrases(reading.language).no_query if _FOR_MODELS.search(reason) else reason


def _turn(messages: Sequence[Message]) -> tuple[list[str], list[ToolResult]]:
    """The questions so far and the results after the last one. That no more calls are possible is no question."""
    places = [place for place, message in enumerate(messages) if message.role == "user" and message.text != LAST_REQUEST]
    behind = messages[places[-1] + 1 :] if places else ()
    results = [result for message in behind if message.role == "tool" for result in message.results]
    return [messages[place].text for place in places], results


def _next_call(plan: Plan, question: str, request: Request, results: Sequence[ToolResult]) -> ToolCall | None:
    """The call to make next; None when the results are all that the plan wants."""
    declared = {tool.name: tool for tool in request.tools}
    chosen = next((name for name in (*_TOOLS[plan.intent], *_ANY) if name in declared), None)
    if chosen is None:
        return None
    if not results:
        narrow = plan.intent in {"search", "keyword"} and not set(plan.filters) <= _IN_SEARCHES and "filter_documents" in declared
        name = "filter_documents" if narrow else chosen
        return _call(declared[name], _arguments(plan, name), request)
    last = results[-1]
    if last.is_error:
        # A search by meaning may lack its model; words are always there. The same tool is not tried twice.
        spare = last.name != "keyword_search" and last.name in {*_TOOLS["search"], "find_similar"} and "keyword_search" in declared
        return _call(declared["keyword_search"], _arguments(plan, "keyword_search"), request) if spare and plan.query else None
    return _second_call(plan, question, declared[chosen], results, request)


def _second_call(plan: Plan, question: str, tool: Declaration, results: Sequence[ToolResult], request: Request) -> ToolCall | None:
    """The call that goes on from what the first one found: the end of its list, without its days, within its documents."""
    last = results[-1]
    if plan.intent == "list" and plan.oldest and len(results) == 1:
        return _oldest(plan, tool, last, request)
    if len(results) == 1 and _is_undated(plan, question, (*results, last)):
        return _call(tool, _arguments(plan.undated, tool.name), request)
    within = _set_of(last) if last.name == "filter_documents" and plan.intent in {"search", "keyword"} else None
    if within is None:
        return None
    return _call(tool, {"query": plan.query[:_LONGEST_QUERY], "limit": _HITS, "within": within}, request)


def _is_undated(plan: Plan, question: str, results: Sequence[ToolResult]) -> bool:
    """Whether a question for a fact was searched a second time, as no document of the days that it names answers it."""
    if len(results) != 2 or plan.documents or not plan.days or not plan.query:
        return False
    value = read_result(results[0])
    searched = results[0].name in _TOOLS["search"] and value is not None and not results[0].is_error
    return searched and not is_answered(plan, question, value or {})


def _oldest(plan: Plan, tool: Declaration, result: ToolResult, request: Request) -> ToolCall | None:
    """The end of a list that begins with the newest, once its length is known; None when all of it was shown."""
    value, wanted = read_result(result), plan.limit or MOST_LISTED
    total = value.get("total") if value else None
    if not isinstance(total, int) or total <= wanted or "offset" not in (tool.parameters.get("properties") or {}):
        return None
    return _call(tool, {**_arguments(plan, tool.name), "offset": total - wanted}, request)


def _set_of(result: ToolResult) -> str | None:
    """The key of the set of documents that a filter found, None when it found none."""
    value = read_result(result)
    key = value.get("set") if value else None
    return key if isinstance(key, str) else None


def _arguments(plan: Plan, name: str) -> dict[str, Any]:
    if name == "find_similar":
        return {"key": plan.key, "limit": _HITS} if plan.key else {"text": plan.query, "limit": _HITS}
    if name == "count_documents":
        return {**plan.filters, **({"group_by": plan.group_by} if plan.group_by else {})}
    if name == "filter_documents":
        order = {"order_by": plan.order_by} if plan.order_by else {}
        return {**plan.filters, **order, "limit": plan.limit or MOST_LISTED}
    return {
        "query": (plan.query or plan.key)[:_LONGEST_QUERY],
        "limit": _HITS,
        **{k: v for k, v in plan.filters.items() if k in _IN_SEARCHES},
    }


def _call(tool: Declaration, arguments: Mapping[str, Any], request: Request) -> ToolCall:
    """A call of a declared tool, its values shaped as the declaration wants them."""
    properties = tool.parameters.get("properties") or {}
    shaped = {
        name: _shaped(value, properties.get(name)) for name, value in arguments.items() if not properties or name in properties
    }
    made = [call.id for message in request.messages for call in message.calls]
    number = max((int(id_.removeprefix(_PREFIX)) for id_ in made if re.fullmatch(rf"{_PREFIX}\d+", id_)), default=0) + 1
    return ToolCall(f"{_PREFIX}{number}", tool.name, json.dumps(shaped, ensure_ascii=False))


def _lacking(plan: Plan, catalogue: Catalogue) -> list[Lacking]:
    """What the question asks for by a name that the library does not have."""
    known = {"category": catalogue.categories, "format": catalogue.formats, "language": catalogue.languages}
    return [(name, value, known[name]) for name in known for value in plan.filters.get(name, ()) if value not in known[name]]


def _left_out(plan: Plan, call: ToolCall, request: Request) -> list[str]:
    """Which filters the tool cannot be given, in words: a number without them would be another one."""
    properties = next(tool.parameters.get("properties") or {} for tool in request.tools if tool.name == call.name)
    left_out = []
    for name, value in plan.filters.items():
        if properties and name not in properties:
            left_out.append(f"left out, the tool has no such filter: {name}")
        elif isinstance(value, tuple) and len(value) > 1 and not _takes_several(properties.get(name)):
            left_out.append(f"left out, one at a time: {name} {', '.join(value[1:])}")
    return left_out


def _takes_several(schema: Mapping[str, Any] | None) -> bool:
    """Whether an argument is declared to take a list."""
    forms = [schema or {}, *((schema or {}).get("anyOf") or ())]
    types = {form.get("type") for form in forms if isinstance(form, Mapping)}
    return "array" in types or "string" not in types


def _shaped(value: object, schema: Mapping[str, Any] | None) -> object:
    """Several values as a list, or the first of them where the declaration takes but one."""
    if not isinstance(value, tuple):
        return value
    return list(value) if _takes_several(schema) else value[0]
