"""What the measures of a run are called and how their values are written: shares in per cent, money, tokens, seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of results. name: its key among the scores; meaning: a sentence for the reader; less: smaller is better."""

    name: str
    label: str
    meaning: str
    write: Callable[[float], str]
    less: bool = False


def percent(value: float) -> str:
    """A share as per cent: 0 % and 100 % are said only of nothing and of everything."""
    rounded = round(value * 100)
    if rounded == 100 and value < 1:
        return ">99\N{NO-BREAK SPACE}%"
    if rounded == 0 and value > 0:
        return "<1\N{NO-BREAK SPACE}%"
    return f"{rounded}\N{NO-BREAK SPACE}%"


def fraction(value: float) -> str:
    """A measure of ranking, three digits."""
    return f"{value:.3f}"


def count(value: float) -> str:
    """A mean of whole numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def whole(value: float) -> str:
    """A mean of large whole numbers."""
    return f"{value:,.0f}"


def dollars(value: float) -> str:
    """US dollars with two significant digits below one."""
    if value == 0:
        return "$0"
    return f"${value:,.2f}" if value >= 1 else f"${value:.2g}" if value >= 0.001 else f"${value:.6f}".rstrip("0").rstrip(".")


def seconds(value: float) -> str:
    """A time, in milliseconds below a second."""
    if value < 0.9995:
        return f"{value * 1000:.0f}\N{NO-BREAK SPACE}ms"
    return f"{value:.1f}\N{NO-BREAK SPACE}s" if value < 99.95 else f"{value:,.0f}\N{NO-BREAK SPACE}s"


def seconds_on_axis(value: float) -> str:
    """A round time beside an axis."""
    return f"{value * 1000:g} ms" if value < 1 else f"{value:g} s"


ANSWERS = (
    Measure("answer", "Answer right", "documents cited, phrases, numbers, all that the case expects of the answer", percent),
    Measure("abstention", "Abstained rightly", "said that the documents do not hold it, exactly where they do not", percent),
)
TOOLS = (
    Measure("tool_choice", "Tools right", "one of the right chains of tools was called", percent),
    Measure("tool_order", "Order right", "in the right order", percent),
    Measure("arguments", "Arguments right", "with the arguments that the case expects", percent),
    Measure("filters", "Filters right", "with the filters that the question names", percent),
    Measure("dates", "Dates right", "with the right range of dates", percent),
    Measure("valid_calls", "Calls valid", "share of calls that passed the check of names and arguments", percent),
    Measure("recovered", "Recovered", "a right call followed an invalid one", percent),
)
CITATIONS = (
    Measure("citation_precision", "Precise", "share of the cited documents that are right", percent),
    Measure("citation_recall", "Complete", "share of the documents to cite that were cited", percent),
    Measure("quotes_verified", "Quotations verified", "share of quotations that stand in the cited text", percent),
    Measure("numbers_found", "Numbers found", "share of numbers that stand in a result", percent),
)
EFFORT = (
    Measure("steps", "Steps", "requests to the model", count, less=True),
    Measure("tokens", "Tokens", "read and written", whole, less=True),
    Measure("cost", "Cost", "US dollars a question", dollars, less=True),
    Measure("seconds", "Time", "from question to answer", seconds, less=True),
)
ALL = (*ANSWERS, *TOOLS, *CITATIONS, *EFFORT)
BY_NAME = {measure.name: measure for measure in ALL}
HEADLINES = (
    ("Answers", ANSWERS),
    ("Tools", (BY_NAME["tool_choice"], BY_NAME["arguments"])),
    ("Citations", (BY_NAME["citation_precision"], BY_NAME["citation_recall"], BY_NAME["quotes_verified"])),
    ("Effort", (BY_NAME["cost"], BY_NAME["seconds"])),
)


def written(name: str, value: float | None) -> str:
    """A value of any measure; those of retrieval (ndcg@10 …) as fractions, a missing one as a dash."""
    if value is None:
        return MISSING
    return BY_NAME[name].write(value) if name in BY_NAME else fraction(value)


def label(name: str) -> str:
    """What a measure is called in the report."""
    return BY_NAME[name].label if name in BY_NAME else name


__all__ = [
    "ALL",
    "ANSWERS",
    "BY_NAME",
    "CITATIONS",
    "EFFORT",
    "HEADLINES",
    "MISSING",
    "TOOLS",
    "Measure",
    "count",
    "dollars",
    "fraction",
    "label",
    "percent",
    "seconds",
    "seconds_on_axis",
    "whole",
    "written",
]
