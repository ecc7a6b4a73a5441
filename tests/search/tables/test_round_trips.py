"""Any table of typed values that a format can hold is read back with equal values, row for row."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.readers import read

ARCHIVE_SAFE = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn", "Zl", "Zp"))
WORDS = st.text(ARCHIVE_SAFE, max_size=12).map(lambda text: f"w{text}w")  # begins and ends with a letter: no number, no formula
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
SHORT_FLOATS = st.floats(-1e300, 1e300).map(lambda number: float(f"{number:.15g}"))  # the digits that Excel keeps
DAYS = st.dates(date(1900, 3, 1), date(2999, 12, 31))
MOMENTS = st.builds(  # a midnight would be read as a day
    datetime,
    st.integers(1901, 2999),
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(1, 23),
    st.integers(0, 59),
    st.integers(0, 59),
)
WIDE = st.integers(-(2**63), 2**63 - 1)
EXACT = st.integers(-(2**53), 2**53)


@st.composite
def tables(draw: st.DrawFn, *kinds: st.SearchStrategy[Any]) -> list[tuple[Any, ...]]:
    """Rows of two columns or more, each of one kind; the first without gaps, each with a value in its first row."""
    count = draw(st.integers(2, 6))
    columns = [draw(st.lists(WORDS, min_size=count, max_size=count))]
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5)):
        values = draw(st.lists(st.none() | kind, min_size=count - 1, max_size=count - 1))
        columns.append([draw(kind), *values])
    return list(zip(*columns, strict=True))


def names(rows: list[tuple[Any, ...]]) -> list[str]:
    return [f"col_{'abcdef'[place]}" for place in range(len(rows[0]))]


def stored(value: Any) -> Any:
    """How the value stands in a table: moments as ISO text, truth values as numbers."""
    return value.isoformat() if isinstance(value, date) else int(value) if isinstance(value, bool) else value


def check(name: str, data: bytes, rows: list[tuple[Any, ...]]) -> None:
    (draft,) = read(Path(name), data).tables
    assert [column.name for column in draft.columns] == names(rows)
    assert list(draft.rows) == [tuple(map(stored, row)) for row in rows]


@settings(max_examples=60, deadline=None)
@given(tables(WORDS, EXACT, SHORT_FLOATS, st.booleans(), DAYS, MOMENTS))
def test_workbooks(rows: list[tuple[Any, ...]]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(names(rows))
    for row in rows:
        book.active.append(row)
    out = BytesIO()
    book.save(out)
    check("a.xlsx", out.getvalue(), rows)


@settings(max_examples=60, deadline=None)
@given(tables(st.text(), WIDE, FLOATS, st.booleans(), DAYS, MOMENTS, st.binary()))
def test_parquet(rows: list[tuple[Any, ...]]) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = BytesIO()
    pq.write_table(pa.table(dict(zip(names(rows), map(list, zip(*rows, strict=True)), strict=True))), out)
    check("a.parquet", out.getvalue(), rows)


@settings(max_examples=60, deadline=None)
@given(tables(st.text(), WIDE, FLOATS, st.booleans()))
def test_json_lines_and_lists(rows: list[tuple[Any, ...]]) -> None:
    records = [dict(zip(names(rows), row, strict=True)) for row in rows]
    check("a.jsonl", "\n".join(json.dumps(record) for record in records).encode(), rows)
    check("a.json", json.dumps({"count": 1, "items": records}, ensure_ascii=False).encode(), rows)


@settings(max_examples=60, deadline=None)
@given(tables(st.text(ARCHIVE_SAFE), WIDE, FLOATS, st.binary(), st.one_of(st.text(ARCHIVE_SAFE), WIDE, FLOATS, st.binary())))
def test_databases(rows: list[tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(names(rows))})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.commit()
        check("a.db", connection.serialize(), rows)
