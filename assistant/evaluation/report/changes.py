"""What changed since an earlier run over the same cases: differences with intervals, then the cases that rose and fell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assistant.evaluation.report.details import by_case
from assistant.evaluation.report.elements import Child, Markup, element
from assistant.evaluation.report.figures import ALL, Measure, written
from assistant.evaluation.report.overview import value
from assistant.evaluation.report.parts import column, cut, line, number, row, section, subsection, table
from assistant.evaluation.report.verdicts import Verdict, badge, verdict
from assistant.evaluation.runs import Head, Key, Result
from assistant.evaluation.statistics import Difference, paired, per_case
from search.counting import counted

_MOST_ROWS = 300


def changes(results: Sequence[Result], earlier: Mapping[Key, Result], before: Head, models: Sequence[str]) -> Markup:
    """The section. Models and cases that are in one run only are left out."""
    both = [result for result in results if result.key in earlier]
    title = f"Since {before.name}"
    started = element(
        "p", f"Compared with the run {before.name} of {before.started.replace('T', ' ')} (Archivist {before.archivist})."
    )
    if not both:
        return section("changes", title, started, element("p", "No case with the same model is in both runs."))
    compared = [model for model in models if any(result.model == model for result in both)]
    return section(
        "changes",
        title,
        started,
        element("div", [_differences(model, both, earlier) for model in compared], class_="pair"),
        _cases(results, earlier),
    )


def _differences(model: str, both: Sequence[Result], earlier: Mapping[Key, Result]) -> Markup | None:
    """Every measure of a model: before, after, the paired difference."""
    of_model = [result for result in both if result.model == model]
    body, same = [], []
    for measure in ALL:
        after = per_case([(result.case, value(result, measure.name)) for result in of_model])
        old = per_case([(result.case, value(earlier[result.key], measure.name)) for result in of_model])
        shared = [case for case in old if case in after]
        difference = paired(old, after)
        if difference is None:
            continue
        if not difference.better and not difference.worse:
            same.append(measure.label)
            continue
        means = [sum(values[case] for case in shared) / len(shared) for values in (old, after)]
        cells = [number(written(measure.name, mean)) for mean in means]
        ways = f"{difference.better} up, {difference.worse} down"
        body.append(row(line(measure.label), cells, _difference(measure, difference), element("td", ways, class_="whole")))
    names = ("Before", "After", "Difference")
    head = [row(column("Measure"), [column(name, number=True) for name in names], column("Cases"))]
    caption = f"{model}: paired differences over the same cases, with 95 % intervals; a word stands where zero is outside."
    rest = element("p", f"The same as before, case by case: {', '.join(same)}.", class_="note") if same else None
    return element("div", element("h3", model), table(caption, head, body) if body else None, rest)


def _difference(measure: Measure, found: Difference) -> Markup:
    """A difference with its sign and interval; whether it is a gain or a loss is said where it is certain."""
    said = _signed(measure, found.mean)
    below = f"{_signed(measure, found.low)} to {_signed(measure, found.high)}"
    if not found.certain:
        return number(said, below)
    gained = (found.mean > 0) != measure.less
    word = element("span", "▲ better" if gained else "▼ worse", class_="right" if gained else "wrong")
    return element("td", element("strong", said), " ", word, element("small", below), class_="number")


def _signed(measure: Measure, change: float) -> str:
    text = measure.write(abs(change))
    # Whatever is written like no change has no sign.
    if text == measure.write(0.0):
        return text
    return f"{'−' if change < 0 else '+'}{text}"


def _cases(results: Sequence[Result], earlier: Mapping[Key, Result]) -> Markup:
    """The results that fell, then those that rose, each with a link to its case."""
    fell: list[Markup] = []
    rose: list[Markup] = []
    for case in by_case(results):
        for result in case.results:
            before = earlier.get(result.key)
            if before is not None and verdict(result) != verdict(before):
                kept = fell if verdict(result) < verdict(before) else rose
                kept.append(_row(case.place, result, verdict(before)))
    if not fell and not rose:
        return element("p", "No case came out otherwise than before.")
    return element("div", _changed("Fell", fell), _changed("Rose", rose))


def _row(place: str, result: Result, before: Verdict) -> Markup:
    link: Child = element("a", cut(result.case, 80), href=f"#{place}")
    asked = element("td", element("bdi", cut(result.question, 120)))
    return row(line(link), element("td", result.model), element("td", badge(before)), element("td", badge(verdict(result))), asked)


def _changed(title: str, rows: Sequence[Markup]) -> Markup | None:
    if not rows:
        return None
    head = [row(*map(column, ("Case", "Model", "Before", "Now", "Question")))]
    more = f" The first {_MOST_ROWS} are shown." if len(rows) > _MOST_ROWS else ""
    found = table(f"{counted(len(rows), 'result')} {title.lower()} since the earlier run.{more}", head, rows[:_MOST_ROWS])
    return subsection(f"{title}: {len(rows)}", found)


__all__ = ["changes"]
