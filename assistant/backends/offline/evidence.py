"""How well passages answer a query: which of its words each holds, what is missing from all of them, which sentence says most.

In: the query, the hits of a search as its result has them. Out: Evidence. Words are matched as the keyword search matches them
(stems, parts of identifiers, n-grams of unspaced scripts), weighed by how few of the hits hold them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from assistant.backends.offline.names import PROSE_FORMATS
from assistant.backends.offline.sentences import Sentence, cut, sentences
from assistant.backends.offline.wording import EMPTY_VERBS
from search.keyword import spans
from search.readers.formats import TABLES, TEXTS
from search.terms import ParsedQuery, Unit, derived_terms, parse

_IDENTIFIER = re.compile(r"(?=[\w./:#+-]*(?:\d|_|[a-z][A-Z]))[^\W_][\w./:#+-]{2,}")
_NAME = re.compile(r"(?<![.?!:]\s)(?<![\w./-])(?:[A-ZÀ-ÞА-Я][a-zß-ÿа-я]+|[A-Z]{2,})\b")
_GRAM = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_LONGEST_WORD = 12
_INFLECTED = 7
_IN_COMPOUNDS = 5  # letters from which a German noun is looked for at the end of compounds: Druck in Anlagendruck
_PARTICIPLE = re.compile(r"^(ab|an|auf|aus|bei|ein|fest|her|hin|mit|nach|um|vor|weg|zu|zurück)ge(?=\w{4})")  # abgelesen, Ablesung
# What the library says of a table, which nobody wrote: its size, and a line for each column with its type and values.
_DESCRIBED = re.compile(r"(?:- )?(?:Table: [\d,]+ rows?,|[^\n]{1,330}?, (?:text|integer|real|boolean|date|datetime|time|blob)\b)")
_SHORT = 25  # characters of a label rather than a sentence
_KEY = re.compile(r"\[[a-z2-7]{4,10}\]")  # in a document it would pass for a citation of ours


@dataclass(frozen=True, slots=True)
class Found:
    """A hit. similarity: the cosine with the query, None where the result does not say."""

    key: str
    source: str
    title: str
    headings: str
    text: str
    similarity: float | None = None

    @classmethod
    def of(cls, hit: Mapping[str, Any]) -> Found:
        """A hit from a tool's result."""
        similarity = hit.get("similarity")  # the cosine with the query, where a search goes by meaning too
        key, source, title, headings, text = (str(hit.get(name) or "") for name in ("key", "source", "title", "headings", "text"))
        text = text.removesuffix(" …")  # where the tool has cut it
        return cls(key, source, title, headings, text, float(similarity) if isinstance(similarity, int | float) else None)

    @property
    def path(self) -> str:
        """The document's path, without the lines."""
        return re.sub(r"(?::\d+(?:-\d+)?| p\. \d+)$", "", self.source)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a hit, verbatim. score: the weight of the query's words in them."""

    found: Found
    text: str
    score: float
    kind: str = "prose"


class Evidence:
    """The hits of a search against the words of its query."""

    def __init__(
        self,
        query: str,
        hits: Sequence[Found],
        *,
        question: str = "",
        topics: Sequence[str] = (),
        language: str = "en",
        number: bool = False,
        names: bool = True,
    ) -> None:
        """Weigh hits.

        question: what the query comes from. topics: words of it that the library has names for. language: of
        the query; in German a capital letter marks no name. number: whether the answer is a number, as it is to "how long".
        names: whether the names and identifiers of the query must be there.
        """
        self.query = query
        self.hits = list(hits)
        self._names = names
        self._number, self._inflected = number, language not in {"en", "ja", "zh"}
        self._compounds = language == "de"
        self._named = self._find_names(question or query) if language != "de" else []
        self._telling = {*topics, *(name.lower() for name in self._named)}
        parsed = parse(query)
        units = dict.fromkeys((*parsed.words, *(unit for phrase in parsed.phrases for unit in phrase)))
        self.units = [unit for unit in units if unit.tokens not in EMPTY_VERBS] or list(units)

    def _find_names(self, question: str) -> list[str]:
        """Words of the query with a capital that no sentence begins with; none in a title, where most words have one."""
        first = re.match(r"\W*", question)
        found = [match[0] for match in _NAME.finditer(question) if match.start() > (first.end() if first else 0)]
        capitals = sum(word[:1].isupper() for word in question.split())
        words = set(re.findall(r"\w+", self.query))
        return [name for name in found if name in words] if capitals * 2 <= len(question.split()) else []

    def _spans(self, unit: Unit, text: str, grams: Mapping[str, list[tuple[int, int]]]) -> list[tuple[int, int]]:
        """Where a unit stands. The index knows the endings of English words alone: in other languages a long word may have any."""
        if _GRAM.match(unit.tokens):
            if unit.prefix:
                return [place for gram, where in grams.items() if gram.startswith(unit.tokens) for place in where]
            return grams.get(unit.tokens, [])
        found = spans(ParsedQuery(words=(unit,)), text)
        if found or not self._inflected or not unit.tokens.isalpha():
            return found
        stem = _PARTICIPLE.sub(r"\1", unit.tokens)[:-2]
        forms = [rf"\b{stem}\w{{0,4}}\b"] if len(unit.tokens) >= _INFLECTED else []
        forms += [rf"\b\w{{3,}}{unit.tokens}\b"] if self._compounds and len(unit.tokens) >= _IN_COMPOUNDS else []
        return [match.span() for form in forms for match in re.finditer(form, text, re.IGNORECASE)]

    def _length(self, unit: Unit) -> int:
        """How much a word tells, by its length; a name tells the most."""
        named = unit.tokens in self._telling or re.search(r"[a-z]\d|\d[a-z]", unit.tokens)
        return _LONGEST_WORD if named else min(len(unit.tokens), _LONGEST_WORD)

    @cached_property
    def _everywhere(self) -> list[list[list[tuple[int, int]]]]:
        """For each hit, for each unit, where the unit stands: in the hit's text, below 0 in what it stands under."""
        found = []
        for hit in self.hits:
            above = f"{hit.title}\n{hit.headings}\n"
            shift = len(above)
            grams = _gram_places(above + hit.text)
            found.append(
                [[(start - shift, end - shift) for start, end in self._spans(unit, above + hit.text, grams)] for unit in self.units]
            )
        return found

    @property
    def unspaced(self) -> bool:
        """Whether the query is in a script without spaces."""
        return any(_GRAM.match(unit.tokens) for unit in self.units)

    @cached_property
    def places(self) -> list[list[list[tuple[int, int]]]]:
        """For each hit, for each unit, where the unit stands in the hit's text."""
        return [[[place for place in where if place[0] >= 0] for where in row] for row in self._everywhere]

    @cached_property
    def weights(self) -> list[float]:
        """The weight of each unit: longer words are rarer ones (Zipf), and a word that few of the hits hold tells them apart."""
        total = len(self.hits) or 1
        held = [sum(bool(row[i]) for row in self._everywhere) for i in range(len(self.units))]
        return [self._length(unit) * (1 - 0.5 * count / total) for unit, count in zip(self.units, held, strict=True)]

    @cached_property
    def coverage(self) -> list[float]:
        """For each hit, the share of the query's words that it or what it stands under holds, by their length, 0 to 1."""
        lengths = [self._length(unit) for unit in self.units]
        whole = sum(lengths) or 1
        return [sum(length for length, where in zip(lengths, row, strict=True) if where) / whole for row in self._everywhere]

    @cached_property
    def together(self) -> list[float]:
        """For each hit, its coverage and its cosine added."""
        return [share + (hit.similarity or 0.0) for share, hit in zip(self.coverage, self.hits, strict=True)]

    @cached_property
    def _identifiers(self) -> list[str]:
        """What the query names by a code: letters with digits, dots, slashes or capitals within."""
        return [match[0].rstrip(".:/-") for match in _IDENTIFIER.finditer(self.query)] if self._names else []

    @cached_property
    def identified(self) -> list[bool]:
        """For each hit, whether it holds all identifiers of the query; nowhere for a query with none but numbers (years)."""
        wanted = [_squeezed(name) for name in self._identifiers if re.search(r"[^\W\d_]", name)]
        held = [_squeezed(" ".join((hit.text, hit.title, hit.headings, hit.source))) for hit in self.hits]
        return [bool(wanted) and all(name in text for name in wanted) for text in held]

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Names and identifiers of the query that no hit holds, in any spelling; () where none has to be there."""
        if not self._names:
            return ()
        everything = [_squeezed(" ".join((hit.text, hit.title, hit.headings, hit.source))) for hit in self.hits]
        wanted = [*self._identifiers]
        wanted += [name for name in self._named if len(name) > 2 and not name.isupper()]  # an acronym is spelled out as often
        return tuple(
            name for name in dict.fromkeys(wanted) if not any(_squeezed(name).removesuffix("s") in text for text in everything)
        )

    def quotes(self, index: int, most: int) -> list[Quote]:
        """The best sentences of a hit, best first; without any word of the query, its first one."""
        hit, places = self.hits[index], self.places[index]
        scored: list[tuple[float, bool, int, Sentence]] = []
        for number, sentence in enumerate(sentences(hit.text, code=is_program(hit.path))):
            text = hit.text[sentence.start : sentence.end]
            if (
                _KEY.search(text)
                or (is_table(hit.path) and _DESCRIBED.match(text))
                or (sentence.kind == "heading" and len(hit.text) > 2 * len(text))
            ):
                continue
            scored.append((-self._score(index, sentence), len(text) < _SHORT, number, sentence))
        scored.sort(key=lambda entry: entry[:3])
        everywhere = [place for where in places for place in where]
        return [Quote(hit, cut(hit.text, sentence, everywhere), -score, sentence.kind) for score, _, _, sentence in scored[:most]]

    def _score(self, index: int, sentence: Sentence) -> float:
        """The weight of the units in a sentence; labels and code count less, a number more where one is asked for."""
        held = sum(
            weight
            for weight, where in zip(self.weights, self.places[index], strict=True)
            if any(sentence.start <= start < sentence.end for start, _ in where)
        )
        length = sentence.end - sentence.start
        wanted = self._number and re.search(r"\d", self.hits[index].text[sentence.start : sentence.end])
        return held * (0.7 if length < _SHORT else 1.0) * (0.8 if sentence.kind == "code" else 1.0) * (1.3 if wanted else 1.0)


def is_table(path: str) -> bool:
    """Whether the text of a file is the description of its tables and some of their rows."""
    return PurePosixPath(path).suffix.lower() in TABLES


def is_program(path: str) -> bool:
    """Whether a file holds code rather than text, by its suffix."""
    format_ = TEXTS.get(PurePosixPath(path).suffix.lower())
    return format_ is not None and format_ not in PROSE_FORMATS


def _gram_places(text: str) -> dict[str, list[tuple[int, int]]]:
    """Where each n-gram of an unspaced script stands; there are too many of them to ask the index for every one."""
    places: dict[str, list[tuple[int, int]]] = {}
    for term in derived_terms(text) if _GRAM.search(text) else ():
        if not term.name:
            places.setdefault(term.text, []).append((term.start, term.end))
    return places


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
