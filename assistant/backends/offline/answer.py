"""From what the tools returned to an answer: the best sentences, verbatim and cited; a number; a list; or that it is not there.

In: the Plan and the last results of the turn. Out: text. Nothing is said of a document that its own words do not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.backends.offline.evidence import Evidence, Found, Quote, is_table
from assistant.backends.offline.phrases import Phrases, phrases
from assistant.backends.offline.understand import Plan
from assistant.messages import Outcome, ToolResult

MOST_QUOTES = 3
_NEAREST = 3
_QUESTION = re.compile(
    r"^\W*(?:how|why|when|where|who|whom|what|which|whose|is|are|was|were|do|does|did|can|could|should|will|would|has|have"
    r"|wie|warum|wann|wo|wer|was|wem|wen|welche\w?|ist|sind|kann|muss|darf|gibt"
    r"|comment|pourquoi|quand|où|qui|que|quoi|quel\w*|combien|est-ce|cómo|por qué|quién|dónde|cuándo|cuánt\w+|qué|cuál\w*)\b"
    r"|[か吗呢][。？?]?\s*$",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(?P<start>[\d-]+)(?: to (?P<end>[\d-]+)| or (?P<open>later|earlier))? \((?P<field>\w+)\)"  # as search results write it
)
_MARKED = re.compile(r"(?<!\w)['\"“]([^'\"”]+)['\"”](?!\w)")
# Chosen on the fixed cases of data/evals/library.jsonl and some fifty questions of our own, none of which is in a file.
_ENOUGH_WORDS = 0.55  # share of the query's words, by length, with which the words decide
_ENOUGH_TOGETHER = 0.93  # the same share plus the cosine, below which a question is not answered
_ENOUGH_NARROWED = 0.65  # the same, where filters have chosen the documents
_NEAR = 0.5  # cosine from which a passage is on the subject, whatever its words
_RELATED = 0.5  # coverage and cosine from which a passage that does not answer may well be about the same
_FAR = 0.25  # cosine below which even a topic is somewhere else
_FEW_WORDS, _FEW_WORDS_NARROWED = 0.5, 0.3  # shares below which a question is not answered, where the cosine is not known
_FEW_GRAMS = 0.3  # the same for scripts without spaces, whose n-grams are also parts of other words
_LIFTED = 20  # ranks
_LONGEST_QUOTE = 240  # characters of a sentence that stands beside a document which does not answer
_QUOTATION_MARK = re.compile(r"[\"“”„«»「」]")
_MOST_OF = 0.75
_NUMBER = re.compile(
    r"^\W*(?:how (?:long|many|much|often|old|large|big|far|fast|high)|when|until when|wie (?:viele?|lange|oft|hoch|groß|weit)|wann"
    r"|bis wann|combien|quand|cu[aá]nt\w+|cuándo)\b|何(?:日|人|件|時|円|桁|回|年|月|分)|いくら|いつ|几|多少|什么时候",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said. outcome: "absent" when it is not in the documents, "partial" when there was no way to look."""

    text: str
    outcome: Outcome = "answer"


Lacking = tuple[str, str, tuple[str, ...]]  # filter, the value asked for, the values there are


def compose(
    plan: Plan,
    question: str,
    results: Sequence[ToolResult],
    *,
    lacking: Sequence[Lacking] = (),
    without_days: bool = False,
) -> Answer:
    """The answer from the results of the turn, the last of which decides.

    lacking: what was asked for and is no name of the library, which tools refuse: an error then means that there are none.
    without_days: no document has the days of the plan, and the last search went without them.
    """
    said = phrases(plan.language)
    if not without_days:
        return _composed(plan, question, results, lacking, said)
    answer = _composed(plan.undated, question, results, lacking, said)
    return replace(answer, text=f"{said.undated.format(days=plan.days)}\n\n{answer.text}")


def _composed(plan: Plan, question: str, results: Sequence[ToolResult], lacking: Sequence[Lacking], said: Phrases) -> Answer:
    if not results:
        return Answer(said.no_tool, "partial")
    last = results[-1]
    value = read_result(last)
    if last.is_error and lacking:
        names = [f"- {said.fields.get(name, name)}{said.colon} {said.comma.join(known)}" for name, _, known in lacking]
        wanted = said.comma.join(f"{said.fields.get(name, name)} {each}" for name, each, _ in lacking)
        return Answer("\n".join([said.absent + said.brackets.format(wanted), *names]), "absent")
    if last.is_error or value is None:
        return Answer(said.failed.format(reason=last.content.strip().removeprefix("Error: ")), "partial")
    if value.get("hits"):
        return _from_hits(plan, question, value, said)
    if "total" in value and value.get("found") != 0 and value["total"]:
        return Answer(_listed(value, said, plan) if "documents" in value else _counted(value, said))
    return Answer(_nothing(value, said), "absent")


def read_result(result: ToolResult) -> dict[str, Any] | None:
    """The object that a tool returned, None where it is none."""
    try:
        value = json.loads(result.content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _filters(value: Mapping[str, Any], said: Phrases) -> str:
    """The filters as the tool understood them, without the name of a set: the notices have said what is in it."""
    filters = value.get("filters")
    if not isinstance(filters, Mapping):
        return ""
    parts = []
    for name, each in filters.items():
        written = said.comma.join(map(str, each)) if isinstance(each, list) else str(each)
        if name == "dates":
            parts.append(_dates(written, said))
        elif name != "within":
            parts.append(f"{said.fields.get(name, name)} {written}")
    return said.comma.join(parts)


def _dates(written: str, said: Phrases) -> str:
    """The dates of a tool's result in the language of the answer."""
    span = _SPAN.fullmatch(written)
    if not span or not said.fields:
        return written
    field = span["field"]
    start, end = span["start"], span["end"]
    days = start
    if end or span["open"]:
        days = said.days(None, start) if span["open"] == "earlier" else said.days(start, end)
    return days + (said.brackets.format(said.fields[field]) if field in said.fields else "")


def _total(value: Mapping[str, Any], said: Phrases, *, shown: int = 0) -> str:
    """How many there are, with the filters. shown: of how many of them alone the answer speaks."""
    total, filters = value["total"], _filters(value, said)
    number = said.one_document if total == 1 else said.documents.format(total=total)
    number = said.some.format(shown=shown, total=total) if shown else number
    return number + said.brackets.format(filters) if filters else number


def _counted(value: Mapping[str, Any], said: Phrases) -> str:
    counts = value.get("counts")
    if not isinstance(counts, Mapping) or not counts:
        return _total(value, said) + said.stop
    return "\n".join([_total(value, said) + said.colon, *(f"- {name}: {count}" for name, count in counts.items())])


def _listed(value: Mapping[str, Any], said: Phrases, plan: Plan) -> str:
    documents = list(value["documents"])
    some = 0 < plan.limit < value["total"]
    if plan.oldest:
        documents.reverse()
    lines = [_total(value, said, shown=len(documents) if some else 0) + said.colon, ""]
    for document in documents:
        details = ", ".join(_line(document[name]) for name in ("path", "date") if document.get(name))
        key = f" [{document['key']}]" if document.get("key") else ""
        lines.append(f"- {_line(document.get('title') or document.get('path') or '')} ({details}){key}")
    goes_on = not some and (value.get("more") or (plan.oldest and len(documents) < value["total"]))
    return "\n".join([*lines, *(["", said.goes_on] if goes_on else [])])


def _nothing(value: Mapping[str, Any], said: Phrases) -> str:
    filters = _filters(value, said)
    why = value.get("why")
    # In brackets, not quotation marks: they would pass for words of a document.
    reasons = ["- " + _MARKED.sub(r"(\1)", _line(reason)) for reason in why] if isinstance(why, list) and said.own_reasons else []
    return "\n".join([said.absent + said.brackets.format(filters) if filters else said.absent, *reasons])


def is_answered(plan: Plan, question: str, value: Mapping[str, Any]) -> bool:
    """Whether the hits of a search answer; its result without any does not."""
    if not value.get("hits"):
        return False
    return not is_absent(_evidence(plan, question, value), asks=bool(_QUESTION.search(question)), narrowed=bool(plan.filters))


def _evidence(plan: Plan, question: str, value: Mapping[str, Any]) -> Evidence:
    return Evidence(
        plan.query,
        [Found.of(hit) for hit in value["hits"] if isinstance(hit, Mapping)],
        question=question,
        topics=plan.topics,
        language=plan.language,
        number=bool(_NUMBER.search(question)),
        names=not plan.beside,
    )


def _from_hits(plan: Plan, question: str, value: Mapping[str, Any], said: Phrases) -> Answer:
    evidence = _evidence(plan, question, value)
    hits = evidence.hits
    if plan.intent == "similar":
        return Answer(_quoted(_per_document(evidence, range(len(hits))), said))
    narrowed = bool(plan.filters)
    if is_absent(evidence, asks=bool(_QUESTION.search(question)), narrowed=narrowed):
        return Answer(_absent(evidence, said, narrowed=narrowed), "absent")
    order, certain = ranked(evidence, narrowed=narrowed)
    quotes = _best(evidence, order) if certain and not plan.documents else _per_document(evidence, order)
    if not quotes:  # the hits are tables, of which words alone say nothing
        return Answer(_absent(evidence, said, narrowed=narrowed), "absent")
    return Answer(_quoted(quotes, said) if certain else f"{said.weak}\n\n{_quoted(quotes, said)}")


def ranked(evidence: Evidence, *, narrowed: bool) -> tuple[list[int], bool]:
    """The hits in the order in which they answer, and whether the words, not the meaning alone, say so.

    As the search ranks them, but without those before the others that hold much less of the query. Where no hit holds enough of
    it the words are chance, and the cosine decides; where results do not say it, a hit that stands high without the words does so
    by its meaning, and one with them has been lifted by chance. narrowed: filters chose the documents, which leaves less to chance.
    """
    words, order = evidence.coverage, list(range(len(evidence.hits)))
    if any(evidence.identified):
        order.sort(key=lambda index: not evidence.identified[index])
        return order, True
    if max(words) >= (_FEW_WORDS_NARROWED if narrowed else _ENOUGH_WORDS):
        order.sort(key=lambda index: words[index] < _MOST_OF * max(words))
        return order, True
    if any(hit.similarity is not None for hit in evidence.hits):
        order.sort(key=lambda index: -(evidence.hits[index].similarity or 0.0))
        return order, max(evidence.together) >= _ENOUGH_TOGETHER
    # Where the search went by words alone every hit holds some, and all are lifted alike.
    order.sort(key=lambda index: index + _LIFTED * words[index])
    return order, False


def is_absent(evidence: Evidence, *, asks: bool, narrowed: bool) -> bool:
    """Whether the hits do not answer. asks: a question; a mere topic is given more room. narrowed: filters chose the documents.

    A name that no hit holds decides, and so does an identifier that one holds. Else the share of the query's words that a hit holds
    and its cosine are added, because either alone is often chance; where results do not say the cosine, the words are all there is.
    """
    if not evidence.hits or evidence.missing:
        return True
    if any(evidence.identified):
        return False
    words = evidence.coverage
    known = [hit.similarity for hit in evidence.hits if hit.similarity is not None]
    if not known:
        few = _FEW_GRAMS if evidence.unspaced else 0.0
        return max(words) < ((_FEW_WORDS_NARROWED if narrowed else _FEW_WORDS) if asks and not evidence.unspaced else few)
    if not asks:
        return max(known) < _FAR and max(words) < _ENOUGH_WORDS
    return max(known) < _NEAR and max(evidence.together) < (_ENOUGH_NARROWED if narrowed else _ENOUGH_TOGETHER)


def _absent(evidence: Evidence, said: Phrases, *, narrowed: bool) -> str:
    """That it is not there, or not for certain, with the names that are missing and what the nearest documents say.

    narrowed: filters chose the documents, any of which may be meant.
    """
    missing = said.brackets.format(said.comma.join(evidence.missing)) if evidence.missing else ""
    unsure = bool(evidence.hits) and not missing and (narrowed or max(evidence.together) >= _RELATED)
    opening = said.unsure if unsure else said.absent + missing
    near: dict[str, int] = {}
    for index, hit in enumerate(evidence.hits):
        near.setdefault(hit.path, index)
    lines = [_nearest(evidence, index, said, unsure=unsure) for index in list(near.values())[:_NEAREST]]
    if not lines:
        return opening
    return "\n".join([f"{opening}{'' if said.brackets[0] == '（' else ' '}{said.nearest}", "", *lines])


def _nearest(evidence: Evidence, index: int, said: Phrases, *, unsure: bool) -> str:
    """A document that does not answer, with the sentence of it that shares the most words with the question.

    unsure: it may answer nonetheless, so that a sentence is shown even when it shares no word.
    """
    hit = evidence.hits[index]
    line = f"- {_line(hit.title)} ({_line(hit.path)}) [{hit.key}]"
    best = next(iter(evidence.quotes(index, 1)), None)
    if best is None or not (best.score or unsure) or best.kind in {"code", "row"} or is_table(hit.path):
        return line
    if len(best.text) > _LONGEST_QUOTE or _QUOTATION_MARK.search(best.text):
        return line
    opening, closing = said.quotes
    return f"{line}{said.colon} {opening}{_line(best.text)}{closing}"


def _per_document(evidence: Evidence, order: Sequence[int]) -> list[Quote]:
    """The best sentence of each of the first documents; after the first only of those that hold as much of the query."""
    quotes: dict[str, Quote] = {}
    for index in order:
        hit = evidence.hits[index]
        if hit.path in quotes or len(quotes) == MOST_QUOTES or (quotes and not _as_good(evidence, index, order[0])):
            continue
        best = evidence.quotes(index, 1)
        if best:
            quotes[hit.path] = best[0]
    return list(quotes.values())


def _as_good(evidence: Evidence, index: int, first: int) -> bool:
    """Whether a hit holds nearly as much of the query as the first one, and means nearly as much."""
    cosine, best = evidence.hits[index].similarity, evidence.hits[first].similarity
    if cosine is not None and best is not None and evidence.coverage[first] < _ENOUGH_WORDS and cosine < 0.8 * best:
        return False
    return evidence.coverage[index] >= 0.6 * evidence.coverage[first]


def _best(evidence: Evidence, order: Sequence[int]) -> list[Quote]:
    """The best sentence of the best hit, then the best of the others that say nearly as much."""
    first = evidence.quotes(order[0], 2)
    if not first:
        return _per_document(evidence, order)
    others = [quote for index in order[1:5] for quote in evidence.quotes(index, 1)]
    more = sorted((*first[1:], *others), key=lambda quote: -quote.score)
    chosen = [first[0]]
    for quote in more:
        if (
            len(chosen) < MOST_QUOTES
            and quote.score >= 0.75 * first[0].score > 0
            and all(quote.text != kept.text for kept in chosen)
        ):
            chosen.append(quote)
    return chosen


def _quoted(quotes: Sequence[Quote], said: Phrases) -> str:
    return "\n\n".join(_quotation(quote, said) for quote in quotes)


def _quotation(quote: Quote, said: Phrases) -> str:
    """The words in quotation marks, or as a block where they hold such marks or are code; then where they stand."""
    text, source = quote.text, f"{_line(quote.found.title)}, {_line(quote.found.source)}"
    if quote.kind in {"code", "row"} or _QUOTATION_MARK.search(text):
        block = "\n".join(f"> {line.strip()}" for line in text.splitlines() if line.strip())
        return f"{block}\n[{quote.found.key}] {source}"
    opening, closing = said.quotes
    return f"{opening}{_line(text)}{closing} [{quote.found.key}] {source}"


def _line(text: object) -> str:
    return " ".join(str(text).split())
