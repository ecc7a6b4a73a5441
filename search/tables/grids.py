"""A grid of cells, as a sheet or a CSV file holds it, and how it becomes a table.

In: rows of cells with titles, notes and blank rows around them. Out: a draft with named, typed columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from search.tables import totals
from search.tables.cells import Cell
from search.tables.deciding import Cells, Decided, decide
from search.tables.headers import MAX_COLUMNS, Layout, column_names, lay_out, quoted
from search.tables.models import Column, TableDraft
from search.tables.profiling import profiled

__all__ = ["Cell", "Grid", "tabulate"]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells as they stand in the file, from its first row on; rows may differ in length.

    label: the sheet's name, "" where the file holds one table. formats: what a spreadsheet's number format adds to a number,
    by (row, column) counted from 0: "%" (the cell holds the fraction, 0.12, which becomes 12.0), or a unit as it would be said
    ("EUR", "$", "kg"); cells without one are left out. Text cells need none: "12 %" says it itself; "@" marks one whose digits were
    typed as text, and a column of texts that holds such a one stays text. lines: the line of the file on which each row begins,
    counted from 1; () where rows are no lines, then they are called by their row number.
    notes: what the reader has to tell already ("2 merged cells were filled").
    """

    label: str
    rows: Sequence[Sequence[Cell]]
    formats: Mapping[tuple[int, int], str] = field(default_factory=dict)
    lines: Sequence[int] = ()
    notes: tuple[str, ...] = ()


def tabulate(grid: Grid, *, header: Literal["detect", "first"] = "detect") -> TableDraft | None:
    """The table that a grid holds; None where no cell holds anything.

    header: "detect" looks for titles above the header and for tables without one; "first" takes the first row that holds
    anything (records whose keys are known). Types, units and what was done to the values: `search.tables.deciding`.
    """

    def place(row: int) -> str:
        return f"line {grid.lines[row]}" if grid.lines else f"row {row + 1}"

    layout = lay_out(grid.rows, place, detect=header == "detect", told_short=bool(grid.lines))
    if layout is None:
        return None
    notes = [*grid.notes, *layout.notes]
    width = min(len(layout.header) + layout.surplus, MAX_COLUMNS)
    if len(layout.header) > width:
        notes.append(f"{len(layout.header)} columns: the first {width} are kept")
    headers = (*layout.header[:width], *("",) * (width - len(layout.header)))
    if header == "detect":
        layout, decided, told = _without_totals(grid, layout, headers, place)
        notes += told
    else:
        decided = _decided(grid, layout, headers)
    names = column_names(headers)
    columns = [_described(*parts) for parts in zip(names, headers, decided, (*layout.units, *("",) * width), strict=False)]
    rows = list(zip(*(column.values for column in decided), strict=True))
    return profiled(grid.label, columns, rows, notes)


def _without_totals(
    grid: Grid, layout: Layout, headers: Sequence[str], place: Callable[[int], str]
) -> tuple[Layout, list[Decided], list[str]]:
    """The layout without totals at its end, the columns decided without them (a total has no date), and what is told of totals."""
    ends, lines = totals.at_the_end(grid.rows, layout.rows)
    above = replace(layout, rows=layout.rows[: len(layout.rows) - len(ends) - len(lines)])
    decided = _decided(grid, above, headers)
    left_out = totals.proven(grid.rows, above.rows, ends, decided) if ends else ()
    if len(left_out) < len(ends):
        proven = {total.row for total in left_out}
        lines = lines if proven else ()
        above = replace(layout, rows=tuple(number for number in layout.rows if number not in proven and number not in lines))
        decided = _decided(grid, above, headers)
    told = totals.remarks(grid.rows, above.rows, decided, left_out, place)
    return above, decided, [*told, f"below the table: {quoted(grid.rows, lines)}"] if lines else told


def _decided(grid: Grid, layout: Layout, headers: Sequence[str]) -> list[Decided]:
    width = len(headers)
    return decide(
        [Cells(headers[place], list(_column(grid, layout, place, width)), _units(grid, layout, place)) for place in range(width)]
    )


def _column(grid: Grid, layout: Layout, place: int, width: int) -> Iterator[Cell]:
    """The cells of one column; the last one takes in what lies beyond the header and its surplus."""
    joins = place == width - 1 and len(layout.header) <= width
    for number in layout.rows:
        row = grid.rows[number]
        if joins and any(cell not in {None, ""} for cell in row[width:]):
            yield " | ".join("" if cell is None else str(cell) for cell in row[place:]).rstrip(" |")
        else:
            yield row[place] if place < len(row) else None


def _units(grid: Grid, layout: Layout, place: int) -> dict[int, str]:
    if not grid.formats:
        return {}
    found = ((row, grid.formats.get((number, place), "")) for row, number in enumerate(layout.rows))
    return {row: unit for row, unit in found if unit}


def _described(name: str, header: str, decided: Decided, unit: str) -> Column:
    told = decided.unit or (unit if decided.type in {"integer", "real"} else "")
    return Column(name=name, type=decided.type, header=header if header != name else "", unit=told, note=decided.note)
