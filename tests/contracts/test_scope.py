"""The person's own filters hold in every tool call: no argument of a model widens them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin import StandIn

from assistant import search_tools
from assistant.messages import ToolCall
from assistant.table_tools import build_table_tools
from assistant.tools import Ran, Toolbox
from search import FilterError, Filters, Library, upkeep

INSIDE = {"runbooks/gateway.md", "runbooks/cache.md", "elsewhere/moved.md"}
SCOPES = [
    Filters(category=("runbooks",)),
    Filters(tags=("shared",)),
    Filters(source=("runbooks/g*", "runbooks/c*", "elsewhere/*")),
    Filters(before="2026-06-01"),
    Filters(metadata=(), within=Filters(category=("runbooks",))),
]
INNER_TABLE = "elsewhere/hours.csv"  # in the scope by its path alone: a table has no front matter
OVER_TABLES = [
    Filters(source=("elsewhere/*",)),
    Filters(format=("csv",), source=("elsewhere/*", "runbooks/*")),
    Filters(within=Filters(source=("elsewhere/h*",))),
]
MARK = "heliotrope"  # stands in everything that lies outside, and in no argument


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Documents within each of the scopes, and others that are as like them as can be."""
    folder = tmp_path_factory.mktemp("scope")
    inside = "---\ncategory: runbooks\ntags: [shared]\nauthor: Mara\ndate: 2026-02-03\nstatus: old\n---\n"
    outside = (
        f"---\ncategory: secret\ntags: [{MARK}]\nauthor: {MARK}\ndate: 2026-08-03\nstatus: old\ntitle: The {MARK} timeouts\n---\n"
    )
    for path in INSIDE:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(f"{inside}# {path}\n\nThe gateway had timeouts in {path}.\n")
    for path in ("secret/gateway.md", "runbooks/x.md", "cache.md"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(f"{outside}# Gateway {MARK}\n\nThe gateway had timeouts, {MARK}.\n")
    (folder / "secret/empty.md").write_text("")
    file = tmp_path_factory.mktemp("library") / "library.db"
    upkeep.index(file, [folder], StandIn())
    with Library.open(file, embedder=StandIn()) as opened:
        yield opened


@pytest.fixture(scope="module")
def keys(library: Library) -> list[str]:
    """The keys of all passages, inside and outside, and prefixes of them."""
    found = [hit.passage.key for hit in library.vector_search("gateway timeouts", limit=50)]
    assert len(found) == 6
    return found + [key[:5] for key in found]


def shown(done: Ran) -> set[str]:
    """The paths of all documents that a result or its evidence shows."""
    paths = {evidence.path for evidence in done.output.evidence} if done.output else set()
    if done.result.is_error:
        return paths
    value = json.loads(done.result.content)
    paths |= {hit["source"].partition(":")[0] for hit in value.get("hits", ())}
    paths |= {document["path"] for document in value.get("documents", ())} if isinstance(value.get("documents"), list) else set()
    return paths | ({value["path"]} if "path" in value else set())


WORDS = st.sampled_from(["gateway timeouts", '"had timeouts"', "timeouts -nothing", "secret", "zzz", "*"])
NARROWING = {
    "category": st.sampled_from(["runbooks", "secret", ""]),
    "tags": st.lists(st.sampled_from(["shared", "edge"]), max_size=2),
    "after": st.sampled_from(["2020-01-01", "2026-07-01"]),
    "before": st.sampled_from(["2026-07-01", "2030"]),
    "within": st.sampled_from(["set_1", "set_2", "set_3", "secret", "*", ""]),
    "limit": st.integers(1, 50),
}
SELECTING = NARROWING | {
    "source": st.sampled_from(["*", "secret/*", "../*", "cache", "/"]),
    "format": st.just("markdown"),
    "author": st.just("Mara"),
    "title": st.sampled_from(["e", "gateway"]),
    "during": st.sampled_from(["2026", "2026-08"]),
    "date_field": st.sampled_from(["date", "modified", "created"]),
    "metadata": st.lists(st.sampled_from(["status=old", "status!=x", "category=secret", "a!=1"]), max_size=2),
}
GROUPS = st.sampled_from(["category", "tag", "author", "year", "text_status"])


def calls(keys: list[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Calls of every tool with arguments that try to get out."""
    paths = st.sampled_from(
        ["secret/gateway.md", "gateway.md", "cache.md", "x.md", "secret/empty.md", "runbooks/cache.md", "cache.md:1"]
    )
    each = {
        **{name: ({"query": WORDS}, NARROWING) for name in ("hybrid_search", "keyword_search", "vector_search")},
        "find_similar": ({}, NARROWING | {"key": st.sampled_from(keys), "text": WORDS}),
        "filter_documents": ({}, SELECTING | {"offset": st.integers(0, 3), "order_by": st.sampled_from(["path", "date"])}),
        "count_documents": ({}, {name: s for name, s in SELECTING.items() if name != "limit"} | {"group_by": GROUPS}),
        "read_document": ({}, {"key": st.sampled_from(keys), "path": paths, "first_line": st.integers(1, 12)}),
    }
    return st.one_of(
        *(st.tuples(st.just(name), st.fixed_dictionaries(needed, optional=optional)) for name, (needed, optional) in each.items())
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_sequence_of_calls_shows_anything_outside_the_scope(library: Library, keys: list[str], data: st.DataObject) -> None:
    scope = data.draw(st.sampled_from(SCOPES))
    box = Toolbox(search_tools.build(library, scope))
    for name, arguments in data.draw(st.lists(calls(keys), min_size=1, max_size=6)):
        done = box.run(ToolCall("1", name, json.dumps(arguments)))
        assert done.failure is None
        assert MARK not in done.result.content
        assert shown(done) <= INSIDE
        value = {} if done.result.is_error else json.loads(done.result.content)
        assert value.get("total", 0) <= len(INSIDE)


@pytest.fixture(scope="module")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A table within each of the scopes, one outside that has the same columns, documents on either side."""
    folder = tmp_path_factory.mktemp("tables")
    for path, text in {
        INNER_TABLE: "team,hours\nNord,7\nSüd,5\n",
        "secret/hours.csv": f"team,hours\nNord,1000\n{MARK},1000\n",
        "secret/pay.csv": f"team,{MARK}\nNord,5\n",
        "elsewhere/a.md": "# A\n\nNord works.\n",
        "secret/b.md": f"# B {MARK}\n\nNord works, {MARK}.\n",
    }.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    file = tmp_path_factory.mktemp("library") / "library.db"
    upkeep.index(file, [folder], StandIn())
    with Library.open(file, embedder=StandIn()) as opened:
        yield opened


def tables_box(library: Library, scope: Filters) -> Toolbox:
    return Toolbox(build_table_tools(library, scope))


@pytest.mark.parametrize("scope", OVER_TABLES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("describe_tables", {}),
        ("describe_tables", {"table": "pay"}),
        ("describe_tables", {"search": "team secret hours"}),
        ("query_table", {"table": "pay"}),
        ("query_table", {"table": "secret_hours"}),
        ("query_table", {"table": "hours", "columns": [MARK.upper()]}),
        ("query_table", {"table": "HOURS", "filters": [{"column": "hours", "op": "=", "value": 1000}]}),
        ("run_sql", {"sql": "SELECT * FROM pay"}),
        ("run_sql", {"sql": "SELECT * FROM secret_hours"}),
        ("run_sql", {"sql": "SELECT path, title, category, metadata FROM documents"}),
        ("run_sql", {"sql": "SELECT text FROM passages WHERE text LIKE '%Nord%'"}),
        ("run_sql", {"sql": "SELECT * FROM _tables"}),
        ("run_sql", {"sql": "SELECT sql FROM sqlite_master"}),
        ("run_sql", {"sql": "SELECT * FROM main.documents"}),
        ("run_sql", {"sql": "WITH documents AS (SELECT * FROM main.documents) SELECT title FROM documents"}),
        ("calculate", {"expression": "1000 + 5"}),
    ],
)
def test_no_table_tool_shows_anything_outside_the_scope(
    tabular: Library, scope: Filters, name: str, arguments: dict[str, Any]
) -> None:
    done = tables_box(tabular, scope).run(ToolCall("1", name, json.dumps(arguments)))
    assert done.failure is None
    assert MARK not in done.result.content
    assert "secret/" not in done.result.content
    if done.output is not None:
        assert MARK not in "".join(evidence.text for evidence in done.output.evidence)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM {}",
        "SELECT COUNT(*) FROM {}",
        "SELECT team FROM {}",
        'SELECT nothing FROM "{}"',
        "SELECT hours.team, p.team FROM hours JOIN {} AS p ON p.nothing = hours.team",
        "WITH {}_of AS (SELECT team FROM {}) SELECT team FROM {}_of",
        "SELECT hours FROM hours WHERE EXISTS (SELECT 1 FROM {} WHERE nothing = 5)",
    ],
)
def test_a_table_outside_the_scope_is_refused_as_one_that_does_not_exist(tabular: Library, sql: str) -> None:
    box = tables_box(tabular, OVER_TABLES[0])

    def refusal(name: str) -> str:
        done = box.run(ToolCall("1", "run_sql", json.dumps({"sql": sql.replace("{}", name)})))
        assert done.result.is_error
        return done.result.content.replace(name, "it")

    assert refusal("pay") == refusal("zzz")


def test_tables_of_the_scope_are_queried_and_counted_without_the_others(tabular: Library) -> None:
    for scope in OVER_TABLES:
        box = tables_box(tabular, scope)
        (declared,) = box.tools["query_table"].parameters["properties"]["table"]["enum"]
        arguments = {"table": declared, "aggregates": [{"function": "sum", "column": "hours"}]}
        assert json.loads(box.run(ToolCall("1", "query_table", json.dumps(arguments))).result.content)["rows"] == [[12]]
        assert MARK not in json.dumps([[d.description, dict(d.parameters)] for d in box.declarations()])
    within = tables_box(tabular, OVER_TABLES[0])
    counted = within.run(ToolCall("1", "run_sql", '{"sql": "SELECT COUNT(*) FROM documents"}'))
    assert json.loads(counted.result.content)["rows"] == [[2]]


def test_without_the_scope_the_table_outside_is_there(tabular: Library) -> None:
    assert MARK in tables_box(tabular, Filters()).run(ToolCall("1", "describe_tables", "{}")).result.content


@pytest.mark.parametrize("scope", SCOPES)
def test_within_the_scope_every_tool_works(library: Library, scope: Filters) -> None:
    box = Toolbox(search_tools.build(library, scope))

    def run(name: str, **arguments: Any) -> Ran:
        return box.run(ToolCall("1", name, json.dumps(arguments)))

    for name in ("hybrid_search", "keyword_search", "vector_search"):
        assert shown(run(name, query="gateway timeouts")) == INSIDE
    assert shown(run("find_similar", text="gateway timeouts")) == INSIDE
    listed = run("filter_documents")
    assert shown(listed) == INSIDE
    assert json.loads(run("count_documents").result.content)["total"] == 3
    assert shown(run("read_document", path="gateway.md")) == {"runbooks/gateway.md"}
    assert listed.output
    key = listed.output.evidence[0].key
    assert shown(run("find_similar", key=key)) == INSIDE - {listed.output.evidence[0].path}


@pytest.mark.parametrize("scope", SCOPES)
def test_what_lies_outside_is_refused_by_key_and_by_path_without_a_word_of_it(library: Library, scope: Filters) -> None:
    box = Toolbox(search_tools.build(library, scope))
    key = library.keyword_search(MARK)[0].passage.key
    for name, arguments in [
        ("find_similar", {"key": key}),
        ("find_similar", {"key": key[:5]}),
        ("read_document", {"key": key}),
        ("read_document", {"path": "secret/gateway.md"}),
        ("read_document", {"path": "secret/gateway.md:9-11"}),
        ("read_document", {"path": "x.md"}),
    ]:
        content = box.run(ToolCall("1", name, json.dumps(arguments))).result.content
        assert "is outside the scope that the person has set" in content
        assert MARK not in content


def test_the_declarations_name_nothing_outside_the_scope(library: Library) -> None:
    box = Toolbox(search_tools.build(library, SCOPES[0]))
    written = json.dumps([dict(declaration.parameters) for declaration in box.declarations()])
    assert MARK not in written
    assert '"secret"' not in written


def test_nothing_found_says_that_only_the_scope_was_looked_at(library: Library) -> None:
    box = Toolbox(search_tools.build(library, SCOPES[0]))
    content = box.run(ToolCall("1", "count_documents", '{"author": "Nobody"}')).result.content
    assert json.loads(content)["why"] == [
        'no author "Nobody"; there are: "Mara"',
        "no document passes all filters; without 'author Nobody' 3 of 3 would",
        "nothing outside the scope that the person has set was looked at (category runbooks)",
    ]


def test_without_the_scope_the_same_calls_do_show_it(library: Library, keys: list[str]) -> None:
    box = Toolbox(search_tools.build(library))
    outside = {path for key in keys for path in shown(box.run(ToolCall("1", "read_document", json.dumps({"key": key}))))} - INSIDE
    assert outside == {"secret/gateway.md", "runbooks/x.md", "cache.md"}


def test_a_scope_that_is_not_understood_is_the_persons_error(library: Library) -> None:
    with pytest.raises(FilterError, match="after: 'soonish' is not understood"):
        search_tools.build(library, Filters(after="soonish"))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_text_in_any_argument_is_a_result_and_nothing_unforeseen(library: Library, data: st.DataObject) -> None:
    box = Toolbox(search_tools.build(library))
    name = data.draw(st.sampled_from([*box.tools]))
    properties = box.tools[name].parameters["properties"]
    text = st.text() | st.text('"*()-:^{}[]%_?\\/\0 aANDORNOT.=<>0123456789')
    arguments: dict[str, Any] = {"query": data.draw(text)} if "query" in properties else {}
    for field in data.draw(st.lists(st.sampled_from([*properties]), max_size=4)):
        kind = properties[field]["type"]
        arguments[field] = data.draw({"string": text, "array": st.lists(text, max_size=3), "integer": st.integers(0, 60)}[kind])
    done = box.run(ToolCall("1", name, json.dumps(arguments)))
    assert done.failure is None
    assert done.result.content
