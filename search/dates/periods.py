"""Periods with two ends: days, weeks, months, quarters, years, by name, by number or counted back from today.

In: a phrase in plain words (`plain`), the day it is said on. Out: first and last day, or None where it is no period.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from search.dates import days
from search.dates.days import MONTH, MONTHS, ORDINAL, WEEKDAY, WEEKDAYS, make_day, month_of, shift_months, week_of

Span = tuple[date, date]
Reader = Callable[[re.Match[str], date, date | None], Span | None]

_NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
_GERMAN_NUMBERS = "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
_UNITS = {
    "hour": "hours stunde stunden",
    "day": "days tag tage tagen",
    "week": "weeks woche wochen",
    "fortnight": "fortnights",
    "month": "months monat monate monaten monats",
    "quarter": "quarters quartal quartale quartalen quartals",
    "year": "years jahr jahre jahren jahres",
    "decade": "decades jahrzehnt jahrzehnte jahrzehnten",
    "weekend": "weekends wochenende",
}
_GERMAN = {
    "today": "heute",
    "yesterday": "gestern",
    "tomorrow": "morgen",
    "last": "letzte letzten letzter letztes letztem vergangene vergangenen vergangenes vorige vorigen voriges",
    "this": "diese diesen dieser dieses diesem",
    "next": "nächste nächsten nächster nächstes",
    "since": "seit ab",
    "until": "bis",
    "after": "nach",
    "before": "vor",
    "between": "zwischen",
    "from": "von vom",
    "and": "und",
    "in": "im",
    "on": "am",
    "start": "anfang",
    "end": "ende",
    "": "der die das den dem des",
    "a": "eine einen einem einer",
}
_ORDINALS = {"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th"}
_PLAIN = (
    {word: unit for unit, words in _UNITS.items() for word in words.split()}
    | {word: plain for plain, words in _GERMAN.items() for word in words.split()}
    | {word: str(number) for names in (_NUMBERS, _GERMAN_NUMBERS) for number, word in enumerate(names.split(), 1)}
    | _ORDINALS
)
VOCABULARY = frozenset(
    {*MONTHS, *WEEKDAYS, *_UNITS, *_PLAIN, "today", "yesterday", "tomorrow", "last", "past", "previous", "this", "next", "since"}
    | {"until", "after", "before", "between", "during", "from", "ago", "the", "and", "week", "current", "half", "within"}
)
_UNIT = f"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_WHICH = "(?P<which>last|previous|this|current|next)"
_YEAR_BEHIND = r"(?:,? ?(?:of |in )?(?P<year>[0-9]{4}))?"
_LEADING = re.compile(r"(?:in|on|during|within|over|from|of|for|at|dated) ")
_YEAR_IN_WORDS = re.compile(rf"(?<![a-z])(?P<what>{MONTH}|q[1-4]|h[12]|quarter|half|week [0-9]+)(?: of)? {_WHICH} year$")
_OFFSETS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS_IN = {"day": 1, "week": 7, "fortnight": 14}
_DAY = timedelta(days=1)
_MOST = 1_000  # units counted back


def plain(phrase: str) -> str:
    """The phrase folded, without outer quotes and punctuation, its numbers, units and German words as English ones."""
    text = days.fold(phrase).replace("_", " ").strip(" \"'`“”„«».,;:!?…()[]")
    words = [_PLAIN.get(word, word) for word in text.split()]
    text = " ".join(word for word in words if word)
    text = text.replace("vorgestern", "day before yesterday").replace("a couple of ", "2 ").replace("a couple ", "2 ")
    text = re.sub(rf"^(since |until |)before ([0-9]+|a) {_UNIT}$", r"\1\2 \3 ago", text)  # "vor 3 Wochen"
    return text.replace("half a year", "6 month").replace("kw ", "week ")


def find(text: str, today: date, *, near: date | None = None) -> Span | None:
    """First and last day of a period in plain words; None when it is no period or lies outside of the years 1000 to 2999.

    near: a name without a year means the first such time that ends on or after this day, not the latest that has begun.
    """
    while True:
        spoken = _YEAR_IN_WORDS.sub(lambda match: f"{match['what']} {today.year + _OFFSETS[match['which']]}", text)
        for pattern, read in _READERS:
            match = pattern.fullmatch(spoken)
            span = read(match, today, near) if match else None
            if span:
                return span
        shorter = _LEADING.sub("", text, count=1) if _LEADING.match(text) else text.removeprefix("the ")
        if shorter == text:
            return None
        text = shorter


def _named_day(match: re.Match[str], today: date, _near: date | None) -> Span:
    offset = {"today": 0, "now": 0, "present": 0, "yesterday": -1, "tomorrow": 1}.get(match[0], -2)
    return today + offset * _DAY, today + offset * _DAY


def _counted(match: re.Match[str], today: date, _near: date | None) -> Span | None:
    """From the same day some units back until today."""
    start = _back(today, int(match["count"] or 1), match["unit"])
    return (start, today) if start else None


def _abbreviated(match: re.Match[str], today: date, _near: date | None) -> Span | None:
    start = _back(today, int(match["count"]), {"d": "day", "w": "week", "mo": "month", "y": "year"}[match["letter"]])
    return (start, today) if start else None


def _ago(match: re.Match[str], today: date, _near: date | None) -> Span | None:
    count = int(match["count"]) if match["count"].isdigit() else 1
    day = _back(today, count, match["unit"]) if match["unit"] != "hour" else None
    return (day, day) if day else None


def _to_date(match: re.Match[str], today: date, _near: date | None) -> Span:
    return _calendar(today, match["unit"], 0)[0], today


def _calendar_unit(match: re.Match[str], today: date, _near: date | None) -> Span:
    return _calendar(today, match["unit"], _OFFSETS[match["which"]])


def _weekday(match: re.Match[str], today: date, near: date | None) -> Span:
    wanted = WEEKDAYS[match["name"]]
    if match["which"] == "this":
        day = week_of(today)[0] + wanted * _DAY
    elif near is not None and not match["which"]:
        day = near + (wanted - near.weekday()) % 7 * _DAY
    else:
        latest = today - _DAY if match["which"] else today
        day = latest - (latest.weekday() - wanted) % 7 * _DAY
    return day, day


def _weekend(_match: re.Match[str], today: date, near: date | None) -> Span:
    monday = week_of(near or today)[0]
    saturday = monday + 5 * _DAY
    if near is None and saturday > today:
        saturday -= 7 * _DAY
    return saturday, saturday + _DAY


def _month(match: re.Match[str], today: date, near: date | None) -> Span | None:
    def of(year: int) -> Span | None:
        first = make_day(year, MONTHS[match["name"]], 1)
        return month_of(first) if first else None

    if match["which"] in {"last", "previous"}:
        return _latest(of, today.replace(day=1) - _DAY)
    return of(today.year) if match["which"] else _recurring(of, today, near)


def _numbered_month(match: re.Match[str], _today: date, _near: date | None) -> Span | None:
    first = days.month_start(match[0])
    return month_of(first) if first else None


def _quarter(match: re.Match[str], today: date, near: date | None) -> Span | None:
    return _part_of_year(match, today, near, months=3)


def _half(match: re.Match[str], today: date, near: date | None) -> Span | None:
    return _part_of_year(match, today, near, months=6)


def _part_of_year(match: re.Match[str], today: date, near: date | None, *, months: int) -> Span | None:
    def of(year: int) -> Span | None:
        first = make_day(year, (int(match["number"]) - 1) * months + 1, 1)
        return (first, month_of(shift_months(first, months - 1))[1]) if first else None

    return of(int(match["year"])) if match["year"] else _recurring(of, today, near)


def _week(match: re.Match[str], today: date, near: date | None) -> Span | None:
    """A week by its ISO number."""

    def of(year: int) -> Span | None:
        try:
            return week_of(date.fromisocalendar(year, int(match["number"]), 1))
        except ValueError:
            return None

    if match["year"]:
        return of(int(match["year"])) if make_day(int(match["year"]), 1, 1) else None
    return _recurring(of, today, near)


def _year(match: re.Match[str], _today: date, _near: date | None) -> Span | None:
    first, last = make_day(int(match["year"]), 1, 1), make_day(int(match["year"]), 12, 31)
    return (first, last) if first and last else None


def _decade(match: re.Match[str], _today: date, _near: date | None) -> Span | None:
    first, last = make_day(int(match["year"]), 1, 1), make_day(int(match["year"]) + 9, 12, 31)
    return (first, last) if first and last else None


def _day_of_month(match: re.Match[str], today: date, near: date | None) -> Span | None:
    def of(year: int) -> Span | None:
        day = make_day(year, MONTHS[match["name"]], int(match["day"]))
        return (day, day) if day else None

    return _recurring(of, today, near)


def _written_day(match: re.Match[str], _today: date, _near: date | None) -> Span | None:
    iso = days.parse_day(match[0])
    return (date.fromisoformat(iso), date.fromisoformat(iso)) if iso else None


def _recurring(of: Callable[[int], Span | None], today: date, near: date | None) -> Span | None:
    """The latest that has begun; with `near` the first that ends on or after it. 29 February comes after 8 years at the latest."""
    if near is None:
        return _latest(of, today)
    found = (of(year) for year in range(near.year, near.year + 10))
    return next((span for span in found if span and span[1] >= near), None)


def _latest(of: Callable[[int], Span | None], today: date) -> Span | None:
    found = (of(year) for year in range(today.year + 1, today.year - 10, -1))
    return next((span for span in found if span and span[0] <= today), None)


def _back(today: date, count: int, unit: str) -> date | None:
    """The day some units before; None beyond what is counted."""
    if not 1 <= count <= _MOST * (31 if unit in {"day", "hour"} else 1):
        return None
    if unit == "hour":
        return today - -(-count // 24) * _DAY
    if unit in _DAYS_IN:
        return today - count * _DAYS_IN[unit] * _DAY
    months = count * _MONTHS_IN[unit] if unit in _MONTHS_IN else None
    if months is None or months > (today.year - days.FIRST_YEAR) * 12:
        return None
    return shift_months(today, -months)


def _calendar(today: date, unit: str, offset: int) -> Span:
    """The day, week, month ... that today is in, or the one before or after it."""
    if unit == "day":
        return today + offset * _DAY, today + offset * _DAY
    if unit in {"week", "weekend"}:
        monday, sunday = week_of(today + offset * 7 * _DAY)
        return (monday if unit == "week" else sunday - _DAY), sunday
    length = _MONTHS_IN[unit]
    begun = (today.month - 1) % length if length < 12 else today.month - 1 + (today.year % 10 * 12 if length > 12 else 0)
    first = shift_months(today.replace(day=1), offset * length - begun)
    return first, month_of(shift_months(first, length - 1))[1]


_CALENDAR_UNIT = "(?P<unit>day|weekend|week|month|quarter|year|decade)"
_READERS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(form), read)
    for form, read in (
        (r"today|now|present|yesterday|tomorrow|(?:the )?day before yesterday", _named_day),
        (rf"(?:the )?(?:last|past|previous|preceding) (?P<count>[0-9]+) {_UNIT}", _counted),
        (rf"(?P<count>)(?:(?:the )?past|the last) {_UNIT}", _counted),
        (r"(?:(?:the )?(?:last|past) )?(?P<count>[0-9]+) ?(?P<letter>d|w|mo|y)", _abbreviated),
        (rf"(?P<count>[0-9]+|an?) {_UNIT} (?:ago|back)", _ago),
        (r"(?P<unit>week|month|quarter|year) to date", _to_date),
        (r"so far this (?P<unit>week|month|quarter|year)", _to_date),
        (r"this (?P<unit>week|month|quarter|year) so far", _to_date),
        (rf"(?:the )?{_WHICH} {_CALENDAR_UNIT}", _calendar_unit),
        (rf"(?:(?P<which>last|this) )?(?P<name>{WEEKDAY})", _weekday),
        (r"weekend", _weekend),
        (rf"(?:(?P<which>last|previous|this) )?(?P<name>{MONTH})\.?", _month),
        (r"[0-9]{4}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{4}", _numbered_month),
        (rf"{MONTH}\.?,? ?(?:of )?[0-9]{{4}}|[0-9]{{4}}[ -]{MONTH}\.?", _numbered_month),
        (rf"q(?P<number>[1-4])[-/]?{_YEAR_BEHIND}", _quarter),
        (r"(?P<year>[0-9]{4})[ /-]?q(?P<number>[1-4])", _quarter),
        (rf"(?P<number>[1-4]){ORDINAL} quarter{_YEAR_BEHIND}", _quarter),
        (rf"h(?P<number>[12])[-/]?{_YEAR_BEHIND}", _half),
        (r"(?P<year>[0-9]{4})[ /-]?h(?P<number>[12])", _half),
        (rf"(?P<number>[12]){ORDINAL} half{_YEAR_BEHIND}", _half),
        (rf"(?:week |w)(?P<number>[0-9]{{1,2}}){_YEAR_BEHIND}", _week),
        (r"(?P<year>[0-9]{4})[ -]?w(?P<number>[0-9]{1,2})", _week),
        (r"(?:year )?(?P<year>[0-9]{4})", _year),
        (r"(?P<year>[0-9]{3}0)'?s", _decade),
        (rf"(?P<day>[0-9]{{1,2}}){ORDINAL}[ -]?(?:of )?(?P<name>{MONTH})\.?", _day_of_month),
        (rf"(?P<name>{MONTH})\.?[ -](?P<day>[0-9]{{1,2}}){ORDINAL}", _day_of_month),
        (r"(?!d:).*[0-9]{4}.*", _written_day),
    )
)
