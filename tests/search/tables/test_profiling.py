"""What the catalogue tells of a column is so, and a file's tables are found by it."""

from __future__ import annotations

import pytest

from search.tables.describing import MAX_ROWS, described, left_out
from search.tables.models import Column, TableDraft
from search.tables.profiling import profiled

COLUMNS = [Column("city", "text"), Column("size", "integer"), Column("photo", "blob"), Column("mixed", "text", declared="ANY")]
ROWS = [
    ("Rome", 3, b"x", 5),
    ("Oslo", None, None, "five"),
    ("Rome", -1, b"y", b"\0"),
]


def test_figures_of_columns() -> None:
    city, size, photo, mixed = profiled("", COLUMNS, ROWS).columns
    assert (city.nulls, city.distinct, city.minimum, city.maximum, city.values) == (0, 2, "Oslo", "Rome", ("Oslo", "Rome"))
    assert (size.nulls, size.distinct, size.minimum, size.maximum, size.values) == (1, 2, -1, 3, ())
    assert (photo.nulls, photo.distinct, photo.minimum, photo.maximum) == (1, 2, None, None)
    assert (mixed.minimum, mixed.maximum, mixed.distinct, mixed.values, mixed.declared) == (5, "five", 3, (), "ANY")


@pytest.mark.parametrize(
    ("values", "listed"),
    [([f"v{number}" for number in range(20)], 20), ([f"v{number}" for number in range(21)], 0), (["a" * 40], 1), (["a" * 41], 0)],
)
def test_values_are_listed_where_they_are_few_and_short(values: list[str], listed: int) -> None:
    assert len(profiled("", [Column("a", "text")], [(value,) for value in values]).columns[0].values) == listed


def test_numbers_that_are_none_have_no_place_in_a_range() -> None:
    column = profiled("", [Column("a", "real")], [(float("nan"),), (2.0,), (1.0,)]).columns[0]
    assert (column.minimum, column.maximum) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        (["a", "z" * 40], ("a", "z" * 40)),
        (["a", "z" * 41], (None, None)),
        (["a" * 41, "z"], (None, None)),
        (["a", "b" * 100_000, "c"], ("a", "c")),
        ([5, "z" * 41], (None, None)),
        ([5, "z"], (5, "z")),
    ],
)
def test_long_texts_have_no_range(values: list[str | int], bounds: tuple[object, object]) -> None:
    column = profiled("", [Column("a", "text")], [(value,) for value in values]).columns[0]
    assert (column.minimum, column.maximum) == bounds


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("Pump three was repaired on the quay last night", True),
        ("RF18 5390 0754 7034 INV20251207 DE89370400440532013000 EREF", False),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", False),
        ("https://depot.example/parcels/2025/12/31/7781?state=late", False),
        ("夜勤の前に岸壁のポンプが修理されましたが、翌朝にはまた故障していたため、部品を注文することになりました。", True),
    ],
)
def test_prose_has_words(text: str, prose: bool) -> None:
    assert ("id: 1; " in described([draft(2, text)])) is prose


def test_rows_must_be_as_long_as_the_columns() -> None:
    with pytest.raises(ValueError, match="row 2 has 1 values, want 4"):
        profiled("", COLUMNS, [*ROWS[:1], ("x",)])


def draft(rows: int, text: str = "", label: str = "") -> TableDraft:
    columns = [Column("id", "integer", unit="ms"), Column("remark", "text", header="Remark!", comment="what was said")]
    return profiled(label, columns, [(number, text or f"v{number % 3}") for number in range(rows)], ["a remark"])


def test_the_text_names_columns_ranges_values_and_remarks() -> None:
    assert described([draft(4, label="Sheet 1")]).splitlines() == [
        *("# Sheet 1", "", "Table: 4 rows, 2 columns.", "a remark", ""),
        *("- id, integer in ms: 0 to 3", '- remark ("Remark!"), text: v0; v1; v2 (what was said)'),
    ]


def test_rows_of_prose_follow_as_paragraphs() -> None:
    text = described([draft(2, "The pump was repaired on the quay\nbefore the night shift came.")])
    assert "\n\nid: 1; remark: The pump was repaired on the quay before the night shift came.\n" in text
    assert "id: 1; " not in described([draft(2, "short words")])


def test_prose_is_bounded_and_the_cut_is_said() -> None:
    drafts = [draft(MAX_ROWS - 100, "late again " * 5), draft(300, "gone at last " * 5)]
    text = described(drafts)
    assert text.count("; remark: ") == MAX_ROWS
    assert "(200 more rows are in the table alone.)" in text
    assert left_out(drafts) == ("200 rows are found by table queries alone, not by their words",)
    assert len(described([draft(400, "late again " * 270)])) < 210_000
    assert left_out([draft(3)]) == ()


def test_nothing_a_file_holds_breaks_the_lines_of_the_text() -> None:
    odd = profiled("a\n# b", [Column("x", "text", header="h\n- y")], [("v\n\n# w",)], ["n\nm"])
    assert described([odd]) == '# a # b\n\nTable: 1 row, 1 column.\nn m\n\n- x ("h - y"), text: v # w\n'


def test_no_tables_have_no_text() -> None:
    assert described([]) == ""
