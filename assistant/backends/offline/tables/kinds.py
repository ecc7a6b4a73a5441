"""The kinds of column that an adjective speaks of: "slow" is said of a duration, "cheap" of money, "newest" of a date.

Out: patterns of adjectives with the words of the columns they mean, English and German. No table is known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.backends.offline.wording import words_of

DURATION = ("time", "duration", "latency", "response", "elapsed")
LENGTH = ("length", "duration", "time", "elapsed", "distance", "pages")
MONEY = ("price", "cost", "amount", "fare", "fee", "charge", "total", "revenue", "salary", "spent")
SPENT = ("expense", "cost", "spending", "revenue", "earnings", "ausgabe", "kosten", "einnahme", "umsatz")  # as names of tables
WHEN = ("date", "year", "created", "introduced", "founded", "opened", "birth", "time")
AGE = WHEN[:-1]  # a time of the day is early or late, not old or new
WEIGHT = ("weight", "mass")
HEIGHT = ("height", "altitude", "elevation")
RATING = ("rating", "score", "grade", "punctuality")
SIZE = ("area", "size", "population", "capacity")
LOAD = ("load", "utilization", "usage", "traffic", "visits", "requests", "queries", "trips", "orders", "volume", "used")
CURRENCIES = words_of("eur usd gbp chf jpy cny inr thb sek nok dkk pln czk huf cad aud nzd")


@dataclass(frozen=True, slots=True)
class Scale:
    """Adjectives of one kind of column, as patterns: superlatives, comparatives, plain, of the high end and of the low one."""

    kind: tuple[str, ...]
    highest: str = ""
    lowest: str = ""
    higher: str = ""
    lower: str = ""
    plain: str = ""


SCALES = (
    Scale(
        DURATION,
        "slowest|(?:langsamste)[nrs]?",
        "fastest|quickest|schnellste[nrs]?",
        "slower|langsamer",
        "faster|quicker|schneller",
        "slow|fast|quick(?:ly)?|langsam|schnell",
    ),
    Scale(
        LENGTH, "longest|längste[nrs]?", "shortest|kürzeste[nrs]?", "longer|länger", "shorter|kürzer", "long|short|lang|lange|kurz"
    ),
    Scale(
        MONEY,
        "most expensive|priciest|costliest|dearest|teuerste[nrs]?",
        "cheapest|least expensive|(?:billigste|günstigste|preiswerteste)[nrs]?",
        "more expensive|pricier|costlier|dearer|teurer",
        "cheaper|less expensive|billiger|günstiger|preiswerter",
        "expensive|costly|cheap|teuer|billig|günstig",
    ),
    Scale(
        AGE,
        "newest|most recent(?:ly)?|youngest|(?:neueste|neuste|jüngste)[nrs]?",
        "oldest|älteste[nrs]?",
        plain="old|alt",
    ),
    Scale(
        WHEN,
        r"latest|späteste[nrs]?|(?:zuletzt|last)(?=\s*(?:\?|$))",
        r"earliest|früheste[nrs]?|(?:zuerst|first)(?=\s*(?:\?|$))",
        plain="early|late|früh|spät",
    ),
    Scale(WEIGHT, "heaviest|schwerste[nrs]?", "lightest|leichteste[nrs]?", "heavier|schwerer", "lighter|leichter", "heavy|schwer"),
    Scale(HEIGHT, "tallest|höchstgelegene[nrs]?", "", "taller", "", "tall"),
    Scale(RATING, "best|highest rated|top rated|beste[nrs]?", "worst|lowest rated|schlechteste[nrs]?"),
    Scale(LOAD, "busiest", "quietest", "busier", "quieter", "busy"),
    Scale(("population",), "most populous|most populated", "least populous|least populated"),
)
# Verbs of paying and being paid mean money, whoever does it.
PAYING = (
    r"\b(?:bill(?:s|ed|(?= (?:us|you|them|me)\b))|invoiced|charg(?:es?|ed)|pa(?:ys?|id)|spen(?:ds?|t)|costs?|owe[sd]?|earn(?:s|ed)?"
    r"|berechnet\w*|verlangt\w*|(?:ge|be)?zahl(?:en|t|te|ten)|(?:ge)?kostet\w*|(?:ge)?kosten|verdient\w*|ausgegeben)\b"
)
# Words that are nouns as well: verbs behind "did".
PAYING_NOUNS = ("bill", "invoice")
PAYING_ASKED = rf"\b(?:did|does|do|will)\b[^?.;\n]{{1,60}}?\b(?=(?:{'|'.join(PAYING_NOUNS)})\b)"
HOW = r"\b(?:how|wie)\s+"


def comparatives(*, high: bool) -> str:
    """All comparatives of one end, as one pattern."""
    return "|".join(pattern for scale in SCALES if (pattern := scale.higher if high else scale.lower))
