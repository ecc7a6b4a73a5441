"""CSV, TSV and their kin: text in rows of cells, whatever separates them.

In: bytes. Out: an Extract with one typed table. The delimiter and the way of quoting are those that give the most even rows:
`csv.Sniffer` goes by the frequency of signs and takes decimal commas for delimiters.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
# A header, and below it whole numbers and at least one with a decimal comma.
_DECIMALS = re.compile(r"[^,;\t|\n]+\n(?=[^,]*\d,\d)(?:(?:-?\d+(?:,\d+)?)?(?:\n|\Z))+")
_LARGEST_FIELD = 2**31 - 1
_NO_DELIMITER = "\x1f"  # no cleaned text holds it


@dataclass(frozen=True, slots=True)
class Dialect:
    """How rows are cut.

    quoting: how a quotation mark stands inside of quotes, "double" or "backslash"; "none" where they do not pair and belong to the
    text. spaces: whether those behind a delimiter are dropped.
    """

    delimiter: str
    quoting: str = "double"
    spaces: bool = False


class Pieces(NamedTuple):
    """The rows of a text, the line on which each begins (from 0), and the lines with a quotation mark that does not pair."""

    rows: list[list[str]]
    starts: list[int]
    astray: list[int]


@dataclass(frozen=True, slots=True)
class Score:
    """How well a dialect fits. evenness: share of rows with the usual length, 0 when nothing is cut. values: share of cells that
    are numbers or dates. titles: lines above the first row of the usual length. odd: quotation marks that stand where the dialect
    has none.
    """

    evenness: float
    values: float
    length: int
    titles: int
    odd: int

    @property
    def rounded(self) -> tuple[float, float, int]:
        """To compare delimiters by: one ragged row in a hundred does not outweigh what the cells say."""
        return (round(self.evenness, 2), self.values, self.length)

    @property
    def quoted(self) -> tuple[float, int]:
        """To compare ways of quoting by."""
        return (self.evenness, -self.odd)


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
    if not text.endswith("\n"):
        text += "\n"
    told = _SEPARATOR_LINE.match(text)
    first_line = 1
    if told:
        text, first_line = text[told.end() :], 2
    dialect = dialect_of(text, told[1] if told else None, preferred)
    pieces = _cut(text, dialect)
    notes = []
    if dialect.quoting == "none" and dialect.delimiter != _NO_DELIMITER:
        notes.append("quotation marks that do not pair are read as part of the text")
    if pieces.astray:
        lines = "1 line has" if len(pieces.astray) == 1 else f"{len(pieces.astray)} lines have"
        first = pieces.astray[0] + first_line
        notes.append(f"{lines} a quotation mark that does not pair (first line {first}): it is read as part of the text")
    return Grid("", pieces.rows, lines=[start + first_line for start in pieces.starts], notes=tuple(notes))


def _cut(text: str, dialect: Dialect, most: int | None = None) -> Pieces:
    """Cut a text into its rows, or the first `most` of them.

    An opening quotation mark that nothing closes, or that text follows where it is closed, would join the lines up to the next
    one: its line is read by itself, and what follows anew.
    """
    pieces = Pieces([], [], [])
    buffer = io.StringIO(text, newline="\n")
    offset = line = 0
    while offset < len(text):
        buffer.seek(offset)
        begun = line
        reader = _reader(buffer, dialect, strict=True)
        try:
            for row in reader:
                pieces.rows.append(row)
                pieces.starts.append(begun)
                begun = line + reader.line_num
                if len(pieces.rows) == most:
                    return pieces
            break
        except csv.Error:  # strict readers refuse such a mark: that is how it is found
            for _ in range(begun - line):
                offset = text.index("\n", offset) + 1
            end = text.find("\n", offset) + 1 or len(text)
            row = next(_reader(io.StringIO(text[offset:end]), dialect))
            unclosed = bool(row) and row[-1].endswith("\n")
            pieces.rows.append(next(_reader(io.StringIO(text[offset:end]), replace(dialect, quoting="none"))) if unclosed else row)
            pieces.starts.append(begun)
            pieces.astray.append(begun)
            offset, line = end, begun + 1
    return pieces


def dialect_of(text: str, delimiter: str | None = None, preferred: str = ",") -> Dialect:
    """The dialect that cuts the first lines into the most even rows; of two as even, the one whose cells are values more often.

    delimiter: the one that the file itself names. preferred: what to take when nothing tells.
    """
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    signs = (delimiter,) if delimiter else (preferred, *(sign for sign in _DELIMITERS if sign != preferred))
    best = {sign: max((_score(sample, way) for way in _ways(sign, sample)), key=lambda score: score.rounded) for sign in signs}
    sign = max(signs, key=lambda sign: best[sign].rounded)
    if preferred == "\t" and best["\t"].evenness >= 0.5 and not delimiter:
        sign = "\t"
    if not delimiter and (_is_prose(best[sign], sample, sign) or (sign == "," and _DECIMALS.fullmatch(sample))):
        return Dialect(_NO_DELIMITER)
    return max(_ways(sign, sample), key=lambda way: _score(sample, way).quoted)


def _ways(delimiter: str, sample: str) -> list[Dialect]:
    """The dialects of one delimiter that a text gives reason for, the usual one first."""
    quoting = ["double"]
    if '\\"' in sample:
        quoting.append("backslash")
    if '"' in sample:
        quoting.append("none")
    spaces = (False, True) if f'{delimiter} "' in sample else (False,)
    return [Dialect(delimiter, way, space) for way in quoting for space in spaces]


def _is_prose(score: Score, sample: str, delimiter: str) -> bool:
    """Whether what would cut the lines is punctuation: a space behind every one, and the lines fall into uneven pieces."""
    signs = sample.count(delimiter)
    spaced = delimiter != "\t" and signs == sample.count(delimiter + " ") + sample.count(delimiter + "\n")
    return signs == 0 or (spaced and (score.titles > 0 or score.evenness < 0.7) and '"' not in sample)


def _reader(lines: Iterable[str], dialect: Dialect, *, strict: bool = False) -> Reader:
    csv.field_size_limit(_LARGEST_FIELD)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_NONE if dialect.quoting == "none" else csv.QUOTE_MINIMAL,
        doublequote=dialect.quoting == "double",
        escapechar="\\" if dialect.quoting == "backslash" else None,
        skipinitialspace=dialect.spaces,
        strict=strict,
    )


def _score(sample: str, dialect: Dialect) -> Score:
    """Judge a dialect by the rows of a sample; lines above the first row of the usual length count half."""
    pieces = _cut(sample, dialect, _SAMPLE_ROWS)
    rows = [row for row in pieces.rows if any(cell.strip() for cell in row)]
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        return Score(0.0, 0.0, 0, 0, 0)
    usual = max(counts, key=lambda length: (counts[length], length))
    first = next(number for number, row in enumerate(rows) if len(row) == usual)
    titles = first if all(len(row) < usual for row in rows[:first]) and first * 2 <= len(rows) else 0
    table = [row for row in rows[titles:] if len(row) == usual]
    odd = len(pieces.astray) + sum(cell.startswith(' "') for row in rows for cell in row)
    return Score(len(table) / (len(rows) - titles / 2), _share_of_values(table), usual, titles, odd)


def _share_of_values(rows: Sequence[Sequence[str]]) -> float:
    cells = [cell for row in rows[:50] for cell in row if cell.strip()]
    values = sum(numeral(cell) is not None or moment(cell) is not None for cell in cells)
    return round(values / len(cells), 2) if cells else 0.0
