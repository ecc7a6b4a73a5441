"""A question as words that are taken one after the other: what a rule has understood, the next one does not see.

In: the text as typed. Out: Words with their places; `rest` is what nobody took, which is what to search for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass

from search.languages import STOPWORDS, query_stopwords

_WORD = re.compile(r"[.#]?[^\W_][\w'’.+#/:@&-]*")
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|「[^」]+」|`[^`]+`")
_TRAILING = ".:'’/-,&@"


@dataclass(frozen=True, slots=True)
class Word:
    """A word at characters `start` to `end` of the question. quoted: within quotation marks, where nothing is a filter."""

    text: str
    start: int
    end: int
    quoted: bool = False

    @property
    def lower(self) -> str:
        """The word in lower case, its apostrophes plain."""
        return self.text.lower().replace("’", "'")


class Question:
    """The words of a question, and which of them have been understood."""

    def __init__(
        self,
        text: str,
        *,
        language: str = "en",
        is_head: Callable[[str], bool] = lambda _: False,
        is_name: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Read a text in a language.

        is_head: whether a word is a noun that compounds end in: "PDF-Dokumente" is then two words. is_name: whether several words
        are one name: "lab notes" is then one word.
        """
        self.text, self.language = text, language
        self.quotations = [match.span() for match in _QUOTED.finditer(text)]
        self.words = [word for match in _WORD.finditer(text) for word in self._split(match, is_head)]
        self._join(is_name)
        self.stop_words = query_stopwords(text) | STOPWORDS.get(language, frozenset())
        self._taken: list[tuple[int, int]] = []

    def _split(self, match: re.Match[str], is_head: Callable[[str], bool]) -> Iterator[Word]:
        start, text = match.start(), match[0].rstrip(_TRAILING)
        quoted = any(begin <= start < end for begin, end in self.quotations)
        before, hyphen, after = text.rpartition("-")
        if hyphen and before and is_head(after.lower()):
            yield Word(before, start, start + len(before), quoted)
            start, text = start + len(before) + 1, after
        if text:
            yield Word(text, start, start + len(text), quoted)

    def _join(self, is_name: Callable[[str], bool]) -> None:
        for first in range(len(self.words) - 1, -1, -1):
            for last in (first + 2, first + 1):
                if last < len(self.words):
                    start, end = self.words[first].start, self.words[last].end
                    phrase = self.text[start:end]
                    if len(phrase) < 60 and not re.search(r"[^\w\s-]", phrase) and is_name(phrase.lower()):
                        self.words[first : last + 1] = [Word(phrase, start, end, self.words[first].quoted)]
                        break

    def untouched(self) -> Question:
        """The same question with nothing taken."""
        other = copy(self)
        other._taken = []
        return other

    def take(self, start: int, end: int) -> None:
        """Mark characters as understood."""
        self._taken.append((start, end))

    def take_words(self, first: int, last: int) -> None:
        """Mark the words `first` to `last` as understood, with what stands between them."""
        self.take(self.words[first].start, self.words[last].end)

    def is_taken(self, place: int) -> bool:
        """Whether a character was understood."""
        return any(start <= place < end for start, end in self._taken)

    def is_free(self, index: int) -> bool:
        """Whether there is a word of that number which is neither taken nor quoted."""
        return 0 <= index < len(self.words) and not self.words[index].quoted and not self.is_taken(self.words[index].start)

    @property
    def touched(self) -> bool:
        """Whether anything was understood."""
        return bool(self._taken)

    def free_text(self) -> str:
        """The text with what was taken replaced by line ends, one for each character: places stay, patterns stop there."""
        return "".join("\n" if self.is_taken(place) else char for place, char in enumerate(self.text))

    def rest(self, empty: Callable[[str], bool]) -> str:
        """What nobody took, without what says nothing at the ends of each stretch: stop words, and words that are `empty`."""
        kept = []
        for stretch in re.finditer(r"[^\n]+", self.free_text()):
            words = [
                (match[0], stretch.start() + match.start(), stretch.start() + match.end())
                for match in re.finditer(r"\S+", stretch[0])
            ]
            while words and self._says_nothing(words[0][0], empty, first=words[0][1] == 0):
                words.pop(0)
            while words and self._says_nothing(words[-1][0], empty, first=words[-1][1] == 0):
                words.pop()
            if words:
                kept.append(self.text[words[0][1] : words[-1][2]].strip(" ,;:?!.¿¡"))
        return " ".join(kept)

    def _says_nothing(self, word: str, empty: Callable[[str], bool], *, first: bool) -> bool:
        """A name is written with a capital: "Go" is something to look for, "go" and a first "Go" are not."""
        bare = word.strip("'.,;:!?()[]…-–¿¡").replace("’", "'")
        if word[:1] in '"“„«「`':
            return False
        bare = bare.lower() if first else bare
        return not bare or bare in self.stop_words or empty(bare)
