"""The words by which people ask of tables, in English and German: patterns only. `marks` finds them."""

from __future__ import annotations

from assistant.backends.offline.tables.kinds import comparatives
from assistant.backends.offline.tables.numerals import IN_WORDS, ONE_UNIT, SMALL

SMALL_NUMBER = rf"(?P<n>\d{{1,3}}|{'|'.join(SMALL)})"

_HIGH = "most|highest|largest|biggest|greatest|maximum|(?:meiste|höchste|größte)[nrs]?"
_LOW = "least|fewest|lowest|smallest|(?:wenigste|niedrigste|kleinste|geringste)[nrs]?"
_HOW_OFTEN = r"(?: common| frequent(?:ly)?(?: used)?| often)?"
EXTREMES = ((rf"\b(?:{_HIGH})\b{_HOW_OFTEN}", True), (rf"\b(?:{_LOW})\b{_HOW_OFTEN}", False))

_UP = f"{comparatives(high=True)}|more|greater|higher|larger|bigger|older|later|mehr|größer|höher"
_DOWN = f"{comparatives(high=False)}|less|fewer|lower|smaller|weniger|kleiner|niedriger"
_SCALE = r"(?:\s?(?:k|m|million|thousand|mio|tsd)\b)?"
_NUMBER = rf"(?P<number>[-−]?[$€£]?\s?(?:\d[\d.,]*\d|\d){_SCALE}|{IN_WORDS}|{ONE_UNIT})"
_OTHER = _NUMBER.replace("number", "other")
COMPARISONS: tuple[tuple[str, str], ...] = (
    (rf"\b(?:no|not) (?:{_UP}) than\s+{_NUMBER}", "<="),
    (rf"\b(?:no|not) (?:{_DOWN}) than\s+{_NUMBER}", ">="),
    (rf"\b(?:(?:{_UP})(?: in [a-z]+)? (?:than|als)|over|above|exceed(?:s|ing|ed)?|über)\s+{_NUMBER}", ">"),
    (rf"\b(?:(?:{_DOWN})(?: in [a-z]+)? (?:than|als)|under|below|unter)\s+{_NUMBER}", "<"),
    (rf"\b(?:at least|at minimum|mindestens|a minimum of|minimum of)\s+{_NUMBER}", ">="),
    (rf"\b(?:at most|up to|at maximum|höchstens|maximal|a maximum of)\s+{_NUMBER}", "<="),
    (rf"\b(?:between|zwischen)\s+{_NUMBER}\s+(?:and|und|to|-)\s+{_OTHER}", "between"),
    (rf"{_NUMBER}\s+(?:or more|or above|or higher|oder mehr)\b", ">="),
    (rf"{_NUMBER}\s+(?:or less|or fewer|or below|or lower|oder weniger)\b", "<="),
    (rf"(?:>=|≥)\s*{_NUMBER}", ">="),
    (rf"(?:<=|≤)\s*{_NUMBER}", "<="),
    (rf">\s*{_NUMBER}", ">"),
    (rf"<\s*{_NUMBER}", "<"),
    (rf"\b(?:exactly|equal(?:s)? to|equal|equals|genau|of exactly)\s+{_NUMBER}", "="),
)

_FAR, _NEAR = "high|larg|great|bigg|long|new|lat", "low|small|short|earli"
DIRECTIONS = (
    ("down", r"\b(?:in )?(?:descending|absteigend\w*)(?: order)?\b"),
    ("up", r"\b(?:in )?(?:ascending|alphabetical\w*|aufsteigend\w*|chronological\w*)(?: order)?\b"),
    (
        "down",
        rf"\b(?:from )?(?:the )?(?:{_FAR}|old)est to (?:the )?(?:{_NEAR}|old|new|young)est\b",
    ),
    ("down", r"\bmost to (?:the )?(?:least|fewest)\b"),
    ("up", rf"\b(?:from )?(?:the )?(?:{_NEAR})est to (?:the )?(?:{_FAR})est\b"),
    ("up", r"\b(?:least|fewest) to (?:the )?most\b"),
    ("down", r"\b(?:highest|largest|longest|newest|latest|most recent)\b(?=(?: \w+){0,4} first\b)"),
    ("down", r"\b(?:best|most|beste\w*|meiste\w*|größte\w*|höchste\w*) (?:first|zuerst)\b"),
    ("up", r"\b(?:worst|least|fewest|schlechteste\w*|wenigste\w*|kleinste\w*|niedrigste\w*) (?:first|zuerst)\b"),
    ("up", r"\b(?:lowest|smallest|shortest|earliest|oldest)\b(?=(?: \w+){0,4} first\b)"),
)

LIMIT = rf"\b(?P<side>top|first|bottom|last|best|worst|ersten?|obersten|letzten|besten)\s+{SMALL_NUMBER}\b"
WITH_LIMIT = rf"(?<![\w.,/-]){SMALL_NUMBER}(?=\s+(?:\w+\s+){{0,3}}?(?:with|mit)\b)"  # "the four endpoints with the fewest …"
# "which three endpoints", "die zwei ältesten": a number of things, where an order is asked for.
SOME = rf"\b(?:which|what|welche[nrs]?|the|our|my|die|der|den|unsere)\s+{SMALL_NUMBER}(?=\s+[^\W\d_]{{2}})"
LOW_SIDES = frozenset({"bottom", "worst", "last", "letzten"})
RATED_SIDES = frozenset({"best", "worst", "besten"})

_MEAN = (
    r"(?<!do )(?<!does )\b(?:average[sd]?|(?:arithmetic )?mean(?! by\b|\?|$)|avg|durchschnitt\w*|mittelwert\w*|mittlere\w*"
    r"|im schnitt)\b"
)
_SUM = r"\b(?:sums?(?: of)?|totals?|in total|combined|together|altogether|summe\w*|insgesamt|zusammen|gesamt\w*)\b"
_COUNT = (
    r"\b(?:how many|number of|no\. of|counts? of|count(?= (?:the|all|how)\b)|^count\b|counts?"
    r"|wie ?viele|anzahl(?: der| von| an)?|zahl der)\b"
)
_EACH = (
    r"\b(?:monthly|quarterly|yearly|annual(?:ly)?|weekly|daily|hourly|per|for (?:each|every)|in each|of each|by each|at each"
    r"|from each|each|every|group(?:ed)? by|broken down by|by|across|for different|je|pro|nach|für jede[nrsm]?|jede[nrsm]?)\b"
)
_NOT = r"\b(?:not|non|n['’]t|no|without|except|excluding|other than|never|nicht|kein\w*|ohne|außer)\b"
_ASK = (
    r"\b(?:which|what|who|whose|list|show|give|return|find|display|name|get"
    r"|welche[nrsm]?|was|wer|wessen|zeige?|liste|nenne)\b"
)
# Kind of a mark, the function of an aggregate, the words.
PLAIN: tuple[tuple[str, str, str], ...] = (
    ("aggregate", "avg", _MEAN),
    ("aggregate", "median", r"\bmedian\w*"),
    ("aggregate", "sum", _SUM),
    ("aggregate", "min", r"\b(?:minimum|minimal\w*|min)\b"),
    ("aggregate", "max", r"\b(?:maximum|maximal\w*|max)\b"),
    ("count", "", _COUNT),
    ("group", "", _EACH),
    ("distinct", "", r"\b(?:distinct|different|unique|verschiedene[nrs]?|unterschiedliche[nrs]?)\b"),
    ("not", "", _NOT),
    ("ask", "", _ASK),
    (
        "versus",
        "",
        r"\b(?:vs|versus|compared? (?:to|with)|compare|im vergleich (?:zu|mit)|verglichen mit|gegenüber|vergleiche?)\b",
    ),
    ("share", "", r"\b(?:ratio of|ratio between|verhältnis (?:von|der)|quotient of)(?: the)?\b"),
)
# Units of time by the words that say them.
TIME_UNITS = {
    word: unit
    for unit, words in {
        "year": "year yearly years jahr annual annually",
        "quarter": "quarter quarterly quartal",
        "month": "month monthly months monat",
        "week": "week weekly woche",
        "day": "day daily date tag",
        "hour": "hour hourly stunde",
        "weekday": "weekday wochentag",
    }.items()
    for word in words.split()
}
