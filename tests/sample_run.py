"""A run as the report gets it: two models, twelve cases, several failures, three search modes. All of it is made up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assistant.evaluation.cases import cases_from
from assistant.evaluation.runs import Head, Result, Run
from assistant.evaluation.scoring import MEASURES
from search.evaluation import DEPTHS

MODELS = ("offline", "ollama:qwen3:8b")
SEARCH: list[list[str]] = [["hybrid_search"], ["keyword_search"], ["hybrid_search", "read_document"]]

ASKED: list[tuple[str, str, str, str, Mapping[str, Any]]] = [
    ("pool-size", "keyword", "en", "How large may the connection pool of the gateway get?", {"tools": SEARCH, "phrases": ["40"]}),
    ("failover", "keyword", "en", "What does TR-4012 mean?", {"documents": ["api/errors.md"], "tools": SEARCH}),
    (
        "last-month",
        "dated",
        "en",
        "Which runbooks about the gateway changed last month?",
        {
            "documents": ["runbooks/2026-09-02-gateway.md"],
            "tools": [["filter_documents", "read_document"]],
            "filters": {"category": "runbooks"},
            "dates": {"start": "2026-09-01", "end": "2026-09-30"},
        },
    ),
    ("count", "filtered", "en", "How many tutorials are there?", {"tools": [["count_documents"]], "numbers": [14]}),
    ("sum", "tables", "en", "What did we spend on storage in 2025?", {"tools": [["query_table|run_sql"]], "numbers": [12480.5]}),
    ("largest", "tables", "en", "Which region had the largest bill?", {"tools": [["query_table"]], "tables": ["billing"]}),
    ("absent", "absent", "en", "Who won the chess tournament?", {"absent": True, "tools": SEARCH}),
    ("which-one", "ambiguous", "en", "When does it expire?", {"asks_back": True, "tools": [[]]}),
    ("leitfaden", "language", "de", "Was bedeutet die Zustellmeldung 4012?", {"documents": ["international/leitfaden.md"]}),
    ("nihongo", "language", "ja", "接続プールの上限はいくつですか。", {"documents": ["international/pool.md"], "tools": SEARCH}),
    ("arabic", "language", "ar", "ما هو الحد الأقصى لحجم التجمع؟", {"phrases": ["40"], "tools": SEARCH}),
    ("similar", "paraphrase", "en", "find documents like this error: statement timeout", {"tools": [["find_similar"]]}),
]

# What went wrong: by model and case, the scores that were missed.
MISSED: dict[tuple[str, str], Sequence[str]] = {
    ("offline", "last-month"): ("dates",),
    ("offline", "largest"): ("answer", "tool_choice"),
    ("offline", "which-one"): ("answer", "tool_choice"),
    ("offline", "arabic"): ("answer", "citation_recall"),
    ("offline", "nihongo"): ("tool_choice",),
    ("ollama:qwen3:8b", "count"): ("answer", "tool_choice", "numbers_found"),
    ("ollama:qwen3:8b", "sum"): ("valid_calls",),
    ("ollama:qwen3:8b", "absent"): ("answer", "abstention"),
    ("ollama:qwen3:8b", "pool-size"): ("quotes_verified",),
}
PARTLY = {"quotes_verified", "citation_recall", "valid_calls"}
UNFINISHED = ("ollama:qwen3:8b", "leitfaden")


def make_run(
    folder: Path,
    *,
    name: str = "sample",
    results: Sequence[Result] | None = None,
    asked: Sequence[tuple[str, str, str, str, Mapping[str, Any]]] = (),
    retrieval: bool = True,
) -> Run:
    """A run in a folder, with the results of the sample or with others."""
    rows = [
        {"id": case, "kind": kind, "language": language, "question": question, "expect": expect}
        for case, kind, language, question, expect in (asked or ASKED)
    ]
    cases = cases_from("\n".join(map(json.dumps, rows)), "sample")
    head = Head(
        name=name,
        started="2026-10-15T09:30:00+02:00",
        archivist="0.1.0",
        library={"path": "build/demo.db", "documents": 118, "passages": 642, "embedder": "all-MiniLM-L6-v2"},
        cases={"file": "data/evals/assistant.jsonl", "digest": "9f2c", "count": len(cases)},
        models=MODELS,
    )
    run = Run.create(folder, head, cases)
    for result in sample_results() if results is None else results:
        run.finish(result)
    if retrieval:
        run.keep_retrieval(searched())
    return run


def sample_results(missed: Mapping[tuple[str, str], Sequence[str]] | None = None) -> list[Result]:
    """Each case with each model."""
    wrong = MISSED if missed is None else missed
    return [
        make_result(model, *case, missed=wrong.get((model, case[0]), ()), number=number)
        for number, case in enumerate(ASKED)
        for model in MODELS
    ]


def make_result(
    model: str,
    case: str,
    kind: str,
    language: str,
    question: str,
    expect: Mapping[str, Any],
    *,
    missed: Sequence[str] = (),
    number: int = 0,
) -> Result:
    """A result that misses the scores that are named and no others."""
    local = model != "offline"
    common: Any = {"expected": expect, "kind": kind, "language": language, "question": question}
    if (model, case) == UNFINISHED:
        scores = {name: 0.0 if name in {"answer", "citation_recall"} else None for name in MEASURES}
        failed = "the server did not answer within 120 seconds"
        return Result(case, model, 1, failed=failed, scores=scores, cost=None, seconds=120.0, **common)
    scores = dict.fromkeys(MEASURES, None) | {"answer": 1.0, "valid_calls": 1.0, "abstention": 1.0 if kind == "absent" else None}
    scores |= {"citation_precision": 1.0, "citation_recall": 1.0, "quotes_verified": 1.0, "numbers_found": 1.0}
    scores |= {"tool_choice": 1.0 if expect.get("tools") else None, "tool_order": 1.0 if expect.get("tools") else None}
    scores |= {"filters": 1.0 if "filters" in expect else None, "dates": 1.0 if "dates" in expect else None}
    scores |= {name: 0.5 if name in PARTLY else 0.0 for name in missed}
    if "valid_calls" in missed:
        scores["recovered"] = 1.0
    spent: Any = {
        "steps": 3 if local else 2,
        "input_tokens": (2900 + 140 * number) if local else 0,
        "output_tokens": (260 + 11 * number) if local else 0,
        "cost": 0.0012 + 0.0001 * number if local else 0.0,
        "seconds": round((4.2 if local else 0.08) * (1 + number % 5 / 3) * (3 if number == 9 else 1), 3),
    }
    scores |= {name: float(spent[name]) for name in ("steps", "cost", "seconds")}
    scores["tokens"] = float(spent["input_tokens"] + spent["output_tokens"])
    return Result(
        case,
        model,
        1,
        answer=answer_of(case),
        outcome="absent" if kind == "absent" else "answer",
        scores=scores,
        calls=calls_of(model, question, expect, missed),
        citations=[{"key": "k3v7q2mxha", "number": 1, "source": "runbooks/2026-09-02-gateway.md:12-30", "verdict": "retrieved"}],
        quotes=quotes_of(missed),
        numbers=[{"text": "40", "verdict": "not found" if "numbers_found" in missed else "found"}],
        recording=f"{case}.jsonl",
        **spent,
        **common,
    )


def answer_of(case: str) -> str:
    return (
        f"Of {case}: the pool of the gateway may hold 40 connections [k3v7q2mxha]. The runbook says: "
        '"Raise max_connections only after the pooler has been restarted" [k3v7q2mxha].\n\n'
        "- connections that idle for ten minutes are closed\n- a pooler that was not restarted keeps its old limit"
    )


def quotes_of(missed: Sequence[str]) -> list[dict[str, Any]]:
    verified = {
        "text": "Raise max_connections only after the pooler has been restarted",
        "key": "k3v7q2mxha",
        "verdict": "verified",
    }
    altered = {"text": "restart it weekly", "key": "k3v7q2mxha", "verdict": "altered", "nearest": "restart it every month"}
    return [verified, altered] if "quotes_verified" in missed else [verified]


def calls_of(model: str, question: str, expect: Mapping[str, Any], missed: Sequence[str]) -> list[dict[str, Any]]:
    chain = list((expect.get("tools") or [["hybrid_search"]])[0])
    if "tool_choice" in missed:
        chain = ["keyword_search" if model == "offline" else "hybrid_search"]
    calls: list[dict[str, Any]] = []
    if "valid_calls" in missed:
        error = '"limit": got 500, want an integer from 1 to 50'
        arguments = {"query": question, "limit": 500}
        calls.append(
            {
                "name": chain[0].split("|")[0],
                "arguments": arguments,
                "ok": False,
                "error": error,
                "seconds": 0.001,
                "repeated": False,
            }
        )
    for name in chain:
        summary = "5 passages of 3 documents; best: runbooks/2026-09-02-gateway.md:12-30"
        arguments = {"query": question, "limit": 5}
        calls.append(
            {
                "name": name.split("|")[0],
                "arguments": arguments,
                "ok": True,
                "summary": summary,
                "seconds": 0.031,
                "repeated": False,
            }
        )
    return calls


def searched() -> dict[str, dict[str, dict[str, float]]]:
    """What three search modes find: hybrid best, vector better than keyword at the end only."""
    return {
        mode: {
            f"case-{case}": {
                **{f"recall@{depth}": min(1.0, (first + case % 4 * 0.08) * depth**grows) for depth in DEPTHS},
                **{f"ndcg@{depth}": min(1.0, (first + case % 4 * 0.08) * depth ** (grows / 2)) for depth in DEPTHS},
                "mrr@10": first + case % 4 * 0.09,
                "map": first + case % 3 * 0.08,
            }
            for case in range(40)
        }
        for mode, first, grows in (("keyword", 0.42, 0.11), ("vector", 0.36, 0.18), ("hybrid", 0.5, 0.13))
    }
