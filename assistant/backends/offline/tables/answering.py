"""From the rows that a query returned to an answer: a sentence with the number, or a table, with the key of the result.

In: a Reading, a Schema, the results of its calls. Out: text, with what was understood, and outcome. Every number comes from a
row, rounded rightly at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from assistant.backends.offline.tables.models import Measure, Reading
from assistant.backends.offline.tables.phrases import TablePhrases, table_phrases
from assistant.backends.offline.tables.row_names import naming
from assistant.backends.offline.tables.saying import counted_noun, headline_words, measure_words, said, things_words
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.messages import Outcome
from search.tables.units import has_no_third_decimal

_MOST_ROWS = 20
_MOST_WORDS = 12
_LONGEST_CELL = 80
_MOST_SPOILT = 5
_SIGNIFICANT = 3  # digits of numbers below 1
_MONEY_PLACES = 2  # the decimals of other numbers; those of money are all shown
_MOST_PLACES = 12
_COUNTED = re.compile(r"\d+ of \d+ values")
_CONTEXT = Context(prec=400)

Result = Mapping[str, Any]
Row = list[Any]


def answer_of(reading: Reading, schema: Schema, results: Sequence[Result]) -> tuple[str, Outcome]:
    """The answer in words. results: of the calls of `steps`, in their order, at least one."""
    words = table_phrases(reading.language)
    result = results[min(len(results), 2) - 1]  # of a chain the second, a third gives the same evenly
    rows = rows_of(reading, result)
    behind = _said(reading, schema, words)
    if not rows or (len(rows) == 1 and all(cell is None for cell in rows[0])):
        return "\n".join([words.nothing, *_reasons(result), "", *behind]), "absent"
    if reading.spoilt:
        return "\n".join([*_spoilt(reading, schema, rows, result), "", *behind]), "partial"
    shape = _Shape(reading if reading.over is None or len(results) > 1 else reading.over, schema, words)
    lines = shape.said(rows, result)
    if reading.over is not None and len(results) > 1:
        if len(results) > 2 and len(rows_of(reading.over, results[0])) > 1:
            lines += _evenly(reading, schema, results[2], words)
        inner = _Shape(reading.over, schema, words)
        caption = things_words(reading.over, schema, words)
        lines += ["", f"{_capital(caption)}:", "", *inner.table(rows_of(reading.over, results[0]), results[0])]
    return "\n".join([*lines, "", *behind]), "answer"


def _evenly(reading: Reading, schema: Schema, result: Result, words: TablePhrases) -> list[str]:
    """The other mean: of the means of the things."""
    rows = rows_of(reading, result)
    if not rows or reading.link is None or not isinstance(rows[0][0], int | float):
        return []
    ref = reading.measures[0].ref
    unit = schema.unit(ref) if ref else ""
    value = f"{number_words(rows[0][0], words, unit)} {unit}".strip()
    return [f"{words.evenly.format(column=reading.link[1].column)}: {value}{_key(result)}"]


def _spoilt(reading: Reading, schema: Schema, rows: list[Row], result: Result) -> list[str]:
    """Why nothing can be computed with a column, and its rarest values."""
    words, ref = table_phrases(reading.language), reading.groups[0].ref
    # Quotation marks would pass for words of a document; how many values there are stands in no result, but the rarest below.
    note = _COUNTED.sub("some values", schema.column(ref).note.replace('"', ""))
    shape = _Shape(reading, schema, words)
    return [words.spoilt.format(column=ref.column, note=note), "", *shape.table(rows[:_MOST_SPOILT], result)]


def rows_of(reading: Reading, result: Result) -> list[Row]:
    """The rows that are meant: of those asked for beside a single best one only its equals."""
    found = result.get("rows")
    rows = [list(row) for row in found if isinstance(row, list)] if isinstance(found, list) else []
    limit = reading.ranking.limit if reading.ranking else 0
    if not limit or len(rows) <= limit or reading.over is not None:
        return rows
    place = _ranked_column(reading, result)
    if place is None or limit > 1:
        return rows[:limit]
    return [row for number, row in enumerate(rows) if number < limit or row[place] == rows[0][place]]


def _ranked_column(reading: Reading, result: Result) -> int | None:
    columns = list(result.get("columns") or ())
    name = reading.ranking.by.name if reading.ranking else ""
    return columns.index(name) if name in columns else None


def _reasons(result: Result) -> list[str]:
    why = result.get("why")
    # Without quotation marks, which would pass for words of a document.
    return ["- " + " ".join(str(reason).replace('"', "").split()) for reason in why] if isinstance(why, list) else []


def _said(reading: Reading, schema: Schema, words: TablePhrases) -> list[str]:
    lines = [words.understood.format(text=said(reading, schema))]
    inner = reading.over.unsure if reading.over else ()
    lines += [words.unsure.format(text=text) for text in dict.fromkeys((*reading.unsure, *inner))]
    left = tuple(dict.fromkeys((*reading.unread, *reading.unused)))
    if left:
        lines.append(words.unread.format(words=", ".join(left[:_MOST_WORDS])))
    return lines


class _Shape:
    """How the rows of one Reading are said."""

    def __init__(self, reading: Reading, schema: Schema, words: TablePhrases) -> None:
        self.reading, self.schema, self.words = reading, schema, words
        self.measures = {measure.name: measure for measure in reading.measures}
        by = reading.ranking.by if reading.ranking else None
        if isinstance(by, Measure):
            self.measures.setdefault(by.name, by)
        self.refs = {ref.column: ref for table in reversed(reading.tables) for ref in schema.columns(table)}

    def said(self, rows: list[Row], result: Result) -> list[str]:
        """One row as a sentence, several as a table."""
        columns, key = self._columns(result), _key(result)
        if len(rows) > 1 and not self._is_tie(rows):
            return self.table(rows, result)
        lines = []
        for row in rows:
            labels = self._labels(row, columns, result)
            numbers = [
                self._number(name, cell, result) for name, cell in zip(columns, row, strict=False) if self._is_number(name, cell)
            ]
            if len(columns) == 1:
                headline = _capital(headline_words(self.reading, self.schema, self.words)) or self._heading(columns[0])
                lines.append(f"{headline}: {self.cell(row[0], columns[0], result)}{key}")
            elif labels and numbers:
                lines.append(f"{', '.join(labels)}: {', '.join(numbers)}{key}")
            else:
                parts = [f"{self._heading(name)} {self.cell(cell, name, result)}" for name, cell in zip(columns, row, strict=False)]
                lines.append(f"{', '.join(parts)}{key}")
        if len(lines) > 1:
            lines = [f"- {line} ({self.words.equal})" for line in lines]
        return lines

    def _labels(self, row: Row, columns: list[str], result: Result) -> list[str]:
        """What a row is about, a code behind what it stands for: "Hamburg (depot_code 20457)"."""
        shown = {
            name: self.cell(cell, name, result) for name, cell in zip(columns, row, strict=False) if not self._is_number(name, cell)
        }
        for name in [name for name in shown if name in self.refs]:
            called = naming(self.schema, self.refs[name])
            if called is not None and called.column in shown:
                shown[called.column] += f" ({name} {shown.pop(name)})"
        return list(shown.values())

    def _number(self, name: str, cell: object, result: Result) -> str:
        """A number with what it is: "30 docks", "total amount 533,831.25 EUR"."""
        measure, written = self.measures[name], self.cell(cell, name, result)
        noun = counted_noun(measure, self.schema)
        return f"{written} {noun}" if noun and cell != 1 else f"{self._heading(name)} {written}"

    def table(self, rows: list[Row], result: Result) -> list[str]:
        """Rows as a table, with the key of their result below."""
        columns = self._columns(result)
        lines = ["| " + " | ".join(_plain(self._heading(name)) for name in columns) + " |"]
        lines.append("|" + "|".join(" ---: " if name in self.measures else " --- " for name in columns) + "|")
        lines += [f"| {' | '.join(self._cells(row, columns, result))} |" for row in rows[:_MOST_ROWS]]
        lines += ["", _key(result).strip()]
        limited = self.reading.ranking is not None and self.reading.ranking.limit
        if len(rows) > _MOST_ROWS or (result.get("cut") and not limited):
            lines[-1] += f" {self.words.goes_on}"
        return lines

    def _cells(self, row: Row, columns: list[str], result: Result) -> list[str]:
        return [self.cell(cell, name, result) for name, cell in zip(columns, row, strict=False)]

    def _is_tie(self, rows: list[Row]) -> bool:
        return bool(self.reading.ranking and self.reading.ranking.limit == 1 and len(rows) <= _MOST_ROWS)

    def _columns(self, result: Result) -> list[str]:
        return [str(name) for name in result.get("columns") or ()]

    def _is_number(self, name: str, cell: object) -> bool:
        return name in self.measures and isinstance(cell, int | float)

    def _heading(self, name: str) -> str:
        measure = self.measures.get(name)
        return measure_words(measure, self.words, short=True, whole=False) if measure else name

    def cell(self, cell: object, name: str, result: Result) -> str:
        """A cell: numbers with their unit, years and ids as they are."""
        measure, ref = self.measures.get(name), self.refs.get(name)
        ref = measure.ref if measure else ref
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            return "–" if cell is None else _plain(str(cell))
        counted = bool(measure and measure.function in {"count", "count_distinct"})
        if not counted and ref is not None and not self.schema.is_measure(ref):
            return str(cell)
        unit = "" if counted else self._unit(ref, name, result)
        written = number_words(cell, self.words, unit)
        return f"{written} {unit}".strip()

    def _unit(self, ref: Ref | None, name: str, result: Result) -> str:
        units = result.get("units")
        told = units.get(name) if isinstance(units, Mapping) else None
        return str(told) if told else self.schema.unit(ref) if ref else ""


def number_words(value: float, words: TablePhrases, unit: str = "") -> str:
    """A number with groups of three digits and at most two decimals, small ones with three that count; rounded half up.

    unit: what stands behind it; of money both decimals are shown.
    """
    if isinstance(value, int):
        text = f"{value:,}"
    else:
        exact = Decimal(repr(value))
        if not exact.is_finite():
            return str(value)
        places = _MONEY_PLACES if abs(exact) >= 1 or not exact else min(_SIGNIFICANT - 1 - exact.adjusted(), _MOST_PLACES)
        text = f"{exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_CONTEXT):,f}"
        whole = exact == exact.to_integral_value()
        if "." in text and (whole or places != _MONEY_PLACES or not has_no_third_decimal(unit)):
            text = text.rstrip("0").rstrip(".")
    return text.translate({ord(","): words.group, ord("."): words.point})


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _key(result: Result) -> str:
    key = result.get("key")
    return f" [{key}]" if isinstance(key, str) and key else ""


def _plain(text: str) -> str:
    """Text of a cell on one line, with nothing in it that would end the cell."""
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= _LONGEST_CELL else line[: _LONGEST_CELL - 1] + "…"
