"""Cells of a sheet as they are scattered over it, brought together to a grid: merged cells filled, far ones moved near.

In: a Sheet, places counted from 0. Out: a Grid, or None where the sheet is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from search.errors import ReadError
from search.readers.cleaning import one_line
from search.tables.cells import Cell
from search.tables.grids import Grid

MAX_CELLS = 2_000_000  # filled cells of a file, about 1 GB in memory while it is read
MAX_PLACES = 20_000_000  # cells of a grid, empty ones included
_GAP = 50  # empty rows in a run that are kept; columns without any cell are layout and always left out
_HEADER = 20  # rows in which a header of two rows is looked for
_DIGITS = re.compile(r"\s*[-+]?\d[\d.,\s]*")

Area = tuple[int, int, int, int]  # first row, first column, last row, last column


@dataclass(slots=True)
class Sheet:
    """A sheet as it is read. cells: filled ones by row, then column. formats: as Grid has them. merged: areas shown as one cell."""

    label: str
    cells: dict[int, dict[int, Cell]] = field(default_factory=dict)
    formats: dict[tuple[int, int], str] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def put(self, row: int, column: int, value: Cell, unit: str = "") -> None:
        """Set a cell and what its format adds."""
        self.cells.setdefault(row, {})[column] = value
        if unit:
            self.formats[row, column] = unit


def grid_of(sheet: Sheet) -> Grid | None:
    """The sheet as a grid. Raises ReadError when it would be larger than MAX_PLACES."""
    if not sheet.cells:
        return None
    _fill_merged(sheet)
    rows = _kept(sheet.cells)
    columns = {column: place for place, column in enumerate(sorted({column for row in sheet.cells.values() for column in row}))}
    if sum(1 + columns[max(row)] for row in sheet.cells.values() if row) > MAX_PLACES:
        raise ReadError(f"sheet {one_line(sheet.label, 40)!r}: its cells lie too far apart")
    grid: list[list[Cell]] = [[] for _ in range(max(rows.values()) + 1)]
    for number, row in sheet.cells.items():
        line: list[Cell] = [None] * (1 + max((columns[column] for column in row), default=-1))
        for column, value in row.items():
            line[columns[column]] = value
        grid[rows[number]] = line
    formats = {(rows[row], columns[column]): unit for (row, column), unit in sheet.formats.items()}
    notes = list(sheet.notes)
    if max(rows) != max(rows.values()):
        notes.append("empty rows between its cells were left out")
    return Grid(sheet.label, grid, formats, notes=tuple(notes))


def text_format(text: str) -> str:
    """The format of a text cell: "@" where it looks like a number, which whoever typed it as text did not mean."""
    return "@" if _DIGITS.fullmatch(text) else ""


def _kept(used: Iterable[int]) -> dict[int, int]:
    """The new number of each used row: long runs of empty ones before and between them shrink to _GAP."""
    places: dict[int, int] = {}
    last, new = -1, -1
    for number in sorted(used):
        new += min(number - last, _GAP + 1)
        places[number] = new
        last = number
    return places


def _fill_merged(sheet: Sheet) -> None:
    """Give every cell of a merged area its value; a line that is nothing but one merged cell is a title and stays as it is."""
    last_column = max((max(row) for row in sheet.cells.values() if row), default=0)
    body = _first_row_of_values(sheet)
    filled, kept, places = 0, 0, 0
    spans: dict[int, set[int]] = {}
    for top, left, bottom, right in sheet.merged:
        value = sheet.cells.get(top, {}).get(left)
        if value is None or _stands_alone(sheet, top, left, right):
            continue
        unit = sheet.formats.get((top, left), "")
        if bottom > top >= body and _is_measure(value, unit):
            kept += 1
            continue
        rows = [row for row in range(top, min(bottom, max(sheet.cells)) + 1) if row == top or row in sheet.cells]
        width = min(right, last_column) - left + 1
        places += len(rows) * width
        if places > MAX_CELLS:
            raise ReadError(f"sheet {one_line(sheet.label, 40)!r}: merged areas of more than {MAX_CELLS} cells")
        for row in rows:
            for column in range(left, left + width):
                sheet.put(row, column, value, unit)
        if bottom < body:
            if right > left and top == bottom:
                spans.setdefault(top, set()).update(range(left, left + width))
        else:
            filled += 1
    if filled:
        sheet.notes.append(f"{filled} merged {'cells were' if filled > 1 else 'cell was'} filled")
    if kept:
        shown = "merged numbers stay" if kept > 1 else "merged number stays"
        sheet.notes.append(f"{kept} {shown} in the first of their rows alone: a sum would count them again")
    for row in sorted(spans):
        _join_header(sheet, row, spans[row], body)


def _is_measure(value: Cell, unit: str) -> bool:
    """Whether a value is an amount of something; whole numbers without a unit, such as years, name what stands beside them."""
    return (isinstance(value, float) and not value.is_integer()) or (isinstance(value, int | float) and unit not in {"", "@"})


def _first_row_of_values(sheet: Sheet) -> int:
    """The first row in which something else than text stands, years over merged columns aside; behind the last where none does."""
    spanned = {(top, left) for top, left, _, right in sheet.merged if right > left}
    for number in sorted(sheet.cells):
        for column, value in sheet.cells[number].items():
            if not isinstance(value, str) and (number, column) not in spanned:
                return number
    return max(sheet.cells) + 1


def _stands_alone(sheet: Sheet, row: int, left: int, right: int) -> bool:
    return all(left <= column <= right for column in sheet.cells.get(row, {}))


def _join_header(sheet: Sheet, row: int, spanned: set[int], body: int) -> None:
    """Put a header of groups before the names below it: "2025" over "Q1" and "Q2" gives "2025 Q1" and "2025 Q2".

    Only for the first row of several cells, and where different names stand below: anything else is a row of the table.
    """
    above, below = sheet.cells[row], sheet.cells.get(row + 1, {})
    names = [str(below[column]) for column in spanned if column in below]
    is_first = all(len(cells) <= 1 for number, cells in sheet.cells.items() if number < row)
    if row > _HEADER or row + 1 >= body or row + 1 >= max(sheet.cells) or not is_first or len(set(names)) < 2:
        return
    for column in {*above, *below}:
        parts = dict.fromkeys(str(cells[column]) for cells in (above, below) if column in cells)
        below[column] = " ".join(parts)
        sheet.formats.pop((row + 1, column), None)
        sheet.formats.pop((row, column), None)
    del sheet.cells[row]
    sheet.notes.append("a header of two rows was joined")
