"""The type of each column, decided over all of its values and, for the decimal sign, over the columns of the same file.

In: the cells of the columns. Out: a type, the values as that type, the unit and what was done, as notes. Nothing is lost: what
cannot be converted by rule stays the text that it was, and the note says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from search.readers.cleaning import clean
from search.tables.cells import Cell
from search.tables.models import ColumnType, Value
from search.tables.moments import spelled
from search.tables.readings import Reading, Refusal, as_booleans, as_moments, as_numbers, examples
from search.tables.units import unit_of_header

_MARKERS = frozenset(("na", "n/a", "#n/a", "n.a.", "null", "none", "nan", "\\n", "-", "--", "–", "—"))
_WORDS = re.compile(r"[^\W\d_]+")
# Headers of what is written in digits and is no number: one file's 1067 must stay what another file's 01067 is.
_CODES = {
    **dict.fromkeys(["phone", "telephone", "telefon", "telephon", "tel", "fax", "mobile", "handy"], "a phone number is no amount"),
    **dict.fromkeys(["zip", "zipcode", "plz", "postcode", "postal", "postleitzahl"], "a postcode is no number"),
    **dict.fromkeys(["iban", "bic", "isbn", "issn", "ean", "gtin"], "a code is no number"),
    **dict.fromkeys(("version", "versions"), "a version is no number"),
}
_CLOCK_WORDS = (
    "time times start starts started end ends ended begin begins beginning break from until till to at open opens opening close "
    "closes closing arrival arrives departure departs von bis ab beginn ende pause uhr uhrzeit zeit startzeit endzeit anfang "
    "ankunft abfahrt"
)
_CLOCK = frozenset(_CLOCK_WORDS.split())
_NO_CLOCK_WORDS = (
    "scale ratio odds score scores result results duration elapsed spent lap split pace aspect mix "
    "maßstab massstab verhältnis ergebnis dauer laufzeit"
)
_NO_CLOCK = frozenset(_NO_CLOCK_WORDS.split())


@dataclass(frozen=True, slots=True)
class Cells:
    """One column as it was found. units: what number formats say of its cells, by row; see Grid.formats."""

    header: str
    cells: Sequence[Cell]
    units: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Decided:
    """A column of one type. values: one a row, None where there is none."""

    type: ColumnType
    values: list[Value]
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """A column's cells by what they are. texts: how often each occurs. markers: texts that may stand for no value."""

    texts: Counter[str]
    markers: Counter[str]
    natives: dict[str, list[tuple[Any, str]]]


def decide(columns: Sequence[Cells]) -> list[Decided]:
    """Decide every column; one that its own values leave open follows the decimal sign that all others agree on."""
    sorted_columns = [_sorted(column) for column in columns]
    outcomes = [_outcome(column, parts) for column, parts in zip(columns, sorted_columns, strict=True)]
    proven = {outcome.decimal for outcome in outcomes if isinstance(outcome, Reading) and outcome.decimal}
    if len(proven) == 1:
        sign = proven.pop()
        for place, outcome in enumerate(outcomes):
            if isinstance(outcome, Refusal) and outcome.open:
                outcomes[place] = _outcome(columns[place], sorted_columns[place], sign)
    return [_decided(*parts) for parts in zip(columns, sorted_columns, outcomes, strict=True)]


def _sorted(column: Cells) -> _Sorted:
    natives: dict[str, list[tuple[Any, str]]] = {}
    for row, cell in enumerate(column.cells):
        if cell is not None and not isinstance(cell, str):
            natives.setdefault(_kind(cell), []).append((cell, column.units.get(row, "")))
    found = Counter(cell for cell in column.cells if isinstance(cell, str))
    texts = Counter({text: count for text, count in found.items() if text.strip()})
    markers = Counter({text: count for text, count in texts.items() if text.strip().lower() in _MARKERS})
    return _Sorted(texts - markers, markers, natives)


def _kind(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "booleans"
    if isinstance(cell, (int, float)):
        return "numbers"
    if isinstance(cell, bytes):
        return "bytes"
    return "times" if isinstance(cell, time) else "dates"


def _outcome(column: Cells, parts: _Sorted, decimal: str = "") -> Reading | Refusal:
    """What the column reads as: the first type that all its values have, or the first reason worth telling."""
    if len(parts.natives) > 1:
        counts = [f"{len(values)} {kind}" for kind, values in sorted(parts.natives.items())]
        return Refusal(f"kept as text: values of several kinds ({', '.join(counts)})")
    if not parts.texts and not parts.natives:
        return Refusal()
    native = next(iter(parts.natives), "")
    cells = parts.natives.get(native, [])
    plain = [cell for cell, _ in cells]
    if native == "bytes":
        return Refusal("kept as text: some values are bytes") if parts.texts else Reading("blob", {}, lambda value, _unit: value)
    words = frozenset(word.lower() for word in _WORDS.findall(column.header))
    attempts: list[tuple[tuple[str, ...], Callable[[], Reading | Refusal]]] = [
        (("booleans",), lambda: as_booleans(parts.texts, plain)),
        (("numbers",), lambda: as_numbers(parts.texts, cells, decimal)),
        (("dates", "times"), lambda: as_moments(parts.texts, plain, clock=_says_clock(words))),
    ]
    if not native and "@" in column.units.values():
        return Refusal("kept as text: the sheet holds its digits as text")
    code = next((_CODES[word] for word in sorted(words) if word in _CODES), "")
    if not native and code:
        attempts[1] = (("numbers",), lambda: _kept_as_code(as_numbers(parts.texts, cells, decimal), code))
    refusals = []
    for kinds, attempt in attempts:
        if not native or native in kinds:
            outcome = attempt()
            if isinstance(outcome, Reading):
                return outcome
            refusals.append(outcome)
    return next((refusal for refusal in refusals if refusal.reason), Refusal())


def _kept_as_code(outcome: Reading | Refusal, why: str) -> Refusal:
    """A refusal of numbers, with the reason where the values, or half of them, would have been some."""
    return Refusal(f"kept as text: {why}" if isinstance(outcome, Reading) or outcome.reason else "")


def _says_clock(words: frozenset[str]) -> bool | None:
    """Whether a header says that 9:30 is a time of day; None where it says nothing of it."""
    return False if words & _NO_CLOCK else True if words & _CLOCK else None


def _decided(column: Cells, parts: _Sorted, outcome: Reading | Refusal) -> Decided:
    if isinstance(outcome, Refusal):
        texts = {text: clean(text) for text in (*parts.texts, *parts.markers)}
        values = [_as_text(cell, column.units.get(row, ""), texts) for row, cell in enumerate(column.cells)]
        return Decided("text", values, note=outcome.reason)
    notes = list(outcome.notes)
    if parts.markers:
        notes.append(f"{examples(list(parts.markers))} read as no value (in {parts.markers.total()} of {len(column.cells)} rows)")
    values = [
        outcome.values.get(cell)
        if isinstance(cell, str)
        else None
        if cell is None
        else outcome.native(cell, column.units.get(row, ""))
        for row, cell in enumerate(column.cells)
    ]
    unit = outcome.unit
    if not unit and outcome.type in {"integer", "real"}:
        unit = unit_of_header(column.header)
    return Decided(outcome.type, values, unit, "; ".join(notes))


def _as_text(cell: Cell, unit: str, texts: Mapping[str, str]) -> Value:
    """A cell in a column of texts: its own text, or the value that a format typed as a person would write it."""
    if cell is None or isinstance(cell, str):
        return texts.get(cell) if cell else None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, (date, time)):
        return spelled(cell)
    shown = as_numbers({}, [(cell, unit)])
    number = shown.native(cell, unit) if isinstance(shown, Reading) else cell
    text = str(int(number)) if isinstance(number, float) and number.is_integer() and abs(number) < 1e15 else str(number)
    return f"{text} {unit}" if unit else text
