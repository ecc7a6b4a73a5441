"""Promise 5: read-only SQL is a sandbox. What a statement must not do it cannot, says why, and ends in time."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_sql import HOSTILE
from standin import StandIn

from search import Filters, Library, connections, upkeep
from search.errors import QueryError
from search.tables import sandbox
from search.tables.models import ResultSet

GENEROUS = 10.0  # seconds for a statement that has one, on a machine under any load
OPEN = Filters(category=("open",))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of two folders of notes and three tables, and a trap."""
    place = tmp_path_factory.mktemp("sandbox")
    files = {
        "open/gateway.md": "---\ntags: [seen]\n---\n# Gateway\n\nThe valve of the gateway.\n\n## More\n\nWords on timeouts.\n",
        "open/endpoints.csv": "endpoint,queries,team\nGET /a,50,one\nGET /b,20,two\nPOST /c,30,one\n",
        "open/latency.csv": "endpoint,response_ms\nGET /a,10\nGET /b,30\nPOST /c,20.5\n",
        "closed/plans.csv": "plan,secret_cost\nalpha,100\nbeta,200\n",
        "closed/plan.md": "---\ntags: [hidden]\n---\n# The plan\n\nNobody may see the pelican.\n",
    }
    for path, text in files.items():
        file = place / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    (place / "trap").mkdir()
    upkeep.index(place / "library" / "library.db", [place / "notes"], StandIn())
    return place


@pytest.fixture(scope="module")
def library(place: Path) -> Iterator[Library]:
    with Library.open(place / "library" / "library.db", embedder=StandIn()) as opened:
        yield opened


def state(place: Path) -> dict[str, str]:
    """Every file below a place with a hash of what is in it; SQLite's shared index, which any reader marks, by its name alone."""
    files = [file for file in sorted(place.rglob("*")) if file.is_file()]
    return {str(file): "" if file.suffix == ".db-shm" else hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def identified(statement: str) -> str:
    return ascii(" ".join(statement.split())[:60])


@pytest.mark.parametrize(("statement", "words"), HOSTILE, ids=[identified(statement) for statement, _ in HOSTILE])
def test_a_hostile_statement_is_refused_with_its_reason_in_time_and_writes_nothing(
    statement: str, words: str, place: Path, library: Library
) -> None:
    library.status()
    before = state(place)
    begun = time.monotonic()
    with pytest.raises(QueryError) as refused:
        library.tables.sql(statement.replace("{trap}", str(place / "trap")), seconds=1)
    assert words in str(refused.value)
    assert len(str(refused.value)) >= 20
    assert time.monotonic() - begun < GENEROUS
    assert state(place) == before


def test_there_are_enough_of_them() -> None:
    assert len({statement for statement, _ in HOSTILE}) >= 80


# What the text alone shows is refused before a process is started. The process must hold without that.

HARMLESS = ("explain", "select 1 \u00a0", "select 1 from documents,\u2028", 'select "root"')  # a plan, an alias, a text


@pytest.mark.parametrize("statement", [sql for sql, _ in HOSTILE], ids=[identified(statement) for statement, _ in HOSTILE])
def test_the_process_alone_answers_no_hostile_statement_and_writes_nothing(statement: str, place: Path, library: Library) -> None:
    library.status()
    before = state(place)
    answer = asked(library, statement.replace("{trap}", str(place / "trap")))
    assert answer.end is None or statement.startswith(HARMLESS)
    assert state(place) == before


def asked(library: Library, statement: str) -> sandbox._Answer:
    """What the process answers when a statement is sent to it as it is."""
    request = {"library": connections.read_only_uri(library.path), "sql": statement, "strict": None, "token": "0" * 32}
    request |= {"parameters": [], "tables": ["endpoints", "latency", "plans"], "scope": None, "rows": 5, "characters": 1000}
    heard = sandbox._ask(json.dumps(request | {"seconds": 0.5}).encode() + b"\n", 0.5)
    assert heard.complaint == ""
    return sandbox._Answer.of(heard.lines)


# The scope, and the columns that nobody needs to see

COLUMNS = {
    "documents": (
        "id path title format category author language created modified date date_source size pages text_status metadata indexed_at"
    ),
    "document_tags": "document_id tag",
    "passages": "id document_id ordinal key headings page first_line last_line text tokens",
}
WAYS = (
    "select * from {0}",
    "select x.* from {0} as x",
    "select * from (select * from {0})",
    "select * from (select * from {0} union all select * from {0})",
    "with y as (select * from {0}) select * from y",
    "with y as (with z as (select * from {0}) select * from z) select * from y",
    "with y as materialized (select * from {0}) select * from y limit 100",
    "select a.* from {0} a left join (select 1 from {0} limit 1) b",
    "select * from temp.{0}",
    "select * from {0} order by 1, 2",
    "select * from {0} where 1 group by 1, 2",
    "select * from {0} intersect select * from {0}",
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scope", [Filters(), OPEN], ids=["all", "open"])
@pytest.mark.parametrize("table", COLUMNS)
def test_a_table_of_documents_has_the_columns_and_rows_that_it_should_and_no_others(
    table: str, scope: Filters, way: str, library: Library
) -> None:
    result = library.tables.sql(way.format(table), filters=scope)
    assert " ".join(result.columns) == COLUMNS[table]
    inside = {document.id for document in library.filter_documents(scope).items}
    assert result.rows
    at = result.columns.index("id" if table == "documents" else "document_id")
    assert {row[at] for row in result.rows} <= inside
    assert result.tables == (table,)


@pytest.mark.parametrize(
    ("statement", "everywhere", "within"),
    [
        ("select count(*) from documents", 5, 3),
        ("select count(*) from documents d, documents e", 25, 9),
        ("select count(*) from document_tags", 2, 1),
        ("select max(rowid) from (select count(*) as rowid from documents)", 5, 3),
        ("select (select count(*) from documents)", 5, 3),
        ("with d as (select 1 from documents) select count(*) from d", 5, 3),
        ("select sum(1) over () from documents limit 1", 5, 3),
        ("select count(*) from documents where path glob '*'", 5, 3),
        ("select count(*) from passages where text like '%pelican%'", 1, 0),
        ("select count(*) from documents where category = 'closed'", 2, 0),
        ("select exists (select 1 from passages p join documents d on d.id = p.document_id where d.category = 'closed')", 1, 0),
        ("select count(*) from document_tags where document_id in (select id from documents)", 2, 1),
        ("select count(*) from (select id from documents union select id from documents)", 5, 3),
        ("select 'closed' in (select category from documents)", 1, 0),
    ],
)
def test_no_way_of_counting_sees_documents_outside_the_scope(
    statement: str, everywhere: int, within: int, library: Library
) -> None:
    assert library.tables.sql(statement).rows == ((everywhere,),)
    assert library.tables.sql(statement, filters=OPEN).rows == ((within,),)


@pytest.mark.parametrize(
    "statement",
    [
        "select * from plans",
        "select count(*) from plans",
        "select plan from plans",
        "select secret_cost from plans",
        "select nope from plans",
        "select 1 where exists (select 1 from plans)",
        "with plans2 as (select * from plans) select count(*) from plans2",
        "select * from endpoints join plans",
        "select * from main.plans",
        "select rowid from plans",
    ],
)
def test_a_table_of_a_file_outside_the_scope_is_not_there(statement: str, library: Library) -> None:
    with pytest.raises(QueryError, match=r"plans|no column") as refused:
        library.tables.sql(statement, filters=OPEN)
    assert "plans." not in str(refused.value).replace("main.plans", "")
    assert "alpha" not in str(refused.value)
    assert [table.name for table in library.tables.describe(OPEN)] == ["endpoints", "latency"]


def test_the_columns_of_a_table_outside_the_scope_cannot_be_told_from_those_that_there_are_not(library: Library) -> None:
    def refusal(column: str) -> str:
        with pytest.raises(QueryError) as refused:
            library.tables.sql(f"select {column} from plans", filters=OPEN)
        return str(refused.value).replace(column, "...")

    assert refusal("secret_cost") == refusal("secret_zeal")


def test_a_table_that_the_caller_did_not_name_cannot_be_read(library: Library) -> None:
    with pytest.raises(QueryError, match="plans"):
        sandbox.run(library.path, "select * from plans", tables={"endpoints": ["endpoint"]}, scope=None)


@pytest.mark.parametrize("name", ["_roots", "documents", "sqlite_master", "_passages_fts", "_passage_search", "_tables"])
def test_a_table_that_is_in_no_catalogue_cannot_be_read_whoever_names_it(name: str, library: Library) -> None:
    def run(sql: str) -> ResultSet:
        return sandbox.run(library.path, sql, tables={name: ["root", "name", "path"]}, scope=None)

    with pytest.raises(QueryError):
        run(f"select root from {name}")
    if name != "documents":
        with pytest.raises(QueryError):
            run(f"select count(*) from {name}")


def test_a_catalogue_that_names_internal_tables_opens_none_of_them(place: Path, tmp_path: Path) -> None:
    upkeep.index(tmp_path / "library.db", [place / "notes"], StandIn())
    with sqlite3.connect(tmp_path / "library.db") as foreign:
        foreign.execute("UPDATE _tables SET name = '_roots' WHERE name = 'plans'")
        foreign.execute("UPDATE _tables SET name = 'sqlite_master' WHERE name = 'latency'")
    foreign.close()
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as opened:
        for name in ("_roots", "sqlite_master", "latency"):
            with pytest.raises(QueryError, match=r"cannot be read|no table"):
                opened.tables.sql(f"select * from {name}")
        assert opened.tables.sql("select count(*) from endpoints").rows == ((3,),)
