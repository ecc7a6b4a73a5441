"""What the answers rest on: citations, quotations and numbers, and what their check said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assistant.evaluation.report.elements import Child, Markup, element
from assistant.evaluation.report.measures import CITATIONS, percent
from assistant.evaluation.report.overview import measured
from assistant.evaluation.report.parts import column, group, line, number, row, section, table
from assistant.evaluation.report.plots import Bar, shares
from assistant.evaluation.runs import Result

_QUOTES = ("verified", "elsewhere", "altered", "not found")


def citations(results: Sequence[Result], models: Sequence[str]) -> Markup | None:
    """The section, or None when no answer cites, quotes or counts."""
    if not any(result.citations or result.quotes or result.numbers for result in results):
        return None
    caption = "Means over the cases that expect citations, quote or count; 95 % intervals."
    means = measured(caption, results, models, ("Citations", CITATIONS))
    return section("citations", "Citations, quotations, numbers", means, _verdicts(results, models))


def _verdicts(results: Sequence[Result], models: Sequence[str]) -> Markup:
    """How many citations, quotations and numbers passed their check."""
    head = [
        row(column("Model", rowspan=2), group("Citations", 2), group("Quotations", len(_QUOTES)), group("Numbers", 2)),
        row([column(name, number=True) for name in ("retrieved", "unknown", *_QUOTES, "found", "not found")]),
    ]
    body, bars = [], []
    for model in models:
        of_model = [result for result in results if result.model == model]
        cited = _counted(result.citations for result in of_model)
        quoted = _counted(result.quotes for result in of_model)
        figures = _counted(result.numbers for result in of_model)
        counts = [cited["retrieved"], cited["unknown"], *(quoted[name] for name in _QUOTES), figures["found"], figures["not found"]]
        body.append(row(line(model), [number(f"{count:,}") for count in counts]))
        if quoted:
            bars.append(Bar(f"{model}: {percent(quoted['verified'] / quoted.total())} verified", [(q, quoted[q]) for q in _QUOTES]))
    counted = table("All answers together: how many of each passed the check against what was retrieved.", head, body)
    figure: Child = None
    if bars:
        legend = element("figcaption", f"Quotations from left to right: {', '.join(_QUOTES)}.")
        figure = element("figure", shares("plot-quotes", "Quotations by the verdict of their check", bars), legend)
    return element("div", counted, figure)


def _counted(lists: Iterable[Sequence[Mapping[str, Any]]]) -> Counter[str]:
    return Counter(str(item.get("verdict")) for items in lists for item in items)


__all__ = ["citations"]
