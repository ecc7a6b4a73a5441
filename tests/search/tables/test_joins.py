"""What `search.tables.joins` promises: keys that tables share, and not whatever has the same name."""

from __future__ import annotations

from typing import Any

from search.tables.joins import joins
from search.tables.models import Column, Table


def table(name: str, *columns: Column, rows: int = 3) -> Table:
    return Table(1, name, 1, f"{name}.csv", "", rows, columns, ())


def text(name: str, *values: str, **more: Any) -> Column:
    return Column(
        name, "text", **{"distinct": len(values), "values": values, "minimum": min(values), "maximum": max(values), **more}
    )


def test_a_text_that_tells_rows_apart_joins_what_has_its_values() -> None:
    tables = [table("latency", text("path", "a", "b"), rows=9), table("endpoints", text("path", "a", "b", "c"))]
    assert joins(tables) == [("endpoints", "path", "latency", "path")]
    other = table("files", text("path", "x", "y"), rows=9)
    assert joins([*tables, other]) == joins(tables)


def test_texts_that_are_too_many_for_a_list_join_where_their_ranges_meet() -> None:
    many = Column("path", "text", distinct=3, minimum="a", maximum="f")
    assert joins([table("one", many), table("two", text("path", "d", "z"), rows=9)])
    assert not joins([table("one", many), table("two", text("path", "x", "z"), rows=9)])


def test_names_of_keys_join_whatever_their_values_and_measures_dates_and_common_names_do_not() -> None:
    key = Column("aid", "integer", distinct=2)
    same = (
        Column("area", "real", distinct=3),
        Column("population", "integer", distinct=3),
        Column("created", "date", distinct=3),
        text("name", "a", "b", "c"),
        Column("id", "integer", distinct=3),
    )
    assert joins([table("authors", key, *same), table("writes", key, *same)]) == [("authors", "aid", "writes", "aid")]


def test_an_id_joins_the_columns_that_are_called_after_its_table() -> None:
    number = Column("id", "integer", distinct=3)
    tables = [table(name, number) for name in ("customers", "countries", "box")]
    orders = table(
        "orders", *(Column(name, "integer") for name in ("customer_id", "country_id", "boxid")), Column("other_id", "text")
    )
    assert joins([*tables, orders]) == [
        ("customers", "id", "orders", "customer_id"),
        ("countries", "id", "orders", "country_id"),
        ("box", "id", "orders", "boxid"),
    ]
