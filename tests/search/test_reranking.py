"""What reading the best hits again promises: the model's order, true explanations, and nothing unless it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from assistant.cli import archivist
from assistant.errors import UsageError
from search import EmbedderError, Library, QueryError
from search.reranking import RERANK_DEPTH, SentenceReranker, load_reranker, rerank

Write = Callable[[str, str], Path]
Indexed = Callable[[], Library]


class Shortest:
    """Finds short texts best; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((query, list(texts)))
        return [-float(len(text)) for text in texts]


@pytest.fixture
def gateways(write: Write, indexed: Indexed) -> Library:
    """Three notes on one thing; the one that says the word most often is the longest."""
    for words in (1, 2, 3):
        write(f"{words}.md", f"# Note\n\n{'gateway ' * words}and {'other ' * words}words.\n")
    return indexed()


def test_the_order_is_that_of_the_models_scores(gateways: Library) -> None:
    found = gateways.search("gateway", mode="keyword", reranker=Shortest())
    assert [hit.document.path for hit in found] == ["1.md", "2.md", "3.md"]
    assert [hit.score for hit in found] == [-float(len(f"Note\n{hit.passage.text}")) for hit in found]


def test_a_hit_says_where_it_stood_before(gateways: Library) -> None:
    before = gateways.search("gateway")
    again = gateways.search("gateway", reranker=Shortest())
    assert {hit.passage.key: hit.reranked_from for hit in again} == {hit.passage.key: n for n, hit in enumerate(before, 1)}
    ranks = {hit.passage.key: (hit.keyword_rank, hit.keyword_score, hit.vector_rank, hit.vector_score) for hit in before}
    assert {hit.passage.key: (hit.keyword_rank, hit.keyword_score, hit.vector_rank, hit.vector_score) for hit in again} == ranks


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_the_best_are_chosen_among_more_than_were_asked_for(gateways: Library, mode: str) -> None:
    [best] = gateways.search("gateway", mode=mode, limit=1, reranker=Shortest())  # type: ignore[arg-type]
    assert best.document.path == "1.md"


def test_only_so_many_are_read_again(write: Write, indexed: Indexed) -> None:
    for number in range(RERANK_DEPTH + 5):
        write(f"{number}.md", f"# Note {number}\n\nThe gateway is up.\n")
    reranker = Shortest()
    library = indexed()
    library.search("gateway", reranker=reranker)
    library.search("gateway", limit=RERANK_DEPTH + 3, reranker=reranker)
    assert [len(texts) for _, texts in reranker.asked] == [RERANK_DEPTH, RERANK_DEPTH + 3]


def test_the_model_reads_the_query_without_what_is_left_out_and_the_headings(gateways: Library) -> None:
    reranker = Shortest()
    gateways.search('"gateway and" -staging', limit=1, reranker=reranker)
    [(query, texts)] = reranker.asked
    assert query == "gateway and"
    assert texts[0].startswith("Note\n")


def test_each_document_once_stays_so(write: Write, indexed: Indexed) -> None:
    write("long.md", "\n\n".join(f"# Part {n}\n\ngateway " + "filler " * 120 for n in range(3)))
    write("short.md", "# Short\n\ngateway\n")
    found = indexed().search("gateway", by_document=True, reranker=Shortest())
    assert [hit.document.path for hit in found] == ["short.md", "long.md"]


def test_equal_scores_keep_their_order() -> None:
    class Even:
        def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            return [0.5] * len(texts)

    assert rerank("x", Even(), ["a", "b", "c"]) == [(0, 0.5), (1, 0.5), (2, 0.5)]


@pytest.mark.parametrize("given", [[], [1.0], [1.0, float("nan")], [1.0, 2.0, 3.0]])
def test_scores_that_are_none_are_an_error(given: list[float]) -> None:
    class Broken:
        def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            return given

    with pytest.raises(EmbedderError, match="did not give each of 2 passages a score"):
        rerank("x", Broken(), ["a", "b"])


def test_an_empty_result_needs_no_model() -> None:
    assert rerank("x", SentenceReranker(Path("/nowhere")), []) == []


def test_a_query_is_checked_before_the_model_reads(gateways: Library) -> None:
    reranker = Shortest()
    with pytest.raises(QueryError, match="limit"):
        gateways.search("gateway", limit=0, reranker=reranker)
    assert reranker.asked == []


def test_a_model_that_is_missing_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="the reranking model cross-encoder/no-such-model is neither") as caught:
        load_reranker("no-such-model")
    assert "--rerank" in caught.value.hint
    with pytest.raises(EmbedderError, match="holds no reranking model"):
        load_reranker(str(tmp_path))


def test_the_default_embedding_model_is_not_taken_for_a_reranking_model() -> None:
    with pytest.raises(EmbedderError, match="the reranking model cross-encoder/all-MiniLM-L6-v2"):
        load_reranker("all-MiniLM-L6-v2")


def test_a_model_that_sorts_into_classes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Classes:
        def predict(self, pairs: list[tuple[str, str]], **_: object) -> object:
            return np.zeros((len(pairs), 3))

    reranker = SentenceReranker(Path("/models/nli"))
    monkeypatch.setitem(vars(reranker), "_model", Classes())
    with pytest.raises(EmbedderError, match="into 3 classes"):
        reranker.scores("x", ["a"])


def test_the_command_line_reads_again_and_says_so(gateways: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.reranking.load_reranker", lambda name, announce: Shortest())
    given = ["search", "gateway", "--mode", "keyword", "--rerank", "any", "-l", str(gateways.path), "--explain"]
    shown = CliRunner().invoke(archivist, given)
    assert shown.exit_code == 0, shown.output
    assert shown.output.index("1.md") < shown.output.index("2.md") < shown.output.index("3.md")
    assert "reranked from #3; keyword #3" in shown.output


@pytest.mark.parametrize("like", [["--like", "abcdefghij"], ["--like-text", "gateway"]])
def test_similar_passages_are_not_read_again(like: list[str], tmp_path: Path) -> None:
    shown = CliRunner().invoke(archivist, ["search", *like, "--rerank", "any", "-l", str(tmp_path / "none.db")])
    assert isinstance(shown.exception, UsageError)
    assert "--rerank goes with QUERY" in str(shown.exception)


@pytest.mark.model
def test_a_real_cross_encoder_scores_each_text(cross_encoder: Path) -> None:
    from sentence_transformers import CrossEncoder

    texts = ["the gateway times out", "a cold cache", ""]
    expected = CrossEncoder(str(cross_encoder)).predict([("gateway", text) for text in texts], show_progress_bar=False)
    assert load_reranker(str(cross_encoder)).scores("gateway", texts) == pytest.approx(expected.tolist(), abs=1e-5)
