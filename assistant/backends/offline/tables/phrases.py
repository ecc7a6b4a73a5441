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
    filled: str
    yes: str
    no: str
    nothing: str
    fallback: str
    goes_on: str
    equal: str
    unsure: str
    unread: str
    no_column: str
    no_dates: str
    time_of: str
    all_rows: str
    by_average: str
    by_sum: str
    each_row: str
    evenly: str
    spoilt: str
    also_fits: str
    no_query: str
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
        filled="{column} is not empty",
        yes="yes",
        no="no",
        nothing="No row of the tables answers this.",
        fallback="The tables did not answer this ({reason}); from the documents:",
        goes_on="The list goes on.",
        equal="equal",
        unsure="Read as: {text}.",
        unread="Not used: {words}.",
        no_column="a comparison was left out: no column for it",
        no_dates="a time was left out: no column holds dates",
        time_of="the time is that of {column}",
        all_rows="{column} tells rows apart: over all of them",
        by_average="by the average {column} of each",
        by_sum="by the sum of {column} of each",
        each_row="every row of {table} counts once, however many there are for each {column}",
        evenly="With every {column} counted once",
        spoilt="Nothing can be computed with {column}: it is {note}. Its rarest values:",
        also_fits="the table is {table}; {others} would fit as well",
        no_query="no query could be made of the question",
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
        filled="{column} nicht leer ist",
        yes="ja",
        no="nein",
        nothing="Keine Zeile der Tabellen beantwortet das.",
        fallback="Die Tabellen haben das nicht beantwortet ({reason}); aus den Dokumenten:",
        goes_on="Die Liste geht weiter.",
        equal="gleich",
        unsure="Gelesen als: {text}.",
        unread="Nicht verwendet: {words}.",
        no_column="ein Vergleich blieb weg: keine Spalte dafür",
        no_dates="eine Zeit blieb weg: keine Spalte hält Tage",
        time_of="die Zeit ist die von {column}",
        all_rows="{column} unterscheidet Zeilen: über alle",
        by_average="nach dem Durchschnitt von {column}",
        by_sum="nach der Summe von {column}",
        each_row="jede Zeile von {table} zählt einmal, so viele es je {column} auch sind",
        evenly="Jede {column} einmal gezählt",
        spoilt="Mit {column} lässt sich nicht rechnen ({note}). Die seltensten Werte:",
        also_fits="die Tabelle ist {table}; {others} käme auch in Frage",
        no_query="aus der Frage ließ sich keine Abfrage machen",
        point=",",
        group=".",
    ),
}


def table_phrases(language: str) -> TablePhrases:
    """The phrases of a language, English where there are none."""
    return _PHRASES.get(language, _PHRASES["en"])
