"""Which words of a question name a table, a column, or a value of a column.

In: the words of a question, a Schema. Out: Links: stretches of words with what they may mean, the surest first. Several readings
of one stretch are kept side by side ("endpoints" is a table and a column of two): what is asked decides between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from assistant.backends.offline.tables.naming import QUOTED, WORD, Name, Token
from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.vocabulary import UNITS, likeness, name_words, other_names, stem

_BESIDE = 0.7  # share of the best reading's score from which another is kept
_WEAKER = 0.5
_MOST_VALUES = 20_000
_LONG_VALUE = 4  # characters from which a value is known in another form


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
    """Words `first` to `last` and what they may mean. quoted: the words in quotation marks, "" where there are none.

    weaker: columns that they may mean where none of the others can be.
    """

    first: int
    last: int
    candidates: tuple[Candidate, ...]
    quoted: str = ""
    weaker: tuple[Candidate, ...] = ()

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


class Linker:
    """Finds the links of questions over one Schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @cached_property
    def _names(self) -> list[tuple[Ref, Name]]:
        tables = [(Ref(name, ""), Name.of(*self.schema.table_words(name))) for name in self.schema.tables]
        columns = [(ref, self._column_name(ref)) for ref in self.schema.refs()]
        others = [(ref, Name.of(words, ())) for ref, name in columns for words in other_names(name.needed)]
        return [*tables, *columns, *others]

    def _column_name(self, ref: Ref) -> Name:
        """The words of a column, with those of its unit and its table."""
        needed, may = self.schema.column_words(ref)
        unit = UNITS.get(self.schema.unit(ref).lower())
        # "customer city", "the names of the authors"; what is measured stays apart from whose it is.
        owned = self.schema.column(ref).type == "text" or self.schema.is_id(ref)
        owner = self.schema.table_words(ref.table)[0] if owned else []
        # A unit's word that means the name itself must not stand in its place.
        said = [word for word in sorted(unit[1] if unit else ()) if not any(likeness(word, each) for each in needed)]
        return Name.of(needed, [*may, *said], owner=owner)

    @cached_property
    def _values(self) -> dict[str, list[tuple[Ref, str]]]:
        """Values of text columns by their first word."""
        found: dict[str, list[tuple[Ref, str]]] = {}
        count = 0
        for ref in self.schema.refs():
            column = self.schema.column(ref)
            for value in column.values if column.type == "text" else ():
                words = WORD.findall(value.replace("_", " ").lower())
                count += 1
                if words and count <= _MOST_VALUES:
                    found.setdefault(words[0], []).append((ref, value))
                    if len(words) == 1 and len(words[0]) >= _LONG_VALUE:
                        found.setdefault("~" + stem(words[0]), []).append((ref, value))
        return found

    def links(
        self,
        text: str,
        tokens: Sequence[Token],
        *,
        marks: frozenset[int],
        stops: frozenset[str],
        no_values: frozenset[int] = frozenset(),
    ) -> list[Link]:
        """The links of a text, by place. marks: words that ask ("most"), which alone name nothing; no_values: no value."""
        found = list(self._quotations(text, tokens))
        spans = [
            (first, last, candidate)
            for first, last, candidate in (*self._named(tokens, marks, stops), *self._valued(text, tokens, stops))
            if not any(link.first <= last and first <= link.last for link in found)
            and (candidate.value is None or not set(range(first, last + 1)) <= no_values)
        ]
        for first, last, _ in sorted(spans, key=lambda span: (-span[2].score, span[0] - span[1], span[0])):
            if any(link.first <= last and first <= link.last for link in found):
                continue
            same = sorted((c for f, e, c in spans if (f, e) == (first, last)), key=lambda each: -each.score)
            kept = {each.ref: each for each in reversed(same) if each.score >= _BESIDE * same[0].score}
            weaker = tuple(each for each in same if each.score >= _WEAKER and each.ref not in kept and not each.is_table)
            found.append(Link(first, last, tuple(sorted(kept.values(), key=lambda each: -each.score)), weaker=weaker))
        return sorted(found, key=lambda link: link.first)

    def _named(self, tokens: Sequence[Token], marks: frozenset[int], stops: frozenset[str]) -> Iterator[tuple[int, int, Candidate]]:
        """Stretches that say the name of a table or column."""
        for ref, name in self._names:
            for first, last, score in name.stretches(tokens, marks=marks, stops=stops):
                yield first, last, Candidate(ref, score)

    def _quotations(self, text: str, tokens: Sequence[Token]) -> Iterator[Link]:
        for match in QUOTED.finditer(text):
            inside = [index for index, token in enumerate(tokens) if match.start() <= token.start < match.end()]
            value = next(group for group in match.groups() if group is not None).strip()
            if inside and value:
                known = tuple(
                    Candidate(ref, 2.0, each)
                    for ref, each in self._values.get(WORD.findall(value.lower())[0], [])
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


def agreed(links: Sequence[Link], schema: Schema) -> list[Link]:
    """Links, with the weaker meanings of those whose others cannot be joined with the values that the question names."""
    named = [link.candidates for link in links if link.is_value and link.candidates]

    def can_be(table: str) -> bool:
        own = {stem(word) for word in name_words(table)}  # "Kosten in Hamburg" may be the name of the table itself
        return all(
            any(
                schema.path([table, each.ref.table]) is not None or {stem(word) for word in name_words(each.value or "")} <= own
                for each in candidates
            )
            for candidates in named
        )

    found = []
    for link in links:
        fit = [each for each in link.weaker if can_be(each.ref.table)] if named and not link.is_value else []
        if fit and not any(can_be(each.ref.table) for each in link.candidates):
            found.append(replace(link, candidates=tuple(fit), weaker=()))
        else:
            found.append(link)
    return found
