"""JSON stays the text that it is; a list of records in it is a table too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.readers import read, text
from search.tables import TableDraft


def table(content: object, name: str = "a.json") -> TableDraft | None:
    data = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
    found = read(Path(name), data).tables
    return found[0] if found else None


def columns(content: object, name: str = "a.json") -> dict[str, list[Any]]:
    draft = table(content, name)
    assert draft is not None
    return {column.name: [row[place] for row in draft.rows] for place, column in enumerate(draft.columns)}


TWO = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]


@pytest.mark.parametrize(
    "content",
    [
        TWO,
        {"data": TWO},
        {"total": 2, "next": None, "response": {"items": TWO}},
        {"data": TWO, "empty": [], "tags": ["x"]},
    ],
)
def test_a_list_of_objects_is_a_table_wherever_it_lies(content: object) -> None:
    assert columns(content) == {"id": [1, 2], "name": ["a", "b"]}


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        [1, 2],
        "text",
        [{"a": 1}],
        [{}, {}],
        [{"a": 1}, {"b": 2}],
        [{"a": 1}, 2],
        {"a": TWO, "b": TWO},
        [[{"a": 1}, {"a": 2}]],
        {"a": {"b": {"c": {"d": TWO}}}},
        {
            "name": "left-pad",
            "version": "1.0.0",
            "scripts": {"test": "node test", "build": "tsc"},
            "contributors": [{"name": "A", "email": "a@x.example"}, {"name": "B", "email": "b@x.example"}],
            "dependencies": {"a": "^1", "b": "^2", "c": "^3"},
        },
    ],
    ids=str,
)
def test_what_holds_no_records_gives_no_table_and_no_complaint(content: object) -> None:
    data = json.dumps(content).encode()
    assert read(Path("package.json"), data) == text.read(data, Path("package.json"))


def test_the_text_is_what_the_text_reader_gives() -> None:
    data = json.dumps(TWO, indent=2).encode()
    extract, plain = read(Path("a.json"), data), text.read(data, Path("a.json"))
    assert extract.tables
    assert (extract.text, extract.format, extract.notes) == (plain.text, plain.format, plain.notes)


def test_nested_objects_become_columns_and_what_lies_deeper_is_json() -> None:
    record = {"a": {"b": {"c": 1, "deep": {"x": 2}}}, "list": [1, "é"], "empty": {}}
    assert columns([record, record]) == {
        "a_b_c": [1, 1],
        "a_b_deep": ['{"x": 2}'] * 2,
        "list": ['[1, "é"]'] * 2,
        "empty": ["{}"] * 2,
    }


def test_missing_keys_are_null_and_columns_stand_in_the_order_of_their_appearance() -> None:
    assert columns([{"a": 1}, {"b": True, "a": None}, {"a": 3, "b": False}]) == {"a": [1, None, 3], "b": [None, 1, 0]}


def test_a_key_that_holds_now_a_value_now_an_object_keeps_both() -> None:
    assert columns([{"a": 1}, {"a": {"b": 2}}, {"a": 3}]) == {"a": [1, None, 3], "a_b": [None, 2, None]}


def test_names_that_fall_together_are_told_apart() -> None:
    record = {"a_b": 1, "a": {"b": 2}, "A_B": 3, "": 4}
    assert columns([record, record]) == {"a_b": [1, 1], "a_b_2": [2, 2], "A_B_3": [3, 3], "column_4": [4, 4]}


@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        ([1, 2], "integer", [1, 2]),
        ([1, 2.5], "real", [1, 2.5]),
        ([True, False], "boolean", [1, 0]),
        (["0017", "12"], "text", ["0017", "12"]),
        ([1, "n/a"], "text", ["1", "n/a"]),
        ([True, 2], "text", ["true", "2"]),
        ([2**63, 1], "text", ["9223372036854775808", "1"]),
        ([2**60 + 1, 0.5], "text", ["1152921504606846977", "0.5"]),
        (["2026-01-31", "2026-02-01"], "date", ["2026-01-31", "2026-02-01"]),
        (["2026-01-31T10:00:00Z", None], "datetime", ["2026-01-31T10:00:00Z", None]),
        (["\ud800", "x"], "text", ["\ufffd", "x"]),
    ],
)
def test_a_column_takes_the_one_type_that_keeps_all_of_its_values(values: list[Any], kind: str, stored: list[Any]) -> None:
    draft = table(json.dumps([{"id": 1, "v": value} for value in values]).encode())
    assert draft is not None
    assert (draft.columns[1].type, [row[1] for row in draft.rows]) == (kind, stored)


def test_a_column_kept_as_text_says_why() -> None:
    draft = table([{"v": 1}, {"v": 2}, {"v": "n/a"}])
    assert draft is not None
    assert draft.columns[0].note == "kept as text: 1 of 3 values are no numbers"


def test_lines_that_are_no_objects_are_told_by_number_and_the_others_kept() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\n\n{"a": 2\n[3]\n{"a": 4}\r\n'
    draft = table(data, "log.jsonl")
    assert draft is not None
    assert list(draft.rows) == [(1,), (4,)]
    assert draft.notes == ("lines 3, 4 left out: no JSON object (2 in all)",)


def test_lines_in_a_file_called_json_are_records_too() -> None:
    assert columns(b'{"a": 1}\n{"a": 2}\n') == {"a": [1, 2]}


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'[{"a": ' + b"[" * 900 + b"]" * 900 + b'}, {"a": 1}]',
        b'[{"a": ' + b"9" * 10_000 + b'}, {"a": -' + b"9" * 401 + b"}]",
        b'[{"a": NaN}, {"a": 1e999}]',
        b'[{"a": 1, "a": 2}, {"a": 3}]',
        b'[{"a": 1}, {"a": 2}',
        b'{"name": "x", // a comment\n}',
        b"\xff\xfe[\0{\0}\0]\0",
        b'[{"\\ud800": 1}, {"\\u0000": 2, "\\ud800": 2}]',
    ],
    ids=["lists", "objects", "just deep", "digits", "nan", "twice", "cut", "comments", "utf-16", "names"],
)
def test_no_json_breaks_the_reader_or_loses_its_text(data: bytes) -> None:
    assert read(Path("a.json"), data).text == text.read(data, Path("a.json")).text


def test_what_json_does_not_know_is_told() -> None:
    draft = table(b'[{"a": NaN, "b": 1}, {"a": -1e999, "b": 2}, {"a": 1, "a": 2.5, "b": 3}]')
    assert draft is not None
    assert list(draft.rows) == [(None, 1), (None, 2), (2.5, 3)]
    assert draft.notes == (
        "1 objects name a key twice: its last value counts",
        "2 values are NaN or infinite: left empty",
    )


def test_objects_with_names_for_keys_are_not_spread_over_thousands_of_columns() -> None:
    records = [{"id": n, "by_user": {f"user{n}x{m}": m for m in range(300)}} for n in range(3)]
    draft = table(records)
    assert draft is not None
    assert [column.name for column in draft.columns] == ["id", "by_user"]


@pytest.mark.evals
def test_real_json_files(evals: Path) -> None:
    folder = evals / "documents" / "table"
    simple = table((folder / "simple.json").read_bytes())
    assert simple is not None
    assert {"type", "element_id", "text"} <= {column.name for column in simple.columns}
    assert len(simple.rows) == len(json.loads((folder / "simple.json").read_bytes()))
