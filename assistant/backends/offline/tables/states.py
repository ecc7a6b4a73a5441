"""What a row's empty cell says of it: a ticket whose `closed` is empty is open, an invoice without a day of payment is unpaid.

In: a Sentence whose links and marks nobody took yet. Out: States: words, the columns that can tell them, and whether these must
hold something. Nothing is tested where no column can tell: the word then stays one that nobody understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assistant.backends.offline.tables.schema import Ref, Schema
from assistant.backends.offline.tables.sentence import Sentence
from assistant.backends.offline.tables.vocabulary import likeness, name_words
from assistant.backends.offline.wording import words_of

_ENDED = words_of(
    """closed resolved completed done finished paid settled returned delivered answered
    geschlossen abgeschlossen erledigt beendet fertig bezahlt beglichen zurückgegeben geliefert beantwortet"""
)
_UNENDED = words_of("open unresolved pending outstanding offen offene offenen offener ausstehend ausstehende ausstehenden")
_STILL = words_of("still yet noch")
_IS = words_of(
    """is are was were be been being has have had did does do remain remains get got gets haven hasn isn aren wasn weren
    ist sind war waren wird werden wurde wurden worden hat habe haben hatte hatten bleibt bleiben sei"""
)
_NOT = re.compile(r"n['’]t$|^(?:not|never|nicht|nie|niemals)$")
_TO_DO = re.compile(r"\b(?:yet|still|noch)\s+(?:(?:has|have)\s+)?(?:to(?:\s+be)?|zu)\s*$", re.IGNORECASE)
_UN = re.compile(r"un(?=\w{4})")
# How a word looks that says that something was done.
_DONE = re.compile(r"^(?:sent|lent|spent|done|paid|(?:ge|be|er|ver|ent|ab|an|auf|aus|zurück)\w{3,}t)$|\w{2}(?:ed|en|ght)$")
_BACK = 5  # words from "are" or "not" to what is said
_SURE = 0.9
_SAME = 0.7


@dataclass(frozen=True, slots=True)
class State:
    """A word and the columns that can tell it, the surest first. filled: whether they must hold something."""

    at: int
    refs: tuple[Ref, ...]
    filled: bool
    denial: tuple[int, ...] = ()


def find_states(sentence: Sentence, schema: Schema, *, timed: bool) -> list[State]:
    """The states of a question, each taken. timed: a time is named, so that "paid in May" is a test of its own."""
    found: list[State] = []
    for place in range(len(sentence.tokens)):
        state = None if place in sentence.taken or sentence.tokens[place].quoted else _state(sentence, schema, place)
        if state is None or (timed and state.filled):
            continue
        sentence.drop(link for link in sentence.links if link.first <= place <= link.last)
        sentence.marks = [mark for mark in sentence.marks if not mark.first <= place <= mark.last]
        if state.refs:
            sentence.taken.update((place, *state.denial))
            sentence.states.add(place)
            found.append(state)
    return found


def _state(sentence: Sentence, schema: Schema, place: int) -> State | None:
    word = sentence.lower(place)
    # An address, a value or a column of yes and no says it more surely.
    if any(link.is_value or _is_flag(link.columns(), schema) for link in sentence.links if link.first <= place <= link.last):
        return None
    denial = _denial(sentence, place)
    if word in _UNENDED:
        refs = _telling(schema, _ENDED, least=_SURE)
        said = _is_said_of(sentence, place)
        flagged = any(schema.yes_and_no(ref) is not None for ref in schema.refs())
        return State(place, refs, bool(denial), denial) if said and (refs or not flagged) else None
    if _UN.match(word):
        refs = _telling(schema, (word[2:],), least=_SAME)
        return State(place, refs, bool(denial), denial) if refs else None
    # "Did I finish" says it in another form.
    refs = _telling(schema, (word,), least=_SAME if _DONE.search(word) else _SURE)
    said = bool(denial) or _is_said_of(sentence, place)
    return State(place, refs, not denial, denial) if refs and said and _is_alone(sentence, place) else None


def _telling(schema: Schema, words: Iterable[str], *, least: float) -> tuple[Ref, ...]:
    """The columns with empty cells that are named after one of several words, in the order of the words."""
    found: dict[Ref, float] = {}
    for ref in schema.refs():
        column = schema.column(ref)
        named = name_words(ref.column)[:1]
        if not column.nulls or not column.distinct or not named or not _DONE.search(named[0]) or schema.is_measure(ref):
            continue
        found[ref] = max(likeness(word, named[0]) for word in words)
    return tuple(sorted((ref for ref, alike in found.items() if alike >= least), key=lambda ref: -found[ref]))


def _denial(sentence: Sentence, place: int) -> tuple[int, ...]:
    """The words that deny what a word says: "not", "haven't", "yet to be"."""
    for index in range(place - 1, max(place - _BACK, 0) - 1, -1):
        if _NOT.search(sentence.lower(index)):
            return (index,)
    before = sentence.text[: sentence.tokens[place].start]
    return (place - 1,) if _TO_DO.search(before) else ()


def _is_said_of(sentence: Sentence, place: int) -> bool:
    """Whether a word is said of the rows: "are … open", "still open", "open tickets"."""
    before = {sentence.lower(index) for index in range(max(place - _BACK, 0), place)}
    return bool(before & (_IS | _STILL)) or any(link.first == place + 1 and link.tables for link in sentence.links)


def _is_alone(sentence: Sentence, place: int) -> bool:
    """Whether a word is no part of a longer name, and nothing is asked of it: "when", "closed per month", "paid by cash"."""
    over = [link for link in sentence.links if link.first <= place <= link.last]
    long = any(link.last > link.first or link.tables for link in over)
    asked = {"when", "wann", "per", "je", "pro", "nach", "by"} & {token.lower for token in sentence.tokens}
    return not long and not asked


def _is_flag(refs: Iterable[Ref], schema: Schema) -> bool:
    return any(schema.yes_and_no(ref) is not None for ref in refs)
