"""Questions that go on from the one before: "and those from March?", "what about the staging one?", "und die vom März?".

In: the questions of a conversation, the last one last. Out: Followed, what the last one means as a whole. A question goes on when
it begins so or points back, and says little of its own; then its filters and words are laid over those of the question before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from assistant.backends.offline import wording
from assistant.backends.offline.catalogue import Catalogue
from assistant.backends.offline.names import Names, singulars
from assistant.backends.offline.tables.models import Reading
from assistant.backends.offline.understand import SPOKEN, Plan, intent_of, understand
from search.languages import STOPWORDS

_MOST_TURNS = 10
_LONGEST = 160  # characters of a question that goes on
_MOST_WORDS = 3  # of its own that such a question has
_MOST_REPLACED = 3  # words of a question over tables that another one takes the place of
_JOINING = r"(?:and|und|et|y|but|aber|also|auch|then|dann|now|jetzt|ok|okay|or|oder|so)"
_LEAD = re.compile(
    rf"^\W*(?:(?:{_JOINING})\b[\s,]*)*"
    r"(?:(?:what|how) (?:about|of)\b|(?:the )?same (?:again )?(?:for|with|in)\b|only\b|just\b|nur\b|lediglich\b|noch mal\b"
    r"|(?:was|wie) (?:ist|war|sieht es|steht es|wäre es)(?: denn| das)? (?:mit|bei|um)\b|(?:dasselbe|das gleiche) (?:für|mit|in)\b"
    r"|seulement\b|solo\b|et pour\b)?[\s,]*",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:(?:of |from |among |in |about |for )?(?:those|these|them)(?: ones?)?|the (?:ones?|others?)|(?:that|this) one|ones?"
    r"|davon|darunter|darüber|dazu|daran|darin|dafür|damit|von denen|von diesen|unter diesen|denen|diejenigen|solche[nr]?)\b",
    re.IGNORECASE,
)
_WEAKLY_BACK = re.compile(r"\b(?:about |with |for )?(?:it|its|they|their|he|she|his|her)\b", re.IGNORECASE)
# "und die vom März", "und das für Osaka": an article that stands for what was asked for.
_ARTICLE = re.compile(
    r"^(?:die|das|der|den|jene)\s+(?=(?:vom|von|aus|im|in|für|mit|ohne|seit|nach|vor|zum|zur|über|auf|bei|am)\b)", re.IGNORECASE
)
_ASKING = re.compile(
    r"\b(?:how|why|when|where|who|whom|what|which|whose|is|are|was|were|do|does|did|can|could|should|will|would|list|show|find"
    r"|wie|warum|wann|wo|wer|was|wem|wen|welche\w?|ist|sind|kann|muss|darf|gibt|zeig\w*|liste|finde)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(r"[\s,]*\b(?:please|bitte|thanks|danke)\b", re.IGNORECASE)
_BEFORE_VALUE = re.compile(
    r"^(?:in|on|for|at|of|from|by|with|im|für|von|vom|bei|aus|mit|am|the|a|die|der|das|den|dem)\s+", re.IGNORECASE
)
_DATES = ("after", "before", "date_field")
_WORD = re.compile(r"[^\s,;:?!¿¡]+")
_KIND = {"de": "Dokumente", "fr": "documents", "es": "documentos"}

Read = Callable[[str], Reading | None]


@dataclass(frozen=True, slots=True)
class Followed:
    """What a question means.

    text: as a question of its own, for tables and for weighing sentences. reading: it is one over tables. goes_on: it needed those
    before it. subject: what to search for by the last question that stood alone; "and the parking?" takes the place of "and the
    travel?" before it.
    """

    text: str
    plan: Plan
    reading: Reading | None = None
    goes_on: bool = False
    subject: str = ""


def follow(questions: Sequence[str], catalogue: Catalogue, read: Read, *, today: date | None = None) -> Followed:
    """What the last question means. read: reads a question over tables, None where it is none."""
    recent = questions[-_MOST_TURNS:]
    first = len(recent) - 1
    while first > 0 and _remainder(recent[first], catalogue, today) is not None:
        first -= 1
    followed = _alone(recent[first] if recent else "", catalogue, read, today)
    for question in recent[first + 1 :]:
        followed = _on_from(followed, question, catalogue, read, today)
    return followed


def _alone(text: str, catalogue: Catalogue, read: Read, today: date | None) -> Followed:
    plan = understand(text, catalogue, today=today)
    return Followed(text, plan, read(text), subject=plan.query)


def _on_from(before: Followed, question: str, catalogue: Catalogue, read: Read, today: date | None) -> Followed:
    said = _remainder(question, catalogue, today)
    if said is None:
        return _alone(question, catalogue, read, today)
    if before.reading is not None:
        for text in _variants(before, said, read):
            reading = read(text)
            if reading is not None:
                plan = understand(text, catalogue, today=today)
                return Followed(text, replace(plan, language=before.plan.language), reading, goes_on=True, subject=plan.query)
    own = _own_plan(said, before.plan.language, catalogue, today)
    language = _language(question, before.plan.language)
    base = replace(before.plan, query=before.subject) if own.query and before.subject else before.plan
    plan = _laid_over(base, own, language, counting=bool(wording.COUNTING.search(question)))
    return Followed(f"{before.text.rstrip()} {question}", plan, goes_on=True, subject=before.subject or plan.query)


def _remainder(question: str, catalogue: Catalogue, today: date | None) -> str | None:
    """What a question that goes on says of its own; None for one that stands alone."""
    if len(question) > _LONGEST or "\n" in question.strip():
        return None
    lead = _LEAD.match(question)
    begun = bool(lead and lead[0].strip(" ,¿¡"))
    rest = question[lead.end() :] if lead else question
    said, back = _BACK.subn(" ", rest)
    said = _ARTICLE.sub("", said.strip()) if begun else said
    weak, weakly = _WEAKLY_BACK.subn(" ", said)
    words = _own_words(weak, catalogue, today)
    few, asks = len(words) <= _MOST_WORDS, bool(_ASKING.search(rest))
    if (begun and not asks) or (back and few):
        return " ".join(said.split())
    if asks and understand(rest, catalogue, today=today).documents:
        return None  # it says itself which documents it is about
    if weakly and len(words) < _MOST_WORDS:
        return " ".join(weak.split())
    if asks and not words and not back and len(rest.split()) <= _MOST_WORDS:
        return ""  # "when?", "and why?"
    return " ".join(said.split()) if begun and not words else None


def _own_words(text: str, catalogue: Catalogue, today: date | None) -> list[str]:
    """The words of a text that say what to look for."""
    plan = understand(text, catalogue, today=today)
    stop = frozenset().union(*(STOPWORDS[code] for code in SPOKEN if code in STOPWORDS))
    return [word for word in re.findall(r"[\w'-]+", plan.query.lower()) if word not in stop and word not in wording.EMPTY_VERBS]


def _own_plan(said: str, language: str, catalogue: Catalogue, today: date | None) -> Plan:
    """The remainder as it is understood, with or without a noun for what is asked for: "from March" or "documents from March"."""
    said = _POLITE.sub("", said)
    alone = understand(said, catalogue, today=today)
    named = understand(f"{_KIND.get(language, 'documents')} {said}", catalogue, today=today)
    better = len(named.filters) > len(alone.filters) or (named.documents and not alone.filters and not named.query)
    found = named if better or named.group_by else alone
    if not _own_words(wording.COUNTING.sub("", said), catalogue, today):
        return replace(found, query="")
    words = _own_words(said, catalogue, today)
    labels = _labels(words, Names(catalogue))
    if labels and not found.filters:
        return replace(found, query="", filters={"metadata": labels})
    return replace(found, topics=tuple(dict.fromkeys((*words, *found.topics))))  # what is new tells most


def _labels(words: Sequence[str], names: Names) -> tuple[str, ...]:
    """Words as values of front matter, where all of them are: "only those for beginners"."""
    labels = [next(filter(None, map(names.label, (word, *singulars(word)))), None) for word in words]
    return tuple("=".join(label) for label in labels if label) if all(labels) else ()


def _laid_over(before: Plan, own: Plan, language: str, *, counting: bool) -> Plan:
    """The plan of the question before with what the next one says in its place."""
    filters = dict(before.filters)
    if "after" in own.filters or "before" in own.filters:
        tested = filters.get("date_field")
        filters = {name: value for name, value in filters.items() if name not in _DATES}
        filters |= {"date_field": tested} if tested else {}
    filters |= own.filters
    grouped = own.group_by or (before.group_by if before.intent == "count" else "")
    query = " ".join(dict.fromkeys(filter(None, (before.query, _bare(own.query)))))
    listed = before.intent in {"list", "count"} and not query
    counts = listed and (counting or bool(own.group_by) or (before.intent == "count" and not (own.oldest or own.limit)))
    intent = "similar" if before.intent == "similar" and not own.query else intent_of(query, counting=counts)
    return replace(
        before,
        intent=intent,
        query=before.query if intent == "similar" else query,
        filters=filters,
        key=before.key if intent == "similar" else "",
        group_by=grouped if intent == "count" else "",
        order_by=own.order_by if own.oldest or own.limit else before.order_by or own.order_by,
        oldest=own.oldest or (before.oldest and not own.order_by),
        limit=own.limit or before.limit,
        documents=before.documents or own.documents,
        language=language,
        days=own.days or before.days,
        topics=tuple(dict.fromkeys((*own.topics, *before.topics))),
        notes=own.notes,
    )


def _bare(query: str) -> str:
    """Words to look for without the signs around them."""
    return query.strip(" ?!.,¿¡")


def _language(question: str, before: str) -> str:
    """The language of a question, that of the one before where its few words do not tell."""
    words = set(re.findall(r"[^\W\d_]{2,}", question.lower()))
    counts = {code: len(words & STOPWORDS[code]) for code in SPOKEN if code in STOPWORDS}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > counts.get(before, 0) else before


def _variants(before: Followed, said: str, read: Read) -> Iterator[str]:
    """The question over tables with what is said now in place of a part of it, or behind it; those that keep what was asked."""
    assert before.reading is not None
    value = said.strip(" ?!.,")
    while (shorter := _BEFORE_VALUE.sub("", value)) != value:
        value = shorter
    if not value:
        return
    was, text = before.reading, before.text.rstrip(" ?!.")
    words = list(_WORD.finditer(text))
    spans = [
        (words[first].start(), words[first + length - 1].end())
        for length in range(1, _MOST_REPLACED + 1)
        for first in range(len(words) - length + 1)
    ]
    swapped = [(text[:start] + value + text[end:], text[start:end]) for start, end in spans]
    readings = [(candidate, reading) for candidate, _ in swapped if (reading := read(candidate)) is not None and reading != was]
    for same in (_other_values, _other_measure, _other_rank):
        yield from (candidate for candidate, reading in readings if same(was, reading))
    added = f"{text} {said.strip(' ?!.,')}"
    reading = read(added)
    if (
        reading is not None
        and reading != was
        and reading.measures == was.measures
        and set(was.conditions) <= set(reading.conditions)
    ):
        yield added


def _other_values(was: Reading, now: Reading) -> bool:
    """Whether the same is asked of the same columns, with other values."""
    rest = replace(_as_sure(now, was), conditions=was.conditions, over=was.over, language=was.language)
    return rest == was and _columns(was) == _columns(now) and _tests(was) != _tests(now)


def _other_measure(was: Reading, now: Reading) -> bool:
    """Whether another number is asked of the same rows."""
    same = (was.conditions, was.groups, was.over) == (now.conditions, now.groups, now.over)
    return same and bool(now.measures) and now.measures != was.measures and len(now.measures) == len(was.measures)


def _other_rank(was: Reading, now: Reading) -> bool:
    """Whether as much is asked of more or fewer rows, or of those at the other end."""
    inner = now.over is None if was.over is None else now.over is not None and _other_rank(was.over, now.over)
    return inner and replace(_as_sure(now, was), ranking=was.ranking, over=was.over) == was


def _as_sure(now: Reading, was: Reading) -> Reading:
    """A reading with the doubts of another: how sure the rules are of it does not tell what is asked."""
    return replace(now, unsure=was.unsure, unread=was.unread, doubt=was.doubt, certain=was.certain)


def _columns(reading: Reading) -> list[str]:
    inner = _columns(reading.over) if reading.over else []
    return sorted([*(str(condition.ref) + condition.op for condition in reading.conditions), *inner])


def _tests(reading: Reading) -> list[str]:
    inner = _tests(reading.over) if reading.over else []
    return sorted([*(repr((condition.ref, condition.op, condition.value)) for condition in reading.conditions), *inner])


__all__ = ["Followed", "follow"]
