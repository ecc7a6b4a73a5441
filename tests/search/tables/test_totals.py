"""A row that sums up the others is no row of the table: sums over its columns are right, and what was left out is said."""

from __future__ import annotations

import pytest

from search.tables.cells import Cell
from search.tables.grids import Grid, tabulate
from search.tables.models import TableDraft

LEFT_OUT = "left out, so that sums are right"


def table(*rows: list[Cell], formats: dict[tuple[int, int], str] | None = None) -> TableDraft:
    draft = tabulate(Grid("", rows, formats or {}))
    assert draft is not None
    return draft


@pytest.mark.parametrize("word", ["Total", "Summe", "GESAMT:", "合計", "Grand total", "Sum", "Insgesamt", "Totale", "Total 2025"])
def test_a_total_whose_figures_agree_is_left_out_and_said(word: str) -> None:
    draft = table(["item", "amount"], ["x", "1"], ["y", "2.5"], [word, "3.5"])
    assert draft.rows == [("x", 1.0), ("y", 2.5)]
    assert draft.notes == (f'the last row is a total ("{word}": 3.5): {LEFT_OUT}',)


@pytest.mark.parametrize("word", ["Total", "Summe"])
def test_a_word_for_a_total_whose_figures_do_not_agree_stays_a_row(word: str) -> None:
    draft = table(["company", "amount"], ["x", "1"], ["y", "2"], [word, "4"])
    assert draft.rows == [("x", 1), ("y", 2), (word, 4)]
    assert draft.notes == (f'the last row is a total ("{word}"): leave it out of sums',)


def test_a_company_of_a_longer_name_stays_without_a_remark() -> None:
    draft = table(["company", "amount", "staff"], ["x", "1", "5"], ["y", "2", "6"], ["Total Energies", "3", "7"])
    assert (len(draft.rows), draft.notes) == (3, ())


def test_totals_and_averages_at_the_end_are_left_out_together() -> None:
    draft = table(["depot", "parcels"], ["x", 1], ["y", 2], ["z", 6], ["Total", 9], ["Average", 3])
    assert [row[0] for row in draft.rows] == ["x", "y", "z"]
    assert draft.notes == (f'the last 2 rows are totals ("Total": 9; "Average": 3): {LEFT_OUT}',)


def test_an_average_alone_is_called_one() -> None:
    draft = table(["depot", "ms"], ["x", 1.25], ["y", 2.5], ["Durchschnitt", 1.88])
    assert draft.notes == (f'the last row is an average ("Durchschnitt": 1.88): {LEFT_OUT}',)


def test_types_are_those_of_the_rows_above_a_total() -> None:
    rows: list[list[Cell]] = [["item", "day", "net", "share"], ["x", "2025-01-01", "1.234,50 €", "40 %"]]
    rows += [["y", "2025-02-01", "2.000,00 €", "60 %"], ["Summe", "–", "3.234,50 €", "alles"]]
    draft = table(*rows)
    assert [column.type for column in draft.columns] == ["text", "date", "real", "real"]
    assert draft.rows[-1] == ("y", "2025-02-01", 2000.0, 60.0)


@pytest.mark.parametrize("last", [["Total", None, 3], ["Total", "n/a", "3"], ["", "Total", 3], ["Total", 9, 3]])
def test_cells_of_a_total_may_be_empty_or_say_something_else(last: list[Cell]) -> None:
    assert len(table(["item", "year", "n"], ["x", 2024, 1], ["y", 2025, 2], last).rows) == 2


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([33.3, 33.3, 33.3], 100),
        ([33, 33, 33], 100),
        ([0.1] * 10, 1.0),
        ([1 / 3, 1 / 3], 0.67),
        ([12.345678, 7.1], 19.445678),
        ([-5, 5], 0),
        ([10**14, 10**14], 2 * 10**14),
    ],
)
def test_a_total_may_be_rounded(values: list[Cell], total: Cell) -> None:
    draft = table(["item", "n"], *([f"x{number}", value] for number, value in enumerate(values)), ["Total", total])
    assert len(draft.rows) == len(values)


@pytest.mark.parametrize(
    "rows",
    [
        [["x", 0], ["y", 0], ["Total", 0]],
        [["x", 1], ["y", 2], ["Total", 4]],
        [["x", 100], ["y", 200], ["Total", 310]],
        [["x", 1], ["Average", 2]],
    ],
)
def test_what_proves_nothing_leaves_the_row(rows: list[list[Cell]]) -> None:
    assert len(table(["item", "n"], *rows).rows) == len(rows)


def test_a_share_in_a_sheet_is_added_as_it_is_shown() -> None:
    formats = {(row, 1): "%" for row in (1, 2, 3)}
    draft = table(["item", "share"], ["x", 0.25], ["y", 0.75], ["Total", 1.0], formats=formats)
    assert draft.rows == [("x", 25.0), ("y", 75.0)]


def test_subtotals_stay_and_are_said_and_the_grand_total_goes() -> None:
    rows: list[list[Cell]] = [["region", "n"], ["a", 1], ["b", 2], ["North Total", 3], ["c", 4], ["d", 6], ["South Total", 10]]
    draft = table(*rows, ["Grand Total", 13])
    assert [row[0] for row in draft.rows] == ["a", "b", "North Total", "c", "d", "South Total"]
    assert draft.notes == (
        f'the last row is a total ("Grand Total": 13): {LEFT_OUT}',
        '2 rows are subtotals, the first of them row 4 ("North Total"): leave them out of sums',
    )


def test_a_subtotal_at_the_end_is_no_total_of_all() -> None:
    draft = table(["year", "sex", "n"], *[[y, s, n] for y in ("2024", "2025") for s, n in (("f", 2), ("m", 3), ("Total", 5))])
    assert len(draft.rows) == 6
    assert draft.notes == ('2 rows are subtotals, the first of them row 4 ("Total"): leave them out of sums',)


def test_a_tax_between_subtotal_and_total_is_added() -> None:
    draft = table(["item", "eur"], ["x", 100], ["y", 50], ["Subtotal", 150], ["VAT 20 %", 30], ["Total", 180])
    assert [row[0] for row in draft.rows] == ["x", "y", "Subtotal", "VAT 20 %"]
    assert draft.notes[1] == 'a subtotal stays as a row: row 4 ("Subtotal"): leave it out of sums'


def test_lines_of_words_below_a_total_go_with_it_and_are_said() -> None:
    draft = table(["item", "n"], ["x", 1], ["y", 2], ["Total", 3], ["Source: the port office"])
    assert draft.rows == [("x", 1), ("y", 2)]
    assert draft.notes == (f'the last row is a total ("Total": 3): {LEFT_OUT}', 'below the table: "Source: the port office"')
    assert len(table(["item", "n"], ["x", 1], ["y", 2], ["Total", 4], ["z"]).rows) == 4


def test_the_value_that_is_said_is_the_largest_that_agrees() -> None:
    draft = table(["no", "item", "amount"], ["1", "x", "10"], ["2", "y", "20"], ["3", "Total", "30"])
    assert draft.notes == (f'the last row is a total ("Total": 30): {LEFT_OUT}',)
