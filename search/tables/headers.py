"""Where a grid's header is, what stands around the table, and what its columns are called.

In: rows of cells. Out: the header row, the rows below it, and remarks: titles above, notes below, rows of other lengths. Nothing
is left out without a remark but cells and rows that hold nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, time
from itertools import pairwise

from search.folding import composed
from search.readers.cleaning import one_line
from search.tables.cells import Cell
from search.tables.moments import moment
from search.tables.numerals import numeral
from search.tables.units import unit

MAX_COLUMNS = 1_000  # as many as a table of the library has: `search.tables.fitting`
MAX_SURPLUS = 20
_LOOKED_AT = 30  # rows in which a header is looked for
_COMPARED = 200  # rows that say what stands below it
_MAX_NAME = 60
_LIKE_A_NAME = re.compile(r"[^\W\d]+\d+")


@dataclass(frozen=True, slots=True)
class Layout:
    """A table found in a grid. header: one text a column, "" where there is none. rows: the numbers of the grid's rows that are
    data, in order. surplus: columns beyond the header, for cells of rows that are too long. units: what a row of units says.
    """

    header: tuple[str, ...]
    rows: tuple[int, ...]
    surplus: int
    units: tuple[str, ...]
    notes: tuple[str, ...]


def lay_out(rows: Sequence[Sequence[Cell]], place: Callable[[int], str], *, detect: bool, told_short: bool) -> Layout | None:
    """Find the table; None where no cell holds anything. place: how to speak of a row ("line 7"). detect: or the first row.

    told_short: whether a short row is worth a remark; sheets leave out empty cells at the end of any row.
    """
    extents = [_extent(row) for row in rows]
    filled = [number for number, extent in enumerate(extents) if extent]
    if not filled:
        return None
    top = _header_row(rows, filled, extents) if detect else filled[0]
    body = [number for number in filled if top is None or number > top]
    notes = []
    above = [number for number in filled if top is not None and number < top]
    if above:
        notes.append("above the header: " + quoted(rows, above))
    body, below = _without_footer(rows, body, extents, filled)
    if below:
        notes.append("below the table: " + quoted(rows, below))
    gaps = body[-1] - body[0] + 1 - len(body) if body else 0
    if gaps:
        notes.append(f"{gaps} blank row{'s' * (gaps > 1)} left out")
    if top is None:
        width = _usual([extents[number] for number in body])
        header: tuple[str, ...] = ("",) * width
        notes.append("no header: the columns are numbered")
    else:
        header = tuple(_label(cell) for cell in rows[top][: extents[top]])
        if detect and len(body) > 1 and len(header) > 1 and all(extents[number] == len(header) + 1 for number in body):
            header = ("", *header)
            notes.append("the rows have one cell more than the header: their first is taken for an unnamed one")
    if detect and top is not None and (second := _second_header(rows, body)) is not None:
        only = "only one table a file is read" if told_short else "only one table a sheet is read"
        notes.append(f"{place(second)} looks like the header of a second table; {only}: its rows stand in the columns of the first")
    units: tuple[str, ...] = ()
    if detect and top is not None and len(body) > 1:
        units = _units_row(rows[body[0]], rows[body[1]], len(header))
        if units:
            notes.append(f"{place(body[0])} holds units")
            body = body[1:]
    surplus, ragged = _ragged(rows, body, extents, width=len(header), place=place, told_short=told_short)
    notes += ragged
    return Layout(header, tuple(body), surplus, units, tuple(notes))


def column_names(headers: Sequence[str]) -> tuple[str, ...]:
    """Names as SQL takes them: lower case, letters (accents kept) and digits, anything else an underscore; all different.

    An empty header becomes column_3, a leading digit gets an underscore before it, a name that is taken gets _2.
    """
    folded = [_name(header) or f"column_{number}" for number, header in enumerate(headers, 1)]
    counts = Counter(folded)
    taken: set[str] = set()
    names = []
    for wished in folded:
        name, number = wished, 1
        while name in taken or (number > 1 and name in counts):
            number += 1
            name = f"{wished}_{number}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def _name(header: str) -> str:
    letters: list[str] = []
    for character in composed(header).lower():
        belongs = character.isalnum() or (unicodedata.category(character).startswith("M") and letters and letters[-1] != "_")
        if belongs:
            letters.append(character)
        elif letters and letters[-1] != "_":
            letters.append("_")
    name = "".join(letters)[:_MAX_NAME].strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def _extent(row: Sequence[Cell]) -> int:
    """How many cells a row has up to the last that holds something."""
    for number in range(len(row), 0, -1):
        cell = row[number - 1]
        if cell is not None and not (isinstance(cell, str) and not cell.strip()):
            return number
    return 0


def _held(row: Sequence[Cell]) -> list[tuple[int, Cell]]:
    return [
        (number, cell) for number, cell in enumerate(row) if cell is not None and not (isinstance(cell, str) and not cell.strip())
    ]


def _usual(extents: Sequence[int]) -> int:
    """The most frequent length, the larger of two."""
    counts = Counter(extents)
    return max(counts, key=lambda extent: (counts[extent], extent))


def _header_row(rows: Sequence[Sequence[Cell]], filled: Sequence[int], extents: Sequence[int]) -> int | None:
    """The first row whose cells name the columns: mostly filled, of texts, over rows that have values; None without a header."""
    width = _usual([extents[number] for number in filled[:_COMPARED]])
    for position, number in enumerate(filled[:_LOOKED_AT]):
        held = _held(rows[number])
        below = [rows[later] for later in filled[position + 1 : position + 1 + _COMPARED]]
        if len(held) * 2 < width or (len(held) == 1 and width > 1):
            if position + 1 < len(filled):
                continue
            break
        return number if _names_columns(held, below) else None
    return filled[0] if _names_columns(_held(rows[filled[0]]), [rows[later] for later in filled[1:_COMPARED]]) else None


def _names_columns(held: Sequence[tuple[int, Cell]], below: Sequence[Sequence[Cell]]) -> bool:
    """Whether a row's cells are names: no cell is a value of the kind that stands below it, but for years as headings.

    One that is ("EUR 2" over amounts) is outvoted by words over columns of values.
    """
    values = [(column, cell) for column, cell in held if _kind(cell)]
    if not values:
        return True
    headings = _are_headings([cell for _, cell in values])
    if len(values) == len(held) and len(held) > 1 and not headings:
        return False
    alike = words = 0
    for column, cell in held:
        under = [row[column] for row in below if column < len(row) and row[column] not in {None, ""}]
        kinds = Counter(map(_kind, under))
        if not (kind := _kind(cell)):
            words += bool(under) and kinds[""] == 0
        elif kinds[kind] * 2 >= len(under):
            alike += not headings or all(map(_is_year, under))
    return words > alike or (not alike and (len(held) > len(values) or headings))


def _kind(cell: Cell) -> str:
    """What kind of value a cell holds, "" for words. EUR2 may be money and may be a name: it is a kind of its own."""
    if isinstance(cell, (date, time)):
        return "moment"
    if not isinstance(cell, str):
        return "" if cell is None else "truth" if isinstance(cell, bool) else "number"
    text = cell.strip()
    if text.lower() in {"true", "false"}:
        return "truth"
    if numeral(text) is not None:
        return "letters and digits" if _LIKE_A_NAME.fullmatch(text) else "number"
    return "moment" if moment(text) is not None else ""


def _is_year(cell: Cell) -> bool:
    text = str(cell).strip().removesuffix(".0")
    return len(text) == 4 and text.isdecimal() and 1900 <= int(text) <= 2100


def _are_headings(cells: Sequence[Cell]) -> bool:
    """Years in a row, as columns are often headed."""
    if not all(map(_is_year, cells)):
        return False
    years = [int(str(cell).strip().removesuffix(".0")) for cell in cells]
    steps = {later - earlier for earlier, later in pairwise(years)}
    return len(steps) <= 1 and steps <= {1, -1, 5, 10}


def _label(cell: Cell) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    return "" if cell is None else one_line(str(cell), 200)


def quoted(rows: Sequence[Sequence[Cell]], numbers: Sequence[int]) -> str:
    """The words of rows around a table, for a remark."""
    lines = [one_line(" ".join(_label(cell) for _, cell in _held(rows[number])), 200) for number in numbers[:5]]
    more = f" and {len(numbers) - 5} more rows" if len(numbers) > 5 else ""
    return "; ".join(f'"{line}"' for line in lines) + more


def _without_footer(
    rows: Sequence[Sequence[Cell]], body: list[int], extents: Sequence[int], filled: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Lines of words below the table, set off by a blank row: a source, a legend. A total is none of them."""
    if not body or _usual([extents[number] for number in filled[:_COMPARED]]) < 3:
        return body, []
    start = len(body)
    while start > 1 and extents[body[start - 1]] == 1 and isinstance(rows[body[start - 1]][0], str):
        start -= 1
    if 0 < len(body) - start <= 10 and body[start] - body[start - 1] > 1:
        return body[:start], body[start:]
    return body, []


def _second_header(rows: Sequence[Sequence[Cell]], body: Sequence[int]) -> int | None:
    """The first row below two blank ones, or below one line of words there, that names columns of values; None without."""
    for position in range(1, len(body) - 1):
        start = position
        if body[position] - body[position - 1] <= 2:
            continue
        if len(_held(rows[body[start]])) == 1 and start + 2 < len(body):
            start += 1
        held = _held(rows[body[start]])
        below = [rows[number] for number in body[start + 1 : start + 1 + _LOOKED_AT]]
        under = [row[column] for row in below[:1] for column, _ in held if column < len(row)]
        if len(held) > 1 and not any(_kind(cell) for _, cell in held) and any(map(_kind, under)):
            return body[start]
    return None


def _units_row(row: Sequence[Cell], below: Sequence[Cell], width: int) -> tuple[str, ...]:
    """What a row of units below the header says; () where it holds anything but units, at least two, over values."""
    held = _held(row)
    told = {column: unit(_label(cell).strip("()[] ")) if isinstance(cell, str) else None for column, cell in held if column < width}
    if len(held) < 2 or len(told) < len(held) or not all(told.values()):
        return ()
    under = [cell for column, cell in _held(below) if column in told]
    if not under or not all(map(_kind, under)):
        return ()
    return tuple(told.get(column) or "" for column in range(width))


def _ragged(
    rows: Sequence[Sequence[Cell]],
    body: Sequence[int],
    extents: Sequence[int],
    *,
    width: int,
    place: Callable[[int], str],
    told_short: bool,
) -> tuple[int, list[str]]:
    """How many columns the longest rows add, and remarks on rows that are longer or shorter than the header."""
    longer = [number for number in body if extents[number] > width]
    shorter = [number for number in body if len(rows[number]) < width] if told_short else []
    surplus = max((extents[number] - width for number in longer), default=0)
    notes = []
    if longer:
        kept = max(0, min(surplus, MAX_SURPLUS, MAX_COLUMNS - width))
        where = f"column_{width + 1}" + (f" to column_{width + kept}" if kept > 1 else "") if kept else "the last column"
        joined = f", what goes beyond is joined in the last of them (up to {surplus} cells)" if surplus > kept > 0 else ""
        have = "rows have" if len(longer) > 1 else "row has"
        notes.append(f"{len(longer)} {have} more cells than the header (first {place(longer[0])}): they are in {where}{joined}")
        surplus = kept
    if shorter:
        have = "rows have" if len(shorter) > 1 else "row has"
        notes.append(f"{len(shorter)} {have} fewer cells than the header (first {place(shorter[0])}): the missing ones are empty")
    return surplus, notes
