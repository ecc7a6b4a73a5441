"""CSV, TSV and their kin: text in rows of cells, whatever separates them.

In: bytes. Out: an Extract with one typed table. The delimiter and the way of quoting are those that give the most even rows:
`csv.Sniffer` goes by the frequency of signs and takes decimal commas for delimiters.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from search.errors import ReadError
from search.models import Extract
from search.readers.cleaning import clean
from search.readers.encodings import decode
from search.readers.formats import DELIMITED, suffix_of
from search.tables.describing import described, left_out
from search.tables.grids import Grid, tabulate
from search.tables.moments import moment
from search.tables.numerals import numeral

if TYPE_CHECKING:
    from _csv import Reader

_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 65_536
_SAMPLE_ROWS = 300
_SEPARATOR_LINE = re.compile(r'"?sep=([^\n"])"?[ ;,\t|]*\n', re.IGNORECASE)
_LARGEST_FIELD = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dialect:
    """How rows are cut.

    quoting: how a quotation mark stands inside of quotes, "double" or "backslash"; "none" where they do not pair and belong to the
    text. spaces: whether those behind a delimiter are dropped.
    """

    delimiter: str
    quoting: str = "double"
    spaces: bool = False


def read(data: bytes, path: Path) -> Extract:
    """The table of a file, typed. Binary data, and files without any value, give the reason in `no_text`."""
    name = DELIMITED.get(suffix_of(path), "csv")
    decoded = decode(data)
    if decoded is None:
        return Extract(text="", format=name, no_text="binary: the content is not text")
    text = clean(decoded.text)
    if not text.strip():
        return Extract(text="", format=name, encoding=decoded.encoding, no_text="empty: only white space")
    draft = tabulate(_grid(text, preferred="\t" if name == "tsv" else ","))
    notes = (decoded.note,) if decoded.note else ()
    if draft is None:
        return Extract(text="", format=name, encoding=decoded.encoding, notes=notes, no_text="empty: no value in any cell")
    notes = (*notes, *left_out([draft]))
    return Extract(text=described([draft]), format=name, encoding=decoded.encoding, notes=notes, tables=(draft,))


def _grid(text: str, preferred: str) -> Grid:
    """The cells of a text, with the line on which each row begins."""
    told = _SEPARATOR_LINE.match(text)
    first_line = 1
    if told:
        text, first_line = text[told.end() :], 2
    dialect = dialect_of(text, told[1] if told else None, preferred)
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = _reader(text, dialect)
    line = first_line
    try:
        for row in reader:
            rows.append(row)
            lines.append(line)
            line = first_line + reader.line_num
    except csv.Error as error:
        raise ReadError(f"line {line}: {error}") from error
    notes = ("quotation marks do not pair: they are read as part of the text",) if dialect.quoting == "none" else ()
    return Grid("", rows, lines=lines, notes=notes)


def dialect_of(text: str, delimiter: str | None = None, preferred: str = ",") -> Dialect:
    """The dialect that cuts the first lines into the most even rows; of two as even, the one whose cells are values more often.

    delimiter: the one that the file itself names. preferred: what to take when nothing tells.
    """
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    delimiters = (delimiter,) if delimiter else (preferred, *(sign for sign in _DELIMITERS if sign != preferred))
    ways = ["double"]
    if '\\"' in sample:
        ways.append("backslash")
    if '"' in sample and not _pairs(text):
        ways.append("none")
    candidates = [
        Dialect(sign, way, spaces)
        for sign in delimiters
        for way in ways
        for spaces in ((False, True) if f'{sign} "' in sample else (False,))
    ]
    scored = [(_score(sample, candidate), candidate) for candidate in candidates]
    best = max(score for score, _ in scored)
    if preferred == "\t":  # a file that is called so: tabs unless they cut nothing
        tabbed = [(score, candidate) for score, candidate in scored if candidate.delimiter == "\t" and score[0] >= 0.5]
        best = max((score for score, _ in tabbed), default=best)
    return next(candidate for score, candidate in scored if score == best)


def _reader(text: str, dialect: Dialect) -> Reader:
    csv.field_size_limit(_LARGEST_FIELD)
    return csv.reader(
        io.StringIO(text, newline="\n"),
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_NONE if dialect.quoting == "none" else csv.QUOTE_MINIMAL,
        doublequote=dialect.quoting == "double",
        escapechar="\\" if dialect.quoting == "backslash" else None,
        skipinitialspace=dialect.spaces,
    )


def _pairs(text: str) -> bool:
    """Whether every quotation mark that opens is closed: an odd one makes one cell of all that follows."""
    return text.count('"') % 2 == 0


def _score(sample: str, dialect: Dialect) -> tuple[float, float, int]:
    """How even the rows are (share with the usual length, 0 when nothing is cut), share of cells that are values, their length."""
    rows = []
    for row in _reader(sample, dialect):
        if any(cell.strip() for cell in row):
            rows.append(row)
        if len(rows) >= _SAMPLE_ROWS:
            break
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        return (0.0, 0.0, 0)
    usual = max(counts, key=lambda length: (counts[length], length))
    first = next(number for number, row in enumerate(rows) if len(row) == usual)
    titles = first if all(len(row) < usual for row in rows[:first]) and first * 2 <= len(rows) else 0
    table = [row for row in rows[titles:] if len(row) == usual]
    return (round(len(table) / (len(rows) - titles / 2), 2), _share_of_values(table), usual)


def _share_of_values(rows: Sequence[Sequence[str]]) -> float:
    cells = [cell for row in rows[:50] for cell in row if cell.strip()]
    values = sum(numeral(cell) is not None or moment(cell) is not None for cell in cells)
    return round(values / len(cells), 2) if cells else 0.0
