"""Scoring: what of a turn is as its case expects, measure by measure.

In: a case and its turn. Out: 0 to 1 by measure, None where the case expects nothing of it; steps, tokens, cost and seconds as they
are. What each measure means stands at its function; docs/evaluating.md says it for people.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from assistant.citations import Checked, Citation, normalising
from assistant.conversation import Turn
from assistant.evaluation.cases import TABLE_TOOLS, Case, Expected
from assistant.evaluation.understood import expected_filters, narrowed, same_days
from assistant.events import CallFinished
from search import dates

QUALITY = (
    *("tool_choice", "tool_order", "arguments", "filters", "dates", "valid_calls", "recovered", "answer"),
    *("citation_precision", "citation_recall", "quotes_verified", "numbers_found", "abstention"),
)
SPENT = ("steps", "tokens", "cost", "seconds")
MEASURES = (*QUALITY, *SPENT)

Scores = dict[str, float | None]

_KEY = re.compile(r"\[[^\[\]\s]{4,40}\]")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.,])[-\u2212]?\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_SPACE = r"[ \u00a0\u202f]"
_GROUP = re.compile(r"[,.'\u2019\u00a0\u202f ](?=\d{3}(?!\d))")


def score(case: Case, turn: Turn) -> Scores:
    """Every measure of a turn."""
    expect, good = case.expect, _good(turn.calls)
    today = case.today or dates.today()
    spent: Scores = {
        "steps": float(turn.steps),
        "tokens": float(turn.usage.total_tokens),
        "cost": turn.usage.cost,
        "seconds": turn.seconds,
    }
    quality: Scores = {
        **chosen(expect, [call.call.name for call in good], [call.call.name for call in turn.calls]),
        "arguments": arguments_right(expect, good),
        **filtered(expect, turn.calls, today),
        **validity(turn.calls),
        "answer": answer_right(case, turn),
        **cited(expect, turn),
        "abstention": None if expect.absent is None else float((turn.outcome == "absent") == expect.absent),
    }
    return quality | spent


def failed(case: Case) -> Scores:
    """The scores of a question that ended in an error: 0 for everything that its case expects, None for the rest."""
    expect = case.expect
    expects = {
        "tool_choice": expect.tools is not None or bool(expect.forbidden_tools),
        "tool_order": expect.tools is not None,
        "arguments": bool(expect.arguments or expect.tables),
        "filters": expect.filters is not None,
        "dates": expect.dates is not None,
        "answer": _expects_answer(expect),
        "citation_recall": bool(expect.documents or expect.all_documents),
        "abstention": expect.absent is not None,
    }
    return {name: 0.0 if expects.get(name) else None for name in QUALITY} | dict.fromkeys(SPENT)


def _good(calls: Sequence[CallFinished]) -> list[CallFinished]:
    """The calls that count as made: not refused, not failed, not a repetition."""
    return [call for call in calls if not call.ran.result.is_error and not call.repeated]


# Tools


def chosen(expect: Expected, made: Sequence[str], tried: Sequence[str]) -> Scores:
    """tool_choice: the good calls serve each place of a right chain, and nothing else; tool_order: also in its order.

    Several calls may serve one place: a search in other words is still the search. A forbidden tool, even tried in vain, is wrong.
    """
    barred = any(tool in expect.forbidden_tools for tool in tried)
    if expect.tools is None:
        return {"tool_choice": float(not barred) if expect.forbidden_tools else None, "tool_order": None}
    chains = [[frozenset(place.split("|")) for place in chain] for chain in expect.tools]
    return {
        "tool_choice": float(not barred and any(_serves(made, chain) for chain in chains)),
        "tool_order": float(not barred and any(_in_order(made, chain) for chain in chains)),
    }


def _serves(made: Sequence[str], chain: Sequence[frozenset[str]]) -> bool:
    """Whether every call has a place and every place a call of its own."""
    if not all(any(tool in place for place in chain) for tool in made):
        return False
    owner: dict[int, int] = {}  # call -> place
    return all(_find_call(place, made, chain, owner, set()) for place in range(len(chain)))


def _find_call(
    place: int, made: Sequence[str], chain: Sequence[frozenset[str]], owner: dict[int, int], looked_at: set[int]
) -> bool:
    for call, tool in enumerate(made):
        if tool in chain[place] and call not in looked_at:
            looked_at.add(call)
            if call not in owner or _find_call(owner[call], made, chain, owner, looked_at):
                owner[call] = place
                return True
    return False


def _in_order(made: Sequence[str], chain: Sequence[frozenset[str]]) -> bool:
    """Whether the calls are the places in order, each served by one call or several in a row."""
    reached = {0}
    for number, tool in enumerate(made):
        places = {after for place in reached for after in (place, place + 1)} if number else {1}
        reached = {place for place in places if 1 <= place <= len(chain) and tool in chain[place - 1]}
    return len(chain) in reached


def arguments_right(expect: Expected, good: Sequence[CallFinished]) -> float | None:
    """Share of the expected arguments, and tables, that a good call has; those of one tool count together, in its best call."""
    if not expect.arguments and not expect.tables:
        return None
    wanted: dict[str, dict[str, Any]] = {}
    for name, value in expect.arguments.items():
        tool, _, argument = name.partition(".")
        wanted.setdefault(tool, {})[argument] = value
    right = 0
    for tool, arguments in wanted.items():
        given = [call.ran.arguments or {} for call in good if call.call.name == tool]
        right += max((sum(fits(_at(one, path), value) for path, value in arguments.items()) for one in given), default=0)
    asked = {word for call in good if call.call.name in TABLE_TOOLS for word in re.findall(r"\w+", call.call.arguments.casefold())}
    right += sum(table.casefold() in asked for table in expect.tables)
    return right / (len(expect.arguments) + len(expect.tables))


def fits(given: Any, wanted: Any) -> bool:
    """Whether an argument is the value that is wanted, or passes the predicate; one element of a list is enough."""
    if isinstance(given, list) and not isinstance(wanted, list):
        return any(fits(item, wanted) for item in given)
    if not isinstance(wanted, dict):
        return _alike(given, wanted)
    number = given if isinstance(given, int | float) and not isinstance(given, bool) else None
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    tests: dict[str, Callable[[Any], bool]] = {
        "one_of": lambda values: any(_alike(given, value) for value in values),
        "contains": lambda part: given is not None and part.casefold() in text.casefold(),
        "matches": lambda pattern: given is not None and re.search(pattern, text) is not None,
        "min": lambda least: number is not None and number >= least,
        "max": lambda most: number is not None and number <= most,
    }
    return all(tests[name](value) for name, value in wanted.items())


def _alike(given: Any, wanted: Any) -> bool:
    if isinstance(given, str) and isinstance(wanted, str):
        return given.strip().casefold() == wanted.strip().casefold()
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    return bool(given == wanted)


def _at(arguments: Any, path: str) -> Any:
    """What stands at a dotted path, through lists: the values of all their elements."""
    for name in path.split("."):
        if isinstance(arguments, list):
            arguments = [item[name] for item in arguments if isinstance(item, Mapping) and name in item]
        elif isinstance(arguments, Mapping):
            arguments = arguments.get(name)
        else:
            return None
    return arguments


def filtered(expect: Expected, calls: Sequence[CallFinished], today: date) -> Scores:
    """filters: a good call has exactly the filters that are expected; dates: one has the days. Neither where a right chain has no
    tool that filters and none was called.
    """
    found = narrowed(calls, today)
    filters, days = expect.filters, expect.dates
    if not found and expect.tools is not None and expect.tools and chosen(expect, _names(calls), _names(calls))["tool_choice"]:
        return {"filters": None, "dates": None}
    named = expected_filters(filters or {})
    field = (filters or {}).get("date_field")
    return {
        "filters": None
        if filters is None
        else float(any(one.named == named and (days is not None or one.dates is None) for one in found)),
        "dates": None
        if days is None
        else float(any(same_days(one.dates, days, today) and field in {None, one.field} for one in found)),
    }


def _names(calls: Sequence[CallFinished]) -> list[str]:
    return [call.call.name for call in _good(calls)]


def validity(calls: Sequence[CallFinished]) -> Scores:
    """valid_calls: share of the calls that were taken and ran; recovered: share of the others that a good call came after."""
    errors = [number for number, call in enumerate(calls) if call.ran.result.is_error]
    last = max((number for number, call in enumerate(calls) if not call.ran.result.is_error), default=-1)
    return {
        "valid_calls": 1 - len(errors) / len(calls) if calls else None,
        "recovered": sum(number < last for number in errors) / len(errors) if errors else None,
    }


# The answer


def _expects_answer(expect: Expected) -> bool:
    said = (expect.documents, expect.all_documents, expect.numbers, expect.phrases, expect.forbidden, expect.marked)
    return any(said) or bool(expect.absent) or bool(expect.asks_back)


def answer_right(case: Case, turn: Turn) -> float | None:
    """1 when all that is expected of the answer holds: documents cited, phrases and numbers said, nothing forbidden, what is
    invented marked, absent or a question back where that is right. Of counted documents the right count stands for their citation.
    """
    expect = case.expect
    if not _expects_answer(expect):
        return None
    said = normalising.plain(_KEY.sub("", turn.answer)).casefold()
    if any(normalising.plain(phrase).casefold() in said for phrase in expect.forbidden):
        return 0.0
    if not set(expect.marked) <= _marked(turn.checked):
        return 0.0
    if expect.absent or expect.asks_back:
        wanted = {outcome for outcome, right in (("absent", expect.absent), ("question", expect.asks_back)) if right}
        return float(turn.outcome in wanted)
    if turn.outcome in {"absent", "question"} and (expect.documents or expect.all_documents or expect.numbers or expect.phrases):
        return 0.0
    numbers = list(numbers_said(turn.answer))
    near = all(any(_near(number, wanted, expect.tolerance) for number in numbers) for wanted in expect.numbers)
    phrases = all(normalising.plain(phrase).casefold() in said for phrase in expect.phrases)
    return float(near and phrases and _documents_named(expect, turn, numbers))


def _documents_named(expect: Expected, turn: Turn, numbers: Sequence[float]) -> bool:
    paths = cited_paths(turn)
    if _counted(turn) and expect.documents:
        return float(len(expect.documents)) in numbers
    return (not expect.documents or bool(paths & set(expect.documents))) and paths >= set(expect.all_documents)


def _counted(turn: Turn) -> bool:
    """Whether the answer is a count of documents, which has nothing to cite."""
    good = _good(turn.calls)
    return bool(good) and good[-1].call.name == "count_documents" and not turn.checked.citations


def _near(number: float, wanted: float, tolerance: float) -> bool:
    return math.isclose(number, wanted, rel_tol=tolerance, abs_tol=1e-9)


def numbers_said(text: str) -> Iterator[float]:
    """The numbers of a text, without citation keys, in every way that their separators can be read; per cent also as a share."""
    text = _KEY.sub("", text)
    for match in _NUMBER.finditer(text):
        written = match[0].replace("\u2212", "-")
        ungrouped = _GROUP.sub("", written)
        readings = {ungrouped, *(written.replace(",", "."), written.replace(",", ""))}
        readings |= {ungrouped.replace(",", "."), written.replace(".", "").replace(",", "."), *re.split(_SPACE, written)}
        values = {float(reading) for reading in readings if re.fullmatch(r"-?\d+(?:\.\d+)?", reading)}
        yield from values
        if text[match.end() :].lstrip(" \u00a0\u202f").startswith("%"):
            yield from (value / 100 for value in values)


# Citations


def cited_paths(turn: Turn) -> set[str]:
    """The paths of the documents, and of the files behind queries, that an answer cites."""
    return {path for citation in turn.checked.citations for path in _paths(citation)}


def _paths(citation: Citation) -> list[str]:
    return citation.evidence.path.split(", ") if citation.evidence is not None else []


def _marked(checked: Checked) -> set[str]:
    """The keys, quotations and numbers of an answer that failed its check."""
    keys = {citation.key for citation in checked.citations if citation.verdict != "retrieved"}
    quotes = {quote.text for quote in checked.quotes if quote.verdict != "verified"}
    return keys | quotes | {number.text for number in checked.numbers if number.verdict != "found"}


def cited(expect: Expected, turn: Turn) -> Scores:
    """citation_precision: share of the cited keys that were retrieved and, where documents are expected, are of these;
    citation_recall: share of all_documents cited, else whether any of `documents` is. quotes_verified, numbers_found: shares.
    What a case says is invented counts in none of them: `answer` tells whether it was marked.
    """
    aside = expect.marked
    citations = {citation.key: citation for citation in turn.checked.citations if citation.key not in aside}.values()
    wanted = {*expect.documents, *expect.all_documents}
    right = [one for one in citations if one.verdict == "retrieved" and _belongs(one, wanted)]
    paths = cited_paths(turn)
    recall = None
    if expect.all_documents:
        recall = len(paths & set(expect.all_documents)) / len(set(expect.all_documents))
    elif expect.documents and not _counted(turn):
        recall = float(bool(paths & set(expect.documents)))
    quotes = [quote for quote in turn.checked.quotes if quote.text not in aside]
    numbers = [number for number in turn.checked.numbers if number.text not in aside]
    return {
        "citation_precision": len(right) / len(citations) if citations else None,
        "citation_recall": recall,
        "quotes_verified": sum(quote.verdict == "verified" for quote in quotes) / len(quotes) if quotes else None,
        "numbers_found": sum(number.verdict == "found" for number in numbers) / len(numbers) if numbers else None,
    }


def _belongs(citation: Citation, wanted: set[str]) -> bool:
    """Whether a retrieved citation is of what is expected; a query or a calculation is its own evidence."""
    if not wanted or citation.evidence is None or not citation.evidence.is_passage:
        return True
    return citation.evidence.path in wanted
