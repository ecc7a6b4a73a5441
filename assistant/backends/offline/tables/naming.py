"""Where a question says a name: all of its words or enough of them, side by side.

In: the words of a question, the words of a table's or column's name. Out: stretches of words with how surely the name is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.backends.offline.tables.vocabulary import likeness
from assistant.backends.offline.wording import words_of

WORD = re.compile(r"\d[\d.,]*\d(?:%)?|\d|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]+")
QUOTED = re.compile(r"(?<!\w)(?:\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|'([^']+)'|`([^`]+)`)(?!\w)")
_GLUE = words_of("of the a an at 's der des die das den dem")
_NAMES_OF_PERSONS = words_of("first last middle user full")
_PARTICIPLE = re.compile(r"(?:ed|en|ght)$")
_LONGEST = 7  # words of a stretch
_ENOUGH = 0.5  # share of a name's words that must be said
_ALIKE = 0.7  # likeness from which a word says another


@dataclass(frozen=True, slots=True)
class Token:
    """A word at characters `start` to `end`. quoted: within quotation marks."""

    text: str
    start: int
    end: int
    quoted: bool = False

    @property
    def lower(self) -> str:
        """In lower case, without a possessive's ending."""
        return re.sub(r"['’]s?$", "", self.text.lower())


def tokens_of(text: str) -> list[Token]:
    """The words of a text; a hyphen parts them."""
    quoted = [match.span() for match in QUOTED.finditer(text)]
    return [
        Token(match[0], *match.span(), quoted=any(start <= match.start() < end for start, end in quoted))
        for match in WORD.finditer(text)
    ]


def is_done(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word is a participle that says by whom: "endpoints owned by", "cited by"."""
    behind = tokens[place + 1].lower if place + 1 < len(tokens) else ""
    return bool(_PARTICIPLE.search(tokens[place].lower)) and behind in {"by", "von"}


@dataclass(frozen=True, slots=True)
class Name:
    """The words of a name. needed: those to be said, or half of them. may: those that may. owner: of the table a column is in."""

    needed: tuple[str, ...]
    may: tuple[str, ...]
    owner: tuple[str, ...] = ()

    @classmethod
    def of(cls, needed: Sequence[str], may: Sequence[str], *, owner: Sequence[str] = ()) -> Name:
        """A name; `city_name` is also said as "city", `first_name` is not "first"."""
        named = "name" in needed and len(needed) > 1 and not _NAMES_OF_PERSONS & set(needed)
        kept = tuple(word for word in needed if not (named and word == "name"))
        more = (*may, "name") if named else tuple(may)
        return cls(kept, more, tuple(word for word in owner if word not in {*kept, *more}))

    def stretches(
        self, tokens: Sequence[Token], *, marks: frozenset[int], stops: frozenset[str]
    ) -> Iterator[tuple[int, int, float]]:
        """The stretches that say the name, with their scores. marks: words that ask, which say no name by themselves."""
        # A word that asks says no unit: "the slowest response" in ms.
        hits = [
            hit if (hit := self._hit(token, stops)) is None or place not in marks or hit[0] in self.needed else None
            for place, token in enumerate(tokens)
        ]
        for first, hit in enumerate(hits):
            if hit is not None and not (first and hits[first - 1] == hit):
                yield from (
                    stretch
                    for stretch in self._from(first, tokens, hits, marks)
                    if self._says_enough(tokens[first : stretch[1] + 1], stops)
                )

    def _says_enough(self, tokens: Sequence[Token], stops: frozenset[str]) -> bool:
        """Whether more is said than such a word as "on", unless it is the name."""
        return len(self.needed) == 1 or any(token.lower not in stops for token in tokens)

    def _hit(self, token: Token, stops: frozenset[str]) -> tuple[str, float] | None:
        """The word of the name that a token says, and how surely."""
        every = (*self.needed, *self.may, *self.owner)
        if token.quoted or (token.lower in stops and token.lower not in every):
            return None
        word = max(every, key=lambda each: likeness(token.lower, each))  # of equals one that is needed
        alike = likeness(token.lower, word)
        return (word, alike) if alike >= _ALIKE else None

    def _from(
        self, first: int, tokens: Sequence[Token], hits: Sequence[tuple[str, float] | None], marks: frozenset[int]
    ) -> Iterator[tuple[int, int, float]]:
        """The stretches from a word on, each longer than the one before."""
        said: dict[str, float] = {}
        for last in range(first, min(first + _LONGEST, len(tokens))):
            hit = hits[last]
            if hit is None:
                if tokens[last].lower not in _GLUE or tokens[last].quoted:
                    return
                continue
            if hit[0] in said or (hit[0] in self.owner and said and tokens[last - 1].lower not in _GLUE):
                return  # "endpoint owner" is one name, "owner endpoints" two
            if said and is_done(tokens, last):
                return
            said[hit[0]] = hit[1]
            score = self._score(said)
            if score is not None and not set(range(first, last + 1)) <= marks:
                yield first, last, score

    def _score(self, said: dict[str, float]) -> float | None:
        """How surely the name is meant; None where too little of it is said."""
        if not self.needed:
            return None
        gained = [value for word, value in said.items() if word in self.needed]
        share = sum(gained) / len(self.needed)
        whole = "name" not in self.needed or len(self.needed) == 1 or len(gained) == len(self.needed)
        if not gained or share < _ENOUGH or not whole:
            return None
        also = sum(value for word, value in said.items() if word not in self.needed)
        return (sum(gained) + 0.3 * also) * (0.5 + 0.5 * share) - 0.15 * (len(self.needed) - len(gained))
