"""What the rules have made of a question so far, for those that put it together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assistant.backends.offline.tables.asked import Asked
from assistant.backends.offline.tables.asking import Asking
from assistant.backends.offline.tables.grouping import Grouping
from assistant.backends.offline.tables.meanings import Meanings
from assistant.backends.offline.tables.models import Condition, Group, Measure, Scalar
from assistant.backends.offline.tables.phrases import TablePhrases, table_phrases
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.sentence import Sentence

_TELLING = re.compile(r"\b(?:return|give|show|list|display|nenne|zeige?)\b", re.IGNORECASE)


@dataclass
class Parsed:
    """A question taken apart. unsure: readings that were taken where another was possible; the rules add to it."""

    sentence: Sentence
    asking: Asking
    meanings: Meanings
    grouping: Grouping
    asked: Asked
    measures: tuple[Measure, ...]
    groups: tuple[Group, ...]
    conditions: tuple[Condition, ...]
    having: tuple[tuple[Measure, str, Scalar], ...]
    unsure: list[str] = field(default_factory=list)

    @property
    def schema(self) -> Schema:
        """The tables."""
        return self.meanings.schema

    @property
    def words(self) -> TablePhrases:
        """The phrases of the question's language."""
        return table_phrases(self.sentence.language)

    def is_told(self, index: int) -> bool:
        """Whether a word stands behind "return", "show" or "give"."""
        return bool(_TELLING.search(self.sentence.text[: self.sentence.tokens[index].start]))

    def selected(self, *, tables: set[str]) -> list[Ref]:
        """Further columns of some tables that are asked for: the subject, and "return the name, the city and …"."""
        found: list[Ref] = []
        subject = [self.asked.subject] if self.asked.subject else []
        for link in (*subject, *self.sentence.free_links()):
            refs = [ref for ref in link.columns() if ref.table in tables]
            if refs and not link.is_value and (link in subject or self.is_told(link.first)):
                found.append(refs[0])
                self.sentence.take(link)
        return list(dict.fromkeys(found))
