"""Questions over the tables of a catalogue, as the backend puts them: read, called for, answered.

In: a Catalogue, a question, the results of its turn. Out: the next call, or the answer. It keeps what follows from the catalogue,
and nothing of a conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import Any

from assistant.backends.offline.catalogue import Catalogue
from assistant.backends.offline.tables.answering import answer_of
from assistant.backends.offline.tables.linking import Linker
from assistant.backends.offline.tables.models import Reading
from assistant.backends.offline.tables.naming import tokens_of
from assistant.backends.offline.tables.phrases import table_phrases
from assistant.backends.offline.tables.reading import read
from assistant.backends.offline.tables.saying import said
from assistant.backends.offline.tables.schema import Schema
from assistant.backends.offline.tables.steps import Call, call_for
from assistant.backends.offline.tables.vocabulary import likeness, stem
from assistant.backends.offline.wording import SPECIFIC_KINDS
from assistant.messages import Outcome

_ALIKE = 0.1  # less certain is another reading that fits as well
_MOST_OTHERS = 3
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
                best = min(readings, key=_doubt)
                return replace(best, unsure=(*best.unsure, *_others(best, readings)))
        return None

    def are_named(self, text: str) -> bool:
        """Whether words that may mean documents ("invoices", a folder's name) are the name of a table as well."""
        if not self._catalogue.tables:
            return False
        tokens = tokens_of(text)
        said = {stem(token.lower) for token in tokens}
        kinds = {token.lower for token in tokens if token.lower in SPECIFIC_KINDS}
        for table in self._schema.tables:
            name = self._schema.table_words(table)[0]
            columns = {stem(word) for ref in self._schema.columns(table) for word in self._schema.column_words(ref)[0]}
            if {stem(word) for word in name} <= said or any(likeness(kind, word) for kind in kinds for word in name):
                return True
            # "How many pages per genre": one word may mean documents, several that are columns of one table hardly.
            if len(columns & said) > 1:
                return True
        return False

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


def _others(best: Reading, readings: Sequence[Reading]) -> tuple[str, ...]:
    """That other tables account for a question as well."""
    alike = [each for each in readings if each.doubt == best.doubt and each.certain >= best.certain - _ALIKE]
    others = sorted({each.table for each in alike if not each.all_tables & best.all_tables})[:_MOST_OTHERS]
    text = table_phrases(best.language).also_fits.format(table=best.table, others=", ".join(others))
    return (text,) if others else ()
