"""What stands in one cell of a table as its reader found it: the text of a CSV file, or a value that the format itself typed."""

from __future__ import annotations

from datetime import date, datetime, time

Cell = str | int | float | bool | date | datetime | time | bytes | None
