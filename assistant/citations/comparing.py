"""Whether words stand in a stored document, and what comes nearest to them there.

In: stored text, quoted words. Out: yes or no, by `normalising`; the nearest stretch, by words in common, to explain a no.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property

from assistant.citations import normalising
from assistant.citations.normalising import UNSPACED

_ELLIPSIS = re.compile(r"[\[(]\s*(?:…|\.{3,})\s*[\])]|…+|⋯+|\.{3,}")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_NEAR = 0.6  # share of characters in common from which a stretch is what was meant, altered
_MAX_WORDS = 300
_RAREST = 6
_PLACES = 64
_REFINED = 3
_SHORT = 400  # characters compared one by one; longer stretches by words, because that cost grows with the square


class Quoted:
    """Words said to stand in a document, in the spellings in which they are looked for; `pieces` between ellipses."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = normalising.trimmed(normalising.raw(text))
        self.plain = normalising.trimmed(normalising.plain(text))
        parts = [normalising.trimmed(normalising.plain(part)) for part in _ELLIPSIS.split(text)]
        self.pieces = tuple(part for part in parts if part)

    @property
    def is_long(self) -> bool:
        """Three words, six letters in scripts without spaces, or a digit: long enough to be checked."""
        return (
            any(character.isdigit() for character in self.raw)
            or _count_words(self.plain) >= 3
            or normalising.unspaced_letters(self.plain) >= 6
        )

    def stands_in(self, text: str) -> bool:
        """Whether the words stand in a short text, whatever the case of their letters."""
        words = self.raw.casefold()
        return bool(words) and normalising.find(words, normalising.raw(text).casefold()) >= 0


class StoredText:
    """A document's text, and what else is stored of it (title, headings, path), each a text of its own."""

    def __init__(self, text: str, also: Sequence[str] = ()) -> None:
        # A private character, which is no white space, keeps words of two texts from meeting.
        self.text = " \ue000 ".join((text, *also)) if also else text

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        forms = [normalising.plain(self.text, document=True)]
        joined = normalising.joined_lines(self.text)
        if joined != self.text:
            forms.append(normalising.plain(joined, document=True))
        return tuple(forms)

    @cached_property
    def _raw(self) -> str:
        return normalising.raw(self.text)

    def holds(self, quoted: Quoted) -> bool:
        """Whether the words stand here, letter by letter but for the case of the first; pieces between ellipses in order."""
        if not quoted.raw:
            return False
        if any(normalising.find(words, self._raw) >= 0 for words in _first_letters(quoted.raw)):
            return True
        if quoted.plain and any(normalising.find(w, form) >= 0 for w in _first_letters(quoted.plain) for form in self._forms):
            return True
        # A sentence could be put together from pieces of one word each.
        whole = len(quoted.pieces) > 1 and all(_count_words(p) >= 2 or normalising.unspaced_letters(p) >= 4 for p in quoted.pieces)
        return whole and any(_in_order(quoted.pieces, form) for form in self._forms)

    @cached_property
    def _words(self) -> tuple[list[str], list[tuple[int, int]], dict[str, list[int]]]:
        words: list[str] = []
        spans: list[tuple[int, int]] = []
        places: dict[str, list[int]] = defaultdict(list)
        for number, match in enumerate(_WORD.finditer(self.text)):
            word = match[0].casefold()
            words.append(word)
            spans.append(match.span())
            places[word].append(number)
        return words, spans, dict(places)

    def nearest(self, quoted: Quoted) -> str | None:
        """The stretch with the most words in common, on one line; None where nothing is near. The work is bounded."""
        wanted = [match[0].casefold() for match in _WORD.finditer(quoted.text)][:_MAX_WORDS]
        words, spans, _ = self._words
        best, best_share = None, _NEAR
        for start in self._starts(wanted):
            first, last = _refined(wanted, words, start)
            stretch = " ".join(self.text[spans[first][0] : spans[last][1]].split())
            share = _share(wanted, words[first : last + 1])
            if share > best_share:
                best, best_share = stretch, share
        return best

    def _starts(self, wanted: Sequence[str]) -> list[int]:
        """The likeliest places, by words in common, found through the rarest words."""
        words, _, places = self._words
        known = sorted({word for word in wanted if word in places}, key=lambda word: (len(places[word]), word))[:_RAREST]
        starts = {max(0, at - wanted.index(word)) for word in known for at in places[word][:_PLACES]}
        count = Counter(wanted)
        common = {at: (Counter(words[at : at + len(wanted)]) & count).total() for at in starts}
        chosen: list[int] = []
        for at in sorted(starts, key=lambda at: (-common[at], at)):
            if all(abs(at - other) > 2 for other in chosen):
                chosen.append(at)
            if len(chosen) == _REFINED:
                break
        return chosen


def _count_words(text: str) -> int:
    return sum(any(character.isalnum() for character in word) for word in text.split())


def _first_letters(words: str) -> tuple[str, ...]:
    """The words as they are, and with the first letter in the other case: a sentence quoted inside another one begins small."""
    first = words[0]
    other = first.upper() if first.islower() else first.lower()
    return (words, other + words[1:]) if other != first and len(other) == 1 else (words,)


def _in_order(pieces: Sequence[str], text: str) -> bool:
    at = 0
    for number, piece in enumerate(pieces):
        ends = [normalising.find(words, text, at) for words in (_first_letters(piece) if number == 0 else (piece,))]
        found = [end for end in ends if end >= 0]
        if not found:
            return False
        at = min(found)
    return True


def _share(wanted: Sequence[str], words: Sequence[str]) -> float:
    """How much two stretches have in common, 0 to 1."""
    one, other = " ".join(wanted), " ".join(words)
    if max(len(one), len(other)) <= _SHORT:
        return SequenceMatcher(None, one, other, autojunk=False).ratio()
    return SequenceMatcher(None, wanted, words, autojunk=False).ratio()


def _refined(wanted: Sequence[str], words: Sequence[str], start: int) -> tuple[int, int]:
    """The first and last word of the stretch near `start` that corresponds to the wanted words."""
    low = max(0, start - 3)
    window = words[low : start + len(wanted) + 3]
    blocks = [block for block in SequenceMatcher(None, wanted, window, autojunk=False).get_matching_blocks() if block.size]
    if not blocks:
        return low, low + len(window) - 1
    before, after = blocks[0].a, len(wanted) - blocks[-1].a - blocks[-1].size
    first = low + max(0, blocks[0].b - before)
    return first, low + min(len(window) - 1, blocks[-1].b + blocks[-1].size - 1 + after)
