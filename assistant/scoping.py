"""The person's own filters in words: for the model, for the footer of an answer, and for the prompt of a session."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

from assistant import render

if TYPE_CHECKING:
    from search import Filters, Library

_APART = frozenset({"after", "before", "during", "date_field", "metadata", "documents", "within", "hidden"})


def scope_words(library: Library, filters: Filters, today: date | None = None) -> str:
    """Filters in words on one line, with dates as they are resolved from today; "" without any. Raises FilterError."""
    resolved, day_field = library.resolved_dates(filters, today=today)
    given: dict[str, Any] = {name: value for name, value in asdict(filters).items() if value and name not in _APART}
    parts = [f"{name} {', '.join(value) if isinstance(value, tuple | list) else value}" for name, value in given.items()]
    parts += [f"{test.key} {test.operator} {test.value}" for test in filters.metadata]
    dated = render.date_range(resolved, day_field)
    return render.one_line("; ".join([*parts, *([dated] if dated else [])]))


__all__ = ["scope_words"]
