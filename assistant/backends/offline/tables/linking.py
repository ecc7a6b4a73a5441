"""Which words of a question name a table, a column, or a value of a column.

In: the words of a question, a Schema. Out: Links: stretches of words with what they may mean, the surest first. Several readings
of one stretch are kept side by side ("endpoints" is a table and a column of two): what is asked decides between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.vocabulary import UNITS, likeness, name_words, stem

_WORD = re.compile(r"\d[\d.,]*\d(?:%)?|\d|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]+")
_QUOTED = re.compile(r"(?<!\w)(?:\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|'([^']+)'|`([^`]+)`)(?!\w)")
_GLUE = frozenset("of the a an at 's der des die das den".split())
_NAMES_OF_PERSONS = frozenset("first last middle user full".split())
_LONGEST = 7  # words of a link
_ENOUGH = 0.5  # share of a name's words that must be said
_BESIDE = 0.7  # share of the best reading's score from which another is kept
_MOST_VALUES = 20_000
_LONG_VALUE = 4  # characters from which a value is known in another form


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """One meaning of a stretch: a table (ref.column is ""), a column, or a value of a column."""

    ref: Ref
    score: float
    value: str | None = None

    @property
    def is_table(self) -> bool:
        """Whether a whole table is meant."""
        return not self.ref.column


@dataclass(frozen=True, slots=True)
class Link:
    """Words `first` to `last` and what they may mean. quoted: the words in quotation marks, "" where there are none."""

    first: int
    last: int
    candidates: tuple[Candidate, ...]
    quoted: str = ""

    @property
    def is_value(self) -> bool:
        """Whether a value is meant, rather than a name."""
        return bool(self.quoted) or any(each.value is not None for each in self.candidates)

    @property
    def score(self) -> float:
        """Of the surest meaning."""
        return max((each.score for each in self.candidates), default=1.0)

    @property
    def tables(self) -> list[str]:
        """The tables that are meant themselves."""
        return [each.ref.table for each in self.candidates if each.is_table]

    def columns(self, table: str = "") -> list[Ref]:
        """The columns that may be meant, of one table or of all."""
        return [each.ref for each in self.candidates if not each.is_table and table in {"", each.ref.table}]


def tokens_of(text: str) -> list[Token]:
    """The words of a text; a hyphen parts them."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    return [
        Token(match[0], *match.span(), quoted=any(start <= match.start() < end for start, end in quoted))
        for match in _WORD.finditer(text)
    ]


class Linker:
    """Finds the links of questions over one Schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @cached_property
    def _names(self) -> list[tuple[Ref, list[str], list[str]]]:
        tables = [(Ref(name, ""), *self.schema.table_words(name)) for name in self.schema.tables]
        return tables + [(ref, *_lenient(*self._column_words(ref))) for ref in self.schema.refs()]

    def _column_words(self, ref: Ref) -> tuple[list[str], list[str]]:
        """The words of a column, with those of its unit."""
        needed, may = self.schema.column_words(ref)
        if not self.schema.is_measure(ref):
            # "customer city", "the names of the authors"; what is measured stays apart from whose it is.
            may = [*may, *(f"+{word}" for word in self.schema.table_words(ref.table)[0] if word not in {*needed, *may})]
        unit = UNITS.get(self.schema.unit(ref).lower())
        return needed, [*may, *sorted(unit[1] - set(needed))] if unit else may

    @cached_property
    def _values(self) -> dict[str, list[tuple[Ref, str]]]:
        """Values of text columns by their first word."""
        found: dict[str, list[tuple[Ref, str]]] = {}
        count = 0
        for ref in self.schema.refs():
            column = self.schema.column(ref)
            for value in column.values if column.type == "text" else ():
                words = _WORD.findall(value.replace("_", " ").lower())
                count += 1
                if words and count <= _MOST_VALUES:
                    found.setdefault(words[0], []).append((ref, value))
                    if len(words) == 1 and len(words[0]) >= _LONG_VALUE:
                        found.setdefault("~" + stem(words[0]), []).append((ref, value))
        return found

    def links(self, text: str, tokens: Sequence[Token], *, marks: frozenset[int], stops: frozenset[str]) -> list[Link]:
        """The links of a text, by place. marks: words that ask ("most", "number"): alone they name nothing."""
        found = list(self._quotations(text, tokens))
        spans = [
            (first, last, candidate)
            for first, last, candidate in (*self._named(tokens, marks, stops), *self._valued(text, tokens, stops))
            if not any(link.first <= last and first <= link.last for link in found)
        ]
        for first, last, _ in sorted(spans, key=lambda span: (-span[2].score, span[0] - span[1], span[0])):
            if any(link.first <= last and first <= link.last for link in found):
                continue
            same = sorted((c for f, e, c in spans if (f, e) == (first, last)), key=lambda each: -each.score)
            kept = {each.ref: each for each in reversed(same) if each.score >= _BESIDE * same[0].score}
            found.append(Link(first, last, tuple(sorted(kept.values(), key=lambda each: -each.score))))
        return sorted(found, key=lambda link: link.first)

    def _named(self, tokens: Sequence[Token], marks: frozenset[int], stops: frozenset[str]) -> Iterator[tuple[int, int, Candidate]]:
        """Stretches that say the name of a table or column."""
        for ref, needed, may in self._names:
            hits = [_hit(token, needed, may, stops) for token in tokens]
            for first in range(len(tokens)):
                if hits[first] is None or hits[first - 1 : first] == [hits[first]] and first:
                    continue
                yield from _stretches(ref, needed, tokens, hits, first, marks)

    def _quotations(self, text: str, tokens: Sequence[Token]) -> Iterator[Link]:
        for match in _QUOTED.finditer(text):
            inside = [index for index, token in enumerate(tokens) if match.start() <= token.start < match.end()]
            value = next(group for group in match.groups() if group is not None).strip()
            if inside and value:
                known = tuple(
                    Candidate(ref, 2.0, each)
                    for ref, each in self._values.get(_WORD.findall(value.lower())[0], [])
                    if each.casefold() == value.casefold()
                )
                yield Link(inside[0], inside[-1], known, value)

    def _valued(self, text: str, tokens: Sequence[Token], stops: frozenset[str]) -> Iterator[tuple[int, int, Candidate]]:
        """Stretches that are a value of a column, as it is written or with blanks for its underscores."""
        for first, token in enumerate(tokens):
            if token.quoted:
                continue
            for ref, value in self._values.get(token.lower, ()):
                if len(value) < 4 and not value.isdigit() and text[token.start : token.start + len(value)] != value:
                    continue
                if value.lower() in stops or value.isdigit():
                    continue
                pattern = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", value)))
                match = re.compile(rf"{pattern}(?:s(?!\w))?(?![\w/{{]|[.,]\d)", re.IGNORECASE).match(text, token.start)
                if match:
                    last = max(i for i, each in enumerate(tokens) if each.start < match.end())
                    words = last - first + 1
                    exact = text[token.start : match.end()] == value
                    yield (
                        first,
                        last,
                        Candidate(ref, 1.3 * words if words > 1 else 1.2 if exact and value[0].isupper() else 0.9, value),
                    )
            if token.lower not in stops:
                for ref, value in self._values.get("~" + stem(token.lower), ()):
                    yield first, first, Candidate(ref, 0.85, value)


def _lenient(needed: list[str], may: list[str]) -> tuple[list[str], list[str]]:
    """`city_name` is also said as "city"; `first_name` is not "first"."""
    if "name" in needed and len(needed) > 1 and not _NAMES_OF_PERSONS & set(needed):
        return [word for word in needed if word != "name"], [*may, "name"]
    return needed, may


def _hit(token: Token, needed: Sequence[str], may: Sequence[str], stops: frozenset[str]) -> tuple[str, float] | None:
    """The word of a name that a token says, and how surely."""
    if token.quoted or (token.lower in stops and token.lower not in {*needed, *may}):
        return None
    best = max(((likeness(token.lower, word.removeprefix("+")), word) for word in (*needed, *may)), default=(0.0, ""))
    return (best[1], best[0]) if best[0] >= 0.7 else None


def _stretches(
    ref: Ref,
    needed: Sequence[str],
    tokens: Sequence[Token],
    hits: Sequence[tuple[str, float] | None],
    first: int,
    marks: frozenset[int],
) -> Iterator[tuple[int, int, Candidate]]:
    """The stretches from a word on that say a name, each longer than the one before."""
    said: dict[str, float] = {}
    for last in range(first, min(first + _LONGEST, len(tokens))):
        hit = hits[last]
        if hit is None:
            if tokens[last].lower not in _GLUE or tokens[last].quoted:
                return
            continue
        if hit[0] in said or (hit[0][0] == "+" and said and tokens[last - 1].lower not in _GLUE):
            return  # "endpoint queries" is one name, "queries endpoints" two
        said[hit[0]] = hit[1]
        if set(range(first, last + 1)) <= marks:
            continue
        gained = sum(value for word, value in said.items() if word in needed)
        share = gained / len(needed)
        if share < 1 and "name" in needed and len(needed) > 1 and gained < len(needed) - 0.5:
            continue
        if share >= _ENOUGH and max(value for word, value in said.items() if word in needed) >= 0.7:
            also = sum(value for word, value in said.items() if word not in needed)
            missing = sum(word not in said for word in needed)
            yield first, last, Candidate(ref, (gained + 0.3 * also) * (0.5 + 0.5 * share) - 0.15 * missing)


def plain_name(name: str) -> str:
    """A name as words: `sbTxType` is "sb tx type"."""
    return " ".join(name_words(name))
