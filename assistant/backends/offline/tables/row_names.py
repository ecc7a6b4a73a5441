"""How a row is called by a person, where what identifies it is a code: "Hamburg" rather than 20457.

In: a Schema, a column. Out: the column of the same table that names what the code stands for.
"""

from __future__ import annotations

import re

from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.vocabulary import name_words, stem
from assistant.backends.offline.wording import words_of

_CODES = frozenset({"code", "id", "key", "nr", "no", "number", "nummer", "uuid", "iata", "sku", "kennung"})
_NAMES = tuple(map(stem, ("name", "title", "label", "town", "city", "stadt", "ort", "bezeichnung", "place")))
_PERSONS = frozenset(
    map(
        stem,
        words_of(
            """person people assignee owner author employee staff customer client user member player runner rider driver reader
            seller buyer agent manager colleague responsible contact friend child patient student teacher doctor
            mitarbeiter mitarbeiterin kunde kundin besitzer inhaber autor autorin verfasser spieler fahrer verkäufer käufer
            zuständig bearbeiter ansprechpartner mitglied freund"""
        ),
    )
)
_NO_NAMES = frozenset(
    map(stem, words_of("phone telephone telefon fax email mail url link address note comment description status"))
)


def is_code(schema: Schema, ref: Ref) -> bool:
    """Whether a column holds codes or ids, which say nothing to a person."""
    words = name_words(ref.column)
    return bool(words) and (words[-1] in _CODES or schema.is_id(ref)) and not schema.is_date(ref)


def naming(schema: Schema, code: Ref) -> Ref | None:
    """The column that names what a code stands for: as many different values, one in every row, which read like names."""
    if not is_code(schema, code):
        return None
    column = schema.column(code)
    same = [ref for ref in schema.columns(code.table) if _is_name(schema, ref) and schema.column(ref).distinct == column.distinct]
    owner = [stem(word) for word in name_words(code.column)[:-1]]

    def rank(ref: Ref) -> tuple[bool, bool]:
        words = [stem(word) for word in name_words(ref.column)]
        return words == owner, any(word in _NAMES for word in words)

    # Where codes repeat, as many different names may still stand for other things.
    kept = [ref for ref in same if schema.is_unique(code) or any(rank(ref))]
    return max(kept, key=lambda ref: (rank(ref), -kept.index(ref)), default=None)


def title(schema: Schema, table: str) -> Ref | None:
    """The column by which the rows of a table are best called: the first that reads like names."""
    return next((ref for ref in schema.columns(table) if _is_name(schema, ref) and schema.column(ref).distinct > 1), None)


def person(schema: Schema, table: str) -> Ref | None:
    """The column that answers "who" in a table: one named after persons, else the first that holds what is written like names."""
    refs = [ref for ref in schema.columns(table) if schema.column(ref).type == "text" and not is_code(schema, ref)]
    named = [ref for ref in refs if _PERSONS & {stem(word) for word in name_words(ref.column)[-1:]}]
    like = [ref for ref in refs if _is_name(schema, ref) and all(value[:1].isupper() for value in schema.column(ref).values)]
    return next((ref for ref in (*named, *like) if schema.column(ref).distinct > 1), None)


def _is_name(schema: Schema, ref: Ref) -> bool:
    column = schema.column(ref)
    if column.type != "text" or column.nulls or column.distinct < 1 or is_code(schema, ref) or schema.is_date(ref):
        return False
    if {stem(word) for word in name_words(ref.column)} & _NO_NAMES:
        return False
    return all(re.search(r"[^\W\d_]{2}", value) for value in column.values)
