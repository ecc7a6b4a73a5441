"""OpenDocument spreadsheets (.ods): content.xml walked once, each sheet with cells becomes a table.

Cells say their type, currency and merged area themselves (OpenDocument 1.3, part 3, 19.385). They repeat by attribute, a
million times if need be: empty ones are counted, filled ones unfolded within a limit. Values are those stored last.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime, time
from pathlib import Path

from search.errors import ReadError
from search.models import Extract
from search.readers import packages
from search.readers.cleaning import one_line
from search.readers.number_formats import number_format
from search.readers.sheets import MAX_CELLS, Sheet, text_format
from search.readers.workbooks import MAX_ROWS, errors_note, extract, whole_day
from search.tables.cells import Cell
from search.tables.units import unit

_CODE = re.compile(r"0\d+")
_BEHIND = re.compile(r"[-\d.,\s'’]*\d\s*([^\d\s.,]{1,8})")
_DURATION = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?")
_ERROR = re.compile(r"#[A-Z/0!?]{3,8}|Err:\d{3}")
_ASIDE = frozenset({"annotation", "shapes", "note", "frame", "custom-shape", "tracked-changes"})


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 - one signature for all readers
    """The sheets as tables, hidden ones too; empty ones are passed over.

    Raises ReadError when the file is broken, needs a password, unfolds to too much (`packages`) or holds more than MAX_CELLS.
    """
    with packages.opened(data) as archive:
        if "content.xml" not in archive.namelist():
            raise ReadError("broken workbook: no content.xml in it")
        if "META-INF/manifest.xml" in archive.namelist() and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise ReadError("encrypted: needs a password")
        about = packages.properties(archive)
        content = _Content()
        packages.walk(archive.read("content.xml"), content)
    return extract("ods", content.sheets, about)


class _Content(packages.Handlers):
    """A walk over content.xml; `sheets` holds what was found."""

    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self._hidden: set[str] = set()
        self._style = ""
        self._row, self._column = 0, 0
        self._rows, self._repeated = 1, 1
        self._cell: dict[str, str] | None = None
        self._paragraphs: list[str] = []
        self._aside = 0
        self._left = MAX_CELLS
        self._errors: Counter[str] = Counter()
        self._missing = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._aside or name in _ASIDE:
            self._aside += 1
        elif name == "style":
            self._style = attributes.get("name", "")
        elif name == "table-properties" and attributes.get("display") == "false":
            self._hidden.add(self._style)
        elif name == "table":
            self._begin_sheet(attributes)
        elif name == "table-row" and self.sheets:
            self._rows, self._column = _count(attributes, "number-rows-repeated"), 0
        elif name in {"table-cell", "covered-table-cell"} and self.sheets:
            self._cell, self._paragraphs = attributes, []
            self._repeated = _count(attributes, "number-columns-repeated")
        elif self._cell is not None:
            self._inside(name, attributes)

    def _begin_sheet(self, attributes: dict[str, str]) -> None:
        sheet = Sheet(attributes.get("name", ""))
        if attributes.get("style-name") in self._hidden:
            sheet.notes.append("a hidden sheet")
        self.sheets.append(sheet)
        self._row = 0

    def _inside(self, name: str, attributes: dict[str, str]) -> None:
        """A paragraph of the cell begins, or one of the elements that stand for white space."""
        if name == "p":
            self._paragraphs.append("")
        elif self._paragraphs and name in {"s", "tab", "line-break"}:
            spaces = {"tab": "\t", "line-break": "\n"}.get(name) or " " * min(_count(attributes, "c"), 1_000)
            self._paragraphs[-1] += spaces

    def text(self, text: str) -> None:
        if self._cell is not None and self._paragraphs and not self._aside:
            self._paragraphs[-1] += text

    def end(self, name: str) -> None:
        if self._aside:
            self._aside -= 1
        elif name in {"table-cell", "covered-table-cell"} and self._cell is not None:
            self._end_cell(self._cell)
            self._cell = None
        elif name == "table-row" and self.sheets:
            self._end_row()
        elif name == "table" and self.sheets:
            self._end_sheet()

    def _end_cell(self, attributes: dict[str, str]) -> None:
        shown = "\n".join(self._paragraphs)
        value, measured = self._value(attributes, shown)
        if value is None or value == "":
            self._column += self._repeated
            return
        self._spend(self._repeated * self._rows)
        across, down = (_count(attributes, f"number-{which}-spanned") for which in ("columns", "rows"))
        if across > 1 or down > 1:
            self.sheets[-1].merged.append((self._row, self._column, self._row + down - 1, self._column + across - 1))
        for _ in range(self._repeated):
            for row in range(self._row, self._row + self._rows):
                self.sheets[-1].put(row, self._column, value, measured)
            self._column += 1

    def _spend(self, cells: int) -> None:
        self._left -= cells
        if self._left < 0:
            raise ReadError(f"a workbook of more than {MAX_CELLS} filled cells")

    def _end_row(self) -> None:
        self._row += self._rows
        if self._row > 2 * MAX_ROWS:
            raise ReadError("broken workbook: more rows than a sheet can have")

    def _end_sheet(self) -> None:
        notes = self.sheets[-1].notes
        if self._errors:
            notes.append(errors_note(self._errors))
        if self._missing:
            notes.append(f"{self._missing} formula{'s have' if self._missing > 1 else ' has'} no stored value: left empty")
        self._errors.clear()
        self._missing = 0

    def _value(self, attributes: dict[str, str], shown: str) -> tuple[Cell, str]:
        """A cell's value and its unit; None where it is empty, an error or a formula without a value."""
        kind = attributes.get("value-type", "")
        if attributes.get("formula") and (kind in {"", "error"} or _ERROR.fullmatch(shown)):
            if shown:
                self._errors[one_line(shown, 10)] += self._repeated * self._rows
            else:
                self._missing += self._repeated * self._rows
            return None, ""
        try:
            return _typed(kind, attributes, shown)
        except (ValueError, KeyError):
            return (shown, "") if shown else (None, "")


def _typed(kind: str, attributes: dict[str, str], shown: str) -> tuple[Cell, str]:
    """The value as its type says. Raises ValueError or KeyError where it is not of that type."""
    if kind in {"float", "currency", "percentage"}:
        return _number(kind, attributes, shown)
    if kind == "date":
        written = attributes["date-value"]
        return (date.fromisoformat(written) if len(written) == 10 else whole_day(datetime.fromisoformat(written))), ""
    if kind == "time":
        return _time(attributes["time-value"])
    if kind == "boolean":
        return attributes["boolean-value"] == "true", ""
    text = attributes.get("string-value", shown)
    return text, text_format(text)


def _number(kind: str, attributes: dict[str, str], shown: str) -> tuple[Cell, str]:
    value = float(attributes["value"])
    number: Cell = int(value) if value.is_integer() and abs(value) < 2**53 else value
    if kind == "percentage":
        return number, "%"
    if _CODE.fullmatch(shown):
        return shown, "@"
    found = _BEHIND.fullmatch(shown)
    said = attributes.get("currency") or (found[1] if found else number_format(shown).unit if kind == "currency" else "")
    return number, (unit(said) or "") if said else ""


def _time(written: str) -> tuple[Cell, str]:
    """A time of day; from 24 hours on, or below none, a number of hours."""
    match = _DURATION.fullmatch(written)
    if match is None:
        raise ValueError(written)
    seconds = int(match[2] or 0) * 3600 + int(match[3] or 0) * 60 + float((match[4] or "0").replace(",", "."))
    if match[1] or seconds >= 86_400:
        return (-seconds if match[1] else seconds) / 3600, "h"
    whole = int(seconds)
    return time(whole // 3600, whole // 60 % 60, whole % 60, int(round(seconds - whole, 6) * 1_000_000)), ""


def _count(attributes: dict[str, str], name: str) -> int:
    """A count that an attribute gives, 1 where it is missing or no number."""
    written = attributes.get(name, "1")
    return max(1, min(int(written), 1 << 24)) if written.isascii() and written.isdigit() and len(written) < 12 else 1
