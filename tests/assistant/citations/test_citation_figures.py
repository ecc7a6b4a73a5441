"""Which numbers of an answer stand in what it was made from."""

from __future__ import annotations

import json

import pytest
from cited import KEY, checked


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
