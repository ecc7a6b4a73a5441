"""Questions over tables without a model: what is read, which calls follow, what is answered. No library has these tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.backends.offline import Catalogue, Offline
from assistant.backends.offline.tables.answering import number_words
from assistant.backends.offline.tables.marks import read_number
from assistant.backends.offline.tables.phrases import table_phrases
from assistant.backends.offline.tables.questions import TableQuestions
from assistant.backends.offline.wording import words_of
from assistant.messages import Declaration, Message, Outcome, Reply, Request, ToolResult
from assistant.prompts import LAST_REQUEST
from search.tables.models import Column, Table

TODAY = date(2026, 10, 15)
BAKERIES = Table(
    1,
    "bakeries",
    1,
    "tables/bakeries.csv",
    "",
    8,
    (
        Column("bakery", "text", distinct=8, values=("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Oak", "Yew")),
        Column("loaves", "integer", distinct=8, minimum=120, maximum=9800),
        Column("owner", "text", distinct=3, values=("Ada Quill", "Bert Moss", "Cora O'Neil")),
        Column("town", "text", distinct=2, values=("Ulm", "York")),
        Column("oven_kg", "real", distinct=5, minimum=10.5, maximum=90.0),
        Column("opened", "integer", distinct=4, minimum=1998, maximum=2024),
        Column("phone", "text", nulls=2, distinct=6),
    ),
    (),
)
BAKES = Table(
    2,
    "bakes",
    2,
    "tables/bakes.csv",
    "",
    300,
    (
        Column("bakery", "text", distinct=8, values=("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Oak", "Yew")),
        Column("duration_min", "real", distinct=250, minimum=18.0, maximum=95.5),
        Column("baked_at", "datetime", distinct=300, minimum="2026-09-01T03:00:00", maximum="2026-09-30T04:00:00"),
    ),
    (),
)
PRICES = Table(
    3,
    "preise",
    3,
    "tables/preise.csv",
    "",
    40,
    (
        Column("sorte", "text", distinct=4, values=("Laugen", "Mohn", "Roggen", "Vollkorn")),
        Column("filiale", "text", distinct=10),
        Column("betrag", "real", unit="EUR", distinct=30, minimum=0.8, maximum=6.4),
    ),
    (),
)
CATALOGUE = Catalogue(categories=("recipes",), tables=(BAKERIES, BAKES, PRICES))
QUESTIONS = TableQuestions(CATALOGUE)
DECLARED = tuple(Declaration(name, "", {}) for name in ("hybrid_search", "query_table", "run_sql"))


def call(question: str, *results: Mapping[str, Any], language: str = "en") -> tuple[str, dict[str, Any]] | None:
    reading = QUESTIONS.read(question, language=language, today=TODAY)
    return QUESTIONS.call(reading, results) if reading else None


def answer(question: str, *results: Mapping[str, Any], language: str = "en") -> tuple[str, Outcome]:
    reading = QUESTIONS.read(question, language=language, today=TODAY)
    assert reading is not None
    return QUESTIONS.answer(reading, results)


def filters(*tests: tuple[str, str, Any]) -> list[dict[str, Any]]:
    return [{"column": column, "op": op, "value": value} for column, op, value in tests]


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("How many bakeries are there?", {"table": "bakeries", "aggregates": [{"function": "count", "as": "count_bakeries"}]}),
        (
            "how many bakeries does Ada Quill own?",
            {
                "table": "bakeries",
                "filters": filters(("owner", "=", "Ada Quill")),
                "aggregates": [{"function": "count", "as": "count_bakeries"}],
            },
        ),
        (
            "total loaves per town",
            {
                "table": "bakeries",
                "group_by": ["town"],
                "aggregates": [{"function": "sum", "column": "loaves", "as": "sum_loaves"}],
                "limit": 50,
            },
        ),
        (
            "what is the median duration in September 2026?",
            {
                "table": "bakes",
                "filters": filters(("baked_at", ">=", "2026-09-01"), ("baked_at", "<", "2026-10-01")),
                "aggregates": [{"function": "median", "column": "duration_min", "as": "median_duration_min"}],
            },
        ),
        (
            "top 3 bakeries by loaves",
            {
                "table": "bakeries",
                "columns": ["bakery", "loaves"],
                "order_by": [{"by": "loaves", "descending": True}],
                "limit": 3,
            },
        ),
        (
            "which bakeries have between 1,000 and 2,000 loaves?",
            {
                "table": "bakeries",
                "columns": ["bakery", "loaves"],
                "filters": filters(("loaves", "between", [1000, 2000])),
                "limit": 50,
            },
        ),
        (
            "how many bakeries opened after 2010?",
            {
                "table": "bakeries",
                "filters": filters(("opened", ">=", 2011)),
                "aggregates": [{"function": "count", "as": "count_bakeries"}],
            },
        ),
        (
            "how many different owners do the bakeries have?",
            {"table": "bakeries", "aggregates": [{"function": "count_distinct", "column": "owner", "as": "count_distinct_owner"}]},
        ),
        (
            "the slowest bakery",
            {
                "table": "bakes",
                "group_by": ["bakery"],
                "aggregates": [{"function": "avg", "column": "duration_min", "as": "avg_duration_min"}],
                "order_by": [{"by": "avg_duration_min", "descending": True}],
                "limit": 6,
            },
        ),
        (
            "number of bakes per day",
            {
                "table": "bakes",
                "group_by": ["day(baked_at)"],
                "aggregates": [{"function": "count", "as": "count_bakes"}],
                "limit": 50,
            },
        ),
        (
            "which bakeries have no phone?",
            {"table": "bakeries", "columns": ["bakery"], "filters": [{"column": "phone", "op": "is null"}], "limit": 50},
        ),
    ],
)
def test_one_table_is_queried_as_a_structure(question: str, arguments: dict[str, Any]) -> None:
    assert call(question) == ("query_table", arguments)


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("list the bakeries owned by Ada Quill", "bakery, owner of bakeries where owner = Ada Quill"),
        ("slowest duration of each town", "highest bakes.duration_min for each town"),
        ("how many different bakeries are in the bakes?", "number of different values of bakery"),
        ("the 2 towns with the highest average bakes", "the top 2 towns by average of duration_min"),
    ],
)
def test_what_is_said_beside_a_name_is_not_lost(question: str, understood: str) -> None:
    reading = QUESTIONS.read(question, language="en", today=TODAY)
    assert reading is not None
    assert QUESTIONS.said(reading).split(" (bakes")[0] == understood


def test_german_questions_and_numbers_are_read() -> None:
    grouped = call("Durchschnittlicher Betrag je Sorte", language="de")
    assert grouped is not None
    assert (grouped[1]["group_by"], grouped[1]["aggregates"][0]["function"]) == (["sorte"], "avg")
    compared = call("Welche Bakeries haben mehr als 1.500 Loaves?", language="de")
    assert compared is not None
    assert compared[1]["filters"] == filters(("loaves", ">", 1500))


def test_a_chain_goes_on_with_what_was_found() -> None:
    question = "what is the average duration of our top 2 bakeries by loaves?"
    first = call(question)
    assert first is not None
    assert (first[1]["table"], first[1]["limit"]) == ("bakeries", 2)
    found = {"key": "aaaaaaaaaa", "columns": ["bakery", "loaves"], "rows": [["Oak", 9800], ["Elm", 7000]]}
    second = call(question, found)
    assert second == (
        "query_table",
        {
            "table": "bakes",
            "filters": filters(("bakery", "in", ["Oak", "Elm"])),
            "aggregates": [{"function": "avg", "column": "duration_min", "as": "avg_duration_min"}],
        },
    )
    mean = {"key": "bbbbbbbbbb", "columns": ["avg_duration_min"], "rows": [[31.25]]}
    third = call(question, found, mean)  # the same with every bakery counted once
    assert third is not None
    assert "GROUP BY" in third[1]["sql"]
    assert third[1]["parameters"] == ["Oak", "Elm"]
    assert call(question, found, mean, {"key": "cccccccccc", "columns": ["avg_avg_duration_min"], "rows": [[30.5]]}) is None


def test_a_chain_ends_where_nothing_was_found() -> None:
    assert call("average duration of the top 2 bakeries by loaves", {"found": 0, "key": "aaaaaaaaaa", "why": []}) is None


def test_a_column_of_another_table_is_joined_and_values_are_bound() -> None:
    joined = call("what is the average duration per owner in York?")
    assert joined is not None
    name, arguments = joined
    assert name == "run_sql"
    assert arguments["parameters"] == ["York"]
    assert 'JOIN "bakeries" ON "bakes"."bakery" = "bakeries"."bakery"' in arguments["sql"]
    assert "York" not in arguments["sql"]


def test_a_quotation_mark_in_a_value_stays_out_of_the_sql() -> None:
    joined = call("average duration of the bakeries of Cora O'Neil")
    assert joined is not None
    assert joined[1]["parameters"] == ["Cora O'Neil"]
    assert "O'Neil" not in joined[1]["sql"]


@pytest.mark.parametrize(
    "question",
    [
        "how do I open a bakery?",
        "why is the duration so long?",
        "what are the top reasons for burnt loaves?",
        "what is the average rent of a bakery in Lisbon?",
        "how many employees may a bakery have?",
        "what does the recipe say about loaves?",
        "who invented sourdough?",
        "",
    ],
)
def test_questions_with_words_that_no_table_knows_are_none_over_tables(question: str) -> None:
    assert call(question) is None


def test_an_answer_says_the_number_its_key_and_what_was_understood() -> None:
    found = {"key": "aaaaaaaaaa", "columns": ["bakery", "loaves"], "rows": [["Oak", 9800], ["Elm", 7000]]}
    mean = {"key": "bbbbbbbbbb", "columns": ["avg_duration_min"], "units": {"avg_duration_min": "min"}, "rows": [[31.256789]]}
    text, outcome = answer("what is the average duration of our top 2 bakeries by loaves?", found, mean)
    assert outcome == "answer"
    assert text.splitlines()[0] == "Average duration_min over the top 2 bakeries by loaves: 31.26 min [bbbbbbbbbb]"
    assert "| Oak | 9,800 |" in text
    assert "[aaaaaaaaaa]" in text
    assert (
        "Understood: average of bakes.duration_min over the top 2 bakeries by loaves "
        "(bakeries and bakes share the column bakery)." in text
    )


def test_the_mean_of_the_things_own_means_stands_beside_that_of_all_rows() -> None:
    found = {"key": "aaaaaaaaaa", "columns": ["bakery", "loaves"], "rows": [["Oak", 9800], ["Elm", 7000]]}
    mean = {"key": "bbbbbbbbbb", "columns": ["avg_duration_min"], "units": {"avg_duration_min": "min"}, "rows": [[31.25]]}
    even = {"key": "cccccccccc", "columns": ["avg_avg_duration_min"], "rows": [[30.5]]}
    text, _ = answer("what is the average duration of our top 2 bakeries by loaves?", found, mean, even)
    assert text.startswith("Average duration_min over the top 2 bakeries by loaves: 31.25 min [bbbbbbbbbb]")
    assert "With every bakery counted once: 30.5 min [cccccccccc]" in text


def test_equals_of_the_best_are_named() -> None:
    rows = [["Ada Quill", 3], ["Bert Moss", 3], ["Cora O'Neil", 2]]
    text, _ = answer("who owns the most bakeries?", {"key": "aaaaaaaaaa", "columns": ["owner", "count_bakeries"], "rows": rows})
    assert "Ada Quill" in text
    assert "Bert Moss" in text
    assert "Cora" not in text


def test_nothing_found_says_why() -> None:
    nothing = {"found": 0, "key": "aaaaaaaaaa", "why": ['no row has "loaves" above 20000'], "advice": ""}
    text, outcome = answer("which bakeries have more than 20,000 loaves?", nothing)
    assert outcome == "absent"
    assert "- no row has loaves above 20000" in text  # without marks that would pass for a quotation
    assert "Understood: bakery, loaves of bakeries where loaves more than 20,000." in text


def test_a_cell_cannot_end_its_row() -> None:
    rows = [["a | b\nc", 1], ["d", 2]]
    text, _ = answer("total loaves per town", {"key": "aaaaaaaaaa", "columns": ["town", "sum_loaves"], "rows": rows})
    assert "| a \\| b c | 1 |" in text


def reply_to(*messages: Message, tools: tuple[Declaration, ...] = DECLARED) -> Reply:
    *_, last = Offline(CATALOGUE, today=TODAY).send(Request(messages, tools))
    assert isinstance(last, Reply)
    return last


def test_what_was_understood_is_said_with_the_first_call() -> None:
    reply = reply_to(Message("user", "total loaves per town"))
    assert reply.message.calls[0].name == "query_table"
    assert reply.notices == ("understood: sum of loaves for each town",)


def test_a_failed_query_falls_back_to_the_documents_and_says_so() -> None:
    question = Message("user", "total loaves per town")
    first = reply_to(question)
    failed = Message("tool", results=(ToolResult(first.message.calls[0].id, "query_table", "Error: too slow", is_error=True),))
    second = reply_to(question, first.message, failed)
    assert second.message.calls[0].name == "hybrid_search"
    nothing = Message("tool", results=(ToolResult(second.message.calls[0].id, "hybrid_search", json.dumps({"found": 0})),))
    last = reply_to(question, first.message, failed, second.message, nothing)
    assert last.message.text.startswith("The tables did not answer this (too slow); from the documents:\n\nNot in your documents.")


def test_without_tools_for_tables_the_documents_are_asked() -> None:
    reply = reply_to(Message("user", "total loaves per town"), tools=DECLARED[:1])
    assert reply.message.calls[0].name == "hybrid_search"


def test_questions_for_documents_by_name_are_not_put_to_tables() -> None:
    declared = (*DECLARED, Declaration("count_documents", "", {}))
    reply = reply_to(Message("user", "how many recipes are there?"), tools=declared)
    assert reply.message.calls[0].name == "count_documents"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(452.1, "EUR", "452.10"), (452.0, "EUR", "452"), (0.5, "EUR", "0.5"), (452.1, "km", "452.1"), (1.234, "KWD", "1.23")],
)
def test_both_decimals_of_money_are_shown(value: float, unit: str, text: str) -> None:
    assert number_words(value, table_phrases("en"), unit) == text


@pytest.mark.parametrize(
    ("value", "language", "text"),
    [
        (1842310, "en", "1,842,310"),
        (1842310, "de", "1.842.310"),
        (183.686471, "en", "183.69"),
        (0.125, "en", "0.125"),
        (0.00012345, "en", "0.000123"),
        (2.675, "en", "2.68"),
        (-120.0, "de", "-120"),
        (0.0, "en", "0"),
        (1e300, "en", "1" + ",000" * 100),
    ],
)
def test_numbers_are_rounded_half_up_and_grouped(value: float, language: str, text: str) -> None:
    assert number_words(value, table_phrases(language)) == text


@pytest.mark.parametrize(
    ("text", "language", "number"),
    [
        ("400,000", "en", 400_000),
        ("400.000", "de", 400_000),
        ("1.5", "en", 1.5),
        ("1,5", "de", 1.5),
        ("2k", "en", 2000),
        ("3 million", "en", 3_000_000),
        ("$12.50", "en", 12.5),
        ("1.2.3", "en", None),
        ("a hundred thousand", "en", 100_000),
        ("twenty-five", "en", 25),
        ("zweihundertfünfzig", "de", 250),
        ("eine Million", "de", 1_000_000),
        ("and", "en", None),
    ],
)
def test_numbers_are_read_as_their_language_writes_them(text: str, language: str, number: float | None) -> None:
    assert read_number(text, language=language) == number


_WORDS = st.sampled_from(
    sorted(
        words_of(
            """what is the average total median number of how many bakeries loaves owner town per each top 5 most slowest in 2026
            over 3 with not Ada Quill York duration and or by highest between 2 September different "x' ( ) ? , ratio to who"""
        )
    )
)


@settings(deadline=None)
@given(st.lists(_WORDS, max_size=14).map(" ".join) | st.text(max_size=80), st.sampled_from(["en", "de"]))
def test_no_question_fails_and_no_call_names_what_is_not_there(question: str, language: str) -> None:
    for catalogue in (CATALOGUE, Catalogue(tables=CATALOGUE.tables, only_tables=True)):
        questions = TableQuestions(catalogue)
        reading = questions.read(question, language=language, today=TODAY)
        made = questions.call(reading, ()) if reading else None
        if made is None:
            continue
        columns = {table.name: {column.name for column in table.columns} for table in CATALOGUE.tables}
        if made[0] == "query_table":
            own = columns[made[1]["table"]]
            assert {each["column"] for each in made[1].get("filters", ())} <= own
            assert set(made[1].get("columns", ())) <= own
        else:
            names = set(re.findall(r'"(\w+)"\."(\w+)"', made[1]["sql"]))
            assert all(column in columns[table] for table, column in names)
            assert made[1]["sql"].count("?") == len(made[1].get("parameters", ()))


_NAMES = ("hours", "total", "month", "person", "price", "created_at", "billable", "status", "item_id", "warranty_months", "year")
_VALUED = ("Total", "March 2026", "open", "x", "Ada Quill", "P1", "month", "top")


@st.composite
def _tables(draw: st.DrawFn) -> tuple[Table, ...]:
    """Tables with names that clash with the words that ask, joined or not."""
    made = []
    for number in range(draw(st.integers(1, 3))):
        columns = []
        for name in draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=5, unique=True)):
            kind = draw(st.sampled_from(["text", "integer", "real", "date", "datetime", "boolean", "time"]))
            low, high = ("2026-01-01", "2026-12-31") if kind in {"date", "datetime"} else (0, 40)
            values = tuple(draw(st.lists(st.sampled_from(_VALUED), max_size=3, unique=True))) if kind == "text" else ()
            distinct, nulls = draw(st.integers(0, 9)), draw(st.integers(0, 2))
            columns.append(Column(name, kind, nulls=nulls, distinct=distinct, minimum=low, maximum=high, values=values))  # type: ignore[arg-type]
        name = f"{draw(st.sampled_from(['tickets_export', 'hours', 'month', 'stock_list']))}_{number}"
        made.append(Table(number + 1, name, number + 1, f"{name}.csv", "", draw(st.integers(0, 9)), tuple(columns), ()))
    return tuple(made)


_SEARCHES = ("hybrid_search", "keyword_search", "vector_search", "filter_documents", "count_documents", "find_similar")
_ASKED = st.sampled_from(
    sorted(
        words_of(
            """how many total sum average hours price month per person year in March 2026 tickets open P1 top 3 last billable x and
            by the most vs Ada Quill status items warranty created best first each list which stock is number of different ?"""
        )
    )
)


@settings(deadline=None)
@given(
    st.lists(_ASKED, max_size=9).map(" ".join) | st.text(max_size=40),
    _tables(),
    st.sets(st.sampled_from(_SEARCHES), min_size=1),
    st.booleans(),
)
def test_a_question_is_always_put_to_tables_or_documents(
    question: str, tables: tuple[Table, ...], searches: set[str], only: bool
) -> None:
    tools = tuple(Declaration(name, "", {}) for name in (*sorted(searches), "query_table", "run_sql"))
    backend = Offline(Catalogue(tables=tables, only_tables=only), today=TODAY)
    *_, reply = backend.send(Request((Message("user", question),), tools))
    assert isinstance(reply, Reply)
    assert [call.name for call in reply.message.calls] != []


def test_the_request_after_a_limit_is_answered_from_what_was_found() -> None:
    question = Message("user", "total loaves per town")
    first = reply_to(question)
    rows = {"key": "aaaaaaaaaa", "columns": ["town", "sum_loaves"], "rows": [["Ulm", 4]]}
    found = Message("tool", results=(ToolResult(first.message.calls[0].id, "query_table", json.dumps(rows)),))
    *_, last = Offline(CATALOGUE, today=TODAY).send(
        Request((question, first.message, found, Message("user", LAST_REQUEST)), DECLARED, may_call=False)
    )
    assert isinstance(last, Reply)
    assert last.message.text.startswith("Ulm: total loaves 4 [aaaaaaaaaa]")
