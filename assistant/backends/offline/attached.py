"""A text beside a question: which of its words to search for.

In: a log, an error message, a stack trace. Out: the few words that tell it from others: names of errors and codes in the lines that
tell of trouble, then identifiers, then words that are no part of every sentence; "" for prose, which is better searched as a whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from assistant.backends.offline.wording import words_of
from search.languages import STOPWORDS

_MOST_WORDS = 8
_LONGEST_WORD = 60
_TROUBLE = re.compile(
    r"error|exception|fatal|fail|panic|traceback|critical|denied|refused|timed? ?out|timeout|abort|crash|unable|cannot|could not"
    r"|unreachable|corrupt|invalid|exceeded|no such|not found|fehler|erreur|échec|エラー|失敗|错误|失败|ошибка",
    re.IGNORECASE,
)
# What is another one in every line: days, hours, addresses, numbers, digests.
_PASSING = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?\b"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{16,}\b"
    r"|\x1b\[[0-9;]*m",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W\d_](?:[\w]|[-.:/](?=\w)){2,}|\d+[A-Za-z]\w*|\b[45]\d\d\b")
_IDENTIFIER = re.compile(r"[A-Za-z]+[-_]?\d\w*|\w*[a-z][A-Z]\w*|\w+(?:_\w+)+|\w+(?:\.\w+)+|[A-Z]{2,}(?:[-_]\w+)+|[45]\d\d")
_LEVELS = words_of(
    """traceback recent call last error err warn warning info debug trace fatal critical notice fehler line file level msg message
    time zeile"""
)
_ABOUT = words_of("mean means happened happen fix solve help explain explains wrong problem issue bedeutet los signifie")
_COMMON = frozenset(word for words in STOPWORDS.values() for word in words)


def telling(text: str) -> str:
    """The words to search for, the most telling first; "" where no line tells of trouble and nothing looks like an identifier."""
    lines = text.splitlines()
    troubled = [line for line in lines if _TROUBLE.search(line)]
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for line in troubled or lines:
        for word in dict.fromkeys(_words(line)):
            counts[word.casefold()] += 1
            spelled.setdefault(word.casefold(), word)
    if not troubled and not any(map(_is_identifier, spelled.values())):
        return ""
    order = list(counts)
    best = sorted(order, key=lambda word: (-_weight(spelled[word], counts[word]), order.index(word)))
    return " ".join(spelled[word] for word in best[:_MOST_WORDS])


def own_words(question: str) -> list[str]:
    """The words of a question about a text that say what it is to be searched for: none of "what is this?"."""
    return [word for word in _words(question) if word.casefold() not in _ABOUT]


def _words(line: str) -> Iterator[str]:
    for match in _TOKEN.finditer(_PASSING.sub(" ", line)):
        word = match[0].strip("-.:/")
        folded = word.casefold()
        if len(word) <= _LONGEST_WORD and folded not in _LEVELS and folded not in _COMMON:
            yield word


def _weight(word: str, count: int) -> float:
    """How telling a word is. One that comes often is more so, but not in proportion: a log repeats itself."""
    return (3.0 if _is_identifier(word) else 1.0) + min(count, 8) / 8


def _is_identifier(word: str) -> bool:
    return _IDENTIFIER.fullmatch(word) is not None


__all__ = ["own_words", "telling"]
