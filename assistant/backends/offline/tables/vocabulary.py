"""Which words of a question mean which words of a name: stems, abbreviations, units, and the few synonyms that hold everywhere.

In: single words in any case, names of tables and columns. Out: stems, lists of words, a likeness from 0 to 1. English and German.
Nothing here knows a table: all names come from the catalogue.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECES = re.compile(r"[^\W\d_]+|\d+")
_UMLAUT = re.compile(r"([aou])e(?=[bfghklmnprtz])")  # "umsaetze" of a file is "Umsätze"
_IRREGULAR = {
    "people": "person",
    "persons": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "data": "datum",
    "ids": "id",
}
_ENDINGS = (
    "alities", "ements", "ations", "ality", "ation", "ement", "ities", "ments", "tions", "iest", "ings", "ment", "tion", "ers",
    "ful", "ing", "ity", "ed", "en", "er", "es", "ly", "e", "s",
)  # fmt: skip
_SHORTEST_STEM = 3
# Words of the general kind only. What stands in one line may be said for each other.
_GROUPS = (
    "time duration latency elapsed zeit dauer laufzeit hours minutes seconds",
    "hours hour stunde stunden",
    "minute minutes minuten",
    "date day when datum tag timestamp",
    "year jahr",
    "month monat",
    "cost price amount betrag kosten preis fee expense charge revenue earnings umsatz",
    "count number anzahl quantity num no cnt qty nr zahl menge",
    "name title called titel named bezeichnung",
    "id identifier",
    "percent percentage share anteil pct rate quote",
    "phone telephone tel telefon telefonnummer",
    "country land nation",
    "city town stadt ort",
    "state bundesland",
    "weight gewicht",
    "height altitude elevation höhe",
    "size größe area",
    "owner besitzer inhaber owned owns",
    "note comment remark bemerkung notiz kommentar",
    "type kind category typ art kategorie",
    "status state zustand",
    "customer client kunde",
    "employee staff mitarbeiter",
    "company firm firma unternehmen organization organisation",
    "response antwort",
    "service dienst",
    "query abfrage anfrage request",
    "address adresse",
    "score rating points note bewertung",
    "begin start first",
    "end finish last",
    "population people inhabitants residents einwohner",
    "car vehicle auto",
    "film movie",
    "message nachricht",
    "order bestellung auftrag",
    "product produkt article artikel item",
    "position role job",
    "salary wage pay gehalt lohn",
    "invoice rechnung faktura",
    "parcel package paket",
    "surcharge zuschlag aufschlag",
    "project projekt",
    "department abteilung",
    "priority priorität",
    "model modell",
    "person mitarbeiter",
    "user nutzer benutzer",
    "supplier vendor lieferant",
    "account konto",
    "paid bezahlt beglichen settled",
    "closed geschlossen abgeschlossen",
    "finished completed beendet fertig gelesen",
    "done erledigt completed",
    "resolved gelöst",
    "returned zurückgegeben",
    "lent loaned verliehen ausgeliehen",
    "expense spending ausgabe",
    "author writer autor verfasser",
    "book buch",
    "page seiten",
    "route strecke",
    "distance distanz entfernung",
    "shop store merchant retailer dealer händler geschäft",
    "room raum zimmer",
    "due fällig",
)
# German words that English needs two for.
_COMPOUNDS = {
    ("hourly", "rate"): "stundensatz stundenlohn",
    ("purchase", "date"): "kaufdatum",
    ("purchase", "price"): "kaufpreis",
    ("unit", "price"): "stückpreis einzelpreis",
    ("total", "amount"): "gesamtbetrag",
    ("birth", "date"): "geburtsdatum",
    ("due", "date"): "fälligkeitsdatum",
    ("invoice", "number"): "rechnungsnummer rechnungsnr",
    ("invoice", "date"): "rechnungsdatum",
    ("customer", "number"): "kundennummer kundennr",
    ("order", "number"): "bestellnummer",
    ("postal", "code"): "postleitzahl plz",
    ("heart", "rate"): "herzfrequenz puls",
    ("contact", "person"): "ansprechpartner",
}
_ABBREVIATIONS = {
    "amt": "amount",
    "dt": "date",
    "ts": "timestamp",
    "tx": "transaction",
    "txn": "transaction",
    "qty": "quantity",
    "pct": "percent",
    "nr": "number",
    "no": "number",
    "num": "number",
    "cnt": "count",
    "addr": "address",
    "desc": "description",
    "dept": "department",
    "mgr": "manager",
    "acct": "account",
    "ccy": "currency",
    "dob": "birth",
    "tot": "total",
    "avg": "average",
    "loc": "location",
    "org": "organization",
    "src": "source",
    "msg": "message",
    "yr": "year",
    "mon": "month",
    "freq": "frequency",
    "appr": "approval",
    "reg": "registration",
    "spec": "specialty",
    "min": "minimum",
    "max": "maximum",
}
_CURRENCIES = (
    ("chf", "franc francs franken"), ("jpy", "yen"), ("cny", "yuan"), ("inr", "rupee rupees"), ("thb", "baht"), ("pln", "zloty"),
    ("sek", "krona kronor"), ("nok", "krone kroner"), ("dkk", "krone kroner"), ("cad", "dollar dollars"), ("aud", "dollar dollars"),
)  # fmt: skip
# How many of the smallest of its kind a unit is.
_SIZES_OF_UNITS = (
    {"ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6, "days": 8.64e7},
    {"g": 1.0, "kg": 1e3},
    {"mm": 1.0, "cm": 10.0, "km": 1e6},
    {"bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9},
)
_SAID_UNITS = {
    **dict.fromkeys(("millisecond", "milliseconds", "millisekunden"), "ms"),
    **dict.fromkeys(("second", "seconds", "sekunde", "sekunden"), "s"),
    **dict.fromkeys(("minute", "minutes", "minuten"), "min"),
    **dict.fromkeys(("hour", "hours", "stunde", "stunden"), "h"),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), "days"),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "kilometern"), "km"),
    **dict.fromkeys(("mile", "miles", "meilen"), "miles"),
    **dict.fromkeys(("euro", "euros"), "eur"),
    **dict.fromkeys(("dollar", "dollars"), "usd"),
    **dict.fromkeys(("kilo", "kilos", "kilogram", "kilograms"), "kg"),
}
# The unit that a name ends with, and the words that it is said with.
UNITS: dict[str, tuple[str, frozenset[str]]] = {
    name: (said, frozenset(words.split()))
    for name, said, words in (
        ("ms", "ms", "time duration latency millisecond milliseconds long slow fast ms"),
        ("s", "s", "time duration second seconds"),
        ("sec", "s", "time duration second seconds"),
        ("secs", "s", "time duration second seconds"),
        ("seconds", "s", "time duration second seconds"),
        ("min", "min", "time duration minute minutes"),
        ("mins", "min", "time duration minute minutes"),
        ("minutes", "min", "time duration minute minutes"),
        ("h", "h", "time duration hour hours stunde stunden"),
        ("hrs", "h", "time duration hour hours"),
        ("hours", "h", "time duration hour hours"),
        ("days", "days", "time duration day days"),
        ("kg", "kg", "weight mass heavy kilogram kilograms kilo"),
        ("g", "g", "weight mass gram grams"),
        ("lbs", "lbs", "weight pound pounds"),
        ("cm", "cm", "height length width centimetre centimeters"),
        ("mm", "mm", "length width"),
        ("km", "km", "distance length kilometre kilometers"),
        ("miles", "miles", "distance mile"),
        ("eur", "EUR", "amount price cost euro euros betrag"),
        ("usd", "USD", "amount price cost dollar dollars"),
        ("gbp", "GBP", "amount price cost pound pounds"),
        *((code, code.upper(), f"amount price cost {words}") for code, words in _CURRENCIES),
        ("mb", "MB", "size megabyte megabytes"),
        ("gb", "GB", "size gigabyte gigabytes"),
        ("kb", "kB", "size kilobyte kilobytes"),
        ("bytes", "bytes", "size"),
        ("%", "%", "percent percentage share rate prozent"),
        ("pct", "%", "percent percentage share rate"),
        ("percent", "%", "percentage share rate"),
    )
}


def unit_said(word: str) -> str:
    """The unit that a word of a question means, in lower case: "seconds" is s; "" where it is none."""
    return _SAID_UNITS.get(word) or (UNITS[word][0].lower() if word in UNITS else "")


def units_in(unit: str, other: str) -> float | None:
    """How many of another unit one is: 1000 ms in a s; None where they measure different things, or one is not known."""
    if unit.lower() == other.lower():
        return 1.0
    sizes = next((sizes for sizes in _SIZES_OF_UNITS if unit.lower() in sizes and other.lower() in sizes), None)
    return sizes[unit.lower()] / sizes[other.lower()] if sizes else None


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """What is left of a word without case, accents and its ending: "queried" and "queries" are one."""
    text = unicodedata.normalize("NFKD", word.casefold().replace("ß", "ss"))
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = _UMLAUT.sub(r"\1", text)
    text = _IRREGULAR.get(text, text)
    if text.endswith(("ies", "ied")) and len(text) > _SHORTEST_STEM + 1:
        return text[:-3] + "i"
    if text.endswith("sis"):
        return text[:-2]
    for ending in _ENDINGS:
        cut = text[: -len(ending)]
        if not text.endswith(ending) or len(cut) < _SHORTEST_STEM:
            continue
        if ending in {"s", "es"} and text.endswith(("ss", "us", "is")):
            continue
        if ending == "s" and text.endswith("'s"):
            cut = text[:-2]
        if len(cut) > _SHORTEST_STEM and cut[-1] == cut[-2] and ending in {"ed", "ing", "er", "ers"}:
            cut = cut[:-1]
        return cut[:-1] + "i" if cut.endswith("y") else cut
    return text[:-1] + "i" if text.endswith("y") and len(text) > _SHORTEST_STEM else text


_IN_GERMAN = {stem(word): pair for pair, line in _COMPOUNDS.items() for word in line.split()}


def plural(word: str) -> str:
    """An English word or name for several of what it says; what is none already."""
    if re.search(r"[^su']s$", word):
        return word
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def name_words(name: str) -> list[str]:
    """The words of a table's or column's name in lower case: `sbTxCustId`, `day7_lesion_cnt`, "Response-Zeit"."""
    return [piece.lower() for part in _CAMEL.split(name) for piece in _PIECES.findall(part)]


def other_names(words: Sequence[str]) -> list[list[str]]:
    """The words of a name in the other language, where that has two for one: "Stundensatz" is "hourly rate"."""
    german = [[word] for word in _COMPOUNDS.get((words[0], words[1]), "").split()] if len(words) == 2 else []
    english = _IN_GERMAN.get(stem(words[0])) if len(words) == 1 else None
    return [*german, *([list(english)] if english else [])]


def _members() -> dict[str, frozenset[int]]:
    """The groups that each stem is in."""
    found: dict[str, frozenset[int]] = {}
    for number, line in enumerate(_GROUPS):
        for word in line.split():
            found[stem(word)] = found.get(stem(word), frozenset()) | {number}
    return found


_MEMBERS = _members()


@lru_cache(maxsize=65536)
def likeness(said: str, named: str) -> float:
    """How surely a word of a question means a word of a name: 1 the same, .98 another form, .9 cut short, .7 a synonym, else 0."""
    one, other = said.casefold(), named.casefold()
    if stem(one) == stem(other):
        return 1.0 if one.rstrip("s") == other.rstrip("s") else 0.98
    if one.isdigit() or other.isdigit():
        return 0.0
    full = _ABBREVIATIONS.get(other, "")
    if full and stem(full) == stem(one):
        return 0.9
    if _shortens(other, one):
        return 0.9 if len(other) > _SHORTEST_STEM else 0.8
    if len(stem(one)) > _SHORTEST_STEM + 1 and stem(other).startswith(stem(one)):
        return 0.75
    groups = _MEMBERS.get(stem(one), frozenset())
    return 0.7 if groups & (_MEMBERS.get(stem(other), frozenset()) | _MEMBERS.get(stem(full), frozenset())) else 0.0


def _shortens(short: str, word: str) -> bool:
    """Whether a word may be cut to another: "customer" to "cust"; not "agency" to "age", which is a word."""
    cut = len(short) >= _SHORTEST_STEM and short[-1] not in "aeiouy" and word.startswith(short)
    return cut and len(short) + 2 <= len(word) <= 3 * len(short)
