"""The header is found, columns get names that SQL takes, and no row or cell that holds something is dropped without a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.tables.cells import Cell
from search.tables.fitting import fitted
from search.tables.grids import Grid, tabulate
from search.tables.headers import MAX_COLUMNS, MAX_SURPLUS, column_names
from search.tables.models import TableDraft


def table(*rows: list[Cell], header: str = "detect") -> TableDraft:
    draft = tabulate(Grid("", rows, lines=range(1, len(rows) + 1)), header=header)  # type: ignore[arg-type]
    assert draft is not None
    return draft


def names(draft: TableDraft) -> list[str]:
    return [column.name for column in draft.columns]


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        (["Order ID", "Größe", "Weight (kg)", "2021"], ["order_id", "größe", "weight_kg", "_2021"]),
        (["a", "A", "a", ""], ["a", "a_2", "a_3", "column_4"]),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (["column_2", ""], ["column_2", "column_2_2"]),
        (["%", "--", " x "], ["column_1", "column_2", "x"]),
        (["名前", "राज्य", "ชื่อ"], ["名前", "राज्य", "ชื่อ"]),
        (["e\u0301tat"], ["état"]),
        (['a"; DROP TABLE x; --'], ["a_drop_table_x"]),
    ],
)
def test_names_of_columns(headers: list[str], wanted: list[str]) -> None:
    assert list(column_names(headers)) == wanted


@given(st.lists(st.text(max_size=80), max_size=12))
def test_names_are_all_different_and_harmless(headers: list[str]) -> None:
    found = column_names(headers)
    assert len({name.lower() for name in found}) == len(headers)
    assert all(name and '"' not in name and "\0" not in name and not name[0].isdigit() and " " not in name for name in found)


def test_the_header_as_written_is_kept_where_it_differs() -> None:
    assert [column.header for column in table(["Weight (kg)", "name"], ["1", "x"]).columns] == ["Weight (kg)", ""]


@pytest.mark.parametrize("above", [["Report"], ["Report", "", ""], ["", "", "Report"], ["Stand", "2025"]])
def test_titles_above_the_header_are_remarks(above: list[Cell]) -> None:
    draft = table(above, [], ["a", "b", "c", "d", "e"], ["1", "2", "3", "4", "x"], ["5", "6", "7", "8", "y"])
    assert names(draft) == ["a", "b", "c", "d", "e"]
    assert len(draft.rows) == 2
    assert draft.notes[0].startswith('above the header: "')


@pytest.mark.parametrize(
    "rows",
    [
        [["1", "foo", "2.5"], ["2", "bar", "3.5"]],
        [["Anna", "1987"], ["Bob", "1990"]],
        [["2025-01-01", "x"], ["2025-01-02", "y"]],
        [["1"], ["2"]],
        [["1", "2"]],
        [["Anna", "EUR12"], ["Bob", "EUR15"]],
        [["Anna", "n/a", "1987", "5"], ["Bob", "34", "1990", "6"]],
        [[1, 2.5], [3, 4.5]],
    ],
)
def test_a_file_without_header_keeps_its_first_row(rows: list[list[Cell]]) -> None:
    draft = table(*rows)
    assert names(draft) == [f"column_{number}" for number in range(1, len(rows[0]) + 1)]
    assert len(draft.rows) == len(rows)
    assert "no header: the columns are numbered" in draft.notes


@pytest.mark.parametrize("years", [["2021", "2022", "2023"], [2021, 2022, 2023], [2021.0, 2022.0, 2023.0]])
def test_years_may_head_columns(years: list[Cell]) -> None:
    draft = table(["region", *years], ["north", "1", "2", "3"], ["south", "4", "5", "6"])
    assert names(draft) == ["region", "_2021", "_2022", "_2023"]


@pytest.mark.parametrize(
    "header",
    [
        ["item", "2024-01-01", "2024-02-01"],
        ["item", "01.01.2024", "01.02.2024"],
        ["item", "eur2", "usd3"],
        ["item", "true", "false"],
        ["item", "EUR 2", "price", "weight"],
    ],
)
def test_names_that_could_be_values_head_columns_of_other_values(header: list[Cell]) -> None:
    draft = table(header, *([name, *["12.5"] * (len(header) - 1)] for name in ("a", "b", "c")))
    assert [column.header or column.name for column in draft.columns] == header
    assert [column.type for column in draft.columns] == ["text", *["real"] * (len(header) - 1)]


def test_the_first_row_is_the_header_when_the_format_says_so() -> None:
    draft = table(["1", "2"], ["3", "4"], header="first")
    assert (names(draft), draft.rows) == (["_1", "_2"], [(3, 4)])


def test_a_header_alone_is_a_table_without_rows() -> None:
    draft = table(["a", "b"])
    assert (names(draft), list(draft.rows)) == (["a", "b"], [])


@pytest.mark.parametrize("rows", [[], [[]], [["", " "], [None]]])
def test_nothing_is_no_table(rows: list[list[Cell]]) -> None:
    assert tabulate(Grid("", rows)) is None


def test_blank_rows_and_columns_at_the_end_hold_nothing() -> None:
    draft = table(["a", "b", "", ""], ["1", "2", "", ""], ["", "", "", ""], ["3", "4", "", ""], ["", "", "", ""])
    assert (names(draft), draft.rows, draft.notes) == (["a", "b"], [(1, 2), (3, 4)], ("1 blank row left out",))


def test_an_unnamed_column_with_values_stays() -> None:
    assert names(table(["a", "", "c"], ["1", "2", "3"])) == ["a", "column_2", "c"]


def test_rows_that_are_too_long_get_columns_of_their_own() -> None:
    draft = table(["a", "b"], ["1", "2"], ["3", "4", "5", "six"], ["7", "8", "9"])
    assert names(draft) == ["a", "b", "column_3", "column_4"]
    assert draft.rows == [(1, 2, None, None), (3, 4, 5, "six"), (7, 8, 9, None)]
    assert draft.notes == ("2 rows have more cells than the header (first line 3): they are in column_3 to column_4",)


def test_a_row_that_is_far_too_long_loses_nothing() -> None:
    cells = [f"c{number}" for number in range(100)]
    draft = table(["a", "b"], ["x", "y"], cells)
    assert len(draft.columns) == 2 + MAX_SURPLUS
    assert " | ".join(str(value) for value in draft.rows[1]) == " | ".join(cells)
    assert "joined in the last of them (up to 98 cells)" in draft.notes[0]


def test_of_too_many_columns_the_first_are_kept_as_they_are_and_that_is_said() -> None:
    wide = [f"h{number}" for number in range(MAX_COLUMNS + 100)]
    draft = table(wide, [f"v{number}" for number in range(len(wide))])
    assert draft.rows == [tuple(f"v{number}" for number in range(MAX_COLUMNS))]
    assert draft.notes == ("1100 columns: the first 1000 are kept",)
    assert fitted([draft]) == (draft,), "the library keeps what the notes say"


def test_rows_that_are_too_short_are_filled_and_said() -> None:
    draft = table(["a", "b", "c"], ["1", "2", "3"], ["4"], ["5", "6"])
    assert draft.rows == [(1, 2, 3), (4, None, None), (5, 6, None)]
    assert draft.notes == ("2 rows have fewer cells than the header (first line 3): the missing ones are empty",)


def test_sheets_leave_out_empty_cells_at_the_end_without_a_remark() -> None:
    draft = tabulate(Grid("Sheet1", [["a", "b"], [1.0], [2.0, "x"]]))
    assert draft is not None
    assert (draft.rows, draft.notes) == ([(1, None), (2, "x")], ())


def test_row_names_without_a_header_get_a_column() -> None:
    draft = table(["x", "y"], ["r1", "1", "2"], ["r2", "3", "4"])
    assert (names(draft), draft.rows) == (["column_1", "x", "y"], [("r1", 1, 2), ("r2", 3, 4)])


def test_lines_below_the_table_are_remarks() -> None:
    draft = table(["a", "b", "c"], ["1", "2", "3"], [], ["Source: the port office"])
    assert (draft.rows, draft.notes) == ([(1, 2, 3)], ('below the table: "Source: the port office"',))


FIRST: list[list[Cell]] = [["item", "n"], ["x", 1], ["y", 2], [], []]


@pytest.mark.parametrize("title", [[], [["Costs"], []], [["Costs"]]])
def test_a_second_table_below_two_blank_rows_is_said(title: list[list[Cell]]) -> None:
    draft = tabulate(Grid("", [*FIRST, *title, ["depot", "cost"], ["Bristol", 5], ["Hamburg", 7]]))
    assert draft is not None
    row = 6 + len(title)
    wanted = f"row {row} looks like the header of a second table; only one table a sheet is read"
    assert any(note.startswith(wanted) for note in draft.notes)


@pytest.mark.parametrize(
    "below",
    [[["z", 3], ["w", 4]], [["", 3], ["", 4]], [["z", "unknown"], ["w", "unknown"]], [["z", "unknown"]], [["Remark"], ["z", 3]]],
)
def test_rows_below_two_blank_ones_are_no_second_table_without_a_header(below: list[list[Cell]]) -> None:
    draft = tabulate(Grid("", [*FIRST, *below]))
    assert draft is not None
    assert not any("second table" in note for note in draft.notes)


def test_a_row_of_units_says_the_units() -> None:
    draft = table(["len", "weight", "name"], ["(cm)", "kg", ""], ["1", "2", "x"], ["3", "4", "y"])
    assert [column.unit for column in draft.columns] == ["cm", "kg", ""]
    assert len(draft.rows) == 2
    assert "line 2 holds units" in draft.notes


def test_a_table_of_units_has_no_row_of_units() -> None:
    assert len(table(["from", "to"], ["kg", "g"], ["m", "cm"]).rows) == 2


def test_number_formats_go_with_their_cells() -> None:
    rows: list[list[Cell]] = [["Costs"], ["name", "share", "price"], ["x", 0.12, 5], ["y", 0.5, 7.5]]
    formats = {(row, 1): "%" for row in (2, 3)} | {(row, 2): "EUR" for row in (2, 3)}
    draft = tabulate(Grid("Costs", rows, formats=formats))
    assert draft is not None
    assert draft.rows == [("x", 12.0, 5.0), ("y", 50.0, 7.5)]
    assert [column.unit for column in draft.columns] == ["", "%", "EUR"]
    assert draft.label == "Costs"
