"""Parquet through pyarrow, an optional extra: types come from the file, values as SQLite can store them.

Decimals of more than 15 digits and integers beyond 64 bit stay text, because a number of SQLite would change them. Dates and
times are ISO texts; one with a time zone keeps its offset. Lists, maps and structures are JSON.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from search.errors import ReadError
from search.models import Extract
from search.readers.cleaning import one_line
from search.readers.flattening import unique_names
from search.tables.describing import described, left_out
from search.tables.models import Column, ColumnType, TableDraft, Value
from search.tables.moments import spelled
from search.tables.profiling import profiled

MAX_CELLS = 10_000_000
MAX_UNFOLDED = 1_000_000_000  # bytes that the file's columns may need without compression
_MISSING = "no reader: pip install 'archivist[parquet]'"
_SURROGATES = re.compile("[\ud800-\udfff]")
_EXACT_DIGITS = 15
_BATCH = 10_000

_Converter = Callable[[Any], Value]


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 - one signature for all readers
    """The one table of the file. Without pyarrow `no_text` says what to install.

    Raises ReadError when it is damaged or encrypted, or holds more than MAX_CELLS cells or MAX_UNFOLDED bytes.
    """
    try:
        arrow = _arrow()
    except ImportError:
        return Extract(text="", format="parquet", no_text=_MISSING)
    try:
        with arrow.parquet.ParquetFile(arrow.BufferReader(data)) as file:
            _check_size(file)
            draft = _draft(file)
    except (arrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise ReadError(f"broken Parquet file: {one_line(str(error), 120)}") from error
    if draft is None:
        return Extract(text="", format="parquet", no_text="a Parquet file without columns")
    return Extract(text=described([draft]), format="parquet", notes=left_out([draft]), tables=(draft,))


def _arrow() -> Any:
    """The module pyarrow with its part for Parquet, which has no type information. Raises ImportError where it is not installed."""
    import pyarrow.parquet  # type: ignore[import-untyped]

    return pyarrow


def _check_size(file: Any) -> None:
    """What it will unfold to is in its footer: a column of one value repeated costs a few bytes."""
    about = file.metadata
    cells = about.num_rows * about.num_columns
    if cells > MAX_CELLS:
        raise ReadError(f"{about.num_rows} rows of {about.num_columns} columns: at most {MAX_CELLS} cells are read")
    unfolded = sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups))
    if unfolded > MAX_UNFOLDED:
        raise ReadError(f"unfolds to {unfolded // 1_000_000} MB: at most {MAX_UNFOLDED // 1_000_000} MB are read")


def _draft(file: Any) -> TableDraft | None:
    schema = file.schema_arrow
    if not schema.names:
        return None
    kinds = [_kind(field.type) for field in schema]
    columns = [
        Column(name, kind, note=note, comment=_comment(field))
        for name, field, (kind, note, _) in zip(unique_names(schema.names), schema, kinds, strict=True)
    ]
    rows = [row for batch in file.iter_batches(_BATCH) for row in _rows(batch, [converter for _, _, converter in kinds])]
    return profiled("", columns, rows, ())


def _rows(batch: Any, converters: Sequence[_Converter]) -> Iterator[tuple[Value, ...]]:
    columns = [
        [None if value is None else convert(value) for value in _plain(column)]
        for column, convert in zip(batch.columns, converters, strict=True)
    ]
    return zip(*columns, strict=True)


def _plain(column: Any) -> list[Any]:
    """Python values; of times in nanoseconds, which Python does not have, the microseconds, and texts that are no UTF-8 mended."""
    pa = _arrow()

    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(pa.timestamp("us", tz=kind.tz), safe=False)
    elif pa.types.is_time64(kind) and kind.unit == "ns":
        column = column.cast(pa.time64("us"), safe=False)
    elif pa.types.is_duration(kind) and kind.unit == "ns":
        column = column.cast(pa.duration("us"), safe=False)
    try:
        values: list[Any] = column.to_pylist()
        return values
    except UnicodeDecodeError:
        return [None if raw is None else raw.decode("utf-8", "replace") for raw in column.cast(pa.binary()).to_pylist()]


def _comment(field: Any) -> str:
    """What the writer said of a column, under the keys that writers use for it."""
    about = field.metadata or {}
    said = next((about[key] for key in (b"comment", b"description") if key in about), b"")
    return one_line(said.decode("utf-8", "replace"), 120)


def _kind(kind: Any) -> tuple[ColumnType, str, _Converter]:
    """The column type for a type of Arrow, what to note of it, and how its values are converted."""
    pa = _arrow()

    types = pa.types
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_decimal(kind):
        if kind.precision > _EXACT_DIGITS:
            return "text", f"kept as text: decimals of up to {kind.precision} digits", lambda value: format(value, "f")
        return "real", "", float
    cases: tuple[tuple[Callable[[Any], bool], ColumnType, str, _Converter], ...] = (
        (types.is_boolean, "boolean", "", int),
        (types.is_uint64, "text", "kept as text: unsigned integers of 64 bit", str),
        (types.is_integer, "integer", "", int),
        (types.is_floating, "real", "", _real),
        (types.is_date, "date", "", spelled),
        (types.is_timestamp, "datetime", "", spelled),
        (types.is_time, "time", "", spelled),
        (types.is_duration, "real", "a duration in seconds", timedelta.total_seconds),
        (_is_binary, "blob", "", bytes),
        (_is_text, "text", "", _text),
        (types.is_null, "text", "", str),
    )
    found = next((case[1:] for case in cases if case[0](kind)), None)
    return found or ("text", "lists and structures are JSON", _json)


def _is_binary(kind: Any) -> bool:
    pa = _arrow()

    return any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary))


def _is_text(kind: Any) -> bool:
    pa = _arrow()

    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string))


def _real(value: float) -> float | None:
    return None if math.isnan(value) else value


def _text(value: str) -> str:
    return _SURROGATES.sub("\ufffd", value)


def _json(value: object) -> str:
    return _text(json.dumps(value, ensure_ascii=False, default=_plain_json))


def _plain_json(value: object) -> str | float:
    """What JSON has no form for: times as in ISO 8601, binary values in base64, decimals and the rest as they are written."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return format(value, "f") if isinstance(value, Decimal) else str(value)
