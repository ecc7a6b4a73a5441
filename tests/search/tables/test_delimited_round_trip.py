"""Any table of typed values, written as CSV and read, gives equal values; what is converted by rule, the documented one.

The documented exceptions, which the strategies below leave out or `wanted` states:
- a column of texts all of which read as numbers, dates, times or truth values is of that type (and a text that is a marker such as
  "-" is no value there);
- a whole number of more than 15 digits makes its column text; a column of decimals that could all be thousands ("1.234") is text
  unless another column of the file shows the decimal sign;
- a cell of white space alone is no value, and a row without any value is left out;
- a first row of units over a row of numbers says the units.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from search.readers import read
from search.tables.cells import Cell
from search.tables.grids import Grid, tabulate
from search.tables.models import TableDraft, Value
from search.tables.moments import moment
from search.tables.numerals import numeral
from search.tables.units import unit

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
DELIMITERS = st.sampled_from([",", ";", "\t", "|"])
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])


def reads_as_text(text: str) -> bool:
    marker = text.strip().lower() in {
        "na",
        "n/a",
        "#n/a",
        "n.a.",
        "null",
        "none",
        "nan",
        "\\n",
        "-",
        "--",
        "–",
        "—",
        "true",
        "false",
    }
    return numeral(text) is None and moment(text) is None and unit(text) is None and not marker


words = st.text(alphabet="ab Z05.,;|'\"\\-+/:\n\té中🚢€()", min_size=1, max_size=12).filter(
    lambda text: bool(text.strip()) and reads_as_text(text)
)
zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
KINDS: list[st.SearchStrategy[Cell]] = [
    st.integers(-(10**15) + 1, 10**15 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=zones),  # noqa: DTZ001 - the zone is drawn
    st.times(),
    words,
]


@st.composite
def tables(draw: st.DrawFn) -> list[list[Cell]]:
    """Rows of two to five columns, each of one kind, with gaps; no row is empty."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=5))
    rows = draw(st.lists(st.tuples(*(st.one_of(st.none(), kind) for kind in kinds)), min_size=1, max_size=12))
    return [list(row) for row in rows if any(value is not None for value in row)] or [["word"] * len(kinds)]


def written(value: Cell, comma: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).replace(".", ",") if comma else repr(value)
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def wanted(column: Sequence[Cell], comma: bool) -> list[Value]:
    """The values that a column of these must read back as, unless its decimals are left in doubt."""
    if any(isinstance(value, int) and abs(value) >= 10**15 for value in column):
        return [None if value is None else str(value) for value in column]
    return [
        value.isoformat() if isinstance(value, (date, time)) else int(value) if isinstance(value, bool) else value
        for value in column
        if not isinstance(value, bytes)
    ]


def as_file(rows: Sequence[Sequence[Cell]], delimiter: str, encoding: str, comma: bool, quoting: int) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(NAMES[: len(rows[0])])
    writer.writerows([written(value, comma) for value in row] for row in rows)
    return buffer.getvalue().encode(encoding)


def imported(data: bytes) -> TableDraft:
    (draft,) = read(Path("a.csv"), data).tables
    return draft


def assert_same(draft: TableDraft, rows: Sequence[Sequence[Cell]], comma: bool = False) -> None:
    assert [column.name for column in draft.columns] == list(NAMES[: len(rows[0])])
    for place, cells in enumerate(zip(*rows, strict=True)):
        found = [row[place] for row in draft.rows]
        if draft.columns[place].note.startswith("kept as text: thousands or decimals?"):
            assert all(value is None or isinstance(value, float) for value in cells)
            assert found == [written(value, comma) or None for value in cells]
        else:
            assert found == wanted(cells, comma)


@given(tables(), DELIMITERS, ENCODINGS, st.booleans())
@settings(deadline=None)
def test_typed_values_read_back_equal(rows: list[list[Cell]], delimiter: str, encoding: str, comma: bool) -> None:
    assert_same(imported(as_file(rows, delimiter, encoding, comma, csv.QUOTE_ALL)), rows, comma)


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.floats(-1e6, 1e6), st.sampled_from(["x", "y z"])), min_size=2),
    DELIMITERS,
    st.booleans(),
)
@settings(deadline=None)
def test_without_quotes_too(rows: list[tuple[int, float, str]], delimiter: str, comma: bool) -> None:
    comma = comma and delimiter != ","
    assert_same(imported(as_file(rows, delimiter, "utf-8", comma, csv.QUOTE_MINIMAL)), rows, comma)


@given(tables())
@settings(deadline=None)
def test_values_that_a_sheet_typed_read_back_equal(rows: list[list[Cell]]) -> None:
    draft = tabulate(Grid("Sheet1", [NAMES[: len(rows[0])], *rows]), header="first")
    assert draft is not None
    for place, cells in enumerate(zip(*rows, strict=True)):
        found = [row[place] for row in draft.rows]
        midnights = draft.columns[place].type == "date"
        assert found == [
            value.date().isoformat()
            if midnights and isinstance(value, datetime)
            else value.isoformat()
            if isinstance(value, (date, time))
            else value
            for value in cells
        ]


money = st.decimals(-(10**9), 10**9, places=2, allow_nan=False, allow_infinity=False)


def german(amount: Decimal) -> str:
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


@given(st.lists(money, min_size=1), st.sampled_from(["{} €", "€ {}", "{} EUR", "EUR {}"]))
@settings(deadline=None)
def test_amounts_with_thousands_and_currency_read_back_as_numbers(amounts: list[Decimal], form: str) -> None:
    rows = [[form.format(german(amount)), f"{amount:,.2f} %", f"({abs(amount):,.2f})", f"${amount:,.2f}"] for amount in amounts]
    draft = imported(as_file(rows, ";", "utf-8", comma=False, quoting=csv.QUOTE_ALL))
    assert [(column.type, column.unit) for column in draft.columns] == [("real", "EUR"), ("real", "%"), ("real", ""), ("real", "$")]
    assert draft.rows == [(float(amount), float(amount), -float(abs(amount)), float(amount)) for amount in amounts]


@given(
    st.lists(st.dates(), min_size=1),
    st.sampled_from(["{0.day:02}.{0.month:02}.{0.year:04}", "{0.day}/{0.month}/{0.year:04}", "{0.month}/{0.day}/{0.year:04}"]),
)
@settings(deadline=None)
def test_dates_read_back_as_iso_or_as_the_text_they_were(days: list[date], form: str) -> None:
    texts = [form.format(day) for day in days]
    draft = imported(as_file([[text, "x"] for text in texts], ",", "utf-8", comma=False, quoting=csv.QUOTE_ALL))
    if draft.columns[0].note.startswith("kept as text: day or month first?"):
        assert all(day.day <= 12 for day in days)
        assert [row[0] for row in draft.rows] == texts
    else:
        assert [row[0] for row in draft.rows] == [day.isoformat() for day in days]


@given(st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=4), max_size=8), st.sampled_from(["a.csv", "a.tsv"]))
@settings(deadline=None)
def test_any_text_is_read_without_an_error(rows: list[list[str]], name: str) -> None:
    text = "\n".join(",".join(row) for row in rows)
    found = read(Path(name), text.encode("utf-8", "surrogatepass"))
    assert found.no_text is not None or len(found.tables) == 1
