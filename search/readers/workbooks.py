"""Excel workbooks (.xlsx, .xlsm) through openpyxl: each sheet with cells becomes a table.

Values are those that Excel stored last, nothing is calculated. openpyxl streams the rows; what it does not tell in that mode,
merged areas and formulas without a stored value, is taken from the sheet's XML. Links to other files are never followed.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

from search.errors import ReadError
from search.models import Extract
from search.readers import packages
from search.readers.cleaning import one_line
from search.readers.number_formats import number_format
from search.readers.sheets import MAX_CELLS, Sheet, grid_of, text_format
from search.tables.cells import Cell
from search.tables.describing import described, left_out
from search.tables.grids import tabulate
from search.tables.units import unit

MAX_ROWS = 1_048_576
MAX_SEEN = 100_000_000  # places that openpyxl passes over, empty ones included
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})(?::([A-Z]{1,3})([1-9]\d{0,6}))?")


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 - one signature for all readers
    """The sheets of a workbook as tables, hidden ones too; empty and chart sheets are passed over.

    Raises ReadError when the file is broken, needs a password, unfolds to too much (`packages`) or holds more than MAX_CELLS.
    """
    with packages.opened(data) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns of every extension that it passes over
        about = packages.properties(archive)
        try:
            sheets = _sheets(data, archive)
        except ReadError:
            raise
        except Exception as error:  # openpyxl converts what it finds without a check, and lets any error through
            raise ReadError(f"broken workbook: {one_line(str(error), 120) or type(error).__name__}") from error
    return extract("xlsx", sheets, about)


def extract(name: str, sheets: list[Sheet], about: packages.Properties) -> Extract:
    """What is told of a workbook in any format, given its sheets."""
    grids = [grid for grid in map(grid_of, sheets) if grid is not None]
    drafts = [draft for draft in (tabulate(grid, header="detect") for grid in grids) if draft is not None]
    text = described(drafts)
    return Extract(
        text=text,
        format=name,
        title=about.title,
        author=about.author,
        created=about.created,
        modified=about.modified,
        no_text=None if text.strip() else "a workbook without tables" if grids else "an empty workbook",
        notes=left_out(drafts),
        tables=tuple(drafts),
    )


def _sheets(data: bytes, archive: zipfile.ZipFile) -> list[Sheet]:
    from openpyxl import load_workbook

    book = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    try:
        return list(_read_sheets(book, archive))
    finally:
        book.close()


def _read_sheets(book: Any, archive: zipfile.ZipFile) -> Iterator[Sheet]:
    left = MAX_CELLS
    for source in book.worksheets:
        sheet = Sheet(source.title)
        if source.sheet_state != "visible":
            sheet.notes.append("a hidden sheet")
        _read_cells(source, sheet, left)
        left -= sum(map(len, sheet.cells.values()))
        marks = _marks(archive.read(source._worksheet_path))  # the only way to a streamed sheet's part
        sheet.merged.extend(marks.merged)
        if marks.empty_formulas:
            count = len(marks.empty_formulas)
            sheet.notes.append(
                f"{count} formula{'s have' if count > 1 else ' has'} no stored value ({marks.empty_formulas[0]}): left empty"
            )
        yield sheet


def _read_cells(source: Any, sheet: Sheet, left: int) -> None:
    """Take over the filled cells. The size that the sheet claims to have is not believed: one far cell would fill the memory."""
    from openpyxl.cell.read_only import EMPTY_CELL

    source.reset_dimensions()
    errors: Counter[str] = Counter()
    seen = 0
    for number, row in enumerate(source.iter_rows()):
        seen += len(row)
        if number >= MAX_ROWS or seen > MAX_SEEN:
            raise ReadError(f"sheet {one_line(sheet.label, 40)!r}: its cells lie too far apart")
        for column, cell in enumerate(row):
            if cell is EMPTY_CELL or cell.value is None:
                continue
            if cell.data_type == "e":
                errors[one_line(str(cell.value), 10)] += 1
                continue
            value, measured = _value(cell)
            if value == "":
                continue
            sheet.put(number, column, value, measured)
            left -= 1
            if left < 0:
                raise ReadError(f"a workbook of more than {MAX_CELLS} filled cells")
    if errors:
        sheet.notes.append(errors_note(errors))


def errors_note(errors: Counter[str]) -> str:
    """What to tell of cells such as #DIV/0!, given how often each error occurs."""
    total = errors.total()
    return f"{total} cell{'s hold' if total > 1 else ' holds'} an error ({', '.join(sorted(errors))}): left empty"


def _value(cell: Any) -> tuple[Cell, str]:
    """A cell's value and what its number format adds to it."""
    value = cell.value
    if isinstance(value, str):
        text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value) if "_x" in value else value
        return text, text_format(text)
    if isinstance(value, bool | time):
        return value, ""
    if isinstance(value, datetime):
        return whole_day(value), ""
    if isinstance(value, timedelta):
        return value.total_seconds() / 3600, "h"
    if isinstance(value, int | float):
        return measured(value, cell.number_format)
    return str(value), ""


def measured(value: float, code: str) -> tuple[Cell, str]:
    """A number with the unit of its format, or the text that a format of zeros makes of it ("00412")."""
    shown = number_format(code)
    if shown.zeros and isinstance(value, int):
        return shown.code(value), "@"
    if shown.unit == "‰":
        return value * 1000, "‰"
    return value, unit(shown.unit) or "" if shown.unit else ""


def whole_day(value: datetime) -> date:
    """The day alone where the time is midnight: a spreadsheet has no other way to write a day."""
    return value.date() if value.time() == time() else value


@dataclass(slots=True)
class _Marks(packages.Handlers):
    """What a sheet's XML says beside its values."""

    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    empty_formulas: list[str] = field(default_factory=list)
    _cell: str = ""
    _formula: bool = False
    _within: bool = False
    _valued: bool = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._cell, self._formula, self._valued = attributes.get("r", "?"), False, False
        elif name == "f":
            self._formula = True
        elif name in {"v", "is"}:
            self._within = True
        elif name == "mergeCell":
            area = _area(attributes.get("ref", ""))
            if area is not None:
                self.merged.append(area)

    def text(self, text: str) -> None:
        self._valued = self._valued or (self._within and bool(text))

    def end(self, name: str) -> None:
        if name in {"v", "is"}:
            self._within = False
        elif name == "c" and self._formula and not self._valued:
            self.empty_formulas.append(self._cell)


def _marks(content: bytes) -> _Marks:
    marks = _Marks()
    if b"mergeCell" in content or b"<f" in content or b":f" in content or b"\0" in content:
        packages.walk(content, marks)
    return marks


def _area(reference: str) -> tuple[int, int, int, int] | None:
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        return None
    left, top, right, bottom = match[1], int(match[2]), match[3] or match[1], int(match[4] or match[2])
    return top - 1, _column(left), bottom - 1, _column(right)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
