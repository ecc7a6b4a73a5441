"""What `assistant.table_tools` promises: results that cite and explain themselves, and errors a model can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.messages import ToolCall
from assistant.results import RESULT_BUDGET
from assistant.table_results import key_of
from assistant.table_tools import build_table_tools
from assistant.tools import Ran, Toolbox
from search import Filters, Library

Indexed = Callable[[], Library]
Write = Callable[[str, str], Path]
EVERYTHING = Filters()

ENDPOINTS = """path,team,queries
GET /a,Nord,10
GET /b,Nord,20
POST /c,Süd,30
PUT /d,,5
"""
LATENCY = """path,response (ms),day
GET /a,10.5,2026-01-01
GET /b,20.25,2026-01-31
POST /c,30,2026-02-01
POST /c,,2026-02-02
"""


class Asked:
    """A toolbox over a library, called as a model calls it."""

    def __init__(self, library: Library, scope: Filters = EVERYTHING, budget: int = RESULT_BUDGET) -> None:
        self.box = Toolbox(build_table_tools(library, scope, budget=budget), budget=budget)

    def ran(self, name: str, **arguments: Any) -> Ran:
        return self.box.run(ToolCall("1", name, json.dumps(arguments)))

    def value(self, name: str, **arguments: Any) -> dict[str, Any]:
        done = self.ran(name, **arguments)
        assert not done.result.is_error, done.result.content
        value = json.loads(done.result.content)
        assert isinstance(value, dict)
        return value

    def error(self, name: str, **arguments: Any) -> str:
        done = self.ran(name, **arguments)
        assert done.result.is_error, done.result.content
        assert done.failure is None
        return done.result.content


@pytest.fixture
def library(write: Write, indexed: Indexed) -> Library:
    write("tables/endpoints.csv", ENDPOINTS)
    write("tables/latency.csv", LATENCY)
    write("notes/a.md", "---\ntags: [x]\n---\n# A\n\nSome text.\n")
    return indexed()


@pytest.fixture
def ask(library: Library) -> Asked:
    return Asked(library)


# Results


def test_a_query_gives_rows_that_can_be_cited_with_their_sql(ask: Asked) -> None:
    done = ask.ran(
        "query_table", table="endpoints", order_by=[{"by": "queries", "descending": True}], columns=["path", "queries"], limit=2
    )
    value = json.loads(done.result.content)
    sql = 'SELECT "path", "queries" FROM "endpoints" ORDER BY "queries" DESC LIMIT 2'
    assert value == {
        "key": value["key"],
        "sql": sql,
        "columns": ["path", "queries"],
        "rows": [["POST /c", 30], ["GET /b", 20]],
        "total": 4,
        "cut": "2 of 4 rows shown; a higher limit, filters or another order show others",
    }
    assert re.fullmatch("[a-z2-7]{10}", value["key"])
    assert done.output
    (evidence,) = done.output.evidence
    assert (evidence.key, evidence.path, evidence.sql, evidence.text) == (
        value["key"],
        "tables/endpoints.csv",
        sql,
        "POST /c | 30\nGET /b | 20",
    )
    assert (done.output.summary, done.output.counted) == ("2 of 4 rows", False)


def test_numbers_keep_their_unit_but_for_counts(ask: Asked) -> None:
    aggregates = [{"function": function, "column": "response_ms"} for function in ("avg", "count")]
    value = ask.value(
        "query_table",
        table="latency",
        group_by=["month(day)"],
        aggregates=[*aggregates, {"function": "max", "column": "response_ms", "as": "worst"}],
    )
    assert value["rows"] == [["2026-01", 15.375, 2, 20.25], ["2026-02", 30.0, 1, 30.0]]
    assert value["units"] == {"avg_response_ms": "ms", "worst": "ms"}


def test_values_of_one_result_are_the_filter_of_the_next(ask: Asked) -> None:
    top = ask.value("query_table", table="endpoints", order_by=[{"by": "queries", "descending": True}], limit=2)
    paths = [row[0] for row in top["rows"]]
    mean = ask.value(
        "query_table",
        table="latency",
        filters=[{"column": "path", "op": "in", "value": paths}],
        aggregates=[{"function": "avg", "column": "response_ms", "as": "mean"}],
    )
    assert (mean["parameters"], mean["rows"]) == (["POST /c", "GET /b"], [[25.125]])
    assert ask.value("calculate", expression="(30 + 20.25) / 2")["value"] == 25.125


def test_sql_joins_tables_and_names_the_files_of_both(ask: Asked) -> None:
    sql = "SELECT e.team, AVG(l.response_ms) AS mean FROM endpoints e JOIN latency l USING (path) WHERE e.queries > ? GROUP BY 1"
    done = ask.ran("run_sql", sql=sql, parameters=[5])
    assert json.loads(done.result.content)["rows"] == [["Nord", 15.375], ["Süd", 30.0]]
    assert done.output
    assert done.output.evidence[0].path == "tables/endpoints.csv, tables/latency.csv"


def test_sql_over_documents_says_so_and_brings_the_coverage(ask: Asked) -> None:
    done = ask.ran("run_sql", sql="SELECT COUNT(*) FROM documents")
    assert done.output
    assert done.output.counted
    assert done.output.evidence[0].path == "the index of documents"
    assert ask.ran("run_sql", sql="SELECT 1 + 1").output.evidence[0].path == "no table"  # type: ignore[union-attr]


def test_the_key_is_that_of_the_sql_the_parameters_and_the_rows() -> None:
    key = key_of("sql", "SELECT ?", (1,), ((1,),))
    assert key == key_of("sql", "SELECT ?", [1], [[1]])
    others = {
        key_of("sql", "SELECT  ?", (1,), ((1,),)),
        key_of("sql", "SELECT ?", (2,), ((1,),)),
        key_of("sql", "SELECT ?", (1,), ()),
    }
    assert len({key, *others}) == 4
    assert key_of(0.1 + 0.2, b"a", None) == key_of(0.3, b"a", None)  # the last digits of a sum differ between machines
    assert key_of(1) != key_of("1")


def test_a_table_whose_file_has_changed_since_says_so(ask: Asked, folder: Path) -> None:
    (folder / "tables/endpoints.csv").write_text(ENDPOINTS + "GET /z,Nord,99\n")
    done = ask.ran("query_table", table="endpoints")
    assert done.output
    assert done.output.evidence[0].stale
    assert json.loads(done.result.content)["stale"] == done.output.evidence[0].stale


# Nothing, and why


def why(value: dict[str, Any]) -> list[str]:
    found = value["why"]
    assert isinstance(found, list)
    return found


def test_nothing_says_how_many_each_filter_removes(ask: Asked) -> None:
    filters = [{"column": "team", "op": "=", "value": "Nord"}, {"column": "queries", "op": ">", "value": 25}]
    value = ask.value("query_table", table="endpoints", filters=filters)
    assert why(value) == [
        "without the filter on queries (>) 2 of 4 rows pass",
        "without the filter on team (=) 1 of 4 rows pass",
        "queries is 5 to 30, with 4 different values",
    ]
    assert (value["found"], value["advice"]) == (0, "leave out or widen a filter; describe_tables shows values and ranges")
    assert ask.ran("query_table", table="endpoints", filters=filters).output.evidence[0].key == value["key"]  # type: ignore[union-attr]


def test_both_bounds_of_a_column_are_one_filter(ask: Asked) -> None:
    bounds = [{"column": "queries", "op": ">=", "value": 100}, {"column": "queries", "op": "<", "value": 200}]
    value = ask.value("query_table", table="endpoints", filters=bounds)
    assert why(value)[0] == "none of the 4 rows of endpoints passes the filters on queries (>=, <)"
    value = ask.value("query_table", table="endpoints", filters=[*bounds, {"column": "team", "op": "=", "value": "Nord"}])
    assert why(value)[0].startswith("without the filters on queries (>=, <) ")


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"column": "team", "op": "=", "value": "nord"}, 'team has "Nord", which differs only in case or spaces'),
        ({"column": "team", "op": "=", "value": "Norrd"}, 'team has nothing like it but "Nord"'),
        ({"column": "team", "op": "in", "value": ["West", "Ost"]}, 'values of team: "Nord", "Süd"'),
        ({"column": "team", "op": "contains", "value": "Nordic"}, 'team has nothing like it but "Nord"'),
        ({"column": "queries", "op": ">", "value": 1000}, "queries is 5 to 30"),
        ({"column": "queries", "op": "=", "value": 15}, "queries is 5 to 30, with 4 different values"),
        ({"column": "path", "op": "is null"}, "path has a value in every row"),
    ],
)
def test_nothing_says_what_there_is_instead(ask: Asked, condition: dict[str, Any], reason: str) -> None:
    value = ask.value("query_table", table="endpoints", filters=[condition])
    op = condition["op"]
    assert why(value) == [f"none of the 4 rows of endpoints passes the filter on {condition['column']} ({op})", reason]


def test_a_value_is_looked_for_among_many(write: Write, indexed: Indexed) -> None:
    write("codes.csv", "code,n\n" + "".join(f"carrier-{n:04},{n}\n" for n in range(300)))
    value = Asked(indexed()).value("query_table", table="codes", filters=[{"column": "code", "op": "=", "value": "CARRIER-0123"}])
    assert why(value)[1] == 'code has "carrier-0123", which differs only in case or spaces'


def test_dates_outside_the_range_are_told_it(ask: Asked) -> None:
    value = ask.value("query_table", table="latency", filters=[{"column": "day", "op": ">=", "value": "2027"}])
    assert why(value)[1] == "day is 2026-01-01 to 2026-02-02"


def test_a_sum_of_nothing_is_explained(ask: Asked) -> None:
    nothing = {"column": "team", "op": "=", "value": "nord"}
    aggregates = [{"function": "sum", "column": "queries"}, {"function": "count"}]
    value = ask.value("query_table", table="endpoints", filters=[nothing], aggregates=aggregates)
    assert value["rows"] == [[None, 0]]
    assert why(value)[1] == 'team has "Nord", which differs only in case or spaces'
    lacking = {"column": "day", "op": "=", "value": "2026-02-02"}
    mean = [{"function": "avg", "column": "response_ms"}]
    value = ask.value("query_table", table="latency", filters=[lacking], aggregates=mean)
    assert (value["rows"], why(value)) == ([[None]], ["no row that passes has a value in response_ms"])


def test_a_statement_without_rows_is_told_what_comes_near(ask: Asked) -> None:
    value = ask.value("run_sql", sql="SELECT * FROM endpoints WHERE team = 'nord' AND path = ?", parameters=["get /a"])
    assert why(value) == [
        "endpoints has 4 rows: its conditions or joins let none through",
        'endpoints.team has "Nord", which differs only in case or spaces',
        'endpoints.path has "GET /a", which differs only in case or spaces',
    ]
    value = ask.value("run_sql", sql="SELECT MAX(queries) FROM endpoints WHERE team = 'nord'")
    assert (value["rows"], why(value)[0]) == ([[None]], "there is no value")


def test_no_reason_repeats_a_value_that_was_sent(ask: Asked) -> None:
    sent = [
        {"column": "queries", "op": ">", "value": 987654},
        {"column": "path", "op": "=", "value": "987654"},
        {"column": "team", "op": "contains", "value": "987654"},
    ]
    assert "987654" not in json.dumps(why(ask.value("query_table", table="endpoints", filters=sent)))
    assert "987654" not in json.dumps(
        why(ask.value("run_sql", sql="SELECT * FROM endpoints WHERE queries > 987654 OR path = '987654'"))
    )


# Errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"table": "endpoint"},
            '"table": got "endpoint", want one of "endpoints", "latency"; did you mean "endpoints"?; send JSON like ',
        ),
        (
            {"table": "endpoints", "columns": ["pth", "team"]},
            '"columns": got "pth", want one of path, team, queries; did you mean "path"?; send JSON like '
            '{"table":"endpoints","columns":["path","team"]}',
        ),
        (
            {"table": "latency", "group_by": ["month(dey)"]},
            'did you mean "day"?; send JSON like {"table":"latency","group_by":["month(day)"]}',
        ),
        (
            {"table": "endpoints", "filters": [{"column": "querys", "op": ">", "value": 1}]},
            '"filters": column: got "querys", want one of path, team, queries; did you mean "queries"?; send JSON like '
            '{"table":"endpoints","filters":[{"column":"queries","op":">","value":1}]}',
        ),
        (
            {"table": "endpoints", "columns": ["response_ms"]},
            '; latency has "response_ms": query that table, or join the two with run_sql; send JSON like {"table":"endpoints",',
        ),
        ({"table": "endpoints", "filters": [{"column": "queries", "op": "like", "value": 1}]}, '"op": got "like", want one of'),
        ({"table": "endpoints", "aggregates": [{"function": "mean", "column": "queries"}]}, 'did you mean "median"?'),
        (
            {"table": "endpoints", "aggregates": [{"function": "sum", "column": "team"}]},
            '"aggregates": sum wants a column of numbers',
        ),
        ({"table": "endpoints", "columns": ["team"], "group_by": ["path"]}, '"columns": got "team", which is neither grouped'),
        ({"table": "endpoints", "limit": 500}, '"limit": got 500, want an integer from 1 to 200'),
        ({"table": "endpoints", "where": "x"}, '"where": no such argument'),
        ({}, '"table": missing, want one of "endpoints", "latency"'),
    ],
)
def test_an_error_of_a_query_names_the_argument_and_what_was_meant(ask: Asked, arguments: dict[str, Any], said: str) -> None:
    error = ask.error("query_table", **arguments)
    assert error.startswith("bad arguments for query_table: ")
    assert said in error
    right = json.loads(error.partition("send JSON like ")[2])
    assert ask.value("query_table", **right)


@pytest.mark.parametrize(
    ("sql", "parameters", "said"),
    [
        ("SELECT pth FROM endpoints", [], '"sql": no column "pth" in endpoints; did you mean "path"?'),
        ("SELECT * FROM endpoint", [], '"sql": no table "endpoint"'),
        ("DROP TABLE endpoints", [], '"sql": refused: DROP TABLE'),
        ("SELECT 1; SELECT 2", [], '"sql": '),
        ("SELECT * FROM endpoints WHERE path = ?", [], '"parameters": got 0, want 1'),
        ("SELECT * FROM _tables", [], '"sql": '),
    ],
)
def test_an_error_of_a_statement_names_what_is_wrong(ask: Asked, sql: str, parameters: list[Any], said: str) -> None:
    assert ask.error("run_sql", sql=sql, parameters=parameters).startswith(said)


def test_an_expression_that_is_none_is_refused(ask: Asked) -> None:
    assert ask.error("calculate", expression="queries / 2").startswith("\"expression\": 'queries' in ")


# Descriptions


def test_a_description_tells_source_types_units_ranges_and_values(ask: Asked) -> None:
    (found,) = ask.value("describe_tables", table="latency")["tables"]
    assert (found["name"], found["source"], found["rows"]) == ("latency", "tables/latency.csv", 4)
    assert found["columns"][0] == {"name": "path", "type": "text", "distinct": 3, "values": ["GET /a", "GET /b", "POST /c"]}
    response = {"name": "response_ms", "type": "real", "header": "response (ms)", "unit": "ms", "nulls": 1, "distinct": 3}
    assert found["columns"][1] == {**response, "min": 10.5, "max": 30.0}
    assert found["columns"][2]["max"] == "2026-02-02"
    assert len(ask.value("describe_tables")["tables"]) == 2


@pytest.mark.parametrize(
    ("search", "names"),
    [("team", ["endpoints"]), ("the days", ["latency"]), ("süd", ["endpoints"]), ("path of responses", ["latency", "endpoints"])],
)
def test_tables_are_found_by_words(ask: Asked, search: str, names: list[str]) -> None:
    assert [table["name"] for table in ask.value("describe_tables", search=search)["tables"]] == names


def test_words_that_no_table_has_are_told_what_is_near(ask: Asked) -> None:
    value = ask.value("describe_tables", search="qeuries")
    assert (value["found"], value["why"]) == (0, ['no table or column of 2 is called so; near is "queries"'])
    assert 'did you mean "latency"?' in ask.error("describe_tables", table="latencies")


# Sizes


def test_rows_beyond_the_budget_are_left_out_and_told(write: Write, indexed: Indexed) -> None:
    write("long.csv", "n,text\n" + "".join(f"{n},{'word ' * 30}{n}\n" for n in range(300)))
    ask = Asked(indexed(), budget=4000)
    value = ask.value("query_table", table="long", limit=200)
    assert 5 < len(value["rows"]) < 200
    assert value["total"] == 300
    assert value["cut"].startswith(
        f"{len(value['rows'])} of 300 rows shown; filters or another order show others; long texts are cut"
    )
    value = ask.value("run_sql", sql="SELECT n FROM long")
    assert value["cut"] == "200 of 300 rows shown; LIMIT 200 OFFSET 200 reads on, or group or filter"


@pytest.mark.parametrize("columns", [1, 20, 120])
def test_any_shape_of_table_keeps_within_the_budget_as_json(write: Write, indexed: Indexed, columns: int) -> None:
    names = ",".join(f"a rather long name of a column {n}" for n in range(columns))
    write("wide.csv", f"{names}\n" + "".join(",".join([f"{'x' * 70} {row}"] * columns) + "\n" for row in range(30)))
    ask = Asked(indexed(), budget=6000)
    for name, arguments in (
        ("query_table", {"table": "wide"}),
        ("describe_tables", {}),
        ("run_sql", {"sql": "SELECT * FROM wide"}),
    ):
        done = ask.ran(name, **arguments)
        assert len(done.result.content) <= 6000
        value = json.loads(done.result.content)
        assert "beginning" not in value
        assert "cut" in value or columns < 20 or (name == "describe_tables" and columns < 120)


def test_many_tables_are_described_briefly_and_told_how_to_ask(write: Write, indexed: Indexed) -> None:
    for number in range(40):
        write(f"t{number}.csv", f"column_a,column_b_{number}\nsome text,1\nother text,2\n")
    value = Asked(indexed(), budget=5000).value("describe_tables")
    assert value["cut"]
    assert len(value["tables"]) > 10


def test_a_long_statement_is_not_repeated_whole(ask: Asked) -> None:
    sql = f"SELECT path FROM endpoints WHERE path IN ({', '.join(repr('GET /a') for _ in range(900))})"
    value = ask.value("run_sql", sql=sql)
    assert len(value["sql"]) <= 1501
    assert ask.ran("run_sql", sql=sql).output.evidence[0].sql == sql  # type: ignore[union-attr]


# Names that are declared otherwise


@pytest.fixture
def odd(write: Write, indexed: Indexed, folder: Path) -> Asked:
    """A table with a name and a column that are longer than what is declared."""
    write(f"{'a_long_name_' * 5}.csv", f"{'the_header_of_a_column_' * 4},n\nx,1\ny,2\n")
    return Asked(indexed())


def test_a_declared_name_leads_back_in_queries_and_in_sql(odd: Asked) -> None:
    (table,) = odd.box.tools["query_table"].parameters["properties"]["table"]["enum"]
    match = re.search(rf"{table}\((\w+), n int\)", odd.box.tools["query_table"].description)
    assert match
    column = match[1]
    assert len(table) == len(column) == 40
    value = odd.value("query_table", table=table, filters=[{"column": column, "op": "=", "value": "y"}], columns=[column, "n"])
    assert value["rows"] == [["y", 2]]
    assert (
        odd.value("run_sql", sql=f'SELECT x.{column}, "n" FROM {table.upper()} x WHERE x."{column}" <> \'{column}\'')["total"] == 2
    )
    (described,) = odd.value("describe_tables", table=table)["tables"]
    assert (described["name"], described["columns"][0]["name"]) == (table, column)


# Whatever is sent


@pytest.fixture(scope="module")
def anything(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    from standin import StandIn

    from search import upkeep

    folder = tmp_path_factory.mktemp("tables")
    (folder / "endpoints.csv").write_text(ENDPOINTS, encoding="utf-8")
    upkeep.index(folder / "library.db", [folder / "endpoints.csv"], StandIn())
    return Asked(Library.open(folder / "library.db", embedder=StandIn()))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_text_in_any_argument_is_a_result_and_nothing_unforeseen(anything: Asked, data: st.DataObject) -> None:
    text = st.text() | st.sampled_from(
        ["path", "team", "queries", "endpoints", "month(team)", "count", "=", "in", "sum", "\0", '"', "'"]
    )
    scalar = text | st.integers() | st.floats() | st.booleans()
    arguments = {
        "table": data.draw(st.just("endpoints") | text),
        "columns": data.draw(st.lists(text, max_size=2)),
        "filters": data.draw(
            st.lists(st.fixed_dictionaries({"column": text, "op": text, "value": scalar | st.lists(scalar)}), max_size=2)
        ),
        "group_by": data.draw(st.lists(text, max_size=2)),
        "aggregates": data.draw(
            st.lists(st.fixed_dictionaries({"function": text}, optional={"column": text, "as": text}), max_size=2)
        ),
        "order_by": data.draw(st.lists(st.fixed_dictionaries({"by": text}), max_size=1)),
    }
    done = anything.ran("query_table", **{name: value for name, value in arguments.items() if value})
    assert done.failure is None
    assert done.result.content
