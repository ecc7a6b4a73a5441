"""Names of tables and columns as people and models write them: found in the catalogue, quoted for SQL, never taken as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches

from search.errors import QueryError
from search.folding import folded
from search.tables.models import Column, Table

_LISTED = 30
_SHOWN = 60  # characters of a name in a message


def quoted(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def got(value: object) -> str:
    """What was sent, as short JSON."""
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _SHOWN else written[: _SHOWN - 1] + "…"


def choice(wish: str, known: Sequence[str], part: str) -> str:
    """The known name that is written so, whatever its case and what joins its words.

    Raises QueryError: `part: got "endpoint", want one of endpoints, latency; did you mean "endpoints"?`
    """
    for same in (str, folded, _loose):
        found = [name for name in known if same(name) == same(wish.strip())]
        if len(found) == 1:
            return found[0]
    near = nearest(wish, known)
    listed = ", ".join(name[:_SHOWN] for name in known[:_LISTED])
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    wanted = f"{listed}{more}" if len(known) == 1 else f"one of {listed}{more}"
    raise QueryError(f"{part}: got {got(wish)}, want {wanted}" + (f"; did you mean {got(near)}?" if near else ""))


def column_named(wish: str, table: Table, part: str) -> Column:
    """The column of a table that is written so: by its name, with the table's before it, or as its header has it.

    Raises QueryError as `choice` does.
    """
    names = {column.name: column for column in table.columns}
    if wish in names:
        return names[wish]
    plain = wish.strip().strip('"`')
    first, dot, rest = plain.partition(".")
    if dot and folded(first.strip('"`')) == folded(table.name):
        plain = rest.strip('"`')
    by_header = [column for column in table.columns if column.header and folded(column.header) == folded(plain)]
    try:
        return names[choice(plain, [*names], part)]
    except QueryError:
        if len(by_header) == 1:
            return by_header[0]
        raise


def nearest(wish: str, known: Sequence[str]) -> str | None:
    """The known name that a misspelled one most likely means; None when none is near."""
    by_form = {_loose(name)[:200]: name for name in reversed(known)}
    found = get_close_matches(_loose(wish)[:200], by_form, n=1, cutoff=0.6)
    return by_form[found[0]] if found else None


def _loose(name: str) -> str:
    """A name without what is easily mistaken in names: case, and which of `.`, `-`, `_` and space joins its words."""
    return folded(name.strip()).replace("-", "_").replace(".", "_").replace(" ", "_")


__all__ = ["choice", "column_named", "got", "nearest", "quoted"]
