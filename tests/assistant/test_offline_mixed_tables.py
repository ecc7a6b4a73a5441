"""Questions over a library of tables that have nothing to do with each other, though they share words. No library has these."""

from __future__ import annotations

import pytest
from test_offline_tables import TODAY

from assistant.backends.offline import Catalogue
from assistant.backends.offline.tables.models import Reading
from assistant.backends.offline.tables.questions import TableQuestions
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
