"""Which numbers of an answer stand in what it was made from."""

from __future__ import annotations

import json

import pytest
from cited import EVIDENCE, KEY, checked, passage

from assistant.tools import Evidence


def missing(answer: str, *results: str, question: str = "") -> list[str]:
    return [number.text for number in checked(answer, results=results, question=question).numbers if number.verdict == "not found"]


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("1,234.5", "1234.5"),
        ("1.234,5", "1,234.5"),
        ("1 234.5", "1,234.50"),
        ("1\u202f234\u202f567", "1234567"),
        ("1'234", "1,234"),
        ("12,34,567", "1234567"),
        ("3.4", "3.40"),
        ("3.40", "3,4"),
        ("12 %", "12%"),
        ("12 percent", "0012.0"),
        (".5", "0.5"),
        ("42", "0042"),
        ("0042", "code 0042"),
        ("12", "-12"),
        ("it is -12 °C", "(−12 °C)"),
        ("30 s", "30s"),
        ("version 3.12.1", "v3.12.1"),
        ("v3.12.1", "Python 3.12.1 or later"),
        ("ARC-4012", "error arc-4012"),
        ("15 October 2026", "2026-10-15"),
        ("October 15, 2026", "2026-10-15T08:00"),
        ("15. Oktober 2026", "15/10/2026"),
        ("2026-10-15", "on the 15th of October, 2026"),
        ("2026-10-15", "Oct 15 2026"),
        ("2026年10月15日", "15.10.2026"),
        ("15 October", "2026-10-15"),
        ("15 October 2026", "15 October; the year 2026"),
        ("October 2026", "2026-10-15"),
        ("5 August", "2026-08-05"),
        ("14:30", "14:30:00"),
        ("2:30 pm", "14:30"),
        ("3 attempts", "three attempts"),
        ("31 件", "三十一件"),
        ("2026", "二〇二六年"),
        ("１２", "12"),
        ("๑๒", "12"),
        ("3 to 5", "3–5"),
        ("runbooks/2026-09-12-gateway.md:12", "runbooks/2026-09-12-gateway.md:12-30"),
    ],
)
def test_a_number_is_found_in_another_notation(said: str, source: str) -> None:
    assert missing(f"There is {said} of it.", json.dumps({"text": source})) == []


@pytest.mark.parametrize(
    ("said", "source", "text"),
    [
        ("13", "12", "13"),
        ("123", "1234", "123"),
        ("1,235", "1,234", "1,235"),
        ("3.41", "3.4", "3.41"),
        ("3.12.2", "3.12.1", "3.12.2"),
        ("3.12", "3.12.1", "3.12"),
        ("ARC-4013", "ARC-4012", "4013"),
        ("it is -12 °C", "12 °C", "12"),
        ("0042", "42", "0042"),
        ("16 October 2026", "2026-10-15, 16 files", "16 October 2026"),
        ("2026-10-16", "2026-10-15, 16 files", "2026-10-16"),
        ("15 October 2026", "2025-10-15, 2026", "15 October 2026"),
        ("14:35", "14:30, 35 files", "14:35"),
        ("5 minutes", "300 s", "5"),
        ("7", '{"key":"a7b7c"}', "7"),
        ("10²", "102", "10"),
    ],
)
def test_a_number_that_stands_nowhere_is_marked(said: str, source: str, text: str) -> None:
    answer = checked(f"There is {said} of it.", results=[source if source[0] == "{" else json.dumps({"text": source})])
    assert [number.text for number in answer.numbers if number.verdict == "not found"] == [text]
    assert f"{text} (⚠)" in answer.text


def test_numbers_of_the_question_of_cited_passages_and_of_results_may_be_said() -> None:
    assert missing("7 days", question="the last 7 days?") == []
    assert missing(f"It waits 30 seconds, lines 3-7 [{KEY}]") == []
    assert missing("It waits 30 seconds") == ["30"]
    assert missing("There are 12.", '{"total":12}') == []
    assert missing("There are 12.", "plain text with 12") == []
    assert missing("8 in 2026-09", '{"counts":{"2026-09":8}}') == []


def test_citations_list_numbers_and_verified_quotations_are_no_numbers_of_the_answer() -> None:
    assert missing(f"1. One [{KEY}]\n2. Two\n   1) inner\n3. Three\n\n## 4. Four\n\n**Step 5:** five\n\n| 6 | six |") == []
    assert missing('1. One\n3. Three "INC-2026-014"') == ["3", "2026", "014"]
    assert missing(f'"On 15 October 2026 we raised it to 1,234.5 ms" [{KEY}]') == []


def test_numbers_of_a_failing_quotation_are_checked() -> None:
    assert missing(f'"The gateway waits 31 seconds" [{KEY}]') == ["31"]


def test_names_made_of_digits_and_letters_lend_no_digits() -> None:
    assert missing("It is 7.", '{"commit":"a7b7c7d"}') == ["7"]


def test_deeply_nested_results_are_read_as_text() -> None:
    assert missing("There are 12.", "[" * 100_000 + " 12") == []


QUERY = {
    "key": "k3f7q2m5xa",
    "sql": 'SELECT "path", AVG("ms") AS "mean 4711" FROM "latency" WHERE "ms" < ? LIMIT 17',
    "parameters": [8888],
    "columns": ["path", "mean 4711", "share", "change"],
    "rows": [["GET /v2/parcels", 262.38461538461536, 0.12345, -5.25], ["POST /labels", 1200.0, 1.0, 1e-05]],
    "total": 333,
    "cut": "2 of 333 rows shown: limit 17",
}


def missing_of_query(answer: str) -> list[str]:
    return missing(answer, json.dumps(QUERY))


@pytest.mark.parametrize(
    "said",
    [
        "262.38461538461536",
        "262.4 ms",
        "262.38",
        "262,38",
        "262",
        "1,200",
        "1200.00",
        "12.3 %",
        "12.35%",
        "12 per cent",
        "12 Prozent",
        "100 %",
        "-5.3",
        "-5.2",
        "5.25",
        "0.00001",
        "GET /v2/parcels",
    ],
)
def test_what_sql_gave_may_be_rounded_and_a_share_said_in_per_cent(said: str) -> None:
    assert missing_of_query(f"It is {said} of it.") == []


def test_how_many_rows_a_query_gives_is_a_fact_unless_its_own_limit_says_so() -> None:
    assert missing_of_query("There are 333 of them.") == []
    assert missing("There are 17.", json.dumps(QUERY | {"total": 17})) == ["17"]
    assert missing("There are 8888.", json.dumps(QUERY | {"sql": "SELECT a FROM b LIMIT ?", "total": 8888})) == ["8888"]
    assert missing("There are 333.", json.dumps(QUERY | {"cut": "2 of more than 333 rows shown"})) == ["333"], (
        "they were not counted"
    )
    assert missing("There are 0.", json.dumps({"found": 0, "sql": "SELECT a FROM b", "why": ["b has no rows"]})) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("262.3", "262.3"),
        ("262.5", "262.5"),
        ("262.40", "262.40"),
        ("263", "263"),
        ("260", "260"),
        ("1,201", "1,201"),
        ("12.3", "12.3"),
        ("12.4 %", "12.4"),
        ("it is -262.4", "262.4"),
        ("5.1", "5.1"),
        ("4711", "4711"),
        ("8888", "8888"),
        ("17", "17"),
    ],
)
def test_a_wrong_rounding_and_numbers_of_the_query_itself_are_marked(said: str, text: str) -> None:
    assert missing_of_query(f"It is {said} of it.") == [text]


def test_a_rounded_number_of_a_document_is_not_found() -> None:
    assert missing("About 1,235", json.dumps({"text": "exactly 1,234.5"})) == ["1,235"]


def test_the_sum_that_was_not_calculated_is_marked() -> None:
    rows = json.dumps({"key": "k3f7q2m5xa", "sql": "SELECT 1", "columns": ["n"], "rows": [[101], [202]], "total": 2})
    calculation = json.dumps({"key": "b3f7q2m5xa", "expression": "101 + 202 - 99", "value": 204})
    assert missing("Together 303.", rows) == ["303"]
    assert missing("It is 204.", rows, calculation) == []
    assert missing("It is 99.", rows, calculation) == ["99"]


def test_why_there_is_nothing_may_be_repeated_and_the_advice_may_not() -> None:
    nothing = json.dumps({"found": 0, "key": "k3f7q2m5xa", "sql": "SELECT 1", "why": ["ms is 12 to 480"], "advice": "try 77"})
    assert missing("It is 12 to 480.", nothing) == []
    assert missing("It is 77.", nothing) == ["77"]


ROWS = Evidence(
    key="qqqqq23456",
    path="tables/latency.csv",
    root="/r",
    title="",
    headings=(),
    page=None,
    first_line=0,
    last_line=0,
    date=None,
    text="path | mean\nGET /v2/parcels | 262.38461\nPOST /labels by hand | 7",
    sql='SELECT "path", 4711 FROM "latency" WHERE "ms" < ?',
    parameters=(8888,),
)


def test_a_query_of_an_earlier_turn_is_a_source_when_it_is_cited() -> None:
    def wrong(answer: str) -> list[str]:
        found = checked(answer, evidence=[*EVIDENCE, ROWS])
        return [number.text for number in found.numbers if number.verdict == "not found"]

    assert wrong("It is 262.4 ms.") == ["262.4"]
    assert wrong("It is 262.4 ms [qqqqq23456].") == []
    assert wrong("It is 262.5, 4711 or 8888 ms [qqqqq23456].") == ["262.5", "4711", "8888"]


def test_quoted_cells_are_compared_with_the_rows() -> None:
    found = checked('"POST /labels by hand" [qqqqq23456], and "POST /labels by foot" [qqqqq23456].', evidence=[*EVIDENCE, ROWS])
    assert [quote.verdict for quote in found.quotes] == ["verified", "altered"]
    elsewhere = checked(f'"POST /labels by hand" [{KEY}].', evidence=[*EVIDENCE, ROWS])
    assert [(quote.verdict, quote.other_key) for quote in elsewhere.quotes] == [("elsewhere", "qqqqq23456")]


def test_a_query_over_a_file_is_told_from_the_passages_of_that_file() -> None:
    text = passage("aaaaa23456", "a passage about the latency file", path="tables/latency.csv")
    found = checked('"POST /labels by hand" [aaaaa23456].', evidence=[text, ROWS])
    assert [(quote.verdict, quote.other_key) for quote in found.quotes] == [("elsewhere", "qqqqq23456")]


def test_a_citation_of_a_query_says_its_files_and_its_sql() -> None:
    assert checked("It is so [qqqqq23456].", evidence=[ROWS]).as_objects()["citations"] == [
        {
            "key": "qqqqq23456",
            "number": 1,
            "source": "tables/latency.csv",
            "verdict": "retrieved",
            "sql": 'SELECT "path", 4711 FROM "latency" WHERE "ms" < ?',
            "parameters": [8888],
        }
    ]


def test_words_of_the_query_itself_are_not_quotations_from_it() -> None:
    results = json.dumps(QUERY | {"columns": ["the whole truth"], "rows": [["cell of three words"]]})
    found = checked('"the whole truth" and "cell of three words"', results=[results])
    assert [quote.verdict for quote in found.quotes] == ["not found", "verified"]
