"""The sentences that an answer from tables is made of, in English and German."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TablePhrases:
    """Fixed words. Those with {…} are filled in by `str.format`. point, group: how numbers are written."""

    functions: Mapping[str, str]
    short: Mapping[str, str]
    understood: str
    each: str
    unit_of: str
    where: str
    both: str
    over: str
    things: str
    best: str
    first: str
    only: str
    most: str
    fewest: str
    highest: str
    lowest: str
    ordered: str
    listed: str
    joined: str
    shared: str
    without: str
    also: str
    spread: str
    missing: str
    nothing: str
    fallback: str
    goes_on: str
    equal: str
    unsure: str
    unread: str
    point: str = "."
    group: str = ","


_PHRASES = {
    "en": TablePhrases(
        functions={
            "": "{column}",
            "count": "number of rows of {table}",
            "count_distinct": "number of different values of {column}",
            "sum": "sum of {column}",
            "avg": "average of {column}",
            "min": "lowest {column}",
            "max": "highest {column}",
            "median": "median of {column}",
        },
        short={
            "": "{column}",
            "count": "number of {table}",
            "count_distinct": "different {column}",
            "sum": "total {column}",
            "avg": "average {column}",
            "min": "lowest {column}",
            "max": "highest {column}",
            "median": "median {column}",
        },
        understood="Understood: {text}.",
        each=" for each {groups}",
        unit_of="{unit} of {column}",
        where=" where {tests}",
        both=" and ",
        over=" over {things}",
        things="the {end} {limit}{things} by {measure}",
        best="the {thing} with the {end} {measure}",
        first="top",
        only="bottom",
        most="most",
        fewest="fewest",
        highest="highest",
        lowest="lowest",
        ordered=", ordered by {measure}, {end} first",
        listed="{columns} of {table}",
        joined="{left} joins {right}",
        shared="{left} and {right} share the column {column}",
        without=" without a row in {table}",
        also=" with a row in {table}",
        spread="average of the {measure}",
        missing="{column} is missing",
        nothing="No row of the tables answers this.",
        fallback="The tables did not answer this ({reason}); from the documents:",
        goes_on="The list goes on.",
        equal="equal",
        unsure="Read as: {text}.",
        unread="Not used: {words}.",
    ),
    "de": TablePhrases(
        functions={
            "": "{column}",
            "count": "Anzahl der Zeilen von {table}",
            "count_distinct": "Anzahl verschiedener Werte von {column}",
            "sum": "Summe von {column}",
            "avg": "Durchschnitt von {column}",
            "min": "kleinster Wert von {column}",
            "max": "größter Wert von {column}",
            "median": "Median von {column}",
        },
        short={
            "": "{column}",
            "count": "Anzahl {table}",
            "count_distinct": "verschiedene {column}",
            "sum": "Summe {column}",
            "avg": "Durchschnitt {column}",
            "min": "kleinster Wert {column}",
            "max": "größter Wert {column}",
            "median": "Median {column}",
        },
        understood="Verstanden: {text}.",
        each=" je {groups}",
        unit_of="{unit} von {column}",
        where=", wobei {tests}",
        both=" und ",
        over=" über {things}",
        things="{end} {limit}{things} nach {measure}",
        best="{thing} mit {end} {measure}",
        first="die ersten",
        only="die letzten",
        most="den meisten",
        fewest="den wenigsten",
        highest="dem höchsten Wert von",
        lowest="dem niedrigsten Wert von",
        ordered=", geordnet nach {measure}, {end} zuerst",
        listed="{columns} von {table}",
        joined="{left} verbindet {right}",
        shared="{left} und {right} haben die Spalte {column} gemeinsam",
        without=" ohne Zeile in {table}",
        also=" mit Zeile in {table}",
        spread="Durchschnitt der {measure}",
        missing="{column} fehlt",
        nothing="Keine Zeile der Tabellen beantwortet das.",
        fallback="Die Tabellen haben das nicht beantwortet ({reason}); aus den Dokumenten:",
        goes_on="Die Liste geht weiter.",
        equal="gleich",
        unsure="Gelesen als: {text}.",
        unread="Nicht verwendet: {words}.",
        point=",",
        group=".",
    ),
}


def table_phrases(language: str) -> TablePhrases:
    """The phrases of a language, English where there are none."""
    return _PHRASES.get(language, _PHRASES["en"])
