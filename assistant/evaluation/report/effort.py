"""What the answers took: cost against quality, and how long they took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import quantiles

from assistant.evaluation.report.elements import Markup, element
from assistant.evaluation.report.measures import MISSING, dollars, percent, seconds, seconds_on_axis, whole, written
from assistant.evaluation.report.overview import estimated
from assistant.evaluation.report.parts import column, interval, line, number, row, section, table
from assistant.evaluation.report.plots import Spot, Strip, spots, strips
from assistant.evaluation.runs import Result
from assistant.evaluation.statistics import Estimate


def quality_and_cost(results: Sequence[Result], models: Sequence[str]) -> Markup | None:
    """The section, or None when no answer was judged."""
    answers = _means(results, models, "answer")
    if not answers:
        return None
    names = ("Answer right", "Cost", "All cases", "Steps", "Tokens")
    head = [row(column("Model"), [column(label, number=True) for label in names])]
    means = {name: _means(results, list(answers), name) for name in ("cost", "steps", "tokens")}
    body = []
    for model, one in answers.items():
        cost, steps, tokens = (found.mean if (found := means[name].get(model)) else None for name in ("cost", "steps", "tokens"))
        cells = [
            number(percent(one.mean), interval("answer", one.low, one.high)),
            number("unknown" if cost is None else dollars(cost)),
            number(_spent(result.cost for result in results if result.model == model)),
            number(written("steps", steps)),
            number(written("tokens", tokens)),
        ]
        body.append(row(line(model), cells))
    data = table("Means a question; the whole cost of the run beside them.", head, body)
    shown = element("div", _plot(answers, means["cost"], means["tokens"]), data, class_="pair")
    return section("cost", "Cost against quality", shown)


def _means(results: Sequence[Result], models: Sequence[str], name: str) -> dict[str, Estimate]:
    return {model: found for model in models if (found := estimated(results, model, name)) is not None}


def _spent(costs: Iterable[float | None]) -> str:
    """The cost of all questions, at least that of those whose cost is known."""
    every = list(costs)
    known = [cost for cost in every if cost is not None]
    if not known:
        return "unknown"
    return dollars(sum(known)) if len(known) == len(every) else f"≥ {dollars(sum(known))}"


def _plot(answers: Mapping[str, Estimate], costs: Mapping[str, Estimate], tokens: Mapping[str, Estimate]) -> Markup | None:
    """Answers against cost; where nobody asks for money, or somebody's price is unknown, against tokens; None without either."""
    by_cost = len(costs) == len(answers) and any(one.mean for one in costs.values())
    across, name, write = (costs, "US dollars a question", dollars) if by_cost else (tokens, "tokens a question", whole)
    if not any(one.mean for one in across.values()):
        return None
    points = [Spot(model, across[model].mean, one.mean, one.low, one.high) for model, one in answers.items() if model in across]
    title = f"Share of right answers against {name}"
    drawing = spots("plot-cost", title, points, x=name, y="right answers", x_format=write, y_format=percent)
    return element("figure", drawing, element("figcaption", f"{title}, with 95 % intervals. Up is better, left is cheaper."))


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
