"""The date filter in a question: "since March", "im letzten Monat", "changed in Q2 2025", "先月".

In: a Question and the day it is asked on. Out: Dated, in days. What a phrase means is for `search.dates` to say; this module finds
the phrase, and keeps away from words that only look like one ("may", "so", "in 2000 requests", "the test of 2023").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from assistant.backends.offline.question import Question
from assistant.backends.offline.wording import CHANGING, CREATING, words_of
from search.dates import resolve
from search.errors import FilterError
from search.models import DateField, DateRange

_MOST_WORDS = 9
_OPERATORS = words_of(
    """since after before until till between from during in within over throughout on older newer around as
    seit nach vor bis zwischen von vom im am ab während depuis avant après entre en pendant dès desde antes después durante"""
)
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober"
    "|dezember|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|okt|nov|dec|dez"
)
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
_UNITS = "days?|weeks?|fortnights?|months?|quarters?|years?|decades?|tage?n?|wochen?|monate?n?s?|quartale?n?s?|jahre?n?s?"
_WHICH = "last|past|previous|this|current|letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?|diese[nrsm]?"
_SIDES = "since|after|before|until|from|seit|nach|vor|bis|ab"  # who is on call "on Monday" asks for no document of that day
_COUNT = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|zwei|drei|vier|fünf|sechs|einer?|einem"
# Without one of these a phrase is no date, whatever the parser makes of it.
CERTAIN = re.compile(
    rf"\b(?:(?:19|20)\d\d(?:-\d\d)*|(?:{_MONTHS})|(?:{_SIDES}) (?:last )?(?:{_WEEKDAYS})|(?:{_WHICH}) (?:{_WEEKDAYS}|weekend)"
    r"|q[1-4]|h[12]|kw ?\d+|week \d+|yesterday|gestern|vorgestern"
    rf"|(?:{_WHICH})(?: (?:{_COUNT}))? (?:{_UNITS})|(?:{_COUNT}) (?:{_UNITS}) (?:ago|back)|vor (?:{_COUNT}) (?:{_UNITS})"
    rf"|(?:first|second|third|fourth|[1-4](?:st|nd|rd|th)) (?:quarter|half)|(?:beginning|start|end|anfang|ende) (?:of|des|der) .+"
    rf"|(?:older|newer) than (?:{_COUNT}) (?:{_UNITS})|since (?:{_COUNT}) (?:{_UNITS})|seit (?:{_COUNT}) (?:{_UNITS})|to date)\b"
)
# With these no preposition is needed.
_RELATIVE = re.compile(
    rf"(?:the )?(?:{_WHICH}) (?:(?:{_COUNT}) )?(?:{_UNITS}|{_MONTHS}|{_WEEKDAYS})(?:'s)?|yesterday(?:'s)?|gestern"
    rf"|(?:(?:{_COUNT})) (?:{_UNITS}) ago|vor (?:{_COUNT}) (?:{_UNITS})|(?:19|20)\d\d-\d\d(?:-\d\d)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?(?:{_MONTHS}),? (?:19|20)\d\d|(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d\d"
    rf"|(?:{_MONTHS}) (?:19|20)\d\d|q[1-4] (?:19|20)\d\d|(?:19|20)\d\d-?q[1-4]"
)
_BARE = re.compile(rf"(?:19|20)\d\d|(?:{_MONTHS})(?: (?:19|20)\d\d)?|q[1-4](?: (?:19|20)\d\d)?")

_FOREIGN_WORDS = {
    **dict.fromkeys(("depuis", "desde", "dès"), "since"),
    **dict.fromkeys(("avant", "antes"), "before"),
    **dict.fromkeys(("après", "después"), "after"),
    "entre": "between",
    **dict.fromkeys(("et", "y"), "and"),
    "en": "in",
    **dict.fromkeys(("pendant", "durante"), "during"),
    **dict.fromkeys(("hier", "ayer"), "yesterday"),
    **dict.fromkeys(("janvier", "enero"), "january"),
    **dict.fromkeys(("février", "febrero"), "february"),
    **dict.fromkeys(("mars", "marzo"), "march"),
    **dict.fromkeys(("avril", "abril"), "april"),
    "mayo": "may",
    **dict.fromkeys(("juin", "junio"), "june"),
    **dict.fromkeys(("juillet", "julio"), "july"),
    **dict.fromkeys(("août", "agosto"), "august"),
    **dict.fromkeys(("septembre", "septiembre"), "september"),
    **dict.fromkeys(("octobre", "octubre"), "october"),
    **dict.fromkeys(("novembre", "noviembre"), "november"),
    **dict.fromkeys(("décembre", "diciembre"), "december"),
}
_FOREIGN_UNITS = {
    "day": "jour jours día días",
    "week": "semaine semaines semana semanas",
    "month": "mois mes meses",
    "quarter": "trimestre trimestres",
    "year": "an ans année années año años",
}
_UNIT_OF = {word: unit for unit, words in _FOREIGN_UNITS.items() for word in words.split()}
_ANY_UNIT = "|".join(sorted(_UNIT_OF, key=len, reverse=True))
_LAST_UNIT = re.compile(
    rf"\b(?:(?:du|de|au|del|en) )?(?:le |la |l'|el )?({_ANY_UNIT}) (?:derni(?:er|ère)|passée?|précédente?|pasad[oa]|anterior)\b"
)
_THIS_UNIT = re.compile(rf"\b(?:cette|cet|ce|este|esta) ({_ANY_UNIT})\b")
_LAST_UNITS = re.compile(
    rf"\b(?:les |los |las |des )?(?:(\d+) derni[eè]re?s|(?:dernières|derniers|últim[oa]s) (\d+)) ({_ANY_UNIT})\b"
)
_SMALL_WORDS = re.compile(r"\b(?:de|du|del|d'|le|la|el|los|las|l')(?: |(?<='))")

_EASTERN = {
    **dict.fromkeys(("先月", "上个月", "上個月"), "last month"),
    **dict.fromkeys(("今月", "这个月", "本月"), "this month"),
    **dict.fromkeys(("先週", "上周", "上星期"), "last week"),
    **dict.fromkeys(("今週", "本周", "这周"), "this week"),
    **dict.fromkeys(("去年", "昨年"), "last year"),
    "今年": "this year",
    **dict.fromkeys(("昨日", "昨天"), "yesterday"),
}
_EASTERN_DATE = re.compile(
    rf"(?P<name>{'|'.join(_EASTERN)})|(?P<year>(?:19|20)\d\d)年(?:(?P<month>\d{{1,2}})月(?:(?P<day>\d{{1,2}})[日号])?)?"
    r"|(?<![A-Za-z0-9_-])(?P<iso>(?:19|20)\d\d-\d\d(?:-\d\d)?)(?![0-9-])"
)
_EASTERN_SIDE = re.compile(r"(?P<since>から|以降|以来|以後|之后|以后|起)|(?P<before>より前|以前|之前|まで)")
_LEFT_OF_CHANGE = re.compile(
    rf"(?:which |that |(?:die|qui|que) )?(?:was |were |has been |have been |been )?{CHANGING.pattern}\W*$", re.IGNORECASE
)
_LEFT_OF_CREATION = re.compile(rf"{CREATING.pattern}\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dated:
    """A date filter. start, end: ISO days, both inclusive, None where open. note: what the person should know instead of one."""

    start: str | None = None
    end: str | None = None
    field: DateField = "date"
    note: str = ""

    @property
    def before(self) -> str | None:
        """The end as the `before` of a search: the first day that is too late."""
        return (date.fromisoformat(self.end) + timedelta(days=1)).isoformat() if self.end else None


def find_dates(question: Question, today: date | None, *, is_document: Callable[[str], bool]) -> Dated | None:
    """Take the first date phrase of a question that is a filter. is_document: whether a word names documents, in any form."""
    note = ""
    for first, word in enumerate(question.words):
        for last in range(min(first + _MOST_WORDS, len(question.words)) - 1, first - 1, -1):
            if not all(question.is_free(index) for index in range(first, last + 1)):
                continue
            written = question.text[word.start : question.words[last].end]
            if re.search(r"[?!;\n]|\.\s", written):
                continue
            phrase = _english(written)
            if not CERTAIN.search(phrase) or not _is_placed(question, first, last, phrase, is_document):
                continue
            found, problem = _resolved(phrase, today)
            if found:
                return _dated(question, (word.start, question.words[last].end), found)
            note = problem if "could be" in problem else note
    return _eastern(question, today) or (Dated(note=note) if note else None)


def _resolved(phrase: str, today: date | None) -> tuple[DateRange | None, str]:
    """What the phrase means, or why it means nothing. "in May and June" is a range to people."""
    spoken = re.sub(r"^(?:from|in|during) (.+) and ", r"between \1 and ", phrase)
    problem = ""
    for form in dict.fromkeys((phrase, spoken)):
        try:
            return resolve(form, today=today), ""
        except FilterError as error:
            problem = problem or str(error)
    return None, problem


def _english(written: str) -> str:
    """A phrase in lower case, with its French and Spanish words as English ones."""
    text = " ".join(written.lower().replace("’", "'").split())
    text = _LAST_UNIT.sub(lambda match: f"last {_UNIT_OF[match[1]]}", text)
    text = _THIS_UNIT.sub(lambda match: f"this {_UNIT_OF[match[1]]}", text)
    text = _LAST_UNITS.sub(lambda match: f"last {match[1] or match[2]} {_UNIT_OF[match[3]]}s", text)
    words = [_FOREIGN_WORDS.get(word, word) for word in text.split()]
    if words != text.split():
        text = _SMALL_WORDS.sub("", " ".join(words))
    return re.sub(r"'s$", "", text)


def _is_placed(question: Question, first: int, last: int, phrase: str, is_document: Callable[[str], bool]) -> bool:
    """Whether the phrase stands where a date filter stands."""
    start, words = phrase.partition(" ")[0], question.words
    before = words[first - 1].lower if first else ""
    follows_documents = first > 0 and not question.words[first - 1].quoted and is_document(before)
    if start in _OPERATORS:
        return not (re.fullmatch(r"in (?:19|20)\d\d", phrase) and _is_counted(question, last + 1, is_document))
    if _RELATIVE.fullmatch(phrase):
        return before not in {"for", "per", "für"} or follows_documents
    if before in {"of", "for", "de", "del"} and first > 1 and is_document(words[first - 2].lower):
        return True
    if not _BARE.fullmatch(phrase):
        return before == "of" and follows_documents
    precedes_documents = last + 1 < len(words) and is_document(words[last + 1].lower)
    named = words[first].text[0].isupper() or words[first].text[0].isdigit()
    modal = first == 0 and start in {"may", "march", "mar", "mai"}
    return named and not modal and (follows_documents or precedes_documents)


def _is_counted(question: Question, index: int, is_document: Callable[[str], bool]) -> bool:
    """Whether a word is a plain plural: then the number before it counts, as in "in 2000 requests"."""
    if index >= len(question.words):
        return False
    word = question.words[index].text
    return word.islower() and word.endswith("s") and word not in question.stop_words and not is_document(word)


def _dated(question: Question, span: tuple[int, int], found: DateRange) -> Dated:
    """Take the phrase with the verb beside it that says which date is meant."""
    start, end = span
    if question.text[end : end + 2] in {"'s", "’s"}:
        end += 2
    before, after = question.text[:start], question.text[end:]
    field: DateField = "date"
    behind = re.match(rf"\W*(?:\w+\W+)?{CHANGING.pattern}", after, re.IGNORECASE)
    for name, pattern in (("modified", _LEFT_OF_CHANGE), ("created", _LEFT_OF_CREATION)):
        match = pattern.search(before)
        if match:
            field, start = ("modified" if name == "modified" else "created"), match.start()
    if field == "date" and behind and re.match(r"\W*(?:\w+\W+)?(?:geändert|aktualisiert|bearbeitet|更新|変更|修改)", after):
        field, end = "modified", end + behind.end()
    question.take(start, end)
    return Dated(found.start, found.end, field)


def _eastern(question: Question, today: date | None) -> Dated | None:
    """Dates written in Japanese and Chinese, where no space separates them."""
    match = _EASTERN_DATE.search(question.free_text())
    if not match or (match["iso"] and question.text.isascii()):
        return None
    if match["name"]:
        phrase = _EASTERN[match["name"]]
    else:
        phrase = match["iso"] or "-".join(part.zfill(2) for part in (match["year"], match["month"], match["day"]) if part)
    side = _EASTERN_SIDE.match(question.text, match.end())
    if side:
        phrase = f"{side.lastgroup} {phrase}"
    try:
        resolved = resolve(phrase, today=today)
    except FilterError:  # no day that there is, such as 2026年13月: words like any others
        return None
    return _dated(question, (match.start(), side.end() if side else match.end()), resolved)
