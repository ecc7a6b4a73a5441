"""The search functions of a library as tools: what a model may look up, and never more than the person's scope allows.

The scope is ANDed into every call by way of `Filters.within`, so that no argument widens it. A set is the filters it was made
with, dates resolved: it stays right when the library is indexed again. Each call sees one state of the library.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import Any, NoReturn

from assistant import search_declarations as declaring
from assistant import search_results as showing
from assistant.checking import example_of
from assistant.errors import ToolCallError, ToolError
from assistant.results import RESULT_BUDGET, compact
from assistant.search_results import Item
from assistant.tools import Tool, ToolOutput
from search import Document, EmbedderError, FilterError, Filters, Hit, Library, LibraryError, NotFoundError, Passage, QueryError
from search.filters import parse_condition
from search.hiding import revealed

_NAMED = ("category", "format", "language", "author")
_PASSAGES = 60  # of a document read at once
_PLACE = re.compile(r"(.+?)(?::([0-9]{1,9})(?:-[0-9]{1,9})?| p\. [0-9]+)")  # a path with its place, as a hit's source has it
_AS_ARGUMENT = {"where": "metadata", "tag": "tags", "tag and where": "metadata", "date-field": "date_field"}
_EVERYTHING = Filters()
_SCOPED = "outside the scope that the person has set"


def build(
    library: Library, scope: Filters = _EVERYTHING, today: date | None = None, *, budget: int = RESULT_BUDGET, sets: int = 0
) -> tuple[Tool, ...]:
    """The seven search tools over a library.

    scope: the person's own filters, which hold in every call; what it hides is not there. today: the day that phrases count from,
    each call's own when None. budget: characters of a result, as the toolbox has it. sets: how many a conversation has named
    before: new ones are numbered from there. Raises FilterError for a scope that is not understood.
    """
    return SearchTools(library, scope, today, budget=budget, sets=sets).tools()


class SearchTools:
    """The tools of one conversation, with the sets that it has named so far. Safe to use from several threads."""

    def __init__(self, library: Library, scope: Filters, today: date | None, *, budget: int = RESULT_BUDGET, sets: int = 0) -> None:
        self._library = library
        self._scope = scope if scope != _EVERYTHING else None
        self._is_narrowed = revealed(scope) != _EVERYTHING
        self._there = Filters(hidden=scope.hidden)
        self._today = today
        self._budget = budget
        resolved, field = library.resolved_dates(scope, today=today)
        self._scope_words = "; ".join(f"{name} {words}" for name, words in showing.in_words(scope, resolved, field).items())
        self._names = declaring.vocabulary(library, scope, today)
        self._declarations = declaring.declarations(self._names)
        self._sets: dict[str, Filters] = {}
        self._sets_before = sets
        self._lock = threading.Lock()

    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order in which they are declared."""
        runs: dict[str, Callable[..., ToolOutput]] = {
            "hybrid_search": partial(self._search, self._library.hybrid_search),
            "keyword_search": partial(self._search, self._library.keyword_search),
            "vector_search": partial(self._search, self._library.vector_search, by_words=False),
            "find_similar": self._find_similar,
            "filter_documents": self._filter_documents,
            "count_documents": self._count_documents,
            "read_document": self._read_document,
        }
        naming = {"filter_documents", "count_documents"}
        return tuple(
            Tool(name, declared.description, declared.parameters, partial(self._run, name, runs[name]), in_order=name in naming)
            for name, declared in self._declarations.items()
        )

    def _run(self, name: str, do: Callable[..., ToolOutput], **arguments: Any) -> ToolOutput:
        """Run one tool on one state of the library; what the library refuses is said of the model's own argument."""
        given = {key: value for key, value in arguments.items() if value not in ("", [])}
        try:
            with self._library.snapshot():
                return do(**given)
        except NotFoundError:
            raise
        except (FilterError, QueryError) as error:
            self._refuse(name, given, error)
        except (EmbedderError, LibraryError) as error:
            if name in {"hybrid_search", "vector_search", "find_similar"}:
                raise ToolError("search by meaning is not possible now; use keyword_search, which needs no model") from error
            raise

    def _refuse(self, name: str, given: Mapping[str, Any], error: FilterError | QueryError) -> NoReturn:
        """Raise ToolCallError for an error of the library that names one of the arguments; any other goes on as it is."""
        properties = self._declarations[name].parameters["properties"]
        head, _, problem = str(error).partition(": ")
        for candidate in (head, head.partition(" ")[0]):
            argument = _AS_ARGUMENT.get(candidate, candidate)
            if argument in properties:
                break
        else:
            raise error
        if "'" in head:  # two filters that exclude each other: both are named in a sentence
            problem = str(error)
        right = {key: value for key, value in given.items() if key != argument} | {argument: example_of(properties[argument])}
        hint = f" ({error.hint})" if error.hint and "--" not in error.hint else ""
        raise ToolCallError(f'bad arguments for {name}: "{argument}": {problem}{hint}; send JSON like {compact(right)}') from None

    # Searching

    def _search(
        self, way: Callable[..., list[Hit]], query: str, limit: int = 10, *, by_words: bool = True, **narrowing: Any
    ) -> ToolOutput:
        filters, words = self._filters(narrowing)
        found = way(query, filters, limit, today=self._today)
        kept = self._withheld_hits(filters, lambda all_of: way(query, all_of, limit, today=self._today))
        if not found:
            return replace(self._nothing(self._library.why_empty(query, filters, today=self._today), words), withheld=kept)
        notes = self._library.notes(query, filters, today=self._today) if by_words else []
        return replace(self._hits(found, words, notes), withheld=kept)

    def _find_similar(self, key: str | None = None, text: str | None = None, limit: int = 10, **narrowing: Any) -> ToolOutput:
        if (key is None) == (text is None):
            raise QueryError("key: missing, want key or text, one of them")
        filters, words = self._filters(narrowing)
        what: str | Passage = text or ""
        if key is not None:
            document, what, _ = self._passage(key)

        def near(narrowed: Filters) -> list[Hit]:
            """The document itself is left out."""
            most = limit if key is None else limit + 1
            hits = self._library.vector_search(what, narrowed, most, by_document=True, today=self._today)
            return [hit for hit in hits if key is None or hit.document.id != document.id][:limit]

        found, kept = near(filters), self._withheld_hits(filters, near)
        if found:
            return replace(self._hits(found, words, []), withheld=kept)
        if isinstance(what, str):
            why = self._library.why_empty(what, filters, today=self._today)
        else:
            why = ["no other document with text passes the filters" if words else "no other document has text"]
        return replace(self._nothing(why, words), withheld=kept)

    def _withheld_hits(self, filters: Filters, search: Callable[[Filters], list[Hit]]) -> frozenset[int]:
        """Which documents a search would have found, were they not hidden."""
        hidden = self._hidden(filters)
        return hidden & {hit.document.id for hit in search(revealed(filters))} if hidden else hidden

    def _hidden(self, filters: Filters) -> frozenset[int]:
        return self._library.hidden(filters, today=self._today) if self._there.hidden else frozenset()

    def _hits(self, found: list[Hit], words: Mapping[str, str], notes: list[str]) -> ToolOutput:
        stale = {hit.document.id: self._library.stale(hit.document) for hit in found}

        def value(shown: list[Item]) -> dict[str, Any]:
            cut = [f"{len(shown)} of {len(found)} hits shown"] if len(shown) < len(found) else []
            cut += ["text shortened; read_document with the key reads on"] if any(map(showing.is_shortened, shown)) else []
            documents = len({hit.document.id for hit in found[: len(shown)]})
            return {"hits": shown, **_given(filters=words, notes=notes[:3]), "documents": documents, **_given(cut="; ".join(cut))}

        made, count = showing.fitted([showing.of_hit(hit, stale[hit.document.id]) for hit in found], value, self._budget)
        return ToolOutput(
            made,
            f"{_many(count, 'hit')} in {_many(made['documents'], 'document')}",
            tuple(showing.evidence(hit.document, hit.passage, stale[hit.document.id]) for hit in found[:count]),
            words,
            hits=tuple(found[:count]),
        )

    # Listing and counting

    def _filter_documents(self, order_by: Any = "path", limit: int = 20, offset: int = 0, **selecting: Any) -> ToolOutput:
        filters, words = self._filters(selecting)
        page = self._library.filter_documents(filters, order_by=order_by, limit=limit, offset=offset, today=self._today)
        kept = self._hidden(filters)
        if not page.total:
            return self._none(filters, words, kept)
        openings = self._library.openings(page.items)
        key = self._name_set(filters)

        def value(shown: list[Item]) -> dict[str, Any]:
            following = offset + len(shown)
            more = f"offset {following} shows the next" if following < page.total else ""
            if offset >= page.total:
                more = f"offset {offset} lies beyond the last of {page.total}; offset 0 shows the first"
            listed = {"documents": shown} if shown else {}
            return {"total": page.total, "set": key, **listed, **_given(filters=words, more=more)}

        items = [showing.of_document(document, openings.get(document.id), self._category(document)) for document in page.items]
        made, count = showing.fitted(items, value, self._budget)
        shown = [document for document in page.items[:count] if document.id in openings]
        evidence = tuple(showing.evidence(d, openings[d.id], self._library.stale(d)) for d in shown)
        return ToolOutput(made, f"{_many(page.total, 'document')}, {count} shown", evidence, words, counted=True, withheld=kept)

    def _count_documents(self, group_by: Any = None, **selecting: Any) -> ToolOutput:
        filters, words = self._filters(selecting)
        total, kept = self._library.count_documents(filters, today=self._today)["total"], self._hidden(filters)
        if not total:
            return self._none(filters, words, kept)
        value: dict[str, Any] = {"total": total, "set": self._name_set(filters)}
        summary = _many(total, "document")
        if group_by:
            counts = self._library.count_documents(filters, group_by, today=self._today)
            names = getattr(self._names, group_by, None)
            value |= showing.of_counts(counts, names.label if names else str)
            summary += f" in {_many(len(counts), 'group')} by {group_by}"
        return ToolOutput(value | _given(filters=words), summary, (), words, counted=True, withheld=kept)

    def _none(self, filters: Filters, words: Mapping[str, str], kept: frozenset[int]) -> ToolOutput:
        """What is said where no document passes."""
        return replace(self._nothing(self._library.why_empty("", filters, today=self._today), words), counted=True, withheld=kept)

    # Reading

    def _read_document(
        self, key: str | None = None, path: str | None = None, first_line: int | None = None, last_line: int | None = None
    ) -> ToolOutput:
        if key is None and path is None:
            raise QueryError("key: missing, want key or path")
        if first_line and last_line and last_line < first_line:
            raise ToolError(f'"last_line": got {last_line}, want first_line ({first_line}) or a later one')
        if key is None:
            assert path is not None
            document, line = self._document(path)
            if document.text_status != "ok":
                return self._nothing([f"{document.path} has no text: {document.text_status}"], {})
            return self._stretch(document, 0, first_line or line, last_line, "")
        document, passage, moved_from = self._passage(key)
        note = f"{moved_from} has moved: its key is {passage.key} now" if moved_from else ""
        if first_line is not None:
            return self._stretch(document, 0, first_line, last_line, note)
        return self._stretch(document, passage.ordinal, passage.first_line, last_line, note)

    def _stretch(self, document: Document, ordinal: int, first: int, last: int | None, note: str) -> ToolOutput:
        """Passages from an ordinal on that touch the lines, as many as half of the budget holds; one at least."""
        whole = self._library.read(document)
        found = self._library.passages(document, first, last, ordinal=ordinal, limit=_PASSAGES + 1)
        if not found:
            wanted = f"lines with text within {showing.lines(whole.first_line, whole.total)}"
            raise ToolError(f'"first_line": got {showing.lines(first, last or whole.total)}, want {wanted}')
        stale = self._library.stale(document)
        count = _how_many(found[:_PASSAGES], self._budget // 2)
        following = found[count] if count < len(found) else None
        read = found[:count]
        more = f"first_line {following.first_line} reads on" if following else ""
        if following and following.first_line <= read[-1].last_line:
            more = f"key {following.key} reads on"  # on the same line: its number would show the same again
        lines = f"{showing.lines(read[0].first_line, read[-1].last_line)} of {whole.total}"

        def value(shown: list[Item]) -> dict[str, Any]:
            cut = "text shortened: the passage is longer than a result may be" if any(map(showing.is_shortened, shown)) else ""
            head = {"path": document.path, "title": showing.brief(document.title), "lines": lines}
            return {**head, "passages": shown, **_given(more=more, cut=cut, note=note, stale=stale)}

        made, _ = showing.fitted([showing.of_passage(passage) for passage in read], value, self._budget)
        evidence = tuple(showing.evidence(document, passage, stale) for passage in read)
        return ToolOutput(made, f"lines {lines} of {document.path}", evidence)

    def _passage(self, key: str) -> tuple[Document, Passage, str | None]:
        """The passage with a key, if it is in the scope. Raises ToolError."""
        try:
            found: tuple[Document, Passage, str | None] = self._in_scope("key", key, self._library.passage)
        except QueryError as error:
            raise ToolError(f'"key": {str(error).removeprefix("key: ")}' + (f"; {error.hint}" if error.hint else "")) from None
        return found

    def _document(self, path: str) -> tuple[Document, int]:
        """The document at a path, if it is in the scope, and the line of a path such as x.md:12-30, else 1. Raises ToolError."""
        try:
            found: Document = self._in_scope("path", path, self._library.document)
        except NotFoundError:
            placed = _PLACE.fullmatch(path)
            if placed:
                return self._document(placed[1])[0], int(placed[2] or 1)
            raise ToolError(
                f'"path": got {path[:200]!r}, want one as a result shows it; filter_documents with source finds it'
            ) from None
        except QueryError:  # its message names roots
            raise ToolError(f'"path": {path[:200]!r} fits several documents; filter_documents lists them, send the key') from None
        return found, 1

    def _in_scope(self, argument: str, wanted: str, look_up: Callable[..., Any]) -> Any:
        try:
            return look_up(wanted, self._scope or _EVERYTHING, today=self._today)
        except NotFoundError:
            if self._is_narrowed and _is_there(partial(look_up, wanted, self._there)):
                raise ToolError(f'"{argument}": {wanted[:200]!r} is {_SCOPED} ({self._scope_words})') from None
            raise

    # Filters, sets, explanations

    def _filters(self, given: Mapping[str, Any]) -> tuple[Filters, dict[str, str]]:
        """A call's arguments as filters within the scope or a set of it, and in words. Raises FilterError."""
        within = given.get("within")
        if within is not None and within not in self._sets:
            known = ", ".join(self._sets) or "none so far; filter_documents and count_documents name them"
            raise FilterError(f"within: got {within[:40]!r}, want a set of this conversation ({known})")
        named: dict[str, Any] = {name: (getattr(self._names, name).real(given[name]),) for name in _NAMED if name in given}
        filters = Filters(
            **named,
            tags=tuple(self._names.tag.real(tag) for tag in given.get("tags", ())),
            source=(given["source"],) if "source" in given else (),
            metadata=tuple(parse_condition(condition) for condition in given.get("metadata", ())),
            **{name: given[name] for name in ("title", "after", "before", "during", "date_field") if name in given},
            within=self._sets[within] if within is not None else self._scope,
        )
        resolved, field = self._library.resolved_dates(filters, today=self._today)
        words = showing.in_words(filters, resolved, field)
        return filters, words | ({"within": within} if within is not None else {})

    def _name_set(self, filters: Filters) -> str:
        """The key of a set of documents: the same filters have the same key. Their dates are fixed to what they mean today."""
        resolved, field = self._library.resolved_dates(filters, today=self._today)
        if resolved is not None:
            last = date.fromisoformat(resolved.end) if resolved.end else date.max
            before = (last + timedelta(days=1)).isoformat() if last < date.max else None
            filters = replace(filters, after=resolved.start, before=before, during=None, date_field=field)
        with self._lock:
            known = {kept: key for key, kept in self._sets.items()}
            return known.get(filters) or self._add_set(filters)

    def _add_set(self, filters: Filters) -> str:
        key = f"set_{self._sets_before + len(self._sets) + 1}"
        self._sets[key] = filters
        return key

    def _nothing(self, why: list[str], words: Mapping[str, str]) -> ToolOutput:
        """What a call says that found nothing: why, and what to try."""
        scoped = [f"nothing {_SCOPED} was looked at ({self._scope_words})"] if self._is_narrowed else []
        advice = f"leave out or widen: {', '.join(words)}" if words else "try other words or another tool"
        value = {"found": 0, "why": [*why, *scoped], "advice": advice, **_given(filters=words)}
        return ToolOutput(value, "nothing found", (), words)

    def _category(self, document: Document) -> str | None:
        return self._names.category.label(document.category) if document.category else None


def _is_there(look_up: Callable[[], Any]) -> bool:
    """Whether something is found when the scope does not count."""
    try:
        look_up()
    except NotFoundError:
        return False
    except QueryError:  # several
        return True
    return True


def _how_many(passages: list[Passage], budget: int) -> int:
    """How many of the first passages a budget of characters holds, one at least."""
    size = 0
    for count, passage in enumerate(passages):
        size += len(compact(showing.of_passage(passage)))
        if size > budget:
            return max(1, count)
    return len(passages)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
