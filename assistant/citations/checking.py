"""The check of an answer: does each citation, quotation and number stand where it says.

In: the answer, and all that it may rely on, given as values and one function; no SQL, no network. Out: Checked, with the answer
as it is shown. Hostile answers end: each step is linear in the answer, comparisons with stored text are counted and limited.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from assistant.citations.attribution import Attribution
from assistant.citations.comparing import Quoted, StoredText
from assistant.citations.documents import Documents, names
from assistant.citations.figures import Facts, Figure, check_figures, values
from assistant.citations.keys import KeyMark, Numbering, apply, edits, find_keys
from assistant.citations.models import Checked, Citation, Number, Quote, source
from assistant.citations.quotations import Quotation, covered, find_quotations
from assistant.tools import Evidence

MARK = "⚠"
_MAX_ELSEWHERE = 20  # documents looked through for a nearest text when nothing is cited
_ECHOES = frozenset({"key", "set", "why", "advice", "filters", "error", "query", "cut", "more"})  # may repeat a model's own words
_ATTRIBUTED = re.compile(r"\n[ \t]*[—–-]{1,2}[^\n]*\Z")
_GAP_BEFORE_PUNCTUATION = re.compile(r"[ \t]+(?=[,.;:!?])")


def check(
    answer: str,
    *,
    question: str,
    evidence: Sequence[Evidence],
    results: Sequence[str],
    stored_text: Callable[[str], str | None],
) -> Checked:
    """Check an answer.

    evidence: every passage retrieved in this conversation. results: contents of this turn's tool results, JSON text, and what
    else the model was told for a fact, such as today's date. stored_text: all that is stored of a key's document, None when gone.
    """
    return Checker(question=question, evidence=evidence, results=results, stored_text=stored_text).check(answer)


class Checker:
    """Checks the blocks of an answer one after the other, for streaming: sources keep their numbers from block to block."""

    def __init__(
        self,
        *,
        question: str,
        evidence: Sequence[Evidence],
        results: Sequence[str],
        stored_text: Callable[[str], str | None],
    ) -> None:
        self.numbering = Numbering(evidence, question)
        self._question = question
        self._documents = Documents(self.numbering.evidence, stored_text)
        self._facts = Facts()
        self._facts.add(question)
        for content in results:
            self._facts.add_result(content)
        self._relied_on: set[str] = set()
        # Titles in a list, names in a table: quoted, but from no passage.
        self._values = StoredText("", [value for content in results for value in values(content, without=_ECHOES)])
        self._earlier: tuple[str, ...] = ()

    def check(self, answer: str) -> Checked:
        """Check a whole answer, or its next block: whole paragraphs, lists or tables."""
        marks = find_keys(answer, self.numbering)
        blank = _blanked(answer, marks)
        quotes, own = self._quotes(answer, blank, marks)
        marks = [mark for mark in marks if mark not in own]
        verified = [quotation for quotation, quote in quotes if quote.verdict == "verified"]
        citations = self._citations(marks)
        figures = self._figures(_blanked(blank, verified), citations)
        self._earlier = next((tuple(mark.known()) for mark in reversed(marks) if mark.known()), self._earlier)
        changes = [edit for mark in marks for edit in edits(mark, self.numbering)]
        failed = [(quotation.start, quotation.end, quote) for quotation, quote in quotes if quote.verdict != "verified"]
        changes += [(end, end, self._remark(quote)) for _, end, quote in failed]
        marked = [(start, end) for start, end, _ in failed]
        missing = [figure for figure in figures if not figure.found and not covered(marked, figure.start)]
        changes += [(figure.end, figure.end, f" ({MARK})") for figure in missing]
        numbers = dict.fromkeys(Number(figure.text, "found" if figure.found else "not found") for figure in figures)
        return Checked(apply(answer, changes), citations, tuple(quote for _, quote in quotes), tuple(numbers))

    def _citations(self, marks: Sequence[KeyMark]) -> tuple[Citation, ...]:
        found: dict[str, Citation] = {}
        for mark in marks:
            for key, written in zip(mark.keys, mark.written, strict=True):
                if key is None:
                    found.setdefault(written, Citation(None, written, None, "unknown"))
                else:
                    found.setdefault(key, Citation(self.numbering.number(key), key, self.numbering.evidence[key], "retrieved"))
        return tuple(found.values())

    def _quotes(self, answer: str, blank: str, marks: Sequence[KeyMark]) -> tuple[list[tuple[Quotation, Quote]], set[KeyMark]]:
        """The quotations that are to be checked with their verdicts, and the brackets in them that are the documents' own."""
        attribution = Attribution(answer, marks, self._earlier)
        starts = [mark.start for mark in marks]
        quotes: list[tuple[Quotation, Quote]] = []
        own: set[KeyMark] = set()
        for quotation in find_quotations(blank):
            inside = marks[bisect_left(starts, quotation.start) : bisect_right(starts, quotation.end)]
            wording = Quoted(_without_citations(quotation) if inside else quotation.text)
            if not wording.is_long or wording.stands_in(self._question):
                continue
            keys = attribution.keys(quotation)
            quote = self._compared(wording, keys)
            if quote.verdict != "verified" and inside and not quotation.is_block:
                as_written = self._compared(Quoted(answer[quotation.start + 1 : quotation.end - 1]), keys)
                if as_written.verdict in {"verified", "elsewhere"}:
                    quote = as_written
                    own.update(mark for mark in inside if not mark.known())
            quotes.append((quotation, quote))
        return quotes, own

    def _compared(self, wording: Quoted, keys: tuple[str, ...]) -> Quote:
        """The verdict on quoted words for which these keys are cited."""
        shown = " ".join(wording.text.split())
        for key in keys:
            if self._documents.hold(key, wording):
                return Quote(shown, key, "verified")
        cited = keys[0] if keys else None
        everywhere = self._documents.one_key_each()
        for key in everywhere:
            if self._documents.hold(key, wording):
                return Quote(shown, cited, "elsewhere", other_key=self._documents.passage_with(key, wording))
        if not keys and self._values.holds(wording):
            return Quote(shown, None, "verified")
        nearest = self._documents.nearest(keys or everywhere[:_MAX_ELSEWHERE], wording)
        return Quote(shown, cited, "altered" if nearest else "not found", nearest=nearest)

    def _figures(self, blank: str, citations: Sequence[Citation]) -> list[Figure]:
        for citation in citations:
            passage = citation.evidence
            if passage is not None and citation.key not in self._relied_on:
                self._relied_on.add(citation.key)
                if not passage.is_passage:
                    self._facts.add_rows(passage.text)
                for text in (passage.text, source(passage), *names(passage)):
                    self._facts.add(text)
        return check_figures(blank, self._facts)

    def _remark(self, quote: Quote) -> str:
        if quote.other_key is None:
            return f" ({MARK} {quote.verdict})"
        number = self.numbering.numbers.get(quote.other_key)
        place = f"[{number}]" if number else " ".join(self.numbering.evidence[quote.other_key].path.split())
        return f" ({MARK} stands in {place})"


def _without_citations(quotation: Quotation) -> str:
    """The quoted words whose citations were blanked, without the gaps that these leave and the line that names the source."""
    text = _ATTRIBUTED.sub("", quotation.text.rstrip()) if quotation.is_block else quotation.text
    return _GAP_BEFORE_PUNCTUATION.sub("", text)


def _blanked(text: str, spans: Sequence[KeyMark] | Sequence[Quotation]) -> str:
    """The text with these stretches as spaces, so that all else stays in its place."""
    parts: list[str] = []
    at = 0
    for span in spans:
        if span.start >= at:
            parts += (text[at : span.start], " " * (span.end - span.start))
            at = span.end
    return "".join((*parts, text[at:]))
