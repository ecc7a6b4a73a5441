"""Which of its meanings a link has, beside the other links of the question.

In: a Schema and all links. Out: columns and tables: those of tables that the question speaks of anyway, the nearer the better.
"""

from __future__ import annotations

from collections.abc import Sequence

from assistant.backends.offline.tables.kinds import MONEY
from assistant.backends.offline.tables.linking import Link
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.vocabulary import UNITS, likeness, name_words, stem

_FAR = 99.0
_AROUND = 0.3  # what a word around a table says for it, where a name says 1
_UNSAID = 0.1  # less likely is a column of a table that the question does not speak of
_MOST_SUPPORT = 15.0
# "Oldest" is of what began, not of what ended.
_ENDED = frozenset(map(stem, ("end", "ended", "closed", "updated", "modified", "expires", "expiry", "deleted", "due", "last")))


class Meanings:
    """Decides between the meanings of links. base: the table that the question starts from, once it is known.

    around: for plain words of the question, the tables around which they stand. quality: how surely qualities were found.
    """

    def __init__(self, schema: Schema, links: Sequence[Link], around: Sequence[frozenset[str]] = ()) -> None:
        self.schema, self.links = schema, links
        self.base = ""
        self.chosen: list[str] = []
        self.asked: Link | None = None
        self.quality = 0.0
        self.support: dict[str, float] = {}
        for link in links:
            best = link.score
            for table in {each.ref.table for each in link.candidates}:
                scores = [each.score + (0.5 if each.is_table else 0.0) for each in link.candidates if each.ref.table == table]
                only = 0.5 if len({each.ref.table for each in link.candidates}) == 1 else 0.0
                self.support[table] = self.support.get(table, 0.0) + max(scores) / max(best, 0.1) + only

        for tables in around:
            for table in tables:
                self.support[table] = self.support.get(table, 0.0) + _AROUND

    def choose(self, table: str) -> None:
        """Let a table be one of those in play."""
        if table and table not in self.chosen:
            self.chosen.append(table)
        self.base = self.base or table

    def in_play(self) -> list[str]:
        """The chosen tables, then those that the question speaks of, the most spoken of first."""
        spoken = sorted(self.support, key=lambda table: (-self.support[table], table))
        return list(dict.fromkeys([*([self.base] if self.base else []), *self.chosen, *spoken]))

    def is_reached(self, table: str) -> bool:
        """Whether joins lead from the table that the question starts from to another."""
        return not self.base or self.schema.path([self.base, table]) is not None

    def is_asked(self, link: Link) -> bool:
        """Whether a link is what the question asks for."""
        return self.asked is not None and link == self.asked

    def nearest(self, refs: Sequence[Ref]) -> Ref | None:
        """The column whose table is in play, or the fewest joins away; of equals the first."""
        return min(refs, key=lambda ref: (self._distance(ref.table), refs.index(ref)), default=None)

    def _distance(self, table: str) -> float:
        if table == self.base:
            return 0.0
        if table in self.chosen:
            return 0.3
        near = -min(self.support.get(table, 0.0), _MOST_SUPPORT) * 0.05
        if not self.base:
            return 1.0 + near * 10
        path = self.schema.path([self.base, table])
        return 0.5 + near + sum(join.cost for join in path) if path is not None else _FAR

    def column(self, link: Link, *, numeric: bool = False) -> Ref | None:
        """The column that a link means, a number where that is wanted."""
        kept = [
            each
            for each in link.candidates
            if not each.is_table and (not numeric or self.schema.is_number(each.ref)) and each.value is None
        ]
        if not kept:
            return None
        best = max(each.score for each in kept)
        return self.nearest([each.ref for each in kept if each.score >= (0.85 if self.base else 0.99) * best])

    def by_quality(self, words: Sequence[str], *, numeric: bool = False) -> Ref | None:
        """The column of a table in play whose name or unit says a quality, as "slowest" is said of a duration."""
        best: tuple[float, Ref] | None = None
        spoken = self.in_play()
        for place, table in enumerate([*spoken, *self._beyond(spoken)]):
            for ref in self.schema.columns(table):
                if not (self._comes_when(ref, words) if "date" in words and not numeric else self.schema.is_measure(ref)):
                    continue
                score = self._says(ref, words) - 0.02 * place - (0.0 if table in spoken else _UNSAID)
                if score > 0 and (best is None or score > best[0]):
                    best = (score, ref)
        self.quality = max(self.quality, best[0] if best else 0.0)
        return best[1] if best else None

    def _beyond(self, spoken: Sequence[str]) -> list[str]:
        """The tables that no word speaks of, though joins lead to them from the first that one does."""
        others = [table for table in self.schema.tables if table not in spoken] if spoken else []
        return [table for table in others if len(self.schema.path([spoken[0], table]) or "..") == 1]

    def _comes_when(self, ref: Ref, words: Sequence[str]) -> bool:
        """Whether the values are times that a quality may be of; a time of the day only where "time" is one of its words."""
        return self.schema.is_when(ref) and ("time" in words or self.schema.column(ref).type != "time")

    def _says(self, ref: Ref, words: Sequence[str]) -> float:
        named = name_words(ref.column)
        score = 0.0
        for place, word in enumerate(words):
            said = max((likeness(word, each) for each in named), default=0.0)
            unit = self.schema.unit(ref).lower()
            if unit and word in UNITS.get(unit, ("", frozenset()))[1]:
                said = max(said, 0.8)
            score = max(score, said - 0.02 * place)
        if score < 0.7 and "date" in words and self.schema.is_when(ref):
            score = 0.7 if self.schema.is_date(ref) else 0.6
            return score - (0.3 if _ENDED & set(map(stem, named)) else 0.0)
        if score < 0.7 or (words == MONEY and self.schema.unit(ref) and not self.schema.is_money(ref)):
            return 0.0
        if self.schema.is_date(ref) and set(words) & {"date", "created"}:
            score += 0.1
        # "slowest" is of what was measured, not of what is allowed.
        return score - (0.3 if {"timeout", "limit", "max", "min"} & set(named) else 0.0)

    def label(self) -> Ref | None:
        """The name of the rows of the table that the question starts from."""
        for table in self.in_play()[:1]:
            return self.schema.label(table)[0]
        return None

    def tables(self, link: Link) -> list[str]:
        """The tables that a link means, where nothing that it could mean instead is said more surely."""
        best = link.score
        return [each.ref.table for each in link.candidates if each.is_table and each.score >= 0.85 * best]
