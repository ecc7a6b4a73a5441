"""Looking up words of a question in the catalogue: which name of the library a word means, whatever its number or spelling.

In: a Catalogue, single words or short phrases. Out: names as the library spells them. Morphology alone relates a word to a name;
there are no synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from assistant.backends.offline.catalogue import Catalogue
from assistant.backends.offline.wording import FORMAT_WORDS, GENERIC_KINDS, SPECIFIC_KINDS, words_of
from search.readers.formats import HTML, LATER, MARKDOWN, TABLES, TEXTS, XML

PROSE_FORMATS = words_of(
    """text rst asciidoc org latex bibtex subtitles diff json yaml toml ini css template markdown html xml pdf csv tsv"""
)
_SUFFIXES = (
    TEXTS
    | dict.fromkeys(MARKDOWN, "markdown")
    | dict.fromkeys(HTML, "html")
    | dict.fromkeys(XML, "xml")
    | TABLES
    | {suffix: suffix[1:] for suffix in (*LATER, ".pdf")}
)
_KNOWN_FORMATS = frozenset(_SUFFIXES.values())
_GERMAN_ENDINGS = ("en", "e", "n", "er")


def singulars(word: str) -> frozenset[str]:
    """A word in lower case and what could be its singular."""
    found = {word}
    if word.endswith("ies") and len(word) > 4:
        found.add(word[:-3] + "y")
    elif re.search(r"(?:ss|sh|ch|x|z|us|is)es$", word):
        found.add(word[:-2])
    elif re.search(r"[^su']s$", word) and len(word) > 3:
        found.add(word[:-1])
        if word.endswith("ves"):
            found.add(word[:-3] + "f")
    if len(word) > 7:  # shorter words of other languages would fall together: "note" and "not"
        found.update(word.removesuffix(ending) for ending in _GERMAN_ENDINGS if word.endswith(ending))
    return frozenset(found)


def is_plural(word: str) -> bool:
    """Whether a word in lower case looks like an English, French or Spanish plural."""
    return bool(re.search(r"[^su']s$", word)) and len(word) > 3


@dataclass(frozen=True)
class Names:
    """A catalogue, turned round: from words to names."""

    catalogue: Catalogue

    @cached_property
    def _categories(self) -> dict[str, str]:
        return {form: name for name in self.catalogue.categories for form in singulars(_plain(name))}

    def category(self, phrase: str) -> str | None:
        """The category that a word or phrase names, in singular or plural."""
        lowered = _plain(phrase)
        exact = next((name for name in self.catalogue.categories if _plain(name) == lowered), None)
        return exact or next((self._categories[form] for form in sorted(singulars(lowered)) if form in self._categories), None)

    def is_countable(self, category: str) -> bool:
        """Whether a category's name is a plural, as "runbooks" is and "support" or "code" are not."""
        return is_plural(_plain(category)) or (len(category) > 7 and _plain(category).endswith("en"))

    def is_document(self, word: str) -> bool:
        """Whether a word in lower case means documents: a kind of them or a category."""
        return word in GENERIC_KINDS or word in SPECIFIC_KINDS or self.category(word) is not None

    def is_compound(self, phrase: str) -> bool:
        """Whether several words together name a category or a tag."""
        return " " in _plain(phrase) and (self.category(phrase) is not None or self.tag(phrase) is not None)

    def format(self, word: str) -> str | None:
        """The format that a word means: its name, a suffix with its dot, a spelling people use.

        One that the library lacks is taken only where the word cannot be another: ".docx", "CSV", "Word".
        """
        lowered = word.lower().replace("++", "pp").replace("#", "sharp")
        if word.startswith("."):
            return _SUFFIXES.get(word.lower())
        name = (
            FORMAT_WORDS.get(lowered) or (_SUFFIXES.get("." + lowered) if word.isupper() or len(lowered) < 3 else None) or lowered
        )
        if name in self.catalogue.formats:
            return name
        return name if name in _KNOWN_FORMATS and (word.isupper() or (word[0].isupper() and lowered in FORMAT_WORDS)) else None

    def is_programming(self, name: str) -> bool:
        """Whether a format is a language of programs, whose name more often says what a text is about."""
        return name in _KNOWN_FORMATS and name not in PROSE_FORMATS

    def author(self, words: tuple[str, ...]) -> tuple[str, int] | None:
        """The author that the first words name, and how many of them: in full, or by a part that only one author has."""
        for name in sorted(self.catalogue.authors, key=lambda author: -len(author)):
            parts = name.casefold().split()
            if tuple(word.casefold() for word in words[: len(parts)]) == tuple(parts):
                return name, len(parts)
        first = words[0] if words else ""
        if len(first) < 2 or not (first[0].isupper() or not first.isascii()):
            return None
        bearers = [name for name in self.catalogue.authors if first.casefold() in name.casefold().split()]
        return (bearers[0], 1) if len(bearers) == 1 else None

    def tag(self, word: str) -> str | None:
        """The tag that a word is, without regard to case and hyphens."""
        return next((tag for tag in self.catalogue.tags if _plain(tag) == _plain(word)), None)

    def metadata_keys(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Each metadata key as a person would say it, as it is written, and its values."""
        for key, values in self.catalogue.metadata.items():
            yield _plain(key), key, values

    def label(self, word: str) -> tuple[str, str] | None:
        """The metadata key and value that an adjective is, when it is the value of one key alone: "superseded"."""
        found = [
            (key, value)
            for key, values in self.catalogue.metadata.items()
            for value in values
            if value.casefold() == word.casefold() and not value.replace(".", "").isdigit()
        ]
        return found[0] if len(found) == 1 else None


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.casefold().strip()))
