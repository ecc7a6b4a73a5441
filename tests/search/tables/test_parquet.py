"""Parquet keeps its types as far as SQLite has them, and says what to install where pyarrow is missing."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from search.errors import ReadError
from search.readers import parquet, read

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(columns: dict[str, Any], **options: Any) -> bytes:
    sink = BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("array", "kind", "stored"),
    [
        (pa.array([1, None], pa.int8()), "integer", [1, None]),
        (pa.array([2**63 - 1], pa.int64()), "integer", [2**63 - 1]),
        (pa.array([2**64 - 1], pa.uint64()), "text", ["18446744073709551615"]),
        (pa.array([1.5, float("nan"), float("inf")]), "real", [1.5, None, float("inf")]),
        (pa.array([True, False, None]), "boolean", [1, 0, None]),
        (pa.array([Decimal("1.20")], pa.decimal128(9, 2)), "real", [1.2]),
        (pa.array([Decimal("12345678901234567.89")], pa.decimal128(38, 2)), "text", ["12345678901234567.89"]),
        (pa.array(["0017", "é"]), "text", ["0017", "é"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "text", ["a", "b", "a"]),
        (pa.array([b"\0\xff"]), "blob", [b"\0\xff"]),
        (pa.array([date(2026, 1, 31)]), "date", ["2026-01-31"]),
        (pa.array([time(10, 30)], pa.time64("ns")), "time", ["10:30:00"]),
        (pa.array([datetime(2026, 1, 31, 10, 0, 0, 5)]), "datetime", ["2026-01-31T10:00:00.000005"]),  # noqa: DTZ001 - as written
        (
            pa.array([datetime(2026, 1, 31, 10, tzinfo=UTC)], pa.timestamp("ns", tz="UTC")),
            "datetime",
            ["2026-01-31T10:00:00+00:00"],
        ),
        (pa.array([timedelta(seconds=90)], pa.duration("us")), "real", [90.0]),
        (pa.array([[1, 2], None]), "text", ["[1, 2]", None]),
        (pa.array([{"a": 1, "b": [date(2026, 1, 1)]}]), "text", ['{"a": 1, "b": ["2026-01-01"]}']),
        (pa.array([None, None], pa.null()), "text", [None, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_types_come_from_the_file(array: Any, kind: str, stored: list[Any]) -> None:
    (draft,) = read(Path("a.parquet"), written({"v": array})).tables
    assert (draft.columns[0].type, [row[0] for row in draft.rows]) == (kind, stored)


def test_names_are_kept_and_told_apart_without_regard_to_case() -> None:
    table = pa.Table.from_arrays([pa.array([1])] * 4, names=["Größe (cm)", "id", "ID", ""])
    sink = BytesIO()
    pq.write_table(table, sink)
    (draft,) = read(Path("a.parquet"), sink.getvalue()).tables
    assert [column.name for column in draft.columns] == ["Größe (cm)", "id", "ID_2", "column_4"]


def test_without_pyarrow_the_document_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    extract = read(Path("a.parquet"), b"PAR1")
    assert (extract.no_text, extract.format) == ("no reader: pip install 'archivist[parquet]'", "parquet")


def test_a_few_bytes_that_stand_for_a_million_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = written({"v": pa.array([7] * 1_000_000)})
    assert len(data) < 100_000
    monkeypatch.setattr(parquet, "MAX_CELLS", 999_999)
    with pytest.raises(ReadError, match="1000000 rows of 1 columns: at most 999999 cells are read"):
        read(Path("a.parquet"), data)


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_damaged_file_gives_a_reason(cut: float) -> None:
    data = written({"v": list(range(1000))})
    with pytest.raises(ReadError, match="broken Parquet file"):
        read(Path("a.parquet"), data[: int(len(data) * cut)])


def test_damaged_bytes_never_give_another_error_than_a_reason() -> None:
    data = written({"v": [f"value {n}" for n in range(500)], "n": list(range(500))})
    for place in range(4, len(data), 37):
        try:
            read(Path("a.parquet"), data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        except ReadError:
            continue
