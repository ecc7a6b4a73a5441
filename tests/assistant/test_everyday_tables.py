"""Everyday questions over tables as people keep them: tickets, German invoices and expenses. What is meant, or nothing."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from assistant.backends.offline import Catalogue
from assistant.backends.offline.tables.questions import TableQuestions
from search.tables.models import Column, Table

TODAY = date(2026, 12, 2)
TICKETS = Table(
    1,
    "tickets",
    1,
    "work/tickets.csv",
    "",
    7,
    (
        Column("id", "text", distinct=7, values=("T-1", "T-2", "T-3", "T-4", "T-5", "T-6", "T-7")),
        Column("opened", "date", distinct=7, minimum="2026-09-03", maximum="2026-11-25"),
        Column("closed", "date", nulls=2, distinct=5, minimum="2026-09-04", maximum="2026-11-26"),
        Column("priority", "text", distinct=3, values=("high", "low", "medium")),
        Column("assignee", "text", distinct=3, values=("Priya Raman", "Sam", "Tomasz Nowak")),
        Column("hours", "real", distinct=7, minimum=0.5, maximum=11.0),
    ),
    (),
)
INVOICES = Table(
    2,
    "rechnungen",
    2,
    "money/rechnungen.csv",
    "",
    6,
    (
        Column("rechnungsnr", "text", distinct=6, values=("R-1", "R-2", "R-3", "R-4", "R-5", "R-6")),
        Column("kunde", "text", distinct=3, values=("Kaffee Morgenrot", "Nordlicht Yoga", "Tischlerei Hansen")),
        Column("datum", "date", distinct=6, minimum="2026-08-14", maximum="2026-11-18"),
        Column("betrag", "real", unit="EUR", distinct=5, minimum=420.5, maximum=2310.0),
        Column("bezahlt_am", "date", nulls=2, distinct=4, minimum="2026-08-30", maximum="2026-11-27"),
    ),
    (),
)
CUSTOMERS = Table(
    3,
    "kunden",
    3,
    "money/kunden.csv",
    "",
    3,
    (
        Column("kunde", "text", distinct=3, values=("Kaffee Morgenrot", "Nordlicht Yoga", "Tischlerei Hansen")),
        Column("ort", "text", distinct=3, values=("Flensburg", "Kiel", "Lübeck")),
        Column("stundensatz", "integer", distinct=3, minimum=75, maximum=85),
    ),
    (),
)
EXPENSES = Table(
    4,
    "ausgaben",
    4,
    "money/ausgaben.csv",
    "",
    13,
    (
        Column("datum", "date", distinct=13, minimum="2026-09-03", maximum="2026-11-27"),
        Column("kategorie", "text", distinct=3, values=("Auto", "Lebensmittel", "Wohnen")),
        Column("händler", "text", distinct=4, values=("Edeka", "Hausverwaltung Nord", "Rewe", "Shell")),
        Column("betrag", "real", unit="EUR", distinct=12, minimum=23.48, maximum=1240.0),
    ),
    (),
)
QUESTIONS = TableQuestions(Catalogue(categories=("recipes",), tables=(TICKETS, INVOICES, CUSTOMERS, EXPENSES)))


def called(question: str, language: str = "en") -> dict[str, Any] | None:
    reading = QUESTIONS.read(question, language=language, today=TODAY)
    made = QUESTIONS.call(reading, ()) if reading else None
    return made[1] if made else None


@pytest.mark.parametrize(
    ("question", "language", "table", "column", "op"),
    [
        ("which tickets are still open?", "en", "tickets", "closed", "is null"),
        ("list the open tickets", "en", "tickets", "closed", "is null"),
        ("how many tickets are not closed yet?", "en", "tickets", "closed", "is null"),
        ("which tickets haven't been closed?", "en", "tickets", "closed", "is null"),
        ("which tickets have yet to be closed?", "en", "tickets", "closed", "is null"),
        ("which tickets are closed?", "en", "tickets", "closed", "is not null"),
        ("which invoices are unpaid?", "en", "rechnungen", "bezahlt_am", "is null"),
        ("how many unpaid invoices are there?", "en", "rechnungen", "bezahlt_am", "is null"),
        ("which invoices are still open?", "en", "rechnungen", "bezahlt_am", "is null"),
        ("which invoices have been paid?", "en", "rechnungen", "bezahlt_am", "is not null"),
        ("Welche Rechnungen sind noch nicht bezahlt?", "de", "rechnungen", "bezahlt_am", "is null"),
        ("Welche Rechnungen sind noch offen?", "de", "rechnungen", "bezahlt_am", "is null"),
        ("Welche Rechnungen sind bezahlt?", "de", "rechnungen", "bezahlt_am", "is not null"),
    ],
)
def test_an_empty_cell_says_what_is_open(question: str, language: str, table: str, column: str, op: str) -> None:
    asked = called(question, language)
    assert asked is not None
    assert asked["table"] == table
    assert asked["filters"] == [{"column": column, "op": op}]


def test_what_was_closed_in_a_month_is_tested_by_its_days_alone() -> None:
    asked = called("which tickets were closed in October?")
    assert asked is not None
    assert [test["op"] for test in asked["filters"]] == [">=", "<"]


@pytest.mark.parametrize(
    "question",
    [
        "which tickets are overdue?",
        "which expenses were not refunded?",
        "how many tickets were never escalated?",
    ],
)
def test_what_no_column_can_tell_is_not_answered_as_if_it_were_not_said(question: str) -> None:
    assert called(question) is None


def test_open_is_no_word_for_the_day_of_opening() -> None:
    columns = tuple(column for column in TICKETS.columns if column.name != "closed")
    alone = Table(1, "tickets", 1, "work/tickets.csv", "", 7, columns, ())
    assert TableQuestions(Catalogue(tables=(alone,))).read("which tickets are still open?", language="en", today=TODAY) is None


def test_who_is_a_column_of_persons() -> None:
    asked = called("who worked the most hours on tickets?")
    assert asked is not None
    assert asked["group_by"] == ["assignee"]


def test_an_english_question_finds_a_german_compound() -> None:
    asked = called("which customer has the highest hourly rate?")
    assert asked is not None
    assert (asked["table"], asked["columns"]) == ("kunden", ["kunde", "stundensatz"])


@pytest.mark.parametrize(
    ("question", "language", "table", "limit"),
    [
        ("top 3 most expensive expenses", "en", "ausgaben", 3),
        ("top 3 expenses", "en", "ausgaben", 3),
        ("what are the three largest invoices?", "en", "rechnungen", 3),
        ("Was sind die drei größten Rechnungen?", "de", "rechnungen", 3),
        ("what is the largest invoice?", "en", "rechnungen", 6),  # with its equals
    ],
)
def test_the_largest_rows_are_those_with_the_largest_amount(question: str, language: str, table: str, limit: int) -> None:
    asked = called(question, language)
    assert asked is not None
    assert asked["table"] == table
    assert asked["order_by"] == [{"by": "betrag", "descending": True}]
    assert asked["limit"] == limit
    assert "group_by" not in asked


def test_the_largest_of_those_that_are_unpaid() -> None:
    asked = called("what is the biggest unpaid invoice?")
    assert asked is not None
    assert asked["filters"] == [{"column": "bezahlt_am", "op": "is null"}]
    assert asked["order_by"] == [{"by": "betrag", "descending": True}]


@pytest.mark.parametrize(
    ("question", "language", "group"),
    [
        ("what is the total of ausgaben by kategorie?", "en", "kategorie"),
        ("Wie hoch sind die Ausgaben pro Kategorie?", "de", "kategorie"),
        ("expenses per month", "en", "month(datum)"),
    ],
)
def test_expenses_are_added_up_for_each_of_what_they_are_asked_by(question: str, language: str, group: str) -> None:
    asked = called(question, language)
    assert asked is not None
    assert asked["group_by"] == [group]
    assert [(each["function"], each["column"]) for each in asked["aggregates"]] == [("sum", "betrag")]


def test_a_unit_that_is_counted_is_added_up() -> None:
    asked = called("how many euros did we spend in October?")
    assert asked is not None
    assert [(each["function"], each["column"]) for each in asked["aggregates"]] == [("sum", "betrag")]


@pytest.mark.parametrize(
    ("question", "table", "group"),
    [
        ("which händler did we use most often?", "ausgaben", "händler"),
        ("which priority do we ticket most?", "tickets", "priority"),
    ],
)
def test_what_is_done_most_is_what_has_the_most_rows(question: str, table: str, group: str) -> None:
    asked = called(question)
    assert asked is not None
    assert asked["group_by"] == [group]
    assert asked["aggregates"] == [{"function": "count", "as": f"count_{table}"}]
