"""What `assistant.search_tools` promises: results that explain and cite themselves, sets that chain, errors a model can act on."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from standin import StandIn

from assistant import search_tools
from assistant.messages import ToolCall
from assistant.results import RESULT_BUDGET
from assistant.tools import Ran, Toolbox
from search import Filters, Library, LibraryError, upkeep

Indexed = Callable[[], Library]
Write = Callable[[str, str], Path]
EVERYTHING = Filters()
SEARCHES = ("hybrid_search", "keyword_search", "vector_search", "find_similar")


class Asked:
    """A toolbox over a library, called as a model calls it."""

    def __init__(self, library: Library, scope: Filters = EVERYTHING, today: date | None = None) -> None:
        self.box = Toolbox(search_tools.build(library, scope, today))

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
def notes(write: Write) -> None:
    """Runbooks and a guide with front matter, one long text, one file without text."""
    front = "---\ntags: [edge, net]\nauthor: Mara Lind\ndate: 2026-09-03\nstatus: current\n---\n"
    write("runbooks/gateway.md", f"{front}# Gateway\n\n## Limits\n\nThe gateway times out.\n")
    front = "---\ntags: [edge]\nauthor: Jo Ek\ndate: 2026-10-01\nstatus: old\n---\n"
    write("runbooks/cache.md", f"{front}# Cache\n\nThe cache times out.\n")
    parts = (f"# Part {n}\n\n" + " ".join(f"p{n}w{i}" for i in range(180)) for n in range(40))
    write("guides/long.md", "---\ndate: 2026-01-05\n---\n" + "\n\n".join(parts))
    write("guides/empty.md", "")


@pytest.fixture
def library(notes: None, indexed: Indexed) -> Library:
    return indexed()


@pytest.fixture
def ask(library: Library) -> Asked:
    return Asked(library)


# Searching


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_shows_passages_that_can_be_cited(ask: Asked, name: str) -> None:
    words = {"text" if name == "find_similar" else "query": "the gateway times out"}
    done = ask.ran(name, **words, category="runbooks", after="2026-09-01", before="2026-09-30")
    value = json.loads(done.result.content)
    (hit,) = value["hits"]
    (evidence,) = done.output.evidence if done.output else ()
    assert hit == {
        "key": evidence.key,
        "source": "runbooks/gateway.md:7-11",
        "title": "Gateway",
        "headings": "Gateway > Limits",
        "date": "2026-09-03",
        "text": "# Gateway\n\n## Limits\n\nThe gateway times out.",
    }
    understood = {"category": "runbooks", "dates": "2026-09-01 to 2026-09-29 (date)"}
    assert value == {"hits": [hit], "filters": understood, "documents": 1}
    assert done.output
    assert (done.output.summary, done.output.resolved, done.output.counted) == ("1 hit in 1 document", understood, False)
    assert (evidence.path, evidence.title, evidence.date, evidence.stale) == ("runbooks/gateway.md", "Gateway", "2026-09-03", None)
    assert Path(evidence.root, evidence.path).is_file()


@pytest.mark.parametrize(
    ("narrowing", "paths"),
    [
        ({"category": "guides"}, {"guides/long.md"}),
        ({"tags": ["net"]}, {"runbooks/gateway.md"}),
        ({"tags": ["edge", "net"]}, {"runbooks/gateway.md"}),
        ({"after": "this month"}, {"runbooks/cache.md"}),
        ({"before": "2026-09-04", "after": "2026-08-01"}, {"runbooks/gateway.md"}),
        (
            {"category": "", "tags": [], "after": "", "within": "", "before": None},
            {"guides/long.md", "runbooks/cache.md", "runbooks/gateway.md"},
        ),
    ],
)
def test_a_search_is_narrowed(ask: Asked, narrowing: dict[str, Any], paths: set[str]) -> None:
    hits = ask.value("vector_search", query="times out", limit=50, **narrowing)["hits"]
    assert {hit["source"].partition(":")[0] for hit in hits} == paths


def test_similar_documents_are_other_documents_each_once(ask: Asked, library: Library) -> None:
    passage = library.keyword_search("p3w7")[0].passage
    sources = [hit["source"].partition(":")[0] for hit in ask.value("find_similar", key=passage.key)["hits"]]
    assert sorted(sources) == ["runbooks/cache.md", "runbooks/gateway.md"]
    assert len(ask.value("find_similar", key=passage.key[:4], limit=1)["hits"]) == 1
    nothing = ask.value("find_similar", key=passage.key, category="guides")
    assert nothing["why"] == ["no other document with text passes the filters"]


@pytest.mark.parametrize("name", SEARCHES[:3])
def test_nothing_found_says_which_filter_removed_what_and_what_to_widen(ask: Asked, name: str) -> None:
    done = ask.ran(name, query="gateway", category="guides", tags=["net"])
    assert json.loads(done.result.content) == {
        "found": 0,
        "why": ["no document passes all filters; without 'tag net' 2 of 4 would"],
        "advice": "leave out or widen: category, tags",
        "filters": {"category": "guides", "tags": "net"},
    }
    assert done.output
    assert done.output.summary == "nothing found"


def test_a_result_stays_within_its_budget_and_says_how_to_read_on(ask: Asked) -> None:
    done = ask.ran("vector_search", query="p1w1", limit=50)
    value = json.loads(done.result.content)
    assert len(done.result.content) <= RESULT_BUDGET
    assert value["cut"].endswith("text shortened; read_document with the key reads on")
    assert all(hit["text"].endswith(" …") for hit in value["hits"] if hit["source"].startswith("guides"))
    assert done.output
    assert [e.key for e in done.output.evidence] == [hit["key"] for hit in value["hits"]]
    assert any(len(e.text) > 800 for e in done.output.evidence)


def test_the_model_gets_clean_text_and_the_check_of_quotations_what_is_stored(write: Write, indexed: Indexed) -> None:
    write("a.md", "# Title\u202e here\n\nred\u2066 alert\u200b now\n")
    done = Asked(indexed()).ran("keyword_search", query="alert")
    (hit,) = json.loads(done.result.content)["hits"]
    assert hit["text"].endswith("red alert now")
    assert hit["title"] == "Title here"
    assert done.output
    assert "red\u2066 alert\u200b now" in done.output.evidence[0].text


def test_a_changed_file_is_said_to_be_stale(ask: Asked, folder: Path) -> None:
    (folder / "runbooks/gateway.md").unlink()
    done = ask.ran("keyword_search", query="gateway")
    assert json.loads(done.result.content)["hits"][0]["stale"] == "its file is gone"
    assert done.output
    assert done.output.evidence[0].stale == "its file is gone"


def test_where_search_by_meaning_is_not_possible_words_are_advised_and_the_person_is_told(
    library: Library, library_file: Path
) -> None:
    with Library.open(library_file, embedder=StandIn(revision="1" * 64)) as other:
        ask = Asked(other)
        done = ask.ran("hybrid_search", query="gateway")
        assert done.result.content == "search by meaning is not possible now; use keyword_search, which needs no model"
        assert isinstance(done.failure, LibraryError)
        assert ask.value("keyword_search", query="gateway")["hits"]


# Listing, counting, chaining


def test_documents_are_listed_with_the_exact_total_a_set_and_keys_to_cite(ask: Asked) -> None:
    done = ask.ran("filter_documents", category="runbooks", metadata=["status=old"], during="October 2026")
    value = json.loads(done.result.content)
    (document,) = value.pop("documents")
    assert value == {
        "total": 1,
        "set": "set_1",
        "filters": {"category": "runbooks", "metadata": "status = old", "dates": "2026-10-01 to 2026-10-31 (date)"},
    }
    assert document.pop("modified") > "2026"
    assert document == {
        "key": document["key"],
        "path": "runbooks/cache.md",
        "title": "Cache",
        "category": "runbooks",
        "format": "markdown",
        "author": "Jo Ek",
        "date": "2026-10-01",
        "tags": ["edge"],
    }
    assert done.output
    assert done.output.counted
    assert [e.key for e in done.output.evidence] == [document["key"]]


def test_a_list_reads_on_by_offset_and_a_document_without_text_says_why(ask: Asked) -> None:
    first = ask.value("filter_documents", limit=1)
    assert (first["total"], first["more"]) == (4, "offset 1 shows the next")
    assert first["documents"][0]["path"] == "guides/empty.md"
    assert "key" not in first["documents"][0]
    assert first["documents"][0]["no_text"].startswith("empty")
    last = ask.value("filter_documents", offset=3)
    assert len(last["documents"]) == 1
    assert "more" not in last
    beyond = ask.value("filter_documents", offset=9)
    assert beyond == {"total": 4, "set": "set_1", "more": "offset 9 lies beyond the last of 4; offset 0 shows the first"}


def test_a_long_list_is_cut_to_the_budget_and_read_on_without_a_gap(write: Write, indexed: Indexed) -> None:
    for number in range(150):
        write(
            f"{'deep/' * 20}{number:03}.md",
            f"---\ntitle: {'long ' * 40}\ntags: [{', '.join(f't{n}' for n in range(30))}]\n---\ntext\n",
        )
    ask = Asked(indexed())
    paths: list[str] = []
    while len(paths) < 150:
        value = ask.value("filter_documents", limit=100, offset=len(paths))
        paths += [document["path"] for document in value["documents"]]
        assert value.get("more") == (f"offset {len(paths)} shows the next" if len(paths) < 150 else None)
    assert paths == sorted(set(paths))


@pytest.mark.parametrize(
    ("group", "counts"),
    [
        ("category", {"guides": 2, "runbooks": 2}),
        ("tag", {"(none)": 2, "edge": 2, "net": 1}),
        ("author", {"(none)": 2, "Jo Ek": 1, "Mara Lind": 1}),
        ("text_status", {"ok": 3, "empty file": 1}),
    ],
)
def test_counts_are_exact_and_grouped(ask: Asked, group: str, counts: dict[str, int]) -> None:
    assert ask.value("count_documents", group_by=group) == {"total": 4, "set": "set_1", "counts": counts}
    assert ask.value("count_documents", title="cache") == {"total": 1, "set": "set_2", "filters": {"title": "cache"}}


def test_many_groups_are_cut_and_say_so(write: Write, indexed: Indexed) -> None:
    for number in range(70):
        write(f"{number}.md", f"---\nauthor: A{number}\n---\ntext\n")
    value = Asked(indexed()).value("count_documents", group_by="author")
    assert len(value["counts"]) == 60
    assert value["more"] == "10 smaller groups are not shown; filters narrow them down"


def test_a_set_is_what_a_search_stays_within(ask: Asked) -> None:
    assert ask.value("filter_documents", author="jo ek")["set"] == "set_1"
    assert ask.value("count_documents", category="runbooks")["set"] == "set_2"
    within = ask.value("hybrid_search", query="times out", within="set_1")
    assert [hit["source"].partition(":")[0] for hit in within["hits"]] == ["runbooks/cache.md"]
    assert within["filters"] == {"within": "set_1"}
    assert ask.value("count_documents", author="Mara Lind", within="set_2")["set"] == "set_3"
    assert ask.value("keyword_search", query="times", within="set_3")["documents"] == 1
    assert ask.value("keyword_search", query="times", category="guides", within="set_3")["found"] == 0


def test_the_same_filters_are_the_same_set(ask: Asked) -> None:
    keys = [ask.value("filter_documents", category="runbooks", limit=n)["set"] for n in (1, 2)]
    assert [*keys, ask.value("count_documents", category="runbooks", group_by="tag")["set"]] == ["set_1"] * 3


def test_a_set_stays_right_when_the_library_is_indexed_again(
    ask: Asked, write: Write, folder: Path, library: Library, embedder: StandIn
) -> None:
    ask.value("filter_documents", category="runbooks")
    (folder / "runbooks/cache.md").unlink()
    write("guides/cache.md", "# Cache\n\nThe cache times out.\n")
    write("runbooks/new.md", "# New\n\nThe proxy times out.\n")
    upkeep.index(library.path, [folder], embedder)
    hits = ask.value("keyword_search", query="times out", within="set_1")["hits"]
    assert {hit["source"].partition(":")[0] for hit in hits} == {"runbooks/gateway.md", "runbooks/new.md"}


def test_the_dates_of_a_set_are_fixed_to_the_day_it_was_made(ask: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    ask.value("filter_documents", during="last month")
    monkeypatch.setenv("ARCHIVIST_TODAY", "2026-11-20")
    hits = ask.value("keyword_search", query="times out", within="set_1")["hits"]
    assert [hit["source"].partition(":")[0] for hit in hits] == ["runbooks/gateway.md"]
    assert ask.value("filter_documents", during="last month")["documents"][0]["path"] == "runbooks/cache.md"


def test_phrases_count_from_the_day_that_was_given(library: Library) -> None:
    ask = Asked(library, today=date(2026, 10, 3))
    assert ask.value("count_documents", during="this week")["filters"]["dates"] == "2026-09-28 to 2026-10-04 (date)"


def test_which_date_is_tested_is_said(ask: Asked) -> None:
    assert ask.value("count_documents", after="2020-01-01", date_field="modified")["filters"] == {
        "dates": "2020-01-01 or later (modified)"
    }


# Reading


def test_a_document_is_read_to_its_end_without_a_gap(ask: Asked, library: Library) -> None:
    keys: list[str] = []
    arguments: dict[str, Any] = {"path": "guides/long.md"}
    while arguments:
        done = ask.ran("read_document", **arguments)
        value = json.loads(done.result.content)
        assert len(done.result.content) <= RESULT_BUDGET
        assert "cut" not in value
        keys += [passage["key"] for passage in value["passages"]]
        assert done.output
        assert [e.key for e in done.output.evidence] == [passage["key"] for passage in value["passages"]]
        more = value.get("more", "").split()
        arguments = {"path": "guides/long.md", "first_line": int(more[1])} if more[:1] == ["first_line"] else {}
        arguments = {"key": more[1]} if more[:1] == ["key"] else arguments
    assert keys == [passage.key for passage in library.passages(library.document("guides/long.md"))]


def test_one_long_line_is_read_on_by_key(write: Write, indexed: Indexed) -> None:
    write("a.txt", " ".join(f"word{n}" for n in range(3000)))
    ask = Asked(indexed())
    seen = ask.value("read_document", path="a.txt")
    texts = [passage["text"] for passage in seen["passages"]]
    while "more" in seen:
        assert seen["more"].startswith("key ")
        seen = ask.value("read_document", key=seen["more"].split()[1])
        texts += [passage["text"] for passage in seen["passages"]]
    assert " ".join(texts).split() == [f"word{n}" for n in range(3000)]


def test_lines_are_read_as_asked_for(ask: Asked, library: Library) -> None:
    value = ask.value("read_document", path="runbooks/gateway.md", first_line=9, last_line=9)
    assert (value["path"], value["title"]) == ("runbooks/gateway.md", "Gateway")
    assert value["lines"] == "7-11 of 12"
    assert "## Limits" in value["passages"][-1]["text"]
    key = library.keyword_search("p7w7")[0].passage.key
    assert "p7w7" in ask.value("read_document", key=key)["passages"][0]["text"]


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("long.md", "# Part 0\n"),
        ("guides/long.md:12-14", "# Part 2\n"),
        ("long.md:12", "# Part 2\n"),
        ("long.md p. 3", "# Part 0\n"),
    ],
)
def test_a_path_is_taken_as_results_write_it(ask: Asked, path: str, heading: str) -> None:
    value = ask.value("read_document", path=path)
    assert value["path"] == "guides/long.md"
    assert value["passages"][0]["text"].startswith(heading)


def test_reading_never_opens_the_file(ask: Asked, folder: Path) -> None:
    for file in folder.rglob("*.md"):
        file.write_text("something else")
    value = ask.value("read_document", path="runbooks/gateway.md")
    assert "The gateway times out." in value["passages"][-1]["text"]
    assert value["stale"] == "its file has changed"


def test_a_moved_key_says_so(ask: Asked, library: Library, folder: Path, embedder: StandIn) -> None:
    key = library.keyword_search("gateway")[0].passage.key
    (folder / "runbooks/gateway.md").rename(folder / "guides/gateway.md")
    upkeep.index(library.path, [folder], embedder)
    value = ask.value("read_document", key=key)
    assert value["path"] == "guides/gateway.md"
    assert value["note"] == f"{key} has moved: its key is {value['passages'][0]['key']} now"


def test_a_document_without_text_says_why(ask: Asked) -> None:
    value = ask.value("read_document", path="guides/empty.md")
    assert value["why"] == ["guides/empty.md has no text: empty file"]


# Errors a model can act on


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("keyword_search", {"query": "x", "limit": 51}, '"limit": got 51, want an integer from 1 to 50'),
        ("keyword_search", {"query": "x", "category": "runbook"}, 'did you mean "runbooks"?'),
        ("keyword_search", {"query": "  "}, '"query": got an empty one'),
        (
            "keyword_search",
            {"query": "x", "within": "set_7"},
            "\"within\": got 'set_7', want a set of this conversation (none so far",
        ),
        ("keyword_search", {"query": "x", "after": "soonish"}, "\"after\": 'soonish' is not understood"),
        ("keyword_search", {"query": "x", "before": "02/03/2026"}, '"before": 02/03/2026 could be 2026-03-02 or 2026-02-03'),
        ("keyword_search", {"query": "x", "after": "2026-05-01", "before": "2026-01-01"}, "exclude each other"),
        ("filter_documents", {"metadata": ["status"]}, "\"metadata\": got 'status', want KEY=VALUE"),
        ("filter_documents", {"limit": 101}, '"limit": got 101'),
        ("filter_documents", {"title": "x" * 2000}, '"title": got '),
        ("filter_documents", {"source": "\x00"}, '"source": got '),
        ("count_documents", {"group_by": "root"}, '"group_by": got "root", want one of "category"'),
        ("find_similar", {}, '"key": missing, want key or text'),
        ("find_similar", {"key": "abcd", "text": "x"}, '"key": missing, want key or text'),
        ("find_similar", {"key": "zzzzzzzzzz"}, "\"key\": no passage has the key 'zzzzzzzzzz'"),
        ("read_document", {}, '"key": missing, want key or path'),
        ("read_document", {"key": "../etc"}, "\"key\": got '../etc', want 4 to 10 letters"),
        ("read_document", {"path": "/etc/passwd"}, "\"path\": got '/etc/passwd', want one as a result shows it"),
        ("read_document", {"path": "guides/long.md", "first_line": 900}, '"first_line": got 900'),
        ("read_document", {"path": "guides/long.md", "first_line": 9, "last_line": 3}, '"last_line": got 3'),
    ],
)
def test_an_error_names_the_argument_first_and_what_is_wanted(ask: Asked, name: str, arguments: dict[str, Any], words: str) -> None:
    message = ask.error(name, **arguments)
    assert words in message
    assert "--" not in message
    assert "archivist " not in message


def test_an_error_about_a_filter_ends_with_a_call_that_works(ask: Asked) -> None:
    message = ask.error("keyword_search", query="gateway", limit=3, after="soonish")
    right = json.loads(message.rpartition("send JSON like ")[2])
    assert right == {"query": "gateway", "limit": 3, "after": "last month"}
    assert ask.value("keyword_search", **right)["hits"]


# Roots


def test_no_result_names_a_root(write: Write, library_file: Path, tmp_path: Path, embedder: StandIn) -> None:
    for root in ("one", "two"):
        (tmp_path / root / "sub").mkdir(parents=True)
        (tmp_path / root / "sub/same.md").write_text(f"# Same\n\nThe same words {root}.\n")
    upkeep.index(library_file, [tmp_path / "one", tmp_path / "two"], embedder)
    with Library.open(library_file, embedder=embedder) as library:
        ask = Asked(library)
        calls: list[tuple[str, dict[str, Any]]] = [
            *((name, {"query": "same words"}) for name in SEARCHES[:3]),
            ("find_similar", {"text": "same"}),
            ("filter_documents", {}),
            ("count_documents", {"group_by": "text_status"}),
            ("read_document", {"path": "sub/same.md"}),
            ("read_document", {"path": "same.md"}),
            ("read_document", {"key": "zzzz"}),
            ("keyword_search", {"query": "zzz"}),
        ]
        for name, arguments in calls:
            content = ask.ran(name, **arguments).result.content
            assert str(tmp_path) not in content
        assert "fits several documents" in ask.error("read_document", path="same.md")


def test_a_name_that_was_made_harmless_means_the_stored_one(write: Write, indexed: Indexed) -> None:
    write("a.md", '---\ncategory: "R&D: secret"\n---\n# A\n\ntext\n')
    ask = Asked(indexed())
    assert ask.box.tools["hybrid_search"].parameters["properties"]["category"]["enum"] == ["R_D_ secret"]
    assert ask.value("count_documents", group_by="category")["counts"] == {"R_D_ secret": 1}
    assert ask.value("filter_documents", category="R_D_ secret")["documents"][0]["category"] == "R_D_ secret"
