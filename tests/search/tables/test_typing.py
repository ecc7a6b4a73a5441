"""A column's type is decided over all of its values; what is not sure stays the text that it was, with the reason."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest

from search.tables.cells import Cell
from search.tables.deciding import Cells, Decided, decide
from search.tables.grids import Grid, tabulate


def column(*cells: Cell, header: str = "x", units: dict[int, str] | None = None) -> Decided:
    return decide([Cells(header, cells, units or {})])[0]


@pytest.mark.parametrize(
    ("texts", "kind", "values", "unit"),
    [
        (["1", "-2", "0"], "integer", [1, -2, 0], ""),
        (["1.5", "2"], "real", [1.5, 2.0], ""),
        (["1,5", "2"], "real", [1.5, 2.0], ""),
        (["-.5", "12.25"], "real", [-0.5, 12.25], ""),
        (["1,234.50", "1,234"], "real", [1234.5, 1234.0], ""),
        (["1.234,50", "1.234"], "real", [1234.5, 1234.0], ""),
        (["1,234,567", "89"], "integer", [1234567, 89], ""),
        (["1'234'567", "1’234"], "integer", [1234567, 1234], ""),
        (["1\u202f234,5", "12\u00a0345", "1\u2009234"], "real", [1234.5, 12345.0, 1234.0], ""),
        (["1 234,5", "12 345"], "real", [1234.5, 12345.0], ""),
        (["12,34,567", "1,234"], "integer", [1234567, 1234], ""),
        (["$5,000", "$12,000", "$750"], "integer", [5000, 12000, 750], "$"),
        (["€ 1.234"], "integer", [1234], "EUR"),
        (["1.234 CHF", "-999 CHF"], "integer", [1234, -999], "CHF"),
        (["$5,000", "$12.50"], "real", [5000.0, 12.5], "$"),
        (["€1.799", "€1.80"], "real", [1.799, 1.8], "EUR"),
        (["KWD 1.5", "KWD 1.234"], "real", [1.5, 1.234], "KWD"),
        (["1.234,50 €", "-120,00 €"], "real", [1234.5, -120.0], "EUR"),
        (["€1,234.50", "€ 2.00"], "real", [1234.5, 2.0], "EUR"),
        (["USD 12", "3 USD"], "integer", [12, 3], "USD"),
        (["-$5.10", "$-5.20", "($1,234.50)"], "real", [-5.1, -5.2, -1234.5], "$"),
        (["Fr. 12.50", "CHF 1"], "text", ["Fr. 12.50", "CHF 1"], ""),
        (["12,- €", "3,50 €"], "real", [12.0, 3.5], "EUR"),
        (["12 %", "7,5%", "-0,3 %"], "real", [12.0, 7.5, -0.3], "%"),
        (["12%"], "real", [12.0], "%"),
        (["35 ms", "7ms"], "integer", [35, 7], "ms"),
        (["12,5 kg", "1 kg"], "real", [12.5, 1.0], "kg"),
        (["1 day", "3 days"], "integer", [1, 3], "days"),
        (["2 EUR/kg"], "integer", [2], "EUR/kg"),
        (["(1,234)", "(1,234.5)"], "real", [-1234.0, -1234.5], ""),
        (["5-", "7"], "integer", [-5, 7], ""),
        (["\u22125", "\u22120.5"], "real", [-5.0, -0.5], ""),
        (["1.5e-3", "2E+10"], "real", [0.0015, 2e10], ""),
        (["1.5e3", "2e3"], "real", [1500.0, 2000.0], ""),
        (["1e3", "250", "12.5"], "real", [1000.0, 250.0, 12.5], ""),
        (["+3.5", "-1"], "real", [3.5, -1.0], ""),
        (["true", "FALSE"], "boolean", [1, 0], ""),
        (["2025-12-31", "2024-02-29"], "date", ["2025-12-31", "2024-02-29"], ""),
        (["2025-12-31 10:11", "2025-12-31T10:11:12.5"], "datetime", ["2025-12-31T10:11:00", "2025-12-31T10:11:12.5"], ""),
        (["2026-09-01T00:15:00Z"], "datetime", ["2026-09-01T00:15:00Z"], ""),
        (["2026-09-01T00:15:00+0200"], "datetime", ["2026-09-01T00:15:00+02:00"], ""),
        (["31.12.2025", "1.2.2025"], "date", ["2025-12-31", "2025-02-01"], ""),
        (["31/12/2025", "03/04/2025"], "date", ["2025-12-31", "2025-04-03"], ""),
        (["12/31/2025", "03/04/2025"], "date", ["2025-12-31", "2025-03-04"], ""),
        (["12/31/2025 2:30 PM", "1/2/2025 12:05 AM"], "datetime", ["2025-12-31T14:30:00", "2025-01-02T00:05:00"], ""),
        (["3 Mar 2025", "March 4, 2025", "5. März 2025"], "date", ["2025-03-03", "2025-03-04", "2025-03-05"], ""),
        (["10:11", "09:30:05"], "time", ["10:11:00", "09:30:05"], ""),
    ],
)
def test_texts_of_one_kind_become_values_of_it(texts: list[str], kind: str, values: list[object], unit: str) -> None:
    decided = column(*texts)
    assert (decided.type, decided.values, decided.unit) == (kind, values, unit)


@pytest.mark.parametrize(
    "texts",
    [
        ["0017", "0042"],
        ["1", "007"],
        ["+49 40 5550118", "+44 117 496 0021"],
        ["+494055501180"],
        ["1234567890123456", "1"],
        ["99999999999999999999"],
        ["DE89 3704 0044 0532 0130 00"],
        ["1.2.3", "1.10.0"],
        ["10.0.0.1", "192.168.100.200"],
        ["12A", "14B"],
        ["12 A", "14 A"],
        ["12E4", "1e5"],
        ["4K", "5K"],
        ["3 Mar", "4 Mar"],
        ["March 2025", "April 2025"],
        ["31.12.25", "01.02.25"],
        ["2025-02-30", "2025-02-28x"],
        ["9:30", "9:45"],
        ["25:00", "26:10"],
        ["1-2", "3-4"],
        ["٣", "½"],
        ["5.", "6."],
        ["yes", "no"],
        ["nan", "inf"],
        ["- 5 -", "5"],
        ["(5", "6)"],
        ["1e999"],
    ],
)
def test_codes_and_doubtful_texts_stay_as_they_are(texts: list[str]) -> None:
    decided = column(*texts)
    assert (decided.type, decided.values, decided.unit) == ("text", texts, "")


@pytest.mark.parametrize("header", ["Phone", "tel.", "PLZ", "zip_code", "Fax number", "IBAN", "app version"])
def test_a_header_of_codes_keeps_their_digits(header: str) -> None:
    assert column("90210", "10115", header=header).values == ["90210", "10115"]


@pytest.mark.parametrize(
    ("header", "texts", "note"),
    [
        ("zip_code", ["90210", "10115"], "kept as text: a postcode is no number"),
        ("PLZ", ["01067", "10115"], "kept as text: a postcode is no number"),
        ("Phone", ["5550118", "+49 40 5550118"], "kept as text: a phone number is no amount"),
        ("version", ["1.10", "1.2"], "kept as text: a version is no number"),
        ("EAN", ["4006381333931"], "kept as text: a code is no number"),
        ("Phone", ["reception", "yard"], ""),
        ("version", ["1.2.3", "1.10.0"], ""),
    ],
)
def test_a_header_that_keeps_digits_as_text_says_so(header: str, texts: list[str], note: str) -> None:
    decided = column(*texts, header=header)
    assert (decided.type, decided.values, decided.note) == ("text", texts, note)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["1", "2", "3", "four"], 'kept as text: 1 of 4 values are no numbers (such as "four")'),
        (["1.234", "5.678"], "kept as text: thousands or decimals?"),
        (["1,234", "5"], "kept as text: thousands or decimals?"),
        (["KWD 1.234"], "kept as text: thousands or decimals?"),
        (["$ 1.234", "$ 1,234"], "kept as text: thousands or decimals?"),
        (["1.234 kg"], "kept as text: thousands or decimals?"),
        (["1.2", "0,8"], "kept as text: decimal points and decimal commas are mixed"),
        (["5 €", "5 $"], "kept as text: values of several units ($, EUR)"),
        (["5 kg", "5"], "kept as text: values of several units (none, kg)"),
        (["12e4", "1E5"], 'kept as text: numbers or codes? (such as "12e4", "1E5")'),
        (["1e3", "250", "2a7"], 'kept as text: 1 of 3 values are no numbers (such as "2a7")'),
        (["01e3", "250"], 'kept as text: 1 of 2 values are no numbers (such as "01e3")'),
        (["0017", "42"], "kept as text: codes with leading zeros"),
        (["12345678901234567890", "42"], "kept as text: codes with leading zeros or more than 15 digits"),
        (["123 456", "234 567"], "kept as text: groups of digits that may be codes or thousands"),
        (["03/04/2025", "05/06/2025"], "kept as text: day or month first?"),
        (["31/12/2025", "12/31/2025"], "kept as text: some dates have the day first, others the month"),
        (["2025-01-01", "10:15"], "kept as text: dates and times of day are mixed"),
        (["true", "true", "maybe"], "kept as text: 1 of 3 values are neither true nor false"),
        (["2025-01-01", "2025-01-02", "Total"], 'kept as text: 1 of 3 values are no dates or times (such as "Total")'),
    ],
)
def test_a_column_in_doubt_stays_text_and_says_why(texts: list[str], note: str) -> None:
    decided = column(*texts)
    assert (decided.type, decided.values) == ("text", texts)
    assert decided.note.startswith(note)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (["1,5"], "decimal comma"),
        (["€ 1.234", "€ 5"], 'points read as separators of thousands (such as "€ 1.234")'),
        (["1e3", "5"], 'powers of ten, as the other values are numbers (such as "1e3")'),
        (["12 %"], "per cent: 12 % is 12.0"),
        (["(5)", "6"], "brackets read as a minus"),
        (["31/12/2025"], 'day first, as "31/12/2025" shows'),
        (["0.1234567890123456789"], "more digits written than a number holds: rounded"),
        (["2025-01-01T10:00Z", "2025-01-01T10:00+02:00"], "several zones (+02:00, Z): texts do not sort by time"),
        (["2025-01-01T10:00", "2025-01-01"], "some values have no time"),
    ],
)
def test_what_was_done_to_the_texts_is_said(texts: list[str], note: str) -> None:
    assert column(*texts).note == note


@pytest.mark.parametrize("marker", ["NA", "n/a", "null", "None", "-", "n.a.", "NaN"])
def test_a_marker_is_no_value_only_where_all_others_are_of_another_type(marker: str) -> None:
    numbers = column("1", marker, "3")
    assert (numbers.values, numbers.note) == ([1, None, 3], f'"{marker}" read as no value (in 1 of 3 rows)')
    assert column("one", marker).values == ["one", marker]
    assert column(marker, marker).values == [marker, marker]


@pytest.mark.parametrize(
    ("header", "texts", "values"),
    [
        ("x", ["9:05", "10:30", " 0:30"], ["09:05:00", "10:30:00", "00:30:00"]),
        ("x", ["8:45", "08:30"], ["08:45:00", "08:30:00"]),
        ("Start", ["9:05", "8:45"], ["09:05:00", "08:45:00"]),
        ("end_time", ["9:05"], ["09:05:00"]),
        ("Pause", ["0:30", "1:00"], ["00:30:00", "01:00:00"]),
        ("Uhrzeit", ["7:15"], ["07:15:00"]),
    ],
)
def test_one_digit_is_an_hour_where_the_column_or_its_header_shows_it(header: str, texts: list[str], values: list[str]) -> None:
    decided = column(*texts, header=header)
    assert (decided.type, decided.values, decided.note) == ("time", values, "")


@pytest.mark.parametrize(
    ("header", "texts", "note"),
    [
        ("x", ["9:30", "9:45"], 'kept as text: times of day, durations or ratios? (such as "9:30", "9:45")'),
        ("scale", ["1:25", "1:10"], 'kept as text: times of day, durations or ratios? (such as "1:25", "1:10")'),
        ("scale", ["1:25", "10:10"], 'kept as text: times of day, durations or ratios? (such as "1:25")'),
        ("Lap time", ["1:25", "1:10"], 'kept as text: times of day, durations or ratios? (such as "1:25", "1:10")'),
        ("start", ["9:30", "9:75"], 'kept as text: durations or ratios, not all are times of a day (such as "9:75")'),
        ("x", ["125:10", "130:05"], 'kept as text: durations or ratios, not all are times of a day (such as "125:10", "130:05")'),
        ("start", ["9:3", "9:30", "9:40"], 'kept as text: 1 of 3 values are no dates or times (such as "9:3")'),
    ],
)
def test_what_may_be_no_time_of_day_stays_and_says_why(header: str, texts: list[str], note: str) -> None:
    decided = column(*texts, header=header)
    assert (decided.type, decided.values, decided.note) == ("text", texts, note)


def test_empty_cells_are_no_value_and_other_texts_keep_their_spaces() -> None:
    assert column("", " a ", None, "  ", "b").values == [None, " a ", None, None, "b"]


def test_control_characters_do_not_get_in() -> None:
    assert column("a\x1b[31mb\0", "c").values == ["ab", "c"]


def test_a_column_left_open_follows_the_other_columns() -> None:
    comma = decide([Cells("a", ["1.234", "5.678"], {}), Cells("b", ["0,5", "1,25"], {})])
    assert (comma[0].values, comma[0].type) == ([1234, 5678], "integer")
    assert comma[0].note.startswith("decimal comma, as other columns of the file have it")
    point = decide([Cells("a", ["1.234", "5.678"], {}), Cells("b", ["0.5", "1.25"], {})])
    assert point[0].values == [1.234, 5.678]


def test_money_has_thousands_whatever_the_other_columns_show() -> None:
    money = decide([Cells("a", ["$5,000", "$750"], {}), Cells("b", ["0,5", "1,25"], {})])
    assert (money[0].values, money[0].note) == ([5000, 750], "")


def test_columns_that_contradict_decide_nothing() -> None:
    decided = decide([Cells("a", ["1.234"], {}), Cells("b", ["0,5"], {}), Cells("c", ["0.5"], {})])
    assert [one.type for one in decided] == ["text", "real", "real"]


@pytest.mark.parametrize(
    ("cells", "units", "kind", "values", "unit"),
    [
        ([1, 2.0], {}, "integer", [1, 2], ""),
        ([1, 2.5], {}, "real", [1.0, 2.5], ""),
        ([1e300, 1], {}, "real", [1e300, 1.0], ""),
        ([-(2**63), 2**63 - 1], {}, "integer", [-(2**63), 2**63 - 1], ""),
        ([0.12, 0.07], {0: "%", 1: "%"}, "real", [12.0, 7.0], "%"),
        ([0.12, "7 %"], {0: "%"}, "real", [12.0, 7.0], "%"),
        ([0.12, 5], {0: "%"}, "real", [0.12, 5.0], ""),
        ([1.5, 2], {0: "EUR", 1: "EUR"}, "real", [1.5, 2.0], "EUR"),
        ([1.5, 2], {0: "EUR"}, "real", [1.5, 2.0], ""),
        ([1.5, 2], {0: "EUR", 1: "USD"}, "text", ["1.5 EUR", "2 USD"], ""),
        ([0.12, "none of it"], {0: "%"}, "text", ["12 %", "none of it"], ""),
        ([1, "n/a", None], {}, "integer", [1, None, None], ""),
        ([17, "0017"], {}, "text", ["17", "0017"], ""),
        ([2**70, 1], {}, "text", [str(2**70), "1"], ""),
        ([float("inf")], {}, "text", ["inf"], ""),
        ([True, False], {}, "boolean", [1, 0], ""),
        ([True, 5], {}, "text", ["true", "5"], ""),
        ([date(2025, 1, 2), datetime(2025, 1, 3)], {}, "date", ["2025-01-02", "2025-01-03"], ""),  # noqa: DTZ001 - as a sheet has it
        ([datetime(2025, 1, 3, 4, 5, tzinfo=UTC)], {}, "datetime", ["2025-01-03T04:05:00+00:00"], ""),
        ([date(2025, 1, 2), "31.12.2025"], {}, "date", ["2025-01-02", "2025-12-31"], ""),
        ([time(4, 5)], {}, "time", ["04:05:00"], ""),
        ([date(2025, 1, 2), 3], {}, "text", ["2025-01-02", "3"], ""),
        ([b"\x00", None], {}, "blob", [b"\x00", None], ""),
        ([None, None], {}, "text", [None, None], ""),
    ],
)
def test_values_that_the_format_typed(cells: list[Cell], units: dict[int, str], kind: str, values: list[object], unit: str) -> None:
    decided = column(*cells, units=units)
    assert (decided.type, decided.values, decided.unit) == (kind, values, unit)


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("Weight (kg)", "kg"),
        ("Weight [kg]", "kg"),
        ("Duration (in ms)", "ms"),
        ("Price in EUR", "EUR"),
        ("Betrag €", "EUR"),
        ("Anteil %", "%"),
        ("response_ms", "ms"),
        ("size_KB", "KB"),
        ("share_pct", "%"),
        ("duration_seconds", "s"),
        ("orders_last_7_days", ""),
        ("queue_min", ""),
        ("ms", ""),
        ("Name (long)", ""),
        ("tell us", ""),
        ("check in", ""),
    ],
)
def test_a_header_may_say_the_unit(header: str, unit: str) -> None:
    assert column("1", "2", header=header).unit == unit
    assert column("word", header=header).unit == ""


def test_a_unit_in_the_cells_outweighs_the_header() -> None:
    assert column("1 g", "2 g", header="Weight (kg)").unit == "g"


def test_digits_that_a_sheet_holds_as_text_stay_text_and_beside_numbers_are_numbers() -> None:
    marked = {(row, 0): "@" for row in (1, 2)}
    codes = tabulate(Grid("", [["ref", "n"], ["1067", 1], ["2045", 2]], marked))
    assert codes is not None
    assert [row[0] for row in codes.rows] == ["1067", "2045"]
    mixed = tabulate(Grid("", [["ref", "n"], ["1067", 1], [2045, 2]], {(1, 0): "@"}))
    assert mixed is not None
    assert [row[0] for row in mixed.rows] == [1067, 2045]
