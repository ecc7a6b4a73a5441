"""Rows that sum up the rows above them: a sum over a column that holds one counts everything twice.

In: rows of cells and the columns decided over them. Out: which rows at the end are totals or averages and are left out, and remarks
on those that stay. A word alone proves nothing, a company may be called Total: the figures must agree with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from search.readers.cleaning import one_line
from search.tables.cells import Cell
from search.tables.deciding import Decided
from search.tables.numerals import numeral

_SUM_WORDS = (
    "sum total totals subtotal subtotals summe summen gesamt gesamtsumme gesamtbetrag gesamtergebnis ergebnis insgesamt endsumme "
    "zwischensumme teilsumme totale subtotale totaal totalt suma somme sous-total razem celkem toplam 合計 总计 小計 итого всего"
)
_MEAN_WORDS = "average averages avg mean durchschnitt mittelwert mittel schnitt moyenne promedio media gemiddelde średnia ø"
_SUMS = frozenset(_SUM_WORDS.split())
_MEANS = frozenset(_MEAN_WORDS.split())
_WORDS = _SUMS | _MEANS
_PHRASES = _WORDS | {"grand total", "total general", "total général", "sub total", "sum total", "overall total"}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MOST_WORDS = 6
_MOST_CHARACTERS = 60
_LABEL_CELLS = 3  # the label stands in one of the first cells that hold anything
_MOST_ROWS = 5  # at the end
_MOST_LINES = 10  # below them
_SLACK = 0.02  # share of a sum up to which the rounding of what was added may show


@dataclass(frozen=True, slots=True)
class Label:
    """What a row calls itself. sure: it says nothing beside the word for a total. first: it stands in the first filled cell."""

    text: str
    average: bool
    sure: bool
    first: bool = True


@dataclass(frozen=True, slots=True)
class Total:
    """A row that its figures prove to be one. row: its number in the grid. value: the largest that proves it."""

    row: int
    label: Label
    value: float


@dataclass(slots=True)
class _Sum:
    """What was added up of one column so far. decimals: the most that one of the values has."""

    amount: float = 0.0
    count: int = 0
    decimals: int = 0
    nonzero: bool = False

    def add(self, value: float) -> None:
        self.amount += value
        self.count += 1
        self.decimals = max(self.decimals, _decimals(value))
        self.nonzero = self.nonzero or value != 0

    def proves(self, value: float, *, average: bool) -> bool:
        """Whether a value is the sum, or the mean, within the rounding that its digits and those of the values show."""
        if not self.nonzero:
            return False
        wanted = self.amount / self.count if average else self.amount
        rounding = 0.5 * 10.0 ** -_decimals(value)
        if not average:
            rounding = min(rounding + 0.5 * self.count * 10.0**-self.decimals, _SLACK * abs(wanted))
        return abs(value - wanted) <= max(rounding, 1e-9 * abs(wanted))


class _Sums:
    """What was added up, by the place of the column, of those that hold numbers."""

    def __init__(self, columns: Sequence[Decided]) -> None:
        self._of = {place: _Sum() for place, column in enumerate(columns) if column.type in {"integer", "real"}}
        self.rows = 0

    def add(self, columns: Sequence[Decided], row: int) -> None:
        self.rows += 1
        for place, added in self._of.items():
            value = columns[place].values[row]
            if isinstance(value, (int, float)):
                added.add(value)

    def proof(self, cells: Sequence[Cell], label: Label) -> float | None:
        """The largest value of a row that sums up its column, None where none does.

        One that agrees is enough for a row that calls itself a total behind two rows or more: its other columns may hold shares.
        """
        proofs = []
        filled = 0
        for place, added in self._of.items():
            readings = _readings(cells[place]) if place < len(cells) else ()
            filled += bool(readings)
            proof = next((value for value in readings if added.proves(value, average=label.average)), None)
            if proof is not None:
                proofs.append(proof)
        enough = label.sure and self.rows > 1
        return max(proofs, key=abs, default=None) if enough or len(proofs) == filled else None


def label_of(cells: Sequence[Cell]) -> Label | None:
    """What a row calls itself, where that holds a word for a total or an average."""
    place = 0
    for cell in cells:
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            continue
        label = _label(cell) if isinstance(cell, str) else None
        if label is not None:
            return label if place == 0 else replace(label, first=False)
        place += 1
        if place == _LABEL_CELLS:
            break
    return None


def at_the_end(rows: Sequence[Sequence[Cell]], body: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The last rows that call themselves totals, in order, and lines of words below them; some row stays above."""
    end = len(body)
    while end > 1 and len(body) - end < _MOST_LINES and _is_line(rows[body[end - 1]]):
        end -= 1
    start = end
    while start > 1 and end - start < _MOST_ROWS and label_of(rows[body[start - 1]]) is not None:
        start -= 1
    return (tuple(body[start:end]), tuple(body[end:])) if start < end else ((), ())


def proven(
    rows: Sequence[Sequence[Cell]], above: Sequence[int], ends: Sequence[int], columns: Sequence[Decided]
) -> tuple[Total, ...]:
    """Those of the last rows that sum up all rows above them; columns: decided over these alone. Subtotals are not added again."""
    subtotals = frozenset(number for number, _ in _subtotals(rows, above, columns))
    everything, plain = _Sums(columns), _Sums(columns)
    for place, number in enumerate(above):
        everything.add(columns, place)
        if number not in subtotals:
            plain.add(columns, place)
    found = []
    for number in ends:
        label = label_of(rows[number])
        if label is not None:
            value = plain.proof(rows[number], label)
            value = everything.proof(rows[number], label) if value is None and subtotals else value
            if value is not None:
                found.append(Total(number, label, value))
    return tuple(found)


def remarks(
    rows: Sequence[Sequence[Cell]],
    body: Sequence[int],
    columns: Sequence[Decided],
    left_out: Sequence[Total],
    place: Callable[[int], str],
) -> list[str]:
    """What is told of the totals that were left out, and of rows that stay. body, columns: the table as it is kept."""
    notes = []
    if left_out:
        shown = "; ".join(f'"{total.label.text}": {_shown(total.value)}' for total in left_out)
        what = "an average" if all(total.label.average for total in left_out) else "a total"
        which = f"the last row is {what}" if len(left_out) == 1 else f"the last {len(left_out)} rows are totals"
        notes.append(f"{which} ({shown}): left out, so that sums are right")
    subtotals = list(_subtotals(rows, body, columns))
    if subtotals:
        first, label = subtotals[0]
        kept = f"{len(subtotals)} rows are subtotals, the first of them" if len(subtotals) > 1 else "a subtotal stays as a row:"
        notes.append(f'{kept} {place(first)} ("{label.text}"): leave {"them" if len(subtotals) > 1 else "it"} out of sums')
    last = label_of(rows[body[-1]]) if body else None
    if last is not None and last.sure and last.first and body[-1] not in {number for number, _ in subtotals}:
        notes.append(f'the last row is a total ("{last.text}"): leave it out of sums')
    return notes


def _subtotals(rows: Sequence[Sequence[Cell]], body: Sequence[int], columns: Sequence[Decided]) -> Iterator[tuple[int, Label]]:
    """Rows that sum up the block above them, from the subtotal before it on, or all rows above that are no subtotals."""
    labels = {number: label for number in body if (label := label_of(rows[number])) is not None}
    if not labels:
        return
    block, plain = _Sums(columns), _Sums(columns)
    for place, number in enumerate(body):
        label = labels.get(number)
        if label is not None and any(sums.rows and sums.proof(rows[number], label) is not None for sums in (block, plain)):
            yield number, label
            block = _Sums(columns)
            continue
        block.add(columns, place)
        plain.add(columns, place)


def _is_line(cells: Sequence[Cell]) -> bool:
    """Whether a row is nothing but one text that is no total: a source, a date of issue."""
    held = [cell for cell in cells if cell is not None and not (isinstance(cell, str) and not cell.strip())]
    return len(held) == 1 and isinstance(held[0], str) and _label(held[0]) is None and numeral(held[0]) is None


def _label(cell: str) -> Label | None:
    text = cell.strip()
    if len(text) > _MOST_CHARACTERS or text.isdigit():
        return None
    lowered = text.lower()
    words = _WORD.findall(lowered)
    if not words or len(words) > _MOST_WORDS or _WORDS.isdisjoint(words):
        return None
    return Label(one_line(text), bool(_MEANS.intersection(words)), sure=lowered.strip(" :.") in _PHRASES)


def _readings(cell: Cell) -> tuple[float, ...]:
    """What a cell may be as a number: a text in both conventions, a fraction also as the per cent that its format shows."""
    if isinstance(cell, str):
        read = numeral(cell)
        return tuple(value for value in (read.point, read.comma) if value is not None) if read else ()
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return (cell, cell * 100) if isinstance(cell, float) else (cell,)
    return ()


def _decimals(value: float) -> int:
    if isinstance(value, int) or value.is_integer():
        return 0
    exponent = Decimal(repr(value)).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _shown(value: float) -> str:
    return str(int(value)) if isinstance(value, int) or value.is_integer() else f"{value:.10g}"
