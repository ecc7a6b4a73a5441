"""Date phrases on fixed days, and the dates of documents with their provenance."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.dates import bounds, document_date, parse_day, resolve, today
from search.errors import FilterError
from search.models import DateRange

FIXED = date(2026, 10, 15)  # a Thursday

ON_THE_FIXED_DAY = [
    ("2026-03-01", "2026-03-01", "2026-03-01"),
    ("2026-03-01T10:00:00+02:00", "2026-03-01", "2026-03-01"),
    ("20260301", "2026-03-01", "2026-03-01"),
    ("2026-03", "2026-03-01", "2026-03-31"),
    ("03/2025", "2025-03-01", "2025-03-31"),
    ("2024", "2024-01-01", "2024-12-31"),
    ("the 1990s", "1990-01-01", "1999-12-31"),
    ("Q2 2025", "2025-04-01", "2025-06-30"),
    ("2025Q2", "2025-04-01", "2025-06-30"),
    ("2025-Q2", "2025-04-01", "2025-06-30"),
    ("Q4", "2026-10-01", "2026-12-31"),
    ("Q2 last year", "2025-04-01", "2025-06-30"),
    ("the third quarter of 2025", "2025-07-01", "2025-09-30"),
    ("H1 2025", "2025-01-01", "2025-06-30"),
    ("second half of 2025", "2025-07-01", "2025-12-31"),
    ("2025-W12", "2025-03-17", "2025-03-23"),
    ("week 12 of 2025", "2025-03-17", "2025-03-23"),
    ("March", "2026-03-01", "2026-03-31"),
    ("October", "2026-10-01", "2026-10-31"),
    ("November", "2025-11-01", "2025-11-30"),
    ("in May", "2026-05-01", "2026-05-31"),
    ("last March", "2026-03-01", "2026-03-31"),
    ("last October", "2025-10-01", "2025-10-31"),
    ("March of last year", "2025-03-01", "2025-03-31"),
    ("March 2025", "2025-03-01", "2025-03-31"),
    ("Mar 2025", "2025-03-01", "2025-03-31"),
    ("Sept. 2025", "2025-09-01", "2025-09-30"),
    ("3 March 2025", "2025-03-03", "2025-03-03"),
    ("March 3, 2025", "2025-03-03", "2025-03-03"),
    ("3rd of March", "2026-03-03", "2026-03-03"),
    ("December 24", "2025-12-24", "2025-12-24"),
    ("29 February", "2024-02-29", "2024-02-29"),
    ("Saturday, 12 September 2026", "2026-09-12", "2026-09-12"),
    ("12.09.2026", "2026-09-12", "2026-09-12"),
    ("2025/03/04", "2025-03-04", "2025-03-04"),
    ("13/04/2025", "2025-04-13", "2025-04-13"),
    ("04/13/2025", "2025-04-13", "2025-04-13"),
    ("05/05/2025", "2025-05-05", "2025-05-05"),
    ("today", "2026-10-15", "2026-10-15"),
    ("yesterday", "2026-10-14", "2026-10-14"),
    ("the day before yesterday", "2026-10-13", "2026-10-13"),
    ("this week", "2026-10-12", "2026-10-18"),
    ("this month", "2026-10-01", "2026-10-31"),
    ("this quarter", "2026-10-01", "2026-12-31"),
    ("this year", "2026-01-01", "2026-12-31"),
    ("year to date", "2026-01-01", "2026-10-15"),
    ("last week", "2026-10-05", "2026-10-11"),
    ("last month", "2026-09-01", "2026-09-30"),
    ("last quarter", "2026-07-01", "2026-09-30"),
    ("last year", "2025-01-01", "2025-12-31"),
    ("previous month", "2026-09-01", "2026-09-30"),
    ("the previous month", "2026-09-01", "2026-09-30"),
    ("during last month", "2026-09-01", "2026-09-30"),
    ("next week", "2026-10-19", "2026-10-25"),
    ("the last month", "2026-09-15", "2026-10-15"),
    ("the past month", "2026-09-15", "2026-10-15"),
    ("in the last month", "2026-09-15", "2026-10-15"),
    ("over the past year", "2025-10-15", "2026-10-15"),
    ("the last week", "2026-10-08", "2026-10-15"),
    ("the past 3 weeks", "2026-09-24", "2026-10-15"),
    ("last 30 days", "2026-09-15", "2026-10-15"),
    ("30d", "2026-09-15", "2026-10-15"),
    ("past 24 hours", "2026-10-14", "2026-10-15"),
    ("in the last two years", "2024-10-15", "2026-10-15"),
    ("the last decade", "2016-10-15", "2026-10-15"),
    ("3 weeks ago", "2026-09-24", "2026-09-24"),
    ("a couple of weeks ago", "2026-10-01", "2026-10-01"),
    ("a month ago", "2026-09-15", "2026-09-15"),
    ("last Tuesday", "2026-10-13", "2026-10-13"),
    ("Monday", "2026-10-12", "2026-10-12"),
    ("Thursday", "2026-10-15", "2026-10-15"),
    ("last Thursday", "2026-10-08", "2026-10-08"),
    ("last weekend", "2026-10-10", "2026-10-11"),
    ("since March", "2026-03-01", None),
    ("since November", "2025-11-01", None),
    ("since last Tuesday", "2026-10-13", None),
    ("since 3 weeks ago", "2026-09-24", None),
    ("since the start of the year", "2026-01-01", None),
    ("from March on", "2026-03-01", None),
    ("newer than 2 weeks", "2026-10-01", None),
    ("after 2024", "2024-01-01", None),
    ("before May 2025", None, "2025-04-30"),
    ("older than 3 months", None, "2026-07-14"),
    ("until June", None, "2026-06-30"),
    ("until the end of May", None, "2026-05-31"),
    ("between May and July", "2026-05-01", "2026-07-31"),
    ("from May to July 2025", "2025-05-01", "2025-07-31"),
    ("May to July", "2026-05-01", "2026-07-31"),
    ("May-July 2025", "2025-05-01", "2025-07-31"),
    ("March 2025 to July", "2025-03-01", "2025-07-31"),
    ("November to February", "2025-11-01", "2026-02-28"),
    ("November to February 2025", "2024-11-01", "2025-02-28"),
    ("3 to 5 March 2025", "2025-03-03", "2025-03-05"),
    ("Q1 to Q3 2025", "2025-01-01", "2025-09-30"),
    ("between Monday and Wednesday", "2026-10-12", "2026-10-14"),
    ("between last week and yesterday", "2026-10-05", "2026-10-14"),
    ("2024-2025", "2024-01-01", "2025-12-31"),
    ("2024 to present", "2024-01-01", "2026-10-15"),
    ("2025-01-01..2025-03-31", "2025-01-01", "2025-03-31"),
    ("2025-01-01 to 2025-02-01", "2025-01-01", "2025-02-01"),
    ("  LAST   Month. ", "2026-09-01", "2026-09-30"),
    ("“last month”", "2026-09-01", "2026-09-30"),
    ("letzten Monat", "2026-09-01", "2026-09-30"),
    ("in den letzten zwei Wochen", "2026-10-01", "2026-10-15"),
    ("vor 3 Wochen", "2026-09-24", "2026-09-24"),
    ("seit März", "2026-03-01", None),
    ("zwischen Mai und Juli", "2026-05-01", "2026-07-31"),
    ("3. März 2025", "2025-03-03", "2025-03-03"),
    ("vorgestern", "2026-10-13", "2026-10-13"),
]

ON_AWKWARD_DAYS = [
    ("2024-02-29", "last year", "2023-01-01", "2023-12-31"),
    ("2024-02-29", "the last year", "2023-02-28", "2024-02-29"),
    ("2024-02-29", "a year ago", "2023-02-28", "2023-02-28"),
    ("2024-02-29", "the past 4 years", "2020-02-29", "2024-02-29"),
    ("2024-02-29", "the past month", "2024-01-29", "2024-02-29"),
    ("2024-02-29", "this month", "2024-02-01", "2024-02-29"),
    ("2024-02-29", "February 2023", "2023-02-01", "2023-02-28"),
    ("2024-02-28", "29 February", "2020-02-29", "2020-02-29"),
    ("2026-01-01", "yesterday", "2025-12-31", "2025-12-31"),
    ("2026-01-01", "last month", "2025-12-01", "2025-12-31"),
    ("2026-01-01", "last quarter", "2025-10-01", "2025-12-31"),
    ("2026-01-01", "this week", "2025-12-29", "2026-01-04"),
    ("2026-01-01", "last week", "2025-12-22", "2025-12-28"),
    ("2026-01-01", "last year", "2025-01-01", "2025-12-31"),
    ("2026-01-01", "January", "2026-01-01", "2026-01-31"),
    ("2026-01-01", "December", "2025-12-01", "2025-12-31"),
    ("2026-01-01", "week 1", "2025-12-29", "2026-01-04"),
    ("2025-12-31", "week 1", "2025-12-29", "2026-01-04"),
    ("2025-12-31", "tomorrow", "2026-01-01", "2026-01-01"),
    ("2025-12-31", "next month", "2026-01-01", "2026-01-31"),
    ("2025-12-31", "a month ago", "2025-11-30", "2025-11-30"),
    ("2025-12-31", "the past 10 months", "2025-02-28", "2025-12-31"),
    ("2025-12-31", "this quarter", "2025-10-01", "2025-12-31"),
    ("2026-03-31", "the last month", "2026-02-28", "2026-03-31"),
    ("2024-03-31", "the last month", "2024-02-29", "2024-03-31"),
    ("2026-03-31", "last month", "2026-02-01", "2026-02-28"),
    ("2026-03-31", "last quarter", "2025-10-01", "2025-12-31"),
    ("2026-06-10", "between May and July", "2026-05-01", "2026-07-31"),
    ("2026-10-11", "last weekend", "2026-10-03", "2026-10-04"),
    ("2026-10-11", "weekend", "2026-10-10", "2026-10-11"),
]


@pytest.mark.parametrize(("phrase", "start", "end"), ON_THE_FIXED_DAY)
def test_phrase_means_these_days_on_15_october_2026(phrase: str, start: str | None, end: str | None) -> None:
    assert resolve(phrase, today=FIXED) == DateRange(start, end)


@pytest.mark.parametrize(("day", "phrase", "start", "end"), ON_AWKWARD_DAYS)
def test_phrase_on_leap_days_and_year_ends(day: str, phrase: str, start: str, end: str) -> None:
    assert resolve(phrase, today=date.fromisoformat(day)) == DateRange(start, end)


@pytest.mark.parametrize(
    "phrase",
    [
        *(
            "",
            "   ",
            "gibberish",
            "12",
            "soon",
            "early 2025",
            "end of March",
            "spring 2025",
            "next Tuesday",
            "a few days ago",
            "FY2025",
        ),
        *("2026-02-30", "29 February 2025", "Q5 2025", "13-2025", "week 54 of 2025", "last 0 days", "last 99999 years", "0000"),
        *("July 2025 to May 2025", "since", "between March", "x" * 500),
    ],
)
def test_unclear_phrase_is_refused_with_advice(phrase: str) -> None:
    with pytest.raises(FilterError) as refused:
        resolve(phrase, today=FIXED)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("phrase", "meant"),
    [("last mnth", "last month"), ("lst month", "last month"), ("sinse March", "since march"), ("yesteday", "yesterday")],
)
def test_typo_is_answered_with_the_nearest_phrase(phrase: str, meant: str) -> None:
    with pytest.raises(FilterError, match=f"did you mean '{meant}'"):
        resolve(phrase, today=FIXED)


@pytest.mark.parametrize("phrase", ["03/04/2025", "03-04-2025", "since 03/04/2025", "01/02/2025 to 13/02/2025"])
def test_slashes_that_can_be_read_two_ways_are_refused_with_both(phrase: str) -> None:
    with pytest.raises(FilterError, match=r"could be 2025-\d\d-\d\d or 2025-\d\d-\d\d"):
        resolve(phrase, today=FIXED)


_WORDS = """
last past previous this the in of to and between since before until after from ago a 1 2 3 31 2025 2024-02-29 Q1 H2 week month year
days hours decade weekend March 29 February May Tuesday yesterday today start end .. - / vor seit letzten 99999 1000 2999
"""
_PIECES = st.sampled_from(_WORDS.split())
_DAYS = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@given(phrase=st.text(max_size=150) | st.lists(_PIECES, max_size=7).map(" ".join), day=_DAYS)
def test_any_text_resolves_or_is_refused_and_never_ends_before_it_begins(phrase: str, day: date) -> None:
    try:
        found = resolve(phrase, today=day)
    except FilterError:
        return
    assert found.start is not None or found.end is not None
    assert found.start is None or found.end is None or found.start <= found.end
    for end in (found.start, found.end):
        assert end is None or date.fromisoformat(end).isoformat() == end


@given(written=st.dates(date(1000, 1, 1), date(2999, 12, 31)), day=_DAYS)
def test_a_written_day_is_itself_however_it_is_written(written: date, day: date) -> None:
    iso = written.isoformat()
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%a, %d %b %Y 10:30:00 +0200", "%Y%m%dT103000Z"):
        text = written.strftime(form).replace(written.strftime("%Y"), f"{written.year:04}")
        assert resolve(text, today=day) == DateRange(iso, iso)
        assert parse_day(text) == iso


def test_today_is_the_environment_s_day_else_the_local_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVIST_TODAY", "2024-02-29")
    assert today() == date(2024, 2, 29)
    assert resolve("yesterday") == DateRange("2024-02-28", "2024-02-28")
    monkeypatch.delenv("ARCHIVIST_TODAY")
    earliest = datetime.now().astimezone().date()
    assert earliest <= today() <= datetime.now().astimezone().date()


@pytest.mark.parametrize("value", ["yesterday", "2026-02-30", "2026-10-15T10:00", "20261015"])
def test_a_bad_fixed_day_is_refused_by_name(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVIST_TODAY", value)
    with pytest.raises(FilterError, match="ARCHIVIST_TODAY"):
        today()


@pytest.mark.parametrize(
    ("after", "before", "during", "start", "end"),
    [
        (None, None, None, None, None),
        ("2025", None, None, "2025-01-01", None),
        (None, "2025", None, None, "2024-12-31"),
        (None, None, "March 2025", "2025-03-01", "2025-03-31"),
        (None, None, "since March", "2026-03-01", None),
        ("last month", None, None, "2026-09-01", None),
        ("since March", None, None, "2026-03-01", None),
        (None, "before May 2025", None, None, "2025-04-30"),
        (None, "until June", None, None, "2026-06-30"),
        ("March", "June", None, "2026-03-01", "2026-05-31"),
        ("2025-03-10", "2025-03-20", "March 2025", "2025-03-10", "2025-03-19"),
        ("2024", "2026-12-31", "March 2025", "2025-03-01", "2025-03-31"),
    ],
)
def test_bounds_are_the_days_that_satisfy_all(
    after: str | None, before: str | None, during: str | None, start: str | None, end: str | None
) -> None:
    assert bounds(after=after, before=before, during=during, today=FIXED) == DateRange(start, end)


def test_bounds_that_exclude_each_other_are_both_named() -> None:
    with pytest.raises(FilterError, match=r"after 'May 2025' \(from 2025-05-01\) and before 'March 2025' \(until 2025-02-28\)"):
        bounds(after="May 2025", before="March 2025", during=None, today=FIXED)
    with pytest.raises(FilterError, match=r"after '2026' .* and during 'March 2025'"):
        bounds(after="2026", before=None, during="March 2025", today=FIXED)
    with pytest.raises(FilterError, match="exclude each other"):
        bounds(after="2025-03-10", before="2025-03-10", during=None, today=FIXED)


def test_bounds_name_the_filter_that_is_not_understood() -> None:
    with pytest.raises(FilterError, match=r"^before: 'gibberish'"):
        bounds(after="2025", before="gibberish", during=None, today=FIXED)
    with pytest.raises(FilterError, match=r"^after: 'until June' has no first day"):
        bounds(after="until June", before=None, during=None, today=FIXED)


MODIFIED = datetime(2020, 1, 2, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("runbooks/2026-09-12-gateway.md", "2026-09-12"),
        ("20260912_notes.txt", "2026-09-12"),
        ("notes_2026-09-12.txt", "2026-09-12"),
        ("notes 2026_09_12.txt", "2026-09-12"),
        ("IMG_20260912_103000.jpg", "2026-09-12"),
        ("20260912T103000.md", "2026-09-12"),
        ("app.log.2026-09-12", "2026-09-12"),
        ("Protokoll 12.09.2026.md", "2026-09-12"),
        ("Minutes 12 September 2026.docx", "2026-09-12"),
        ("sep-12-2026-notes.md", "2026-09-12"),
        ("notes/2026-09.md", "2026-09-01"),
        ("2026-09/x.md", "2026-09-01"),
        ("2026/09/x.md", "2026-09-01"),
        ("2026/09/12/x.md", "2026-09-12"),
        ("2026/09/12-standup.md", "2026-09-12"),
        ("2025-01-01/2026-09-12/x.md", "2026-09-12"),
        ("2025-01-01/2026-09-12.md", "2026-09-12"),
        ("1900-01-01.md", "1900-01-01"),
        ("2031-12-31.md", "2031-12-31"),
    ],
)
def test_file_name_or_folder_gives_the_date(path: str, day: str) -> None:
    assert document_date(front_matter=None, path=path, properties=(), text="", modified=MODIFIED) == (day, "file name")


@pytest.mark.parametrize(
    "path",
    [
        *("v1.20240101234.txt", "v1.20240101.txt", "IMG_1234567890.jpg", "20260912103000.md", "v1.2.2024.md", "inc-2026-014.md"),
        *("2026-02-30.md", "2026-13-01.md", "1899-12-31.md", "2032-01-01.md", "20260231.txt", "report-2025-2026.md", "2026/x.md"),
        *("550e8400-e29b-2024-0114-a716.txt", "a20240101f.txt", "3/4/2025.md", "port-8080-12.md", "2024-10.5.md"),
    ],
)
def test_numbers_in_names_that_are_no_plausible_date_are_left_alone(path: str) -> None:
    assert document_date(front_matter=None, path=path, properties=(), text="", modified=MODIFIED)[1] == "modified time"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Date: 12 September 2026\n\nWe met.", "2026-09-12"),
        ("# Review\n\n**Date**: 2026-09-12", "2026-09-12"),
        ("**Date:** Sat, 12 Sep 2026 10:30:00 +0200", "2026-09-12"),
        ("Datum: 12.09.2026", "2026-09-12"),
        ("| Date | 2026-09-12 |", "2026-09-12"),
        ("Date of meeting: Monday, 14 September 2026, 10:00, room 4", "2026-09-14"),
        ("// Date: 2026-09-12", "2026-09-12"),
        ("Last updated: 2026-09-12", "2026-09-12"),
        ("# Review\n\n12 September 2026\n", "2026-09-12"),
        ("_Samstag, 12. September 2026_", "2026-09-12"),
        ("Date: September 2026", "2026-09-01"),
    ],
)
def test_a_date_line_near_the_top_gives_the_date(text: str, day: str) -> None:
    assert document_date(front_matter=None, path="x.md", properties=(), text=text, modified=MODIFIED) == (day, "content")


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-09-12 the gateway failed.",
        "2026-09-12 10:00:00 INFO started",
        "Date: 03/04/2026",
        "Due date: 2026-09-12",
        "20260912",
        "1,2026-09-12",
        "September 2026",
        "line\n" * 10 + "Date: 2026-09-12",
    ],
)
def test_other_dates_in_the_text_are_left_alone(text: str) -> None:
    assert document_date(front_matter=None, path="x.md", properties=(), text=text, modified=MODIFIED)[1] == "modified time"


def test_the_first_source_that_has_a_date_decides() -> None:
    def dated(front_matter: str | None, path: str, properties: tuple[str | None, ...], text: str) -> tuple[str, str]:
        return document_date(front_matter=front_matter, path=path, properties=properties, text=text, modified=MODIFIED)

    path, properties, text = "2021-01-01.md", (None, "never", "D:20220101103000+02'00'"), "Date: 2023-01-01"
    assert dated("2024-01-01T23:30:00-11:00", path, properties, text) == ("2024-01-01", "front matter")
    assert dated("some day", path, properties, text) == ("2021-01-01", "file name")
    assert dated(None, "x.md", properties, text) == ("2022-01-01", "properties")
    assert dated(None, "x.md", (None,), text) == ("2023-01-01", "content")
    assert dated(None, "x.md", (), "") == ("2020-01-02", "modified time")


def test_the_time_of_change_gives_the_local_day(monkeypatch: pytest.MonkeyPatch) -> None:
    late = datetime(2026, 9, 12, 23, 30, tzinfo=UTC).timestamp()
    try:
        for name, day in (("UTC0", "2026-09-12"), ("XXX-2", "2026-09-13"), ("XXX+5", "2026-09-12")):
            monkeypatch.setenv("TZ", name)
            time.tzset()
            assert document_date(front_matter=None, path="x", properties=(), text="", modified=late) == (day, "modified time")
    finally:
        monkeypatch.undo()
        time.tzset()


@given(seconds=st.floats(allow_nan=False))
def test_any_time_of_change_gives_a_day(seconds: float) -> None:
    day, source = document_date(front_matter=None, path="x", properties=(), text="", modified=seconds)
    assert (date.fromisoformat(day).isoformat(), source) == (day, "modified time")


@given(path=st.text(), text=st.text(), front_matter=st.text(), value=st.text(st.sampled_from("D:0123456789-/. TZ+'march")))
def test_any_document_gets_a_day(path: str, text: str, front_matter: str, value: str) -> None:
    day, _ = document_date(front_matter=front_matter, path=path, properties=[value], text=text, modified=0.0)
    assert date.fromisoformat(day).isoformat() == day


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-09-12T10:00:00+02:00", "2026-09-12"),
        ("2026-09-12 10:00:00.123 Z", "2026-09-12"),
        ("D:20260912103000+02'00'", "2026-09-12"),
        ("D:20260912103000Z", "2026-09-12"),
        ("D:2026", "2026-01-01"),
        ("Sat, 12 Sep 2026 10:30:00 +0200", "2026-09-12"),
        ("Thu, 1 Jan 1970 00:00:00 +0000 (UTC)", "1970-01-01"),
        ("Sat Sep 12 10:30:00 2026", "2026-09-12"),
        ("September 12, 2026 at 10:30 am", "2026-09-12"),
        ("12. September 2026 um 10:30 Uhr", "2026-09-12"),
        ("12-Sep-2026", "2026-09-12"),
        ("25/09/2026", "2026-09-25"),
        ("2026-09", "2026-09-01"),
        ("2026", "2026-01-01"),
        ("12/09/2026", None),
        ("2026-09-12 and more", None),
        ("2026-02-29", None),
        ("0001-01-01T00:00:00Z", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_parse_day_is_strict_about_written_dates(written: str, day: str | None) -> None:
    assert parse_day(written) == day
