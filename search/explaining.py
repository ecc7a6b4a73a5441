"""Why a search found nothing: said with figures, so that a person or a model knows what to broaden."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from search import keyword
from search.counting import counted
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
            notes.append(f"no document passes the filters, nor with any one of them left out ({counted(total, 'document')} in all)")
    elif compiled.own and not count(_with_text(compiled)):
        notes.append(f"nothing within the filters ({counted(passing, 'document')}) has text")
    elif excluding := _excluding(connection, query, compiled):
        notes.append(excluding)
    else:
        words = f"no passage of the {counted(passing, 'document')} within the filters" if compiled.own else "no passage"
        notes.append(f"{words} holds a word of {query[:80]!r}: try other words, or vector search, which goes by meaning")
        if compiled.own and (elsewhere := keyword.search(connection, query, allowed_sql=outer, limit=50)):
            notes.append(f"without the filters {_holding(len(elsewhere), 50)} such a word")
    return notes


def _excluding(connection: sqlite3.Connection, query: str, compiled: Compiled) -> str | None:
    """How many passages hold a word that is looked for and were left out for one that must not occur; None for none."""
    parsed = keyword.read(connection, query, allowed_sql=compiled.select)
    if not parsed.excluded:
        return None
    most = 1000
    left_out = len(keyword.search(connection, replace(parsed, excluded=()), allowed_sql=compiled.select, limit=most))
    if not left_out:
        return None
    words = " ".join("-" + " ".join(unit.tokens for unit in units) for units in parsed.excluded)
    held = f"{_holding(left_out, most)} a word of {parsed.text[:80]!r}"
    return f"{held}, but {words[:80]!r} leaves all of them out: search without it"


def _holding(count: int, most: int) -> str:
    """Subject and verb; `most`: where counting ended."""
    passages = f"{count} or more passages" if count == most else counted(count, "passage")
    return f"{passages} {'holds' if count == 1 else 'hold'}"


def _with_text(compiled: Compiled) -> tuple[str, Sequence[Any]]:
    select, parameters = compiled.without(None)
    return f"SELECT DISTINCT document_id FROM passages WHERE document_id IN ({select})", parameters


def _counter(connection: sqlite3.Connection) -> Callable[[tuple[str, Sequence[Any]]], int]:
    def count(select: tuple[str, Sequence[Any]]) -> int:
        return int(connection.execute(f"SELECT count(*) FROM ({select[0]})", select[1]).fetchone()[0])

    return count
