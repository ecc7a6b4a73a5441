"""From a question to a Reading of it over tables, or None where it is no question over tables.

In: the question, a Linker over a Schema, the day. Out: Reading. The rules take what they understand word by word; how much of the
question is left over decides whether it is one at all: a question for documents has words that no table knows.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from assistant.backends.offline.tables.asked import Asked
from assistant.backends.offline.tables.asking import Asking
from assistant.backends.offline.tables.conditions import Conditions, find_comparisons, flags
from assistant.backends.offline.tables.grouping import Grouping
from assistant.backends.offline.tables.linking import Link, Linker
from assistant.backends.offline.tables.listing import assembled
from assistant.backends.offline.tables.marks import Mark
from assistant.backends.offline.tables.meanings import Meanings
from assistant.backends.offline.tables.measuring import COUNTS, Measuring
from assistant.backends.offline.tables.models import Condition, Group, Measure, Ranking, Reading
from assistant.backends.offline.tables.parsed import Parsed
from assistant.backends.offline.tables.periods import find_windows
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.sentence import Sentence
from assistant.backends.offline.tables.states import find_states
from assistant.backends.offline.tables.vocabulary import UNITS, name_words, stem
from assistant.backends.offline.wording import words_of

_MOST_AROUND = 3  # words that no rule understood, though they stand around the table
_AROUND = 0.5  # of a doubt is a word that only stands around the table
_JOINED = 0.2  # less certain with each table that is joined
_MEANT = 0.9  # as sure as a name is a quality, such as "slow"
_NAMED = 0.3  # surer is a name that is a word of the table's as well
_LONGEST = 600  # characters of a question over tables
_NOT_OF_TABLES = re.compile(
    r"^\W*(?:why|how (?:do|does|did|can|could|should|would|to|is|are|come)\b|where (?:do|can|is|are)\b|explain|describe"
    r"|summari[sz]e|is |are |can |may |should |does |do |did |warum|wieso|weshalb|erkläre|wie (?:kann|geht|funktioniert|mache?)\b)",
    re.IGNORECASE,
)
_EVERY = words_of("all every each alle aller allen sämtliche sämtlicher")
_ADVICE = re.compile(
    r"\b(?:should|(?<!in )(?<!of )(?<!for )(?<!since )(?<!im )may(?!\s+\d)|must|allowed|promise[sd]?"
    r"|mean by|stand for|runbook|policy|guide|soll\w*|darf)\b",
    re.IGNORECASE,
)


def read(
    text: str, linker: Linker, *, today: date | None, language: str = "en", documents: bool = True, strict: bool = True
) -> Reading | None:
    """Read a question. documents: the library has other documents too, so that a question may well be for those.

    Then every word that says something must be accounted for: what the tables know nothing of is asked of the documents.
    strict: words that ask ("total") and times are no values.
    """
    if len(text) > _LONGEST or not linker.schema.tables:
        return None
    if documents and (_NOT_OF_TABLES.search(text) or _ADVICE.search(text)):
        return None
    sentence = Sentence.of(text, linker, language=language, strict=strict)
    reading = _Reader(sentence, linker.schema, today).read()
    return reading if reading is not None and not (documents and reading.unread) else None


class _Reader:
    """Reads one Sentence."""

    def __init__(self, sentence: Sentence, schema: Schema, today: date | None) -> None:
        self.sentence, self.schema, self.today = sentence, schema, today
        self.meanings = Meanings(schema, sentence.links, self._around())
        self.asking = Asking(sentence, schema)

    def read(self) -> Reading | None:
        """The Reading, None where nothing is asked of a table."""
        windows = find_windows(self.sentence, today=self.today, dated=self.schema.has_times)
        states = find_states(self.sentence, self.schema, timed=bool(windows))
        comparisons = find_comparisons(self.sentence, lambda link: self.asking.is_numeric(link) or self._is_yearly(link))
        asked = self.asking.read()
        self.meanings.asked = asked.subject
        measuring = Measuring(self.asking, self.meanings, comparisons)
        measures = [measure for spec in asked.specs if (measure := measuring.measure(spec))]
        for measure in measures:
            self.meanings.choose(measure.table)
        by = measuring.order(asked.ranked, measures, together=asked.together) if asked.ranked else None
        self.meanings.choose(by.table if isinstance(by, Measure) else "")
        self.meanings.choose("" if self.meanings.base else self._flagged_table(asked))
        self.meanings.choose(self._subject_table(asked))
        conditions = Conditions(self.sentence, self.meanings)
        found = conditions.all(comparisons, windows, states)
        grouping = Grouping(self.sentence, self.meanings)
        base = next((each.table for each in (*measures, by) if isinstance(each, Measure)), self.meanings.base)
        parsed = Parsed(
            self.sentence,
            self.asking,
            self.meanings,
            grouping,
            asked,
            tuple(measures),
            (*grouping.groups(asked.groups, base), *self._compared(found)),
            tuple(found),
            measuring.having(),
        )
        reading = assembled(parsed, by) if measuring.spoilt is None else _spoilt(measuring.spoilt)
        return self._finished(reading, [*parsed.unsure, *conditions.unsure], asked) if reading is not None else None

    def _compared(self, conditions: list[Condition]) -> tuple[Group, ...]:
        """The column whose values are set side by side: "Apollo vs Borealis"."""
        marks = self.sentence.marks_of("versus")
        several = [each.ref for each in conditions if each.op == "in"]
        if marks and several:
            self.sentence.take(*marks)
        return tuple(Group(ref) for ref in several[:1] if marks)

    def _finished(self, reading: Reading, unsure: list[str], asked: Asked) -> Reading:
        """With the tables that must or must not hold a row, and what nobody understood."""
        reading = self._with_others(self._with_without(reading, asked))
        return self._weighed(replace(reading, language=self.sentence.language, unsure=tuple(dict.fromkeys(unsure))))

    def _around(self) -> list[frozenset[str]]:
        """For plain words, the tables around which they stand."""
        linked = {index for link in self.sentence.links for index in range(link.first, link.last + 1)}
        return [tables for index, tables in self.sentence.around.items() if index not in linked]

    def _weighed(self, reading: Reading) -> Reading:
        """With the words that nobody understood, and those that the tables in use know, though nothing was made of them.

        A few words that stand around a table in use are forgiven, where the rules understood others.
        """
        missed = [mark for mark in self.sentence.marks if not self._is_answered(mark, reading)]
        for mark in missed:
            self.sentence.taken.difference_update(range(mark.first, mark.last + 1))
        known, named = self._context(reading)
        tables = reading.all_tables
        near = {index for index, around in self.sentence.around.items() if around & tables} - known
        asks = reading.measures or reading.conditions or reading.ranking or reading.over
        forgiven = near if asks and len(near - named) <= _MOST_AROUND else set[int]()
        columns = {stem(word) for table in tables for ref in self.schema.columns(table) for word in name_words(ref.column)}
        idle = {index for index in forgiven if stem(self.sentence.lower(index)) in columns} | named
        idle -= known | self.sentence.taken
        unread = self.sentence.unread(known | forgiven | named)
        missing = {index for mark in missed for index in range(mark.first, mark.last + 1)} - known - named
        unread += [word for word in self.sentence.words(missing) if word not in unread]
        near -= idle | self.sentence.taken
        return replace(
            reading,
            unread=tuple(unread),
            unused=tuple(self.sentence.words(idle)),
            doubt=len(unread) + len(idle) + _AROUND * len(near),
            certain=self._certain(reading, known),
        )

    def _certain(self, reading: Reading, known: set[int]) -> float:
        """How surely names are meant: less by each join, more by each word of a table's own name."""
        meant = [link for link in self.sentence.links if known.union(self.sentence.taken) & set(range(link.first, link.last + 1))]
        linked = {index for link in meant for index in range(link.first, link.last + 1)}
        own = {stem(word) for table in reading.all_tables for word in name_words(table)}
        named = [index for index in range(len(self.sentence.tokens)) if stem(self.sentence.lower(index)) in own]
        certain = _MEANT * self.meanings.quality + sum(link.score for link in meant)
        certain += sum(_NAMED if index in linked else 1.0 for index in named)
        return round(certain - _JOINED * (len(reading.tables) - 1 + reading.spoilt), 2)

    def _is_yearly(self, link: Link | None) -> bool:
        return link is not None and any(self.schema.is_year(ref) for ref in link.columns())

    def _subject_table(self, asked: Asked) -> str:
        """The table of the noun that is asked for."""
        link = (asked.ranked.entity if asked.ranked else None) or asked.subject
        if link is None:
            return ""
        tables = self.meanings.tables(link)
        if tables:
            return tables[0] if not self.meanings.base or len(tables) == 1 else ""
        ref = self.meanings.column(link)
        return ref.table if ref and not self.meanings.base else ""

    def _flagged_table(self, asked: Asked) -> str:
        """The table of a column of yes and no that the question names beside its subject."""
        refs = [ref for link, ref, _, _ in flags(self.sentence, self.schema) if link != asked.subject]
        return refs[0].table if refs and asked.subject else ""

    def _context(self, reading: Reading) -> tuple[set[int], set[int]]:
        """Words that need no rule of their own, as names of tables, columns and units in use; and names of other columns."""
        tables, used = reading.all_tables, reading.refs
        words, named = set[int](), set[int]()
        for link in self.sentence.free_links():
            places = set(range(link.first, link.last + 1))
            if link.is_value or not {each.ref.table for each in link.candidates} & tables:
                continue
            if set(link.tables) & tables or set(link.columns()) & used or self._is_empty(link, tables):
                words |= places
            else:
                named |= places
        for mark in self.sentence.marks:
            if self._is_answered(mark, reading):
                words |= set(range(mark.first, mark.last + 1))
        units = {self.schema.unit(ref).lower() for table in tables for ref in self.schema.columns(table)} - {""}
        said = units.union(*(UNITS[unit][1] for unit in units if unit in UNITS))
        return words | {index for index, token in enumerate(self.sentence.tokens) if token.lower in said}, named

    def _is_empty(self, link: Link, tables: set[str]) -> bool:
        """Whether a name changes nothing: "all endpoints", a word of the table's own name, "created" where that is a time."""
        if any(self.sentence.lower(link.first - back) in _EVERY for back in (1, 2)):
            return True
        own = {stem(word) for table in tables for word in name_words(table)}
        said = {stem(self.sentence.lower(index)) for index in range(link.first, link.last + 1)}
        return said <= own or any(self.schema.is_when(ref) for ref in link.columns())

    def _is_answered(self, mark: Mark, reading: Reading) -> bool:
        """Whether a word that asks got what it asks for: an order, an amount of money."""
        if mark.kind == "paying":
            inner = reading.over or reading
            by = [each.ranking.by for each in (reading, inner) if each.ranking and isinstance(each.ranking.by, Measure)]
            refs = [*(measure.ref for measure in (*reading.measures, *by)), *reading.select]
            return any(self.schema.is_money(ref) for ref in refs if ref)
        if mark.kind == "not":  # what is denied must not be answered as if it were not
            return self.sentence.is_taken(mark)
        if mark.kind in {"most", "how"}:
            extreme = any(measure.function in {"min", "max", "avg", "median"} for measure in reading.measures)
            return bool(reading.ranking or reading.over or extreme)
        return mark.kind != "versus" or bool(reading.groups)

    def _with_others(self, reading: Reading) -> Reading:
        """Rows that have one in another table: "doctors who have prescribed treatments"."""
        if reading.over or reading.ratio or (reading.measures and reading.measures[0].function not in COUNTS):
            return reading
        also = []
        used = {*reading.tables, *reading.without}
        for link in self.sentence.free_links():
            tables = self.meanings.tables(link)
            if link.is_value or not tables or {each.ref.table for each in link.candidates} & used:
                continue
            if self.schema.path([reading.table, tables[0]]):
                also.append(tables[0])
                self.sentence.take(link)
        return replace(reading, also=tuple(also))

    def _with_without(self, reading: Reading, asked: Asked) -> Reading:
        """Rows that have none in another table: "customers who have not made any transactions"."""
        for mark in self.sentence.marks_of("not"):
            for link in self.sentence.links:
                if link.first < mark.last or link.is_value or link == asked.subject:
                    continue
                tables = [table for table in self.meanings.tables(link) if table != reading.table]
                if tables and self.schema.path([reading.table, tables[0]]):
                    self.sentence.take(mark, link)
                    return replace(reading, without=(tables[0],))
        return reading


def _spoilt(ref: Ref) -> Reading:
    """The values of a column that was to be added up though it is kept as text, the rarest first: those to be mended."""
    count = Measure("count", ref.table)
    return Reading(ref.table, groups=(Group(ref),), measures=(count,), ranking=Ranking(count, high=False), spoilt=True)
