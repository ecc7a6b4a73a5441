"""Follow-up questions without a model: they keep the tool, the filters and the subject of the question before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standin import StandIn

from assistant.backends.offline import Catalogue, Offline, catalogue_of
from assistant.backends.offline.following import follow
from assistant.conversation import Answered, Conversation, Turn
from assistant.loop import Limits
from search import Library, upkeep
from tests.conftest import ROOT

TODAY = date(2026, 10, 15)
MARCH = {"after": "2026-03-01", "before": "2026-04-01"}
RUNBOOKS = {"category": "runbooks", "date_field": "modified"}
INVOICES = "carrier_invoices_2026_10_09_invoices"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The sample library, with an embedder that stands in."""
    file = tmp_path_factory.mktemp("sample") / "library.db"
    upkeep.index(file, [ROOT / "data" / "library"], StandIn())
    with Library.open(file, embedder=StandIn()) as opened:
        yield opened


def talk(library: Library, *questions: str) -> list[Turn]:
    conversation = Conversation(library, Offline(catalogue_of(library), today=TODAY), today=TODAY)
    turns = []
    for question in questions:
        *_, last = conversation.ask(question)
        assert isinstance(last, Answered)
        turns.append(last.turn)
    return turns


def calls(turn: Turn) -> list[tuple[str, dict[str, Any]]]:
    return [(call.call.name, json.loads(call.call.arguments)) for call in turn.calls]


def is_part(part: dict[str, Any], whole: dict[str, Any]) -> bool:
    return part.items() <= whole.items()


@pytest.mark.parametrize(
    "questions",
    [
        ("which runbooks changed last month?", "and those from March?"),
        ("which runbooks changed last month?", "and in March?"),
        ("which runbooks changed last month?", "what about March 2026?"),
        ("which runbooks changed last month?", "and the ones from March 2026?"),
        ("Welche Runbooks wurden letzten Monat geändert?", "und die vom März?"),
        ("Welche Runbooks wurden letzten Monat geändert?", "Und im März?"),
        ("Welche Runbooks wurden letzten Monat geändert?", "Wie sieht es mit März 2026 aus?"),
    ],
)
def test_another_time_is_asked_of_the_same_tool_with_the_same_filters(library: Library, questions: tuple[str, str]) -> None:
    _, turn = talk(library, *questions)
    ((name, arguments),) = calls(turn)
    assert name == "filter_documents"
    assert is_part(RUNBOOKS | MARCH, arguments)
    assert "query" not in arguments
    assert "2026-03-25-certificate-renewal.md" in turn.answer


def test_a_conversation_of_several_follow_ups_keeps_what_was_not_said_anew(library: Library) -> None:
    turns = talk(
        library,
        "which runbooks changed last month?",
        "and those from March?",
        "how many of those are there?",
        "and the policies?",
        "and in 2025?",
        "only the PDFs, please",
    )
    names, arguments = zip(*(calls(turn)[0] for turn in turns), strict=True)
    assert names == ("filter_documents", "filter_documents", *["count_documents"] * 4)
    assert is_part(RUNBOOKS | MARCH, arguments[2])
    assert is_part(MARCH | {"category": "policies"}, arguments[3])
    assert is_part({"category": "policies", "after": "2025-01-01", "before": "2026-01-01"}, arguments[4])
    assert is_part({"category": "policies", "after": "2025-01-01", "format": "pdf"}, arguments[5])


def test_a_conversation_in_german(library: Library) -> None:
    turns = talk(library, "Welche Runbooks gibt es?", "und die vom April 2026?", "wie viele davon?", "und nach Autor?")
    names = [calls(turn)[0][0] for turn in turns]
    assert names == ["filter_documents", "filter_documents", "count_documents", "count_documents"]
    assert is_part({"category": "runbooks", "after": "2026-04-01"}, calls(turns[2])[0][1])
    assert calls(turns[3])[0][1]["group_by"] == "author"
    assert "verstanden" in turns[3].notices[0]


@pytest.mark.parametrize(
    ("questions", "words"),
    [
        (("how do I restart the production gateway?", "what about the staging one?"), ["restart", "gateway", "staging"]),
        (("how long do we keep the bodies of delivered webhooks?", "And access logs?"), ["keep", "access logs"]),
        (("What does TR-4090 mean?", "And what should I do about it?"), ["TR-4090"]),
        (
            ("Wie viele Urlaubstage hat man im Büro Hamburg?", "Und bis wann muss ich den Rest davon nehmen?"),
            ["Urlaubstage", "Rest"],
        ),
        (("Wie starte ich das Gateway neu?", "und das für Osaka?"), ["Gateway", "Osaka"]),
        (("how do I restart the production gateway?", "when?"), ["restart", "gateway"]),
        (("Wie starte ich das Gateway neu?", "Und warum?"), ["Gateway"]),
    ],
)
def test_the_subject_is_looked_for_again_with_what_is_new(library: Library, questions: tuple[str, str], words: list[str]) -> None:
    _, turn = talk(library, *questions)
    query = calls(turn)[0][1]["query"]
    assert [word for word in words if word not in query] == []


def test_what_goes_on_twice_does_not_pile_up(library: Library) -> None:
    *_, turn = talk(library, "how do I restart the gateway?", "and the backups?", "and the parking?")
    assert calls(turn)[0][1]["query"] == "how do I restart the gateway? the parking"


def test_a_label_narrows_the_list_before(library: Library) -> None:
    _, turn = talk(library, "List the tutorials with the tag go from last month.", "Only those for beginners, please.")
    ((name, arguments),) = calls(turn)
    assert name == "filter_documents"
    assert is_part({"tags": ["go"], "metadata": ["level=beginner"], "after": "2026-09-01"}, arguments)
    assert "go-worker-pool" in turn.answer


@pytest.mark.parametrize(
    ("questions", "value"),
    [
        (("Wie viel hat Swiftpost im Juli 2026 berechnet?", "Und im September?"), "178.884,5"),
        (("Wie viel hat Swiftpost im Juli 2026 berechnet?", "Und im September?", "Und Tozai Express?"), "106.392"),
        (("What is the total amount per carrier in July 2026?", "and in September?"), "178,884.5"),
        (("What is the average response time of our top 5 most-queried endpoints?", "and the top 3?"), "174.78"),
    ],
)
def test_a_question_over_tables_is_asked_of_other_values(library: Library, questions: tuple[str, ...], value: str) -> None:
    turn = talk(library, *questions)[-1]
    assert {name for name, _ in calls(turn)} <= {"query_table", "run_sql"}
    assert value in turn.answer
    assert turn.checked.sound


@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("And how do I restore a database backup?", "hybrid_search"),
        ("How many policies are there?", "count_documents"),
        ("which policies changed in 2026?", "filter_documents"),
        ("Does the gateway retry when it times out after four seconds?", "hybrid_search"),
    ],
)
def test_a_question_that_says_what_it_is_about_stands_alone(library: Library, question: str, tool: str) -> None:
    _, after = talk(library, "which runbooks changed last month?", question)
    (alone,) = talk(library, question)
    assert calls(after)[0] == calls(alone)[0]
    assert calls(after)[0][0] == tool
    assert "runbooks" not in json.dumps(calls(after)[0][1])


def test_a_first_question_has_nothing_to_go_on_from(library: Library) -> None:
    (turn,) = talk(library, "and those from March?")
    assert calls(turn)[0][0] in {"filter_documents", "hybrid_search"}


def test_that_no_more_calls_are_possible_is_no_question(library: Library) -> None:
    conversation = Conversation(library, Offline(catalogue_of(library), today=TODAY), today=TODAY, limits=Limits(calls=1))
    *_, last = conversation.ask("what do the policies say about hotels?")
    assert isinstance(last, Answered)
    assert "No search tool" not in last.turn.answer


def test_the_telling_words_of_an_attached_text_are_searched(library: Library) -> None:
    conversation = Conversation(library, Offline(catalogue_of(library), today=TODAY), today=TODAY)
    *_, last = conversation.ask("what is this?", "ERROR tallyctl: 504 upstream timed out (TR-5040)\n")
    assert isinstance(last, Answered)
    assert calls(last.turn) == [("hybrid_search", {"query": "504 TR-5040 tallyctl upstream timed out", "limit": 10})]


@given(st.lists(st.text(max_size=60) | st.sampled_from(["and those?", "und die?", "it", "how many?", "and", "?"]), max_size=5))
def test_any_conversation_means_something(questions: list[str]) -> None:
    found = follow(questions, Catalogue(categories=("recipes",), formats=("pdf",)), lambda _: None, today=TODAY)
    assert found.plan.intent in {"search", "keyword", "similar", "list", "count"}
