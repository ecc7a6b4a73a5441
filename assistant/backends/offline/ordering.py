"""How many documents are wanted and in which order: "the latest 3 letters", "5 recipes", "el documento más antiguo".

In: a Question whose documents have been found. Out: Ordered. A number counts only right before what is listed, and a singular
behind "newest" or "oldest" is one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assistant.backends.offline.names import Names, is_plural
from assistant.backends.offline.question import Question
from assistant.backends.offline.wording import COPULAS, DETERMINERS, GENERIC_KINDS, LAST, NEWEST, NUMERALS, OLDEST

MOST_LISTED = 20
_MOST_WORDS = 8
Order = Literal["", "newest", "oldest"]
_BEHIND = re.compile(
    r"(?:\b(?:le|la|les|los|las|el)\s+)?\b(?:plus|m[aá]s)\s+"
    r"(?:(?P<newer>récente?s?|recientes?|nouveaux?|nuev[oa]s?)|(?P<older>ancien(?:ne)?s?|vieux|antigu[oa]s?|viej[oa]s?))\b"
    r"|,?\s*\b(?:sorted |ordered )?(?:(?P<newest>(?:newest|latest|most recent) first)|(?P<oldest>(?:oldest|earliest) first))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ordered:
    """limit: how many are wanted, 0 where that is not said."""

    limit: int = 0
    order: Order = ""


def number(text: str) -> int:
    """The number that a word is, in digits or as a numeral, 0 for other words."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else NUMERALS.get(text.lower(), 0)


def is_order(question: Question, names: Names, index: int) -> bool:
    """Whether a word before a noun says how many or in which order. "last" does before a number or a category alone."""
    word = question.words[index]
    if word.lower in LAST:
        following = question.words[index + 1] if index + 1 < len(question.words) else word
        return number(following.text) > 0 or (word.lower == "last" and names.category(following.lower) is not None)
    return word.lower in NEWEST or word.lower in OLDEST or number(word.text) > 0


def find_order_behind(question: Question, names: Names) -> Order:
    """Take "le plus récent" behind documents, or "newest first"."""
    match = _BEHIND.search(question.free_text())
    if not match:
        return ""
    spoken = match["newer"] or match["older"]
    before = question.text[: match.start()].split()
    if spoken and not any(names.is_document(word.lower().strip(",")) for word in before[-2:]):
        return ""
    question.take(*match.span())
    return "newest" if match["newer"] or match["newest"] else "oldest"


def find_order(question: Question, names: Names, first: int, head: int | None, behind: Order) -> Ordered:
    """Take the words of order before the noun phrase of a request.

    first, head: the words at which the phrase begins and at which its last noun stands. behind: what was found behind it.
    """
    if head is None:
        return Ordered(0, behind)
    limit, order = 0, behind
    index = first - 1
    while index >= 0 and first - index <= _MOST_WORDS:
        word = question.words[index]
        if is_order(question, names, index) and not question.is_taken(word.start) and not word.quoted:
            limit = limit or number(word.text)
            order = order or ("oldest" if word.lower in OLDEST else "newest" if word.lower in NEWEST | {"last"} else "")
            question.take_words(index, index)
        elif question.is_free(index) and word.lower not in DETERMINERS:
            break
        index -= 1
    for index in range(head + 1, len(question.words)):  # "which documents are the newest?"
        word = question.words[index]
        if not question.is_free(index) or word.lower not in NEWEST | OLDEST | COPULAS | DETERMINERS:
            break
        if word.lower in NEWEST | OLDEST:
            order = order or ("oldest" if word.lower in OLDEST else "newest")
            question.take_words(index, index)
    if order and not limit and _is_singular(question, names, head):
        limit = 1
    return Ordered(min(limit, MOST_LISTED), order)


def _is_singular(question: Question, names: Names, head: int) -> bool:
    """Whether the noun is one document: a kind without a plural's ending, or less than the name of its category."""
    word = question.words[head].lower
    if is_plural(word):
        return False
    category = names.category(word)
    if category:
        return len(word) < len(category)
    return f"{word}s" in GENERIC_KINDS or f"{word}e" in GENERIC_KINDS or f"{word}en" in GENERIC_KINDS
