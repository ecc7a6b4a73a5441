"""All values of a column read as one type, or the reason why they are not: numbers, moments, true and false.

In: the different texts of a column with how often each occurs, and the values that a format typed itself. Out: a Reading, or a
Refusal whose reason is told to the person. A reading is all or nothing: a column that fails for one value stays text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeVar

from search.readers.cleaning import one_line
from search.tables.models import ColumnType, Value
from search.tables.moments import Moment, moment, short_time, spelled
from search.tables.numerals import MAX_DIGITS, Number, Numeral, bare_exponent, is_code, numeral
from search.tables.units import has_no_third_decimal

Texts = Mapping[str, int]
Found = TypeVar("Found", Numeral, Moment)
_CLOCK = re.compile(r"[0-9]{1,4}:[0-9]{2}(?::[0-9]{2})?")
_GROUPS_OF_THREE = re.compile(r"[0-9]{3}(?: [0-9]{3})+")
_LARGEST = 2**63 - 1
_EXACT = 2**53  # up to here a double holds every whole number


@dataclass(frozen=True, slots=True)
class Reading:
    """A column that is of one type. values: by text. native: what a value that the format typed becomes, given its unit.

    decimal: the decimal sign that the values prove, "" where any would do.
    """

    type: ColumnType
    values: Mapping[str, Value]
    native: Callable[[Any, str], Value]
    unit: str = ""
    notes: tuple[str, ...] = ()
    decimal: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A column that is not of the type asked for. reason: worth telling, or "". open: a sign from elsewhere would decide."""

    reason: str = ""
    open: bool = False


def examples(texts: Sequence[str]) -> str:
    """Two of the texts to show, cleaned, cut and in quotation marks."""
    return ", ".join(f'"{one_line(text, 30)}"' for text in texts[:2])


def as_booleans(texts: Texts, natives: Sequence[bool]) -> Reading | Refusal:
    """TRUE and false in any case, as 1 and 0."""
    values: dict[str, Value] = {text: int(text.strip().lower() == "true") for text in texts if _is_boolean(text)}
    if len(values) < len(texts):
        return Refusal(_failing(texts, [text for text in texts if text not in values], len(natives), "neither true nor false"))
    return Reading("boolean", values, lambda value, _unit: int(value))


def _is_boolean(text: str) -> bool:
    return text.strip().lower() in {"true", "false"}


def as_numbers(texts: Texts, natives: Sequence[tuple[Number, str]], decimal: str = "") -> Reading | Refusal:
    """Numbers in one convention and one unit. Per cent is always real: "12 %" and a spreadsheet's 0.12 shown as 12 % are 12.0.

    natives: with the unit of their number format. decimal: the sign that the rest of the file proves, for a column that could be
    read either way.
    """
    found, failing = _read(texts, len(natives), lambda text: numeral(text) or bare_exponent(text))
    bare = [text for text in found if bare_exponent(text)]
    if bare and len(bare) == len(found) and not natives:
        return Refusal(f"kept as text: numbers or codes? (such as {examples(bare)})" if not failing else "")
    unit, unit_note = _unit(found, natives)
    reason = _no_numbers(texts, failing, natives)
    if reason is not None or unit is None:
        return Refusal(unit_note if reason is None else reason)
    convention = _convention(found, decimal, money=has_no_third_decimal(unit))
    if isinstance(convention, Refusal):
        return convention
    chosen, proven = convention
    values = {text: value.comma if chosen == "," else value.point for text, value in found.items()}
    real = unit == "%" or any(isinstance(value, float) for value in values.values())
    real = real or any(isinstance(value, float) and (not value.is_integer() or abs(value) > _EXACT) for value, _ in natives)
    cast = float if real else int
    return Reading(
        type="real" if real else "integer",
        values={text: cast(value) for text, value in values.items() if value is not None},
        native=lambda value, told: cast(float(Decimal(repr(value)) * 100) if told == unit == "%" else value),
        unit=unit,
        notes=tuple(note for note in (unit_note, _exponents(bare), *_remarks(found, values, chosen, proven, unit)) if note),
        decimal=proven,
    )


def _read(texts: Texts, natives: int, reader: Callable[[str], Found | None]) -> tuple[dict[str, Found], list[str]]:
    """What the texts read as, and those that do not. Stops when so many fail that nothing is to be told of it."""
    total = sum(texts.values()) + natives
    found: dict[str, Found] = {}
    failing: list[str] = []
    failed = 0
    for text, count in texts.items():
        value = reader(text)
        if value is not None:
            found[text] = value
            continue
        failing.append(text)
        failed += 0 if is_code(text) else count
        if failed * 2 > total:
            break
    return found, failing


def _no_numbers(texts: Texts, failing: Sequence[str], natives: Sequence[tuple[Number, str]]) -> str | None:
    """Why the values are no numbers, "" where that is not worth telling; None when they are."""
    if failing and all(map(is_code, failing)):
        return f"kept as text: codes with leading zeros or more than {MAX_DIGITS} digits (such as {examples(failing)})"
    if failing:
        return _failing(texts, failing, len(natives), "no numbers")
    if not all(_fits(value) for value, _ in natives):
        return "kept as text: numbers that no column of numbers holds (over 64 bits, infinite)"
    if texts and not natives and all(_GROUPS_OF_THREE.fullmatch(text.strip()) for text in texts):
        return f"kept as text: groups of digits that may be codes or thousands (such as {examples(list(texts))})"
    return None


def _fits(value: Number) -> bool:
    return -_LARGEST - 1 <= value <= _LARGEST if isinstance(value, int) else math.isfinite(value)


def _unit(found: Mapping[str, Numeral], natives: Sequence[tuple[Number, str]]) -> tuple[str | None, str]:
    """The one unit of all values and a note, or None and why there is none."""
    written = {value.unit: text for text, value in found.items()}
    units = sorted({*written, *(unit for _, unit in natives)})
    if len(units) <= 1:
        return (units[0] if units else ""), ""
    if not written.keys() - {""} and "" in units and len(units) == 2:  # a number format is dress: cells without it are numbers too
        named = sum(unit != "" for _, unit in natives)
        told = f"{named} of {len(natives) + len(found)} cells are formatted as {units[1]}"
        return "", told + (": these hold the fraction, 0.12 for 12 %" if units[1] == "%" else "")
    shown = ", ".join(unit or "none" for unit in units[:5])
    return None, f"kept as text: values of several units ({shown})"


def _convention(found: Mapping[str, Numeral], decimal: str, *, money: bool) -> tuple[str, str] | Refusal:
    """The decimal sign to read by ("" where it does not matter) and the one that the values prove.

    money: whether three digits behind the only sign are thousands, whatever the rest of the file shows.
    """
    point = all(value.point is not None for value in found.values())
    comma = all(value.comma is not None for value in found.values())
    if not point and not comma:
        one = next((text for text, value in found.items() if value.comma is None), "")
        other = next((text for text, value in found.items() if value.point is None), "")
        return Refusal(f"kept as text: decimal points and decimal commas are mixed (such as {examples([one, other])})")
    if not (point and comma):
        return (".", ".") if point else (",", ",")
    doubtful = [text for text, value in found.items() if value.point != value.comma]
    if not doubtful:
        return "", ""
    if money:
        signs = {"." if isinstance(found[text].point, int) else "," for text in doubtful}
        if len(signs) == 1:
            sign = signs.pop()
            return sign, sign
    elif decimal:
        return decimal, ""
    return Refusal(f"kept as text: thousands or decimals? (such as {examples(doubtful)})", open=True)


def _exponents(texts: Sequence[str]) -> str:
    return f"powers of ten, as the other values are numbers (such as {examples(texts)})" if texts else ""


def _remarks(
    found: Mapping[str, Numeral], values: Mapping[str, Number | None], chosen: str, proven: str, unit: str
) -> tuple[str, ...]:
    """What was done to the texts that their values no longer show."""
    remarks = []
    if chosen and not proven:
        name = "comma" if chosen == "," else "point"
        remarks.append(f"decimal {name}, as other columns of the file have it (such as {examples(list(found))})")
    elif proven == "," and any(isinstance(value, float) for value in values.values()):
        remarks.append("decimal comma")
    elif proven == "," and (dotted := [text for text, value in found.items() if isinstance(value.point, float)]):
        remarks.append(f"points read as separators of thousands (such as {examples(dotted)})")
    if unit == "%":
        remarks.append("per cent: 12 % is 12.0")
    if any("(" in text for text in found):
        remarks.append("brackets read as a minus")
    if any(value.rounded for value in found.values()):
        remarks.append("more digits written than a number holds: rounded")
    return tuple(remarks)


def as_moments(texts: Texts, natives: Sequence[date | time], *, clock: bool | None = None) -> Reading | Refusal:
    """Dates, datetimes or times as ISO texts, the day or the month first as the column itself decides.

    clock: whether the header says that 9:30 is a time of day; None leaves it to the column: 10:30 beside it shows that it is.
    """
    found, failing = _read(texts, len(natives), lambda text: moment(text) or short_time(text))
    if failing:
        if all(_CLOCK.fullmatch(text.strip()) for text in texts):
            return Refusal(f"kept as text: durations or ratios, not all are times of a day (such as {examples(failing)})")
        return Refusal(_failing(texts, failing, len(natives), "no dates or times"))
    short = [text for text in found if short_time(text)]
    shown = clock is None and (len(short) < len(found) or bool(natives))
    if short and not (clock or shown):
        return Refusal(f"kept as text: times of day, durations or ratios? (such as {examples(short)})")
    kinds = {value.kind for value in found.values()} | {_kind(value) for value in natives}
    midnights = all(not isinstance(value, datetime) or value.time() == time() for value in natives)
    if natives and midnights and not any(value.kind == "datetime" for value in found.values()):
        kinds = {"date" if kind == "datetime" else kind for kind in kinds}  # a spreadsheet keeps a day as its midnight
    if len(kinds) > 1 and "time" in kinds:
        return Refusal("kept as text: dates and times of day are mixed")
    order = _order(found)
    if isinstance(order, Refusal):
        return order
    kind: ColumnType = "datetime" if "datetime" in kinds else "time" if "time" in kinds else "date"
    zones = {value.zone for value in found.values() if value.kind == "datetime"}
    zones |= {spelled(value)[19:].lstrip(".0123456789") for value in natives if isinstance(value, datetime) and kind == "datetime"}
    notes = [order] if order else []
    if kind == "datetime" and any(value.kind == "date" for value in found.values()):
        notes.append("some values have no time")
    if len(zones) > 1:
        notes.append(f"several zones ({', '.join(zone or 'none' for zone in sorted(zones)[:4])}): texts do not sort by time")
    month = order.startswith("month first")
    return Reading(
        kind,
        {text: value.month_first if month else value.day_first for text, value in found.items()},
        lambda value, _unit: spelled(value.date() if kind == "date" and isinstance(value, datetime) else value),
        notes=tuple(notes),
    )


def _kind(value: date | time) -> str:
    return "time" if isinstance(value, time) else "datetime" if isinstance(value, datetime) else "date"


def _order(found: Mapping[str, Moment]) -> str | Refusal:
    """Day or month first, as a note; "" where all texts are ISO or name the month."""
    day = next((text for text, value in found.items() if value.month_first is None), "")
    month = next((text for text, value in found.items() if value.day_first is None), "")
    doubtful = [text for text, value in found.items() if value.day_first != value.month_first]
    if day and month:
        return Refusal(f"kept as text: some dates have the day first, others the month (such as {examples([day, month])})")
    if not doubtful:
        return ""
    if day or month:
        return f"{'day' if day else 'month'} first, as {examples([day or month])} shows"
    return Refusal(f"kept as text: day or month first? no value of the column tells (such as {examples(doubtful)})")


def _failing(texts: Texts, failing: Sequence[str], natives: int, what: str) -> str:
    """The reason to tell, where the values that fail are at most half of all: otherwise the column is plain text."""
    total = sum(texts.values()) + natives
    count = sum(texts[text] for text in failing)
    return f"kept as text: {count} of {total} values are {what} (such as {examples(failing)})" if count * 2 <= total else ""
