"""A question over a database that nobody has seen works from the declarations alone: what its SQL needs stands in them."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from standin import StandIn

from assistant.messages import ToolCall
from assistant.table_tools import build_table_tools
from assistant.tools import Toolbox
from search import Filters, Library, upkeep

DATABASES = ["academic", "advising", "atis", "broker", "car_dealership", "derm_treatment"]
DATABASES += ["ewallet", "geography", "restaurants", "scholar", "yelp"]


def names(file: Path) -> set[str]:
    """The tables and columns of a database, in lower case."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as source:
        tables = [name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [row[1] for table in tables for row in source.execute(f'PRAGMA table_info("{table}")')]
    return {name.lower() for name in (*tables, *columns)}


@pytest.mark.evals
@pytest.mark.parametrize("database", DATABASES)
def test_declarations_hold_what_a_question_needs_and_its_sql_runs_as_a_call(database: str, evals: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    file = Path(shutil.copy(evals / "nl2sql" / f"defog_{database}.sqlite", folder))
    upkeep.index(tmp_path / "library.db", [folder], StandIn())
    with (evals / "nl2sql" / "questions.jsonl").open(encoding="utf-8") as lines:
        gold = [question["gold_sql"][0] for question in map(json.loads, lines) if question["db"] == f"defog_{database}"]
    with Library.open(tmp_path / "library.db", embedder=StandIn()) as library:
        toolbox = Toolbox(build_table_tools(library, Filters()))
        declared = {word.lower() for tool in toolbox.declarations() for word in re.findall(r"\w+", tool.description)}
        wanted = {word for sql in gold for word in re.findall(r"\w+", sql.lower())} & names(file)
        assert wanted - declared == set()
        ran = [toolbox.run(ToolCall(str(place), "run_sql", json.dumps({"sql": sql}))) for place, sql in enumerate(gold)]
    assert [call.result.content for call in ran if call.result.is_error] == []
