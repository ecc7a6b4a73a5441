"""`archivist search`: one of the searches, shown as text, JSON, lines of JSON, CSV or paths."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from assistant import render
from assistant.errors import UsageError

if TYPE_CHECKING:
    from search import Filters, Hit, Library, Mode, Passage


Form = Literal["text", "json", "jsonl", "csv", "paths"]
FORMS: tuple[Form, ...] = ("json", "jsonl", "csv", "paths")


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for: words, a passage's key or a text to be similar to, and how."""

    query: str | None
    like: str | None
    like_text: str | None
    mode: Mode | None
    limit: int
    by_document: bool
    today: date | None
    rerank: str | None = None

    def __post_init__(self) -> None:
        """Raise UsageError unless exactly one thing is asked for, in a mode that goes with it."""
        if sum(given is not None for given in (self.query, self.like, self.like_text)) != 1:
            raise UsageError("give one of QUERY, --like KEY and --like-text TEXT", 'archivist search "gateway timeout"')
        if self.query is None and self.mode not in {None, "vector"}:
            raise UsageError(f"--mode {self.mode} goes with QUERY: similar passages are found by meaning alone")
        if self.query is None and self.rerank is not None:
            raise UsageError("--rerank goes with QUERY: a reranking model reads a question and its answers")


def run(library: Library, filters: Filters, question: Question, *, form: Form, explain: bool, quiet: bool) -> list[Hit]:
    """Search, show the hits and return them; an empty result is explained on standard error."""
    notes = render.err()
    resolved, field = library.resolved_dates(filters, today=question.today)
    shown = render.date_range(resolved, field)
    if shown and not quiet:
        notes.write(shown)
    text, mode, found = _search(library, filters, question, notes, quiet)
    if found:
        reasons = library.notes(question.query, filters, today=question.today)
    else:
        reasons = library.why_empty(text, filters, today=question.today)
    if form == "json":
        whole = {
            "query": question.query,
            "like": question.like,
            "like_text": question.like_text,
            "mode": mode,
            "library": str(library.path),
            "range": asdict(resolved) | {"field": field} if resolved else None,
            "coverage": asdict(library.coverage()),
            "notes": reasons,
            "hits": [hit_object(hit) for hit in found],
        }
        render.out().write(render.as_json(whole))
        return found
    _show(found, form, explain)
    if not quiet:
        for reason in reasons:
            notes.write(render.one_line(reason))
        notes.write(notes.style(render.coverage(library.coverage()), "2"))
    return found


def _search(
    library: Library, filters: Filters, question: Question, notes: render.Terminal, quiet: bool
) -> tuple[str, Mode, list[Hit]]:
    """The words that were searched for, the mode and the hits."""
    shape: dict[str, Any] = {"by_document": question.by_document, "today": question.today}
    if question.query is not None:
        mode = question.mode or "hybrid"
        if question.rerank is not None:
            from search.reranking import load_reranker

            shape["reranker"] = load_reranker(question.rerank, announce=(lambda _: None) if quiet else notes.write)
        return question.query, mode, library.search(question.query, filters, mode=mode, limit=question.limit, **shape)
    wanted: str | Passage = question.like_text or ""
    if question.like is not None:
        document, wanted, moved_from = library.passage(question.like)
        if moved_from and not quiet:
            notes.write(f"{moved_from} has moved to {wanted.key} in {render.one_line(document.path)}")
    found = library.vector_search(wanted, filters, question.limit, **shape)
    return wanted if isinstance(wanted, str) else wanted.text, "vector", found


def _show(found: Sequence[Hit], form: Form, explain: bool) -> None:
    if form == "jsonl":
        for hit in found:
            render.out().write(render.as_json(hit_object(hit)))
    elif form == "csv":
        _csv(found)
    elif form == "paths":
        for full in dict.fromkeys(render.full_path(hit.document) for hit in found):
            render.out().write(render.quoted_path(full))
    else:
        render.hits(found, render.out(), explain=explain)


def hit_object(hit: Hit) -> dict[str, Any]:
    """A hit as JSON: the same names everywhere that archivist prints hits."""
    document, passage = hit.document, hit.passage
    return {
        "key": passage.key,
        "path": document.path,
        "root": document.root,
        "title": document.title,
        "date": document.date,
        "date_source": document.date_source,
        "category": document.category,
        "headings": list(passage.headings),
        "page": passage.page,
        "first_line": passage.first_line,
        "last_line": passage.last_line,
        "score": _rounded(hit.score),
        "keyword": {"rank": hit.keyword_rank, "score": _rounded(hit.keyword_score)},
        "vector": {"rank": hit.vector_rank, "score": _rounded(hit.vector_score)},
        "matched": list(hit.matched),
        **({} if hit.reranked_from is None else {"reranked_from": hit.reranked_from}),
        "text": render.safe(passage.text),
    }


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 6)


def _csv(found: Sequence[Hit]) -> None:
    names = ["key", "path", "root", "title", "date", "category", "page", "first_line", "last_line", "score", "text"]
    rows = io.StringIO()
    writer = csv.DictWriter(rows, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for hit in found:
        writer.writerow({name: render.safe(value) if isinstance(value, str) else value for name, value in hit_object(hit).items()})
    render.out().write(rows.getvalue().removesuffix("\n"))
