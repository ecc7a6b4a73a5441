"""Words that only name a field of documents: "in category letters", "of type pdf", "which authors are there?".

In: a Question, Names. Out: the values beside such words, or the field whose values are asked for; both are taken from the question,
so that the name of a field is never looked for in texts. A value that the library lacks is kept where the words leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from assistant.backends.offline import wording
from assistant.backends.offline.names import Names
from assistant.backends.offline.question import Question, Word
from assistant.backends.offline.wording import BOUNDARY, DETERMINERS, FIELD_WORDS, JOINING, NOT

_LINKS = wording.words_of("is are named called ist sind heißt est sont es son named nommée llamada des de von der la")
_BEFORE = wording.words_of("in of with from by under within having whose im in der vom von mit aus dans de du avec par en con del")
_FILE = wording.words_of("file document files documents datei dokument")
_MOST_WORDS = 14
_UNSPACED_ASKING = re.compile(r"ありますか?|何(?:種類)?|什么|種類|种类")
_UNSPACED_FIELDS = re.compile("|".join(sorted(wording.UNSPACED_FIELDS, key=len, reverse=True)))


def find_fields(question: Question, names: Names) -> dict[str, list[str]]:
    """Take "category letters", "the letters category", "type pdf or html", "author Ada Quill"; values by the name of the filter."""
    found: dict[str, list[str]] = {}
    for index, word in enumerate(question.words):
        field = FIELD_WORDS.get(word.lower) if question.is_free(index) else None
        if not field:
            continue
        first = index - 1 if field == "format" and index and question.words[index - 1].lower in _FILE else index
        values, last = _behind(question, names, field, index)
        if not values:
            values = _ahead(question, names, field, first)
            first, last = (first - 1, index) if values else (first, last)
        if not values:
            values, last = _unknown(question, field, first, index)
        if values and not NOT.search(question.text[: question.words[first].start]):
            found.setdefault(field, []).extend(values)
            question.take_words(first, last)
    return found


def _lookup(names: Names, field: str) -> Callable[[Word], str | None]:
    """How a word is looked up as a value of a field; authors have several words and are looked up apart."""
    lookups: dict[str, Callable[[Word], str | None]] = {
        "category": lambda word: names.category(word.lower),
        "format": lambda word: names.format(word.text) or names.format(word.text.removesuffix("s")),
        "tags": lambda word: names.tag(word.text.removeprefix("#")),
        "language": lambda word: (
            wording.LANGUAGE_NAMES.get(word.lower) or (word.lower if word.lower in names.catalogue.languages else None)
        ),
    }
    return lookups[field]


def _behind(question: Question, names: Names, field: str, index: int) -> tuple[list[str], int]:
    """The values that follow a field's name, and the last word of them."""
    place = index + 1
    while question.is_free(place) and question.words[place].lower in _LINKS | DETERMINERS:
        place += 1
    if field == "author":
        known = names.author(tuple(word.text for word in question.words[place : place + 4])) if question.is_free(place) else None
        return ([known[0]], place + known[1] - 1) if known else ([], index)
    values, last = [], index
    while question.is_free(place):
        value = _lookup(names, field)(question.words[place])
        if value:
            values.append(value)
            last = place
        elif not values or question.words[place].lower not in JOINING | {"or", "oder", "ou", "o"}:
            break
        place += 1
    return values, last


def _ahead(question: Question, names: Names, field: str, index: int) -> list[str]:
    """The value right before a field's name: "the letters category", "PDF format"."""
    if field == "author" or not question.is_free(index - 1):
        return []
    before = question.words[index - 2].lower if index > 1 else ""
    if field in {"language", "tags"} and before not in _BEFORE | DETERMINERS:
        return []
    value = _lookup(names, field)(question.words[index - 1])
    return [value] if value else []


def _unknown(question: Question, field: str, first: int, index: int) -> tuple[list[str], int]:
    """A value that the library lacks, in "documents in category submarines"."""
    place = first - 1
    while place >= 0 and question.words[place].lower in DETERMINERS:
        place -= 1
    if place < 1 or question.words[place].lower not in _BEFORE or not question.is_free(index + 1):
        return [], index
    noun = question.words[place - 1].lower
    value = question.words[index + 1]
    said = noun in wording.GENERIC_KINDS or noun in wording.COPULAS
    if not said or value.lower in BOUNDARY | question.stop_words or value.lower in wording.EMPTY_VERBS:
        return [], index
    if field == "author":
        last = index + 1
        while question.is_free(last + 1) and last < index + 3 and question.words[last + 1].text[0].isupper():
            last += 1
        written = question.text[value.start : question.words[last].end]
        return ([written], last) if value.text[0].isupper() else ([], index)
    return [value.text if field == "tags" else value.lower], index + 1


def find_listed_field(question: Question, names: Names) -> tuple[str, list[str]]:
    """The field whose values a whole question asks for, with the category they are asked of: "which authors wrote letters?".

    Nothing is found, and nothing taken, when the question holds any other word that says something.
    """
    unspaced = _unspaced_field(question)
    if unspaced:
        question.take(0, len(question.text))
        return unspaced, []
    opening = wording.OPENING.match(question.text)
    started = opening.end() if opening else 0
    free = [index for index in range(len(question.words)) if question.words[index].start >= started and question.is_free(index)]
    listed, categories = "", []
    asks = bool(opening or wording.COUNTING.search(question.text))
    for index in free if len(free) <= _MOST_WORDS else ():
        lower = question.words[index].lower
        named = FIELD_WORDS.get(lower)
        category = names.category(lower)
        asks = asks or lower in wording.ASKING or lower in {"who", "wer", "qui"}
        if named and not listed and lower not in _FILE:
            listed = wording.FIELD_GROUPS[named]
        elif category and names.is_countable(category) and listed:
            categories.append(category)
        elif NOT.search(f"{lower} ") or not _says_nothing(question, lower):
            return "", []
    if not listed or not asks:
        return "", []
    question.take(0, len(question.text))
    return listed, categories


def _says_nothing(question: Question, lower: str) -> bool:
    empty = wording.GENERIC_KINDS | wording.EMPTY_VERBS | DETERMINERS | wording.ASKING | wording.ABOUT_FIELDS
    return lower in empty or lower in question.stop_words


def _unspaced_field(question: Question) -> str:
    """The field that a question without spaces asks for, when nothing else is in it."""
    match = _UNSPACED_FIELDS.search(question.text)
    if not match:
        return ""
    around = question.text[: match.start()] + question.text[match.end() :]
    rest = around
    for pattern in (wording.UNSPACED_COUNTING, wording.UNSPACED_LISTING, wording.UNSPACED_KINDS, _UNSPACED_ASKING):
        rest = pattern.sub("", rest)
    return wording.UNSPACED_FIELDS[match[0]] if rest != around and wording.UNSPACED_REST.match(rest) else ""
