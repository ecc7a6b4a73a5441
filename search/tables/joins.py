"""What tables can be joined on, told from names and from what the catalogue knows of the values; no table is read for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from search.folding import folded
from search.tables.models import Column, Table

Join = tuple[str, str, str, str]  # a table and its column, which is like a key, another table and its column

# Names that many tables use for what joins nothing.
_GENERIC = frozenset({"id", "name", "title", "type", "status", "notes", "comment", "description", "year", "value", "code"})
_KEY_ENDING = re.compile(r"(?:_|\b)(?:id|no|nr|key|code|number)$|[a-z]id$")


def is_like_a_key(column: Column) -> bool:
    """Whether a column is called as columns are that tell rows apart: order_id, item no, aid."""
    return _KEY_ENDING.search(folded(column.name)) is not None


def joins(tables: Sequence[Table]) -> list[Join]:
    """Pairs of columns that two tables can be joined on: first those that are called like keys, each in the tables' order.

    Columns of the same name and of type text or integer that are called like keys, or texts that tell the rows of one of the
    tables apart and have values in common with the other's as far as the catalogue tells; and customer_id with the id of customers.
    """
    by_name: dict[str, list[tuple[Table, Column]]] = {}
    for table in tables:
        for column in table.columns:
            by_name.setdefault(folded(column.name), []).append((table, column))
    found = [join for name, owners in by_name.items() if name not in _GENERIC for join in _same_name(owners)]
    found += [join for table in tables for join in _by_id(table, by_name)]
    return sorted(found, key=lambda join: not _KEY_ENDING.search(folded(join[1])))


def _same_name(owners: Sequence[tuple[Table, Column]]) -> Iterator[Join]:
    """Joins of columns of one name, all with the one that is most like a key."""
    unique = [(table, column) for table, column in owners if table.rows > 1 and column.distinct == table.rows]
    if len(owners) < 2 or not (unique or is_like_a_key(owners[0][1])):
        return
    first, key = unique[0] if unique else owners[0]
    for table, column in owners:
        if table is first or column.type != key.type or key.type not in {"text", "integer"}:
            continue
        if is_like_a_key(key) or (key.type == "text" and _overlap(key, column)):
            yield first.name, key.name, table.name, column.name


def _by_id(table: Table, by_name: dict[str, list[tuple[Table, Column]]]) -> Iterator[Join]:
    """Joins of a table's `id` with columns that are called after the table."""
    identity = next((column for column in table.columns if folded(column.name) in {"id", "_id"}), None)
    if identity is None:
        return
    stem = folded(table.name)
    forms = dict.fromkeys((stem, stem.removesuffix("s"), stem.removesuffix("es"), f"{stem.removesuffix('ies')}y"))
    for wish in dict.fromkeys(f"{form}{joint}" for form in forms for joint in ("_id", "id")):
        for other, column in by_name.get(wish, ()):
            if other is not table and column.type == identity.type:
                yield table.name, identity.name, other.name, column.name


def _overlap(one: Column, other: Column) -> bool:
    """Whether two columns of text may have values in common: by the values where both are listed, else by their ranges."""
    if one.values and other.values:
        return not set(one.values).isdisjoint(other.values)
    bounds = (one.minimum, one.maximum, other.minimum, other.maximum)
    if not all(isinstance(bound, str) for bound in bounds):
        return False
    return str(one.minimum) <= str(other.maximum) and str(other.minimum) <= str(one.maximum)


__all__ = ["Join", "is_like_a_key", "joins"]
