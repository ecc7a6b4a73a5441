"""What the answers took: cost against quality, and how long they took."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles

from assistant.evaluation.report.elements import Markup, element
from assistant.evaluation.report.measures import MISSING, dollars, percent, seconds, seconds_on_axis, whole, written
from assistant.evaluation.report.overview import estimated
from assistant.evaluation.report.parts import column, interval, line, number, row, section, table
from assistant.evaluation.report.plots import Spot, Strip, spots, strips
from assistant.evaluation.runs import Result


def quality_and_cost(results: Sequence[Result], models: Sequence[str]) -> Markup | None:
    """The section, or None when no answer was judged."""
    answers = {model: found for model in models if (found := estimated(results, model, "answer")) is not None}
    if not answers:
        return None
    costs = {model: found.mean for model in answers if (found := estimated(results, model, "cost")) is not None}
    tokens = {model: found.mean for model in answers if (found := estimated(results, model, "tokens")) is not None}
    # Where nobody asks for money, or somebody's price is unknown, tokens are what can be compared.
    by_cost = len(costs) == len(answers) and any(costs.values())
    across, name, write = (costs, "US dollars a question", dollars) if by_cost else (tokens, "tokens a question", whole)
    points = [Spot(model, across[model], one.mean, one.low, one.high) for model, one in answers.items() if model in across]
    head = [
        row(column("Model"), [column(label, number=True) for label in ("Answer right", "Cost", "All cases", "Steps", "Tokens")])
    ]
    body = []
    for model, one in answers.items():
        spent = [result.cost for result in results if result.model == model]
        known = [cost for cost in spent if cost is not None]
        spent_on_all = dollars(sum(known)) if len(known) == len(spent) else f"≥ {dollars(sum(known))}" if known else "unknown"
        cells = [
            number(percent(one.mean), interval("answer", one.low, one.high)),
            number(written("cost", costs[model]) if model in costs else "unknown"),
            number(spent_on_all),
            number(written("steps", steps.mean if (steps := estimated(results, model, "steps")) else None)),
            number(written("tokens", tokens.get(model))),
        ]
        body.append(row(line(model), cells))
    title = f"Share of right answers against {name}"
    drawing = spots("plot-cost", title, points, x=name, y="right answers", x_format=write, y_format=percent) if points else None
    figure = element("figure", drawing, element("figcaption", f"{title}, with 95 % intervals. Up is better, left is cheaper."))
    data = table("Means a question; the whole cost of the run beside them.", head, body)
    return section("cost", "Cost against quality", element("div", figure if points else None, data, class_="pair"))


def latency(results: Sequence[Result], models: Sequence[str]) -> Markup | None:
    """The section, or None when nothing was finished."""
    samples = []
    head = [
        row(
            column("Model"),
            [column(name, number=True) for name in ("Questions", "Median", "95\N{NO-BREAK SPACE}% within", "Longest")],
        )
    ]
    body = []
    for model in models:
        taken = sorted(result.seconds for result in results if result.model == model and result.failed is None)
        if not taken:
            body.append(row(line(model), [number(MISSING) for _ in range(4)]))
            continue
        median, p95 = _cuts(taken)
        samples.append(Strip(model, taken, median, p95))
        body.append(row(line(model), number(f"{len(taken):,}"), [number(seconds(one)) for one in (median, p95, taken[-1])]))
    if not samples:
        return None
    title = "Time from question to answer"
    drawing = strips("plot-latency", title, samples, x="time a question", x_format=seconds_on_axis)
    said = "One dot a question. The thick line is the median; 95 % of the questions took no longer than the dashed one."
    figure = element("figure", drawing, element("figcaption", said))
    return section("latency", "Latency", element("div", figure, table(f"{title}.", head, body), class_="pair"))


def _cuts(taken: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile of sorted times."""
    if len(taken) == 1:
        return taken[0], taken[0]
    cuts = quantiles(taken, n=20, method="inclusive")
    return cuts[9], cuts[18]


__all__ = ["latency", "quality_and_cost"]
