"""How the search functions are declared to a model: what each is for, its arguments, and names from the library itself.

A declaration is read by the model on every request, and the names in it come from documents: they are cut to 40 harmless
characters, and there are few enough of them. Every field has an example, every tool worked calls that its own schema accepts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from assistant.messages import Declaration
from assistant.results import compact

if TYPE_CHECKING:
    from search import Filters, Library

MAX_LISTED = 40  # values that an enum may have; of more only some are named
MAX_TAGS = 25  # tags stand in six declarations
SEARCH_LIMIT = 50
LIST_LIMIT = 100
_NAME_LENGTH = 40
_HARMFUL = re.compile(r"[^\w .-]")
_KEY = "k3f7q2m5xa"


@dataclass(frozen=True, slots=True)
class Names:
    """Values of a field, the most frequent first, as declarations show them, and what each stands for."""

    shown: tuple[str, ...]
    meant: Mapping[str, str]
    labels: Mapping[str, str]

    def real(self, shown: str) -> str:
        """The stored value that a shown name stands for; a name that is not shown stands for itself."""
        return self.meant.get(shown, shown)

    def label(self, value: str) -> str:
        """The name under which a stored value is shown, in whatever case it is stored."""
        return self.labels.get(value.casefold(), value)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names that the documents within a scope have."""

    category: Names
    tag: Names
    format: Names
    language: Names
    author: Names


def vocabulary(library: Library, scope: Filters, today: date | None) -> Vocabulary:
    """The names of the documents that pass the scope."""
    with library.snapshot():
        counts = {
            field: library.count_documents(scope, field, today=today)
            for field in ("category", "tag", "format", "language", "author")
        }
    return Vocabulary(**{field: harmless(value for value in values if value != "(none)") for field, values in counts.items()})


def harmless(values: Iterable[str]) -> Names:
    """Names of at most 40 letters, digits, spaces, `_`, `.` and `-`, numbered where two would be the same but for their case."""
    meant: dict[str, str] = {}
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for value in values:
        if value.casefold() in labels:
            continue
        cut = _HARMFUL.sub("_", value)[:_NAME_LENGTH].strip() or "_"
        name, number = cut, 1
        while name.casefold() in taken:
            number += 1
            name = f"{cut[: _NAME_LENGTH - len(str(number)) - 1]} {number}"
        taken.add(name.casefold())
        meant[name] = value
        labels[value.casefold()] = name
    return Names(tuple(meant), meant, labels)


def declarations(names: Vocabulary) -> dict[str, Declaration]:
    """The seven tools by name, in the order in which they are declared."""
    some = next(iter(names.category.shown), None)
    where = {"category": some} if some else {}
    narrowing = _narrowing(names)
    searching = {
        "query": _query("What to look for", "gateway timeout", longest=2000),
        "limit": _limit(SEARCH_LIMIT, 10),
        **narrowing,
    }
    similar = {
        "key": _text("Key of a passage from a result", _KEY),
        "text": _query("Any text, such as an error message", "504 upstream timed out", longest=10_000),
        "limit": _limit(SEARCH_LIMIT, 5),
        **{name: field for name, field in narrowing.items() if name != "tags"},
    }
    selecting = _selecting(names, narrowing)
    listing = {
        "order_by": _enum("Order; dates and sizes: highest first", ["path", "date", "modified", "title", "size"], "date"),
        "limit": _limit(LIST_LIMIT, 20),
        "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000, "description": "How many to skip, e.g. 20"},
    }
    groups = ["category", "format", "author", "language", "tag", "year", "month", "text_status"]
    counting = {"group_by": _enum("Count for each value of it", groups, "category")}
    reading = {
        "key": _text("Key of a passage to read from", _KEY),
        "path": _text("Path as results show it", "notes/plan.md"),
        "first_line": _line("First line", 40),
        "last_line": _line("Last line", 90),
    }
    return {
        declaration.name: declaration
        for declaration in (
            _declared(
                "hybrid_search",
                "Search passages by words and meaning together: the first choice for what documents say.",
                [{"query": "why did the gateway time out"}, {"query": "retry budget", **where, "after": "last month"}],
                searching,
                ["query"],
            ),
            _declared(
                "keyword_search",
                'Search passages by exact words: for names, codes, identifiers. "Quoted words" stand together, -word is excluded.',
                [{"query": "ERR_TIMEOUT_504"}, {"query": '"connection reset" -proxy', "limit": 20}],
                searching,
                ["query"],
            ),
            _declared(
                "vector_search",
                "Search passages by meaning alone: for what may be said in other words, or when words find nothing.",
                [{"query": "customers leave because of slow answers"}, {"query": "who decides on holidays", "within": "set_1"}],
                searching,
                ["query"],
            ),
            _declared(
                "find_similar",
                "Find the documents most like a passage (key) or a text (an error message, a paragraph), each by its best passage. "
                "Give key or text.",
                [{"text": "panic: connection reset by peer", "limit": 5}, {"key": _KEY, **where}],
                similar,
                [],
            ),
            _declared(
                "filter_documents",
                "List documents by their properties, not their text, with the exact total: for which, all, latest. The set in the "
                "result stands for all of them; pass it as within to search in them.",
                [{**where, "during": "last month", "order_by": "date"}, {"metadata": ["status=superseded"]}],
                {**selecting, **listing},
                [],
            ),
            _declared(
                "count_documents",
                "Count documents by their properties, in groups if asked: for how many. Never count search hits. Names a set too.",
                [{"group_by": "category"}, {**where, "after": "2026-01-01", "group_by": "month"}],
                {**selecting, **counting},
                [],
            ),
            _declared(
                "read_document",
                "Read the text of a document in order, from a passage (key) or by path and lines: for more than a hit shows.",
                [{"key": _KEY}, {"path": "notes/plan.md", "first_line": 40, "last_line": 90}],
                reading,
                [],
            ),
        )
    }


def _narrowing(names: Vocabulary) -> dict[str, Any]:
    """What every search can be narrowed by."""
    tags = _one_of("A tag", names.tag, "postgres", most=MAX_TAGS)
    example = next(iter(names.tag.shown), "postgres")
    return {
        "category": _one_of("Only this category", names.category, "notes", most=MAX_LISTED),
        "tags": {
            "type": "array",
            "items": {key: value for key, value in tags.items() if key != "description"},
            "maxItems": 20,
            "description": f"Only with all these tags, e.g. {json.dumps([example], ensure_ascii=False)}",
        },
        "after": _text("From this day or period on", "last month"),
        "before": _text("Before this day or period", "2026-03-01"),
        "within": _text("Only in a set from filter_documents or count_documents", "set_1"),
    }


def _selecting(names: Vocabulary, narrowing: Mapping[str, Any]) -> dict[str, Any]:
    """What documents can be selected by."""
    author = next(iter(names.author.shown), "Mara Lind")
    return {
        **{name: narrowing[name] for name in ("category", "tags")},
        "source": _text("Path, a part of it or a glob", "*/2026-*.md"),
        "format": _one_of("File format", names.format, "markdown", most=MAX_LISTED),
        "author": _text("Whole name", author),
        "language": _one_of("Language code", names.language, "en", most=MAX_LISTED),
        "title": _text("Part of the title", "gateway"),
        **{name: narrowing[name] for name in ("after", "before")},
        "during": _text("In this period", "last month"),
        "date_field": _enum("Date that after, before, during test", ["date", "modified", "created"], "modified"),
        "metadata": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 20,
            "description": 'Front matter conditions (= != < <= > >= in), e.g. ["severity=high"]',
        },
        "within": narrowing["within"],
    }


def _declared(
    name: str, purpose: str, calls: list[dict[str, Any]], properties: Mapping[str, Any], required: list[str]
) -> Declaration:
    worked = " ".join(compact(call) for call in calls)
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    return Declaration(name, f"{purpose} E.g. {worked}", schema | ({"required": required} if required else {}))


def _described(purpose: str, example: object) -> str:
    return f"{purpose}, e.g. {json.dumps(example, ensure_ascii=False)}"


def _text(purpose: str, example: str) -> dict[str, Any]:
    return {"type": "string", "description": _described(purpose, example)}


def _query(purpose: str, example: str, *, longest: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": _described(purpose, example)}


def _limit(most: int, example: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": _described("How many", example)}


def _line(purpose: str, example: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": 1_000_000_000, "description": _described(purpose, example)}


def _enum(purpose: str, values: list[str], example: str) -> dict[str, Any]:
    return {"type": "string", "enum": values, "description": _described(purpose, example)}


def _one_of(purpose: str, names: Names, otherwise: str, *, most: int) -> dict[str, Any]:
    """One of the library's own names, all listed where they are few; else some of them as a hint."""
    if names.shown and len(names.shown) <= most:
        return _enum(purpose, list(names.shown), names.shown[0])
    example = next(iter(names.shown), otherwise)
    some = f" ({len(names.shown)} in all, such as {', '.join(names.shown[:12])})" if names.shown else ""
    return _text(purpose + some, example)
