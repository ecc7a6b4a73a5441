"""Questions over SQLite databases with gold rows: each database alone in a library, the rows of the last query compared.

A folder holds questions.jsonl with {id, db, question, gold_rows} and a file DB.sqlite for each database named. An answer is right
when its rows are those of one of the gold results, in any order, further columns aside.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice, product
from pathlib import Path
from typing import Any

from assistant.backends.base import Backend
from assistant.conversation import Conversation, Turn
from assistant.errors import UserError
from assistant.evaluation import asking, scoring
from assistant.evaluation.cases import TABLE_TOOLS, Case, Expected
from assistant.evaluation.outside.lines import rows
from assistant.evaluation.runs import Result
from assistant.loop import Limits
from search import Library, QueryError

_MOST_ROWS = 10_000
_MOST_ORDERS = 10_000  # of columns that are tried


class Databases:
    """The questions of a folder. open_library: gives the library that holds one database file alone. local_only: what no model
    elsewhere is given.
    """

    def __init__(
        self,
        folder: Path,
        open_library: Callable[[Path], Library],
        today: date,
        first: int | None = None,
        *,
        local_only: Sequence[str] = (),
    ) -> None:
        self._folder = folder
        self._local_only = local_only
        self._open = open_library
        self._opened: dict[str, Library] = {}
        self._lock = threading.Lock()
        self._database: dict[str, str] = {}
        self._gold: dict[str, list[list[list[Any]]]] = {}
        self.cases: Sequence[Case] = self._read(today)[:first]

    def _read(self, today: date) -> list[Case]:
        cases = []
        path = self._folder / "questions.jsonl"
        for number, row in rows(path, "id", "db", "question", "gold_rows"):
            name = str(row["db"])
            if "/" in name or not (self._folder / f"{name}.sqlite").is_file():
                raise UserError(f"{path}:{number}: no database {name[:80]!r} beside it", f"want {self._folder}/{name[:80]}.sqlite")
            question = " ".join(filter(None, (str(row["question"]), row.get("instructions"))))
            given = {"id": str(row["id"]), "question": question, "kind": name}
            self._database[given["id"]], self._gold[given["id"]] = name, row["gold_rows"]
            expect = Expected(tools=(("|".join(TABLE_TOOLS),), ("describe_tables", "|".join(TABLE_TOOLS))))
            cases.append(Case(given["id"], question, name, "en", today, expect=expect, given=given))
        if not cases:
            raise UserError(f"{path}: holds no question")
        return cases

    def library(self, case: Case) -> Library:
        """The library of the case's database, indexed when it is asked for first."""
        name = self._database[case.id]
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open(self._folder / f"{name}.sqlite")
            return self._opened[name]

    def tokens(self, case: Case) -> int:
        """As a library's first request."""
        return asking.LibraryQuestions(self.library(case), [case], case.today or date.today()).tokens(case)  # noqa: DTZ011 - local

    def put(self, case: Case, backend: Backend, limits: Limits) -> Result:
        """Ask, and compare the rows of the last query that ran with each gold result. Raises ProviderError, UserError."""
        library = self.library(case)
        talk = Conversation(library, backend, limits=limits, today=case.today, local_only=self._local_only)
        turn = asking.asked(talk, case.question)
        found = last_rows(library, turn)
        gold = self._gold[case.id]
        right = float(found is not None and any(same_rows(found, one) for one in gold))
        result = asking.result_of(case, turn, scoring.score(case, turn) | {"answer": right})
        return replace(result, expected={"rows": gold[:3]})

    def close(self) -> None:
        """Close the libraries."""
        for library in self._opened.values():
            library.close()


def last_rows(library: Library, turn: Turn) -> list[tuple[Any, ...]] | None:
    """All rows of the last query of a turn that ran, () where it found none; None without one."""
    for call in reversed(turn.calls):
        output = call.ran.output
        if call.call.name not in TABLE_TOOLS or output is None:
            continue
        queries = [one for one in output.evidence if one.sql]
        if not queries:
            return []
        try:
            return list(library.tables.sql(queries[-1].sql, list(queries[-1].parameters), max_rows=_MOST_ROWS).rows)
        except QueryError:
            return None
    return None


def same_rows(rows: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]]) -> bool:
    """Whether rows are the gold rows, in any order, once some of their columns are put in the gold's order.

    A result may hold columns beside those of the gold (a name beside the asked number), never other rows. Numbers are compared to
    four decimals. Two results without rows are the same.
    """
    if not rows or not gold:
        return not rows and not gold
    if len(rows) != len(gold):
        return False
    have = [tuple(map(_comparable, row)) for row in rows]
    want = Counter(tuple(map(_comparable, row)) for row in gold)
    columns = [Counter(column) for column in zip(*have, strict=True)]
    wanted = [Counter(column) for column in zip(*want.elements(), strict=True)]
    fitting = [[place for place, column in enumerate(columns) if column == one] for one in wanted]
    orders = (order for order in islice(product(*fitting), _MOST_ORDERS) if len(set(order)) == len(order))
    return any(Counter(tuple(row[place] for place in order) for row in have) == want for order in orders)


def _comparable(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, int | float) else value
