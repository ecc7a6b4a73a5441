"""Drafts made fit to be stored, and what is told of them once they are.

In: tables as a reader makes them. Out: the same with names, widths and values that SQLite takes; what had to be changed for that
stands in the notes. A table that fits already comes back as it is, its rows are not copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from search.counting import counted
from search.tables.models import Column, TableDraft, Value

MOST_COLUMNS = 1000  # half of what SQLite takes in a table; nobody asks about more by name
_MOST_CHARACTERS = 200  # of a column's name
_MOST_TABLES = 3  # told by name
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_LARGEST = 2**63


def fitted(drafts: Sequence[TableDraft]) -> tuple[TableDraft, ...]:
    """Drafts that SQLite takes: at most 1,000 columns with names of their own, rows as wide as these, values that can be kept.

    A table without a column is left out: there is nothing to ask it.
    """
    return tuple(_fitted(draft) for draft in drafts if draft.columns)


def in_words(drafts: Sequence[TableDraft]) -> str:
    """The sizes of a file's tables, of the first ones where they are many; "" without any."""
    if len(drafts) < 2:
        return "".join(map(_size, drafts))
    named = [f"{draft.label} {_size(draft)}" for draft in drafts[:_MOST_TABLES]]
    more = [f"and {len(drafts) - _MOST_TABLES} more"] if len(drafts) > _MOST_TABLES else []
    return f"{len(drafts)} tables: {'; '.join([*named, *more])}"


def remarks(drafts: Sequence[TableDraft]) -> list[str]:
    """What is worth telling of a file's tables: their notes, those of their columns, the sizes that `in_words` leaves out."""
    found = [remark for draft in drafts for remark in _remarks(draft, of=f"{draft.label}: " if len(drafts) > 1 else "")]
    return found + [f"{draft.label}: {_size(draft)}" for draft in drafts[_MOST_TABLES:]]


def _size(draft: TableDraft) -> str:
    return f"{counted(len(draft.rows), 'row')}, {counted(len(draft.columns), 'column')}"


def _remarks(draft: TableDraft, *, of: str) -> Iterator[str]:
    yield from (f"{of}{note}" for note in draft.notes)
    yield from (f"{of}{column.name}: {column.note}" for column in draft.columns if column.note)


def _fitted(draft: TableDraft) -> TableDraft:
    columns, notes = draft.columns, list(draft.notes)
    if len(columns) > MOST_COLUMNS:
        notes.append(f"{len(columns)} columns: the first {MOST_COLUMNS} are kept")
        columns = columns[:MOST_COLUMNS]
    columns = _named_apart(columns)
    width, odd_rows, odd_values = len(columns), 0, 0
    for row in draft.rows:
        odd_rows += len(row) != len(draft.columns)
        odd_values += not all(map(_can_be_kept, row))
    rows = draft.rows
    if width != len(draft.columns) or odd_rows or odd_values:
        rows = [_kept_row(row, width) for row in rows]
    if odd_rows:
        notes.append(f"{counted(odd_rows, 'row')} of another width than the header: filled up or cut")
    if odd_values:
        notes.append(f"{counted(odd_values, 'row')} with values that cannot be stored as they are: changed to the nearest that can")
    if columns == draft.columns and rows is draft.rows:
        return draft
    return replace(draft, columns=columns, rows=rows, notes=tuple(notes))


def _named_apart(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns whose names are readable, bounded, and differ by more than case; those that do already are left as they are."""
    taken: set[str] = set()
    named = []
    for place, column in enumerate(columns, 1):
        wish = _UNREADABLE.sub(" ", column.name).strip()[:_MOST_CHARACTERS] or f"column_{place}"
        name = next(name for name in _numbered(wish) if name.casefold() not in taken)
        taken.add(name.casefold())
        named.append(column if name == column.name else replace(column, name=name, header=column.header or column.name))
    return tuple(named)


def _numbered(wish: str) -> Iterator[str]:
    yield wish
    for number in range(2, MOST_COLUMNS + 2):
        yield f"{wish[: _MOST_CHARACTERS - 5]}_{number}"


def _can_be_kept(value: Value) -> bool:
    if type(value) is int:
        return -_LARGEST <= value < _LARGEST
    return not isinstance(value, str) or value.isascii() or not _SURROGATES.search(value)


def _kept_row(row: Sequence[Value], width: int) -> tuple[Value, ...]:
    return (*map(_kept, row[:width]), *[None] * (width - len(row)))


def _kept(value: Value) -> Value:
    if _can_be_kept(value):
        return value
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else str(value)
