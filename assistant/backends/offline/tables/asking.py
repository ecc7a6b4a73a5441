"""From the words that ask to Asked: "the 3 slowest", "average … per …", "how many", "which …".

In: a Sentence. Out: Asked. Each mark is taken once, with the links that it is of.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.backends.offline.names import is_plural
from assistant.backends.offline.tables.asked import Asked, Ranked, Spec
from assistant.backends.offline.tables.kinds import MONEY, PAYING, SIZE, SPENT
from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.mark_words import TIME_UNITS
from assistant.backends.offline.tables.marks import Mark
from assistant.backends.offline.tables.models import Function
from assistant.backends.offline.tables.naming import is_done
from assistant.backends.offline.tables.schema import Schema
from assistant.backends.offline.tables.sentence import Sentence
from assistant.backends.offline.tables.vocabulary import likeness
from assistant.backends.offline.wording import words_of

_ORDERING = words_of("order ordered sort sorted rank ranked arranged sortiert geordnet ranking")
_COMMON = re.compile(r"common|frequent|often|used")
_TOGETHER = re.compile(r"\b(?:in total|together|altogether|combined|insgesamt|zusammen|overall)\b")
# What "highest" and the like mean of a thing, where it has such a column.
_SIZES = {
    **dict.fromkeys(("highest", "lowest"), ("height", "altitude", "elevation")),
    **dict.fromkeys(("largest", "biggest", "greatest", "smallest"), SIZE),
    **{f"{word}{ending}": SIZE for word in ("größte", "kleinste", "höchste") for ending in ("", "n", "r", "s")},
}
_HOW_MUCH = re.compile(
    r"\b(?:how much|wie ?viel|what (?:do|does|did|have|has|had)"
    r"|was (?:hat|haben|habt|hatte|kostet|kosten|zahl\w+|berechn\w+|verlang\w+))\b",
    re.IGNORECASE,
)
_ON_AVERAGE = re.compile(r"\bon average\b|\bim (?:durchschnitt|schnitt|mittel)\b|\bdurchschnittlich\b", re.IGNORECASE)
_PAYS = re.compile(PAYING)
_MOST_GROUPS = 3
_SURE = 0.9
_ONE = frozenset({"a", "an", "one", "ein", "eine", "einer", "einem", "jeder", "jede", "jedes"})


class Asking:
    """Reads one Sentence."""

    def __init__(self, sentence: Sentence, schema: Schema) -> None:
        self.sentence, self.schema = sentence, schema
        self.asked = Asked()
        self._limit: Mark | None = None

    def read(self) -> Asked:
        """Take the marks of the sentence one after the other."""
        lowered = self.sentence.text.lower()
        self.asked.together = bool(_TOGETHER.search(lowered))
        self.asked.direction = next((mark.what == "down" for mark in self.sentence.marks if mark.kind == "order"), None)
        readers = {"limit": self._read_limit, "most": self._read_most, "group": self._read_group}
        for mark in self.sentence.marks:
            if self.sentence.is_taken(mark):
                continue
            if mark.kind in readers:
                readers[mark.kind](mark)
            elif mark.kind == "share":
                self._read_share(mark)
            elif mark.kind == "order":
                self.sentence.take(mark)
            elif mark.kind == "how":
                self._read_how(mark)
            elif mark.kind in {"aggregate", "count"}:
                self._add(self.spec(mark.first))
            elif mark.kind == "ask" and self.asked.subject is None:
                self._read_ask(mark)
        self._finish()
        return self.asked

    def is_numeric(self, link: Link | None) -> bool:
        """Whether a link may be a measure, and is not more surely something else."""
        if link is None or link.is_value:
            return False
        best = max(each.score for each in link.candidates)
        return any(not each.is_table and self.schema.is_measure(each.ref) and each.score >= 0.9 * best for each in link.candidates)

    def spec(self, start: int) -> Spec:
        """The measure that begins at a word: functions, "number of", then what it is of."""
        functions: list[Function] = []
        counted = distinct = False
        place = start
        link: Link | None = None
        quality: tuple[str, ...] = ()
        while (item := self.sentence.after(place)) is not None:
            place = item.last + 1
            if isinstance(item, Mark) and item.kind == "paying" and functions:
                quality = MONEY
                break
            if isinstance(item, Link):
                if item.is_value:
                    continue
                link = item
                break
            if item.kind == "not" and (functions or counted):  # "how many non-billable hours"
                continue
            if item.kind not in {"aggregate", "count", "distinct"} or (item.kind == "count" and counted):
                break
            self.sentence.take(item)
            counted = counted or item.kind == "count"
            distinct = distinct or item.kind == "distinct"
            if item.kind == "aggregate":
                functions.append(item.what)  # type: ignore[arg-type]
        if link is not None:
            link = self._head(link, counted=counted and not functions)
            self.sentence.take(link)
        return Spec(start, tuple(functions), counted, distinct, link, quality)

    def _read_how(self, mark: Mark) -> None:
        """Take "how slow is X"."""
        self.asked.specs.append(Spec(mark.first, ("avg",), quality=mark.quality))

    def _head(self, link: Link, *, counted: bool) -> Link:
        """The last of nouns in a row: "customer payment amount", "latency measurements"."""
        while True:
            behind = self.sentence.beside(link)
            if not isinstance(behind, Link) or behind.is_value or self._is_flag(behind):
                return link
            # "Bakeries opened", "depot opens": a noun and what it does.
            pays = bool(_PAYS.fullmatch(self.sentence.lower(behind.first))) and not self.is_numeric(link)
            does = pays or is_done(self.sentence.tokens, behind.last) or (self._is_when(behind) and not behind.tables)
            measured = self.is_numeric(behind) or any(self.schema.is_spoilt(ref) for ref in behind.columns())
            if (pays or not measured) and not self._is_flag(link) and (does or not counted or self.is_numeric(link)):
                return link
            if not self._is_flag(link):  # "billable hours" are under a condition
                self.sentence.take(link)
            link = behind

    def _is_flag(self, link: Link) -> bool:
        best = link.candidates[0]
        return not best.is_table and self.schema.yes_and_no(best.ref) is not None

    def _add(self, spec: Spec) -> None:
        if spec.link is not None or spec.counted or spec.functions:
            self.asked.specs.append(spec)

    def _read_limit(self, mark: Mark) -> None:
        self.sentence.take(mark)
        ranked = self.asked.ranked
        if ranked is None or ranked.plain:
            self.asked.ranked = ranked = Ranked(mark.first)
        ranked.limit = ranked.limit or mark.count
        if mark.what in {"bottom", "worst", "last", "letzten"}:
            ranked.high = False
        behind = self.sentence.after(mark.last + 1, gap=3)
        if isinstance(behind, Link) and not behind.is_value and (not self.is_numeric(behind) or self._are_rows(behind)):
            ranked.entity = self._head(behind, counted=True)
            self.sentence.take(ranked.entity)
        ranked.at, ranked.said = min(ranked.at, mark.first), ranked.said or mark.what
        if mark.quality and ranked.by is None:
            ranked.by = Spec(mark.first, quality=mark.quality)

    def _read_most(self, mark: Mark) -> None:
        self.sentence.take(mark)
        ranked = self.asked.ranked
        if ranked is None or ranked.plain or ranked.by is not None:
            ranked = Ranked(mark.first, limit=ranked.limit if ranked and ranked.plain else 0)
        self.asked.ranked = ranked
        ranked.high, ranked.said = mark.high, mark.what
        behind = self.sentence.after(mark.last + 1)
        if mark.quality:
            self._read_quality(mark, ranked, behind)
            return
        if _COMMON.search(mark.what) or self._is_common(mark):
            ranked.common = True
            if isinstance(behind, Link):
                ranked.entity = ranked.entity or behind
                self.sentence.take(behind)
            else:  # "which shoes did I use most often"
                ranked.entity = ranked.entity or self.asked.subject
            return
        spec = self.spec(mark.last + 1)
        if spec.link is not None and mark.what in _SIZES and not spec.functions and not spec.counted and self._are_rows(spec.link):
            ranked.by, ranked.entity = Spec(spec.at, link=spec.link, quality=_SIZES[mark.what]), spec.link
            return
        if spec.link is None and not spec.counted:
            before = self.sentence.before(mark.first - 1)
            if isinstance(before, Link) and self.is_numeric(before) and before != self.asked.subject:  # "who spent the most"
                self.sentence.take(before)
                ranked.by = Spec(before.first, link=before)
            elif isinstance(before, Link) and before.tables and self.asked.subject not in {None, before}:
                self.sentence.take(before)  # "which route do I run most"
                ranked.common, ranked.entity = True, self.asked.subject
            elif _SIZES.get(mark.what) == SIZE:  # "which of them is the biggest"
                ranked.by = Spec(mark.first, quality=SIZE)
            return
        ranked.by = spec
        if spec.link and not spec.counted and not spec.functions and not self.is_numeric(spec.link):
            quality = _SIZES.get(mark.what.split()[0], ())
            ranked.by = Spec(spec.at, link=spec.link, quality=quality)
            ranked.entity = ranked.entity or (spec.link if quality else None)
        behind = self.sentence.beside(spec.link) if spec.link else None
        if isinstance(behind, Link) and not behind.is_value and self.is_numeric(spec.link) and ranked.entity is None:
            ranked.entity = behind
            self.sentence.take(behind)

    def _read_quality(self, mark: Mark, ranked: Ranked, behind: Link | Mark | None) -> None:
        """Take "the slowest endpoints", "the longest response time", "which depot opens earliest"."""
        ranked.by = Spec(mark.first, quality=mark.quality)
        before = self.sentence.before(mark.first - 1, gap=0)
        if isinstance(behind, Link) and not behind.is_value:
            self.sentence.take(behind)
            timed = (
                self._is_when(behind) and mark.quality != MONEY
            )  # "the most expensive month" is ranked, not what it is ranked by
            rows = self._are_rows(behind)  # "the most expensive expenses", though "expense" means an amount as well
            if (self.is_numeric(behind) or timed) and not rows:
                ranked.by = Spec(mark.first, link=behind)
            else:
                ranked.entity = ranked.entity or behind
        elif isinstance(behind, Mark) and behind.kind == "aggregate":
            spec = self.spec(behind.first)  # "the longest average time", "slowest on average"
            ranked.by = spec if spec.link else replace(ranked.by, functions=spec.functions)
        elif isinstance(before, Link) and not before.is_value and (self.is_numeric(before) or self._is_when(before)):
            self.sentence.take(before)
            ranked.by = Spec(mark.first, link=before)

    def _are_rows(self, link: Link) -> bool:
        """Whether several rows of a table are meant, rather than a column of its name."""
        best = max(each.score for each in link.candidates)
        several = is_plural(self.sentence.lower(link.last)) or (self.asked.ranked is not None and self.asked.ranked.limit > 1)
        return several and any(each.is_table and each.score >= _SURE * best for each in link.candidates)

    def _is_when(self, link: Link) -> bool:
        return any(self.schema.is_when(ref) for ref in link.columns())

    def _is_common(self, mark: Mark) -> bool:
        behind = self.sentence.lower(mark.last + 1)
        if mark.what.strip() == "most" and behind in {"common", "frequent", "frequently", "often", "popular", "used"}:
            self.sentence.taken.add(mark.last + 1)
            return self.sentence.item(mark.last + 1) is None
        return False

    def _read_group(self, mark: Mark) -> None:
        before = self.sentence.lower(mark.first - 1)
        if mark.what == "by" and before in _ORDERING:
            self.sentence.take(mark)
            spec = self.spec(mark.last + 1)
            if self.asked.ranked is None or (self.asked.ranked.by is None and not self.asked.ranked.common):
                limit = self.asked.ranked
                self.asked.ranked = limit or Ranked(mark.first, plain=True, high=bool(self.asked.direction))
                self.asked.ranked.by = spec if spec.link or spec.counted else None
            return
        if mark.what in {"by", "nach"} and self._is_ordered_by(mark):
            return
        noun = self.sentence.before(mark.first - 1, gap=0)
        named = isinstance(noun, Link) and any(each.is_table and each.score >= _SURE for each in noun.candidates)  # "ausgaben by"
        if mark.what == "by" and mark.first and not named and is_done(self.sentence.tokens, mark.first - 1):
            self.sentence.take(mark)
            return
        if TIME_UNITS.get(mark.what):
            self.sentence.take(mark)
            self.asked.groups.append((None, TIME_UNITS[mark.what]))
            return
        self._take_groups(mark)

    def _is_ordered_by(self, mark: Mark) -> bool:
        """Whether "by" says what a ranking goes by: "top 3 endpoints by queries", "the largest depots by parcels a day"."""
        ranked = self.asked.ranked
        if ranked is None or ranked.common:
            return False
        by = ranked.by
        said = by is not None and (by.functions or by.counted or self.is_numeric(by.link) or by.link != ranked.entity)
        if said or not (ranked.limit if by is None else self._is_measured_at(mark.last + 1)):
            return False
        self.sentence.take(mark)
        spec = self.spec(mark.last + 1)
        ranked.by = spec if spec.link or spec.counted else None
        return True

    def _is_measured_at(self, place: int) -> bool:
        """Whether a measure begins at a word."""
        item = self.sentence.after(place)
        return item.kind in {"aggregate", "count"} if isinstance(item, Mark) else self.is_numeric(item)

    def _take_groups(self, mark: Mark) -> None:
        self.sentence.take(mark)
        place = mark.last + 1
        while len(self.asked.groups) < _MOST_GROUPS:
            while isinstance(between := self.sentence.after(place), Mark) and between.kind in {"distinct", "group"}:
                self.sentence.take(between)
                place = between.last + 1
            unit = self._unit(place)
            link = self.sentence.after(place)
            if isinstance(link, Link) and self._is_time(link):
                self.sentence.drop([link])
                self.sentence.taken.add(link.first)
                self.asked.groups.append((None, TIME_UNITS[self.sentence.lower(link.first)]))
                place = link.last + 1
            elif isinstance(link, Link) and not link.is_value:
                link = self._head(link, counted=True)
                self.sentence.take(link)
                self.asked.groups.append((link, TIME_UNITS.get(self.sentence.lower(link.last), "")))
                place = link.last + 1
            elif unit is not None:
                self.sentence.taken.add(unit)
                self.asked.groups.append((None, TIME_UNITS[self.sentence.lower(unit)]))
                place = unit + 1
            else:
                return
            if self.sentence.lower(place) not in {"and", "und"} or self.sentence.text[self.sentence.tokens[place].start - 2] == ",":
                return
            place += 1

    def _is_time(self, link: Link) -> bool:
        """Whether "month" means months of a date, though a column of another kind has the word in its name."""
        named = [ref for ref in link.columns() if not self.schema.unit(ref)]
        return link.first == link.last and self.sentence.lower(link.first) in TIME_UNITS and not named and not link.tables

    def _unit(self, place: int) -> int | None:
        for index in range(place, min(place + 3, len(self.sentence.tokens))):
            if self.sentence.lower(index) in TIME_UNITS and self.sentence.item(index) is None:
                return index
            if not self.sentence.is_filler(index):
                return None
        return None

    def _read_share(self, mark: Mark) -> None:
        """Take the two measures of "the ratio of A to B"; things without a function are counted."""
        self.sentence.take(mark)
        self.asked.quotient = True
        place = mark.last + 1
        for _ in range(2):
            spec = self.spec(place)
            if spec.link is None:
                return
            counted = spec.counted or not self.is_numeric(spec.link)
            self.asked.specs.append(replace(spec, counted=counted, distinct=False))
            place = next(
                (i + 1 for i in range(spec.link.last, len(self.sentence.tokens)) if self.sentence.lower(i) in {"to", "zu"}), 0
            )
            if not place:
                return

    def _read_ask(self, mark: Mark) -> None:
        behind = self.sentence.after(mark.last + 1, gap=3)
        self.asked.singular = self.asked.singular or mark.what in {"who", "wer"}  # "… on my list" asks nothing more
        whom = mark.what in {"who", "wer"} and isinstance(behind, Link) and self.is_numeric(behind)  # "who spent the most"
        if isinstance(behind, Link) and not behind.is_value and not whom:
            self.asked.subject = self._head(behind, counted=True)
            self.asked.singular = self.asked.singular or not is_plural(self.sentence.lower(self.asked.subject.last))

    def _read_plain(self) -> None:
        """Take "hours per person", "weekly hours", "tickets per month": what is beside "per" is added up, averaged, or counted."""
        first = next((mark for mark in self.sentence.marks if mark.kind in {"group", "versus"}), None)
        if first is None:
            return
        link = self.sentence.before(first.first - 1, gap=0)
        if first.kind == "versus":
            link = next((each for each in self.sentence.free_links() if self.is_numeric(each)), None)
        elif first.what in TIME_UNITS:
            link = self.sentence.after(first.last + 1, gap=0)
        if not isinstance(link, Link) or link.is_value or self.sentence.is_taken(link):
            return
        numbers = [ref for ref in link.columns() if self.schema.is_measure(ref) or self.schema.is_spoilt(ref)]
        if numbers and not (link.tables and is_plural(self.sentence.lower(link.last))):
            self.sentence.take(link)
            named = replace(link, candidates=tuple(each for each in link.candidates if each.ref in numbers))
            self.asked.specs.append(Spec(link.first, ("avg" if self.schema.is_rate(numbers[0]) else "sum",), link=named))
        elif link.tables:
            self.sentence.take(link)
            spent = self._is_spent(link)
            self.asked.specs.append(Spec(link.first, ("sum",) if spent else (), counted=not spent, link=link))

    def _is_spent(self, link: Link) -> bool:
        """Whether a table is named after money, of which "expenses per month" is the sum."""
        named = [word for table in link.tables for word in self.schema.table_words(table)[0]]
        return any(likeness(word, each) >= _SURE for word in SPENT for each in named)

    def _finish(self) -> None:
        several = self.asked.groups or self.sentence.marks_of("versus")
        if several and not self.asked.specs and self.asked.ranked is None and self.asked.subject is None:
            self._read_plain()
        ranked = self.asked.ranked
        if ranked and ranked.entity is not None and self.asked.subject is None:
            self.asked.singular = not is_plural(self.sentence.lower(ranked.entity.last))
        adverbs = [spec for spec in self.asked.specs if spec.functions and not (spec.link or spec.counted or spec.quality)]
        functions = next((spec.functions for spec in adverbs if not set(spec.functions) & {"min", "max"}), ())
        if self.sentence.marks_of("paying"):
            self._read_paying(functions)
        if functions and len(self.asked.specs) == len(adverbs) + 1:  # "how many docks does a depot have on average"
            self.asked.specs = [self._averaged(spec, functions) for spec in self.asked.specs if spec not in adverbs]
        if ranked and ranked.by and not ranked.by.functions and not ranked.by.counted and _ON_AVERAGE.search(self.sentence.text):
            ranked.by = replace(ranked.by, functions=("avg",))

    def _averaged(self, spec: Spec, functions: tuple[Function, ...]) -> Spec:
        """What is counted, with the function that stands apart from it: of a column of numbers, or of the count for each thing."""
        if not spec.counted or spec.functions or spec.distinct:
            return spec
        if self.is_numeric(spec.link):
            return replace(spec, functions=functions, counted=False)
        things = [link for link in self.sentence.free_links() if self.sentence.lower(link.first - 1) in _ONE and not link.is_value]
        if len(things) != 1 or self.asked.groups:
            return spec
        self.sentence.take(*things)
        self.asked.groups.append((things[0], ""))
        return replace(spec, functions=functions)

    def _read_paying(self, functions: tuple[Function, ...]) -> None:
        """Take "billed the most", "how much did we pay": money, though no column is named."""
        ranked, said = self.asked.ranked, self.sentence.marks_of("paying")[0]
        named = any(spec.link or spec.counted or spec.quality for spec in self.asked.specs)
        if ranked is not None:
            if ranked.by is None and not ranked.common and not named:
                ranked.by = Spec(said.first, quality=MONEY)
        elif not named and (functions or _HOW_MUCH.search(self.sentence.text[: self.sentence.tokens[said.first].end])):
            self.asked.specs.append(Spec(said.first, functions or ("sum",), quality=MONEY))
