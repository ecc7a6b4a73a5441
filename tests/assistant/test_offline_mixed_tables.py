"""Questions over a library of tables that have nothing to do with each other, though they share words. No library has these."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_offline_tables import TODAY

from assistant.backends.offline import Catalogue, Offline
from assistant.backends.offline.tables.models import Reading
from assistant.backends.offline.tables.questions import TableQuestions
from assistant.messages import Declaration, Message, Reply, Request, ToolResult
from search.tables.models import Column, Table

GARDENERS = ("Ida Rooke", "Jon Vale", "Kim Ash")
SHIFTS = Table(
    1, "shifts", 1, "garden/shifts.csv", "", 90,
    (
        Column("day", "date", distinct=60, minimum="2026-06-01", maximum="2026-07-30"),
        Column("gardener", "text", distinct=3, values=GARDENERS),
        Column("hours", "real", distinct=4, minimum=4.0, maximum=8.0),
        Column("plot", "text", distinct=3, values=("East", "North", "own")),
        Column("paid", "text", nulls=40, distinct=1, values=("x",)),
        Column("mood", "integer", distinct=5, minimum=1, maximum=5),
    ),
    (),
)  # fmt: skip
REPAIRS = Table(
    2, "repairs_export", 2, "garden/repairs_export.csv", "", 70,
    (
        Column("repair_id", "text", distinct=70),
        Column("created_at", "datetime", distinct=70, minimum="2026-03-01T08:00:00", maximum="2026-09-29T08:00:00"),
        Column("closed_at", "datetime", nulls=30, distinct=40, minimum="2026-03-02T08:00:00", maximum="2026-10-01T08:00:00"),
        Column("state", "text", distinct=2, values=("closed", "open")),
        Column("urgency", "text", distinct=3, values=("U1", "U2", "U3")),
        Column("gardener", "text", distinct=3, values=GARDENERS),
        Column("again", "text", distinct=2, values=("No", "Yes")),
        Column("fault_code", "integer", nulls=50, distinct=3, minimum=10, maximum=12),
    ),
    (),
)  # fmt: skip
BUDGET = Table(
    3, "budget_2026", 3, "money/budget.xlsx", "Budget 2026", 4,
    (
        Column("area", "text", distinct=4, values=("Greenhouse", "Paths", "Seeds", "Total")),
        Column("planned", "integer", unit="EUR", distinct=4, minimum=100, maximum=900),
        Column("agreed_on", "date", distinct=4, minimum="2025-12-01", maximum="2025-12-09"),
    ),
    (),
)  # fmt: skip
TOOLS_BOUGHT = Table(
    4, "tools", 4, "money/tools.csv", "", 20,
    (
        Column("tool", "text", distinct=20),
        Column("cost", "real", unit="EUR", distinct=9, minimum=3.5, maximum=80.0),
        Column("warranty_months", "integer", unit="months", distinct=3, minimum=12, maximum=36),
    ),
    (),
)  # fmt: skip
DUES = Table(
    5, "dues", 5, "money/dues.csv", "", 4,
    (
        Column("name", "text", distinct=4, values=("a", "b", "c", "d")),
        Column("due", "text", distinct=2, values=("2026-01-05", "March 2026"), note="kept as text"),
        Column("fee", "text", distinct=4, values=("1", "2", "ca. 7", "9"),
               note='kept as text: 1 of 4 values are no numbers (such as "ca. 7")'),
    ),
    (),
)  # fmt: skip
GARDEN = Catalogue(tables=(BUDGET, DUES, REPAIRS, SHIFTS, TOOLS_BOUGHT))
QUESTIONS = TableQuestions(GARDEN)


def read(question: str, language: str = "en") -> Reading:
    reading = QUESTIONS.read(question, language=language, today=TODAY)
    assert reading is not None
    return reading


def said(question: str, language: str = "en") -> str:
    return QUESTIONS.said(read(question, language))


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("total hours per gardener", "sum of hours for each gardener"),
        ("total hours per month", "sum of hours for each month of day"),
        ("total planned", "sum of planned"),
        ("total cost of the tools", "sum of cost"),
        ("number of repairs per month", "number of rows of repairs_export for each month of created_at"),
        ("average hours in July 2026", "average of hours where day in July 2026"),
    ],
)
def test_words_that_ask_and_times_are_no_names_of_other_tables(question: str, understood: str) -> None:
    assert said(question) == understood


def test_a_value_that_is_a_time_is_meant_where_no_column_holds_times() -> None:
    assert said("which dues are due March 2026?") == "name of dues where due = March 2026"


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("total paid hours per plot", "sum of hours for each plot where paid = x"),
        ("how many non-paid hours per gardener?", "sum of hours for each gardener where paid is missing"),
        ("how many repairs were done again?", "number of rows of repairs_export where again = Yes"),
        ("how many U1 repairs are open?", "number of rows of repairs_export where urgency = U1 and state = open"),
    ],
)
def test_a_column_of_yes_and_no_that_is_named_is_a_condition(question: str, understood: str) -> None:
    assert said(question) == understood


def test_words_of_which_nothing_was_made_are_said() -> None:
    reading = read("how many repairs, fault code, are open?")
    rows = {"key": "aaaaaaaaaa", "columns": ["count_repairs_export"], "rows": [[4]]}
    text, _ = QUESTIONS.answer(reading, [rows])
    assert "Not used: fault, code." in text


@pytest.mark.parametrize(
    ("question", "language", "understood"),
    [
        (
            "Wie viele Stunden hat Jon Vale im Juni 2026 gearbeitet?",
            "de",
            "Summe von hours, wobei gardener = Jon Vale und day im Juni 2026",
        ),
        ("how many hours did Jon Vale work in May 2026?", "en", "sum of hours where gardener = Jon Vale and day in May 2026"),
        ("hours per gardener in July 2026", "en", "sum of hours for each gardener where day in July 2026"),
        ("weekly hours", "en", "sum of hours for each week of day"),
        ("mood per gardener", "en", "average of mood for each gardener"),
        ("repairs per month", "en", "number of rows of repairs_export for each month of created_at"),
        ("number of repairs per gardener", "en", "number of rows of repairs_export for each gardener"),
        ("top 2 gardeners by number of repairs", "en", "the top 2 gardeners by number of rows of repairs_export"),
        (
            "average mood per gardener, best first",
            "en",
            "average of mood for each gardener, ordered by average of mood, highest first",
        ),
        ("highest mood per gardener", "en", "highest mood for each gardener"),
        ("average hours of East vs North", "en", "average of hours for each plot where plot in East, North"),
        ("who worked the most hours?", "en", "the gardener with the highest total hours"),
        ("mean hours per shift", "en", "average of hours"),
        (
            "how many repairs does a gardener have on average?",
            "en",
            "average of the number of rows of repairs_export for each gardener",
        ),
    ],
)
def test_quantities_are_added_up_and_orders_invent_no_limit(question: str, language: str, understood: str) -> None:
    assert said(question, language) == understood


def asked(
    question: str, tools: tuple[str, ...] = ("hybrid_search", "filter_documents", "query_table", "run_sql")
) -> dict[str, Any]:
    *_, reply = Offline(GARDEN, today=TODAY).send(
        Request((Message("user", question),), tuple(Declaration(name, "", {}) for name in tools))
    )
    assert isinstance(reply, Reply)
    arguments: dict[str, Any] = json.loads(reply.message.calls[0].arguments)
    return {"tool": reply.message.calls[0].name, **arguments}


@pytest.mark.parametrize("question", ["how many repairs were closed in May 2026?", "how many repairs in May 2026?"])
def test_a_time_tests_the_dates_of_the_table_rather_than_those_of_files(question: str) -> None:
    called = asked(question)
    assert called["tool"] == "query_table"
    tests = [(each["op"], each["value"]) for each in called["filters"] if each["column"] != "state"]
    assert tests == [(">=", "2026-05-01"), ("<", "2026-06-01")]


@pytest.mark.parametrize("question", ["total fee", "average fee per name", "how many fees in total?"])
def test_a_column_of_numbers_that_is_kept_as_text_is_said_to_be_so(question: str) -> None:
    rows = {"key": "aaaaaaaaaa", "columns": ["fee", "count_dues"], "rows": [["ca. 7", 1], ["1", 1]]}
    text, outcome = QUESTIONS.answer(read(question), [rows])
    assert outcome == "partial"
    assert text.startswith("Nothing can be computed with fee: it is kept as text: some values are no numbers (such as ca. 7).")
    assert "| ca. 7 | 1 |" in text


def test_other_tables_that_fit_as_well_are_named() -> None:
    other = Table(9, "spades", 9, "money/spades.csv", "", 5, TOOLS_BOUGHT.columns[:2], ())
    reading = TableQuestions(Catalogue(tables=(TOOLS_BOUGHT, other))).read("total cost", language="en", today=TODAY)
    assert reading is not None
    assert reading.unsure == ("the table is tools; spades would fit as well",)


def test_what_a_tool_tells_a_model_stays_out_of_the_answer() -> None:
    backend, tools = Offline(GARDEN, today=TODAY), ("hybrid_search", "query_table", "run_sql")
    declared = tuple(Declaration(name, "", {}) for name in tools)
    messages = [Message("user", "total hours per gardener")]
    replies = {
        "query_table": "Error: bad arguments for query_table: filters: ...; send JSON like {}",
        "hybrid_search": '{"found": 0}',
    }
    while True:
        *_, reply = backend.send(Request(tuple(messages), declared))
        assert isinstance(reply, Reply)
        if not reply.message.calls:
            break
        made = reply.message.calls[0]
        result = ToolResult(made.id, made.name, replies[made.name], is_error=made.name == "query_table")
        messages += [reply.message, Message("tool", results=(result,))]
    assert "no query could be made of the question" in reply.message.text
    assert "JSON" not in reply.message.text
