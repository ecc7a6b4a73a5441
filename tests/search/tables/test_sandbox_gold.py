"""The gold SQL of the questions over eleven databases runs in the sandbox and gives the gold rows."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from standin import StandIn

from search import Library, readers, upkeep
from search.errors import QueryError
from search.models import Extract
from search.tables.catalogue import quoted
from search.tables.models import Column, TableDraft

DATABASES = (
    "academic advising atis broker car_dealership derm_treatment ewallet geography restaurants scholar yelp".split()  # noqa: SIM905 - names in a row
)
# What cannot run: (database, the statement's beginning) with the reason. Empty: SQLite has all that they use.
CANNOT_RUN: dict[tuple[str, str], str] = {}


def drafts(file: Path) -> Iterator[TableDraft]:
    """The tables of a SQLite file, their columns as declared."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as source:
        for (name,) in source.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall():
            columns = source.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
            rows = source.execute(f"SELECT * FROM {quoted(name)}").fetchall()
            yield TableDraft(
                name, tuple(Column(column[1], "text", declared=column[2]) for column in columns), rows, keeps_name=True
            )


def comparable(rows: list[list[Any]], *, ordered: bool) -> list[tuple[Any, ...]]:
    """Rows that can be compared whatever the last digits of their numbers, and whatever their order where that is free."""
    plain = [tuple(round(v, 6) + 0.0 if isinstance(v, int | float) and math.isfinite(v) else v for v in row) for row in rows]
    return plain if ordered else sorted(plain, key=repr)


@pytest.mark.evals
@pytest.mark.parametrize("database", DATABASES)
def test_gold_statements_give_the_gold_rows(database: str, evals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    source = evals / "nl2sql" / f"defog_{database}.sqlite"
    shutil.copy(source, folder)
    monkeypatch.setattr(readers, "read", lambda _, __: Extract(text="tables", format="sqlite", tables=tuple(drafts(source))))
    upkeep.index(tmp_path / "library.db", [folder], StandIn())
    with (evals / "nl2sql" / "questions.jsonl").open(encoding="utf-8") as lines:
        questions = [question for question in map(json.loads, lines) if question["db"] == f"defog_{database}"]
    assert questions
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library, ThreadPoolExecutor(4) as several:

        def differs(case: tuple[str, list[list[Any]], bool]) -> str:
            sql, gold, ordered = case
            try:
                result = library.tables.sql(sql, max_rows=len(gold) + 1, seconds=60)
            except QueryError as error:
                return "" if (database, sql[:40]) in CANNOT_RUN else f"{sql}: {error}"
            got, wanted = (comparable([[*row] for row in rows], ordered=ordered) for rows in (result.rows, gold))
            return "" if got == wanted else f"{sql}: {got[:3]} instead of {wanted[:3]}"

        cases = [
            (sql, gold, question["ordered"])
            for question in questions
            for sql, gold in zip(question["gold_sql"], question["gold_rows"], strict=True)
        ]
        assert [failure for failure in several.map(differs, cases) if failure] == []
