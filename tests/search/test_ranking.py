"""What hybrid ranking promises beyond the formula: one order at every depth, and explanations that are true."""

from __future__ import annotations

import runpy
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from search import Filters, Library, hybrid

Write = Callable[[str, str], Path]
Indexed = Callable[[], Library]
SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "compare_rankings.py"))


@pytest.fixture
def many(write: Write, indexed: Indexed) -> Library:
    """More notes than are looked at again; a third of them speak of the gateway."""
    for number in range(hybrid.AGAIN + 60):
        words = " ".join(f"w{number * step % 37}" for step in range(1, 9))
        write(f"{number:03}.md", f"# Note {number}\n\n{'The gateway times out.' if number % 3 == 0 else 'Nothing.'} {words}\n")
    return indexed()


def found(library: Library, limit: int, **options: object) -> list[tuple[str, float]]:
    hits = library.hybrid_search("gateway times w3 w5", limit=limit, **options)  # type: ignore[arg-type]
    return [(hit.passage.key, hit.score) for hit in hits]


@pytest.mark.parametrize("limit", [1, 7, hybrid.AGAIN - 1, hybrid.AGAIN, hybrid.AGAIN + 1, hybrid.AGAIN + 30])
def test_the_order_is_the_same_at_every_depth(many: Library, limit: int) -> None:
    assert found(many, limit) == found(many, 1000)[:limit]


def test_scores_fall_also_where_the_second_look_ends(many: Library) -> None:
    scores = [score for _, score in found(many, 1000)]
    assert len(scores) == hybrid.AGAIN + 60
    assert scores == sorted(scores, reverse=True)


def test_ranks_and_scores_of_both_lists_are_those_of_the_lists(many: Library) -> None:
    query = "gateway times w3 w5"
    by_words = {hit.passage.key: (rank, hit.score) for rank, hit in enumerate(many.keyword_search(query, limit=1000), 1)}
    by_meaning = {hit.passage.key: hit.score for hit in many.vector_search(query, limit=1000)}
    for hit in many.hybrid_search(query, limit=50):
        assert (hit.keyword_rank, hit.keyword_score) == by_words.get(hit.passage.key, (None, None))
        assert hit.vector_score == pytest.approx(by_meaning[hit.passage.key])


def test_a_passage_without_an_embedding_is_still_found(many: Library) -> None:
    [best] = many.hybrid_search("gateway times w3 w5", limit=1)
    with sqlite3.connect(many.path) as connection:
        connection.execute("DELETE FROM _embeddings WHERE passage_id = ?", (best.passage.id,))
    connection.close()
    assert best.passage.key in [key for key, _ in found(many, 1000)]


def test_only_what_passes_the_filters_is_compared(many: Library) -> None:
    few = [key for key, _ in found(many, 50, filters=Filters(source=("00*.md",)))]
    assert len(few) == 10


def test_where_the_model_knows_no_script_words_decide_alone(write: Write, indexed: Indexed) -> None:
    write("a.md", "# Шлюз\n\nШлюз шлюз не отвечает.\n")
    write("b.md", "# Другое\n\nШлюз и ещё много слов о чём-то совсем другом.\n")
    write("c.md", "# Кэш\n\nКэш холодный.\n")
    library = indexed()
    words = [hit.passage.key for hit in library.keyword_search("шлюз отвечает")]
    assert [hit.passage.key for hit in library.hybrid_search("шлюз отвечает")] == words


# scripts/compare_rankings.py


def test_the_former_ranking_is_three_times_bm25_and_the_z_score(many: Library) -> None:
    query = "gateway times w3 w5"
    with SCRIPT["former"]():
        hits = many.hybrid_search(query, limit=20)
    cosines = np.array([hit.score for hit in many.vector_search(query, limit=1000)])
    best = many.keyword_search(query, limit=1)[0].score
    for hit in hits:
        meaning = ((hit.vector_score or 0.0) - cosines.mean()) / cosines.std()
        assert hit.score == pytest.approx(3 * (hit.keyword_score or 0.0) / best + meaning, abs=1e-4)


def test_half_of_the_questions_are_held_out_by_their_ids_alone() -> None:
    halves = [SCRIPT["half_of"](f"q{number}") for number in range(1000)]
    assert halves == [SCRIPT["half_of"](f"q{number}") for number in range(1000)]
    assert 450 < sum(halves) < 550


def test_the_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    random = np.random.default_rng(0)
    gains = random.normal(0.02, 0.1, 400)
    low, high = SCRIPT["_bootstrapped"]([gains], random)
    # The mean of 400 values with deviation .1 has a standard error of .005: 95 % lie within 1.96 of these.
    assert (low, high) == pytest.approx((gains.mean() - 0.0098, gains.mean() + 0.0098), abs=0.001)
    assert SCRIPT["_bootstrapped"]([gains[:50]], random)[1] - SCRIPT["_bootstrapped"]([gains[:50]], random)[0] > high - low
