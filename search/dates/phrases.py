"""Date phrases: what a person types after `--during`, `--after`, `--before`, as a range of days.

In: a phrase and the day it is said on. Out: DateRange. A phrase with no single clear meaning is refused with what to type
instead. Names without a year mean the latest such time that has begun; weeks begin on Monday.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from difflib import get_close_matches

from search.dates import periods
from search.dates.days import either_way
from search.dates.days import today as this_day
from search.dates.periods import Span
from search.errors import FilterError
from search.models import DateRange

EXAMPLES = "2026-03-01, 2025, Q2 2025, March, last month, the past 3 weeks, since March, 2025-01-01..2025-03-31"
_MAX_CHARACTERS = 120
_DAY = timedelta(days=1)

# The first two begin at a time's first day, "before" ends before it, "until" ends with its last day.
_OPEN = tuple(
    (kind, re.compile(form))
    for kind, form in (
        ("since", r"(?:since|starting(?: from| in| on)?|as of|newer than|no earlier than|not before) (.+)"),
        ("since", r"from (.+) (?:on|onward|onwards)"),
        ("since", r"(.+) (?:onward|onwards|and later|or later)"),
        ("after", r"(?:after|later than) (.+)"),
        ("before", r"(?:before|prior to|earlier than|older than) (.+)"),
        ("until", r"(?:until|till|up to|through|by|no later than|not after) (.+)"),
    )
)
_BETWEEN = tuple(
    re.compile(form)
    for form in (
        r"between (.+?) and (.+)",
        r"(?:from |between )?(.+?) ?(?:\.\.\.?|\bto\b|\buntil\b|\btill\b|\bthrough\b| - ) ?(.+)",
        r"([0-9]{4})-([0-9]{4})",
        r"([^-]*[^-0-9 ][^-]*|[0-9]{1,2})-([^-]+)",
    )
)
_EDGE = re.compile(r"(?:the )?(start|beginning|end) (?:of )?(.+)")
_THE_UNIT = re.compile(r"^the (?=(?:week|month|quarter|year)$)")
_SEASON = re.compile(r"\b(?:spring|summer|autumn|fall|winter|frühling|sommer|herbst)\b")
_PART = re.compile(r"\b(?:early|mid|late|beginning|start|end|middle|few|several|recently|lately|soon|fiscal|fy ?[0-9]+)\b")


def resolve(phrase: str, *, today: date | None = None) -> DateRange:
    """The days that a phrase means, both ends inclusive, None where it is open.

    today: the day it is said on; without it ARCHIVIST_TODAY, else the local day. "last month" is the previous calendar month,
    "the last month" and "the past month" reach from the same day one month back until today. Raises FilterError for a phrase
    that is not understood, could mean two things or ends before it begins.
    """
    day = today or this_day()
    text = periods.plain(phrase[: _MAX_CHARACTERS + 1])
    if not text or len(phrase) > _MAX_CHARACTERS:
        raise FilterError(f"date: got {phrase[:40]!r}, want a date or a phrase of at most {_MAX_CHARACTERS} characters", _hint())
    twofold = either_way(text)
    if twofold:
        written, one, other = twofold
        raise FilterError(f"date: {written} could be {one} or {other}", f"write {one} or {other}")
    try:
        found = _understand(text, day)
    except (OverflowError, ValueError) as error:
        raise FilterError(
            f"date: {phrase!r}, said on {day}, reaches beyond the calendar", "it holds the years 1 to 9999"
        ) from error
    if found is None:
        raise _not_understood(phrase, text, day)
    if found.start and found.end and found.start > found.end:
        raise FilterError(f"date: {phrase!r} ends ({found.end}) before it begins ({found.start})", "exchange its two ends")
    return found


def bounds(*, after: str | None, before: str | None, during: str | None, today: date | None = None) -> DateRange:
    """The days that satisfy all of the filters given.

    during sets both ends; after: from the phrase's first day on; before: until the day before its first day. Raises FilterError
    naming the filter that is not understood, or the two that exclude each other.
    """
    day = today or this_day()
    starts: list[tuple[str, str]] = []
    ends: list[tuple[str, str]] = []
    if during is not None:
        span = _named("during", during, day)
        starts += [(span.start, f"during {during!r}")] if span.start else []
        ends += [(span.end, f"during {during!r}")] if span.end else []
    if after is not None:
        span = _named("after", after, day)
        if span.start is None:
            raise FilterError(f"after: {after!r} has no first day", f"use it with --before or --during, or name a day: {EXAMPLES}")
        starts.append((span.start, f"after {after!r}"))
    if before is not None:
        span = _named("before", before, day)
        # "before: until May" and the like: the phrase itself says where it ends.
        first = date.fromisoformat(span.start) if span.start else None
        if first == date.min:
            raise FilterError(f"before: {before!r} begins on {first}: there is no day before it", "leave it out")
        last = _iso(first - _DAY) if first else span.end
        assert last is not None, "a range is open at one end only"
        ends.append((last, f"before {before!r}"))
    start, end = max(starts, default=None), min(ends, default=None)
    if start and end and start[0] > end[0]:
        raise FilterError(
            f"{start[1]} (from {start[0]}) and {end[1]} (until {end[0]}) exclude each other: no day satisfies both",
            "leave one of them out",
        )
    return DateRange(start[0] if start else None, end[0] if end else None)


def _named(name: str, phrase: str, day: date) -> DateRange:
    try:
        return resolve(phrase, today=day)
    except FilterError as error:
        raise FilterError(f"{name}: {str(error).removeprefix('date: ')}", error.hint) from error


def _understand(text: str, day: date) -> DateRange | None:
    whole = periods.find(text, day)
    if whole:
        return _range(*whole)
    for kind, pattern in _OPEN:
        match = pattern.fullmatch(text)
        span = _end_point(match[1], day, ago=kind in {"since", "before"}) if match else None
        if span:
            return _opened(kind, span)
    for pattern in _BETWEEN:
        match = pattern.fullmatch(text)
        ends = _both_ends(match[1], match[2], day) if match else None
        if ends:
            return _range(ends[0][0], ends[1][1])
    return None


def _opened(kind: str, span: Span) -> DateRange:
    if kind in {"since", "after"}:
        return _range(span[0], None)
    return _range(None, span[1] if kind == "until" else span[0] - _DAY)


def _end_point(text: str, day: date, *, near: date | None = None, ago: bool = False) -> Span | None:
    """One end of a range: a period, or its start or end; with `ago` also a bare length of time ("older than 3 months")."""
    span = periods.find(text, day, near=near)
    if span is None and ago:
        span = periods.find(f"{text} ago", day)
    edge = _EDGE.fullmatch(text) if span is None else None
    inner = periods.find(_THE_UNIT.sub("this ", edge[2]), day, near=near) if edge else None
    if edge and inner:
        return (inner[1], inner[1]) if edge[1] == "end" else (inner[0], inner[0])
    return span


def _both_ends(first: str, last: str, day: date) -> tuple[Span, Span] | None:
    """The two ends of a range; the first may leave its month or year to the second, the second its year to the first."""
    for completed, years_back in _completed(first, last):
        start, end = _end_point(completed, day), _end_point(last, day)
        if start and end:
            if start[0] > end[1] and years_back is not None:
                start = _end_point(years_back, day) or start
            return start, end
    start = _end_point(first, day)
    if start is None:
        return None
    end = _end_point(last, day, near=start[0])
    return (start, end) if end else None


def _completed(first: str, last: str) -> list[tuple[str, str | None]]:
    """Readings of the first end with what the second says behind it: "3" before "5 march 2025", "may" before "july 2025"."""
    readings: list[tuple[str, str | None]] = []
    number, year = re.fullmatch(r"[0-9]{1,2}(?:st|nd|rd|th|\.)?", first), re.search(r"(?<![0-9])[0-9]{4}$", last)
    behind = re.fullmatch(r"[0-9]{1,2}(?:st|nd|rd|th|\.)? (?=[a-zä])(.+)", last)
    if number and behind and year:
        readings.append((f"{first} {behind[1]}", None))
    if year and not re.search("[0-9]{4}", first):
        readings.append((f"{first} {year[0]}", f"{first} {int(year[0]) - 1}"))
    return readings


def _not_understood(phrase: str, text: str, day: date) -> FilterError:
    if _SEASON.search(text):
        return FilterError(f"date: {phrase!r}: seasons differ by place", "name months, such as March to May 2025")
    if _PART.search(text):
        return FilterError(f"date: {phrase!r} has no clear first and last day", f"name days, months or quarters: {EXAMPLES}")
    mended = " ".join(_nearest(word) for word in text.split())
    advice = f"; did you mean {mended!r}?" if mended != text and _understand(mended, day) else ""
    return FilterError(f"date: {phrase!r} is not understood{advice}", _hint())


def _nearest(word: str) -> str:
    if word in periods.VOCABULARY or len(word) < 3 or not word.isalpha():
        return word
    return next(iter(get_close_matches(word, periods.VOCABULARY, n=1, cutoff=0.7)), word)


def _hint() -> str:
    return f"examples: {EXAMPLES}"


def _range(start: date | None, end: date | None) -> DateRange:
    return DateRange(_iso(start), _iso(end))


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
