"""A question as a row of items: links, marks and plain words, each of which a rule takes once.

In: a text, a Linker. Out: Sentence. What nobody took at the end is what the rules did not understand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from assistant.backends.offline.tables.kinds import PAYING_NOUNS
from assistant.backends.offline.tables.linking import Candidate, Link, Linker, agreed
from assistant.backends.offline.tables.mark_words import TIME_UNITS
from assistant.backends.offline.tables.marks import Mark, find_marks
from assistant.backends.offline.tables.naming import Token, tokens_of
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.vocabulary import name_words, stem
from assistant.backends.offline.wording import words_of
from search.languages import STOPWORDS, query_stopwords

# Words that say nothing of what is asked, beside those that every language has for that.
_EMPTY = words_of(
    """table tables database row rows record records entry entries result results value values respective respectively corresponding
    along there there's get gets got has have had having does did done made make belong belongs belonging exist exists total overall
    tabelle tabellen zeilen zeile einträge eintrag hat haben gehören gehört gibt hoch lautet beträgt
    taken took take takes taking recorded please tell me us many much viel year's order ordered sort sorted ascending descending
    alphabetically alphabetical starting name names named highest lowest list associated number data average averages
    related relevant available currently final answer include including included consider together top both beide beiden us
    we per over across work works worked working log logs logged book booked arbeiten arbeitet arbeitete gearbeitet geleistet
    gebucht erfasst use using things stuff sachen dinge wrote written schrieb
    geschrieben stehen steht liegen liegt"""
)
_SURE = 0.9
_ASKING = frozenset({"aggregate", "count", "group", "limit", "most", "order", "distinct", "share", "how"})
_FILLERS = words_of(
    """of the a an our my your their all any both is us we are was were be been do does did der die das den dem des unsere"""
)


@dataclass
class Sentence:
    """A question in the making. taken: the words that a rule has understood.

    around: the tables around which a word stands. aside: those of these words that are in no name: "net amount". states: words that
    say what an empty cell says: "the largest unpaid invoice".
    """

    text: str
    tokens: list[Token]
    links: list[Link]
    marks: list[Mark]
    language: str
    stops: frozenset[str]
    around: dict[int, frozenset[str]] = field(default_factory=dict)
    aside: frozenset[int] = frozenset()
    taken: set[int] = field(default_factory=set)
    states: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, text: str, linker: Linker, *, language: str, strict: bool = True) -> Sentence:
        """Read a text. A link that holds a mark's words stays, where it says more than they do ("first name").

        strict: words that ask ("total", "most") and units of time are no values.
        """
        tokens = tokens_of(text)
        stops = (query_stopwords(text) | STOPWORDS["en"] | STOPWORDS.get(language, frozenset())) - {"own"}
        marks = _marks(text, language)
        # "Spent" asks for money, and may be the name of the column that holds it.
        covered = frozenset(index for mark in marks if mark.kind != "paying" for index in range(mark.first, mark.last + 1))
        asking = frozenset(index for mark in marks if mark.kind in _ASKING for index in range(mark.first, mark.last + 1))
        asking |= {index for index, token in enumerate(tokens) if token.lower in TIME_UNITS}
        links = linker.links(text, tokens, marks=covered, stops=stops, no_values=asking if strict else frozenset())
        links = agreed(links, linker.schema)
        kept = []
        for mark in marks:
            over = [link for link in links if link.first <= mark.last and mark.first <= link.last]
            if not over:
                # "the phone number of X": the number is the name's, nothing is counted.
                named = any(link.last == mark.first - 1 and not link.is_value for link in links)
                if not (mark.kind == "count" and mark.what.startswith("number of") and named):
                    kept.append(mark)
            elif _outweighs(mark, over):
                kept.append(mark)
                links = [link for link in links if link not in over]
        kept, links = _named_like_marks(kept, links, tokens, linker.schema)
        around = {
            index: linker.schema.around.get(stem(token.lower), frozenset())
            for index, token in enumerate(tokens)
            if token.lower not in stops and not token.quoted
        }
        around = {index: tables for index, tables in around.items() if tables}
        aside = frozenset(index for index in around if stem(tokens[index].lower) not in linker.schema.named)
        return cls(text, tokens, links, kept, language, stops, around, aside)

    def item(self, index: int) -> Link | Mark | None:
        """What begins at a word, None for a plain word or the inside of something."""
        items: tuple[Link | Mark, ...] = (*self.links, *self.marks)
        return next((each for each in items if each.first == index), None)

    def is_filler(self, index: int) -> bool:
        """Whether a plain word may stand between a mark and what it is of."""
        token = self.tokens[index]
        return token.lower in _FILLERS or token.lower in self.stops or index in self.aside or index in self.states

    def beside(self, link: Link) -> Link | Mark | None:
        """What stands right behind a link, with nothing but a blank or a hyphen between."""
        if link.last + 1 >= len(self.tokens):
            return None
        between = self.text[self.tokens[link.last].end : self.tokens[link.last + 1].start]
        return self.item(link.last + 1) if between.strip() in {"", "-"} else None

    def after(self, index: int, *, gap: int = 2) -> Link | Mark | None:
        """The next link or mark from a word on, with nothing but a few fillers before it."""
        for place in range(index, min(index + gap + 1, len(self.tokens))):
            found = self.item(place)
            if found is not None:
                return found
            if not self.is_filler(place):
                return None
        return None

    def before(self, index: int, *, gap: int = 1) -> Link | Mark | None:
        """The link or mark that ends at a word or a few fillers before it."""
        for place in range(index, max(index - gap - 1, -1), -1):
            items: tuple[Link | Mark, ...] = (*self.links, *self.marks)
            found = next((each for each in items if each.last == place), None)
            if found is not None:
                return found
            if not self.is_filler(place):
                return None
        return None

    def take(self, *items: Link | Mark) -> None:
        """Mark the words of items as understood."""
        for each in items:
            self.taken.update(range(each.first, each.last + 1))

    def is_taken(self, item: Link | Mark) -> bool:
        """Whether any word of an item was understood."""
        return any(index in self.taken for index in range(item.first, item.last + 1))

    def free_links(self) -> list[Link]:
        """The links that nobody took."""
        return [link for link in self.links if not self.is_taken(link)]

    def marks_of(self, *kinds: str) -> list[Mark]:
        """The marks of some kinds that nobody took."""
        return [mark for mark in self.marks if mark.kind in kinds and not self.is_taken(mark)]

    def unread(self, also: Iterable[int] = ()) -> list[str]:
        """The words that say something and that nobody took."""
        known = self.taken | set(also)
        return [
            token.text
            for index, token in enumerate(self.tokens)
            if index not in known and token.lower not in self.stops and token.lower not in _EMPTY
        ]

    def words(self, indices: Iterable[int]) -> list[str]:
        """Some words as they are written, by place."""
        return [self.tokens[index].text for index in sorted(indices)]

    def drop(self, links: Iterable[Link]) -> None:
        """Forget links whose words mean something else."""
        dropped = list(links)
        self.links = [link for link in self.links if link not in dropped]

    def lower(self, index: int) -> str:
        """A word in lower case, "" outside the question."""
        return self.tokens[index].lower if 0 <= index < len(self.tokens) else ""


@lru_cache(maxsize=16)
def _marks(text: str, language: str) -> list[Mark]:
    """The marks of a text, which are the same for all tables."""
    return find_marks(text, tokens_of(text), language=language)


def _named_like_marks(
    marks: list[Mark], links: list[Link], tokens: Sequence[Token], schema: Schema
) -> tuple[list[Mark], list[Link]]:
    """With "total" as the name of a column where it cannot be what asks: "the average order total", "sum of total"."""
    columns: dict[str, list[Ref]] = {}
    for ref in schema.refs():
        for word in name_words(ref.column) if schema.is_measure(ref) else ():
            columns.setdefault(word, []).append(ref)
    kept = []
    for mark in marks:
        place = mark.first - 1
        while place > 0 and tokens[place].lower in {"of", "the", "der", "des"}:
            place -= 1
        owner = {table for link in links if link.last == mark.first - 1 for table in link.tables}
        asked = any(each.kind == "aggregate" and place <= each.last < mark.first for each in marks)
        named = columns.get(tokens[mark.first].lower, []) if mark.kind == "aggregate" and mark.first == mark.last else []
        refs = named if asked else [ref for ref in named if ref.table in owner]
        if refs:
            links = [*links, Link(mark.first, mark.last, tuple(Candidate(ref, 1.0) for ref in refs))]
        else:
            kept.append(mark)
    return kept, sorted(links, key=lambda link: link.first)


def _outweighs(mark: Mark, links: list[Link]) -> bool:
    """Whether a mark says more than the links over its words: "billed" asks for money, though "amount" is a synonym of it."""
    if any(link.is_value or link.last > link.first for link in links):
        return False
    if mark.kind == "paying":  # "did they invoice" is no table of invoices
        return all(link.score < _SURE or (mark.what in PAYING_NOUNS and link.tables) for link in links)
    return mark.kind in {"compare", "limit", "most"}
