"""Fusion and the weight of the vector list: pure functions on numbers and text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.hybrid import KEYWORD_WEIGHT, fuse, known_scripts, vector_weight

IDS = np.array([1, 2, 3, 4], np.int64)
COSINE = np.array([0.1, 0.5, 0.3, -0.1], np.float32)


def fused(keyword: dict[int, float], *, weight: float = 1.0, limit: int = 10) -> list[tuple[int, float]]:
    return fuse(keyword, IDS, COSINE, mean=0.2, deviation=0.2, vector_weight=weight, limit=limit)


def test_the_score_is_the_z_score_plus_three_times_the_share_of_the_best_bm25() -> None:
    assert dict(fused({1: 4.0, 3: 2.0})) == pytest.approx({1: -0.5 + KEYWORD_WEIGHT, 2: 1.5, 3: 0.5 + KEYWORD_WEIGHT / 2, 4: -1.5})
    assert [passage for passage, _ in fused({1: 4.0, 3: 2.0})] == [1, 3, 2, 4]


def test_without_keyword_hits_the_order_is_that_of_the_cosines() -> None:
    assert [passage for passage, _ in fused({})] == [2, 3, 1, 4]


def test_with_weight_zero_only_keyword_hits_are_found_in_their_own_order() -> None:
    assert [passage for passage, _ in fused({4: 2.0, 1: 1.0}, weight=0.0)] == [4, 1]


def test_a_passage_without_embedding_counts_as_the_mean() -> None:
    assert dict(fused({9: 5.0}))[9] == pytest.approx(KEYWORD_WEIGHT)


def test_all_that_tie_with_the_last_are_returned() -> None:
    same = np.array([0.3, 0.3, 0.3, 0.1], np.float32)
    assert [passage for passage, _ in fuse({}, IDS, same, mean=0.2, deviation=0.1, limit=2)] == [1, 2, 3]


def test_equal_cosines_everywhere_leave_the_keyword_order() -> None:
    flat = np.full(4, 0.3, np.float32)
    assert [passage for passage, _ in fuse({3: 1.0, 2: 2.0}, IDS, flat, mean=0.3, deviation=0.0, limit=4)] == [2, 3]


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
        everything[passage] = everything.get(passage, 0.0) + KEYWORD_WEIGHT * score / best
    expected = sorted(everything.values(), reverse=True)[:limit]
    found = fuse(keyword, ids, values, mean=0.1, deviation=0.3, limit=limit)
    assert [score for _, score in found][:limit] == pytest.approx(expected)


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan")])
def test_a_weight_outside_its_range_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="vector_weight: got"):
        fused({}, weight=weight)


def test_ids_and_cosines_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="cosine: got shape"):
        fuse({}, IDS, COSINE[:2], mean=0.0, deviation=1.0, limit=1)


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
