"""Cases are checked when they are read: an error names the line, the field and the nearest right name."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from offline_cases import EVALS
from standin import StandIn

from assistant.errors import UserError
from assistant.evaluation.cases import TOOLS, cases_from, read_cases
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from search import Library
from search.evaluation import evaluate
from search.models import DateRange


def line(**fields: Any) -> str:
    return json.dumps({"id": "a", "question": "why?", "expect": {}} | fields)


@pytest.mark.parametrize("name", ["library.jsonl", "offline_heldout.jsonl", "tables.jsonl", "tables_heldout.jsonl"])
def test_the_cases_that_come_with_the_library_are_read(name: str) -> None:
    cases = read_cases(EVALS / name)
    assert len(cases) == len((EVALS / name).read_text("utf-8").splitlines())


def test_dates_as_resolved_are_set_apart_from_the_filters() -> None:
    case = next(one for one in read_cases(EVALS / "library.jsonl") if one.expect.dates is not None)
    assert not {"range", "during", "after", "before"} & set(case.expect.filters or {})
    assert case.today == date(2026, 10, 15)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("{", "not JSON"),
        ("[]", "want an object"),
        (line(id="b", questoin="x"), '"questoin" is no field of a case; did you mean "question"?'),
        (line(id="b", question=" "), '"question": want a text'),
        (line(id="a"), "stands in line 1 already"),
        (line(id="b", today="yesterday"), '"today": got'),
        (line(id="b", turns="x"), '"turns": want a list of texts'),
        (line(id="b", expect={"document": ["a.md"]}), 'did you mean "documents"?'),
        (line(id="b", expect={"documents": "a.md"}), '"documents": want a list of texts'),
        (line(id="b", expect={"tools": [["hybrid_serch"]]}), 'did you mean "hybrid_search"?'),
        (line(id="b", expect={"tools": ["hybrid_search"]}), "want a list of right chains"),
        (line(id="b", expect={"tools": []}), "want a list of right chains"),
        (line(id="b", expect={"forbidden_tools": ["sql"]}), 'did you mean "run_sql"?'),
        (line(id="b", expect={"arguments": {"query": "x"}}), 'want "tool.argument"'),
        (line(id="b", expect={"arguments": {"run_sql.sql": {"contain": "x"}}}), 'did you mean "contains"?'),
        (line(id="b", expect={"arguments": {"run_sql.sql": {"matches": "("}}}), "no regular expression"),
        (line(id="b", expect={"filters": {"categry": ["x"]}}), 'did you mean "category"?'),
        (line(id="b", expect={"filters": {"range": ["2026-01-01"]}}), '"range": got'),
        (line(id="b", expect={"dates": {"start": "soon"}}), '"start": got'),
        (line(id="b", expect={"numbers": ["3"]}), '"numbers": got'),
        (line(id="b", expect={"numbers": [True]}), '"numbers": got'),
        (line(id="b", expect={"tolerance": 1.5}), '"tolerance": got'),
        (line(id="b", expect={"absent": "no"}), '"absent": got'),
        (line(id="b", scope={"metadata": ["status"]}), '"scope": '),
        (line(id="b", scope={"during": "when pigs fly"}), """"scope": during: 'when pigs fly' is not understood"""),
        (line(id="b", scope={"tags": ["x"] * 3000}), "want 500 at most"),
        (line(id="b", expect={"filters": {"before": "soon"}}), '"filters": before: '),
        (line(id="b", expect={"filters": {"range": ["2026-02-01", "2026-01-01"]}}), "ends (2026-01-01) before it begins"),
        (line(id="b", expect={"dates": {"start": "2026-02-01", "end": "2026-01-01"}}), "2026-02-01 is after 2026-01-01"),
        (line(id="b", expect={"dates": {"start": None}}), "want a first day, a last day, or both"),
        ('{"id": "b", "question": "q", "question": "r"}', '"question" stands twice'),
        ('{"id": "b", "question": "q", "expect": {"absent": true, "absent": false}}', '"absent" stands twice'),
    ],
)
def test_what_is_wrong_is_told_with_its_line(second: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(line() + "\n\n" + second + "\n", "utf-8")
    with pytest.raises(UserError) as error:
        read_cases(path)
    assert str(error.value).startswith(f"{path}:3: ")
    assert told in str(error.value)


def test_a_file_without_a_case_is_refused() -> None:
    with pytest.raises(UserError, match="holds no case"):
        cases_from("\n\n", "x")


def test_scope_and_days_are_filters() -> None:
    written = line(scope={"category": "runbooks", "metadata": {"status": "open"}}, expect={"dates": {"start": "2026-01-01"}})
    (case,) = cases_from(written, "x")
    assert case.scope.category == ("runbooks",)
    assert [(one.key, one.operator, one.value) for one in case.scope.metadata] == [("status", "=", "open")]
    assert case.expect.dates == DateRange("2026-01-01", None)
    (case,) = cases_from(line(expect={"dates": {"end": "20260131"}}), "x")
    assert case.expect.dates == DateRange(None, "2026-01-31")


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, 1 / 4),
        ({"expect": {"filters": {"category": "notes"}}}, 1 / 3),
        ({"expect": {"filters": {"during": "last month"}}}, 1 / 2),
        ({"expect": {"dates": {"start": "2026-09-01", "end": "2026-09-30"}}}, 1 / 2),
        ({"expect": {"dates": {"start": "2026-09-01"}, "filters": {"category": "notes", "during": "2024"}}}, 1),
        ({"scope": {"category": ["notes"]}}, 1 / 3),
        ({"scope": {"during": "last month"}, "expect": {"filters": {"category": "notes"}}}, 1),
        ({"scope": {"during": "last month"}, "expect": {"filters": {"during": "2024"}}}, 0),
    ],
)
def test_searches_are_measured_within_scope_filters_and_days(
    fields: dict[str, Any], found: float, write: Any, indexed: Any
) -> None:
    for path, more in (
        ("notes/2026-09-03-a.md", "keys"),
        ("other/2026-09-04-b.md", "keys keys"),
        ("notes/2025-01-01-c.md", "keys keys"),
    ):
        write(path, f"# {more}\n\n{more} {more}")
    write("notes/2024-02-02-d.md", "# keys keys keys\n\nkeys")
    library: Library = indexed()
    expect = {"documents": ["notes/2026-09-03-a.md"]} | fields.get("expect", {})
    (case,) = cases_from(line(question="keys", today="2026-10-15", **(fields | {"expect": expect})), "x")
    assert case.for_retrieval is not None
    (measured,) = evaluate(library.path, [case.for_retrieval], StandIn(), ["keyword"])["keyword"]
    assert measured["mrr@10"] == pytest.approx(found)


@pytest.mark.parametrize("fields", [{"turns": ["x"]}, {"expect": {"documents": ["a.md"], "tables": ["t"]}}, {"expect": {}}])
def test_what_a_search_alone_cannot_answer_is_not_measured_of_it(fields: dict[str, Any]) -> None:
    (case,) = cases_from(line(**({"expect": {"documents": ["a.md"]}} | fields)), "x")
    assert case.for_retrieval is None


def test_the_tools_that_a_case_may_name_are_those_that_are_declared(write: Any, indexed: Any) -> None:
    write("numbers.csv", "name,count\na,1\nb,2\n")
    library: Library = indexed()
    assert {tool.name for tool in (*build(library), *build_table_tools(library))} == TOOLS
