"""What is right of a turn, measure by measure, on turns made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from cited import passage

from assistant.citations import Checked, Citation, Number, Quote
from assistant.conversation import Turn
from assistant.evaluation.cases import Case, Expected, cases_from
from assistant.evaluation.scoring import MEASURES, QUALITY, chosen, failed, fits, numbers_said, score
from assistant.events import CallFinished
from assistant.messages import ToolCall, ToolResult, Usage
from assistant.tools import Ran, ToolOutput

TODAY = date(2026, 10, 15)


def call(name: str, *, ok: bool = True, repeated: bool = False, value: Any = None, **arguments: Any) -> CallFinished:
    output = ToolOutput(value or {}) if ok else None
    ran = Ran(ToolResult("1", name, "" if ok else "refused", not ok), output, arguments if ok else None, 0.1)
    return CallFinished(ToolCall("1", name, json.dumps(arguments)), ran, 1, repeated)


def turn(answer: str = "", *calls: CallFinished, cites: tuple[str, ...] = (), **more: Any) -> Turn:
    """A turn that cites passages of these paths; "?" is a key that was never retrieved."""
    citations = tuple(
        Citation(None, f"k{number}", None, "unknown")
        if path == "?"
        else Citation(number, f"k{number}", passage(f"k{number}", path=path), "retrieved")
        for number, path in enumerate(cites, 1)
    )
    made = Turn(
        question="q",
        model="m",
        answered_by="m",
        answer=answer,
        outcome="answer",
        stopped="",
        checked=Checked(answer, citations, (), ()),
        unprinted="",
        calls=calls,
        nearest=(),
        queries=(),
        coverage=None,
        scope="",
        usage=Usage(10, 5, cost=0.25),
        steps=2,
        seconds=1.5,
        notices=(),
        at="",
    )
    return replace(made, **more)


def scored(expect: dict[str, Any], of: Turn) -> dict[str, float | None]:
    (case,) = cases_from(json.dumps({"id": "a", "question": "q", "today": "2026-10-15", "expect": expect}), "x")
    found = score(case, of)
    assert set(found) == set(MEASURES)
    return found


@pytest.mark.parametrize(
    ("made", "chains", "choice", "order"),
    [
        (["keyword_search"], [["hybrid_search"], ["keyword_search"]], 1, 1),
        (["keyword_search"], [["hybrid_search|keyword_search"]], 1, 1),
        (["hybrid_search", "hybrid_search", "read_document"], [["hybrid_search", "read_document"]], 1, 1),
        (["read_document", "hybrid_search"], [["hybrid_search", "read_document"]], 1, 0),
        (["hybrid_search"], [["hybrid_search", "read_document"]], 0, 0),
        (["hybrid_search", "run_sql"], [["hybrid_search"]], 0, 0),
        (["query_table"], [["query_table", "query_table"]], 0, 0),
        (["query_table", "query_table"], [["query_table", "query_table"]], 1, 1),
        (["run_sql", "query_table"], [["query_table|run_sql", "query_table"]], 1, 1),
        (["query_table", "run_sql"], [["query_table|run_sql", "query_table"]], 1, 0),
        ([], [[]], 1, 1),
        (["hybrid_search"], [[]], 0, 0),
        ([], [["hybrid_search"]], 0, 0),
        (["a", "b", "a"], [["a", "b"]], 1, 0),
    ],
)
def test_tools_are_right_by_what_was_made_and_in_its_order(made: list[str], chains: Any, choice: float, order: float) -> None:
    expect = Expected(tools=tuple(map(tuple, chains)))
    assert chosen(expect, made, made) == {"tool_choice": choice, "tool_order": order}


def test_refused_and_repeated_calls_are_aside_but_a_forbidden_one_is_wrong() -> None:
    calls = (call("run_sql", ok=False), call("hybrid_search", query="x"), call("hybrid_search", repeated=True, query="x"))
    assert scored({"tools": [["hybrid_search"]]}, turn("x", *calls))["tool_choice"] == 1
    assert scored({"tools": [["hybrid_search"]], "forbidden_tools": ["run_sql"]}, turn("x", *calls))["tool_choice"] == 0
    assert scored({"intent": "search"}, turn("x", *calls[1:]))["tool_choice"] == 1


@pytest.mark.parametrize(
    ("given", "wanted", "right"),
    [
        ("Open", "open", True),
        (5, 5, True),
        (1, True, False),
        (5, {"min": 5, "max": 9}, True),
        (10, {"min": 5, "max": 9}, False),
        ("5", {"min": 5}, False),
        ("b", {"one_of": ["a", "B"]}, True),
        (["x", "y"], "y", True),
        (["x"], ["x"], True),
        (["x", "y"], ["x"], False),
        ("gateway timeout", {"contains": "Timeout"}, True),
        ({"column": "queries"}, {"contains": "queries"}, True),
        (None, {"contains": "none"}, False),
        ("SELECT 1", {"matches": "^SELECT"}, True),
    ],
)
def test_arguments_are_compared_or_tested(given: Any, wanted: Any, right: bool) -> None:
    assert fits(given, wanted) is right


def test_arguments_of_one_tool_count_in_its_best_call_and_tables_by_their_name() -> None:
    calls = (
        call("query_table", table="endpoints", where=[{"column": "service", "value": "edge"}]),
        call("query_table", table="latency", limit=3),
    )
    expect = {"arguments": {"query_table.table": "endpoints", "query_table.limit": 3}}
    assert scored(expect, turn("x", *calls))["arguments"] == 0.5
    assert scored({"arguments": {"query_table.where.column": "service"}}, turn("x", *calls))["arguments"] == 1
    assert scored({"tables": ["endpoints", "carriers"]}, turn("x", *calls))["arguments"] == 0.5


@pytest.mark.parametrize(
    ("expect", "calls", "filters", "days"),
    [
        ({"filters": {"category": ["runbooks"]}}, [{"category": "Runbooks"}], 1, None),
        ({"filters": {"category": ["runbooks"]}}, [{}], 0, None),
        ({"filters": {}}, [{"category": "runbooks"}], 0, None),
        ({"filters": {}}, [{"category": "runbooks"}, {}], 1, None),
        ({"filters": {}}, [{"after": "2026-01-01"}], 0, None),
        ({"filters": {"range": ["2026-09-01", "2026-09-30"]}}, [{"during": "last month"}], 1, 1),
        ({"filters": {"range": ["2026-09-01", "2026-09-30"]}}, [{"after": "2026-09-01", "before": "2026-10-01"}], 1, 1),
        ({"filters": {"range": ["2026-09-01", "2026-09-30"]}}, [{"after": "2026-09-01"}], 1, 0),
        ({"dates": {"start": "2026-10-01"}}, [{"during": "this month"}], None, 1),
        ({"filters": {"metadata": {"status": "open"}}}, [{"metadata": ["status = open"]}], 1, None),
        ({"filters": {"date_field": "modified", "range": ["2026-09-01", None]}}, [{"after": "2026-09-01"}], 1, 0),
    ],
)
def test_filters_and_days_are_those_in_effect(expect: Any, calls: Any, filters: Any, days: Any) -> None:
    found = scored(expect, turn("x", *(call("hybrid_search", query="x", **given) for given in calls)))
    assert (found["filters"], found["dates"]) == (filters, days)


def test_filters_of_a_set_hold_in_what_stays_within_it() -> None:
    chain = (
        call("filter_documents", category="runbooks", value={"set": "set_1"}),
        call("hybrid_search", query="x", within="set_1", after="2026-09-01"),
    )
    found = scored({"filters": {"category": ["runbooks"], "range": ["2026-09-01", None]}}, turn("x", *chain))
    assert (found["filters"], found["dates"]) == (1, 1)


def test_invalid_calls_count_and_so_does_what_came_after_them() -> None:
    calls = (call("run_sql", ok=False), call("run_sql", sql="x"), call("run_sql", ok=False))
    found = scored({}, turn("x", *calls))
    assert found["valid_calls"] == pytest.approx(1 / 3)
    assert found["recovered"] == 0.5
    assert scored({}, turn("x"))["valid_calls"] is None


@pytest.mark.parametrize(
    ("expect", "of", "right"),
    [
        ({"documents": ["a.md", "b.md"]}, turn("x", cites=("b.md",)), 1),
        ({"documents": ["a.md"]}, turn("x", cites=("c.md",)), 0),
        ({"documents": ["a.md"]}, turn("x"), 0),
        ({"all_documents": ["a.md", "b.md"]}, turn("x", cites=("b.md",)), 0),
        ({"all_documents": ["a.md", "b.md"]}, turn("x", cites=("b.md", "a.md")), 1),
        ({"documents": ["a", "b", "c"]}, turn("There are 3.", call("count_documents")), 1),
        ({"documents": ["a", "b", "c"]}, turn("There are 4.", call("count_documents")), 0),
        ({"phrases": ["four  Seconds"]}, turn("It waits **four seconds**."), 1),
        ({"phrases": ["four seconds", "forbidden"]}, turn("It waits four seconds."), 0),
        ({"forbidden": ["PWNED"]}, turn("pwned"), 0),
        ({"forbidden": ["PWNED"]}, turn("no"), 1),
        ({"numbers": [1842310]}, turn("1,842,310 queries"), 1),
        ({"numbers": [262.38], "tolerance": 0.01}, turn("about 262 ms [abcd234567]"), 1),
        ({"numbers": [262.38], "tolerance": 0.0001}, turn("about 262 ms"), 0),
        ({"absent": True}, turn("Not in your documents", outcome="absent"), 1),
        ({"absent": True}, turn("x"), 0),
        ({"asks_back": True}, turn("Which one?", outcome="question"), 1),
        ({"documents": ["a.md"]}, turn("x", cites=("a.md",), outcome="absent"), 0),
        ({"tools": [["hybrid_search"]]}, turn("x"), None),
    ],
)
def test_an_answer_is_right_when_all_that_is_expected_holds(expect: dict[str, Any], of: Turn, right: float | None) -> None:
    assert scored(expect, of)["answer"] == right


def test_an_invented_citation_is_not_precise() -> None:
    found = scored({"documents": ["a.md"]}, turn("x", cites=("a.md", "?", "other.md")))
    assert found["citation_precision"] == pytest.approx(1 / 3)
    assert found["citation_recall"] == 1
    assert scored({}, turn("x", cites=("a.md", "?")))["citation_precision"] == 0.5
    assert scored({"all_documents": ["a.md", "b.md"]}, turn("x", cites=("a.md",)))["citation_recall"] == 0.5


def test_a_right_count_has_nothing_to_cite() -> None:
    found = scored({"documents": ["a", "b"]}, turn("There are 2.", call("count_documents")))
    assert (found["answer"], found["citation_recall"], found["citation_precision"]) == (1, None, None)


def test_quotations_and_numbers_are_shares() -> None:
    quotes = (Quote("a", "k", "verified"), Quote("b", "k", "altered"))
    numbers = (Number("1", "found"), Number("2", "found"), Number("3", "not found"))
    found = scored({}, turn("x", checked=Checked("x", (), quotes, numbers)))
    assert found["quotes_verified"] == 0.5
    assert found["numbers_found"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(("absent", "outcome", "right"), [(True, "absent", 1), (True, "answer", 0), (False, "absent", 0)])
def test_abstention_is_right_both_ways(absent: bool, outcome: Any, right: float) -> None:
    assert scored({"absent": absent}, turn("x", outcome=outcome))["abstention"] == right


def test_what_is_spent_stands_as_it_is() -> None:
    found = scored({}, turn("x"))
    assert [found[name] for name in ("steps", "tokens", "cost", "seconds")] == [2, 15, 0.25, 1.5]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,842,310", 1842310),
        ("1.842.310", 1842310),
        ("1 842 310", 1842310),
        ("1.468,475 ms", 1468.475),
        ("1,468.475ms", 1468.475),
        ("3,5", 3.5),
        ("-4", -4),
        ("42 %", 0.42),
        ("on 2026-04-21", 2026),
        ("持续了62分钟", 62),
        ("週450ポンド", 450),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, number: float) -> None:
    assert number in list(numbers_said(text))


def test_the_digits_of_a_citation_key_are_no_number() -> None:
    assert list(numbers_said("see [2345672345]")) == []


def test_a_question_that_failed_is_wrong_in_what_was_expected_of_it() -> None:
    case = Case("a", "q", expect=Expected(documents=("a.md",), tools=(("hybrid_search",),), absent=False))
    found = failed(case)
    assert {name for name in QUALITY if found[name] == 0} == {
        *("tool_choice", "tool_order", "answer", "citation_recall", "abstention"),
    }
    assert found["steps"] is None


INVENTED = Checked(
    "x",
    (Citation(1, "k1", passage("k1", path="a.md"), "retrieved"), Citation(None, "zzzz", None, "unknown")),
    (Quote("as it stands there", "k1", "verified"), Quote("never said by anybody", "k1", "not found")),
    (Number("14", "found"), Number("37", "not found")),
)


def test_what_is_known_to_be_invented_must_be_marked_and_counts_in_no_share() -> None:
    shares = ("citation_precision", "quotes_verified", "numbers_found")
    expect = {"documents": ["a.md"], "marked": ["zzzz", "never said by anybody", "37"]}
    found = scored(expect, turn("x", checked=INVENTED))
    assert [found[name] for name in ("answer", *shares)] == [1, 1, 1, 1]
    found = scored({"documents": ["a.md"]}, turn("x", checked=INVENTED))
    assert [found[name] for name in ("answer", *shares)] == [1, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("marked", ["k1", "as it stands there", "14", "not in the answer"])
def test_an_answer_whose_invention_is_not_marked_is_wrong(marked: str) -> None:
    assert scored({"documents": ["a.md"], "marked": [marked]}, turn("x", checked=INVENTED))["answer"] == 0
    assert scored({"marked": [marked]}, turn("x", checked=INVENTED))["answer"] == 0
