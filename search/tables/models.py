"""What passes between the rooms that keep tables: frozen records of columns, tables and results, no behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["text", "integer", "real", "boolean", "date", "datetime", "time", "blob"]
Value = str | int | float | bytes | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the catalogue knows it. Everything but name and type is told, never relied on.

    name: as SQL has it. type: dates, datetimes and times are ISO texts, booleans 0 and 1. declared: the type that a SQLite file
    declares, kept so that comparisons behave as they do there. header: as the file has it, where that differs from the name.
    unit: what the values were written with ("EUR", "%", "ms"). nulls: rows without a value. distinct: different values.
    minimum, maximum: None without values. values: all of them where they are few and short, sorted, else ().
    note: what was converted or stays in doubt ("decimal comma", "kept as text: 3 of 40 values are no numbers"). comment: what the
    source itself says of the column.
    """

    name: str
    type: ColumnType
    declared: str = ""
    header: str = ""
    unit: str = ""
    nulls: int = 0
    distinct: int = 0
    minimum: str | int | float | None = None
    maximum: str | int | float | None = None
    values: tuple[str, ...] = ()
    note: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TableDraft:
    """A table as a reader makes it of a file.

    label: the sheet's or the inner table's name, "" where the file holds one table. keeps_name: the label is the name wished for
    (tables of a SQLite file). rows: one tuple a row, as long as columns. notes: what a person should know ("2 rows had more cells
    than the header: the last column holds them").
    """

    label: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Value, ...]]
    notes: tuple[str, ...] = ()
    keeps_name: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the library. path: of its file, relative to its root. rows: how many it has."""

    id: int
    name: str
    document_id: int
    path: str
    label: str
    rows: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultSet:
    """What a query gave.

    rows: the first of them, at most as many as were asked for. total: how many there are; counted is False where the deadline
    came before the last one, total is then what was counted until then. sql, parameters: what ran. tables: the names of the
    tables that were read, sorted. seconds: how long it took.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    total: int
    counted: bool
    sql: str
    parameters: tuple[Value, ...]
    tables: tuple[str, ...]
    seconds: float
