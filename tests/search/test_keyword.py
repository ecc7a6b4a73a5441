"""Keyword search over a real library schema: what people type finds what they expect."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search import keyword, schema
from search.errors import QueryError
from search.terms import derived, parse

Fill = Callable[..., sqlite3.Connection]


def add(connection: sqlite3.Connection, path: str, *texts: str, title: str = "Notes", headings: tuple[str, ...] = ()) -> None:
    document = connection.execute(
        "INSERT INTO documents (root, path, title, format, size, text_status, encoding, indexed_at) "
        "VALUES (1, ?, ?, 'text', 0, 'ok', 'utf-8', '2026-10-15') RETURNING id",
        (path, title),
    ).fetchone()[0]
    for ordinal, text in enumerate(texts):
        connection.execute(
            "INSERT INTO passages (document_id, ordinal, key, headings, first_line, last_line, start_offset, end_offset, text, "
            "terms, tokens) VALUES (?, ?, ?, ?, 1, 1, 0, 0, ?, ?, 1)",
            (document, ordinal, path, json.dumps(headings), text, derived(text, title=title, headings=headings)),
        )


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)
    yield connection
    connection.close()


@pytest.fixture
def fill(connection: sqlite3.Connection) -> Fill:
    """A library of one-passage documents, named a, b, c … in the order given."""

    def fill_with(*texts: str) -> sqlite3.Connection:
        for number, text in enumerate(texts):
            add(connection, chr(ord("a") + number), text)
        return connection

    return fill_with


def paths(connection: sqlite3.Connection, query: str, limit: int = 10) -> list[str]:
    found = keyword.search(connection, query, limit=limit)
    select = "SELECT d.path FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.id = ?"
    return [connection.execute(select, (passage,)).fetchone()[0] for passage, _ in found]


FILLER = ("nothing of the kind", "some other matter", "a third thing")


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("C++", "written in C++", "written in C"),
        ("C#", "written in C#", "written in C"),
        (".NET", "runs on .NET", "a fishing net"),
        ("foo_bar", "calls FooBar", "calls barfoo"),
        ("foo_bar", "the foo-bar option", "calls fool"),
        ("FooBar", "calls foo_bar", "calls food"),
        ("FooBar", "calls foo.bar", "calls bart"),
        ("foo-bar", "calls FooBar", "calls fobar"),
        ("foobar", "calls foo_bar", "calls bar"),
        ("server", "raises HTTPServerError", "raises HTTPError"),
        ("ORA-00942", "failed with ORA-00942", "failed with 942"),
        ("E1234", "code E1234", "code E1235"),
        ("0x80070005", "code 0x80070005", "code 0x80070006"),
        ("e-mail", "send an email", "send a parcel"),
        ("email", "send an e-mail", "send a parcel"),
        ("deploying", "we deploy daily", "we test daily"),
        ("deplo*", "the deployment", "the decline"),
        ("operati*", "one operation", "one opera"),
        ("documentat*", "no documentation", "no documentary"),
        ("合約", "中文合約轉換", "中文轉換"),
        ("合", "中文合約轉換", "中文轉換"),
        ("換", "中文合約轉換", "中文合約"),
        ("東京", "東京タワーへ行く", "京都へ行く"),
        ("검색", "한국어검색엔진", "한국어엔진"),
        ("ยา", "เขากินยาแล้ว", "เขากินข้าว"),
        ("Python", "使用Python編程", "使用語言編程"),
        ("हिन्दी", "यह हिन्दी है", "यह भाषा है"),
        ("resume", "her résumé", "her letter"),
        ("елка", "новая ёлка", "новая белка"),
        ("file", "the ﬁle", "the folder"),
        ('"gateway timeout"', "a gateway timeout", "timeout of a gateway"),
        ('"合約轉換"', "中文合約轉換", "轉換合約"),
        ('"使用Python"', "他使用Python編程", "Python使用"),
    ],
)
def test_a_query_finds_the_one_and_not_the_other(fill: Fill, query: str, text: str, other: str) -> None:
    assert paths(fill(text, other, *FILLER), query) == ["a"]


def test_a_word_in_the_title_or_a_heading_weighs_more(connection: sqlite3.Connection) -> None:
    add(connection, "a", "about the gateway of the house")
    add(connection, "b", "about the walls of the house", title="Gateway")
    add(connection, "c", "about the walls of the house", headings=("Gateway",))
    for path in "defgh":
        add(connection, path, "about the roof of a house")
    assert set(paths(connection, "gateway")) == {"a", "b", "c"}
    assert paths(connection, "gateway")[-1] == "a"


def test_a_chinese_title_is_found(connection: sqlite3.Connection) -> None:
    add(connection, "a", "text", title="合約轉換")
    assert paths(connection, "轉換") == ["a"]


def test_excluded_words_and_phrases_are_left_out(fill: Fill) -> None:
    fill("gateway in staging", "gateway with blue green", "gateway alone", "合約 gateway")
    connection = fill()
    assert paths(connection, 'gateway -staging -"blue green" -合約') == ["c"]
    assert keyword.search(connection, "-staging", limit=5) == []


def test_a_phrase_beside_words_must_occur_and_is_a_quotation_where_it_occurs_nowhere(fill: Fill) -> None:
    connection = fill("gateway timeout seen", "gateway error", "timeout error", *FILLER)
    assert paths(connection, 'error "gateway timeout"') == ["a"]
    assert set(paths(connection, 'error "timeout gateway"')) == {"a", "b", "c"}
    assert "phrase" in keyword.read(connection, 'error "timeout gateway"').notes[0]
    assert paths(connection, '"timeout gateway"') == []


def test_the_condition_for_other_searches_holds_phrases_and_exclusions(fill: Fill) -> None:
    connection = fill("gateway timeout", "gateway timeout staging", "else")
    condition, bound = keyword.condition_sql('"gateway timeout" -staging') or ("", [])
    assert [row[0] for row in connection.execute(f"SELECT id FROM passages WHERE {condition}", bound)] == [1]
    assert keyword.condition_sql("gateway timeout") is None


def test_equal_scores_are_ordered_by_path_then_ordinal(connection: sqlite3.Connection) -> None:
    for path in ("z", "m", "a"):
        add(connection, path, *["same words here"] * 30)
    found = keyword.search(connection, "words", limit=40)
    select = "SELECT d.path, p.ordinal FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.id = ?"
    places = [connection.execute(select, (passage,)).fetchone() for passage, _ in found]
    assert places == [("a", ordinal) for ordinal in range(30)] + [("m", ordinal) for ordinal in range(10)]


def test_the_filter_is_applied_before_the_best_are_taken(fill: Fill) -> None:
    connection = fill(*["gateway gateway"] * 20, "one gateway among many other words that make it worse")
    allowed = ("SELECT id FROM documents WHERE path = ?", ("u",))
    assert [passage for passage, _ in keyword.search(connection, "gateway", allowed_sql=allowed, limit=1)] == [21]


def test_a_library_of_one_passage_still_finds_it(fill: Fill) -> None:
    connection = fill("the gateway")
    ((passage, score),) = keyword.search(connection, "gateway", limit=3)
    assert passage == 1
    assert score > 0


def test_scores_fall_from_first_to_last(fill: Fill) -> None:
    connection = fill("gateway", "gateway timeout", "timeout of many things and more", *FILLER)
    scores = [score for _, score in keyword.search(connection, "gateway timeout", limit=10)]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)


def test_a_limit_below_one_is_refused(connection: sqlite3.Connection) -> None:
    with pytest.raises(QueryError, match="limit: got 0, want 1 or more"):
        keyword.search(connection, "x", limit=0)


ODD = ["C++", "AND", "a OR", "NOT x", "NEAR(a b)", "foo(", "e-mail", '"', 'a"b', "*", "a*b", ":", "text:x", "^x", "{a}", "\0", "'"]


@pytest.mark.parametrize(
    "query", [*ODD, "x" * 100_000, "word " * 20_000, "a-b " * 5000, '"a" ' * 3000, "-a " * 3000, "合約" * 9000]
)
def test_odd_and_long_queries_are_safe(fill: Fill, query: str) -> None:
    connection = fill("some text", "C++ e-mail 合約")
    assert len(keyword.search(connection, query, limit=5)) <= 2
    assert keyword.spans(query, "some text") is not None


SIGNS = st.text(alphabet=st.sampled_from('ab合ย"*-+#.:()^{}NOT ANDOR\0\ud800é_'))
LIKE_QUERIES = st.from_regex(r'(-?"?\w+"?\*? ?){1,8}')


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.one_of(st.text(), SIGNS, LIKE_QUERIES))
def test_any_text_is_a_safe_query(connection: sqlite3.Connection, query: str) -> None:
    if connection.execute("SELECT count(*) FROM documents").fetchone()[0] == 0:
        add(connection, "a", "a b 合約 ยาดี C++ fooBar")
    assert len(keyword.search(connection, query, limit=5)) <= 1
    assert all(start < end for start, end in keyword.spans(query, "a b 合約 ยาดี C++ fooBar"))


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("running", "He runs and ran.", ("runs",)),
        ("config*", "The configuration, configured.", ("configuration", "configured")),
        ("operati*", "an operation", ("operation",)),
        ('"gateway timeout"', "Gateway timeouts, then a gateway", ("Gateway timeouts",)),
        ("合約 換", "中文合約轉換", ("合約", "換")),
        ("合約轉", "中文合約轉換", ("合約轉",)),
        ("ยา", "กินยาแล้ว", ("ยา",)),
        ("foo_bar", "FooBar, foo-bar and foo_bar", ("FooBar", "foo-bar", "foo_bar")),
        ("C++", "C++ or C", ("C++",)),
        ("email", "an e-mail", ("e-mail",)),
        ("resume", "her résumé", ("résumé",)),
        ("file", "the ﬁle", ("ﬁle",)),
        ("gateway -staging", "gateway in staging", ("gateway",)),
        ("x", "\x01x\x02 \x00x", ("x",)),
        ("absent", "nothing here", ()),
        ("", "nothing here", ()),
    ],
)
def test_matched_words_stand_as_in_the_text(query: str, text: str, words: tuple[str, ...]) -> None:
    assert keyword.matched_words(query, text) == words


def test_spans_are_ascending_and_disjoint() -> None:
    text = "gateway_timeout, GatewayTimeout and a gateway timeout 合約轉換"
    spans = keyword.spans(parse('gateway_timeout gateway "gateway timeout" 合約轉換'), text)
    assert [text[start:end] for start, end in spans][:2] == ["gateway_timeout", "GatewayTimeout"]
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


# What a passage holds of a query


def test_coverage_is_the_share_of_the_query_weighed_by_rarity(fill: Fill) -> None:
    connection = fill("gateway timeout", "gateway", "cache", "cold cache", "cold start")
    # 5 passages: gateway in 2, idf ln(3.5 / 2.5) = .3365; timeout in 1, ln(4.5 / 1.5) = 1.0986; nowhere: ln(5.5 / .5) = 2.3979.
    held = keyword.coverage(connection, parse("gateway timeout"), [1, 2, 3])
    assert held == pytest.approx({1: 1.0, 2: 0.3365 / (0.3365 + 1.0986)}, abs=1e-4)
    unknown = keyword.coverage(connection, parse("gateway nonsense"), [1, 2, 3])
    assert unknown == pytest.approx({1: 0.3365 / 2.7344, 2: 0.3365 / 2.7344}, abs=1e-4)


def test_coverage_does_not_grow_with_the_number_of_times_a_word_occurs(fill: Fill) -> None:
    held = keyword.coverage(fill("gateway", "gateway gateway gateway", "other", "more"), parse("gateway timeout"), [1, 2])
    assert held[1] == held[2]


def test_coverage_counts_a_word_as_often_as_it_is_said_and_phrases_too(fill: Fill) -> None:
    connection = fill("gateway", "timeout", "cold start", "x", "y")
    twice = keyword.coverage(connection, parse("gateway gateway timeout"), [1, 2])
    assert twice == pytest.approx({1: 2 / 3, 2: 1 / 3})
    assert keyword.coverage(connection, parse('"cold start" gateway'), [1, 3]) == pytest.approx({1: 0.5, 3: 0.5})


@pytest.mark.parametrize("query", ["", "...", "-gateway"])
def test_without_words_nothing_is_covered(fill: Fill, query: str) -> None:
    assert keyword.coverage(fill("gateway"), parse(query), [1]) == {}


@pytest.mark.parametrize(
    ("query", "allowed", "count"), [("gateway", None, 2), ("gateway", "a", 1), ("gateway cache", None, 3), ("", None, 0)]
)
def test_all_hits_are_counted_within_what_is_allowed(fill: Fill, query: str, allowed: str | None, count: int) -> None:
    connection = fill("gateway timeout", "gateway", "cache")
    select = None if allowed is None else ("SELECT id FROM documents WHERE path = ?", [allowed])
    assert keyword.count(connection, parse(query), allowed_sql=select) == count
