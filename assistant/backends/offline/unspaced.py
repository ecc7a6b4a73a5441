"""Questions in Japanese and Chinese, where no spaces tell words apart: names of the library and a few fixed phrases in them.

In: a Question, Names. Out: what was found, taken from the question. A category counts only beside words that ask for documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assistant.backends.offline.names import Names
from assistant.backends.offline.question import Question
from assistant.backends.offline.wording import UNSPACED_COUNTING, UNSPACED_KINDS, UNSPACED_LISTING

_UNSPACED = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")


@dataclass
class Unspaced:
    """What a question in an unspaced script asks for."""

    documents: bool = False
    counting: bool = False
    category: list[str] = field(default_factory=list)
    format: list[str] = field(default_factory=list)


def read(question: Question, names: Names) -> Unspaced:
    """Take the documents that such a question asks for; nothing in other scripts."""
    found = Unspaced()
    if not _UNSPACED.search(question.text):
        return found
    text = question.text
    kind = UNSPACED_KINDS.search(text)
    category = next(
        (name for name in names.catalogue.categories if len(name) > 1 and re.search(_alone(name), text, re.IGNORECASE)), None
    )
    counting, listing = UNSPACED_COUNTING.search(text), UNSPACED_LISTING.search(text)
    if not (kind or (category and (counting or listing))):
        return found
    found.documents = True
    found.counting = counting is not None
    for pattern in (UNSPACED_KINDS, UNSPACED_COUNTING, UNSPACED_LISTING):
        for match in pattern.finditer(text):
            question.take(*match.span())
    if category:
        found.category.append(category)
        place = re.search(_alone(category), text, re.IGNORECASE)
        question.take(*place.span()) if place else None
    for word in re.finditer(r"[A-Za-z][A-Za-z0-9+#]*", text):
        format_ = names.format(word[0])
        if format_ and kind and re.match(r"\s*(?:の|的|形式の?|格式的?)?\s*$", text[word.end() : kind.start()]):
            found.format.append(format_)
            question.take(*word.span())
    return found


def _alone(name: str) -> str:
    """The name, in its own script wherever it stands, in the Latin script as a word."""
    return rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])"
