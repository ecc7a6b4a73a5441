"""What the sandbox promises to honest statements: they run, their mistakes are named with what was meant, their size is bounded."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from standin import StandIn

from search import Library, connections, upkeep
from search.errors import QueryError, QueryLimitError
from search.tables.models import ResultSet
from search.tables.statements import read_statement

Run = Callable[..., ResultSet]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Two notes and three tables."""
    place = tmp_path_factory.mktemp("statements")
    files = {
        "guides/gateway.md": '---\ntags: [net]\nlevel: 3\n---\n# Gateway\n\nThe valve. 日本語 "quoted".\n',
        "guides/older.md": "---\ndate: 2025-11-30\n---\n# Older\n\nAnother text.\n",
        "endpoints.csv": "endpoint,queries,team\nGET /a,50,one\nGET /b,20,two\nPOST /c,30,one\n",
        "latency.csv": "endpoint,response_ms,day\nGET /a,10,2026-01-31\nGET /b,30,2026-02-01\nPOST /c,20.5,2026-02-28\n",
        "order.csv": "größe,group,Net price\nS,a,1\nM,b,2\n",
    }
    for path, text in files.items():
        file = place / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    upkeep.index(place / "library.db", [place / "notes"], StandIn())
    with Library.open(place / "library.db", embedder=StandIn()) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(library: Library) -> Run:
    return library.tables.sql


def refusal(run: Run, *given: Any, **more: Any) -> str:
    with pytest.raises(QueryError) as refused:
        run(*given, **more)
    return str(refused.value)


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("select count(*) from documents", [(5,)]),
        ("SELECT team, sum(queries) AS n FROM endpoints GROUP BY team ORDER BY n DESC;", [("one", 80), ("two", 20)]),
        (
            "with busy as (select endpoint from endpoints order by queries desc limit 2) "
            "select avg(l.response_ms) from latency l join busy b using (endpoint)",
            [(15.25,)],
        ),
        ("select d.title from documents d join passages p on p.document_id = d.id where p.text like '%valve%'", [("Gateway",)]),
        ("select endpoint, rank() over (order by queries desc) from endpoints limit 1", [("GET /a", 1)]),
        ("select sum(queries) over (rows between 1 preceding and current row) from endpoints", [(50,), (70,), (50,)]),
        ("select count(*) filter (where queries > 25), group_concat(team, '+') from endpoints", [(2, "one+two+one")]),
        ("select strftime('%Y-%m', day), count(*) from latency group by 1", [("2026-01", 1), ("2026-02", 2)]),
        ("select date('2026-10-15', '-1 month'), julianday('2026-01-02') - julianday('2026-01-01')", [("2026-09-15", 1.0)]),
        ("select json_extract(metadata, '$.level'), metadata ->> '$.level' from documents where title = 'Gateway'", [(3, 3)]),
        ("select value from json_each('[1, 2]')", [(1,), (2,)]),
        ("select count(*) from json_tree('{\"a\": [1, 2]}')", [(4,)]),
        ("with recursive n(x) as (select 1 union all select x + 1 from n where x < 4) select sum(x) from n", [(10,)]),
        (
            "select avg(x) from (select response_ms as x, row_number() over (order by response_ms) as r, count(*) over () as n "
            "from latency) where r in ((n + 1) / 2, (n + 2) / 2)",
            [(20.5,)],
        ),
        (
            "select 'drop table documents; -- attach' as words, replace('a', 'a', 'delete'), upper('pragma')",
            [("drop table documents; -- attach", "delete", "PRAGMA")],
        ),
        ('select "größe", "group", "net_price" from "order" where "group" = \'b\'', [("M", "b", 2)]),
        ("select [größe] from `order` o where o.`group` = 'a'", [("S",)]),
        ('select "o"."größe" as "The ""size""" from "order" as "o" order by "The ""size"""', [("M",), ("S",)]),
        ('with "t 1"("c 1") as (select 1) select "c 1" from "t 1"', [(1,)]),
        ("select '日本語' || 'é', length('日本語')", [("日本語é", 3)]),
        ("values (1, 'a'), (2, 'b')", [(1, "a"), (2, "b")]),
        ("select 1 -- no more; really\n", [(1,)]),
        ("/* first */ select /* ; */ 2 ;  ; ", [(2,)]),
        ("select case when 1 then 'x' end, cast('12' as integer), 7 / 2, 2 << 1, round(2.567, 1)", [("x", 12, 3, 4, 2.6)]),
        ("select printf('%05.1f|%s', 3.14159, 'x'), format('%d', 7), printf('')", [("003.1|x", "7", None)]),
        ("select 1 union select 2 except select 1", [(2,)]),
        ("select count(*) from endpoints e where exists (select 1 from latency l where l.endpoint = e.endpoint)", [(3,)]),
        ("select endpoint from endpoints where rowid = 2", [("GET /b",)]),
        ("select tag from document_tags", [("net",)]),
        ("select sqrt(16), ceil(1.2), pow(2, 10)", [(4.0, 2.0, 1024.0)]),
        ("select endpoint from endpoints where endpoint glob 'POST*'", [("POST /c",)]),
        ("select null, 1.5, x'00ff', 9e999, -9223372036854775808", [(None, 1.5, "<2 bytes>", float("inf"), -(2**63))]),
    ],
)  # fmt: skip
def test_an_honest_statement_runs(statement: str, rows: list[tuple[Any, ...]], run: Run) -> None:
    result = run(statement)
    assert list(result.rows) == rows
    assert (result.total, result.counted, result.sql) == (len(rows), True, statement)


@pytest.mark.parametrize(
    ("statement", "given", "rows", "bound"),
    [
        ("select ?, ?", ["a", 2], [("a", 2)], ("a", 2)),
        ("select ?2, ?1", [1, None], [(None, 1)], (1, None)),
        ("select :one, @two, $three", {"one": 1, "two": 2.5, "three": "c", "more": 4}, [(1, 2.5, "c")], (1, 2.5, "c")),
        ("select :a + :a", {"a": 2}, [(4,)], (2,)),
        ("select length(?), typeof(?)", [b"\x00\xff", b"\x00"], [(2, "blob")], (b"\x00\xff", b"\x00")),
        ("select count(*) from endpoints where team in (select value from json_each(?))", ['["one", "three"]'], [(2,)], None),
        ("select '?', ':x', ?", [True], [("?", ":x", 1)], (True,)),
        ("select endpoint from endpoints where queries > ? order by 1", ["20"], [("GET /a",), ("POST /c",)], ("20",)),
        ("select ? || 'x'", ["a\0b'; drop table documents"], [("a\0b'; drop table documentsx",)], None),
    ],
)
def test_parameters_are_bound(statement: str, given: Any, rows: list[Any], bound: Any, run: Run) -> None:
    result = run(statement, given)
    assert list(result.rows) == rows
    assert bound is None or result.parameters == bound


@pytest.mark.parametrize(
    ("statement", "given", "said"),
    [
        ("select ?", [], "parameters: got 0, want 1, one for each ? in the statement"),
        ("select 1", [1], "parameters: got 1, want 0, one for each ? in the statement"),
        ("select ?3", [1], "parameters: got 1, want 3, one for each ? in the statement"),
        ("select :a, :b", {"a": 1}, "parameters: no value for :b; the statement names a, b"),
        ("select :a", [1], "parameters: got a list, want them by name: a"),
        ("select ?", {"a": 1}, "parameters: got a by name, want one for each ? or none"),
        ("select ?, :a", {"a": 1}, "parameters: got both ? and :a in the statement, want one kind"),
        ("select ?", [2**63], "parameters: 1 is 9223372036854775808, want an integer of 64 bits; longer codes go as text"),
        ("select ?", [float("nan")], "parameters: 1 is float, want text, a number or null"),
        ("select :a", {"a": [1]}, "parameters: :a is list, want text, a number or null"),
        ("select ?", "a", "parameters: got one text, want a list of values"),
        ("select ?", ["\ud800"], "parameters: 1 holds half a character (a surrogate), want text in Unicode"),
        ("select ?", ["x" * 1_000_001], "parameters: 1 has 1,000,001 characters, want 1,000,000 at most"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(statement: str, given: Any, said: str, run: Run) -> None:
    assert refusal(run, statement, given) == said


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("select respons_ms from latency", 'no column "respons_ms" in latency; did you mean "response_ms"? Columns of'),
        ("select l.respons_ms from latency l", 'no column "respons_ms" in latency; did you mean "response_ms"? Its columns'),
        ("select latency.zzz from latency", 'no column "zzz" in latency. Its columns are endpoint, response_ms, day.'),
        ("select x.day from latency l", 'no column "x.day": nothing is called "x" there; the tables are documents,'),
        ("select nope", 'no column "nope": the statement names no table'),
        ('select "respons_ms" from latency', 'no column or table named "respons_ms"; did you mean "response_ms"? Text'),
        ('select * from latency where endpoint = "GET /a"', 'no column or table named "GET /a". Text goes in single quotes.'),
        ('select * from latency where day in ("2026", "x")', 'no column or table named "2026". Text goes in single quotes.'),
        ('select "endpoint" from latency group by "endpiont"', 'no column or table named "endpiont"; did you mean'),
        ('select l."dya" from latency l', 'no column "dya" in latency; did you mean "day"?'),
        ("select * from latensy", 'no table "latensy"; did you mean "latency"? The tables are documents, document_tags,'),
        ("select * from public.latency", 'no table "public.latency": tables stand without a schema\'s name: latency'),
        ("select endpoint from endpoints, latency", 'ambiguous column "endpoint": more than one of the tables has it (end'),
        ("select * from order", 'near "order": it is a table here and a word of SQL, too: write it in double quotes, "order"'),
        ("select group from documents", 'near "group": it is a column here and a word of SQL, too'),
        ("select top 5 * from latency", "near \"5\": syntax error"),
        ("select extract(year from day) from latency", "near \"from\": syntax error; strftime('%Y', d) in place of EXTRACT"),
        ("select * from latency where endpoint ilike 'x'", 'near "ilike": syntax error; LIKE does not look at the case'),
        ("select day::date from latency", 'sql: got ":" before no name; CAST(x AS type) in place of x::type'),
        ("select date_trunc('month', day) from latency", "no function \"date_trunc\"; in its place: strftime('%Y-%m-01', d)"),
        ("select frobnicate(1)", 'no function "frobnicate" in SQLite'),
        ("select count(*) from endpoints where", "sql: SQLite says incomplete input"),
        ("select substr() from endpoints", "sql: SQLite says wrong number of arguments to function substr()"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_what_was_meant(statement: str, said: str, run: Run) -> None:
    assert refusal(run, statement).startswith(said)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"max_rows": -1}, "max_rows: got -1, want 0 to 100,000"),
        ({"max_rows": 100_001}, "max_rows: got 100001, want 0 to 100,000"),
        ({"seconds": 0}, "seconds: got 0, want 0.05 to 600"),
        ({"seconds": float("nan")}, "seconds: got nan, want 0.05 to 600"),
    ],
)
def test_bounds_outside_their_range_are_refused(bounds: dict[str, Any], said: str, run: Run) -> None:
    assert refusal(run, "select 1", **bounds) == said


def numbers(most: int) -> str:
    return f"with recursive n(x) as (select 1 union all select x + 1 from n where x < {most}) "


def test_rows_beyond_the_limit_are_counted_and_not_returned(run: Run) -> None:
    result = run(numbers(5000) + "select x from n", max_rows=3)
    assert (result.rows, result.total, result.counted) == (((1,), (2,), (3,)), 5000, True)
    assert run(numbers(10) + "select x from n", max_rows=0).rows == ()


def test_what_the_deadline_did_not_let_be_counted_is_said(run: Run) -> None:
    result = run("with recursive n(x) as (select 1 union all select x + 1 from n) select x from n", max_rows=2, seconds=0.3)
    assert result.rows == ((1,), (2,))
    assert not result.counted
    assert result.total >= 2


def test_a_deadline_before_the_first_row_says_how_to_be_quicker(run: Run) -> None:
    said = refusal(run, "select count(*) from " + ", ".join(f"passages p{n}" for n in range(30)), seconds=0.3)
    assert said.startswith("refused: stopped after 0.3 s without a row: join on equal columns")


def test_a_long_cell_is_cut_and_the_answer_as_a_whole_is_bounded(run: Run) -> None:
    result = run(numbers(500) + "select printf('%.*c', 9990 + x, 'a') from n", max_rows=400)
    assert len(result.rows[0][0]) == 9991
    assert 100 < len(result.rows) < 250
    assert result.total == 500
    long = run("select printf('%.*c', 50000, 'a')").rows[0][0]
    assert len(long) == 10_000
    assert long.endswith("a…")


def test_an_answer_of_many_columns_is_bounded_and_keeps_its_first_row(run: Run) -> None:
    wide = ", ".join(["printf('%.*c', 9000, 'a')"] * 299)
    result = run(f"select {wide} union all select {wide}")
    assert (len(result.rows), result.total) == (1, 2)


def test_no_rows_is_a_result_with_its_columns(run: Run) -> None:
    result = run("select endpoint, queries from endpoints where 0")
    assert (result.columns, result.rows, result.total, result.tables) == (("endpoint", "queries"), (), 0, ("endpoints",))


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("select count(*) from endpoints", ("endpoints",)),
        ("select 1", ()),
        ("with e as (select * from ENDPOINTS) select (select count(*) from latency) from e", ("endpoints", "latency")),
        ("select count(*) from documents, passages", ("documents", "passages")),
        ("select count(*) from (select 1 from document_tags)", ("document_tags",)),
    ],
)
def test_the_tables_that_were_read_are_told(statement: str, tables: tuple[str, ...], run: Run) -> None:
    assert run(statement).tables == tables


def test_a_limit_is_told_from_a_mistake(run: Run) -> None:
    with pytest.raises(QueryLimitError):
        run("select replace(printf('%.*c', 900000, 'a'), 'a', 'bbb')")


def test_texts_that_are_no_utf_8_are_read(tmp_path: Path) -> None:
    note = tmp_path / "notes" / "t.csv"
    note.parent.mkdir()
    note.write_text("a,b\nx,1\ny,2\n")
    upkeep.index(tmp_path / "library.db", [note.parent], StandIn())
    with connections.open_for_writing(tmp_path / "library.db") as writer:
        writer.execute("UPDATE t SET a = CAST(x'61ff62' AS TEXT) WHERE b = 1")
    writer.close()
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as opened:
        assert opened.tables.sql("select a from t where b = 1").rows == (("a\ufffdb",),)


def test_a_table_that_is_wider_than_any_result_can_be_read_by_its_columns(tmp_path: Path) -> None:
    note = tmp_path / "notes" / "wide.csv"
    note.parent.mkdir()
    names = [f"c{n}" for n in range(400)]
    note.write_text("\n".join([",".join(names), ",".join(map(str, range(400))), ",".join(map(str, range(400)))]) + "\n")
    upkeep.index(tmp_path / "library.db", [note.parent], StandIn())
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as opened:
        assert opened.tables.sql("select c399 from wide limit 1").rows == ((399,),)
        with pytest.raises(QueryError, match="got 400 columns in the result, want 1 to 300"):
            opened.tables.sql("select * from wide")


@given(st.text("\"'`[]-/*;?:$@ \nab1.éx", max_size=40))
def test_tokens_are_pieces_of_the_text_and_strict_changes_quotes_alone(text: str) -> None:
    try:
        statement = read_statement(f"select {text}")
    except QueryError:
        return
    assert all(statement.text[token.start :].startswith(token.text) for token in statement.tokens)
    if statement.strict is not None:
        again = read_statement(statement.strict)
        assert [(t.value, t.kind.replace("name", "quoted")) for t in statement.tokens] == [(t.value, t.kind) for t in again.tokens]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20))
def test_strict_names_are_the_names_that_sqlite_reads(name: str) -> None:
    assume(name.lower() not in {"true", "false"})  # of which SQLite makes texts, whatever they name: they are refused here
    quoted = '"' + name.replace('"', '""') + '"'
    strict = read_statement(f"select {quoted} from (select 1 as {quoted})").strict
    assert strict is not None
    cursor = sqlite3.connect(":memory:").execute(strict)
    assert (cursor.fetchall(), cursor.description[0][0]) == ([(1,)], name)


def test_a_query_by_its_parts_has_the_total_without_its_limit(library: Library) -> None:
    from search.tables.query import Order, TableQuery

    result = library.tables.query(
        TableQuery("endpoints", columns=("endpoint",), order_by=(Order("queries", descending=True),), limit=2)
    )
    assert (result.rows, result.total) == ((("GET /a",), ("POST /c",)), 3)
