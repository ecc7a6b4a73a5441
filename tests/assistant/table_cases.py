"""What is right of an answer from tables: the fixed cases of data/evals/tables.jsonl, and rows compared with gold rows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from offline_cases import Outcome

TABLE_TOOLS = frozenset({"query_table", "run_sql"})
_WIDEST = 8  # columns of a result that are tried in every order
_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d.,]*")


def is_right(case: Mapping[str, Any], outcome: Outcome) -> bool:
    """Whether the answer says every number (within the tolerance) and phrase; or, of a question for documents, asks no table."""
    expect = case["expect"]
    asked_tables = any(call.name in TABLE_TOOLS for call in outcome.calls)
    if expect.get("intent") == "search":
        return not asked_tables
    said = outcome.text.split("\nUnderstood:")[0].split("\nVerstanden:")[0]
    numbers = numbers_of(said, language=case["language"])
    near = all(any(math.isclose(each, number, rel_tol=expect["tolerance"]) for each in numbers) for number in expect["numbers"])
    return asked_tables and near and all(phrase in said for phrase in expect["phrases"])


def numbers_of(text: str, *, language: str) -> list[float]:
    """The numbers of a text, as its language writes them."""
    group, point = (".", ",") if language == "de" else (",", ".")
    found = []
    for match in _NUMBER.finditer(text):
        plain = match[0].rstrip(".,").replace(group, "").replace(point, ".")
        found += [float(plain)] if re.fullmatch(r"-?\d+(?:\.\d+)?", plain) else []
    return found


def same_rows(rows: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]]) -> bool:
    """Whether rows are the gold rows, in any order, once some of their columns are put in the gold's order.

    A result may hold columns beside those of the gold (a name beside the asked number), never other rows. Numbers are compared to
    four decimals. Two results without rows are the same.
    """
    if not rows or not gold:
        return not rows and not gold
    width = len(gold[0])
    if len(rows) != len(gold) or not width <= len(rows[0]) <= _WIDEST:
        return False
    wanted = _sorted([tuple(map(_comparable, row)) for row in gold])
    return any(
        _sorted([tuple(_comparable(row[place]) for place in places) for row in rows]) == wanted
        for places in permutations(range(len(rows[0])), width)
    )


def _sorted(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=repr)


def _comparable(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, int | float) else value
