"""What `search.filters` promises: each filter and operator, any value safe, filters applied before the best are picked."""

from __future__ import annotations

import json
import operator
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from standin import StandIn

from search import Condition, FilterError, Filters, Library, connections, store, upkeep
from search.filters import compile_filters, parse_condition
from search.store import DocumentRecord

Write = Callable[[str, str], Path]

NOTES: dict[str, dict[str, Any]] = {
    "runbooks/gateway.md": {
        "category": "Runbooks",
        "author": "Mara Lind",
        "language": "en",
        "tags": ["Postgres", "on-call"],
        "date": "2026-09-03",
        "severity": "high",
        "minutes": 30,
        "reviewed": True,
        "teams": ["platform", "Payments"],
        "version": "1.10",
        "order": "12345678901234567890123",
        "due": "2023-05-01",
        "extra": {"serves": 4, "größe": {"long-name": ["a", "b"]}},
        "code": "007",
    },
    "runbooks/cache.md": {
        "category": "runbooks",
        "author": "Jo Ek",
        "language": "en",
        "tags": ["redis"],
        "date": "2026-10-01",
        "severity": "low",
        "minutes": 45,
        "reviewed": False,
        "teams": ["data"],
        "sizes": [1, 20],
    },
    "übersicht/plan.md": {
        "category": "Übersicht",
        "author": "Ömer Åkesson",
        "language": "de",
        "tags": ["größe"],
        "date": "2025-01-31",
        "minutes": "fünf",
    },
    "misc/bare.txt": {},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    place = tmp_path_factory.mktemp("filters")
    for path, front in NOTES.items():
        file = place / "notes" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        head = f"---\ntitle: About {Path(path).stem}\n{_yaml(front)}---\n" if front else ""
        file.write_text(f"{head}The text of {path} speaks of timeouts.\n", encoding="utf-8")
    upkeep.index(place / "library.db", [place / "notes"], StandIn())
    with Library.open(place / "library.db", embedder=StandIn()) as opened:
        yield opened


def _yaml(front: Mapping[str, Any]) -> str:
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in front.items())


def passing(library: Library, filters: Filters) -> set[str]:
    page = library.filter_documents(filters, limit=100, today=date(2026, 10, 15))
    assert page.total == len(page.items)
    return {Path(document.path).stem for document in page.items}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), {"gateway", "cache", "plan", "bare"}),
        (Filters(category=("RUNBOOKS",)), {"gateway", "cache"}),
        (Filters(category=("übersicht",)), {"plan"}),
        (Filters(category=("ÜBERSICHT", "misc")), {"plan", "bare"}),
        (Filters(category=("runbook",)), set()),
        (Filters(tags=("POSTGRES",)), {"gateway"}),
        (Filters(tags=("postgres", "on-call")), {"gateway"}),
        (Filters(tags=("postgres", "redis")), set()),
        (Filters(tags=("GRÖSSE",)), {"plan"}),
        (Filters(source=("runbooks/*.md",)), {"gateway", "cache"}),
        (Filters(source=("*.txt", "übersicht/*")), {"bare", "plan"}),
        (Filters(source=("gate",)), {"gateway"}),
        (Filters(source=("runbooks/?ache.md",)), {"cache"}),
        (Filters(source=("RUNBOOKS/*",)), set()),
        (Filters(format=("Markdown",)), {"gateway", "cache", "plan"}),
        (Filters(author=("mara lind",)), {"gateway"}),
        (Filters(author=("ömer åkesson", "jo ek")), {"plan", "cache"}),
        (Filters(language=("EN",)), {"gateway", "cache"}),
        (Filters(title="ABOUT g"), {"gateway"}),
        (Filters(title="%"), set()),
        (Filters(documents=frozenset()), set()),
        (Filters(category=("runbooks",), author=("Jo Ek",)), {"cache"}),
    ],
)
def test_each_filter(library: Library, filters: Filters, expected: set[str]) -> None:
    assert passing(library, filters) == expected
    assert library.count_documents(filters) == {"total": len(expected)}


def test_documents_are_stayed_within(library: Library) -> None:
    wanted = library.document("runbooks/cache.md").id
    assert passing(library, Filters(documents=frozenset({wanted, 10**12}))) == {"cache"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(within=Filters()), {"gateway", "cache", "plan", "bare"}),
        (Filters(within=Filters(category=("runbooks",))), {"gateway", "cache"}),
        (Filters(category=("misc",), within=Filters(category=("runbooks",))), set()),
        (Filters(author=("Jo Ek", "Ömer Åkesson"), within=Filters(category=("runbooks",))), {"cache"}),
        (Filters(after="2026-09-15", within=Filters(after="2025-01-01", before="2026-09-15")), set()),
        (Filters(title="g", within=Filters(tags=("redis",), within=Filters(language=("en",)))), set()),
        (Filters(title="c", within=Filters(tags=("redis",), within=Filters(language=("en",)))), {"cache"}),
    ],
)
def test_within_other_filters_both_must_hold(library: Library, filters: Filters, expected: set[str]) -> None:
    assert passing(library, filters) == expected


def test_filters_within_filters_are_bounded() -> None:
    filters = Filters()
    for _ in range(2000):
        filters = Filters(category=("a",), within=filters)
    with pytest.raises(FilterError, match="within: got filters within filters more than 50 deep"):
        compile_filters(filters)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("severity=high", {"gateway"}),
        ("SEVERITY = HIGH", {"gateway"}),
        ("metadata.severity=high", {"gateway"}),
        ("severity!=high", {"cache", "plan", "bare"}),
        ("minutes=30", {"gateway"}),
        ("minutes!=30", {"cache", "plan", "bare"}),
        ("minutes>=30", {"gateway", "cache"}),
        ("minutes>30", {"cache"}),
        ("minutes<30.5", {"gateway"}),
        ("minutes<=45", {"gateway", "cache"}),
        ("minutes<5", set()),
        ("minutes>-1", {"gateway", "cache"}),
        ("minutes=fünf", {"plan"}),
        ("minutes=FÜNF", {"plan"}),
        ("minutes in 30, fünf", {"gateway", "plan"}),
        ("metadata.severity in (high, low)", {"gateway", "cache"}),
        ("severity IN [high]", {"gateway"}),
        ("severity>high", {"cache"}),
        ("severity<LOW", {"gateway"}),
        ("reviewed=true", {"gateway"}),
        ("reviewed=False", {"cache"}),
        ("reviewed!=true", {"cache", "plan", "bare"}),
        ("reviewed in true, false", {"gateway", "cache"}),
        ("teams=payments", {"gateway"}),
        ("teams!=payments", {"cache", "plan", "bare"}),
        ("teams in data, platform", {"gateway", "cache"}),
        ("sizes=20", {"cache"}),
        ("sizes>=20", {"cache"}),
        ("sizes>20", set()),
        ("version=1.1", {"gateway"}),
        ("version>=1", {"gateway"}),
        ("code=007", {"gateway"}),
        ("code='007'", {"gateway"}),
        ("code=7", set()),
        ("minutes=3e1", {"gateway"}),
        ("minutes>=3.1E+1", {"cache"}),
        ("minutes>.5", {"gateway", "cache"}),
        ("minutes<1e400", {"gateway", "cache"}),
        ("minutes<12345678901234567890", {"gateway", "cache"}),
        ("order=12345678901234567890123", {"gateway"}),
        ("order=12345678901234567890124", set()),
        ("order>12345678901234567", {"gateway"}),
        ("due>=2023", {"gateway"}),
        ("due<=2023", {"gateway"}),
        ("due>2023", set()),
        ("due=2023-05", {"gateway"}),
        ("due<2023-05-02", {"gateway"}),
        ("due>=2024", set()),
        ("extra.serves=4", {"gateway"}),
        ("EXTRA.serves>4", set()),
        ("extra.größe.long-name=b", {"gateway"}),
        ("serves=4", set()),
        ("extra.serves!=4", {"cache", "plan", "bare"}),
        ("nothing=here", set()),
        ("nothing!=here", {"gateway", "cache", "plan", "bare"}),
        ("nothing>=0", set()),
        ("nothing<zzz", set()),
    ],
)
def test_each_condition_on_front_matter(library: Library, typed: str, expected: set[str]) -> None:
    assert passing(library, Filters(metadata=(parse_condition(typed),))) == expected


def test_conditions_from_programs_have_types(library: Library) -> None:
    assert passing(library, Filters(metadata=(Condition("reviewed", "=", True),))) == {"gateway"}
    assert passing(library, Filters(metadata=(Condition("reviewed", "=", False),))) == {"cache"}
    assert passing(library, Filters(metadata=(Condition("minutes", "=", 10**30),))) == set()
    assert passing(library, Filters(metadata=(Condition("minutes", "<", float("inf")),))) == {"gateway", "cache"}


@pytest.mark.parametrize(
    "typed", ["", "severity", "=high", "severity=", "a b=c", "se'v=x", "severity in ,", "k~v", "in a, b", "n>=", "n= "]
)
def test_a_condition_that_is_not_understood_is_refused_with_the_operators(typed: str) -> None:
    with pytest.raises(FilterError, match="where: got") as caught:
        parse_condition(typed)
    assert caught.value.exit_code == 2
    assert "KEY" in str(caught.value) + caught.value.hint


@pytest.mark.parametrize(("operator", "meant"), [("==", "="), ("<>", "!="), ("=>", ">="), ("=<", "<="), ("~", "=")])
def test_an_operator_of_another_language_is_answered_with_ours(operator: str, meant: str) -> None:
    with pytest.raises(FilterError, match=f"want KEY{meant}VALUE: there is no operator '{operator}'"):
        parse_condition(f"n{operator}5")
    assert parse_condition(f'n="{operator}5"') == Condition("n", "=", f"{operator}5")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_names_are_the_same_however_their_accents_are_written(tmp_path: Path, form: Any, typed: Any) -> None:
    def as_typed(text: str) -> str:
        return unicodedata.normalize(typed, text)

    file = tmp_path / "notes" / unicodedata.normalize(form, "Bücher/é.md")
    file.parent.mkdir(parents=True)
    head = "author: Zoë\ntags: [größe]\nstimmung: übel\n"
    file.write_text(unicodedata.normalize(form, f"---\ntitle: Café\n{head}---\nText\n"), "utf-8")
    upkeep.index(tmp_path / "library.db", [tmp_path / "notes"], StandIn())
    with Library.open(tmp_path / "library.db") as library:
        for filters in (
            Filters(category=(as_typed("bücher"),)),
            Filters(author=(as_typed("zoë"),)),
            Filters(tags=(as_typed("GRÖßE"),)),
            Filters(title=as_typed("fé")),
            Filters(source=(as_typed("bücher/é*").replace("b", "B"),)),
            Filters(metadata=(Condition("stimmung", "=", as_typed("Übel")),)),
        ):
            assert len(passing(library, filters)) == 1, filters
        assert library.document(as_typed("é.md")).id == library.document(as_typed(f"{tmp_path}/notes/Bücher/é.md")).id
        assert library.count_documents(group_by="category") == {unicodedata.normalize("NFC", "Bücher"): 1}


@pytest.mark.parametrize(
    "condition",
    [Condition("a b", "=", "x"), Condition("", "=", "x"), Condition("x' OR 1 --", "=", "x"), Condition("k" * 101, "=", "")],
)
def test_a_key_that_is_no_name_is_refused(library: Library, condition: Condition) -> None:
    with pytest.raises(FilterError, match="key"):
        passing(library, Filters(metadata=(condition,)))


def test_an_operator_that_is_none_is_refused(library: Library) -> None:
    with pytest.raises(FilterError, match="operators"):
        passing(library, Filters(metadata=(Condition("severity", "OR 1=1 --", "x"),)))  # type: ignore[arg-type]
    with pytest.raises(FilterError, match="operators"):
        passing(library, Filters(metadata=(Condition("severity", ">", ("a", "b")),)))


# Dates


@pytest.fixture
def dated(write: Write, folder: Path, library_file: Path) -> Iterator[Library]:
    """Three documents whose three dates differ."""
    write("a.md", "---\ndate: 2026-09-10\n---\ntext")
    write("b.md", "---\ndate: 2026-08-31\n---\ntext")
    write("c.md", "---\ndate: 2025-01-01\n---\ntext")
    upkeep.index(library_file, [folder], StandIn())
    with closing(sqlite3.connect(library_file)) as connection:
        for path, modified, created in (
            ("a.md", "2026-10-14", None),
            ("b.md", "2026-09-30", "2026-09-01"),
            ("c.md", "2026-10-15", "2024-02-29"),
        ):
            connection.execute("UPDATE documents SET modified = ?, created = ? WHERE path = ?", (modified, created, path))
        connection.commit()
    with Library.open(library_file) as opened:
        yield opened


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(during="last month"), {"a"}),
        (Filters(during="2026-08-31"), {"b"}),
        (Filters(after="2026-08-31"), {"a", "b"}),
        (Filters(before="2026-08-31"), {"c"}),
        (Filters(after="2026-08-01", before="2026-09-10"), {"b"}),
        (Filters(during="last month", date_field="modified"), {"b"}),
        (Filters(during="last month", date_field="created"), {"b"}),
        (Filters(during="changed yesterday"), {"a"}),
        (Filters(during="Updated last month"), {"b"}),
        (Filters(during="modified 2026-10-15"), {"c"}),
        (Filters(after="edited 2026-10-14"), {"a", "c"}),
        (Filters(during="created 2024"), {"c"}),
        (Filters(before="created 2026-01-01"), {"c"}),
        (Filters(during="1999"), set()),
    ],
)
def test_dates_test_the_field_that_is_meant(dated: Library, filters: Filters, expected: set[str]) -> None:
    assert passing(dated, filters) == expected


def test_the_resolved_range_and_its_field_are_told(dated: Library) -> None:
    resolved, field = dated.resolved_dates(Filters(during="changed last month"), today=date(2026, 10, 15))
    assert resolved is not None
    assert (resolved.start, resolved.end, field) == ("2026-09-01", "2026-09-30", "modified")
    assert dated.resolved_dates(Filters(category=("x",))) == (None, "date")


@pytest.mark.parametrize(
    "filters",
    [
        Filters(during="the day the music died"),
        Filters(after="2026-13-45"),
        Filters(during="changed"),
        Filters(before="  created  "),
        Filters(during="' OR 1=1 --"),
        Filters(during="2026", date_field="id; DROP TABLE documents"),  # type: ignore[arg-type]
    ],
)
def test_a_date_that_is_not_understood_is_refused(dated: Library, filters: Filters) -> None:
    with pytest.raises(FilterError) as caught:
        passing(dated, filters)
    assert caught.value.exit_code == 2
    assert len(passing(dated, Filters())) == 3


# Any value is safe

HOSTILE = [
    "' OR 1=1 --",
    '" OR ""="',
    "x'); DROP TABLE documents; --",
    "%",
    "_",
    "*",
    "[",
    "[^",
    "[a-",
    "]",
    "\\",
    "?1",
    ":x",
    "@p",
    "$.a",
    "{}",
    "[]",
    "NULL",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
    "😀" * 50,
    "x" * 1000,
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["category", "tags", "format", "author", "language", "title", "where", "in"])
def test_a_hostile_value_is_a_value(library: Library, field: str, value: str) -> None:
    filters = {
        "title": Filters(title=value),
        "where": Filters(metadata=(Condition("severity", "=", value),)),
        "in": Filters(metadata=(Condition("severity", "in", (value, value)),)),
    }.get(field) or replace(Filters(), **{field: (value,)})
    assert passing(library, filters) == set()
    library.keyword_search("timeouts", filters)
    library.vector_search("timeouts", filters)
    assert len(passing(library, Filters())) == 4


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_glob_matches_as_a_glob(library: Library, value: str) -> None:
    expected = {"gateway", "cache", "plan", "bare"} if value == "*" else set()
    assert passing(library, Filters(source=(value,))) == expected


@pytest.mark.parametrize("field", ["category", "tags", "source", "author", "title", "where", "in"])
@pytest.mark.parametrize("value", ["x" * 1001, "a\udcffb", "\ud800", "\0", "a\0b"])
def test_what_no_library_can_hold_is_refused(library: Library, field: str, value: str) -> None:
    filters = {
        "title": Filters(title=value),
        "where": Filters(metadata=(Condition("severity", "=", value),)),
        "in": Filters(metadata=(Condition("severity", "in", (value,)),)),
    }.get(field) or replace(Filters(), **{field: (value,)})
    if field == "source" and value == "a\udcffb":
        assert passing(library, filters) == set()  # a name in another encoding can be asked for
        return
    with pytest.raises(FilterError, match="want 1000 characters"):
        passing(library, filters)


@pytest.mark.parametrize("field", ["category", "tags", "source", "format", "author", "language"])
def test_500_values_are_taken_and_501_refused(library: Library, field: str) -> None:
    passing(library, replace(Filters(), **{field: tuple(f"{n}*" for n in range(500))}))
    with pytest.raises(FilterError, match="got 501 values, want 500 at most"):
        passing(library, replace(Filters(), **{field: tuple(f"{n}*" for n in range(501))}))


def test_the_most_that_is_allowed_is_no_error(library: Library) -> None:
    many = tuple(f"{number}*" for number in range(500))
    conditions = tuple(Condition("severity", "in", many) for _ in range(250))
    filters = Filters(
        many, many[:250], many, many, many, many, "x", "2020", "2030", None, "date", conditions, frozenset(range(9999))
    )
    assert passing(library, filters) == set()
    with pytest.raises(FilterError, match="501 values"):
        passing(library, replace(filters, tags=many[:251]))
    with pytest.raises(FilterError, match="got 501 values"):
        passing(library, Filters(metadata=(Condition("severity", "in", ("x",) * 501),)))


# Against a plain model

WORDS = st.sampled_from(["a", "A", "b", "aB", "ä", "Ä", "ж", "a%b", "a_b", "a'b", "[a]", "a*", "日本", ""])
VALUES = st.one_of(WORDS, st.integers(-3, 40), st.sampled_from([0.5, 1.5, 30.0]), st.booleans(), st.none())
METADATA = st.dictionaries(st.sampled_from(["k", "K2", "x-y", "ü"]), VALUES | st.lists(VALUES, max_size=3), max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    optional = st.none() | WORDS
    return {
        "title": draw(WORDS),
        "category": draw(optional),
        "author": draw(optional),
        "language": draw(optional),
        "format": draw(WORDS),
        "tags": tuple(draw(st.lists(WORDS, max_size=2, unique_by=str.casefold))),
        "folder": draw(st.sampled_from(["a", "A", "ab", "ä", "x y"])),
        "date": draw(st.none() | st.dates(date(2025, 12, 28), date(2026, 1, 5)).map(str)),
        "metadata": draw(METADATA),
    }


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    key = draw(st.sampled_from(["k", "K", "k2", "x-y", "Ü", "none"]))
    if draw(st.booleans()):
        return Condition(key, "in", tuple(draw(st.lists(WORDS, min_size=1, max_size=3))))
    wanted = draw(st.one_of(WORDS, st.integers(-3, 40), st.sampled_from([0.5, 30.0]), st.booleans()))
    return Condition(key, draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), wanted)


@st.composite
def wishes(draw: st.DrawFn) -> Filters:
    some = st.lists(WORDS, max_size=2).map(tuple)
    day = st.none() | st.dates(date(2025, 12, 28), date(2026, 1, 5)).map(str)
    return Filters(
        category=draw(some),
        tags=draw(some),
        source=draw(st.lists(st.sampled_from(["a*", "?/*", "a/", "*[aä]/*", "x y", "*"]), max_size=2).map(tuple)),
        author=draw(some),
        format=draw(some),
        title=draw(st.none() | WORDS),
        after=draw(day),
        before=draw(day),
        metadata=tuple(draw(st.lists(conditions(), max_size=2))),
    )


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def text_of(value: Any) -> str:
    return str(value).casefold()


def fulfils(condition: Condition, metadata: Mapping[str, Any]) -> bool:
    if condition.operator == "!=":
        return not fulfils(replace(condition, operator="="), metadata)
    held = [value for key, value in metadata.items() if key.casefold() == condition.key.casefold()]
    members = [member for value in held for member in (value if isinstance(value, list) else [value]) if member is not None]
    if condition.operator == "in":
        assert isinstance(condition.value, tuple)
        return any(text_of(member) in {text_of(value) for value in condition.value} for member in members)
    compare = COMPARE[condition.operator]
    if isinstance(condition.value, int | float) and not isinstance(condition.value, bool):
        numbers = [member for member in members if isinstance(member, int | float) and not isinstance(member, bool)]
        return any(compare(number, condition.value) for number in numbers)
    return any(compare(text_of(member).encode(), text_of(condition.value).encode()) for member in members)


def passes(document: Mapping[str, Any], filters: Filters) -> bool:
    path = f"{document['folder']}/{document['number']}"
    checks = [
        not wanted or (document[name] is not None and document[name].casefold() in {value.casefold() for value in wanted})
        for name, wanted in (("category", filters.category), ("author", filters.author), ("format", filters.format))
    ]
    tags = {tag.casefold() for tag in document["tags"]}
    globs = [glob if any(mark in glob for mark in "*?[") else f"*{glob}*" for glob in filters.source]
    return (
        all(checks)
        and all(tag.casefold() in tags for tag in filters.tags)
        and (not globs or any(fnmatchcase(path, glob) for glob in globs))
        and (not filters.title or filters.title.casefold() in document["title"].casefold())
        and (not filters.after or (document["date"] or "") >= filters.after)
        and (not filters.before or (document["date"] is not None and document["date"] < filters.before))
        and all(fulfils(condition, document["metadata"]) for condition in filters.metadata)
    )


def record(document: Mapping[str, Any]) -> DocumentRecord:
    return DocumentRecord(
        root=1,
        path=f"{document['folder']}/{document['number']}",
        **{name: document[name] for name in ("title", "format", "category", "author", "language", "date", "tags", "metadata")},
        created=None,
        modified=None,
        date_source=None,
        content_hash=None,
        size=0,
        mtime_ns=None,
        ctime_ns=None,
        pages=None,
        text_status="ok",
        encoding="",
        indexed_at="2026-01-01T00:00:00Z",
    )


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with closing(connections.open_for_writing(tmp_path_factory.mktemp("model") / "library.db")) as connection:
        connection.execute("INSERT INTO _roots(id, path, whole, max_bytes) VALUES (1, '/r', 1, 1)")
        yield connection


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(documents(), max_size=6), wishes(), st.none() | wishes())
@example([{**dict.fromkeys(["category", "author", "language", "date"]), "title": "", "format": "a", "tags": (), "folder": "a",
           "metadata": {"k": [True, 1]}}],
         Filters(metadata=(Condition("k", "=", True), Condition("k", ">=", 1))), None)  # fmt: skip
def test_filters_do_what_a_plain_model_does(
    empty: sqlite3.Connection, held: list[dict[str, Any]], filters: Filters, within: Filters | None
) -> None:
    held = [{**document, "number": number} for number, document in enumerate(held)]
    # a range that ends before it begins is refused, which has its own tests
    if filters.after and filters.before and filters.after >= filters.before:
        filters = replace(filters, before=None)
    if within is not None:
        within = replace(within, before=None)
        filters = replace(filters, within=within)
    empty.execute("BEGIN")
    try:
        ids = {store.replace_document(empty, record(document)): document["number"] for document in held}
        select, parameters = compile_filters(filters).without(None)
        found = {ids[row[0]] for row in empty.execute(select, parameters)}
    finally:
        empty.execute("ROLLBACK")
    expected = [document for document in held if within is None or passes(document, within)]
    assert found == {document["number"] for document in expected if passes(document, filters)}


@given(st.text(max_size=60))
@example("a in b")
@example("a<=")
@example("ß>=١")
@example("0<\x00")
def test_any_typed_condition_is_understood_or_refused(typed: str) -> None:
    with suppress(FilterError):
        select, _ = compile_filters(Filters(metadata=(parse_condition(typed),))).without(None)
        assert select.startswith("SELECT")


# Before the best are picked


@pytest.fixture
def crowded(write: Write, folder: Path, library_file: Path) -> Iterator[Library]:
    """300 passages that fit a query better than the only one that passes a filter."""
    for number in range(60):
        write(f"loud/{number:02}.md", "\n\n".join(f"# Part {part}\n\ngateway gateway gateway timeout" for part in range(5)))
    write("quiet/one.md", "Among very many other words of no account whatever there is one gateway here. " + "filler " * 100)
    upkeep.index(library_file, [folder], StandIn())
    with Library.open(library_file, embedder=StandIn()) as opened:
        yield opened


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_a_match_far_beyond_the_unfiltered_best_is_found(crowded: Library, mode: Any) -> None:
    unfiltered = crowded.search("gateway timeout", mode=mode, limit=50)
    assert {hit.document.category for hit in unfiltered} == {"loud"}
    for filters in (Filters(category=("quiet",)), Filters(source=("quiet/*",)), Filters(title="one")):
        hits = crowded.search("gateway timeout", filters, mode=mode, limit=1)
        assert [hit.document.path for hit in hits] == ["quiet/one.md"]


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_no_hit_is_outside_the_filters(crowded: Library, mode: Any) -> None:
    hits = crowded.search("gateway", Filters(source=("*[13579].md",), category=("loud",)), mode=mode, limit=1000)
    assert len(hits) == 150
    assert all(fnmatchcase(hit.document.path, "loud/*[13579].md") for hit in hits)
    assert crowded.search("gateway", Filters(category=("none",)), mode=mode) == []


def test_each_of_several_authors_is_found_named_and_counted(write: Write, indexed: Callable[[], Library]) -> None:
    write("both.md", '---\nauthors: ["Lovelace, Ada", Grace Hopper]\n---\ntext')
    write("one.md", "---\nauthor: Lovelace, Ada\n---\ntext")
    library = indexed()
    for name, found in (
        ("lovelace, ada", {"both", "one"}),
        ("Grace Hopper", {"both"}),
        ("Lovelace, Ada; Grace Hopper", {"both"}),
        ("Lovelace", set()),
        ("Ada", set()),
    ):
        assert passing(library, Filters(author=(name,))) == found
    assert library.notes(None, Filters(author=("Grace Hoper",))) == ['no author "Grace Hoper"; nearest: "Grace Hopper"']
    assert library.count_documents(group_by="author") == {"Lovelace, Ada": 2, "Grace Hopper": 1}


def test_a_mistyped_key_names_the_nearest(library: Library) -> None:
    for typed, nearest in (("severty", "severity"), ("extra.serve", "extra.serves")):
        notes = library.notes(None, Filters(metadata=(Condition(typed, "=", "x"),)))
        assert notes[0].startswith(f'no front matter key "{typed}"; nearest: "{nearest}"')
    assert library.notes(None, Filters(metadata=(Condition("Teams", "=", "nobody"),))) == []


@pytest.mark.parametrize("name", ["category", "tags", "source", "format", "author", "language", "hidden"])
def test_one_text_in_place_of_several_is_refused(name: str) -> None:
    with pytest.raises(FilterError, match=f"{name}: got the text 'runbooks', want a tuple"):
        Filters(**{name: "runbooks"})  # type: ignore[arg-type]
