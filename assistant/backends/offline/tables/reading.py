"""From a question to a Reading of it over tables, or None where it is no question over tables.

In: the question, a Schema, the day. Out: Reading. The rules take what they understand word by word; how much of the question is
left over decides whether it is one at all: a question for documents has words that no table knows.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from assistant.backends.offline.tables.asking import Asked, Asking, Ranked, Spec
from assistant.backends.offline.tables.conditions import Comparison, Conditions, find_comparisons
from assistant.backends.offline.tables.linking import Link, Linker
from assistant.backends.offline.tables.meanings import Meanings
from assistant.backends.offline.tables.models import Condition, Group, Measure, Ranking, Reading
from assistant.backends.offline.tables.periods import Window, find_windows
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.sentence import Sentence
from assistant.backends.offline.tables.vocabulary import UNITS

_LONGEST = 600  # characters of a question over tables
_PLURAL_SHOWN = 5
_NOT_OF_TABLES = re.compile(
    r"^\W*(?:why|how (?:do|does|did|can|could|should|would|to|is|are|come)\b|where (?:do|can|is|are)\b|explain|describe|summari[sz]e"
    r"|is |are |can |may |should |does |do |did |warum|wieso|weshalb|erkläre|wie (?:kann|geht|funktioniert|mache?)\b)",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"\b(?:should|may|must|allowed|promise[sd]?|mean by|stand for|runbook|policy|guide|soll\w*|darf)\b", re.IGNORECASE)
_TELLING = re.compile(r"\b(?:return|give|show|list|display|nenne|zeige)\b", re.IGNORECASE)
_RATES = frozenset({"avg", "median"})


def read(text: str, linker: Linker, *, today: date | None, language: str = "en", documents: bool = True) -> Reading | None:
    """Read a question. documents: the library has other documents too, so that a question may well be for those."""
    if len(text) > _LONGEST or not linker.schema.tables:
        return None
    if documents and (_NOT_OF_TABLES.search(text) or _ADVICE.search(text)):
        return None
    reading = _Reader(Sentence.of(text, linker, language=language), linker.schema, today).read()
    return reading if reading is not None and _is_certain(reading, documents=documents) else None


def _is_certain(reading: Reading, *, documents: bool) -> bool:
    """Whether enough of the question is accounted for. Of a lookup everything must be, where documents could answer it too."""
    if not documents:
        return True
    return not reading.unread


class _Reader:
    """Reads one Sentence."""

    def __init__(self, sentence: Sentence, schema: Schema, today: date | None) -> None:
        self.sentence, self.schema = sentence, schema
        self.meanings = Meanings(schema, sentence.links)
        self.conditions = Conditions(sentence, self.meanings)
        self.today = today
        self.unsure: list[str] = []

    def read(self) -> Reading | None:
        """The Reading, None where nothing is asked of a table."""
        asking = Asking(self.sentence, self.schema)
        windows = find_windows(self.sentence, today=self.today)
        comparisons = find_comparisons(self.sentence, lambda link: asking.is_numeric(link) or self._is_yearly(link))
        asked = asking.read()
        self.meanings.asked = asked.subject
        self.asking = asking
        measures = [measure for spec in asked.specs if (measure := self._measure(spec, comparisons, asked))]
        for measure in measures:
            self.meanings.choose(measure.table)
        by = self._order_by(asked, measures)
        for each in (by, self._subject_table(asked)):
            self.meanings.choose(each.table if isinstance(each, Measure) else each or "")
        found = self._conditions(windows, comparisons)
        reading = self._assembled(asked, measures, by, found, comparisons)
        if reading is None:
            return None
        reading = self._with_others(self._with_without(reading, asked))
        return replace(
            reading,
            language=self.sentence.language,
            unsure=tuple(dict.fromkeys([*self.unsure, *self.conditions.unsure])),
            unread=tuple(self.sentence.unread(self._context(reading))),
        )

    def _is_yearly(self, link: Link | None) -> bool:
        return link is not None and any(self.schema.is_year(ref) for ref in link.columns())

    def _context(self, reading: Reading) -> set[int]:
        """Words that name a table in use, or a column of one that says nothing new: they need no rule."""
        words: set[int] = set()
        for link in self.sentence.free_links():
            if not link.is_value and {each.ref.table for each in link.candidates} & set(reading.tables):
                words |= set(range(link.first, link.last + 1))
        for mark in self.sentence.marks:
            words |= set(range(mark.first, mark.last + 1))
        units = {self.schema.unit(ref).lower() for table in reading.tables for ref in self.schema.columns(table)} - {""}
        said = units.union(*(UNITS[unit][1] for unit in units if unit in UNITS))
        return words | {index for index, token in enumerate(self.sentence.tokens) if token.lower in said}

    # What is measured

    def _measure(self, spec: Spec, comparisons: list[Comparison], asked: Asked) -> Measure | None:
        """The column and function that a spec means."""
        if spec.quality:
            ref = self.meanings.by_quality(spec.quality)
            return Measure("", ref.table, ref) if ref else None
        link = spec.link
        if link is None:
            if spec.counted and self.meanings.in_play():
                table = self.meanings.in_play()[0]
                return Measure("count", table)
            return None
        function = next((each for each in spec.functions if each != "sum"), "sum" if spec.functions else "")
        compared = any(each.link == link for each in comparisons)
        numeric = self.asking.is_numeric(link)
        if numeric and not (spec.counted and (spec.distinct or compared)):
            ref = self.meanings.column(link, numeric=True)
            if ref is not None and self.schema.is_measure(ref):
                return Measure(function or ("sum" if spec.counted else ""), ref.table, ref)
        if spec.counted and compared:
            ref = self.meanings.column(link)
            return Measure("count", ref.table) if ref else None
        if function in {"min", "max"}:
            ref = self.meanings.column(link)
            return Measure(function, ref.table, ref) if ref else None
        if spec.counted or function == "sum" or (function in _RATES and spec.counted):
            return self._count(link, distinct=spec.distinct)
        return None

    def _count(self, link: Link, *, distinct: bool) -> Measure | None:
        """How many there are of a thing: rows of the table of that name, or different values of the column."""
        tables = self.meanings.tables(link)
        if tables and not distinct:
            return Measure("count", min(tables, key=lambda table: -self.meanings.support.get(table, 0.0)))
        if tables and not link.columns():
            key = self.schema.key(tables[0])
            return Measure("count_distinct", tables[0], key) if key and not self.schema.is_unique(key) else Measure("count", tables[0])
        ref = self.meanings.column(link)
        if ref is None:
            return None
        if self.schema.is_date(ref) or (self.schema.is_unique(ref) and not distinct):
            return Measure("count", ref.table)
        return Measure("count_distinct", ref.table, ref)

    def _order_by(self, asked: Asked, measures: list[Measure]) -> Measure | Group | None:
        """What a ranking goes by."""
        ranked = asked.ranked
        if ranked is None:
            return None
        if ranked.common and ranked.entity:
            ref = self.meanings.column(ranked.entity)
            return Measure("count", ref.table) if ref else None
        if ranked.by is None:
            return measures[0] if measures and not asked.together else None
        spec = ranked.by
        measure = self._measure(spec, [], asked)
        if measure:
            return measure
        if spec.link is None:
            return None
        if ranked.plain:
            ref = self.meanings.column(spec.link) or next(
                (self.schema.label(table)[0] for table in self.meanings.tables(spec.link)), None
            )
            return Group(ref) if ref else None
        ref = self.meanings.column(spec.link)
        if ref and (self.schema.is_date(ref) or self.schema.is_year(ref)):
            return Measure("", ref.table, ref)
        return self._count(spec.link, distinct=spec.distinct)

    def _subject_table(self, asked: Asked) -> str:
        link = (asked.ranked.entity if asked.ranked else None) or asked.subject
        if link is None:
            return ""
        tables = self.meanings.tables(link)
        if tables:
            return tables[0] if not self.meanings.base or len(tables) == 1 else ""
        ref = self.meanings.column(link)
        return ref.table if ref and not self.meanings.base else ""

    # Under which conditions

    def _conditions(self, windows: list[Window], comparisons: list[Comparison]) -> list[Condition]:
        found = [*self.conditions.compared(comparisons), *self.conditions.named(), *self.conditions.timed(windows)]
        found += self.conditions.missing()
        for condition in found:
            self.meanings.choose(condition.ref.table)
        return list(dict.fromkeys(found))

    # Put together

    def _assembled(
        self, asked: Asked, measures: list[Measure], by: Measure | Group | None, found: list[Condition], comparisons: list[Comparison]
    ) -> Reading | None:
        groups = self._groups(asked, measures, by)
        having = self._having(comparisons)
        conditions = tuple(found)
        ranked = asked.ranked
        if ranked is not None and by is not None and not ranked.plain:
            over = self._over(asked, measures, by, conditions)
            return over or self._ranked(asked, ranked, measures, by, groups, conditions)
        if ranked is not None and asked.together and measures and ranked.limit:
            inner = self._ranked(asked, ranked, [], Measure("", measures[0].table, measures[0].ref), (), conditions)
            return self._chained(inner, measures) if inner else None
        ranking = Ranking(by, high=ranked.high, limit=ranked.limit) if ranked and by else None
        if measures:
            return self._aggregated(asked, measures, groups, conditions, having, ranking)
        if having:
            return self._listed(asked, conditions, having, ranking)
        return self._listed(asked, conditions, (), ranking)

    def _groups(self, asked: Asked, measures: list[Measure], by: Measure | Group | None) -> tuple[Group, ...]:
        """What rows are put together by."""
        base = next((each.table for each in (*measures, by) if isinstance(each, Measure)), self.meanings.base)
        groups: list[Group] = []
        for link, unit in asked.groups:
            if link is None or (unit and not any(self.schema.is_year(ref) or self.schema.is_date(ref) for ref in link.columns()) and not link.columns()):
                found = self._time_group(base, unit)
                groups += [found] if found else []
                continue
            groups += self.entity(link, base)
        return tuple(dict.fromkeys(groups))

    def _time_group(self, base: str, unit: str) -> Group | None:
        """A unit of time, of the date that the question names or the table has."""
        tables = list(dict.fromkeys([base, *self.meanings.in_play()])) if base else self.meanings.in_play()
        named = [ref for link in self.sentence.links for ref in link.columns() if not link.is_value]
        for table in tables:
            refs = self.schema.columns(table)
            years = [ref for ref in refs if self.schema.is_year(ref)] if unit == "year" else []
            dates = [ref for ref in refs if self.schema.is_date(ref)]
            worded = [ref for ref in refs if unit in ref.column.lower() and not self.schema.is_date(ref)]
            said = [ref for ref in (*years, *dates) if ref in named]
            best = next(iter((*said, *worded, *years, *dates)), None)
            if best is not None:
                for link in self.sentence.free_links():
                    if best in link.columns():
                        self.sentence.take(link)
                return Group(best, "" if best in years or best in worded else unit)
        return None

    def entity(self, link: Link, base: str) -> list[Group]:
        """The columns that stand for a thing beside a table: its own column of that name, else the name of the thing's rows."""
        tables = self.meanings.tables(link)
        best = link.score
        own = [each.ref for each in link.candidates if each.ref.table == base and not each.is_table and each.value is None]
        sure = [each for each in link.candidates if each.ref in own and each.score >= 0.85 * best]
        if base in tables:
            return [Group(ref) for ref in self.schema.label(base)]
        if sure and not (tables and self.schema.is_id(sure[0].ref)):
            return [Group(sure[0].ref)]
        if tables:
            table = self.meanings.nearest([self.schema.label(each)[0] for each in tables])
            if table is not None:
                self.meanings.choose(table.table)
                return self._named_rows(table.table)
        ref = own[0] if own else self.meanings.column(link)
        if ref is not None:
            self.meanings.choose(ref.table)
        return [Group(ref)] if ref else []

    def _named_rows(self, table: str) -> list[Group]:
        """The name of a table's rows, with their key where names may repeat."""
        label, key = self.schema.label(table), self.schema.key(table)
        unique = len(label) == 1 and self.schema.is_unique(label[0])
        return [Group(ref) for ref in ((key, *label) if key and not unique and key not in label else label)]

    def _is_row(self, groups: tuple[Group, ...], table: str) -> bool:
        """Whether a group is a single row of a table."""
        return any(group.ref.table == table and not group.unit and self.schema.is_unique(group.ref) for group in groups)

    def _having(self, comparisons: list[Comparison]) -> tuple[tuple[Measure, str, float], ...]:
        having = []
        for each in comparisons:
            if each.things is not None and each.link is None:
                measure = self._count(each.things, distinct=False)
                if measure and each.mark.what != "between":
                    number = each.mark.numbers[0]
                    having.append((measure, each.mark.what, int(number) if number.is_integer() else number))
        return tuple(having)

    def _ranked(
        self,
        asked: Asked,
        ranked: Ranked,
        measures: list[Measure],
        by: Measure | Group,
        groups: tuple[Group, ...],
        conditions: tuple[Condition, ...],
    ) -> Reading | None:
        """Things in an order: "the 3 slowest endpoints", "which owner has the most endpoints"."""
        if isinstance(by, Group):
            return self._aggregated(asked, measures, groups, conditions, (), Ranking(by, high=ranked.high, limit=ranked.limit))
        thing = ranked.entity or (asked.subject if not self._is_measured(asked.subject, by) else None)
        things = tuple(self.entity(thing, by.table)) if thing is not None else groups
        if thing is not None and ranked.entity is None:
            self.sentence.take(thing)
        if not things:
            if by.ref is None:
                return None
            function = by.function or ("max" if ranked.high else "min")
            if by.function in _RATES or by.function in {"sum", "count"}:
                return None
            return Reading(by.table, measures=(Measure(function, by.table, by.ref),), conditions=conditions)
        extra = self._selected(asked, by, things)
        limit = ranked.limit or (0 if asked.direction is not None and not asked.singular else 1 if asked.singular else _PLURAL_SHOWN)
        if groups and groups != things and not ranked.limit:
            return Reading(
                by.table, groups=groups, measures=(Measure(by.function or ("max" if ranked.high else "min"), by.table, by.ref),), conditions=conditions
            )
        row = self._is_row(things, by.table) or (thing is not None and by.table in self.meanings.tables(thing))
        if by.function in {"", "sum"} and row and by.ref is not None:
            plain = Measure("", by.table, by.ref)
            select = tuple(dict.fromkeys([*(group.ref for group in things), *extra, by.ref]))
            return Reading(by.table, select=select, conditions=conditions, ranking=Ranking(plain, high=ranked.high, limit=limit))
        by = self._grouped_measure(asked, ranked, by)
        if by.function == "":
            assert by.ref is not None
            select = tuple(dict.fromkeys([*(group.ref for group in things), *extra, by.ref]))
            return Reading(by.table, select=select, conditions=conditions, ranking=Ranking(by, high=ranked.high, limit=limit))
        others = [measure for measure in measures if measure != by]
        every = tuple(dict.fromkeys([*things, *(Group(ref) for ref in extra if ref.table in {group.ref.table for group in things})]))
        return Reading(
            by.table, groups=every, measures=tuple(dict.fromkeys([by, *others])), conditions=conditions, ranking=Ranking(by, high=ranked.high, limit=limit)
        )

    def _is_measured(self, link: Link | None, by: Measure) -> bool:
        """Whether a link is the measure itself: "what is the highest response time" asks for no thing."""
        return link is None or (by.ref is not None and by.ref in link.columns() and self.asking.is_numeric(link))

    def _grouped_measure(self, asked: Asked, ranked: Ranked, by: Measure) -> Measure:
        """What a plain column becomes where a thing has several rows: slow is a mean, most is a sum, highest the single highest."""
        if by.function or by.ref is None:
            return by
        if ranked.by and ranked.by.quality and self.schema.is_number(by.ref) and ranked.said.startswith(("slow", "fast", "quick", "lang", "schnell", "best", "worst")):
            self.unsure.append(f"by the average {by.ref.column} of each")
            return Measure("avg", by.table, by.ref)
        if asked.together or re.match(r"most|least|fewest|meist|wenigst|top", ranked.said) or ranked.said in {"", "top", "bottom", "first"}:
            if self.schema.is_measure(by.ref):
                self.unsure.append(f"by the sum of {by.ref.column} of each")
                return Measure("sum", by.table, by.ref)
        return by

    def _selected(self, asked: Asked, by: Measure | None, things: tuple[Group, ...]) -> list[Ref]:
        """Further columns that are asked for: "Return the name, the city and …"."""
        taken: list[Ref] = []
        tables = {group.ref.table for group in things} | ({by.table} if by else set())
        subject = [asked.subject] if asked.subject else []
        telling = list(_TELLING.finditer(self.sentence.text))
        for link in (*subject, *self.sentence.free_links()):
            told = telling and self.sentence.tokens[link.first].start > telling[0].start()
            if link.is_value or (link not in subject and not told):
                continue
            refs = [ref for ref in link.columns() if ref.table in tables]
            if refs:
                taken.append(refs[0])
                self.sentence.take(link)
        return list(dict.fromkeys(taken))

    def _over(self, asked: Asked, measures: list[Measure], by: Measure | Group, conditions: tuple[Condition, ...]) -> Reading | None:
        """A measure over the things that a ranking finds first: "the average … of the top 5 …"."""
        ranked = asked.ranked
        specs = [spec for spec in asked.specs if ranked and spec.at < ranked.at]
        if ranked is None or isinstance(by, Group) or not measures or not specs or ranked.entity is None:
            return None
        if ranked.by is None or measures[0] == by or (measures[0].ref == by.ref and measures[0].ref is not None and not asked.together):
            return None
        if any(_TELLING.search(self.sentence.text[: self.sentence.tokens[specs[0].at].start]) for _ in (0,)):
            return None
        if not ranked.limit and not asked.singular and asked.direction is not None:
            return None
        inner = self._ranked(asked, ranked, [], by, (), conditions)
        return self._chained(inner, measures) if inner else None

    def _chained(self, inner: Reading, measures: list[Measure]) -> Reading | None:
        """A Reading over the rows of another."""
        first = inner.select[0] if inner.select else inner.groups[0].ref
        table = measures[0].table
        target: Ref | None = first if first.table == table else None
        if target is None:
            path = self.schema.path([first.table, table])
            if path is None:
                return None
            if len(path) == 1 and path[0].left == first:
                target = path[0].right
            elif len(path) == 1:
                first, target = path[0].left, path[0].right
                inner = replace(inner, select=tuple(dict.fromkeys([first, *inner.select])) if inner.select else ())
                if not inner.select:
                    inner = replace(inner, groups=tuple(dict.fromkeys([Group(first), *inner.groups])))
        if target is None:
            return None
        return Reading(table, measures=tuple(measures), over=inner, link=(first, target))

    def _aggregated(
        self,
        asked: Asked,
        measures: list[Measure],
        groups: tuple[Group, ...],
        conditions: tuple[Condition, ...],
        having: tuple[tuple[Measure, str, float], ...],
        ranking: Ranking | None,
    ) -> Reading | None:
        """Measures, of all rows or of groups of them."""
        if not measures:
            return self._listed(asked, conditions, having, ranking)
        averaged = any(spec.counted and set(spec.functions) & _RATES for spec in asked.specs)
        if groups and averaged and measures[0].function in {"count", "count_distinct"}:
            return Reading(measures[0].table, measures=tuple(measures[:1]), groups=groups, conditions=conditions, spread=True)
        rows = [group for group in groups if self._is_row((group,), measures[0].table)]
        if rows and len(rows) < len(groups):
            groups = tuple(group for group in groups if group not in rows)
        single = self._is_row(groups, measures[0].table)
        if single and all(measure.function in _RATES for measure in measures):
            self.unsure.append(f"{groups[0].ref.column} tells rows apart: over all of them")
            groups = ()
        if not groups and asked.subject is not None and not self._is_of(asked.subject, measures) and self._asks_which(asked):
            groups = tuple(self.entity(asked.subject, measures[0].table))
            self.sentence.take(asked.subject)
        measures = list(dict.fromkeys(measures))
        if ranking is None and groups and asked.direction is not None:
            ranking = Ranking(measures[0], high=asked.direction)
        if ranking is not None and isinstance(ranking.by, Measure) and ranking.by not in measures:
            alike = [measure for measure in measures if measure.ref == ranking.by.ref or not ranking.by.function]
            ranking = replace(ranking, by=(alike or measures)[0])
        if ranking is not None and asked.direction is not None:
            ranking = replace(ranking, high=asked.direction)
        if any(measure.function == "" for measure in measures) and not groups:
            select = tuple(measure.ref for measure in measures if measure.ref)
            return Reading(measures[0].table, select=select, conditions=conditions, ranking=ranking)
        return Reading(measures[0].table, measures=tuple(measures), groups=groups, conditions=conditions, having=having, ranking=ranking)

    def _is_of(self, link: Link, measures: list[Measure]) -> bool:
        """Whether a link is what the measures are of."""
        return any((measure.ref in link.columns()) or (measure.ref is None and measure.table in link.tables) for measure in measures)

    def _asks_which(self, asked: Asked) -> bool:
        """Whether the subject stands behind "which" or "what": then there is one result for each of them."""
        assert asked.subject is not None
        return self.sentence.lower(asked.subject.first - 1) in {"which", "what", "welche", "welcher", "welches"}

    def _listed(
        self,
        asked: Asked,
        conditions: tuple[Condition, ...],
        having: tuple[tuple[Measure, str, float], ...],
        ranking: Ranking | None,
    ) -> Reading | None:
        """Rows, or columns of them: "who owns X", "which endpoints have more than N queries"."""
        subject = asked.subject or next((link for link in self.sentence.free_links() if not link.is_value), None)
        if subject is None or not (conditions or having or ranking or asked.subject):
            return None
        base = self.meanings.base or next(iter(self.meanings.tables(subject)), "")
        things = self.entity(subject, base)
        if not things:
            return None
        self.sentence.take(subject)
        table = things[0].ref.table
        self.meanings.choose(table)
        more = self._also_listed(table)
        compared = [condition.ref for condition in conditions if condition.op not in {"=", "is null"} and condition.ref.table == table]
        select = tuple(dict.fromkeys([*(group.ref for group in things), *more, *compared]))
        if having:
            groups = tuple(Group(ref) for ref in select)
            return Reading(table, groups=groups, measures=(having[0][0],), conditions=conditions, having=having, ranking=ranking)
        return Reading(table, select=select, conditions=conditions, ranking=ranking)

    def _also_listed(self, table: str) -> list[Ref]:
        """Columns that are named beside the subject and that nobody else took."""
        found = []
        for link in self.sentence.free_links():
            refs = [each.ref for each in link.candidates if not each.is_table and each.value is None]
            if link.is_value or not refs:
                continue
            own = [ref for ref in refs if ref.table == table]
            ref = own[0] if own else self.meanings.nearest(refs)
            if ref is not None and not (link.tables and not own) and (own or ref.table in self.meanings.chosen):
                found.append(ref)
                self.sentence.take(link)
        return found

    def _with_others(self, reading: Reading) -> Reading:
        """Rows that have one in another table: "doctors who have prescribed treatments"."""
        if reading.over or (reading.measures and reading.measures[0].function not in {"count", "count_distinct"}):
            return reading
        also = []
        for link in self.sentence.free_links():
            tables = self.meanings.tables(link)
            used = {*reading.tables, *reading.without}
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
                tables = [table for table in self.meanings.tables(link) if table not in (reading.table,)]
                if tables and self.schema.path([reading.table, tables[0]]):
                    self.sentence.take(mark, link)
                    return replace(reading, without=(tables[0],))
        return reading

