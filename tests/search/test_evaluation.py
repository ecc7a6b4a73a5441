"""What `search.evaluation` promises: trec_eval's measures, corpora read with errors that name the line."""

from __future__ import annotations

import json
import math
import runpy
import sqlite3
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from standin import StandIn

from assistant.evaluation.cases import read_cases
from search import Filters, Library, UserError
from search.embedding import load_embedder
from search.evaluation import (
    MEASURES,
    MILLISECONDS,
    MODES,
    RERANKED,
    Case,
    average_precision,
    evaluate,
    index_corpus,
    mean,
    ndcg,
    read_corpus,
    recall,
    reciprocal_rank,
)

DATA = Path(__file__).parents[2] / "data"
NAMES = [f"d{number}" for number in range(130)]


def by_ir_measures(ranking: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what ir-measures and its dependencies say of themselves
        import ir_measures
        from ir_measures import AP, RR, R, nDCG

        wanted = {"ndcg@10": nDCG @ 10, "recall@100": R @ 100, "mrr@10": RR @ 10, "map": AP}
        run = [ir_measures.ScoredDoc("q", document, -float(rank)) for rank, document in enumerate(ranking)]
        judged = [ir_measures.Qrel("q", document, grade) for document, grade in relevant.items()]
        found = ir_measures.calc_aggregate(list(wanted.values()), judged, run)
    return {name: found[measure] for name, measure in wanted.items()}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=130),
    st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 3), min_size=1, max_size=40),
)
@example(NAMES[:11], {"d10": 1})
@example(NAMES[:10], {"d9": 1})
@example(NAMES, {"d99": 2, "d100": 3})
@example(NAMES[:5], {"x": 1})
def test_the_measures_are_those_of_ir_measures(ranking: list[str], relevant: dict[str, int]) -> None:
    if max(relevant.values()) <= 0:
        relevant["d0"] = 1
    ours = {name: measure(ranking, relevant) for name, measure in MEASURES.items()}
    assert ours == pytest.approx(by_ir_measures(ranking, relevant), abs=1e-9)


def test_measures_worked_by_hand() -> None:
    ranking, relevant = ["a", "b", "c", "d"], {"b": 3, "d": 1, "x": 2, "a": 0}
    gained = 3 / math.log2(3) + 1 / math.log2(5)
    assert ndcg(ranking, relevant) == pytest.approx(gained / (3 + 2 / math.log2(3) + 1 / 2))
    assert recall(ranking, relevant) == pytest.approx(2 / 3)
    assert recall(ranking, relevant, depth=2) == pytest.approx(1 / 3)
    assert reciprocal_rank(ranking, relevant) == 1 / 2
    assert reciprocal_rank(ranking, {"d": 1}, depth=3) == 0
    assert average_precision(ranking, relevant) == pytest.approx((1 / 2 + 2 / 4) / 3)


@pytest.mark.parametrize("measure", MEASURES.values())
def test_nothing_found_or_nothing_relevant_is_0_and_all_in_order_is_1(measure: object) -> None:
    assert callable(measure)
    assert measure([], {"a": 1}) == 0
    assert measure(["a"], {}) == 0
    assert measure(["a"], {"a": 0}) == 0
    assert measure(["a", "b", "c"], {"a": 2, "b": 1}) == pytest.approx(1)


def test_the_mean_is_per_measure_and_rounded() -> None:
    assert mean([{"x": 1.0, "y": 0.0}, {"x": 0.0, "y": 0.0}, {"x": 0.0, "y": 1.0}]) == {"x": 0.3333, "y": 0.3333}
    assert mean([]) == {}


# Corpora


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A BEIR folder of three documents and four queries, of which two are judged."""
    place = tmp_path / "tiny"
    (place / "qrels").mkdir(parents=True)
    documents = [
        {"_id": "d1", "title": "Gateways", "text": "the gateway times out"},
        {"_id": "d2", "title": "", "text": "the cache is cold"},
        {"_id": 'd"3', "text": "a soup with salt"},
    ]
    queries = [{"_id": number, "text": text} for number, text in enumerate(["gateway", "cache", "soup", "other"])]
    (place / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents) + "\n")
    (place / "queries.jsonl").write_text("\n".join(json.dumps(row) for row in queries))
    (place / "qrels" / "test.tsv").write_text('query-id\tcorpus-id\tscore\n0\td1\t2\n1\td2\t0\n\n2\td"3\t1\n2\td1\t-1\n')
    return place


def test_a_corpus_gives_judged_queries_and_its_documents(corpus: Path) -> None:
    read = read_corpus(corpus)
    assert read.name == "tiny"
    assert [(case.id, case.query, case.relevant) for case in read.cases] == [
        ("0", "gateway", {"d1": 2}),
        ("2", "soup", {'d"3': 1, "d1": -1}),
    ]
    assert [(name, extract.title, extract.text) for name, extract in read.documents()] == [
        ("d1", "Gateways", "the gateway times out"),
        ("d2", None, "the cache is cold"),
        ('d"3', None, "a soup with salt"),
    ]


def test_judgements_without_a_head_are_read_from_the_first_line_on(corpus: Path) -> None:
    (corpus / "qrels" / "test.tsv").write_text("1\td2\t1\n")
    assert [case.id for case in read_corpus(corpus).cases] == ["1"]


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_folder_without_one_of_the_three_files_is_refused(corpus: Path, name: str) -> None:
    (corpus / name).unlink()
    with pytest.raises(UserError, match=f"{name} is missing"):
        read_corpus(corpus)


@pytest.mark.parametrize("line", ["{", "[]", '"x"', '{"_id": "d9"}', '{"text": "x"}'])
def test_a_line_of_a_corpus_that_is_none_is_named(corpus: Path, line: str) -> None:
    for name, number in (("corpus.jsonl", 5), ("queries.jsonl", 5)):
        file = corpus / name
        whole = file.read_text()
        file.write_text(f"{whole.rstrip()}\n\n{line}\n" if name == "corpus.jsonl" else f"{whole}\n{line}\n")
        with pytest.raises(UserError, match=f"{name}:{number}: "):
            list(read_corpus(corpus).documents())
        file.write_text(whole)


@pytest.mark.parametrize("line", ["0 d1 1", "0\td1", "0\td1\tmany", "0\td1\t1\tx", "0\td1\t²"])
def test_a_judgement_that_is_none_is_named(corpus: Path, line: str) -> None:
    file = corpus / "qrels" / "test.tsv"
    file.write_text(f"{file.read_text()}{line}\n")
    with pytest.raises(UserError, match=r"test\.tsv:7: got"):
        read_corpus(corpus)


def test_every_mode_is_measured_for_every_case(corpus: Path, library_file: Path) -> None:
    read = read_corpus(corpus)
    embedder = StandIn()
    index_corpus(read, library_file, embedder)
    asked: list[str] = []
    embed = embedder.embed_query
    embedder.embed_query = lambda text: asked.append(text) or embed(text)  # type: ignore[method-assign,func-returns-value]
    measured = evaluate(library_file, read.cases, embedder)
    assert tuple(measured) == MODES
    for mode in MODES:
        assert [set(row) for row in measured[mode]] == [{*MEASURES, MILLISECONDS}] * 2
        assert mean(measured[mode])["ndcg@10"] == 1
    assert sorted(asked) == ["gateway", "soup"], "each query is embedded once for all modes"


class Clock:
    """A stand-in for time whose seconds pass only while a model reads."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


class Backwards:
    """Turns the order of the hits around; the first question takes a minute, as where a model is loaded, others half a second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self._clock.now += 0.5 if self._clock.now else 60
        return list(range(len(texts)))


def test_what_is_read_again_stands_before_the_rest_and_pays_for_no_loading(
    corpus: Path, library_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, rankings = Clock(), list[list[str]]()
    monkeypatch.setattr("search.evaluation.time", clock)
    monkeypatch.setattr("search.evaluation.RERANK_DEPTH", 2)
    monkeypatch.setattr("search.reranking.RERANK_DEPTH", 2)
    index_corpus(read_corpus(corpus), library_file, StandIn())

    def note(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
        rankings.append(list(ranking))
        return 0.0

    cases = [Case("1", "gateway", {"d1": 1}), Case("2", "soup", {'d"3': 1})]
    measured = evaluate(library_file, cases, StandIn(), ["hybrid"], measures={"noted": note}, reranker=Backwards(clock))
    first, second, third = rankings[0]
    assert rankings[2] == [second, first, third]
    assert [row[MILLISECONDS] for row in measured[RERANKED]] == [500, 500]


@pytest.mark.model
def test_the_sample_library_is_searched_better_than_before_words_were_weighed(sample: Library) -> None:
    """Measured: .900, and .883 where words always count three times and nothing is looked at again."""
    cases = [judged for case in read_cases(DATA / "evals" / "library.jsonl") if (judged := case.for_retrieval)]
    measured = evaluate(sample.path, cases, load_embedder(), ["hybrid"])
    assert mean(measured["hybrid"])["ndcg@10"] >= 0.892


def test_an_evaluation_depends_on_its_judgements(corpus: Path, library_file: Path) -> None:
    index_corpus(read_corpus(corpus), library_file, StandIn())
    cases = [
        Case("1", "gateway", {"d2": 1}),
        Case("2", "gateway", {"d1": 1}),
        Case("3", "gateway", {"d1": 1}, filters=Filters(title="x")),
    ]
    measured = evaluate(library_file, cases, StandIn(), modes=["keyword"])
    assert [row["mrr@10"] for row in measured["keyword"]] == [0, 1, 0]


def test_a_corpus_is_indexed_under_its_ids(corpus: Path, library_file: Path) -> None:
    index_corpus(read_corpus(corpus), library_file, StandIn())
    connection = sqlite3.connect(library_file)
    assert sorted(row[0] for row in connection.execute("SELECT path FROM documents")) == ['d"3', "d1", "d2"]
    connection.close()


# The script


CASE = {"id": "a", "question": "what?", "today": "2026-10-15", "expect": {"documents": ["x.md"]}}


def test_the_script_says_what_it_is_at_on_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "x.md").write_text("the gateway")
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps(CASE))
    script = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts" / "evaluate.py"))
    monkeypatch.setattr("search.embedding.load_embedder", lambda *_, **__: StandIn())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    script["main"](["--cases", str(cases), "--documents", str(tmp_path / "notes"), "--json"])
    written = capsys.readouterr()
    assert json.loads(written.out)["set"] == "cases"
    *told, kept = written.err.splitlines()
    assert kept.startswith("run: ")
    assert told == [
        "notes: indexing …",
        *(f"cases: {mode} search, 1 question …" for mode in ("keyword", "vector", "hybrid")),
    ]
