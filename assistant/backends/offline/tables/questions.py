"""Questions over the tables of a catalogue, as the backend puts them: read, called for, answered.

In: a Catalogue, a question, the results of its turn. Out: the next call, or the answer. It keeps what follows from the catalogue,
and nothing of a conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any

from assistant.backends.offline.catalogue import Catalogue
from assistant.backends.offline.tables.answering import answer_of
from assistant.backends.offline.tables.linking import Linker
from assistant.backends.offline.tables.models import Reading
from assistant.backends.offline.tables.naming import tokens_of
from assistant.backends.offline.tables.reading import read
from assistant.backends.offline.tables.saying import said
from assistant.backends.offline.tables.schema import Schema
from assistant.backends.offline.tables.steps import Call, call_for
from assistant.backends.offline.tables.vocabulary import stem
from assistant.backends.offline.wording import SPECIFIC_KINDS
from assistant.messages import Outcome

TOOLS = frozenset({"query_table", "run_sql"})


class TableQuestions:
    """The tables of one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @cached_property
    def _schema(self) -> Schema:
        return Schema(self._catalogue.tables, self._catalogue.titles)

    @cached_property
    def _linkers(self) -> tuple[Linker, ...]:
        return tuple(map(Linker, self._schema.parts))

    def read(self, text: str, *, language: str, today: date | None) -> Reading | None:
        """The question as one over tables, None where it is none."""
        if not self._catalogue.tables:
            return None
        documents = not self._catalogue.only_tables
        for strict in (True, False):
            readings = [
                reading
                for linker in self._linkers
                if (reading := read(text, linker, today=today, language=language, documents=documents, strict=strict))
                # What no columns connect, or no column can hold, cannot be asked.
                if self.call(reading, ()) is not None
            ]
            if readings:
                return min(readings, key=_doubt)
        return None

    def are_named(self, text: str) -> bool:
        """Whether a word that may mean a kind of document ("invoices") is the name of a table as well."""
        if not self._catalogue.tables:
            return False
        kinds = {stem(token.lower) for token in tokens_of(text) if token.lower in SPECIFIC_KINDS}
        schema = self._schema
        return bool(kinds) and any(stem(word) in kinds for table in schema.tables for word in schema.table_words(table)[0])

    def said(self, reading: Reading) -> str:
        """What was understood, on one line."""
        return said(reading, self._schema)

    def call(self, reading: Reading, results: Sequence[Mapping[str, Any]]) -> Call | None:
        """The next call, None when all were made."""
        return call_for(reading, self._schema, results)

    def answer(self, reading: Reading, results: Sequence[Mapping[str, Any]]) -> tuple[str, Outcome]:
        """The answer from the results of all calls."""
        return answer_of(reading, self._schema, results)


def _doubt(reading: Reading) -> tuple[float, float, int]:
    """How little of a question a reading accounts for, how unsurely, and with how many tables: the least is taken."""
    return reading.doubt, -reading.certain, len(reading.tables)
