"""What a catalogue tells of a column beside its type: nulls, different values, range, and the values themselves where they are few.

In: columns and rows as a reader made them. Out: the draft, with every column's figures. One column is looked at after the other, so
that only one set of different values is held at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from search.tables.models import Column, TableDraft, Value

MAX_VALUES = 20
MAX_VALUE = 40


def profiled(
    label: str,
    columns: Sequence[Column],
    rows: Sequence[tuple[Value, ...]],
    notes: Sequence[str] = (),
    keeps_name: bool = False,
) -> TableDraft:
    """A draft whose columns know their nulls, distinct, minimum, maximum and, for text, all values where they are few and short.

    At most 20 values of at most 40 characters are listed. Numbers, texts and bytes in one column (SQLite files) compare as SQLite
    does: numbers before texts, bytes last; bytes have no range, nor have texts when the first or last of them is longer than 40
    characters. Raises ValueError when a row is not as long as the columns.
    """
    width = len(columns)
    odd = next((number for number, row in enumerate(rows, 1) if len(row) != width), None)
    if odd is not None:
        raise ValueError(f"rows: row {odd} has {len(rows[odd - 1])} values, want {width}, one a column")
    told = tuple(_told(column, rows, place) for place, column in enumerate(columns))
    return TableDraft(label=label, columns=told, rows=rows, notes=tuple(notes), keeps_name=keeps_name)


def _told(column: Column, rows: Sequence[tuple[Value, ...]], place: int) -> Column:
    nulls = sum(row[place] is None for row in rows)
    different = {row[place] for row in rows}
    different.discard(None)
    numbers = [value for value in different if isinstance(value, (int, float)) and value == value]  # noqa: PLR0124 - NaN is not
    texts = [value for value in different if isinstance(value, str)]
    minimum: str | int | float | None = None
    maximum: str | int | float | None = None
    if texts:
        minimum, maximum = min(texts), max(texts)
    long = any(isinstance(bound, str) and len(bound) > MAX_VALUE for bound in (minimum, maximum))
    if long:
        minimum = maximum = None
    elif numbers:
        minimum = min(numbers)
        maximum = maximum if texts else max(numbers)
    few = column.type == "text" and len(different) == len(texts) <= MAX_VALUES and all(len(text) <= MAX_VALUE for text in texts)
    return replace(
        column,
        nulls=nulls,
        distinct=len(different),
        minimum=minimum,
        maximum=maximum,
        values=tuple(sorted(texts)) if few else (),
    )
