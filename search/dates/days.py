"""Single days: today, days as people and programs write them, and arithmetic with months.

In: text. Out: `datetime.date`, or None where the text is no date or could be two: 03/04/2025 is never guessed at.
"""

from __future__ import annotations

import os
import re
import unicodedata
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta

from search.errors import FilterError

_MONTH_NAMES = (
    "january januar jan jänner",
    "february februar feb",
    "march märz mar mär maerz mrz",
    "april apr",
    "may mai",
    "june juni jun",
    "july juli jul",
    "august aug",
    "september sept sep",
    "october oktober oct okt",
    "november nov",
    "december dezember dec dez",
)
_WEEKDAY_NAMES = (
    "monday mon montag mo",
    "tuesday tue tues dienstag di",
    "wednesday wed mittwoch mi",
    "thursday thu thur thurs donnerstag do",
    "friday fri freitag fr",
    "saturday sat samstag sonnabend sa",
    "sunday sun sonntag so",
)
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAY_NAMES) for name in names.split()}
MONTH = f"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
WEEKDAY = f"(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})"
ORDINAL = r"(?:st|nd|rd|th|\.)?"
FIRST_YEAR, LAST_YEAR = 1000, 2999

_YEAR = r"(?P<year>[0-9]{4})"
_FORMS = tuple(
    re.compile(form + r"(?![0-9a-z])")
    for form in (
        _YEAR + r"(?P<sign>[-/.])(?P<month>[0-9]{1,2})(?P=sign)(?P<day>[0-9]{1,2})",
        _YEAR + r"(?P<month>[0-9]{2})(?P<day>[0-9]{2})",
        r"(?P<day>[0-9]{1,2})\. ?(?P<month>[0-9]{1,2})\. ?" + _YEAR,
        r"(?P<one>[0-9]{1,2})(?P<sign>[-/])(?P<other>[0-9]{1,2})(?P=sign)" + _YEAR,
        rf"(?P<day>[0-9]{{1,2}}){ORDINAL}[ -]?(?:of )?(?P<name>{MONTH})\.?,?[ -](?:of )?" + _YEAR,
        rf"(?P<name>{MONTH})\.?[ -](?P<day>[0-9]{{1,2}}){ORDINAL},?[ -]" + _YEAR,
        _YEAR + rf",?[ -](?P<name>{MONTH})\.?[ -](?P<day>[0-9]{{1,2}}){ORDINAL}",
    )
)
_MONTH_FORMS = tuple(
    re.compile(form)
    for form in (
        _YEAR + r"[-/.](?P<month>[0-9]{1,2})",
        r"(?P<month>[0-9]{1,2})[-/.]" + _YEAR,
        rf"(?P<name>{MONTH})\.?,?[ -]?(?:of )?" + _YEAR,
        _YEAR + rf"[ -](?P<name>{MONTH})\.?",
    )
)
_EITHER_WAY = re.compile(r"(?<![0-9/-])([0-9]{1,2})([/-])([0-9]{1,2})\2([0-9]{4})(?![0-9])")
_LEADING_WEEKDAY = re.compile(rf"{WEEKDAY}\.?,? ")
_ZONE = r"(?: ?(?:z|utc|gmt|[ecmp][sd]t|cest|cet|[+-][0-9]{2}(?::?[0-9]{2})?))"
_TIME = re.compile(
    rf"(?:t|,? (?:at |um )?)(?:[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?|(?<=t)[0-9]{{4}}(?:[0-9]{{2}})?)"
    rf"(?: ?[ap]\.?m\b\.?| uhr)?{_ZONE}{{0,2}}(?: \([a-z ]+\))?(?![0-9a-z:])"
)
_PDF = re.compile(r"d:(?P<year>[0-9]{4})(?P<month>[0-9]{2})?(?P<day>[0-9]{2})?[0-9]{0,6}(?:[z+-][0-9']*)?")
_MAX_CHARACTERS = 100


def today() -> date:
    """ARCHIVIST_TODAY when it is set, else the local day. Raises FilterError when its value is no ISO day."""
    fixed = os.environ.get("ARCHIVIST_TODAY")
    if not fixed:
        return datetime.now().astimezone().date()
    match = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", fixed.strip())
    day = make_day(int(match[1]), int(match[2]), int(match[3])) if match else None
    if day is None:
        raise FilterError(f"ARCHIVIST_TODAY: got {fixed[:40]!r}, want a day such as 2026-10-15")
    return day


def parse_day(text: str) -> str | None:
    """The ISO day of a single written date, as its writer's clock had it; None when it is none or could be two.

    ISO dates and times, PDF ("D:20260912103000+02'00'"), RFC 2822, "12 September 2026", "September 12, 2026", "12.09.2026",
    slashes where one part is above 12. A month or year alone is its first day.
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    folded = fold(text)
    pdf = _PDF.fullmatch(folded)
    if pdf:
        return _iso(_day_of({"month": pdf["month"] or "1", "day": pdf["day"] or "1", "year": pdf["year"]}))
    bare = _LEADING_WEEKDAY.sub("", _TIME.sub("", folded, count=1), count=1)
    found = leading_day(bare)
    if found is not None:
        return _iso(found[0]) if not found[1] else None
    return _iso(
        month_start(bare) or (_day_of({"year": bare, "month": "1", "day": "1"}) if re.fullmatch("[0-9]{4}", bare) else None)
    )


def leading_day(folded: str) -> tuple[date, str] | None:
    """The day that a folded text begins with, and the text after it."""
    for form in _FORMS:
        match = form.match(folded)
        if match:
            found = _day_of(match.groupdict())
            return (found, folded[match.end() :]) if found else None
    return None


def month_start(folded: str) -> date | None:
    """The first day of a month written with its year: "september 2026", "2026-09", "09/2026"."""
    for form in _MONTH_FORMS:
        match = form.fullmatch(folded)
        if match:
            return _day_of({**match.groupdict(), "day": "1"})
    return None


def either_way(folded: str) -> tuple[str, date, date] | None:
    """A date in the text whose day and month could be exchanged, with both readings."""
    for match in _EITHER_WAY.finditer(folded):
        one, other = (
            _day_of({"year": match[4], "month": month, "day": day}) for day, month in ((match[1], match[3]), (match[3], match[1]))
        )
        if one and other and one != other:
            return match[0], one, other
    return None


def fold(text: str) -> str:
    """One spelling: compatibility forms resolved, lower case, single spaces, plain hyphens, no space around the ends."""
    plain = unicodedata.normalize("NFKC", text).lower().translate(_SIGNS)
    return " ".join(unicodedata.normalize("NFC", plain).split())


_SIGNS = str.maketrans("‐‑‒–—―−’‘", "-------''")


def make_day(year: int, month: int, day: int) -> date | None:
    """The day, or None when there is none of that date between the years 1000 and 2999."""
    if FIRST_YEAR <= year <= LAST_YEAR and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
        return date(year, month, day)
    return None


def shift_months(day: date, months: int) -> date:
    """The same day some months later or earlier, or the last day of that month where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def month_of(day: date) -> tuple[date, date]:
    """The first and last day of a day's month."""
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def week_of(day: date) -> tuple[date, date]:
    """Monday and Sunday of a day's week."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _day_of(parts: Mapping[str, str | None]) -> date | None:
    year = int(parts["year"] or 0)
    if parts.get("one"):
        one, other = int(parts["one"] or 0), int(parts["other"] or 0)
        if one <= 12 and other <= 12 and one != other:
            return None
        day, month = (one, other) if other <= 12 else (other, one)
        return make_day(year, month, day)
    name = parts.get("name")
    return make_day(year, MONTHS[name] if name else int(parts["month"] or 0), int(parts["day"] or 0))


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
