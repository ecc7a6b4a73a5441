"""What was run and how it went: the facts of the run, gates, the table of all measures, answers by kind and by language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assistant.evaluation import figures
from assistant.evaluation.report.elements import Child, Markup, element
from assistant.evaluation.report.measures import ALL, BY_NAME, HEADLINES, MISSING, Measure, written
from assistant.evaluation.report.parts import column, group, interval, line, listing, number, row, section, table
from assistant.evaluation.runs import Head, Result
from assistant.evaluation.statistics import Estimate, estimate
from search.counting import counted

_OF_PARTS = (BY_NAME["answer"], BY_NAME["tool_choice"])
_UNNAMED = "(none)"
_SETTING = 200  # characters of a setting that are shown


def estimated(results: Sequence[Result], model: str, name: str) -> Estimate | None:
    """The mean of a measure over a model's cases, each case by the mean of its repeats."""
    return estimate(list(figures.values((result for result in results if result.model == model), name).values()))


def facts(head: Head, results: Sequence[Result]) -> Markup:
    """What was run, as a list of names and values."""
    library, cases = head.library, head.cases
    repeats = f", {head.repeats} times each" if head.repeats > 1 else ""
    documents = f"{library.get('documents', '?')} documents, {library.get('passages', '?')} passages"
    shown: list[tuple[str, Child]] = [
        ("Started", head.started.replace("T", " ")),
        ("Models", [[element("bdi", model), element("br")] for model in head.models]),
        ("Cases", [f"{cases.get('count', '?')}{repeats}", element("br"), element("small", str(cases.get("file", "")))]),
        ("Results", counted(len(results), "result") + _unfinished(results)),
        ("Library", [documents, element("br"), element("small", str(library.get("path", "")))]),
        ("Embedder", str(library.get("embedder", MISSING))),
        ("Archivist", head.archivist),
    ]
    shown += [
        (name.capitalize(), _setting(setting)[:_SETTING])
        for name, setting in head.settings.items()
        if setting not in (None, "", [], {})
    ]
    return element("dl", [element("div", element("dt", name), element("dd", said)) for name, said in shown], class_="facts")


def _setting(value: Any) -> str:
    """A setting in words: the limits as "steps 10, call seconds 60"."""
    if not isinstance(value, Mapping):
        return str(value)
    return ", ".join(
        f"{str(name).replace('_', ' ')} {one:g}" if isinstance(one, float) else f"{name} {one}" for name, one in value.items()
    )


def gates(fallen: Sequence[str] | None) -> Markup | None:
    """The gates that fell, by name; that all held; nothing when none was asked for."""
    if fallen is None:
        return None
    if not fallen:
        return element("div", element("p", element("strong", "✓ All gates held.")), class_="callout right", id="gates")
    title = element("p", element("strong", f"✗ {counted(len(fallen), 'gate')} fell"))
    return element("div", title, listing(list(fallen), 100, "more"), class_="callout wrong", id="gates")


def summary(results: Sequence[Result], models: Sequence[str]) -> Markup:
    """What matters most of every model; the other measures stand in the sections that follow."""
    caption = "Means over cases; below each its 95 % interval (bootstrap over cases) and how many cases it counts over."
    if not _same_cases(results):
        caption += " The models were asked different cases: none is marked as best."
    found = measured(caption, results, models, *HEADLINES)
    if found is None:
        return section("summary", "Summary", element("p", "Nothing has been scored yet."))
    terms = [element("div", element("dt", measure.label), element("dd", measure.meaning)) for measure in ALL]
    legend = element("details", element("summary", "What is measured"), element("div", element("dl", terms, class_="expected")))
    return section("summary", "Summary", found, legend)


def measured(
    caption: str, results: Sequence[Result], models: Sequence[str], *groups: tuple[str, Sequence[Measure]]
) -> Markup | None:
    """A table of measures, models as rows, the best of a column marked where all were asked the same; None without any."""
    known = {
        (model, measure.name): found
        for model in models
        for _, measures in groups
        for measure in measures
        if (found := estimated(results, model, measure.name)) is not None
    }
    shown = [
        (title, [one for one in measures if any((model, one.name) in known for model in models)]) for title, measures in groups
    ]
    shown = [(title, measures) for title, measures in shown if measures]
    columns = [measure for _, measures in shown for measure in measures]
    if not columns:
        return None
    best = {measure.name: _best(measure, models, known) if _same_cases(results) else [] for measure in columns}
    labels = [column(measure.label, number=True) for measure in columns]
    if len(groups) > 1:
        head = [row(column("Model", rowspan=2), [group(title, len(measures)) for title, measures in shown]), row(labels)]
    else:
        head = [row(column("Model"), labels)]
    body = [
        row(line(model), [_estimate(known.get((model, one.name)), one.name, best=model in best[one.name]) for one in columns])
        for model in models
    ]
    return table(caption, head, body)


def by_parts(results: Sequence[Result], models: Sequence[str]) -> Markup:
    """Answers and choice of tools by kind and by language of the questions."""
    parts: list[tuple[str, Callable[[Result], str]]] = [("Kind", lambda one: one.kind), ("Language", lambda one: one.language)]
    return section("parts", "By kind and by language", [_parts(name, of, results, models) for name, of in parts])


def _parts(name: str, of: Callable[[Result], str], results: Sequence[Result], models: Sequence[str]) -> Markup | None:
    values = sorted({of(result) for result in results})
    if not any(values):
        return None
    head = [
        row(column(name, rowspan=2), column("Cases", rowspan=2, number=True), [group(model, len(_OF_PARTS)) for model in models]),
        row([column(measure.label, number=True) for _ in models for measure in _OF_PARTS]),
    ]
    body = []
    for part in values:
        within = [result for result in results if of(result) == part]
        cells = [_estimate(estimated(within, model, one.name), one.name) for model in models for one in _OF_PARTS]
        cases = len({result.case for result in within})
        body.append(row(line(part or _UNNAMED), number(str(cases)), cells))
    return table(f"By {name.lower()} of the question, with 95 % intervals.", head, body)


def _same_cases(results: Sequence[Result]) -> bool:
    """Whether every model has results of the same cases."""
    asked: dict[str, set[str]] = {}
    for result in results:
        asked.setdefault(result.model, set()).add(result.case)
    return len({frozenset(cases) for cases in asked.values()}) <= 1


def _best(measure: Measure, models: Sequence[str], known: Mapping[tuple[str, str], Estimate]) -> list[str]:
    """The models that do best by a measure, compared as written; none when all are alike."""
    means = {model: known[model, measure.name].mean for model in models if (model, measure.name) in known}
    if not means:
        return []
    top = written(measure.name, (min if measure.less else max)(means.values()))
    best = [model for model, mean in means.items() if written(measure.name, mean) == top]
    return best if len(best) < len(means) else []


def _estimate(found: Estimate | None, name: str, *, best: bool = False) -> Markup:
    if found is None:
        return number(MISSING)
    spread = interval(name, found.low, found.high) if found.count > 1 else ""
    return number(written(name, found.mean), spread, f"n {found.count}", best=best)


def _unfinished(results: Sequence[Result]) -> str:
    failed = sum(result.failed is not None for result in results)
    return f", {failed} not finished" if failed else ""


__all__ = ["by_parts", "estimated", "facts", "gates", "measured", "summary"]
