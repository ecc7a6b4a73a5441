"""Questions in Japanese and Chinese, where no spaces tell words apart: names of the library and a few fixed phrases in them.

In: a Question, Names. Out: what was found, taken from the question. A category counts only beside words that ask for documents.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from assistant.backends.offline.names import Names
from assistant.backends.offline.ordering import MOST_LISTED, Ordered
from assistant.backends.offline.question import Question
from assistant.backends.offline.wording import (
    UNSPACED_COUNTING,
    UNSPACED_FIELDS,
    UNSPACED_KINDS,
    UNSPACED_LISTING,
    UNSPACED_NEWEST,
    UNSPACED_NUMBER,
    UNSPACED_NUMERALS,
    UNSPACED_OLDEST,
)

_UNSPACED = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")

_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_CHINESE = re.compile(r"多少|什么|甚麼|怎|[吗嗎呢哪谁誰你您这這们們]|没有|沒有|如何|是否|我的|列出|文件|文档|有几")


def language_of(text: str, languages: Collection[str]) -> str | None:
    """Japanese or Chinese ("ja", "zh") where the script is theirs, else None.

    languages: those of the library, which decide what the script does not.
    Kana is Japanese alone. Of the Chinese characters those are told apart that the standards of one country have and those of the
    other lack (JIS X 0208 against GB 2312 and Big5): a simplified form is in no Japanese standard, a Japanese one in no Chinese.
    """
    if _KANA.search(text):
        return "ja"
    characters = _HAN.findall(text)
    if not characters:
        return None
    chinese = sum(not _is_in(char, "shift_jis") for char in characters)
    japanese = sum(not _is_in(char, "gb2312") and not _is_in(char, "big5") for char in characters)
    if chinese != japanese:
        return "zh" if chinese > japanese else "ja"
    if _CHINESE.search(text):
        return "zh"
    return "ja" if "ja" in languages and "zh" not in languages else "zh"


def _is_in(char: str, encoding: str) -> bool:
    return bool(char.encode(encoding, errors="ignore"))


@dataclass
class Unspaced:
    """What a question in an unspaced script asks for."""

    documents: bool = False
    counting: bool = False
    ordered: Ordered = field(default_factory=Ordered)
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
    ordered = _ordered(text)
    if not (kind or (category and (counting or listing or ordered != Ordered()))):
        return found
    found.documents = True
    found.counting, found.ordered = counting is not None, ordered
    for pattern in (UNSPACED_NUMBER, UNSPACED_NEWEST, UNSPACED_OLDEST, UNSPACED_KINDS, UNSPACED_COUNTING, UNSPACED_LISTING):
        for match in pattern.finditer(text):
            question.take(*match.span())
    if category:
        found.category.append(category)
        place = re.search(_alone(category), text, re.IGNORECASE)
        question.take(*place.span()) if place else None
        for field in re.finditer("|".join(UNSPACED_FIELDS), text):
            question.take(*field.span())
    for word in re.finditer(r"[A-Za-z][A-Za-z0-9+#]*", text):
        format_ = names.format(word[0])
        if format_ and kind and re.match(r"\s*(?:の|的|形式の?|格式的?)?\s*$", text[word.end() : kind.start()]):
            found.format.append(format_)
            question.take(*word.span())
    return found


def _ordered(text: str) -> Ordered:
    """How many are wanted and in which order: "最新の3件"."""
    match = UNSPACED_NUMBER.search(text)
    limit = (int(match["digits"]) if match["digits"] else UNSPACED_NUMERALS[match["han"]]) if match else 0
    newest, oldest = UNSPACED_NEWEST.search(text), UNSPACED_OLDEST.search(text)
    return Ordered(min(limit, MOST_LISTED), "newest" if newest else "oldest" if oldest else "")


def _alone(name: str) -> str:
    """The name, in its own script wherever it stands, in the Latin script as a word."""
    return rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])"
