"""Periods of dates: what rows are grouped by, and what a date of a filter stands for.

Dates, datetimes and times are ISO texts. What is looked at is what is written: a time zone behind a moment changes no day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from search.errors import QueryError
from search.tables.models import Column
from search.tables.names import got, quoted

DATED = frozenset({"date", "datetime", "time"})
PERIODS = ("year", "quarter", "month", "week", "day", "hour", "weekday")
_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_MOMENT = re.compile(r"([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})[T ]([0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?:\.0+)?Z?")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\.0+)?")
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_WITH_DAYS = frozenset({"date", "datetime"})


@dataclass(frozen=True, slots=True)
class Grouping:
    """What rows are grouped by: the name of the result's column, the SQL, the column. sorts: the order, "" for that of `sql`."""

    name: str
    sql: str
    column: Column
    sorts: str = ""


@dataclass(frozen=True, slots=True)
class Period:
    """What a written date stands for: from `start` up to `end`, which is no part of it; end None: the text `start` alone.

    to_the_time: whether it is finer than a day.
    """

    start: str
    end: str | None
    to_the_time: bool = False


def grouping(period: str, column: Column) -> Grouping:
    """A period of a column: year 2026, quarter 2026-Q3, month 2026-09, week by its Monday, day 2026-09-05, hour 0 to 23 of the day,
    weekday Monday to Sunday.

    Raises QueryError for a column without dates, or without times for `hour`.
    """
    allowed = {"datetime", "time"} if period == "hour" else _WITH_DAYS
    if column.type not in allowed:
        wanted = "moments or times" if period == "hour" else "dates"
        raise QueryError(f"group_by: {period} wants a column of {wanted}, and {got(column.name)} is of type {column.type}")
    name = f"{period}({column.name})"
    day = quoted(column.name) if column.type == "date" else f"substr({quoted(column.name)}, 1, 10)"
    if period == "hour":
        start = 1 if column.type == "time" else 12
        # A moment may be a day without a time, which is no midnight.
        return Grouping(name, f"CAST(nullif(substr({quoted(column.name)}, {start}, 2), '') AS INTEGER)", column)
    if period == "weekday":
        number = f"strftime('%w', {day})"
        names = " ".join(f"WHEN '{at}' THEN '{weekday}'" for at, weekday in enumerate(_WEEKDAYS))
        return Grouping(name, f"CASE {number} {names} END", column, sorts=f"({number} + 6) % 7")
    forms = {
        "year": f"CAST(strftime('%Y', {day}) AS INTEGER)",
        "quarter": f"strftime('%Y', {day}) || '-Q' || ((strftime('%m', {day}) + 2) / 3)",
        "month": f"strftime('%Y-%m', {day})",
        "week": f"date({day}, 'weekday 0', '-6 days')",
        "day": f"date({day})",
    }
    return Grouping(name, forms[period], column)


def period_of(value: object, column: Column) -> Period:
    """What a date, moment or time of a filter stands for; a year or a month is all its days, a day of a datetime all its moments.

    Raises QueryError for what is none in ISO form.
    """
    text = str(value).strip()
    try:
        found = _time(text) if column.type == "time" else _date(text, column)
    except ValueError:
        found = None
    if found is None:
        wanted = "a time such as 09:30" if column.type == "time" else "a date such as 2026-09-30, 2026-09 or 2026"
        raise QueryError(f"value: got {got(value)}, want {wanted}: {column.name} is of type {column.type}")
    return found


def _date(text: str, column: Column) -> Period | None:
    if moment := _MOMENT.fullmatch(text):
        if column.type == "date":
            return _date(moment[1], column)
        time = _time(moment[2])
        assert time is not None
        assert time.end is not None
        day = _padded(moment[1])
        return Period(f"{day} {time.start}", f"{day} {time.end}", to_the_time=True)
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    year, month, day_of_month = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    first = date(year, month, day_of_month)
    if match[3]:
        return Period(first.isoformat(), None if column.type == "date" else _following(first))
    last_month = month if match[2] else 12
    end = f"{year + last_month // 12:04}-{last_month % 12 + 1:02}-01"
    return Period(first.isoformat(), end if year < date.max.year else "9999-12-32")


def _following(day: date) -> str:
    """The day after; after the last one a text that comes after it."""
    return (day + timedelta(days=1)).isoformat() if day < date.max else "9999-12-32"


def _time(text: str) -> Period | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    start = datetime(2000, 1, 1, int(match[1]), int(match[2]), int(match[3] or 0))  # noqa: DTZ001 - a time of any day
    form = "%H:%M:%S" if match[3] else "%H:%M"
    end = start + (timedelta(seconds=1) if match[3] else timedelta(minutes=1))
    return Period(start.strftime(form), end.strftime(form) if end.day == 1 else "24:00", to_the_time=True)


def _padded(day: str) -> str:
    year, month, day_of_month = map(int, day.split("-"))
    return date(year, month, day_of_month).isoformat()


__all__ = ["DATED", "PERIODS", "Grouping", "Period", "grouping", "period_of"]
