"""What day a document is of, and how that is known.

In: what a reader found, the path, the time of change. Out: an ISO day and its provenance. Only a date that plainly is the
document's own counts: a number that could be one, or a date in the middle of its prose, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import PurePosixPath

from search.dates.days import WEEKDAY, fold, leading_day, make_day, month_start, parse_day, today
from search.models import DateSource

LINES = 10  # how far down a document's own date is looked for
EARLIEST_YEAR, YEARS_AHEAD = 1900, 5

_DAY_IN_NAME = re.compile(
    r"(?<![0-9])(?:"
    r"(?P<year>[0-9]{4})(?P<sign>[-_. ])(?P<month>[0-9]{2})(?P=sign)(?P<day>[0-9]{2})"
    r"|(?<![0-9][.])(?P<compact>[0-9]{8})(?=t[0-9]{4}|(?![a-z0-9]))"
    r"|(?<![a-z.])(?P<german>[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})"
    r")(?![0-9])"
)
_MONTH_IN_NAME = re.compile(r"(?<![0-9])(?P<year>[0-9]{4})[-_](?P<month>[0-9]{2})(?![0-9a-z]|[-_.][0-9])")
_WRITTEN_IN_NAME = re.compile(r"(?<![0-9a-z.])(?=[0-9]|[a-zä]{3,9} [0-9])")
_FOLDERS = re.compile(r"(?:^|/)(?P<year>[0-9]{4})/(?P<month>[0-9]{2})(?:/(?P<day>[0-9]{2})(?![0-9]))?(?=[^0-9])")
_DECORATION = re.compile(r"[*_`#>|\"{}]|^\s*(?://|/\*|--|;|%|[-+•])\s*")
_LABEL = re.compile(
    r"(?:date of meeting|meeting date|dated?|datum|stand|erstellt am|erstellt|veröffentlicht|updated|last updated"
    r"|last modified|last reviewed|(?:published|posted|written|created)(?: on)?)(?: ?: ?| - | +)"
)
_LEADING_WEEKDAY = re.compile(rf"{WEEKDAY}\.?,? ")


def document_date(
    *, front_matter: str | None, path: str, properties: Sequence[str | None], text: str, modified: float
) -> tuple[str, DateSource]:
    """The ISO day of a document and where it was found; the first of these that has one decides.

    front_matter: the date as written. path: relative to the root, "/" between folders; the file's name counts before its
    folders. properties: dates stated by the format, the most telling first. text: the stored text; only a line near its top
    that is a date, or says "Date:" before one, counts. modified: the file's time of change, seconds since 1970, which always
    gives a day: the local one.
    """
    stated = parse_day(front_matter) if front_matter else None
    if stated:
        return stated, "front matter"
    named = _from_path(path)
    if named:
        return named.isoformat(), "file name"
    for value in properties:
        own = parse_day(value) if value else None
        if own:
            return own, "properties"
    written = _from_text(text)
    if written:
        return written.isoformat(), "content"
    return local_day(modified).isoformat(), "modified time"


def _from_path(path: str) -> date | None:
    """The day in a file's name, else in its folders, the nearest first, else of folders such as 2026/09/12."""
    folders = _FOLDERS.search(path)
    parts = [fold(part) for part in reversed(PurePosixPath(path).parts)]
    for part in parts:
        found = next(_days_in_name(part), None)
        if found:
            return found
    if not folders:
        return None
    return _plausible(make_day(int(folders["year"]), int(folders["month"]), int(folders["day"] or 1)))


def _days_in_name(name: str) -> Iterator[date]:
    for match in _DAY_IN_NAME.finditer(name):
        found = leading_day(match["compact"] or match["german"] or f"{match['year']}-{match['month']}-{match['day']}")
        if found and _plausible(found[0]):
            yield found[0]
    spaced = re.sub(r"[_-]+", " ", name)
    for match in _WRITTEN_IN_NAME.finditer(spaced):
        found = leading_day(spaced[match.start() :])
        if found and _plausible(found[0]):
            yield found[0]
    for match in _MONTH_IN_NAME.finditer(name):
        month = _plausible(make_day(int(match["year"]), int(match["month"]), 1))
        if month:
            yield month


def _from_text(text: str) -> date | None:
    """The day of the first line that is a date, or that says "Date:" (or the like) before one."""
    for line in text[:4_000].splitlines()[:LINES]:
        folded = fold(_DECORATION.sub(" ", line))
        label = _LABEL.match(folded)
        bare = folded[label.end() :] if label else folded
        found = leading_day(bare) or leading_day(_LEADING_WEEKDAY.sub("", bare, count=1))
        if found is None and label:
            month = month_start(bare)
            found = (month, "") if month else None
        # Behind a label more may follow on the line; without one the date must be all of it.
        if found and (label or (not found[1].strip(" .") and not bare.isdigit())) and _plausible(found[0]):
            return found[0]
    return None


def _plausible(day: date | None) -> date | None:
    return day if day and EARLIEST_YEAR <= day.year <= today().year + YEARS_AHEAD else None


def local_day(modified: float) -> date:
    """Local day of a time in seconds; what no calendar holds (damaged file systems) becomes the nearest that one does."""
    seconds = min(max(modified, -62_000_000_000.0), 253_000_000_000.0)
    return datetime.fromtimestamp(seconds, UTC).astimezone().date()
