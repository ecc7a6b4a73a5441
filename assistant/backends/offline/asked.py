"""The documents that a question asks for: "all Go tutorials about …", "in the meeting notes", "what do the policies say …".

In: a Question, Names. Out: the filters of its noun phrases (category, format, language, metadata), which are taken from it. A
word that names a category is a filter only as the head of such a phrase: elsewhere it is a topic ("how are incidents graded?").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assistant.backends.offline import wording
from assistant.backends.offline.names import Names, is_plural
from assistant.backends.offline.ordering import is_order
from assistant.backends.offline.question import Question
from assistant.backends.offline.wording import BOUNDARY, CODE_KINDS, DETERMINERS, FILLERS, GENERIC_KINDS, SPECIFIC_KINDS

_MOST_MODIFIERS = 4
_PARTICIPLE = re.compile(r"[a-z]{2,}ing")
_THIRD_PERSON = re.compile(r"[a-z]+(?:s|ed)$")
_GERMAN_VERB = re.compile(r"[a-zäöüß]+(?:t|te|ten|en)$")
_WH = wording.words_of(
    """how why when where who whom what which whose is are was were do does did can could should will would has have had may
    might must wie warum wann wo wer was wem wen ist sind kann können muss darf comment pourquoi quand où qui que quoi est
    cómo por quién dónde cuándo es son"""
)


@dataclass
class Asked:
    """The filters that a question names.

    documents: it asks for documents, not for a fact in them. first, head: where the noun phrase that does begins behind words of
    order, and its last noun.
    """

    documents: bool = False
    first: int = 0
    head: int | None = None
    tags: list[str] = field(default_factory=list)
    author: list[str] = field(default_factory=list)
    category: list[str] = field(default_factory=list)
    format: list[str] = field(default_factory=list)
    language: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Words `first` to `head` of a question; `chain` is where its nouns begin, the words before it are adjectives."""

    first: int
    chain: int
    head: int


def find_asked(question: Question, names: Names, *, opened: int | None, counting: bool) -> Asked:
    """Take the noun phrases that ask for documents. opened: the word at which a request ("show me …") begins its noun phrase."""
    asked = Asked()
    start, strict = (opened, False) if opened is not None else _request(question)
    if start is not None:
        phrase = _scan(question, names, start)
        if phrase and (counting or _is_request(question, names, phrase, strict=strict)):
            asked.documents, asked.first, asked.head = True, phrase.first, phrase.head
            _read(question, names, phrase, asked, whole=True)
    for phrase in _inside(question, names):
        _read(question, names, phrase, asked, whole=False)
    if asked.documents:
        _predicates(question, names, asked)
    return asked


def _predicates(question: Question, names: Names, asked: Asked) -> None:
    """Take what the documents are said to be: "which incidents are closed"."""
    for index in range(1, len(question.words)):
        if not question.is_free(index) or question.words[index - 1].lower not in wording.COPULAS:
            continue
        plural = _plural_format(names, question.words[index].text)
        if plural:
            asked.format.append(plural)
        if plural or _adjective(question, names, index, asked, kind="", labels=True):
            question.take_words(index, index)


def _request(question: Question) -> tuple[int | None, bool]:
    """Where the noun phrase of a request without a verb of asking begins, and whether it must end like one."""
    for index, word in enumerate(question.words):
        if word.lower in wording.ASKING and (index == 0 or question.words[index - 1].lower in {"and", "in", "und"}):
            newest = _newest(question, index + 1)
            return (newest, False) if newest else (index + 1, word.lower in {"what", "qué", "que"})
        if index == 0 and word.lower in _WH:
            return None, False
    return 0, True


def _newest(question: Question, index: int) -> int | None:
    """The word at which "the newest …" or "the 3 oldest …" begins in "what is the newest …"."""
    lowers = [word.lower for word in question.words[index : index + 5]]
    if len(lowers) > 2 and lowers[0] in _WH and lowers[1] in DETERMINERS:
        return index + 1 if any(word in wording.NEWEST | wording.OLDEST | wording.LAST for word in lowers[2:4]) else None
    return None


def _scan(question: Question, names: Names, start: int) -> _Phrase | None:
    """The noun phrase that begins at a word, if a noun that means documents comes before anything else ends it."""
    index = start
    while question.is_free(index) and (question.words[index].lower in DETERMINERS or is_order(question, names, index)):
        index += 1
    while index < len(question.words) and question.is_taken(question.words[index].start):
        index += 1  # a date before its noun: "the October meeting"
    first = index
    while question.is_free(index) and index - first <= _MOST_MODIFIERS:
        lower = question.words[index].lower
        if _noun(question, names, index, first):
            return _extended(question, names, first, index)
        if lower in BOUNDARY or lower in question.stop_words or _gap(question, index):
            return None
        index += 1
    return None


def _noun(question: Question, names: Names, index: int, first: int) -> bool:
    """Whether a word means documents here. A category whose name is no plural ("code") has one only at the phrase's beginning."""
    word = question.words[index]
    category = names.category(word.lower)
    if category:
        exact = word.lower == category.casefold()
        return exact or names.is_countable(category) or index == first
    if word.lower in GENERIC_KINDS or word.lower in SPECIFIC_KINDS or _plural_format(names, word.text):
        return True
    return word.lower in CODE_KINDS and index > first and names.format(question.words[index - 1].text) is not None


def _plural_format(names: Names, text: str) -> str | None:
    """The format in "PDFs"."""
    found = names.format(text[:-1]) if text.endswith("s") and text[:-1].isupper() else None
    return found if found and not names.is_programming(found) else None


def _extended(question: Question, names: Names, first: int, chain: int) -> _Phrase:
    """The phrase with the nouns that follow: "incident reports", "API reference pages". A plural is the last of them."""
    head = chain
    while not is_plural(question.words[head].lower) or names.category(question.words[head].lower) is None:
        nearer = head + 1
        if question.is_free(nearer) and question.words[nearer].lower in FILLERS and not _gap(question, head):
            nearer += 1
        if not question.is_free(nearer) or _gap(question, nearer - 1) or not _noun(question, names, nearer, nearer):
            break
        if is_plural(question.words[head].lower) and names.category(question.words[nearer].lower):
            break
        head = nearer
    return _Phrase(first, chain, head)


def _gap(question: Question, index: int) -> bool:
    """Whether punctuation ends the phrase behind a word."""
    if index + 1 >= len(question.words):
        return False
    between = question.text[question.words[index].end : question.words[index + 1].start]
    return any(char in ",;:?!." for char in between)


def _is_request(question: Question, names: Names, phrase: _Phrase, *, strict: bool) -> bool:
    """Whether the phrase ends as one does that is asked for.

    strict: there was no word such as "which" or "show": then it must end there, or its description must begin.
    """
    word, following = question.words[phrase.head].lower, phrase.head + 1
    category = names.category(word)
    alone = following >= len(question.words) or _gap(question, phrase.head)
    while following < len(question.words) and not alone and _is_label(names, question.words[following].text):
        alone, following = following + 1 >= len(question.words), following + 1  # "documentos PDF sobre …"
    ended = alone or not question.is_free(following) or question.words[following].lower in BOUNDARY
    ended = ended or bool(_PARTICIPLE.fullmatch(question.words[following].lower))
    coded = word in CODE_KINDS and phrase.head > phrase.first and names.format(question.words[phrase.head - 1].text) is not None
    if category and not coded and phrase.chain == phrase.head and not names.is_countable(category) and word == category.casefold():
        # "code from last year" asks for documents, "support for webhooks" does not.
        return not alone and not question.is_free(following)
    if (
        strict
        and category is None
        and phrase.chain == phrase.head
        and not coded
        and not _plural_format(names, question.words[phrase.head].text)
    ):
        # "expense reports for travel" is a topic, "PDF reports from May" are documents.
        beside = [question.words[index] for index in range(phrase.first, phrase.chain)]
        if any(not _is_label(names, each.text) for each in beside):
            return False
    if strict or not is_plural(word):
        form = _GERMAN_VERB if question.language == "de" else _THIRD_PERSON
        verb = not strict and not alone and bool(form.match(question.words[following].lower))
        return ended or verb or (not strict and question.words[following].lower in question.stop_words)
    return True


def _is_label(names: Names, text: str) -> bool:
    return text.lower() in wording.LANGUAGE_NAMES or names.format(text) is not None or names.label(text) is not None


def _inside(question: Question, names: Names) -> list[_Phrase]:
    """Phrases that say where to look: "in the runbooks", "what do the policies say", "according to our meeting notes"."""
    found = []
    for index, word in enumerate(question.words):
        if word.lower in wording.INSIDE or (word.lower == "to" and index and question.words[index - 1].lower == "according"):
            phrase = _scan(question, names, index + 1)
            if wording.NOT.search(question.text[: word.start]):
                continue  # there is no filter for what documents are not
            if phrase and phrase.head - index <= 5 and _is_place(question, names, index, phrase):
                found.append(phrase)
        elif word.lower in wording.DECIDING and question.is_free(index):
            phrase = _subject(question, names, index)
            if phrase:
                found.append(phrase)
    return found


def _is_place(question: Question, names: Names, index: int, phrase: _Phrase) -> bool:
    """Whether a category behind "in" is a place: a plural, or one with an article or a kind; "in code" is not."""
    category = names.category(question.words[phrase.head].lower) or names.category(question.words[phrase.chain].lower)
    if category is None:
        return is_plural(question.words[phrase.head].lower)
    determined = question.words[index + 1].lower in DETERMINERS
    if phrase.chain == phrase.head and not names.is_countable(category):
        return False
    return determined or is_plural(question.words[phrase.head].lower)


def _subject(question: Question, names: Names, verb: int) -> _Phrase | None:
    """The subject of a verb of saying, when its last noun means documents: "the access policy says"."""
    for start in range(max(0, verb - _MOST_MODIFIERS), verb):
        if start and question.words[start - 1].lower not in DETERMINERS | {"do", "does", "did", "what", "which"}:
            continue
        phrase = _scan(question, names, start)
        if phrase and phrase.head == verb - 1:
            category = names.category(question.words[phrase.head].lower)
            return phrase if category is None or names.is_countable(category) or phrase.chain < phrase.head else None
    return None


def _read(question: Question, names: Names, phrase: _Phrase, asked: Asked, *, whole: bool) -> None:
    """Take the filters of a phrase: its category, and adjectives that name a format, a language, a metadata value."""
    words = question.words
    chain = list(range(phrase.chain, phrase.head + 1))
    category = _category(question, names, chain)
    kind = words[phrase.head].lower
    format_ = _plural_format(names, words[phrase.head].text)
    if format_:
        asked.format.append(format_)
    # "text" and "draft" mean documents too: before another noun they are labels.
    labels = [i for i in chain[:-1] if words[i].lower in names.catalogue.formats or names.label(words[i].text)]
    beside = [*(index for index in range(phrase.first, phrase.chain) if question.is_free(index)), *labels]
    behind = [index for index in (phrase.head + 1, phrase.head + 2) if question.is_free(index) and whole]
    for index in beside + behind:
        if index in behind and (words[index].lower in BOUNDARY or _gap(question, index - 1)):
            break
        # Behind a verb, as in "notes mention Keiko", stands no value of metadata but what to look for.
        after_verb = index in behind[1:] and words[behind[0]].lower not in question.stop_words
        may_label = (bool(category) or kind in GENERIC_KINDS) and not after_verb
        if _adjective(question, names, index, asked, kind=kind, labels=may_label):
            question.take_words(index, index)
            category = None if words[phrase.chain].lower in CODE_KINDS and asked.format else category
    # A format before the first noun makes that noun a kind of file: "SQL code" are SQL files, whatever the folder.
    if category:
        asked.category.append(category)
    if category or asked.format or kind in GENERIC_KINDS or len(chain) > 1:
        for index in chain:
            if words[index].lower not in SPECIFIC_KINDS or names.category(words[index].lower):
                question.take_words(index, index)
        for index in range(phrase.chain, phrase.head):
            if words[index].lower in FILLERS:
                question.take_words(index, index)


def _category(question: Question, names: Names, chain: list[int]) -> str | None:
    """The category of a chain of nouns: the one before a kind ("meeting notes" are meetings), else that of its last noun."""
    kinds = GENERIC_KINDS | SPECIFIC_KINDS | CODE_KINDS
    last = question.words[chain[-1]].lower
    if last in kinds:
        for index in reversed(chain[:-1]):
            found = names.category(question.words[index].lower)
            if found:
                return found
    return names.category(last)


def _adjective(question: Question, names: Names, index: int, asked: Asked, *, kind: str, labels: bool) -> bool:
    """Whether a word beside the noun `kind` is a filter of its own. labels: whether it may be a value of metadata."""
    text = question.words[index].text
    language = wording.LANGUAGE_NAMES.get(text.lower())
    if language and (text[0].isupper() or not text.isascii() or question.language != "en"):
        asked.language.append(language)
        return True
    format_ = names.format(text)
    if format_ and (kind in CODE_KINDS if names.is_programming(format_) else True):
        asked.format.append(format_)
        return True
    label = names.label(text)
    if label and labels and names.tag(text) is None:
        asked.metadata.append("=".join(label))
        return True
    return False
