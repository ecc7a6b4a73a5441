"""What the search tools show a model of hits, documents and passages: JSON that keeps within a budget, and evidence for citations.

Texts are shortened before anything is left out, and what was left out is said with the way to read on. Roots and other absolute
paths stay here: a model sees paths relative to their root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assistant.cleaning import clean
from assistant.results import compact, plain
from assistant.tools import Evidence
from search import DateRange, Document, Filters, Hit, Passage

_TITLE = 120
_HEADINGS = 200
_SHORTEST = 200  # characters of a passage; below that whole hits are left out instead
_TAGS = 12
_GROUPS = 60

Item = dict[str, Any]
Build = Callable[[list[Item]], dict[str, Any]]


def evidence(document: Document, passage: Passage, stale: str | None) -> Evidence:
    """A passage as evidence, as it is stored."""
    return Evidence(
        key=passage.key,
        path=document.path,
        root=document.root,
        title=document.title,
        headings=passage.headings,
        page=passage.page,
        first_line=passage.first_line,
        last_line=passage.last_line,
        date=document.date,
        text=passage.text,
        stale=stale,
    )


def of_hit(hit: Hit, stale: str | None) -> Item:
    """A hit as a model sees it."""
    document, passage = hit.document, hit.passage
    place = f" p. {passage.page}" if passage.page is not None else f":{lines(passage.first_line, passage.last_line)}"
    return _present(
        key=passage.key,
        source=document.path + place,
        title=brief(document.title),
        headings=_cut(" > ".join(passage.headings), _HEADINGS),
        date=document.date,
        stale=stale,
        text=clean(passage.text),
    )


def of_passage(passage: Passage) -> Item:
    """A passage of a document that is being read."""
    return _present(
        key=passage.key,
        page=passage.page,
        lines=lines(passage.first_line, passage.last_line),
        headings=_cut(" > ".join(passage.headings), _HEADINGS),
        text=clean(passage.text),
    )


def of_document(document: Document, opening: Passage | None, category: str | None) -> Item:
    """A document of a list; category: the name under which it is declared. Without text it has no key but the reason."""
    tags = [brief(tag) for tag in document.tags]
    return _present(
        key=opening.key if opening else None,
        path=document.path,
        title=brief(document.title),
        category=category,
        format=document.format,
        author=brief(document.author or ""),
        language=document.language,
        date=document.date,
        modified=document.modified if document.modified != document.date else None,
        tags=[*tags[:_TAGS], *([f"and {len(tags) - _TAGS} more"] if len(tags) > _TAGS else [])],
        no_text=None if document.text_status == "ok" else document.text_status,
    )


def of_counts(counts: Mapping[str, int], label: Callable[[str], str]) -> dict[str, Any]:
    """Counts by value, the largest groups first, the others together."""
    shown = list(counts.items())[:_GROUPS]
    value: dict[str, Any] = {"counts": {brief(label(name)): number for name, number in shown}}
    if len(counts) > len(shown):
        value["more"] = f"{len(counts) - len(shown)} smaller groups are not shown; filters narrow them down"
    return value


def fitted(items: Sequence[Item], build: Build, budget: int) -> tuple[dict[str, Any], int]:
    """The value that `build` makes of the items within `budget` characters, and how many of the items are in it.

    Texts are shortened all to one length, as long as may be; if that is not enough the last items are left out. build is given
    the items that are shown and has to say what it makes of it when they are fewer, or "text" was shortened.
    """
    longest = max((len(item.get("text", "")) for item in items), default=0)
    count = len(items)
    while True:
        value = build([_shortened(item, longest) for item in items[:count]])
        size = len(compact(plain(value)))
        if size <= budget or (not count and longest <= _SHORTEST):
            return value, count
        if longest > _SHORTEST:
            longest = max(_SHORTEST, min(longest - 1, longest * budget // size))
        else:
            count = max(0, min(count - 1, count * budget // size))


def is_shortened(item: Item) -> bool:
    """Whether `fitted` has cut the text of an item."""
    return bool(item.get("text", "").endswith(" …"))


def lines(first: int, last: int) -> str:
    """Lines as "12-30", a single one as "12"."""
    return f"{first}-{last}" if last > first else str(first)


def in_words(filters: Filters, resolved: DateRange | None, field: str) -> dict[str, str]:
    """Filters as they were understood, dates as days; without those that they stand within."""
    several = ("category", "tags", "source", "format", "author", "language")
    words = {name: ", ".join(getattr(filters, name)) for name in several if getattr(filters, name)}
    if filters.title:
        words["title"] = filters.title
    if filters.metadata:
        words["metadata"] = ", ".join(f"{c.key} {c.operator} {_listed(c.value)}" for c in filters.metadata)
    if resolved is not None:
        words["dates"] = f"{_days(resolved)} ({field})"
    return {name: _cut(word, 300) for name, word in words.items()}


def _days(resolved: DateRange) -> str:
    if resolved.start and resolved.end:
        return resolved.start if resolved.start == resolved.end else f"{resolved.start} to {resolved.end}"
    return f"{resolved.start} or later" if resolved.start else f"{resolved.end} or earlier"


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _present(**fields: Any) -> Item:
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def brief(text: str) -> str:
    """A title on one line, not too long."""
    return _cut(text, _TITLE)


def _cut(text: str, longest: int) -> str:
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _shortened(item: Item, longest: int) -> Item:
    """The item with its text cut at a space near `longest` characters."""
    text = item.get("text", "")
    if len(text) <= longest:
        return item
    kept = text[:longest]
    at = max(kept.rfind(" "), kept.rfind("\n"))
    return item | {"text": (kept[:at] if at > longest * 0.8 else kept) + " …"}
