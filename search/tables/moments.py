"""Dates, datetimes and times as tables hold them, normalised to ISO texts that SQLite compares and computes with.

In: one text. Out: its ISO form when the day stands first and when the month does, which differ for 03/04/2025 alone: which of the
two holds is decided over a whole column (`search.tables.deciding`). Two-digit years and months without a day are never dates.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import Literal, NamedTuple

from search.dates.days import MONTH, MONTHS, fold

MomentKind = Literal["date", "datetime", "time"]

_DIGIT = re.compile(r"[0-9]")
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>[.,][0-9]{1,9})?)?"
    r"(?:\s?(?P<half>[apAP])\.?[mM]\.?)?"
)
_SHORT = re.compile(r"[0-9]:[0-5][0-9]")
_ZONE = r"(?:\s?(?P<zone>Z|z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?"
_TIME = re.compile(_CLOCK)
_DAY = (
    r"(?P<iso>(?P<y1>[0-9]{4})-(?P<m1>[0-9]{2})-(?P<d1>[0-9]{2}))"
    r"|(?P<y2>[0-9]{4})(?P<s2>[/.])(?P<m2>[0-9]{1,2})(?P=s2)(?P<d2>[0-9]{1,2})"
    r"|(?P<one>[0-9]{1,2})(?P<sign>[./-])(?P<other>[0-9]{1,2})(?P=sign)(?P<y3>[0-9]{4})"
)
_NUMBERED = re.compile(rf"(?:{_DAY})(?:(?P<between>[T ]|,\s?){_CLOCK}{_ZONE})?")
_NAMED = tuple(
    re.compile(rf"{form}(?P<rest>,? [0-9]{{1,2}}:.*)?")
    for form in (
        rf"(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?[ -]?(?P<name>{MONTH})\.?,?[ -](?P<year>[0-9]{{4}})",
        rf"(?P<name>{MONTH})\.? (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,? (?P<year>[0-9]{{4}})",
    )
)
_MAX_CHARACTERS = 48


class Moment(NamedTuple):
    """A date, datetime or time as ISO text. day_first, month_first: what it is in each order, None where it is none.

    kind: what is written. plain: whether the text is ISO already. zone: "" without, "Z" or "+01:00".
    """

    day_first: str | None
    month_first: str | None
    kind: MomentKind
    plain: bool = False
    zone: str = ""


def moment(text: str) -> Moment | None:
    """Read a text as a date, a datetime or a time of day; None for anything else.

    9:30 is as likely a duration: a time has two digits for its hour, or seconds, or "am" and "pm".
    """
    text = text.strip()
    if not 5 <= len(text) <= _MAX_CHARACTERS or not _DIGIT.search(text):
        return None
    if _ISO_DAY.fullmatch(text):
        day = _day(int(text[:4]), int(text[5:7]), int(text[8:]))
        return Moment(day, day, "date", plain=True) if day else None
    clock = _TIME.fullmatch(text)
    if clock:
        told = _time(clock)
        sure = len(clock["hour"]) == 2 or clock["second"] or clock["half"]
        return Moment(told, told, "time", plain=told == text) if told and sure else None
    numbered = _NUMBERED.fullmatch(text)
    return _from_numbers(numbered, text) if numbered else _from_words(text)


def short_time(text: str) -> Moment | None:
    """Read 9:30, which is a time of day only where its column says so; None for anything else."""
    text = text.strip()
    return Moment(f"0{text}:00", f"0{text}:00", "time") if _SHORT.fullmatch(text) else None


def spelled(value: date | datetime | time) -> str:
    """A date, datetime or time that a format typed itself, as ISO text: the same form that texts are normalised to."""
    return value.isoformat()


def _from_numbers(match: re.Match[str], text: str) -> Moment | None:
    clock = _time(match) if match["hour"] else ""
    zone = _zone(match["zone"])
    if clock is None or zone is None:
        return None
    if match["one"]:
        one, other, year = int(match["one"]), int(match["other"]), int(match["y3"])
        days = _day(year, other, one), (None if match["sign"] == "." else _day(year, one, other))  # dots mean day first everywhere
    else:
        year, month, day = (int(match["y1"] or match["y2"]), int(match["m1"] or match["m2"]), int(match["d1"] or match["d2"]))
        days = (_day(year, month, day),) * 2
    if days == (None, None):
        return None
    ends = f"T{clock}{zone}" if clock else ""
    first, second = (None if day is None else day + ends for day in days)
    plain = first == text.replace(" ", "T", 1) and bool(match["iso"])
    return Moment(first, second, "datetime" if clock else "date", plain, zone)


def _from_words(text: str) -> Moment | None:
    folded = fold(text)
    for form in _NAMED:
        match = form.fullmatch(folded)
        if match is None:
            continue
        day = _day(int(match["year"]), MONTHS[match["name"]], int(match["day"]))
        clock = _TIME.fullmatch(match["rest"].strip(", ")) if match["rest"] else None
        told = _time(clock) if clock else ""
        if day is None or told is None or (match["rest"] and not clock):
            return None
        whole = f"{day}T{told}" if told else day
        return Moment(whole, whole, "datetime" if told else "date")
    return None


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _time(match: re.Match[str]) -> str | None:
    """HH:MM:SS with the fraction as written; None for a time that no clock shows."""
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"] in "pP")
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (match["fraction"] or "").replace(",", ".")
    return f"{hour:02}:{minute:02}:{second:02}{fraction}"


def _zone(written: str | None) -> str | None:
    """The zone as ISO has it, "" without, None where there is no such offset."""
    if not written:
        return ""
    if written in {"Z", "z", "UTC", "GMT"}:
        return "Z"
    hours, minutes = written[1:3], written[3:].lstrip(":") or "00"
    return f"{written[0]}{hours}:{minutes}" if int(hours) <= 14 and int(minutes) <= 59 else None
