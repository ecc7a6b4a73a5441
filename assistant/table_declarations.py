"""How the table tools are declared to a model: what each is for, its arguments, and the tables with their columns and types.

The names come from files of the library: they are cut to 40 harmless characters, and no cell of any table stands here. Of many
tables as many are written out as a budget holds, of the others the names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.messages import Declaration
from assistant.results import compact
from assistant.search_declarations import MAX_LISTED, Names, harmless
from search.tables.conditions import OPERATORS
from search.tables.joins import is_like_a_key, joins
from search.tables.models import Column, Table
from search.tables.periods import PERIODS
from search.tables.query import FUNCTIONS, MAX_LIMIT

SCHEMA_BUDGET = 4000  # characters
_VIEWS = (
    "documents(id, path, title, format, category, author, language, created, modified, date, size, pages), "
    "document_tags(document_id, tag), passages(document_id, ordinal, headings, page, text, tokens)"
)
_SHORT_TYPES = {"text": "", "integer": " int", "boolean": " bool"}
_WORD = re.compile(r"[^\W\d]\w*")
# Numbers whose mean tells nothing.
_NO_MEASURE = re.compile(r"(?:^|_)(?:is|has)_|(?:^|_)(?:year|month|day|lat|lon|latitude|longitude|rank|version|zip|phone)(?:_|$)")
_SCALARS = ["string", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class TableNames:
    """The names of tables and, by a table's real name, of its columns, as they are declared."""

    tables: Names
    columns: Mapping[str, Names]

    def real_column(self, table: str, wish: str) -> str:
        """What a declared column, or a period of one, stands for in a table; anything else as it is."""
        names = self.columns.get(table)
        if names is None:
            return wish
        period, bracket, rest = wish.partition("(")
        if bracket and rest.endswith(")") and wish not in names.meant:
            return f"{period}({names.real(rest[:-1])})"
        return names.real(wish)


def table_names(tables: Sequence[Table]) -> TableNames:
    """The names under which tables and columns are declared."""
    columns = {table.name: harmless(column.name for column in table.columns) for table in tables}
    return TableNames(harmless(table.name for table in tables), columns)


def declarations(tables: Sequence[Table], names: TableNames) -> dict[str, Declaration]:
    """The tools by name, in the order in which they are declared. Without tables there are those that need none."""
    found = [_sql(tables, names), _calculation()]
    if tables:
        found = [_description(tables, names), _query(tables, names), *found]
    return {declaration.name: declaration for declaration in found}


def schema_text(tables: Sequence[Table], names: TableNames, budget: int = SCHEMA_BUDGET) -> str:
    """The tables with their columns and types, one a line, then the columns that tables share; at most `budget` characters."""
    lines = [_written(table, names) for table in tables]
    shared = _shared_text(tables, names, budget // 7)
    room = budget - len(shared) - 1
    if sum(map(len, lines)) + len(lines) <= room:
        return "\n".join([*lines, *([shared] if shared else [])])
    rest = [names.tables.label(table.name) for table in tables]
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size + len(_rest_text(rest[len(kept) + 1 :], len(tables), budget // 4)) > room - 1:
            break
        kept.append(line)
    return "\n".join([*kept, *([shared] if shared else []), _rest_text(rest[len(kept) :], len(tables), budget // 4)])


def example_query(table: Table, names: TableNames) -> dict[str, Any]:
    """A query_table of a table that groups and orders, where its columns allow it; it holds no value of a cell."""
    columns = names.columns[table.name]
    group = _group(table) or next((c for c in _of_types(table, "text", "boolean") if c.distinct != 1), None)
    call: dict[str, Any] = {"table": names.tables.label(table.name)}
    if group is not None:
        call["group_by"] = [columns.label(group.name)]
    else:
        dated = next(iter(_of_types(table, "date", "datetime")), None)
        call |= {"group_by": [f"month({columns.label(dated.name)})"]} if dated else {}
    measure = _measure(table)
    if measure is None:
        aggregate = {"function": "count", "as": "rows"}
    else:
        aggregate = {"function": "avg", "column": columns.label(measure.name), "as": "mean"}
    return call | {"aggregates": [aggregate], "order_by": [{"by": aggregate["as"], "descending": True}], "limit": 5}


def _written(table: Table, names: TableNames) -> str:
    columns = names.columns[table.name]
    listed = ", ".join(
        f"{_quoted(columns.label(column.name))}{_SHORT_TYPES.get(column.type, f' {column.type}')}" for column in table.columns
    )
    return f"{_quoted(names.tables.label(table.name))}({listed})"


def _rest_text(rest: Sequence[str], total: int, budget: int) -> str:
    """The names of tables that are not written out, as many as a budget holds."""
    if not rest:
        return ""
    named = ""
    for count, name in enumerate(rest):
        if len(named) + len(name) + 2 > budget:
            named += f" and {len(rest) - count} more"
            break
        named += f"{', ' if named else ''}{name}"
    return f"Without columns here: {named}. describe_tables lists all {total}."


def _quoted(name: str) -> str:
    return name if _WORD.fullmatch(name) else f'"{name}"'


def _shared_text(tables: Sequence[Table], names: TableNames, budget: int) -> str:
    """Columns that tables share, as they are written in a join."""
    shared: dict[tuple[str, str], list[str]] = {}
    for table, column, other, other_column in joins(tables):
        place = f"{_quoted(names.tables.label(other))}.{_quoted(names.columns[other].label(other_column))}"
        shared.setdefault((table, column), []).append(place)
    text = ""
    for (table, column), others in shared.items():
        key = f"{_quoted(names.tables.label(table))}.{_quoted(names.columns[table].label(column))}"
        join = " = ".join([key, *others])
        if len(text) + len(join) > budget:
            break
        text += f"{'; ' if text else 'Joins: '}{join}"
    return text


# The four tools


def _description(tables: Sequence[Table], names: TableNames) -> Declaration:
    some = names.tables.label(tables[0].name)
    properties = {
        "table": _table(names, some),
        "search": _text("Words of table or column names", names.columns[tables[0].name].shown[0]),
    }
    return _declared(
        "describe_tables",
        "Describe tables: source, rows, columns with units, ranges, short lists of values: for finding a table, a column, or a "
        "spelling.",
        [{"table": some}, {"search": "price per month"}],
        properties,
        [],
    )


def _query(tables: Sequence[Table], names: TableNames) -> Declaration:
    table = max(tables, key=lambda each: 2 * (_measure(each) is not None) + (_group(each) is not None))
    columns = names.columns[table.name]
    some = columns.shown[0]
    grouping = example_query(table, names)
    periods = ", ".join(f"{period}(c)" for period in PERIODS)
    condition, listing = _example_condition(table, names)
    function = _object(
        {
            "function": _enum("What to compute", FUNCTIONS, "avg"),
            "column": _text("Of which column; count without one counts rows", some),
            "as": {**_text("Name of the result's column", "mean"), "maxLength": 80},
        },
        ["function"],
    )
    filtering = _object(
        {
            "column": _text("Column", some),
            "op": _enum("How to compare", OPERATORS, "="),
            "value": {
                "type": [*_SCALARS, "array"],
                "items": {"type": _SCALARS},
                "description": 'A list with in, two ends with between; "2026-03" is all of March, e.g. 100',
            },
        },
        ["column", "op"],
    )
    ordering = _object(
        {
            "by": _text("A column, a group or an aggregate's name", some),
            "descending": {"type": "boolean", "description": "Highest first, e.g. true"},
        },
        ["by"],
    )
    properties = {
        "table": _table(names, grouping["table"]),
        "columns": _list("Columns to show, all if left out", {"type": "string"}, [some], most=100),
        "filters": _list("Conditions; all must hold", filtering, [condition]),
        "group_by": _list("A result row for each value", {"type": "string"}, grouping.get("group_by", [some])),
        "aggregates": _list("Numbers for each group, or for all rows", function, grouping["aggregates"]),
        "order_by": _list("Order", ordering, grouping["order_by"]),
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "How many rows, 50 if left out, e.g. 5"},
    }
    purpose = (
        "List, count, sum or average the rows of one table: the first choice for numbers. "
        f"group_by takes columns, and of dates {periods}."
    )
    schema = f"Tables (a column without a type is text):\n{schema_text(tables, names)}"
    return _declared("query_table", purpose, [grouping, listing], properties, ["table"], after=schema)


def _example_condition(table: Table, names: TableNames) -> tuple[dict[str, Any], dict[str, Any]]:
    """A condition, and a query that has it; the values are made up."""
    columns = names.columns[table.name]
    measure = _measure(table)
    dated = next(iter(_of_types(table, "date", "datetime")), None)
    if measure is not None:
        condition: dict[str, Any] = {"column": columns.label(measure.name), "op": ">", "value": 100}
    elif dated is not None:
        condition = {"column": columns.label(dated.name), "op": ">=", "value": "2026-01"}
    else:
        condition = {"column": columns.shown[0], "op": "is not null"}
    return condition, {"table": names.tables.label(table.name), "filters": [condition], "limit": 10}


def _sql(tables: Sequence[Table], names: TableNames) -> Declaration:
    documents: dict[str, Any] = {
        "sql": "SELECT category, COUNT(*) AS files, SUM(size) AS bytes FROM documents WHERE date >= ? GROUP BY category",
        "parameters": ["2026-01-01"],
    }
    example = next(_joins(tables, names), _selection(tables, names) or documents)
    calls = [example, documents] if example != documents else [documents, {"sql": "SELECT AVG(pages) FROM documents"}]
    over = "the tables of query_table and over " if tables else ""
    return _declared(
        "run_sql",
        f"Run one SELECT in SQLite's dialect over {over}{_VIEWS}: for joins, subqueries, windows. Values go into parameters.",
        calls,
        {
            "sql": {**_text("One SELECT, ? for each value", calls[0]["sql"]), "minLength": 1, "maxLength": 20_000},
            "parameters": _list("Values for the ?, in order", {"type": _SCALARS}, [100], most=100),
        },
        ["sql"],
    )


def _joins(tables: Sequence[Table], names: TableNames) -> Iterator[dict[str, Any]]:
    """Joins of two tables on a column that they share, with a parameter."""
    by_name = {table.name: table for table in tables}
    for table, column, other, other_column in joins(tables):
        for many, key, one, one_key in ((other, other_column, table, column), (table, column, other, other_column)):
            measure, text = _measure(by_name[many]), _text_beside(by_name[one], one_key)
            if measure is None or measure.name == key:
                continue
            label, value = (names.columns[one].label(text), names.columns[many].label(measure.name))
            sql = (
                f"SELECT a.{_quoted(label)}, AVG(b.{_quoted(value)}) AS mean FROM {_quoted(names.tables.label(one))} a "
                f"JOIN {_quoted(names.tables.label(many))} b ON b.{_quoted(names.columns[many].label(key))} = "
                f"a.{_quoted(names.columns[one].label(one_key))} WHERE b.{_quoted(value)} > ? GROUP BY 1 ORDER BY mean DESC LIMIT 5"
            )
            yield {"sql": sql, "parameters": [100]}


def _selection(tables: Sequence[Table], names: TableNames) -> dict[str, Any] | None:
    """A statement over one table with a column of numbers."""
    table = next((table for table in tables if _measure(table)), None)
    measure = _measure(table) if table else None
    if table is None or measure is None:
        return None
    value = _quoted(names.columns[table.name].label(measure.name))
    sql = f"SELECT COUNT(*) AS many, AVG({value}) AS mean FROM {_quoted(names.tables.label(table.name))} WHERE {value} > ?"
    return {"sql": sql, "parameters": [100]}


def _calculation() -> Declaration:
    expression = _text("+ - * / // % ** ( ) min max sum avg round abs sqrt", "(129 + 87.5) / 2")
    return _declared(
        "calculate",
        "Calculate exactly with numbers from results: for every sum, mean, difference, share; never do it in your head.",
        [{"expression": "(129 + 87.5) / 2"}, {"expression": "round(18 / 240 * 100, 1)"}],
        {"expression": {**expression, "minLength": 1, "maxLength": 1000}},
        ["expression"],
    )


def _of_types(table: Table, *types: str) -> list[Column]:
    return [column for column in table.columns if column.type in types]


def _group(table: Table) -> Column | None:
    """A column of text that puts rows into groups, the fewer the better."""
    grouping = [column for column in _of_types(table, "text") if 1 < column.distinct < table.rows]
    return min(grouping, key=lambda column: column.distinct, default=None)


def _measure(table: Table) -> Column | None:
    """A column of numbers that are worth a mean: one with fractions, if there is any."""
    numbers = [c for c in _of_types(table, "real", "integer") if not is_like_a_key(c) and not _NO_MEASURE.search(c.name.casefold())]
    return next((column for column in numbers if column.type == "real"), next(iter(numbers), None))


def _text_beside(table: Table, key: str) -> str:
    """A column of text to show in place of a key, the key without one."""
    texts = [column for column in _of_types(table, "text") if column.name != key and column.distinct != 1]
    return next((column.name for column in texts if not is_like_a_key(column)), key)


def _declared(
    name: str, purpose: str, calls: list[dict[str, Any]], properties: Mapping[str, Any], required: list[str], *, after: str = ""
) -> Declaration:
    worked = " ".join(map(compact, calls))
    schema = _object(properties, required)
    return Declaration(name, f"{purpose} E.g. {worked}" + (f"\n{after}" if after else ""), schema)


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), **({"required": required} if required else {})}


def _table(names: TableNames, example: str) -> dict[str, Any]:
    if len(names.tables.shown) <= MAX_LISTED:
        return _enum("Which table", names.tables.shown, example)
    return _text("Which table", example)


def _text(purpose: str, example: str) -> dict[str, Any]:
    return {"type": "string", "description": _described(purpose, example)}


def _enum(purpose: str, values: Sequence[str], example: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "description": _described(purpose, example)}


def _list(purpose: str, items: Mapping[str, Any], example: list[Any], *, most: int = 20) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "maxItems": most, "description": _described(purpose, example)}


def _described(purpose: str, example: object) -> str:
    return f"{purpose}, e.g. {json.dumps(example, ensure_ascii=False)}"


__all__ = ["SCHEMA_BUDGET", "TableNames", "declarations", "example_query", "schema_text", "table_names"]
