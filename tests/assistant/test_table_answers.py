"""Answers from tables: chains of calls give numbers that stand in results, their SQL is shown, and a wrong sum is marked."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant import answer_view, render
from assistant.backends.base import Capabilities, Price
from assistant.conversation import Answered, Conversation, Turn
from assistant.errors import ConnectionFailedError
from assistant.messages import Reply, Request
from search import Library
from tests.assistant.scripted import Line, Scripted, says

NO_TOOLS = Capabilities(tools=False, price=Price(0, 0), local=True)
TOP = ("a", "query_table", '{"table": "endpoints", "order_by": [{"by": "queries", "descending": true}], "limit": 3}')
QUESTION = "what is the average response time of our top 3 most-queried endpoints?"


@pytest.fixture
def library(write: Callable[[str, str], Path], indexed: Callable[[], Library]) -> Library:
    paths = ["GET /shipments", "POST /labels", "GET /rates", "PUT /pickups"]
    queries = [701556, 420000, 98000, 12]
    response = [212.5, 300.125, 274.53, 9000.0]
    write("tables/endpoints.csv", "path,queries\n" + "".join(f"{p},{q}\n" for p, q in zip(paths, queries, strict=True)))
    write("tables/latency.csv", "path,response (ms)\n" + "".join(f"{p},{r}\n" for p, r in zip(paths, response, strict=True)))
    write("notes/gateway.md", "# Gateway\n\nThe gateway gives up after 4 seconds.")
    return indexed()


def key(request: Request, at: int = -1) -> str:
    """The key of one of the results so far."""
    results = [result for message in request.messages for result in message.results]
    found = json.loads(results[at].content)["key"]
    assert isinstance(found, str)
    return found


def latency_of_those(request: Request) -> Reply:
    rows = json.loads(request.messages[-1].results[0].content)["rows"]
    condition = {"column": "path", "op": "in", "value": [row[0] for row in rows]}
    return says("", ("b", "query_table", json.dumps({"table": "latency", "filters": [condition]})))


def calculated(request: Request) -> Reply:
    rows = json.loads(request.messages[-1].results[0].content)["rows"]
    values = ", ".join(str(row[1]) for row in rows)
    return says("", ("c", "calculate", json.dumps({"expression": f"avg({values})"})))


def ask(library: Library, script: list[Line], question: str = QUESTION, **options: object) -> Turn:
    *_, last = Conversation(library, Scripted(script), **options).ask(question)  # type: ignore[arg-type]
    assert isinstance(last, Answered)
    return last.turn


def shown(turn: Turn, width: int = 100) -> str:
    stream = io.StringIO()
    terminal = render.Terminal(stream)
    terminal.width = width
    answer_view.Answer(terminal, live=False).finish(turn)
    return stream.getvalue()


def test_a_chain_of_two_queries_and_a_calculation_gives_a_sound_answer(library: Library) -> None:
    def answer(request: Request) -> Reply:
        top, latency, mean = (key(request, at) for at in (0, 1, 2))
        return says(
            f"The top 3 endpoints, led by GET /shipments with 701,556 queries [{top}], answer in 262.4 ms on average [{mean}], "
            f"from 212.5 to 300.1 ms [{latency}]."
        )

    turn = ask(library, [says("", TOP), latency_of_those, calculated, answer])
    assert turn.checked.sound, turn.checked.text
    assert turn.outcome == "answer"
    assert [call.call.name for call in turn.calls] == ["query_table", "query_table", "calculate"]
    assert turn.queries == ()
    text = shown(turn, 132)
    assert '[1] tables/endpoints.csv  SELECT "path", "queries" FROM "endpoints" ORDER BY "queries" DESC LIMIT 3\n' in text
    assert "[2] a calculation  avg(212.5, 300.125, 274.53) = 262.385\n" in text
    assert '[3] tables/latency.csv  SELECT "path", "response_ms" FROM "latency" WHERE "path" IN (?, ?, ?) LIMIT 50 -- ' in text


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("In all they had 1,219,656 queries.", "1,219,656"),
        ("On average it is 262.3 ms.", "262.3"),
        ("It is 50 of them.", "50"),
        ("Together 787.155 ms.", "787.155"),
    ],
)
def test_a_number_that_no_call_gave_is_marked(library: Library, said: str, wrong: str) -> None:
    turn = ask(library, [says("", TOP), latency_of_those, calculated, says(said)])
    assert [(number.text, number.verdict) for number in turn.checked.numbers] == [(wrong, "not found")]
    assert f"{wrong} (⚠)" in turn.checked.text


def test_a_sum_is_found_once_it_was_calculated(library: Library) -> None:
    total = ("c", "run_sql", '{"sql": "SELECT SUM(queries) FROM endpoints WHERE queries > ?", "parameters": [90000]}')
    assert ask(library, [says("", TOP), says("", total), says("In all they had 1,219,556 queries.")]).checked.sound
    turn = ask(library, [says("", TOP), says("", total), says("Those above 90,000.")])
    assert [number.text for number in turn.checked.numbers if number.verdict == "not found"] == ["90,000"]


def test_numbers_of_a_refused_call_are_no_facts(library: Library) -> None:
    wrong = (
        "a",
        "query_table",
        '{"table": "endpoints", "filters": [{"column": "path", "op": "=", "value": [4711, 1]}]}',
    )
    refused = ask(library, [says("", wrong), says("It is 4711.")])
    assert refused.calls[0].ran.result.is_error
    assert [number.verdict for number in refused.checked.numbers] == ["not found"]


def test_queries_that_are_not_cited_are_listed_with_their_sql(library: Library) -> None:
    condition = '{"table": "latency", "filters": [{"column": "response_ms", "op": ">", "value": 99999}]}'
    turn = ask(library, [says("", TOP), says("", ("b", "query_table", condition)), says("The first is GET /shipments.")])
    assert shown(turn).splitlines()[-4:] == [
        "Queries:",
        '  tables/endpoints.csv  SELECT "path", "queries" FROM "endpoints" ORDER BY "queries" DESC LIMIT 3',
        '  tables/latency.csv  SELECT "path", "response_ms" FROM "latency" WHERE "response_ms" > ? LIMIT 50 …',
        '  SELECT "path", "response_ms" FROM "latency" WHERE "response_ms" > ? LIMIT 50 -- ? = 99999',
    ]
    queries = answer_view.as_object(turn)["queries"]
    assert [query["source"] for query in queries] == ["tables/endpoints.csv", "tables/latency.csv"]
    assert queries[1]["parameters"] == [99999]


def test_json_shows_the_sql_of_a_citation_and_its_parameters(library: Library) -> None:
    script: list[Line] = [
        says("", ("a", "run_sql", '{"sql": "SELECT path FROM endpoints WHERE queries > ?", "parameters": [500000]}')),
        lambda request: says(f'"GET /shipments" [{key(request)}]'),
    ]
    turn = ask(library, script)
    (citation,) = answer_view.as_object(turn)["citations"]
    assert citation["source"] == "tables/endpoints.csv"
    assert (citation["sql"], citation["parameters"]) == ("SELECT path FROM endpoints WHERE queries > ?", [500000])
    assert answer_view.as_object(turn)["queries"] == []


def test_a_result_of_an_earlier_turn_may_be_cited(library: Library) -> None:
    seen: list[str] = []

    def first(request: Request) -> Reply:
        seen.append(key(request))
        return says("Found.")

    conversation = Conversation(library, Scripted([says("", TOP), first, lambda _: says(f"It had 701,556 [{seen[0]}].")]))
    for question in ("first?", "and how many had it?"):
        *_, last = conversation.ask(question)
    assert isinstance(last, Answered)
    assert last.turn.checked.sound
    assert last.turn.queries == ()


def test_a_turn_that_breaks_off_gives_the_rows_that_were_found(library: Library) -> None:
    turn = ask(library, [says("", TOP), ConnectionFailedError("gone", provider="scripted")])
    assert turn.outcome == "partial"
    assert "GET /shipments | 701556" in turn.answer
    assert turn.checked.sound, turn.checked.text


def test_rows_are_no_passages_that_came_near(library: Library) -> None:
    turn = ask(library, [says("", TOP), says("Not in your documents.")])
    assert (turn.outcome, turn.nearest) == ("absent", ())
    assert len(turn.queries) == 1


def test_rules_for_tables_are_told_where_there_are_any(
    library: Library, folder: Path, write: Callable[[str, str], Path], indexed: Callable[[], Library]
) -> None:
    def told(over: Library) -> str:
        backend = Scripted([says("Yes.")])
        [*_] = Conversation(over, backend).ask("?")
        return backend.requests[0].messages[0].text

    assert "query_table" in told(library)
    for table in ("endpoints", "latency"):
        (folder / f"tables/{table}.csv").unlink()
    assert "query_table" not in told(indexed())


def test_a_model_without_tools_is_told_of_the_table_tools_in_words(library: Library) -> None:
    backend = Scripted([says("Yes.")], capabilities=NO_TOOLS)
    [*_] = Conversation(library, backend).ask("?")
    assert "query_table(table, columns, filters, group_by, aggregates, order_by, limit): " in backend.requests[0].messages[0].text


def test_a_trace_shows_the_sql(library: Library) -> None:
    turn = ask(library, [says("", TOP), says("GET /shipments.")])
    assert 'sql SELECT "path", "queries" FROM "endpoints"' in answer_view.call_lines(turn.calls[0])[1]
