"""What the check of an answer gives back: frozen records, and how they look as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assistant.tools import Evidence

QuoteVerdict = Literal["verified", "elsewhere", "altered", "not found"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of an answer. number: its source's, None when the key was not retrieved in this conversation."""

    number: int | None
    key: str
    evidence: Evidence | None
    verdict: Literal["retrieved", "unknown"]


@dataclass(frozen=True, slots=True)
class Quote:
    """A quotation of an answer. key: of the passage cited for it. other_key: where it stands instead, for "elsewhere".

    nearest: the stored text nearest to it, for "altered". A quotation without a citation is "elsewhere" where it stands in a
    retrieved document; one that is a value of a tool result is verified without a key.
    """

    text: str
    key: str | None
    verdict: QuoteVerdict
    nearest: str | None = None
    other_key: str | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A number of an answer as written."""

    text: str
    verdict: Literal["found", "not found"]


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer with its verdicts. text: for display, with [1] for keys and a mark after everything that failed.

    The text is as the model wrote it otherwise: it is still to be cleaned before a terminal sees it.
    """

    text: str
    citations: tuple[Citation, ...]
    quotes: tuple[Quote, ...]
    numbers: tuple[Number, ...]

    @property
    def sources(self) -> tuple[Citation, ...]:
        """The retrieved citations, by number."""
        numbered = [citation for citation in self.citations if citation.number is not None]
        return tuple(sorted(numbered, key=lambda citation: citation.number or 0))

    @property
    def sound(self) -> bool:
        """Whether nothing failed."""
        return (
            all(citation.verdict == "retrieved" for citation in self.citations)
            and all(quote.verdict == "verified" for quote in self.quotes)
            and all(number.verdict == "found" for number in self.numbers)
        )

    def as_objects(self) -> dict[str, list[dict[str, Any]]]:
        """The verdicts as JSON shows them: citations, quotes and numbers."""
        return {
            "citations": [
                {
                    "key": c.key,
                    "number": c.number,
                    "source": source(c.evidence) if c.evidence else None,
                    "verdict": c.verdict,
                    **(origin(c.evidence) if c.evidence else {}),
                }
                for c in self.citations
            ],
            "quotes": [
                {"text": q.text, "key": q.key, "verdict": q.verdict, "nearest": q.nearest, "other_key": q.other_key}
                for q in self.quotes
            ],
            "numbers": [{"text": n.text, "verdict": n.verdict} for n in self.numbers],
        }


def origin(evidence: Evidence) -> dict[str, Any]:
    """How the result of a query or a calculation came to be, as JSON shows it, values as they were bound; nothing for a passage."""
    if evidence.sql:
        return {"sql": evidence.sql, "parameters": list(evidence.parameters)}
    return {"expression": evidence.expression} if evidence.expression else {}


def source(evidence: Evidence) -> str:
    """Where a passage stands, as tool results write it: path:12-30, or path p. 3; of a query the files that it was made from."""
    if not evidence.is_passage:
        return evidence.path
    if evidence.page is not None:
        return f"{evidence.path} p. {evidence.page}"
    lines = f"{evidence.first_line}-{evidence.last_line}" if evidence.last_line > evidence.first_line else str(evidence.first_line)
    return f"{evidence.path}:{lines}"
