"""The tables of a library, and arithmetic, as tools: what a model may ask, and never more than the person's scope allows.

Numbers of an answer come from here. SQL runs in the library's sandbox, over the tables and documents of the scope alone. Each
result is evidence: its key can be cited, and the person is shown the SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NoReturn

from assistant import table_declarations as declaring
from assistant import table_results as showing
from assistant.calculating import calculate
from assistant.errors import ToolCallError, ToolError
from assistant.results import RESULT_BUDGET, compact
from assistant.tools import Evidence, Tool, ToolOutput
from assistant.wording import SHOWN, nearest, quoted
from search import Document, FilterError, Filters, Library, QueryError
from search.folding import folded
from search.tables.explaining import why_no_rows, why_no_values, why_nothing_passes
from search.tables.models import ResultSet, Table, Value
from search.tables.query import Aggregate, Filter, Order, TableQuery, table_named
from search.tables.statements import read_statement

_EVERYTHING = Filters()
_MAX_ROWS = 200
_SECONDS = 5.0
_MEANT = re.compile(r'got ("(?:[^"\\]|\\.)*"),.*; did you mean ("(?:[^"\\]|\\.)*")\?', re.DOTALL)
_OF_DOCUMENTS = frozenset({"documents", "document_tags", "passages"})
_WORD = re.compile(r"[^\W_]+")


def build_table_tools(
    library: Library, scope: Filters = _EVERYTHING, today: date | None = None, *, budget: int = RESULT_BUDGET
) -> tuple[Tool, ...]:
    """describe_tables, query_table, run_sql and calculate over a library; where no table is in the scope, the last two alone.

    Without tables run_sql still answers what filters cannot count: pages, sizes, tags of documents. scope: the person's own
    filters, which hold in every call. today: the day that phrases count from, each call's own when None. budget: characters of a
    result, as the toolbox has it. Raises FilterError for a scope that is not understood.
    """
    return TableTools(library, scope, today, budget=budget).tools()


class TableTools:
    """The table tools of one conversation. Safe to use from several threads."""

    def __init__(self, library: Library, scope: Filters, today: date | None, *, budget: int = RESULT_BUDGET) -> None:
        self._library = library
        self._scope = scope
        self._today = today
        self._budget = budget
        tables = self._tables()
        self._names = declaring.table_names(tables)
        self._declarations = declaring.declarations(tables, self._names)

    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order in which they are declared."""
        runs: dict[str, Callable[..., ToolOutput]] = {
            "describe_tables": self._describe,
            "query_table": self._query,
            "run_sql": self._sql,
            "calculate": self._calculate,
        }
        return tuple(
            Tool(name, declared.description, declared.parameters, partial(self._run, name, runs[name]))
            for name, declared in self._declarations.items()
        )

    def _run(self, name: str, do: Callable[..., ToolOutput], **arguments: Any) -> ToolOutput:
        """Run one tool; what the library refuses is said of the model's own argument."""
        given = {key: value for key, value in arguments.items() if value not in ("", [])}
        try:
            return do(**given)
        except (FilterError, QueryError) as error:
            self._refuse(name, given, error)

    def _refuse(self, name: str, given: Mapping[str, Any], error: FilterError | QueryError) -> NoReturn:
        """Raise an error that names the argument first; of a statement, which is no matter of arguments, a ToolError."""
        head, _, problem = str(error).partition(": ")
        hint = f" ({error.hint})" if error.hint and "--" not in error.hint else ""
        if name == "run_sql":
            argument = head if head in {"sql", "parameters"} else "sql"
            said = problem if head == argument else str(error)
            raise ToolError(f'"{argument}": {said}{hint}') from None
        if head not in self._declarations[name].parameters["properties"]:
            raise error
        elsewhere = self._elsewhere(given, problem) if name == "query_table" else ""
        right = self._corrected(name, given, head, problem)
        raise ToolCallError(
            f'bad arguments for {name}: "{head}": {problem}{hint}{elsewhere}; send JSON like {compact(right)}'
        ) from None

    def _corrected(self, name: str, given: Mapping[str, Any], argument: str, problem: str) -> dict[str, Any]:
        """The call with what was meant in place of what was sent, or one over the same table that is right."""
        meant = _MEANT.search(problem)
        written = compact(given.get(argument, ""))
        if meant and meant[1][1:-1] in written and "…" not in meant[1]:
            return dict(given) | {argument: _replaced(given[argument], meant[1][1:-1], meant[2][1:-1])}
        others = {key: value for key, value in given.items() if key != argument}
        if name != "query_table" or argument == "limit":
            return others | {argument: 50}
        tables = {table.name: table for table in self._tables()}
        table = tables.get(self._names.tables.real(str(given.get("table")))) or next(iter(tables.values()), None)
        return declaring.example_query(table, self._names) if table is not None and table.name in self._names.columns else others

    def _elsewhere(self, given: Mapping[str, Any], problem: str) -> str:
        """Which other tables have the column that this one lacks."""
        wanted = re.match(r'(?:column: )?got "((?:[^"\\]|\\.)*)", want one of', problem)
        if wanted is None or not given.get("table"):
            return ""
        column = folded(wanted[1])
        asked = self._names.tables.real(given["table"])
        having = [t.name for t in self._tables() if t.name != asked and column in {folded(c.name) for c in t.columns}]
        named = ", ".join(self._names.tables.label(name) for name in having[:5])
        return f"; {named} has {quoted(wanted[1])}: query that table, or join the two with run_sql" if having else ""

    # Describing

    def _describe(self, table: str | None = None, search: str | None = None) -> ToolOutput:
        tables = self._tables()
        if not tables:  # they are gone since this was declared
            return ToolOutput({"found": 0, "why": ["no file in reach holds a table any more"]}, "no table")
        if table is not None:
            tables = [table_named(self._names.tables.real(table), tables)]
        found = _matching(tables, search) if search is not None else list(tables)
        if not found:
            near = nearest(search or "", [name for each in tables for name in (each.name, *(c.name for c in each.columns))])
            why = [f"no table or column of {len(tables)} is called so" + (f"; near is {quoted(near)}" if near else "")]
            return ToolOutput({"found": 0, "why": why, "advice": "search for other words, or leave search out"}, "no table")
        names = declaring.table_names(found) if any(each.name not in self._names.columns for each in found) else self._names
        value = showing.of_tables(found, names, self._budget)
        return ToolOutput(value, f"{len(value['tables'])} of {len(found)} table{'s' if len(found) != 1 else ''}")

    # Querying

    def _query(
        self,
        table: str,
        columns: Sequence[str] = (),
        *,
        filters: Sequence[Mapping[str, Any]] = (),
        group_by: Sequence[str] = (),
        aggregates: Sequence[Mapping[str, Any]] = (),
        order_by: Sequence[Mapping[str, Any]] = (),
        limit: int = 50,
    ) -> ToolOutput:
        of = table_named(self._names.tables.real(table), self._tables())

        def real(wish: object) -> str:
            return self._names.real_column(of.name, str(wish))

        query = TableQuery(
            table=of.name,
            columns=tuple(map(real, columns)),
            filters=tuple(Filter(real(each["column"]), each["op"], _value(each.get("value"))) for each in filters),
            group_by=tuple(map(real, group_by)),
            aggregates=tuple(Aggregate(each["function"], real(each.get("column", "")), each.get("as", "")) for each in aggregates),
            order_by=tuple(Order(real(each["by"]), each.get("descending", False)) for each in order_by),
            limit=limit,
        )
        result = self._library.tables.query(query, self._scope, today=self._today)
        why = self._why_of_query(query, of, result)
        units = _units(query, of)
        if not result.rows:
            advice = "leave out or widen a filter; describe_tables shows values and ranges"
            return self._shown(result, [of], units, why=why, advice=advice)
        more = ("a higher limit, " if limit < _MAX_ROWS else "") + "filters or another order show others"
        return self._shown(result, [of], units, why=why, more=more)

    def _why_of_query(self, query: TableQuery, table: Table, result: ResultSet) -> list[str]:
        """Why there is nothing: no row, or one of aggregates that had nothing to take."""
        if result.rows and (query.group_by or not query.aggregates or any(cell not in (None, 0) for cell in result.rows[0])):
            return []
        counted = TableQuery(query.table, filters=query.filters, aggregates=(Aggregate("count"),))
        if result.rows and self._library.tables.query(counted, self._scope, today=self._today).rows[0][0]:
            return why_no_values(query, table) if None in result.rows[0] else []
        return why_nothing_passes(query, table, self._statement)

    def _sql(self, sql: str, parameters: Sequence[Value] = ()) -> ToolOutput:
        tables = self._tables()
        result = self._statement(self._real_names(sql), parameters, _MAX_ROWS)
        read = [table for table in tables if table.name in result.tables]
        units = {c.name: c.unit for table in read for c in table.columns if c.unit}
        if not result.rows:
            advice = "look at the values with describe_tables, or run parts of the statement alone"
            return self._shown(result, read, units, why=why_no_rows(result.sql, result.parameters, read), advice=advice)
        lacking = all(cell is None for row in result.rows for cell in row)
        why = ["there is no value", *why_no_rows(result.sql, result.parameters, read)[1:]] if lacking else []
        return self._shown(result, read, units, why=why, more=f"LIMIT {_MAX_ROWS} OFFSET {_MAX_ROWS} reads on, or group or filter")

    def _shown(
        self,
        result: ResultSet,
        tables: Sequence[Table],
        units: Mapping[str, str],
        *,
        why: Sequence[str] = (),
        more: str = "",
        advice: str = "",
    ) -> ToolOutput:
        """A result as the tool gives it back."""
        key = showing.key_of("sql", result.sql, result.parameters, result.rows)
        sources = self._documents(tables)
        stale = "; ".join(filter(None, (self._stale(document, several=len(sources) > 1) for document in sources))) or None
        told = {"why": why, "stale": stale or ""}
        if result.rows:
            value, rows = showing.of_rows(result, key=key, units=units, more=more, budget=self._budget, told=told)
        else:
            value, rows = showing.nothing(result, key=key, told=told, advice=advice), []
        made: Evidence = showing.evidence(result, key, rows, sources, stale)
        many = f"{len(rows)} of {result.total}" if len(rows) < result.total else str(len(rows))
        return ToolOutput(
            value,
            f"{many} row{'' if many == '1' else 's'}",
            (made,),
            {"sql": result.sql},
            counted=bool(_OF_DOCUMENTS & {*result.tables}),
        )

    def _calculate(self, expression: str) -> ToolOutput:
        found = calculate(expression)
        key = showing.key_of("calculate", expression, found)
        value, made = showing.of_calculation(key, expression, found)
        return ToolOutput(value, f"= {found}", (made,))

    # The library

    def _tables(self) -> list[Table]:
        return self._library.tables.describe(self._scope, today=self._today)

    def _statement(self, sql: str, parameters: Sequence[Value], rows: int) -> ResultSet:
        return self._library.tables.sql(sql, parameters, self._scope, today=self._today, max_rows=rows, seconds=_SECONDS)

    def _documents(self, tables: Sequence[Table]) -> list[Document]:
        """The documents that hold the tables, each once, in the order of the tables."""
        ids = dict.fromkeys(table.document_id for table in tables)
        if not ids:
            return []
        wanted = Filters(documents=frozenset(ids), within=self._scope)
        found = {d.id: d for d in self._library.filter_documents(wanted, limit=len(ids), today=self._today).items}
        return [found[each] for each in ids if each in found]

    def _stale(self, document: Document, *, several: bool) -> str | None:
        stale = self._library.stale(document)
        return f"{document.path} {stale}" if stale and several else stale

    def _real_names(self, sql: str) -> str:
        """The statement with the tables' own names where it has those that were declared for them."""
        meant: dict[str, set[str]] = {}
        for names in (self._names.tables, *self._names.columns.values()):
            for shown, real in names.meant.items():
                meant.setdefault(shown.casefold(), set()).add(real)
        changed = {shown: real for shown, (real, *others) in meant.items() if not others and real.casefold() != shown}
        if not changed:
            return sql
        pieces, end = [], 0
        for token in read_statement(sql).tokens:
            if token.kind in {"word", "name", "quoted"} and token.value.casefold() in changed:
                real = changed[token.value.casefold()]
                pieces += [sql[end : token.start], '"', real.replace('"', '""'), '"']
                end = token.start + len(token.text)
        return "".join([*pieces, sql[end:]])


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _replaced(value: Any, wrong: str, right: str) -> Any:
    """JSON with one text for another wherever it stands alone, or within the brackets of a period."""
    if isinstance(value, str):
        return right if value == wrong else value.replace(f"({wrong})", f"({right})")
    if isinstance(value, list):
        return [_replaced(member, wrong, right) for member in value]
    if isinstance(value, Mapping):
        return {key: _replaced(member, wrong, right) for key, member in value.items()}
    return value


def _units(query: TableQuery, table: Table) -> dict[str, str]:
    """The units of a query's result: those of columns, and of what is computed of them but for counts."""
    by_name = {folded(column.name): column.unit for column in table.columns if column.unit}
    units = {column.name: column.unit for column in table.columns if column.unit}
    for aggregate in query.aggregates:
        unit = by_name.get(folded(aggregate.column.strip()))
        if unit and not aggregate.function.casefold().startswith("count"):
            units[" ".join(aggregate.name.split()) or f"{aggregate.function.casefold()}_{aggregate.column.strip()}"] = unit
    return units


def _matching(tables: Sequence[Table], search: str) -> list[Table]:
    """The tables in whose names, columns, values and notes words stand, those with the most of them first, and so their columns."""
    words = [folded(word).removesuffix("s") for word in _WORD.findall(search[: SHOWN * 10])]

    def points(*about: str) -> int:
        text = folded(" ".join(about))
        return sum(word in text for word in words)

    found: list[tuple[int, Table]] = []
    for table in tables:
        of_columns = {c.name: points(c.name, c.header, c.comment, c.note, c.unit, *c.values) for c in table.columns}
        everything = (text for c in table.columns for text in (c.name, c.header, c.comment, c.note, c.unit, *c.values))
        of_table = points(table.name, table.path, table.label, *table.notes, *everything)
        if of_table:
            columns = sorted(table.columns, key=lambda column: -of_columns[column.name])
            found.append((of_table, replace(table, columns=tuple(columns))))
    return [table for _, table in sorted(found, key=lambda pair: -pair[0])]


__all__ = ["TableTools", "build_table_tools"]
