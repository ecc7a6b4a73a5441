"""Where an answer cites: citation keys in the forms in which models write them, resolved among the passages retrieved.

A citation is a key in brackets: [key], [key1, key2], [hits key], [[key]], [^key], 【key】, `[key]`, (key), [key](address),
[words](key); and a key that was retrieved wherever it stands. What is written like a key but was not retrieved is an unknown
citation: ten letters and digits in brackets, unless they are a word of the question or of a passage. Ten letters without a digit
are taken for a word in round brackets. The first six to nine characters of a key count in square brackets when only one
retrieved key begins so; people may type four, but a model has the whole key before it. A bare [1] of the model's own
points at nothing and is unknown, too, because the numbers of sources are given here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.citations.quotations import code_spans, covered
from assistant.tools import Evidence

_GROUP = re.compile(r"(?P<open>[\[【［(（]{1,2})(?P<inside>[^\[\]【】［］()（）]{1,200})[\]】］)）]{1,2}")
_ADDRESS = re.compile(r"\([^()\s]{0,500}\)")
_LINKED = re.compile(
    r"(?P<open>\[)(?P<words>[^\[\]\n]{1,200})(?P<close>\]\([ ]?<?(?:[a-z]{1,20}:)?(?:#|//)?(?P<key>\w{10})>?[ ]?\))"
)
_WORD = re.compile(r"\w+(?:-\w+)*")
_BARE = re.compile(r"(?<![\w/-])[A-Za-z0-9]{10}(?![\w/-])")
_KEYLIKE = re.compile(r"(?=[a-z]*[0-9])[a-z0-9]*[a-z][a-z0-9]*|[a-z2-7]+")
_PREFIX = re.compile(r"[a-z2-7]{6,9}")
_LINES = re.compile(r"[Llp]?\d{1,6}(?:-[Llp]?\d{1,6})?")
_OWN_NUMBERS = re.compile(r"\^?[1-9]\d?(?:\s?[,;–-]\s?\^?[1-9]\d?)*|[1-9]\d?(?::\d+)?†[^\n]*")
_LABELS = frozenset(
    re.findall(
        r"\w+",
        "hit hits key keys id ids cite cites cited citation citations source sources ref refs reference references see passage "
        "passages doc docs document documents line lines page pages p pp and or in from via und siehe quelle quellen et voir y",
    )
)


@dataclass(frozen=True, slots=True)
class KeyMark:
    """Characters `start` to `end` of an answer that cite these keys, in the order written; `before` is set in front of the number.

    A key is None where it was not retrieved; `written` holds what stands there for each. bare: no brackets around it.
    """

    start: int
    end: int
    keys: tuple[str | None, ...]
    written: tuple[str, ...]
    before: str = ""
    opening: int | None = None  # the bracket that opens the words of a link, which goes

    def known(self) -> list[str]:
        """The retrieved keys."""
        return [key for key in self.keys if key is not None]


class Numbering:
    """Numbers of sources by first use, the same for every block of an answer. Knows which passages were retrieved."""

    def __init__(self, evidence: Iterable[Evidence], question: str = "") -> None:
        self.evidence: dict[str, Evidence] = {passage.key.lower(): passage for passage in evidence}
        self.question = question
        self.numbers: dict[str, int] = {}
        self._prefixes: dict[str, str | None] = {}
        for key in self.evidence:
            for size in range(6, min(10, len(key))):
                self._prefixes[key[:size]] = None if key[:size] in self._prefixes else key
        self._vocabulary: frozenset[str] | None = None

    def number(self, key: str) -> int:
        """The number of a retrieved key."""
        return self.numbers.setdefault(key, len(self.numbers) + 1)

    def resolve(self, written: str) -> str | None:
        """The retrieved key that is written so, or begins so; None without one."""
        lowered = written.lower()
        if lowered in self.evidence:
            return lowered
        return self._prefixes.get(lowered) if _PREFIX.fullmatch(lowered) else None

    def is_word(self, written: str) -> bool:
        """Whether a key-like word stands in the question or in a retrieved passage."""
        if self._vocabulary is None:
            texts = (self.question, *(passage.text for passage in self.evidence.values()))
            self._vocabulary = frozenset(match[0].lower() for text in texts for match in _BARE.finditer(text))
        return written.lower() in self._vocabulary


def find_keys(answer: str, numbering: Numbering) -> list[KeyMark]:
    """All citations of an answer, by position, without overlap."""
    code = code_spans(answer)
    found = sorted((*_links(answer, numbering), *_groups(answer, numbering, code)), key=lambda mark: mark.start)
    kept: list[KeyMark] = []
    for mark in found:
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    spans = [(mark.start, mark.end) for mark in kept]
    bare = [
        _unticked(answer, KeyMark(match.start(), match.end(), (match[0].lower(),), (match[0],)))
        for match in _BARE.finditer(answer)
        if match[0].lower() in numbering.evidence and not covered(spans, match.start())
    ]
    return sorted([*kept, *bare], key=lambda mark: mark.start)


def replace_keys(block: str, numbering: Numbering) -> str:
    """A finished block of an answer with its citations as numbers, [1] and [2, 3], and [?] where nothing was retrieved."""
    return apply(block, (edit for mark in find_keys(block, numbering) for edit in edits(mark, numbering)))


def edits(mark: KeyMark, numbering: Numbering) -> Iterator[tuple[int, int, str]]:
    """What to put in the place of a citation: (start, end, text)."""
    if mark.opening is not None:
        yield mark.opening, mark.opening + 1, ""
    labels = dict.fromkeys("?" if key is None else str(numbering.number(key)) for key in mark.keys)
    yield mark.start, mark.end, f"{mark.before}[{', '.join(labels)}]"


def apply(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """A text with stretches replaced; of two that overlap the later one is left out."""
    parts: list[str] = []
    at = 0
    for start, end, replacement in sorted(changes, key=lambda change: change[:2]):
        if start >= at:
            parts += (text[at:start], replacement)
            at = end
    return "".join((*parts, text[at:]))


def _links(answer: str, numbering: Numbering) -> Iterator[KeyMark]:
    for match in _LINKED.finditer(answer):
        key = numbering.resolve(match["key"])
        if key is not None or (_looks_like_a_key(match["key"], numbering) and not match["key"].isalpha()):
            yield KeyMark(match.start("close"), match.end(), (key,), (match["key"],), before=" ", opening=match.start())


def _groups(answer: str, numbering: Numbering, code: Sequence[tuple[int, int]]) -> Iterator[KeyMark]:
    for match in _GROUP.finditer(answer):
        is_round = match["open"][-1] in "(（"
        in_code = covered(code, match.start()) and not _ticked(answer, match.start(), match.end())
        keys = _read(match["inside"], numbering, is_round=is_round)
        if keys is None and not is_round and not in_code and _OWN_NUMBERS.fullmatch(match["inside"].strip()):
            keys = {match["inside"].strip(): None}
        if keys is None or (in_code and not any(keys.values())):
            continue
        end = match.end()
        link = _ADDRESS.match(answer, end) if not is_round else None
        if not any(keys.values()) and (link or answer[end : end + 1] in {"(", ":"}) and all(key.isalpha() for key in keys):
            continue  # the words of a link
        mark = KeyMark(match.start(), link.end() if link else end, tuple(keys.values()), tuple(keys))
        yield _unticked(answer, mark)


def _read(inside: str, numbering: Numbering, *, is_round: bool) -> Mapping[str, str | None] | None:
    """The keys written in a bracket with what they resolve to, None where the bracket holds anything else."""
    keys: dict[str, str | None] = {}
    for word in _WORD.findall(inside):
        resolved = numbering.resolve(word)
        if resolved is not None and (len(word) >= 10 or not is_round):
            keys[word] = resolved
        elif word.lower() in _LABELS or _LINES.fullmatch(word):
            continue
        elif _looks_like_a_key(word, numbering) and not (is_round and word.isalpha()):
            keys[word] = None
        else:
            return None
    return keys or None


def _looks_like_a_key(word: str, numbering: Numbering) -> bool:
    return len(word) == 10 and bool(_KEYLIKE.fullmatch(word.lower())) and not numbering.is_word(word)


def _ticked(answer: str, start: int, end: int) -> bool:
    """Whether one tick stands on either side: code that is a citation and nothing else."""
    return start > 0 and answer[start - 1] == "`" == answer[end : end + 1] and answer[start - 2 : start - 1] != "`"


def _unticked(answer: str, mark: KeyMark) -> KeyMark:
    if not _ticked(answer, mark.start, mark.end):
        return mark
    return KeyMark(mark.start - 1, mark.end + 1, mark.keys, mark.written)
