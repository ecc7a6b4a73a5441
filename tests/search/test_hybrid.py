"""Fusion and the weight of the vector list: pure functions on numbers and text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.hybrid import KEYWORD_WEIGHTS, fuse, keyword_weight, known_scripts, smooth, vector_weight

IDS = np.array([1, 2, 3, 4], np.int64)
COSINE = np.array([0.1, 0.5, 0.3, -0.1], np.float32)


def fused(keyword: dict[int, float], *, weight: float = 1.0, limit: int = 10) -> list[tuple[int, float]]:
    return fuse(keyword, IDS, COSINE, mean=0.2, deviation=0.2, vector_weight=weight, keyword_weight=3.0, limit=limit)


def test_the_score_is_the_z_score_plus_the_weighted_share_of_the_best_bm25() -> None:
    assert dict(fused({1: 4.0, 3: 2.0})) == pytest.approx({1: -0.5 + 3.0, 2: 1.5, 3: 0.5 + 3.0 / 2, 4: -1.5})
    assert [passage for passage, _ in fused({1: 4.0, 3: 2.0})] == [1, 3, 2, 4]


def test_without_keyword_hits_the_order_is_that_of_the_cosines() -> None:
    assert [passage for passage, _ in fused({})] == [2, 3, 1, 4]


def test_with_weight_zero_only_keyword_hits_are_found_in_their_own_order() -> None:
    assert [passage for passage, _ in fused({4: 2.0, 1: 1.0}, weight=0.0)] == [4, 1]


def test_a_passage_without_embedding_counts_as_the_mean() -> None:
    assert dict(fused({9: 5.0}))[9] == pytest.approx(3.0)


def test_all_that_tie_with_the_last_are_returned() -> None:
    same = np.array([0.3, 0.3, 0.3, 0.1], np.float32)
    assert [passage for passage, _ in fuse({}, IDS, same, mean=0.2, deviation=0.1, keyword_weight=3.0, limit=2)] == [1, 2, 3]


def test_equal_cosines_everywhere_leave_the_keyword_order() -> None:
    flat = np.full(4, 0.3, np.float32)
    found = fuse({3: 1.0, 2: 2.0}, IDS, flat, mean=0.3, deviation=0.0, keyword_weight=3.0, limit=4)
    assert [passage for passage, _ in found] == [2, 3]


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40),
    st.dictionaries(st.integers(0, 39), st.floats(0.01, 50), max_size=10),
    st.integers(1, 12),
)
def test_the_best_are_those_of_scoring_every_passage(cosines: list[float], keyword: dict[int, float], limit: int) -> None:
    values = np.array(cosines, np.float32)
    ids = np.arange(len(values), dtype=np.int64)
    best = max(keyword.values(), default=1.0)
    everything = {int(i): (float(values[i]) - 0.1) / 0.3 for i in ids}
    for passage, score in keyword.items():
        everything[passage] = everything.get(passage, 0.0) + 4.0 * score / best
    expected = sorted(everything.values(), reverse=True)[:limit]
    found = fuse(keyword, ids, values, mean=0.1, deviation=0.3, keyword_weight=4.0, limit=limit)
    assert [score for _, score in found][:limit] == pytest.approx(expected)


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan")])
def test_a_weight_outside_its_range_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="vector_weight: got"):
        fused({}, weight=weight)


def test_ids_and_cosines_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="cosine: got shape"):
        fuse({}, IDS, COSINE[:2], mean=0.0, deviation=1.0, keyword_weight=3.0, limit=1)


# How far the keyword list counts


def test_the_weight_grows_with_the_root_of_how_far_the_best_hit_stands_out() -> None:
    # 101 passages, scores 10 and 100 times 0: mean 10 / 101, mean square 100 / 101, so z = sqrt(100) = 10.
    assert keyword_weight([10.0], hits=1, population=101) == pytest.approx(1.1 * math.sqrt(10))
    # 50 passages, scores 4 and 2: mean .12, mean square 20 / 50 = .4; z = (4 - .12) / sqrt(.4 - .0144) = 6.248.
    assert keyword_weight([4.0, 2.0], hits=2, population=50) == pytest.approx(1.1 * math.sqrt(6.248), rel=1e-4)


def test_only_the_shape_of_the_list_counts() -> None:
    scores = [4.0, 2.0, 0.5]
    assert keyword_weight([3 * s for s in scores], hits=3, population=80) == pytest.approx(
        keyword_weight(scores, hits=3, population=80)
    )


def test_many_hits_that_match_a_little_count_less_than_one_that_stands_out() -> None:
    alike = keyword_weight([5.0, 4.9, 4.8, *[4.5] * 20], hits=23, population=200)
    one = keyword_weight([5.0, 1.0, 1.0, *[0.9] * 20], hits=23, population=200)
    assert KEYWORD_WEIGHTS[0] <= alike < one <= KEYWORD_WEIGHTS[1]


def test_hits_that_were_not_fetched_count_as_falling_evenly_to_nothing() -> None:
    every = [10.0 - 9.0 * place / 100 for place in range(100)] + [0.9999 * (1 - place / 400) for place in range(400)]
    known = keyword_weight(every, hits=500, population=1000)
    assert keyword_weight(every[:100], hits=500, population=1000) == pytest.approx(known, rel=0.01)
    assert keyword_weight(every[:100], hits=100, population=1000) > known, "unknown hits are not taken for misses"


@pytest.mark.parametrize(
    ("scores", "hits", "population", "weight"),
    [
        ([], 0, 0, 2.0),
        ([], 0, 1000, 2.0),
        ([3.0], 1, 1, 2.0),
        ([3.0, 3.0], 2, 2, 2.0),
        ([3.0, 3.0], 2, 0, 2.0),
        ([3.0], 1, 4, 2.0),  # z = sqrt(3)
        ([3.0], 1, 1_000_000, 6.0),
    ],
)
def test_the_weight_stays_within_its_bounds(scores: list[float], hits: int, population: int, weight: float) -> None:
    assert keyword_weight(scores, hits=hits, population=population) == weight


@given(st.lists(st.floats(1e-9, 60), max_size=60), st.integers(0, 5000), st.integers(0, 10**7))
def test_any_list_has_a_weight_within_the_bounds(scores: list[float], more: int, population: int) -> None:
    weight = keyword_weight(sorted(scores, reverse=True), hits=len(scores) + more, population=population)
    assert KEYWORD_WEIGHTS[0] <= weight <= KEYWORD_WEIGHTS[1]


# Neighbours


def unit(*degrees: float) -> np.ndarray:
    """Vectors in a plane, by their angle."""
    return np.array([[math.cos(math.radians(d)), math.sin(math.radians(d))] for d in degrees], np.float32)


def test_a_score_moves_towards_its_neighbours_weighed_by_cosine() -> None:
    # Angles 0, 60, 90. The first has the second at cosine .5 and the third at 0: only the second counts for it.
    # The second has the first at .5 and the third at .866; the third has the second at .866 and the first at 0.
    around_second = (0.5 * 4.0 + 0.8660254 * 1.0) / 1.3660254
    assert smooth([4.0, 2.0, 1.0], unit(0, 60, 90), share=0.5) == pytest.approx(
        [(4.0 + 2.0) / 2, (2.0 + around_second) / 2, (1.0 + 2.0) / 2], abs=1e-5
    )


def test_only_the_five_nearest_count() -> None:
    vectors = unit(0, 1, 2, 3, 4, 5, 80)
    moved = smooth([0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 100.0], vectors, share=0.5)
    assert moved[0] == pytest.approx(0.5, abs=1e-3)


def test_what_has_no_neighbour_keeps_its_score() -> None:
    assert smooth([3.0, 1.0], unit(0, 180)) == pytest.approx([3.0, 1.0])
    assert smooth([3.0], unit(0)) == [3.0]
    assert smooth([], np.empty((0, 2), np.float32)) == []
    assert smooth([3.0, 1.0], unit(0, 10), share=0.0) == [3.0, 1.0]


def test_a_lonely_hit_falls_behind_one_whose_neighbours_rank_high() -> None:
    moved = smooth([5.0, 4.8, 4.6, 4.4, 1.0, 1.0, 1.0, 1.0], unit(0, 90, 91, 92, 1, 2, 3, 4))
    assert moved[1] > moved[0]


@given(st.lists(st.tuples(st.floats(-5, 8), st.floats(0, 360)), min_size=2, max_size=20), st.floats(0, 1))
def test_no_score_leaves_the_range_of_those_given(given: list[tuple[float, float]], share: float) -> None:
    scores = [score for score, _ in given]
    moved = smooth(scores, unit(*(degrees for _, degrees in given)), share=share)
    assert min(scores) <= min(moved)
    assert max(moved) <= max(scores) + 1e-9


@given(st.lists(st.tuples(st.floats(-5, 8), st.floats(0, 360)), min_size=1, max_size=20), st.floats(-5, 8), st.floats(0, 360))
def test_equal_passages_stay_equal(others: list[tuple[float, float]], score: float, degrees: float) -> None:
    scores = [score, *(s for s, _ in others), score]
    moved = smooth(scores, unit(degrees, *(d for _, d in others), degrees))
    assert moved[0] == moved[-1]


LATIN = [
    f"##word{'abcdefghij'[number % 10]}{'abcdefghij'[number // 10 % 10]}{'abcdefghij'[number // 100]}" for number in range(900)
]
CYRILLIC = [f"▁{chr(0x430 + number % 30)}{chr(0x430 + number // 30)}" for number in range(900)]
HAN = [chr(0x4E00 + number) for number in range(3000)]


@pytest.mark.parametrize(
    ("vocabulary", "known"),
    [
        ([], set()),
        (["".join(c for c in word if c.isalpha()) for word in LATIN], {"LATIN"}),
        (LATIN + [chr(0x430 + number) for number in range(32)], {"LATIN"}),
        (LATIN + HAN[:500], {"LATIN"}),
        (LATIN + HAN, {"LATIN", "CJK"}),
        (LATIN + CYRILLIC, {"LATIN", "CYRILLIC"}),
    ],
)
def test_scripts_with_words_in_the_vocabulary_are_known(vocabulary: list[str], known: set[str]) -> None:
    assert known_scripts(vocabulary) == known


def test_byte_level_pieces_are_read_as_the_letters_they_stand_for() -> None:
    table = {byte: chr(byte) for byte in [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]}
    others = [byte for byte in range(256) if byte not in table]
    table |= {byte: chr(0x100 + place) for place, byte in enumerate(others)}
    pieces = ["".join(table[byte] for byte in f" {piece.lstrip('▁')}".encode()) for piece in CYRILLIC]
    assert pieces[0].startswith("Ġ")
    assert known_scripts(pieces) == {"CYRILLIC"}


@pytest.mark.parametrize(
    ("query", "weight"),
    [
        ("gateway timeout", 1.0),
        ("déjà vu", 1.0),
        ("502 -> 504", 1.0),
        ("", 1.0),
        ("合約轉換", 0.0),
        ("шлюз", 0.0),
        ("ยาดี", 0.0),
        ("NFL 比赛什么时候开始", 0.0),
    ],
)
def test_the_vector_list_counts_as_far_as_the_model_knows_the_script(query: str, weight: float) -> None:
    assert vector_weight(query, frozenset({"LATIN"})) == weight


def test_a_foreign_word_lowers_the_weight_steeply() -> None:
    assert 0.5 < vector_weight("how does the gateway handle 転送", frozenset({"LATIN"})) < 1.0
    assert vector_weight("gateway шлюз", frozenset({"LATIN"})) < 0.3
    assert vector_weight("шлюз", frozenset({"LATIN", "CYRILLIC"})) == 1.0
