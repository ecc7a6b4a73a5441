"""A Reading as one SELECT over joined tables, with its parameters.

In: a Reading, a Schema. Out: SQL whose names are the catalogue's, quoted, and whose values are all bound. Rows of the table that is
asked about are counted once, however many rows of another they meet.
"""

from __future__ import annotations

from assistant.backends.offline.tables.models import Condition, Group, Measure, Reading, Scalar
from assistant.backends.offline.tables.schema import Join, Ref, Schema

_PERIODS = {
    "year": "CAST(strftime('%Y', {0}) AS INTEGER)",
    "month": "strftime('%Y-%m', {0})",
    "week": "strftime('%Y-%W', {0})",
    "day": "date({0})",
    "hour": "CAST(strftime('%H', {0}) AS INTEGER)",
    "weekday": "CAST(strftime('%w', {0}) AS INTEGER)",
    "quarter": "strftime('%Y', {0}) || '-Q' || ((CAST(strftime('%m', {0}) AS INTEGER) + 2) / 3)",
}
_SIMPLE = frozenset({"=", "!=", "<", "<=", ">", ">="})


def sql_of(reading: Reading, schema: Schema, *, limit: int) -> tuple[str, tuple[Scalar, ...]] | None:
    """The SELECT; None where no columns connect the tables."""
    tables = list(reading.tables)
    path = schema.path(tables)
    if path is None:
        return None
    writer = _Writer(reading, schema, path)
    return writer.written(limit)


class _Writer:
    """Writes one Reading."""

    def __init__(self, reading: Reading, schema: Schema, path: list[Join]) -> None:
        self.reading, self.schema, self.path = reading, schema, path
        self.parameters: list[Scalar] = []

    def written(self, limit: int) -> tuple[str, tuple[Scalar, ...]] | None:
        reading = self.reading
        if reading.ratio:
            return self._ratio(limit)
        measures = [measure for measure in reading.measures if measure.function]
        ranked = reading.ranking.by if reading.ranking else None
        if isinstance(ranked, Measure) and ranked.function and ranked not in measures:
            measures.append(ranked)
        medians = [measure for measure in measures if measure.function == "median"]
        if medians:
            return self._median(medians[0]) if len(measures) == 1 and not reading.groups else None
        columns = [
            f"{self._group(group)} AS {_quoted(group.name)}" if group.unit else self._ref(group.ref) for group in reading.groups
        ]
        columns += [f"{self._measure(measure)} AS {_quoted(measure.name)}" for measure in measures]
        if not measures and not reading.groups:
            columns = [self._ref(ref) for ref in dict.fromkeys(reading.select)]
        distinct = "DISTINCT " if not measures and not reading.groups and self.path else ""
        sql = f"SELECT {distinct}{', '.join(columns)} FROM {self._from()}{self._where()}"
        if reading.groups:
            sql += f" GROUP BY {', '.join(self._group(group) for group in reading.groups)}"
        if reading.having:
            sql += f" HAVING {' AND '.join(self._having(*test) for test in reading.having)}"
        if reading.spread:
            inner = _quoted(measures[0].name)
            return f"SELECT AVG({inner}) AS {_quoted('avg_' + measures[0].name)} FROM ({sql})", tuple(self.parameters)
        sql += self._order(measures)
        bounded = reading.ranking or reading.groups or not measures
        return f"{sql} LIMIT {limit}" if bounded else sql, tuple(self.parameters)

    def _ratio(self, limit: int) -> tuple[str, tuple[Scalar, ...]]:
        """One measure over another: of every row, of groups, or of two tables that need not be joined."""
        reading = self.reading
        one, other = reading.measures
        rows = not one.function
        if one.table != other.table and not reading.groups and not reading.conditions:
            parts = [f"(SELECT {self._measure(each, alone=True)} FROM {_quoted(each.table)})" for each in (one, other)]
            return f"SELECT CAST({parts[0]} AS REAL) / NULLIF({parts[1]}, 0) AS ratio", ()
        columns = [
            f"{self._group(group)} AS {_quoted(group.name)}" if group.unit else self._ref(group.ref) for group in reading.groups
        ]
        columns += [f"{self._measure(each)} AS {_quoted(each.name)}" for each in (one, other)]
        columns.append(f"CAST({self._measure(one)} AS REAL) / NULLIF({self._measure(other)}, 0) AS ratio")
        sql = f"SELECT {', '.join(columns)} FROM {self._from()}{self._where()}"
        if reading.groups and not rows:
            sql += f" GROUP BY {', '.join(self._group(group) for group in reading.groups)}"
        return f"{sql} LIMIT {limit}" if reading.groups else sql, tuple(self.parameters)

    def _median(self, measure: Measure) -> tuple[str, tuple[Scalar, ...]]:
        """The median of all rows: SQLite has no such function."""
        assert measure.ref is not None
        value = self._ref(measure.ref)
        ranked = (
            f"SELECT {value} AS value, ROW_NUMBER() OVER (ORDER BY {value}) AS place, COUNT(*) OVER () AS many"
            f" FROM {self._from()}{self._where([f'{value} IS NOT NULL'])}"
        )
        return (
            f"SELECT AVG(value) AS {_quoted(measure.name)} FROM ({ranked}) WHERE place IN ((many + 1) / 2, (many + 2) / 2)",
            tuple(self.parameters),
        )

    def _from(self) -> str:
        sql = _quoted(self.reading.table)
        for join in self.path:
            sql += f" JOIN {_quoted(join.right.table)} ON {self._ref(join.left)} = {self._ref(join.right)}"
        return sql

    def _where(self, also: list[str] | None = None) -> str:
        tests = [self._test(condition) for condition in self.reading.conditions] + (also or [])
        for table in self.reading.without:
            path = self.schema.path([self.reading.table, table]) or []
            if path:
                first, *rest = path
                source = _quoted(first.right.table) + "".join(
                    f" JOIN {_quoted(join.right.table)} ON {self._ref(join.left)} = {self._ref(join.right)}" for join in rest
                )
                tests.append(f"NOT EXISTS (SELECT 1 FROM {source} WHERE {self._ref(first.left)} = {self._ref(first.right)})")
        return f" WHERE {' AND '.join(tests)}" if tests else ""

    def _test(self, condition: Condition) -> str:
        column, value = self._ref(condition.ref), condition.value
        if condition.op in {"is null", "is not null"}:
            return f"{column} {condition.op.upper()}"
        if isinstance(value, tuple):
            self.parameters += value
            if condition.op == "between":
                return f"{column} BETWEEN ? AND ?"
            return f"{column} {condition.op.upper()} ({', '.join('?' * len(value))})"
        assert value is not None
        if condition.op in _SIMPLE:
            self.parameters.append(value)
            return f"{column} {condition.op} ?"
        escaped = str(value).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        self.parameters.append(f"{escaped}%" if condition.op == "starts with" else f"%{escaped}%")
        return f"{column} LIKE ? ESCAPE '\\'"

    def _order(self, measures: list[Measure]) -> str:
        ranking = self.reading.ranking
        if ranking is None:
            return ""
        by = ranking.by
        if isinstance(by, Measure):
            term = _quoted(by.name) if by in measures else self._ref(by.ref) if by.ref else "1"
        else:
            term = self._group(by)
        return f" ORDER BY {term} {'DESC' if ranking.high else 'ASC'} NULLS LAST"

    def _group(self, group: Group) -> str:
        return _PERIODS[group.unit].format(self._ref(group.ref)) if group.unit else self._ref(group.ref)

    def _having(self, measure: Measure, operator: str, value: Scalar) -> str:
        self.parameters.append(value)
        return f"{self._measure(measure)} {operator} ?"

    def _measure(self, measure: Measure, *, alone: bool = False) -> str:
        if measure.ref is None:
            return "COUNT(*)" if alone else self._counted(measure.table)
        column = self._ref(measure.ref)
        if measure.function == "count_distinct":
            return f"COUNT(DISTINCT {column})"
        return f"{measure.function.upper()}({column})" if measure.function else column

    def _counted(self, table: str) -> str:
        """Rows of a table, each once where it may meet several of another."""
        key = self.schema.key(table)
        if key and self.schema.is_unique(key) and self._meets_many(table):
            return f"COUNT(DISTINCT {self._ref(key)})"
        return "COUNT(*)"

    def _meets_many(self, table: str) -> bool:
        """Whether a join leads from a table to one in which the connecting values repeat."""
        reached, open_ = {table}, [table]
        while open_:
            here = open_.pop()
            for join in self.path:
                for near, far in ((join.left, join.right), (join.right, join.left)):
                    if near.table == here and far.table not in reached:
                        if not self.schema.is_unique(far):
                            return True
                        reached.add(far.table)
                        open_.append(far.table)
        return False

    def _ref(self, ref: Ref) -> str:
        return f"{_quoted(ref.table)}.{_quoted(ref.column)}"


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
