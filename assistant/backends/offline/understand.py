"""From a question to a plan: which tool, with which filters, and what is left to search for.

In: the text of a question, a Catalogue, the day. Out: Plan. Rules only, no model: filters are read from the words, in an order in
which each rule sees what the ones before have left (dates, tags, metadata, authors, languages, then the documents asked for).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal

from assistant.backends.offline import unspaced, wording
from assistant.backends.offline.asked import Asked, find_asked
from assistant.backends.offline.catalogue import Catalogue
from assistant.backends.offline.dating import Dated, find_dates
from assistant.backends.offline.fields import find_fields, find_listed_field
from assistant.backends.offline.named import find_author, find_file_type, find_language, find_metadata, find_tags
from assistant.backends.offline.names import Names
from assistant.backends.offline.ordering import Ordered, find_order, find_order_behind
from assistant.backends.offline.phrases import phrases
from assistant.backends.offline.question import Question
from assistant.backends.offline.unspaced import Unspaced
from search.languages import STOPWORDS

Intent = Literal["search", "keyword", "similar", "list", "count"]
SPOKEN = ("en", "de", "fr", "es", "ja", "zh")
_IDENTIFIER = re.compile(r"(?=.*[\d_.:/#+-]|.*[a-z][A-Z])[\w.:/#+@-]{3,}")
_LONGEST_TEXT = 2000  # characters of a pasted text
_LONGEST_QUESTION = 2000


@dataclass(frozen=True, slots=True)
class Plan:
    """A question as it was understood.

    query: what to search for, "" when the filters say everything. filters: arguments of filter_documents and count_documents;
    dates as ISO days, `before` exclusive. key: the passage to find others like. oldest: the end of the list that `order_by` gives
    is wanted. limit: how many are, 0 where that is not said. documents: documents are asked for rather than a fact. topics: words
    of the query that are tags or formats of the library. beside: the query is made of words of a text beside the question, none of
    which has to be there. language: in which the fixed phrases of the answer are said. notes: what
    was not understood as written.
    """

    intent: Intent
    query: str
    filters: Mapping[str, Any] = field(default_factory=dict)
    key: str = ""
    group_by: str = ""
    order_by: str = ""
    oldest: bool = False
    limit: int = 0
    documents: bool = False
    language: str = "en"
    days: str = ""
    topics: tuple[str, ...] = ()
    beside: bool = False
    notes: tuple[str, ...] = ()

    @property
    def undated(self) -> Plan:
        """The same without its days, for a question whose days are in the text of documents, not in their dates."""
        years = {str(self.filters.get(name, ""))[:4] for name in ("after", "before")} - {""}
        filters = {name: value for name, value in self.filters.items() if name not in {"after", "before", "date_field"}}
        first = min(years, default="")
        return replace(self, query=f"{self.query} {first}".strip(), filters=filters, days="")

    @property
    def said(self) -> str:
        """How the question was understood, for the person."""
        words = phrases(self.language)
        verbs, fields = words.verbs, words.fields
        parts = [verbs[self.intent] if self.intent in {"count", "list", "similar"} else verbs["search"].format(query=self.query)]
        for name, value in self.filters.items():
            if name not in {"after", "before", "date_field"}:
                parts.append(f"{fields.get(name, name)} {words.both.join(value) if isinstance(value, tuple) else value}")
        dated = str(self.filters.get("date_field", ""))
        parts += [f"{fields.get(dated, dated)} {self.days}".strip()] if self.days else []
        parts += [verbs["by"].format(field=fields.get(self.group_by, self.group_by))] if self.group_by else []
        return words.understood.format(parts=words.comma.join(parts))


def understand(text: str, catalogue: Catalogue, *, today: date | None = None) -> Plan:
    """Read a question. today: the day that phrases such as "last month" are said on; else ARCHIVIST_TODAY or the local day."""
    names, language = Names(catalogue), spoken_language(text[:_LONGEST_QUESTION], catalogue)
    similar = _similar(text, language)
    if similar:
        return similar
    text = text[:_LONGEST_QUESTION]
    question = Question(text, language=language, is_head=names.is_document, is_name=names.is_compound)
    dated = find_dates(question, today, is_document=names.is_document)
    counting = wording.COUNTING.search(question.free_text())
    fields = find_fields(question, names)
    listed_field, of_categories = find_listed_field(question, names)
    group_by = listed_field or _grouping(question)
    behind = find_order_behind(question, names)
    asked, unwritten = _asked(question, names, counting)
    counted = counting is not None or unwritten.counting
    for name, values in (*fields.items(), ("category", of_categories)):
        getattr(asked, name).extend(values)
    asked.documents = asked.documents or bool(listed_field) or (bool(fields) and not question.rest(_is_empty))
    filters = _filters(asked, dated)
    ordered = find_order(question, names, asked.first, asked.head, behind) if asked.documents else Ordered()
    ordered = unwritten.ordered if unwritten.documents else ordered
    query = question.rest(_is_empty) if question.touched else text.strip()
    query = "" if asked.documents and wording.UNSPACED_REST.match(query) else query
    counts = asked.documents and (counted or bool(group_by))
    intent = intent_of(query, counting=counts)
    return Plan(
        intent=intent,
        query=query if intent in {"search", "keyword"} else "",
        filters=filters,
        group_by=group_by if intent == "count" else "",
        order_by="date" if ordered.order else ({"modified": "modified"}.get(dated.field, "date") if dated else ""),
        oldest=ordered.order == "oldest",
        limit=ordered.limit,
        documents=asked.documents,
        language=language,
        days=_days(dated, language),
        topics=tuple(word for word in re.findall(r"\w+", query.lower()) if names.tag(word) or names.format(word)),
        notes=tuple(
            filter(None, (dated.note if dated else "", phrases(language).uncounted if counts and intent != "count" else ""))
        ),
    )


def _asked(question: Question, names: Names, counting: re.Match[str] | None) -> tuple[Asked, Unspaced]:
    """The filters that the question names, and what it asks for in a script without spaces."""
    tags, metadata, formats = find_tags(question, names), find_metadata(question, names), find_file_type(question, names)
    opened = _opening(question, counting)
    unwritten = unspaced.read(question, names)
    # A first look at the noun phrase tells whether "from NAME" may be an author; authors are taken before the phrase is.
    looks_asked = find_asked(question.untouched(), names, opened=opened, counting=False).documents
    author, language = find_author(question, names, after_documents=looks_asked), find_language(question, asked=looks_asked)
    asked = find_asked(question, names, opened=opened, counting=counting is not None)
    if counting and asked.documents:
        question.take(*counting.span())
    asked.tags, asked.author = tags, author
    asked.metadata += metadata
    asked.language += language
    asked.format += formats + unwritten.format
    asked.category += unwritten.category
    asked.documents = asked.documents or unwritten.documents
    return asked, unwritten


def spoken_language(text: str, catalogue: Catalogue) -> str:
    """The language to answer in: the question's, as far as it can be told from a few words, else English."""
    unspaced_language = unspaced.language_of(text, catalogue.languages)
    if unspaced_language:
        return unspaced_language
    words = set(re.findall(r"[^\W\d_]{2,}", text.lower()))
    counts = {code: len(words & STOPWORDS[code]) for code in SPOKEN if code in STOPWORDS}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > counts["en"] else "en"


def _similar(text: str, language: str) -> Plan | None:
    """Documents like a passage, like a text behind a colon, or like a pasted stack trace."""
    keyed = wording.SIMILAR_KEY.search(text)
    if keyed:
        return Plan("similar", "", key=keyed["key"], documents=True, language=language)
    match = wording.SIMILAR.search(text) or wording.SIMILAR_UNSPACED.search(text)
    if match:
        return Plan("similar", match["text"].strip()[:_LONGEST_TEXT], documents=True, language=language)
    if wording.TRACE.search(text) and "\n" in text.strip():
        return Plan("similar", text.strip()[-_LONGEST_TEXT:], language=language)
    return None


def _opening(question: Question, counting: re.Match[str] | None) -> int | None:
    """The word at which the noun phrase of a request begins; None where nothing opens one."""
    if counting:
        return next((i for i, word in enumerate(question.words) if word.start >= counting.end() - 1), None)
    match = wording.OPENING.match(question.text)
    if not match:
        return None
    question.take(*match.span())
    index = next((i for i, word in enumerate(question.words) if word.start >= match.end()), None)
    if index is not None and question.words[index].lower in wording.ASKING:
        index += 1
    return index


def _grouping(question: Question) -> str:
    match = wording.GROUPING.search(question.free_text())
    if not match:
        return ""
    question.take(*match.span())
    return wording.GROUPS[match["what"].lower()]


def _filters(asked: Asked, dated: Dated | None) -> dict[str, Any]:
    """The filters as arguments of a tool."""
    lists = {name: getattr(asked, name) for name in ("category", "tags", "format", "author", "language", "metadata")}
    filters: dict[str, Any] = {name: tuple(dict.fromkeys(values)) for name, values in lists.items() if values}
    if dated and dated.start:
        filters["after"] = dated.start
    if dated and dated.before:
        filters["before"] = dated.before
    if dated and dated.field != "date" and (dated.start or dated.end):
        filters["date_field"] = dated.field
    return filters


def _days(dated: Dated | None, language: str) -> str:
    """The days of a date filter in words."""
    if dated is None or not (dated.start or dated.end):
        return ""
    return phrases(language).days(dated.start, dated.end)


def _is_empty(word: str) -> bool:
    if word.lower() in wording.GENERIC_KINDS:  # nouns have capitals in German
        return True
    return word in wording.EMPTY_VERBS or word in wording.DETERMINERS or word in wording.ASKING


def intent_of(query: str, *, counting: bool) -> Intent:
    """What to do with what is left to look for."""
    if not query:
        return "count" if counting else "list"
    bare = query.strip(" ?!.")
    quoted = re.fullmatch(r"[\"“„][^\"“”]+[\"”“]", bare)
    if quoted or all(_IDENTIFIER.fullmatch(word) for word in bare.split()):
        return "keyword"
    return "search"
