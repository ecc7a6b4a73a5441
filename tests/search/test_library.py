"""What `Library` promises: three searches and their order, passages by key, reading, listing, counting, explaining, refusing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from standin import DIMENSION, StandIn

from search import (
    FilterError,
    Filters,
    Hit,
    Library,
    LibraryError,
    NotFoundError,
    QueryError,
    connections,
    upkeep,
)
from search.embedding import Vectors

Write = Callable[[str, str], Path]
Indexed = Callable[[], Library]
MODES: tuple[Any, ...] = ("keyword", "vector", "hybrid")


@pytest.fixture
def story(write: Write, indexed: Indexed) -> Library:
    """A few notes with front matter."""
    write(
        "runbooks/gateway.md", "---\ntags: [edge, net]\nauthor: Mara\ndate: 2026-09-03\n---\n# Gateway\n\nThe gateway times out.\n"
    )
    write("runbooks/cache.md", "---\ntags: [edge]\nauthor: Jo\ndate: 2026-10-01\n---\n# Cache\n\nThe cache is cold.\n")
    write("guides/long.md", "\n\n".join(f"# Part {n}\n\n" + " ".join(f"p{n}w{i}" for i in range(180)) for n in range(4)))
    write("guides/empty.md", "")
    return indexed()


def places(hits: list[Hit]) -> list[tuple[str, int]]:
    return [(hit.document.path, hit.passage.ordinal) for hit in hits]


# Order


@pytest.mark.parametrize("mode", MODES)
def test_ties_go_by_path_then_ordinal(write: Write, indexed: Indexed, mode: Any) -> None:
    text = "\n\n".join("# Same\n\ngateway " + "filler " * 120 for _ in range(3))
    for path in ("c.md", "a/z.md", "b.md", "a/b.md"):  # titled alike, or the titles would differ
        write(path, f"---\ntitle: one\n---\n{text}")
    library = indexed()
    for limit in (1, 2, 5, 12):
        hits = library.search("gateway", mode=mode, limit=limit)
        expected = [(path, ordinal) for path in ("a/b.md", "a/z.md", "b.md", "c.md") for ordinal in range(3)]
        assert len({hit.score for hit in hits}) == 1
        assert places(hits) == expected[:limit]
    documents = library.search("gateway", mode=mode, limit=3, by_document=True)
    assert places(documents) == [("a/b.md", 0), ("a/z.md", 0), ("b.md", 0)]


@pytest.mark.parametrize("mode", MODES)
def test_each_document_once_by_its_best_passage(write: Write, indexed: Indexed, mode: Any) -> None:
    for number in range(8):
        parts = [f"# P\n\n{'gateway ' * (part + 1)}{f'x{number} ' * (120 + number)}" for part in range(6)]
        write(f"{number}.md", "\n\n".join(parts))
    library = indexed()
    every = library.search("gateway", mode=mode, limit=1000)
    best: dict[str, Hit] = {}
    for hit in every:
        best.setdefault(hit.document.path, hit)
    for limit in (1, 5, 8, 100):
        hits = library.search("gateway", mode=mode, limit=limit, by_document=True)
        assert places(hits) == places(list(best.values()))[:limit]
        assert len(hits) == min(limit, 8)


def test_scores_fall_and_ranks_count_from_one(story: Library) -> None:
    for mode in MODES:
        hits = story.search("the gateway cache p1w1 p2w2", mode=mode, limit=20)
        assert len(hits) >= 3
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    keyword = story.keyword_search("gateway cache", limit=20)
    assert [hit.keyword_rank for hit in keyword] == list(range(1, len(keyword) + 1))
    assert all(hit.keyword_score == hit.score and hit.vector_rank is None for hit in keyword)
    vector = story.vector_search("gateway cache", limit=20)
    assert [hit.vector_rank for hit in vector] == list(range(1, len(vector) + 1))
    assert all(hit.vector_score == hit.score and -1.001 <= hit.score <= 1.001 for hit in vector)


def test_hybrid_hits_carry_score_and_rank_of_both_lists(story: Library) -> None:
    hits = story.hybrid_search("gateway times", limit=20)
    keyword = {hit.passage.key: (hit.keyword_rank, hit.keyword_score) for hit in story.keyword_search("gateway times", limit=20)}
    vector = {hit.passage.key: hit.vector_score for hit in story.vector_search("gateway times", limit=20)}
    assert hits[0].matched
    for hit in hits:
        assert (hit.keyword_rank, hit.keyword_score) == keyword.get(hit.passage.key, (None, None))
        assert hit.vector_score == pytest.approx(vector[hit.passage.key])


def test_vector_search_equals_the_cosines_by_hand(story: Library, embedder: StandIn) -> None:
    hits = story.vector_search("p1w3 p1w4 gateway", limit=100)
    with closing(connections.open_for_reading(story.path)) as connection:
        stored = dict(connection.execute("SELECT passage_id, vector FROM _embeddings").fetchall())
    query = embedder.embed_query("p1w3 p1w4 gateway")
    expected = {passage: float(np.frombuffer(blob, "<f4") @ query) for passage, blob in stored.items()}
    assert {hit.passage.id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-6)


# Similar passages


def test_similar_passages_leave_the_passage_itself_out(write: Write, indexed: Indexed) -> None:
    for name in ("a", "b", "c"):
        write(f"{name}.md", "---\ntitle: t\n---\nthe very same words")
    write("d.md", "---\ntitle: t\n---\nsomething else entirely")
    library = indexed()
    passage = library.vector_search("the very same words", limit=3)[1].passage
    hits = library.vector_search(passage, limit=2)
    assert places(hits) == [("a.md", 0), ("c.md", 0)]
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert len(library.vector_search(passage, limit=100)) == 3


def test_a_passage_that_is_gone_is_refused(story: Library, folder: Path, write: Write, embedder: StandIn) -> None:
    passage = story.keyword_search("gateway")[0].passage
    write("runbooks/gateway.md", "# Other\n\nwholly other words")
    upkeep.index(story.path, [folder], embedder)
    with pytest.raises(QueryError, match="not in the library any more"):
        story.vector_search(passage)


def test_similar_to_a_passage_needs_no_model(story: Library) -> None:
    def unwanted() -> StandIn:
        raise AssertionError("no query is embedded")

    story._make_embedder = unwanted
    passage = story.keyword_search("gateway")[0].passage
    assert story.vector_search(passage)


# Keys


def test_any_unique_prefix_of_four_or_more_is_enough(story: Library) -> None:
    key = story.keyword_search("gateway")[0].passage.key
    assert len(key) == 10
    for typed in (*(key[:length] for length in range(4, 11)), key.upper(), f" #{key} "):
        document, passage, moved_from = story.passage(typed)
        assert (document.path, passage.key, moved_from) == ("runbooks/gateway.md", key, None)


@pytest.mark.parametrize("typed", ["", "abc", "abcdefghijk", "abc1", "ab cd", "abc%", "a'--", "äbcd", "*" * 10, "\udcff" * 5])
def test_what_cannot_be_a_key_is_refused(story: Library, typed: str) -> None:
    with pytest.raises(QueryError, match="key: got") as caught:
        story.passage(typed)
    assert caught.value.exit_code == 2


def test_an_unknown_key_is_not_found(story: Library) -> None:
    with pytest.raises(NotFoundError, match="no passage") as caught:
        story.passage("aaaaaaaaaa")
    assert caught.value.exit_code == 1


def set_keys(library: Library, keys: dict[str, str]) -> None:
    with closing(sqlite3.connect(library.path)) as connection:
        for path, key in keys.items():
            connection.execute(
                "UPDATE passages SET key = ? WHERE document_id = (SELECT id FROM documents WHERE path = ?)", (key, path)
            )
        connection.commit()


def test_an_ambiguous_prefix_lists_what_it_could_mean(story: Library) -> None:
    set_keys(story, {"runbooks/gateway.md": "abcdefgaaa", "runbooks/cache.md": "abcdefgbbb"})
    with pytest.raises(QueryError, match="begins 2 keys") as caught:
        story.passage("abcdefg")
    for part in ("abcdefgaaa (runbooks/gateway.md:", "abcdefgbbb (runbooks/cache.md:"):
        assert part in str(caught.value)
    assert story.passage("abcdefgb")[0].path == "runbooks/cache.md"


def test_an_ambiguous_prefix_of_old_keys_is_refused_too(story: Library) -> None:
    set_keys(story, {"runbooks/gateway.md": "bbbbbbbbbb", "runbooks/cache.md": "cccccccccc"})
    with closing(sqlite3.connect(story.path)) as connection:
        connection.execute("INSERT INTO _moved_keys VALUES ('aaaaaaaaab', 'bbbbbbbbbb'), ('aaaaaaaaac', 'cccccccccc')")
        connection.commit()
    with pytest.raises(QueryError, match="begins 2 keys"):
        story.passage("aaaa")
    document, passage, moved_from = story.passage("aaaaaaaaac")
    assert (document.path, passage.key, moved_from) == ("runbooks/cache.md", "cccccccccc", "aaaaaaaaac")


def test_the_same_file_below_two_roots_has_one_key_that_is_answered(tmp_path: Path, library_file: Path, embedder: StandIn) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.md").write_text("the same words")
    upkeep.index(library_file, [tmp_path / "one", tmp_path / "two"], embedder)
    with Library.open(library_file, embedder=embedder) as library:
        first, second = library.keyword_search("words")
        assert first.passage.key == second.passage.key
        assert library.passage(first.passage.key)[0].path == "same.md"
        with pytest.raises(QueryError, match="fits 2 documents") as caught:
            library.document("same.md")
        assert f"{tmp_path}/one/same.md" in str(caught.value)
        assert library.document(f"{tmp_path}/two/same.md").root == str(tmp_path / "two")


# Documents and lines


def test_a_document_is_found_by_path_absolute_path_or_unique_ending(story: Library, folder: Path) -> None:
    for typed in ("runbooks/gateway.md", f"{folder}/runbooks/gateway.md", "gateway.md"):
        assert story.document(typed).path == "runbooks/gateway.md"
    for typed in ("ateway.md", "gateway", "", "%", "runbooks", "*.md", "x\udcff"):
        with pytest.raises(NotFoundError):
            story.document(typed)


def test_lines_are_numbered_as_in_the_file(story: Library, folder: Path) -> None:
    lines = (folder / "runbooks/gateway.md").read_text().split("\n")
    document = story.document("gateway.md")
    reading = story.read(document)
    assert reading.first_line == 6  # below the front matter
    assert list(reading.lines) == lines[5 : reading.total]
    part = story.read(document, 8, 8)
    assert (part.first_line, part.last_line, part.lines) == (8, 8, ("The gateway times out.",))
    assert story.read(document, 1, 7).first_line == 6
    assert story.read(document, 8, 10_000).last_line == reading.total
    for first, last in ((0, 3), (-1, 3), (9, 8), (5000, 6000)):
        with pytest.raises(QueryError, match="lines: got"):
            story.read(document, first, last)


def test_a_passage_reads_as_its_own_lines_and_knows_its_neighbours(story: Library) -> None:
    document = story.document("long.md")
    whole = "\n".join(story.read(document).lines)
    assert story.read("long.md") == story.read(document)
    hit = story.keyword_search("p1w7", limit=1)[0]
    assert whole[hit.passage.start : hit.passage.end] == hit.passage.text
    reading = story.read(hit.passage)
    assert (reading.first_line, reading.last_line) == (hit.passage.first_line, hit.passage.last_line)
    assert hit.passage.text in "\n".join(reading.lines)
    before, after = story.neighbours(hit.passage)
    assert before is not None
    assert after is not None
    assert [before.ordinal, after.ordinal] == [hit.passage.ordinal - 1, hit.passage.ordinal + 1]
    first = story.keyword_search("p0w7", limit=1)[0].passage
    assert story.neighbours(first)[0] is None


def test_a_file_that_changed_or_went_is_told(story: Library, folder: Path, write: Write) -> None:
    document = story.document("cache.md")
    assert story.stale(document) is None
    write("runbooks/cache.md", "# Other")
    assert story.stale(document) == "its file has changed"
    (folder / "runbooks/cache.md").unlink()
    assert story.stale(document) == "its file is gone"


# Listing and counting


@pytest.fixture
def shelf(write: Write, indexed: Indexed) -> Library:
    for number in range(25):
        day = "" if number % 5 == 0 else f"date: 2026-0{number % 9 + 1}-15\n"
        front = f"---\ntitle: T{99 - number}\n{day}tags: [t{number % 2}, all]\n---\n"
        write(f"c{number % 3}/{number:02}.md", front + "word " * number)
    return indexed()


@pytest.mark.parametrize(
    ("order", "key", "reverse"),
    [
        ("path", lambda d: d.path, False),
        ("title", lambda d: d.title.lower(), False),
        ("size", lambda d: d.size, True),
        ("date", lambda d: d.date, True),
        ("modified", lambda d: d.modified, True),
    ],
)
def test_pages_are_in_order_and_hold_each_document_once(shelf: Library, order: Any, key: Any, reverse: bool) -> None:
    pages = [shelf.filter_documents(order_by=order, limit=7, offset=offset) for offset in range(0, 28, 7)]
    assert {page.total for page in pages} == {25}
    assert [len(page.items) for page in pages] == [7, 7, 7, 4]
    every = [document for page in pages for document in page.items]
    assert len({document.id for document in every}) == 25
    keys = [key(document) for document in every]
    assert keys == sorted(keys, reverse=reverse)
    assert shelf.filter_documents(order_by=order, offset=25).items == ()


def test_the_total_is_exact_under_filters(shelf: Library) -> None:
    page = shelf.filter_documents(Filters(category=("c1",)), limit=3)
    assert (page.total, len(page.items), page.offset) == (8, 3, 0)
    assert shelf.filter_documents(Filters(category=("c9",))).total == 0


def test_documents_are_counted_per_group(shelf: Library) -> None:
    assert shelf.count_documents() == {"total": 25}
    assert shelf.count_documents(group_by="category") == {"c0": 9, "c1": 8, "c2": 8}
    assert shelf.count_documents(group_by="tag") == {"all": 25, "t0": 13, "t1": 12}
    assert shelf.count_documents(Filters(tags=("t1",)), "category") == {"c0": 4, "c1": 4, "c2": 4}
    assert shelf.count_documents(group_by="format") == {"markdown": 25}
    assert shelf.count_documents(group_by="language") == {"(none)": 25}
    assert shelf.count_documents(Filters(during="2026-03"), "month") == {"2026-03": 2}
    assert next(iter(shelf.count_documents(group_by="text_status"))) == "ok"
    by_year = shelf.count_documents(group_by="year")
    assert sum(by_year.values()) == 25
    assert sum(shelf.count_documents(group_by="date_source").values()) == 25
    assert sum(shelf.count_documents(group_by="root").values()) == 25


def test_groups_and_orders_that_are_none_are_refused(shelf: Library) -> None:
    with pytest.raises(QueryError, match="group_by: got 'id; --'"):
        shelf.count_documents(group_by="id; --")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="order_by: got"):
        shelf.filter_documents(order_by="id; --")  # type: ignore[arg-type]


# Looking up within filters


def test_a_key_and_a_path_are_found_only_where_the_filters_allow(story: Library) -> None:
    runbooks = Filters(category=("runbooks",))
    key = story.keyword_search("gateway")[0].passage.key
    assert story.passage(key, runbooks)[1].key == key
    assert story.document("gateway.md", runbooks).path == "runbooks/gateway.md"
    for filters in (Filters(category=("guides",)), Filters(author=("Mara",), within=Filters(author=("Jo",)))):
        with pytest.raises(NotFoundError):
            story.passage(key, filters)
        with pytest.raises(NotFoundError):
            story.document("runbooks/gateway.md", filters)


def test_a_moved_key_is_found_only_where_the_filters_allow(story: Library, folder: Path, embedder: StandIn) -> None:
    key = story.keyword_search("gateway")[0].passage.key
    (folder / "runbooks/gateway.md").rename(folder / "guides/gateway.md")
    upkeep.index(story.path, [folder], embedder)
    assert story.passage(key, Filters(category=("guides",)))[2] == key
    with pytest.raises(NotFoundError):
        story.passage(key, Filters(category=("runbooks",)))


def test_the_passages_of_a_stretch_are_those_that_touch_it(story: Library) -> None:
    document = story.document("guides/long.md")
    everything = story.passages(document)
    assert len(everything) >= 4
    assert [p.ordinal for p in everything] == list(range(len(everything)))
    assert story.passages(document, ordinal=2, limit=1) == everything[2:3]
    line = everything[1].first_line
    assert everything[1] in story.passages(document, line, line)
    assert story.passages(document, 5000) == []


def test_the_opening_of_each_document_with_text(story: Library) -> None:
    page = story.filter_documents()
    openings = story.openings(page.items)
    assert {d.path for d in page.items if d.id in openings} == {"guides/long.md", "runbooks/cache.md", "runbooks/gateway.md"}
    assert {passage.ordinal for passage in openings.values()} == {0}


def test_a_snapshot_is_one_state_for_several_calls(story: Library, folder: Path, embedder: StandIn) -> None:
    with story.snapshot():
        document = story.document("runbooks/cache.md")
        (folder / "runbooks/cache.md").unlink()
        upkeep.index(story.path, [folder], embedder)
        assert "The cache is cold." in story.read(document).lines
    with pytest.raises(NotFoundError):
        story.read(document)


# Explaining


def test_an_empty_result_names_the_filter_that_removed_most(story: Library) -> None:
    notes = story.why_empty("gateway", Filters(category=("runbooks",), author=("Nobody",)))
    assert any("without 'author Nobody' 2 of 4 would" in note for note in notes)
    assert any('no author "Nobody"' in note for note in notes)
    notes = story.why_empty("gateway", Filters(category=("guides",), author=("Jo",), tags=("net",)))
    assert any("nor with any one of them left out (4 documents in all)" in note for note in notes)


def test_an_empty_result_says_when_words_stand_outside_the_filters(story: Library) -> None:
    notes = story.why_empty("gateway", Filters(author=("Jo",)))
    assert any("no passage of the 1 document within the filters" in note for note in notes)
    assert "without the filters 1 passage holds such a word" in notes
    assert story.why_empty("gateway -timeout") == [
        "1 passage holds a word of 'gateway', but '-timeout' leaves all of them out: search without it"
    ]
    notes = story.why_empty("zzzzz -timeout")
    assert notes[0].startswith("no passage holds a word of")
    notes = story.why_empty("zzzzz")
    assert len(notes) == 1
    assert "vector search" in notes[0]


def test_an_explanation_does_not_look_outside_the_filters_that_others_stand_within(story: Library) -> None:
    runbooks = Filters(category=("runbooks",))
    notes = story.why_empty("gateway", Filters(category=("guides",), within=runbooks))
    assert notes == [
        'no category "guides"; there are: "runbooks"',
        "no document passes all filters; without 'category guides' 2 of 2 would",
    ]
    assert story.notes(None, Filters(author=("Mra",), within=Filters(author=("Jo",)))) == ['no author "Mra"; there are: "Jo"']
    notes = story.why_empty("p1w5", Filters(author=("Jo",), within=runbooks))
    assert len(notes) == 1
    assert notes[0].startswith("no passage of the 1 document within the filters holds a word of 'p1w5'")
    assert story.why_empty("x", Filters(within=Filters(author=("Nobody",)))) == ["no document lies within what is searched"]


def test_documents_without_text_explain_that_nothing_is_found_in_them(story: Library) -> None:
    assert story.why_empty("gateway", Filters(source=("guides/empty.md",)))[0] == (
        "nothing within the filters (1 document) has text"
    )


def test_an_empty_library_says_how_to_fill_it(library_file: Path) -> None:
    with Library.open(library_file, embedder=StandIn(), create=True) as library:
        assert library.why_empty("x") == ["the library is empty: archivist index DIR fills it"]
        for mode in MODES:
            assert library.search("x", mode=mode) == []
        assert library.filter_documents().total == 0
        assert library.status().coverage.documents == 0


@pytest.mark.parametrize(
    ("filters", "note"),
    [
        (Filters(category=("runbook",)), 'no category "runbook"; nearest: "runbooks"'),
        (Filters(tags=("edgy",)), 'no tag "edgy"; nearest: "edge"'),
        (Filters(author=("mra",)), 'no author "mra"; nearest: "Mara"'),
        (Filters(format=("pdf",)), 'no format "pdf"; there are: "markdown"'),
        (Filters(category=("zzzzzz",)), 'no category "zzzzzz"; there are: "guides", "runbooks"'),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(story: Library, filters: Filters, note: str) -> None:
    assert story.notes(None, filters) == [note]
    assert note in story.why_empty("gateway", filters)
    assert story.notes("gateway", Filters(category=("RUNBOOKS",), tags=("EDGE",))) == []


# Refusing


@pytest.mark.parametrize("limit", [0, -1, 1001])
@pytest.mark.parametrize("mode", MODES)
def test_a_limit_outside_1_to_1000_is_refused(story: Library, mode: Any, limit: int) -> None:
    with pytest.raises(QueryError, match=f"limit: got {limit}, want 1 to 1000"):
        story.search("gateway", mode=mode, limit=limit)
    with pytest.raises(QueryError, match="limit, offset"):
        story.filter_documents(limit=limit)
    with pytest.raises(QueryError, match="limit, offset"):
        story.filter_documents(offset=-1)


@pytest.mark.parametrize("query", ["", " ", "\n\t "])
@pytest.mark.parametrize("mode", MODES)
def test_an_empty_query_is_refused(story: Library, mode: Any, query: str) -> None:
    with pytest.raises(QueryError, match="query: got an empty one"):
        story.search(query, mode=mode)


def test_a_mode_that_is_none_is_refused(story: Library) -> None:
    with pytest.raises(QueryError, match="mode: got 'semantic'"):
        story.search("x", mode="semantic")  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", MODES)
def test_a_filter_that_is_not_understood_is_refused(story: Library, mode: Any) -> None:
    with pytest.raises(FilterError):
        story.search("gateway", Filters(during="when pigs fly"), mode=mode)


@pytest.mark.parametrize(
    "query", ["\0", "\udcff", "C++ AND (", "x" * 100_000, '"', "-", "*", "NEAR(a b)", "日本", "\N{RIGHT-TO-LEFT OVERRIDE}"]
)
@pytest.mark.parametrize("mode", MODES)
def test_any_text_is_a_query(story: Library, mode: Any, query: str) -> None:
    story.search(query, mode=mode, limit=3)


# The embedding model


class Changed(StandIn):
    """A stand-in with another identity."""

    def __init__(self, **identity: Any) -> None:
        super().__init__()
        self.identity = replace(self.identity, **identity)


class Narrow(StandIn):
    """A stand-in with fewer dimensions under the same identity."""

    def embed_passages(self, texts: Any) -> Vectors:
        return super().embed_passages(texts)[:, :8]

    def embed_query(self, text: str) -> Vectors:
        return super().embed_query(text)[:8]


@pytest.mark.parametrize(
    "other",
    [
        {"revision": "1" * 64},
        {"query_prefix": "query: "},
        {"passage_prefix": "passage: "},
        {"dtype": "int8"},
    ],
)
def test_another_embedding_model_is_refused_with_both_ways_out(story: Library, folder: Path, other: dict[str, str]) -> None:
    embedder = Changed(**other)
    with Library.open(story.path, embedder=embedder) as library:
        for attempt in (lambda: library.vector_search("x"), lambda: library.hybrid_search("gateway"), library.check_embedder):
            with pytest.raises(LibraryError, match=f"{next(iter(other))} differ") as caught:
                attempt()
            for way in ("--embedder stand-in", "archivist index --rebuild", "--mode keyword"):
                assert way in caught.value.hint
        assert library.keyword_search("gateway")
    before = story.path.read_bytes()
    with pytest.raises(LibraryError, match="differ"):
        upkeep.index(story.path, [folder], embedder)
    assert story.path.read_bytes() == before


def test_the_same_model_under_another_name_is_accepted(story: Library) -> None:
    with Library.open(story.path, embedder=Changed(name="/a/folder")) as library:
        assert library.vector_search("gateway")


def test_another_dimension_is_refused(story: Library, folder: Path, write: Write) -> None:
    with (
        Library.open(story.path, embedder=Narrow()) as library,
        pytest.raises(LibraryError, match=f"8 dimensions, .* has {DIMENSION}") as caught,
    ):
        library.vector_search("gateway")
    assert "archivist index --rebuild" in caught.value.hint


def test_a_reader_follows_a_rebuild_to_another_dimension(story: Library) -> None:
    assert story.vector_search("gateway")
    upkeep.rebuild(story.path, [], Narrow())
    passage = story.keyword_search("gateway")[0].passage
    assert story.vector_search(passage)
    with pytest.raises(LibraryError, match="dimensions"):
        story.vector_search("gateway")


def test_other_chunking_is_refused(story: Library, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "CHUNKING_VERSION", 99)
    with pytest.raises(LibraryError, match="cut into passages") as caught:
        upkeep.index(story.path, [folder], StandIn())
    assert "archivist index --rebuild" in caught.value.hint
    short = StandIn()
    short.max_tokens = 100
    monkeypatch.undo()
    with pytest.raises(LibraryError, match="cut into passages"):
        upkeep.index(story.path, [folder], short)


def test_keyword_search_and_status_load_no_model(story: Library) -> None:
    def unwanted() -> StandIn:
        raise AssertionError("no model is needed")

    story._make_embedder = unwanted
    story._embedder = None
    assert story.keyword_search("gateway")
    assert story.status().coverage.documents == 4
    assert story.why_empty("zzz")
    assert story.filter_documents().total == 4


# Indexing through the library; threads


def test_a_library_indexes_and_sees_what_it_indexed(folder: Path, write: Write, library_file: Path) -> None:
    write("a.md", "a gateway")
    with Library.open(library_file, embedder=StandIn(), create=True) as library:
        summary = library.index(folder)
        assert (summary.added, summary.embedded) == (1, 1)
        assert places(library.vector_search("gateway")) == [("a.md", 0)]
        write("b.md", "a gateway")
        assert library.index().added == 1
        assert places(library.vector_search("gateway")) == [("a.md", 0), ("b.md", 0)]
        assert places(library.hybrid_search("gateway")) == [("a.md", 0), ("b.md", 0)]
        (folder / "a.md").unlink()
        assert library.index(str(folder)).removed == 1
        for mode in MODES:
            assert places(library.search("gateway", mode=mode)) == [("b.md", 0)]


def test_coverage_and_status_count_what_is_there(story: Library, folder: Path) -> None:
    known = story.status()
    assert (known.coverage.documents, known.coverage.without_text) == (4, 1)
    assert known.coverage.passages == known.coverage.embedded >= 6
    assert known.coverage == story.coverage()
    assert [path for path, _ in known.without_text] == ["guides/empty.md"]
    assert (known.model, known.revision, known.dimension) == ("stand-in", "0" * 64, DIMENSION)
    assert [(root.path, root.documents, root.whole) for root in known.roots] == [(str(folder), 4, True)]
    assert sum(known.formats.values()) == 4
    assert known.size == story.path.stat().st_size


def test_threads_share_a_library(story: Library, folder: Path, write: Write) -> None:
    done = threading.Event()

    def look(mode: Any) -> int:
        rounds = 0
        while not done.is_set() or not rounds:
            hits = story.search("gateway cache", mode=mode, limit=5)
            assert hits
            assert story.filter_documents().total >= 4
            assert story.passage(story.search("gateway", mode="keyword")[0].passage.key)[0].category == "runbooks"
            rounds += 1
        return rounds

    with ThreadPoolExecutor(6) as pool:
        looking = [pool.submit(look, mode) for mode in MODES * 2]
        for number in range(15):
            write(f"more/{number}.md", f"cache number {number}")
            upkeep.index(story.path, [folder], StandIn())
        done.set()
        assert all(each.result(60) for each in looking)


def test_today_is_what_phrases_count_from(story: Library) -> None:
    hits = story.keyword_search("gateway cache", Filters(during="last month"), today=date(2026, 10, 15))
    assert places(hits) == [("runbooks/gateway.md", 0)]
    hits = story.keyword_search("gateway cache", Filters(during="last month"), today=date(2026, 11, 15))
    assert places(hits) == [("runbooks/cache.md", 0)]


def test_a_library_is_closed_once_another_thread_has_read_what_it_is_reading(story: Library) -> None:
    with story.snapshot():
        closing_it = threading.Thread(target=story.close)
        closing_it.start()
        closing_it.join(0.2)
        assert closing_it.is_alive()
        assert story.count_documents() == {"total": 4}
    closing_it.join(10)
    assert not closing_it.is_alive()
    with pytest.raises((LibraryError, sqlite3.ProgrammingError)):
        story.count_documents()


def test_the_digest_of_a_library_tells_its_contents_whatever_its_place(write: Write, indexed: Indexed, tmp_path: Path) -> None:
    write("a.md", "# One\n\nThe first.")
    library = indexed()
    first = library.digest()
    (tmp_path / "other.db").write_bytes(library.path.read_bytes())
    with Library.open(tmp_path / "other.db", embedder=StandIn()) as copy:
        assert copy.digest() == first
    write("a.md", "# One\n\nThe other.")
    assert indexed().digest() != first
    write("a.md", "# One\n\nThe first.")
    assert indexed().digest() == first
