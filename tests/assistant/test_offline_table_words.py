"""Adjectives, verbs of paying, units and the words around a table, in questions over a table that no library has."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from assistant.backends.offline import Catalogue
from assistant.backends.offline.tables.questions import TableQuestions
from search.tables.models import Column, Table

TODAY = date(2026, 10, 15)
STALLS = Table(
    4,
    "market_stalls",
    4,
    "tables/market-stalls.xlsx",
    "Stalls",
    6,
    (
        Column("stall_code", "text", distinct=6, values=("007", "012", "031", "044", "058", "090")),
        Column("street", "text", distinct=6, values=("Ash", "Bay", "Cliff", "Dale", "East", "Ford")),
        Column("seats", "integer", distinct=6, minimum=2, maximum=40),
        Column("rent", "real", unit="EUR", distinct=6, minimum=90.0, maximum=410.0),
        Column("walk_s", "real", distinct=6, minimum=20.0, maximum=900.0),
        Column("opens", "time", distinct=4, minimum="05:00:00", maximum="10:00:00"),
        Column("since", "date", distinct=6, minimum="2012-01-01", maximum="2026-09-30"),
        Column("sunday", "text", distinct=2, values=("no", "yes")),
    ),
    ('above the header: "What the stalls owe the town, without tax"',),
)
STALL_QUESTIONS = TableQuestions(Catalogue(categories=("recipes",), tables=(STALLS,), titles={4: "Harvest fair"}))


def stalls(question: str, language: str = "en") -> dict[str, Any] | None:
    reading = STALL_QUESTIONS.read(question, language=language, today=TODAY)
    made = STALL_QUESTIONS.call(reading, ()) if reading else None
    return made[1] if made else None


@pytest.mark.parametrize(
    ("question", "column", "high"),
    [
        ("which stall is the cheapest?", "rent", False),
        ("the most expensive stall", "rent", True),
        ("which stall pays the most?", "rent", True),
        ("which stall is slowest?", "walk_s", True),
        ("which stall has the shortest walk?", "walk_s", False),
        ("what is the oldest stall?", "since", False),
        ("which stall opens earliest in the morning?", "opens", False),
        ("which stall opens last?", "opens", True),
        ("which stall has the most seats?", "seats", True),
    ],
)
def test_an_adjective_means_the_column_of_its_kind(question: str, column: str, high: bool) -> None:
    called = stalls(question)
    assert called is not None
    assert called["order_by"] == [{"by": column, "descending": high}]
    assert called["columns"] == ["stall_code", "street", column]


@pytest.mark.parametrize(
    ("question", "column"), [("Welcher Stall ist am teuersten?", "rent"), ("Welcher Stall ist am langsamsten?", "walk_s")]
)
def test_german_adjectives_mean_the_same(question: str, column: str) -> None:
    called = stalls(question, "de")
    assert called is not None
    assert called["order_by"] == [{"by": column, "descending": True}]


@pytest.mark.parametrize(
    ("question", "aggregate"),
    [
        ("how much do the stalls pay in total?", ("sum", "rent")),
        ("total net rent", ("sum", "rent")),
        ("total rent of the harvest fair", ("sum", "rent")),
        ("how expensive is a stall on average?", ("avg", "rent")),
        ("how much did the stalls bill?", ("sum", "rent")),
        ("how many seats does a stall have on average?", ("avg", "seats")),
        ("what is the largest number of seats at any stall?", ("max", "seats")),
    ],
)
def test_words_around_a_table_and_verbs_of_paying_are_understood(question: str, aggregate: tuple[str, str]) -> None:
    called = stalls(question)
    assert called is not None
    assert [(each["function"], each["column"]) for each in called["aggregates"]] == [aggregate]


@pytest.mark.parametrize("question", ["total gross rent", "which stall is the tallest?", "who baked the most?", "net zero plans"])
def test_words_that_no_column_can_answer_are_left_to_the_documents(question: str) -> None:
    assert stalls(question) is None


@pytest.mark.parametrize(
    ("question", "test"),
    [
        ("which stalls have fewer than ten seats?", ("seats", "<", 10)),
        ("stalls with a rent above two hundred euros", ("rent", ">", 200)),
        ("which stalls are slower than two minutes?", ("walk_s", ">", 120)),
        ("which stalls are open on Sunday?", ("sunday", "=", "yes")),
        ("which stalls are not open on Sunday?", ("sunday", "=", "no")),
        ("which stalls are closed on Sundays?", ("sunday", "=", "no")),
        ("which stalls are not closed on Sunday?", ("sunday", "=", "yes")),
    ],
)
def test_number_words_units_and_flags_become_tests(question: str, test: tuple[str, str, Any]) -> None:
    called = stalls(question)
    assert called is not None
    column, op, value = test
    assert called["filters"] == [{"column": column, "op": op, "value": value}]


def test_what_a_ranking_goes_by_may_stand_behind_by() -> None:
    called = stalls("the three largest stalls by rent")
    assert called is not None
    assert called["order_by"] == [{"by": "rent", "descending": True}]


def test_a_code_is_said_behind_what_it_stands_for() -> None:
    reading = STALL_QUESTIONS.read("which stall has the most seats?", language="en", today=TODAY)
    assert reading is not None
    rows = [["031", "Cliff", 40], ["007", "Ash", 12]]
    text, _ = STALL_QUESTIONS.answer(reading, [{"key": "aaaaaaaaaa", "columns": ["stall_code", "street", "seats"], "rows": rows}])
    assert text.splitlines()[0] == "Cliff (stall_code 031): 40 seats [aaaaaaaaaa]"
    assert "Understood: the stall with the most seats." in text


def test_the_days_that_a_time_came_to_are_said() -> None:
    reading = STALL_QUESTIONS.read("how many stalls since last month?", language="en", today=TODAY)
    assert reading is not None
    assert "since last month (2026-09-01 – …)" in STALL_QUESTIONS.said(reading)
