"""Tables: the one door to the tables of a library, reached as `library.tables`.

    for table in library.tables.describe():
        print(table.name, table.rows)
    result = library.tables.sql("SELECT path FROM documents WHERE date >= ?", ["2026-01-01"], Filters(category=("runbooks",)))

The filters are the scope: rows of `documents`, `document_tags` and `passages` outside it do not exist for a statement, nor do the
tables of a file outside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, cast

from search.filters import compile_filters
from search.models import Filters
from search.tables import catalogue, sandbox
from search.tables.models import ResultSet, Table

if TYPE_CHECKING:
    from search.tables.query import TableQuery

_NO_FILTERS = Filters()


class Tables:
    """The tables of an open library. Safe to use from several threads; statements run side by side."""

    def __init__(self, path: Path, connection: sqlite3.Connection, snapshot: Callable[[], AbstractContextManager[None]]) -> None:
        self._path = path
        self._connection = connection
        self._snapshot = snapshot

    def describe(self, filters: Filters = _NO_FILTERS, *, today: date | None = None) -> list[Table]:
        """The tables whose document passes the filters, with their columns. Raises FilterError."""
        with self._snapshot():
            return catalogue.read_tables(self._connection, allowed_sql=compile_filters(filters, today=today).select)

    def sql(
        self,
        text: str,
        parameters: sandbox.Given = (),
        filters: Filters = _NO_FILTERS,
        *,
        today: date | None = None,
        max_rows: int = 200,
        seconds: float = 5.0,
    ) -> ResultSet:
        """Run one SELECT over the imported tables, `documents`, `document_tags` and `passages`; see `search.tables.sandbox.run`.

        Raises QueryError for a statement that is refused or wrong, QueryLimitError for one that is stopped, FilterError.
        """
        with self._snapshot():
            scope = compile_filters(filters, today=today).select
            tables = catalogue.read_tables(self._connection, allowed_sql=scope)
        columns = {table.name: [column.name for column in table.columns] for table in tables}
        return sandbox.run(self._path, text, parameters, tables=columns, scope=scope, max_rows=max_rows, seconds=seconds)

    def query(self, query: TableQuery, filters: Filters = _NO_FILTERS, *, today: date | None = None) -> ResultSet:
        """Run a query that is given by its parts; the total is that without its limit. Raises QueryError for what does not fit."""
        from search.tables.query import compiled, counting, table_named

        table = table_named(query.table, self.describe(filters, today=today))
        sql, parameters = compiled(query, table)
        result = self.sql(sql, parameters, filters, today=today, max_rows=query.limit)
        if result.total < query.limit:
            return result
        counted = self.sql(*counting(query, table), filters, today=today)
        return replace(result, total=cast(int, counted.rows[0][0]), seconds=result.seconds + counted.seconds)
