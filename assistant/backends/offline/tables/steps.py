"""From a Reading to the calls that answer it: query_table where one table suffices, run_sql for a join, two for a chain.

In: a Reading, a Schema, the results so far. Out: the name of a tool and its arguments. Values are bound or are arguments of the
tool; names come from the catalogue and are quoted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.backends.offline.tables.models import Condition, Group, Measure, Reading
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.writing import sql_of

MOST_ROWS = 200
SHOWN = 50
_TIES = 5  # further rows that are looked at for equals of the first one

Call = tuple[str, dict[str, Any]]


def call_for(reading: Reading, schema: Schema, results: Sequence[Mapping[str, Any]]) -> Call | None:
    """The next call of a Reading, given the results of those before; None when all were made, or nothing was found to go on.

    A chain has two; a third where the mean of all rows is not that of the things' own means.
    """
    if reading.over is None:
        return _call(reading, schema) if not results else None
    if not results:
        inner = reading.over
        return _call(inner, schema, exact=True)
    if len(results) > (2 if is_uneven(reading, schema) else 1):
        return None
    keys = keys_of(reading, results[0])
    if not keys:
        return None
    assert reading.link is not None
    condition = Condition(reading.link[1], "in", keys)
    found = replace(reading, over=None, conditions=(*reading.conditions, condition))
    if len(results) > 1:
        found = replace(found, measures=reading.measures[:1], groups=(Group(reading.link[1]),), spread=True)
    return _call(found, schema)


def is_uneven(reading: Reading, schema: Schema) -> bool:
    """Whether things may count more than once in the mean of a chain: then that of their own means is asked for as well."""
    if reading.over is None or reading.link is None or len(reading.measures) != 1 or reading.groups:
        return False
    return reading.measures[0].function == "avg" and not schema.is_unique(reading.link[1])


def keys_of(reading: Reading, result: Mapping[str, Any]) -> tuple[str | int | float, ...]:
    """The values that the second call of a chain goes on with."""
    columns, rows = result.get("columns"), result.get("rows")
    if reading.link is None or not isinstance(columns, list) or not isinstance(rows, list):
        return ()
    name = reading.link[0].column
    if name not in columns:
        return ()
    place = columns.index(name)
    return tuple(row[place] for row in rows if isinstance(row[place], str | int | float))


def wanted_rows(reading: Reading) -> int:
    """How many rows a call asks for: beside a single best one those that may equal it."""
    limit = reading.ranking.limit if reading.ranking else 0
    return min(limit + _TIES if limit == 1 else limit, MOST_ROWS) if limit else SHOWN


def _call(reading: Reading, schema: Schema, *, exact: bool = False) -> Call | None:
    limit = (reading.ranking.limit if exact and reading.ranking else 0) or wanted_rows(reading)
    if fits_one_table(reading):
        return "query_table", _arguments(reading, limit)
    written = sql_of(reading, schema, limit=limit)
    if written is None:
        return None
    sql, parameters = written
    return "run_sql", {"sql": sql, **({"parameters": list(parameters)} if parameters else {})}


def fits_one_table(reading: Reading) -> bool:
    """Whether query_table can say it."""
    return len(reading.tables) == 1 and not reading.having and not reading.without and not reading.spread and not reading.ratio


def _arguments(reading: Reading, limit: int) -> dict[str, Any]:
    """The arguments of query_table."""
    measures = [measure for measure in reading.measures if measure.function]
    plain = not measures and not reading.groups
    arguments: dict[str, Any] = {"table": reading.table}
    if plain and reading.select:
        arguments["columns"] = _names(reading.select)
    if reading.conditions:
        arguments["filters"] = [_filter(condition) for condition in reading.conditions]
    if reading.groups:
        arguments["group_by"] = [group.name for group in reading.groups]
    if measures:
        arguments["aggregates"] = [_aggregate(measure) for measure in measures]
    if reading.ranking:
        by = reading.ranking.by
        arguments["order_by"] = [{"by": by.name, "descending": reading.ranking.high}]
    if reading.ranking or reading.groups or plain:
        arguments["limit"] = limit
    return arguments


def _names(refs: Sequence[Ref]) -> list[str]:
    return list(dict.fromkeys(ref.column for ref in refs))


def _filter(condition: Condition) -> dict[str, Any]:
    value = list(condition.value) if isinstance(condition.value, tuple) else condition.value
    return {"column": condition.ref.column, "op": condition.op, **({"value": value} if value is not None else {})}


def _aggregate(measure: Measure) -> dict[str, Any]:
    column = {"column": measure.ref.column} if measure.ref else {}
    return {"function": measure.function, **column, "as": measure.name}
