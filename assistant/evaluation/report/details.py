"""Every case, unfolded one by one: question, expected, and per result the answer, its scores, its check and its calls.

Everything here was written by models, documents and case files. It is cut so that a thousand cases make a page that opens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.evaluation.report.elements import Child, Markup, element
from assistant.evaluation.report.measures import dollars, label, seconds, written
from assistant.evaluation.report.parts import cut, listing, prose, section, spoken, subsection
from assistant.evaluation.report.verdicts import Verdict, badge, faults, verdict
from assistant.evaluation.runs import Key, Result
from assistant.evaluation.scoring import QUALITY
from search.counting import counted

_PAGE_CHARACTERS = 12_000_000  # of all answers and calls, about
_MOST_RESULTS = 4_000
_MOST_FAILURES = 200
_MOST_ITEMS = 24  # calls, sources, doubts of a result
_TITLES = {
    Verdict.UNFINISHED: "Not finished",
    Verdict.WRONG: "Wrong",
    Verdict.PARTLY: "Right, with faults on the way",
    Verdict.RIGHT: "Right",
}


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters a result may take: whole texts in a small run, openings in a large one."""

    each: int

    @classmethod
    def for_results(cls, count: int) -> Room:
        """Room for so many results."""
        return cls(_PAGE_CHARACTERS // max(count, 1))

    @property
    def answer(self) -> int:
        """How many characters of an answer are shown."""
        return min(6000, max(200, self.each // 3))

    def for_one_of(self, texts: int) -> int:
        """How many characters of each of several texts are shown."""
        return min(1500, max(80, self.each // 3 // max(texts, 1)))


@dataclass(frozen=True, slots=True)
class Cased:
    """The results of a case, its place in the page and what became of it: the worst of its results."""

    place: str
    results: Sequence[Result]
    verdict: Verdict


def by_case(results: Sequence[Result]) -> list[Cased]:
    """Results by case, in the order of the run."""
    found: dict[str, list[Result]] = {}
    for result in results[:_MOST_RESULTS]:
        found.setdefault(result.case, []).append(result)
    return [Cased(f"case-{number}", these, min(map(verdict, these))) for number, these in enumerate(found.values(), 1)]


def cases(results: Sequence[Result], earlier: Mapping[Key, Result]) -> Markup:
    """The section: links to the failures, then all cases, the worst first."""
    if not results:
        return section("cases", "Cases", element("p", "No question has been finished yet."))
    ordered = by_case(results)
    room = Room.for_results(min(len(results), _MOST_RESULTS))
    left_out = len(results) - _MOST_RESULTS
    note = f"{left_out:,} more results are in the run's folder only." if left_out > 0 else None
    groups = []
    for found, title in _TITLES.items():
        these = [case for case in ordered if case.verdict is found]
        if these:
            groups.append(subsection(f"{title}: {counted(len(these), 'case')}", [_case(case, room, earlier) for case in these]))
    return section("cases", "Cases", element("p", note) if note else None, _failures(ordered), groups)


def _failures(ordered: Sequence[Cased]) -> Markup:
    """Links to what is wrong or unfinished."""
    failed = [case for case in ordered if case.verdict <= Verdict.WRONG]
    if not failed:
        return element("p", "No case failed.")
    links = []
    for case in failed:
        who = sorted({result.model for result in case.results if verdict(result) <= Verdict.WRONG})
        link = element("a", cut(case.results[0].case, 80), href=f"#{case.place}")
        links.append([link, " ", element("small", element("bdi", ", ".join(who)))])
    title = f"Failures: {counted(len(failed), 'case')}"
    return element("nav", element("h3", title, id="failures"), _columns(links), aria_labelledby="failures", class_="screen")


def _columns(links: Sequence[Child]) -> Markup:
    return element("div", listing(links, _MOST_FAILURES, "more below"), class_="failures")


def _case(case: Cased, room: Room, earlier: Mapping[Key, Result]) -> Markup:
    first = case.results[0]
    question = element("h4", element("bdi", cut(first.question, 300), lang=spoken(first.language)))
    known = " · ".join(part for part in (cut(first.case, 80), first.kind, first.language) if part)
    verdicts = [[" — ", element("bdi", _who(result, case.results)), ": ", badge(verdict(result))] for result in case.results]
    summary = element("summary", question, element("span", known, verdicts, class_="verdicts"))
    asked = [prose(first.question, room.answer, first.language)] if len(first.question) > 300 else []
    body = element(
        "div",
        asked,
        element("h5", "Expected"),
        _expected(first.expected, room),
        [_result(result, case.results, room, earlier.get(result.key)) for result in case.results],
        id=case.place,
        class_="body",
        # What is jumped to can be read on from there by keyboard.
        tabindex=-1,
    )
    return element("details", summary, body, class_=f"case is-{case.verdict.kind}")


def _who(result: Result, beside: Sequence[Result]) -> str:
    """The model, and which repeat where there are several."""
    repeated = any(other.repeat != result.repeat for other in beside)
    return f"{result.model}, {result.repeat}." if repeated else result.model


def _expected(expected: Mapping[str, Any], room: Room) -> Markup:
    given = [(name, told) for name, value in expected.items() if (told := _told(name, value))]
    if not given:
        return element("p", "Nothing in particular.", class_="note")
    most = room.for_one_of(len(given))
    rows = [element("div", element("dt", name.replace("_", " ")), element("dd", cut(told, most))) for name, told in given]
    return element("dl", rows, class_="expected")


def _told(name: str, value: Any) -> str:
    """What a case expects, in words where it has words."""
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "tools":
        return " or ".join(" → ".join(chain) if chain else "no tool" for chain in value)
    if isinstance(value, list | tuple):
        return "; ".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _result(result: Result, beside: Sequence[Result], room: Room, before: Result | None) -> Markup:
    title = element("h5", element("bdi", _who(result, beside)), ": ", badge(verdict(result)))
    failed = element("p", element("strong", "Error: "), cut(result.failed, room.for_one_of(1))) if result.failed else None
    notes = [f"Outcome: {result.outcome}"] if result.outcome not in ("", "answer") else []
    notes += [cut(note, room.for_one_of(6)) for note in (result.stopped, *result.notices[:5]) if note]
    answer = prose(result.answer, room.answer, result.language) if result.answer else element("p", "No answer.", class_="note")
    return element(
        "div",
        title,
        failed,
        element("p", " · ".join(notes), class_="note") if notes else None,
        answer,
        _checked(result, room),
        _scores(result),
        _trace(result, room),
        _before(result, before, room),
        class_="result",
    )


def _checked(result: Result, room: Room) -> Markup | None:
    """Sources of the answer, and what its check could not confirm."""
    items: list[Child] = []
    most = room.for_one_of(min(_MOST_ITEMS, len(result.citations) + 2 * len(result.quotes)))
    for cited in result.citations:
        if cited.get("verdict") == "retrieved":
            items.append(f"[{cited.get('number')}] {cut(str(cited.get('source') or cited.get('key')), most)}")
        else:
            items.append(_doubt(f"cited, but not retrieved: {cut(str(cited.get('key')), most)}"))
    for quote in result.quotes:
        if quote.get("verdict") != "verified":
            nearest = f'; the source has "{cut(str(quote["nearest"]), most)}"' if quote.get("nearest") else ""
            items.append(_doubt(f'quotation {quote.get("verdict")}: "{cut(str(quote.get("text")), most)}"{nearest}'))
    items += [
        _doubt(f"number not found: {cut(str(one.get('text')), most)}") for one in result.numbers if one.get("verdict") != "found"
    ]
    return listing(items, _MOST_ITEMS, "more") if items else None


def _doubt(text: str) -> Markup:
    return element("span", "✗ ", text, class_="wrong")


def _scores(result: Result) -> Markup | None:
    """The scores of its quality, the missed ones in front."""
    missed = faults(result)
    known = {name: score for name, score in result.scores.items() if score is not None and name in QUALITY}
    if not known:
        return None
    first = [element("li", _doubt(f"{label(name)} {written(name, known[name])}")) for name in missed]
    rest = [element("li", f"{label(name)} {written(name, score)}") for name, score in known.items() if name not in missed]
    return element("ul", first, rest, class_="scores", aria_label="Scores")


def _trace(result: Result, room: Room) -> Markup:
    """The calls, in order, each with what it was given and what came back in short."""
    took = [counted(len(result.calls), "call"), counted(result.steps, "step")]
    took += [f"{result.input_tokens:,} + {result.output_tokens:,} tokens"] if result.input_tokens or result.output_tokens else []
    took += [seconds(result.seconds), "cost unknown" if result.cost is None else dollars(result.cost)]
    if result.recording:
        took.append(result.recording)
    shown = result.calls[:_MOST_ITEMS]
    calls = [element("li", _call(call, room.for_one_of(2 * len(shown)))) for call in shown]
    rest = len(result.calls) - _MOST_ITEMS
    more = element("p", f"{rest:,} more calls.", class_="note") if rest > 0 else None
    inside = element("ol", calls, class_="calls") if calls else element("div", element("p", "No tool was called.", class_="note"))
    return element("details", element("summary", f"Trace: {', '.join(took)}"), inside, more)


def _call(call: Mapping[str, Any], most: int) -> list[Child]:
    given = call.get("arguments", "")
    written_out = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    notes = [seconds(float(call.get("seconds") or 0))]
    notes += ["repeated: answered from memory"] if call.get("repeated") else []
    head = element("p", element("code", element("strong", cut(str(call.get("name")), 80))), " ", element("small", ", ".join(notes)))
    arguments = element("p", element("code", cut(written_out, most)))
    if not call.get("ok"):
        why = str(call.get("error") or call.get("summary") or "")
        return [head, arguments, element("p", _doubt(f"refused or failed: {cut(why, most)}"))]
    return [head, arguments, element("p", "→ ", cut(str(call.get("summary") or ""), most), dir="auto")]


def _before(result: Result, before: Result | None, room: Room) -> Markup | None:
    """The answer of the earlier run, where it was another one."""
    if before is None:
        return None
    said: list[Child] = ["In the earlier run: ", badge(verdict(before))]
    if (before.answer, before.failed) == (result.answer, result.failed):
        return element("p", said, ", the same answer.", class_="note")
    answer = before.answer or before.failed or "No answer."
    return element("details", element("summary", said), element("div", prose(answer, room.answer, before.language)))


__all__ = ["Cased", "Room", "by_case", "cases"]
