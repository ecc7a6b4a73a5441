"""A grid of cells, as a sheet or a CSV file holds it, and how it becomes a table.

In: rows of cells with titles, notes and blank rows around them. Out: a draft with named, typed columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from search.tables.cells import Cell

__all__ = ["Cell", "Grid"]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells as they stand in the file, from its first row on; rows may differ in length.

    label: the sheet's name, "" where the file holds one table. formats: what a spreadsheet's number format adds to a number,
    by (row, column) counted from 0: "%" (the cell holds the fraction, 0.12, which becomes 12.0), or a unit as it would be said
    ("EUR", "$", "kg"); cells without one are left out. Text cells need none: "12 %" says it itself. lines: the line of the file
    on which each row begins, counted from 1; () where rows are no lines, then they are called by their row number.
    notes: what the reader has to tell already ("2 merged cells were filled").
    """

    label: str
    rows: Sequence[Sequence[Cell]]
    formats: Mapping[tuple[int, int], str] = field(default_factory=dict)
    lines: Sequence[int] = ()
    notes: tuple[str, ...] = ()
