"""Why a search found nothing: said with figures, so that a person or a model knows what to broaden."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from search import keyword
from search.filters import Compiled, nearest
from search.models import Filters


def why_empty(connection: sqlite3.Connection, query: str, wanted: Filters, compiled: Compiled) -> list[str]:
    """Sentences that name the filter which removed the most, the nearest names of unknown ones, and what to try.

    What lies outside `wanted.within` is neither counted nor named.
    """
    count = _counter(connection)
    outer = compiled.outer
    total, passing = count(outer or ("SELECT d.id FROM documents d", ())), count(compiled.without(None))
    if not total:
        return ["no document lies within what is searched"] if outer else ["the library is empty: archivist index DIR fills it"]
    notes = nearest(connection, wanted, allowed_sql=outer)
    if compiled.own and not passing:
        without = {clause: count(compiled.without(clause)) for clause in compiled.own}
        widest = max(compiled.own, key=lambda clause: without[clause])
        if without[widest]:
            notes.append(f"no document passes all filters; without {widest.label!r} {without[widest]} of {total} would")
        else:
            notes.append(f"no document passes the filters, nor with any one of them left out ({total} documents in all)")
    elif compiled.own and not count(_with_text(compiled)):
        notes.append(f"none of the {passing} documents that pass the filters has text")
    else:
        words = f"no passage of the {passing} documents that pass the filters" if compiled.own else "no passage"
        notes.append(f"{words} holds a word of {query[:80]!r}: try other words, or vector search, which goes by meaning")
        if compiled.own and (elsewhere := keyword.search(connection, query, allowed_sql=outer, limit=50)):
            more = " or more" if len(elsewhere) == 50 else ""
            notes.append(f"without the filters {len(elsewhere)}{more} passages hold such a word")
    return notes


def _with_text(compiled: Compiled) -> tuple[str, Sequence[Any]]:
    select, parameters = compiled.without(None)
    return f"SELECT DISTINCT document_id FROM passages WHERE document_id IN ({select})", parameters


def _counter(connection: sqlite3.Connection) -> Callable[[tuple[str, Sequence[Any]]], int]:
    def count(select: tuple[str, Sequence[Any]]) -> int:
        return int(connection.execute(f"SELECT count(*) FROM ({select[0]})", select[1]).fetchone()[0])

    return count
