"""The times in a question over tables: "in September", "after 2022", "between May 3 and May 7", "seit März".

In: a Sentence and the day it is asked on. Out: Windows in days. What a phrase means is for `search.dates` to say; here "after 2022"
begins when 2022 is over, because a column is compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from assistant.backends.offline.dating import CERTAIN
from assistant.backends.offline.tables.sentence import Sentence
from search.dates import resolve
from search.errors import FilterError

_MOST_WORDS = 12
_AFTER = re.compile(r"^(?:after|later than|nach|newer than)\s+")
_SINCE = re.compile(r"^(?:since|from|on or after|starting(?: from| in| on)?|seit|ab)\s+")
_BEFORE = re.compile(r"^(?:before|prior to|earlier than|older than|vor)\s+")
_UNTIL = re.compile(r"^(?:until|till|up to|by|on or before|bis)\s+")
_IN = re.compile(r"^(?:in|on|during|within|at|for|of|over|im|am|in the|for the)(?: the)?(?: (?:year|month|years|jahr))?\s+")
_BARE = re.compile(
    r"(?:19|20)\d\d-\d\d(?:-\d\d)?|(?:the )?(?:last|past|previous|this|current) .*|yesterday|today|q[1-4] (?:19|20)\d\d"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_INCLUSIVE = re.compile(r"\s*\(?(?:inclusive|exclusive|both inclusive)\)?", re.IGNORECASE)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Window:
    """Words `first` to `last` and the days they mean, ISO, both inclusive, None where open. years: only years are named."""

    first: int
    last: int
    start: str | None
    end: str | None
    years: bool


def find_windows(sentence: Sentence, *, today: date | None, dated: bool = True) -> list[Window]:
    """The times of a question, each taken. dated: there is a column of times, so that "2026" is no other column or value."""
    windows: list[Window] = []
    index = 0
    while index < len(sentence.tokens):
        window = _window(sentence, index, today, dated=dated)
        if window:
            sentence.drop(link for link in sentence.links if window.first <= link.first and link.last <= window.last)
            windows.append(window)
            sentence.taken.update(range(window.first, window.last + 1))
        index = window.last + 1 if window else index + 1
    return windows


def _window(sentence: Sentence, first: int, today: date | None, *, dated: bool) -> Window | None:
    tokens = sentence.tokens
    for last in range(min(first + _MOST_WORDS, len(tokens)) - 1, first - 1, -1):
        if any(index in sentence.taken for index in range(first, last + 1)) or _is_named(sentence, first, last, dated=dated):
            continue
        written = sentence.text[tokens[first].start : tokens[last].end]
        if re.search(r"[?!;\n]", written) or len(written) > 100:
            continue
        phrase = " ".join(_INCLUSIVE.sub("", written.lower()).split())
        if not CERTAIN.search(phrase) or not (_placed(phrase) or _beside_column(sentence, first, phrase)):
            continue
        found = _days(phrase, today)
        if found:
            return Window(first, last, *found, years=not re.search(r"[a-z]{3,}\.? \d|\d-\d|\d \w+ \d", _bare(phrase)))
    return None


def _is_named(sentence: Sentence, first: int, last: int, *, dated: bool) -> bool:
    """Whether words of a phrase mean a name or value that it does not hold whole, or that no time can be meant beside."""
    over = [link for link in sentence.links if link.first <= last and first <= link.last]
    parted = any(link.is_value and not (first <= link.first and link.last <= last) for link in over)
    return parted or any(link.quoted for link in over) or (not dated and bool(over))


def _placed(phrase: str) -> bool:
    """Whether the phrase is a time wherever it stands."""
    opened = any(pattern.match(phrase) for pattern in (_AFTER, _SINCE, _BEFORE, _UNTIL, _IN)) or phrase.startswith(
        ("between ", "from ", "zwischen ")
    )
    return opened or bool(_BARE.fullmatch(phrase))


def _beside_column(sentence: Sentence, first: int, phrase: str) -> bool:
    """Whether a bare year stands right behind the name of a column: "the year 2021"."""
    return bool(_YEAR.fullmatch(phrase)) and sentence.lower(first - 1) in {"year", "years", "jahr", "published", "introduced"}


def _bare(phrase: str) -> str:
    for pattern in (_AFTER, _SINCE, _BEFORE, _UNTIL, _IN):
        phrase = pattern.sub("", phrase)
    return phrase


@lru_cache(maxsize=512)  # the same phrases are tried for every table
def _days(phrase: str, today: date | None) -> tuple[str | None, str | None] | None:
    """First and last day of a phrase, None where it is no time."""
    try:
        if _AFTER.match(phrase):
            inner = resolve(_AFTER.sub("", phrase), today=today)
            return ((date.fromisoformat(inner.end) + _DAY).isoformat(), None) if inner.end else None
        if _SINCE.match(phrase) and not re.search(r"\b(?:to|until|till|through|bis)\b", phrase):
            inner = resolve(_SINCE.sub("", phrase), today=today)
            return (inner.start, None) if inner.start else None
        if _BEFORE.match(phrase):
            inner = resolve(_BEFORE.sub("", phrase), today=today)
            return (None, (date.fromisoformat(inner.start) - _DAY).isoformat()) if inner.start else None
        if _UNTIL.match(phrase):
            inner = resolve(_UNTIL.sub("", phrase), today=today)
            return (None, inner.end) if inner.end else None
        found = resolve(_IN.sub("", phrase), today=today)
    except (FilterError, OverflowError):
        return None
    return (found.start, found.end) if found.start or found.end else None
