"""How well the searches find: curves over the depth for each mode, and the means of every measure.

In: the figures of each mode. A measure named NAME@K belongs to the curve of NAME.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assistant.evaluation.figures import Figures, Reranking
from assistant.evaluation.report.elements import Markup, element
from assistant.evaluation.report.measures import MISSING, fraction, written
from assistant.evaluation.report.parts import column, interval, line, number, row, section, table
from assistant.evaluation.report.plots import Curve, curves
from search.evaluation import MEASURES

_AT = re.compile(r"([a-z]+)@([1-9][0-9]{0,4})")
_CURVES = {"recall": "Recall", "ndcg": "nDCG"}
_FEWEST = 3  # depths that make a curve


def retrieval(means: Mapping[str, Figures], reranking: Reranking | None = None) -> Markup | None:
    """The section, or None when search was not measured."""
    means = {mode: found for mode, found in means.items() if found}
    if not means:
        return None
    plots = [_figure(name, label, means) for name, label in _CURVES.items()]
    count = max(found.count for measures in means.values() for found in measures.values())
    text = f"What each search mode finds for {count} questions without any model; a document stands where its best passage stands."
    numbers = [_numbers(name, label, means) for name, label in _CURVES.items()]
    folded = element("details", element("summary", "The curves in numbers"), element("div", numbers)) if any(numbers) else None
    again = element("p", _gain(reranking)) if reranking else None
    shown = (element("p", text), _means(means), again, element("div", plots, class_="pair"), folded)
    return section("retrieval", "Retrieval", shown)


def _gain(found: Reranking) -> str:
    """What reading the best hits again gains, and what it takes."""
    gain = found.gain
    change = f"{found.measure} by {gain.mean:+.3f} (95 % interval {gain.low:+.3f} to {gain.high:+.3f})"
    return f"Reading the best hits again changes {change} and takes {found.after:.0f} ms a question instead of {found.before:.0f}."


def _figure(name: str, label: str, means: Mapping[str, Figures]) -> Markup | None:
    lines = _lines(name, means)
    if not lines:
        return None
    drawing = curves(f"plot-{name}", f"{label} at each depth, by search mode", lines, x="documents looked at (k)", y=f"{label}@k")
    return element("figure", drawing, element("figcaption", f"{label} of the first k documents, by search mode."))


def _numbers(name: str, label: str, means: Mapping[str, Figures]) -> Markup | None:
    """What a curve shows, as a table."""
    lines = _lines(name, means)
    depths = sorted({int(depth) for one in lines for depth, _ in one.points})
    head = [row(column("Mode"), [column(f"@{depth}", number=True) for depth in depths])]
    body = [row(line(one.label), [_at(dict(one.points), depth) for depth in depths]) for one in lines]
    return table(f"{label}@k by search mode.", head, body) if lines else None


def _lines(name: str, means: Mapping[str, Figures]) -> list[Curve]:
    return [Curve(mode, points) for mode, found in means.items() if len(points := _points(name, found)) >= _FEWEST]


def _at(points: Mapping[float, float], depth: int) -> Markup:
    return number(fraction(points[depth]) if depth in points else MISSING)


def _points(name: str, found: Figures) -> list[tuple[float, float]]:
    """The curve of a measure: its depths and means, in order."""
    matches = ((_AT.fullmatch(measure), value.mean) for measure, value in found.items())
    return sorted((float(match[2]), mean) for match, mean in matches if match and match[1] == name)


def _means(means: Mapping[str, Figures]) -> Markup:
    """The measures that are always named, with intervals; the best of each column marked."""
    names: Sequence[str] = [name for name in MEASURES if any(name in found for found in means.values())]
    best = {name: max(written(name, found[name].mean) for found in means.values() if name in found) for name in names}
    body = []
    for mode, found in means.items():
        cells = []
        for name in names:
            value = found.get(name)
            if value is None:
                cells.append(number(MISSING))
                continue
            text = written(name, value.mean)
            cells.append(number(text, interval(name, value.low, value.high), best=len(means) > 1 and text == best[name]))
        body.append(row(line(mode), cells))
    head = [row(column("Mode"), [column(name, number=True) for name in names])]
    return table("Means over questions, with 95 % intervals.", head, body)


__all__ = ["retrieval"]
