"""What the calls of a turn narrowed the documents to: the filters and days in effect in each, those of its set included.

In: finished calls. Out: filters by name in one spelling, so that what was expected can be compared with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from assistant.events import CallFinished
from search.dates import bounds
from search.errors import FilterError
from search.filters import parse_condition
from search.models import DateRange

NARROWING = frozenset(("hybrid_search", "keyword_search", "vector_search", "find_similar", "filter_documents", "count_documents"))
_LISTS = ("category", "tags", "source", "format", "author", "language")


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Filters in effect in a call. named: by name, values in one spelling; dates: None without any; field: which date they test."""

    named: Mapping[str, frozenset[str]]
    dates: DateRange | None
    field: str = "date"


def narrowed(calls: Sequence[CallFinished], today: date) -> list[Narrowed]:
    """The filters in effect in each good call of a tool that takes any, in call order."""
    sets: dict[str, Narrowed] = {}
    found = []
    for call in calls:
        if call.call.name not in NARROWING or call.ran.result.is_error or call.ran.arguments is None:
            continue
        within = sets.get(str(call.ran.arguments.get("within", "")))
        effective = _joined(_of_arguments(call.ran.arguments, today), within)
        value = call.ran.output.value if call.ran.output is not None else None
        if isinstance(value, Mapping) and isinstance(value.get("set"), str):
            sets[value["set"]] = effective
        found.append(effective)
    return found


def expected_filters(filters: Mapping[str, Any]) -> Mapping[str, frozenset[str]]:
    """The filters that a case expects, dates aside, in the same spelling."""
    given = {name: value for name, value in filters.items() if name not in {"after", "before", "during", "range", "date_field"}}
    metadata = given.get("metadata")
    if isinstance(metadata, Mapping):
        given["metadata"] = [f"{key}={value}" for key, value in metadata.items()]
    return _named(given)


def same_days(one: DateRange | None, other: DateRange | None, today: date) -> bool:
    """Whether two ranges hold the same days until today: "since March" and "March until today" are alike."""
    return _until(one, today) == _until(other, today)


def _until(days: DateRange | None, today: date) -> tuple[str | None, str | None]:
    if days is None:
        return None, None
    return days.start, days.end if days.end is not None and days.end < today.isoformat() else None


def _of_arguments(arguments: Mapping[str, Any], today: date) -> Narrowed:
    dated = {name: arguments.get(name) or None for name in ("after", "before", "during")}
    try:
        days = bounds(**dated, today=today) if any(dated.values()) else None
    except FilterError:  # such a call is refused before it comes here, unless another day was today
        days = None
    return Narrowed(_named(arguments), days, str(arguments.get("date_field") or "date"))


def _named(given: Mapping[str, Any]) -> Mapping[str, frozenset[str]]:
    named: dict[str, frozenset[str]] = {}
    for name in (*_LISTS, "title"):
        value = given.get(name)
        if value:
            named[name] = frozenset(str(item).casefold() for item in ([value] if isinstance(value, str) else value))
    if given.get("metadata"):
        conditions = map(parse_condition, given["metadata"])
        named["metadata"] = frozenset(f"{one.key} {one.operator} {one.value}".casefold() for one in conditions)
    return named


def _joined(own: Narrowed, within: Narrowed | None) -> Narrowed:
    """A call's own filters and those of the set that it stays within."""
    if within is None:
        return own
    names = {*own.named, *within.named}
    named = {name: own.named.get(name, frozenset()) | within.named.get(name, frozenset()) for name in names}
    if own.dates is None or within.dates is None:
        dated = own if own.dates is not None else within
        return Narrowed(named, dated.dates, dated.field)
    starts = [days.start for days in (own.dates, within.dates) if days.start]
    ends = [days.end for days in (own.dates, within.dates) if days.end]
    return Narrowed(named, DateRange(max(starts, default=None), min(ends, default=None)), own.field)
