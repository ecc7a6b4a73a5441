"""What changed since an earlier run: each measure's difference with its interval, then the cases that fell and rose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assistant.evaluation import figures
from assistant.evaluation.comparing import Change, Comparison
from assistant.evaluation.report.details import by_case
from assistant.evaluation.report.elements import Child, Markup, element, join
from assistant.evaluation.report.measures import BY_NAME, label, written
from assistant.evaluation.report.parts import column, cut, line, number, row, section, subsection, table
from assistant.evaluation.runs import Head, Key, Result
from assistant.evaluation.statistics import Difference
from search.counting import counted

_MOST_ROWS = 300
_CALLS = 160  # characters of the calls that are shown


def changes(comparison: Comparison, results: Sequence[Result], earlier: Mapping[Key, Result], before: Head) -> Markup:
    """The section. earlier: the earlier results by the later ones' keys. Cases that are in one run only are left out."""
    started = f"Compared with the run {before.name} of {before.started.replace('T', ' ')} (Archivist {before.archivist})."
    alone = f" {counted(len(comparison.alone), 'case')} in one of the two runs only." if comparison.alone else ""
    differences = [
        _differences(who, found, _means(who, comparison.pairs, results, earlier)) for who, found in comparison.differences.items()
    ]
    return section(
        "changes",
        f"Since {before.name}",
        element("p", started, alone),
        element("div", differences, class_="pair") if differences else element("p", "Nothing can be compared."),
        _cases(comparison.changes, results),
    )


def _means(
    who: str, pairs: Mapping[str, str], results: Sequence[Result], earlier: Mapping[Key, Result]
) -> Mapping[str, tuple[float, float]]:
    """Before and after by measure, over the cases of both runs; empty for a search mode."""
    if who not in pairs:
        return {}
    later = [result for result in results if result.model == who]
    old = [result for key, result in earlier.items() if key.model == who]
    means = {}
    for name in BY_NAME:
        was, now = figures.values(old, name), figures.values(later, name)
        both = was.keys() & now.keys()
        if both:
            means[name] = (sum(was[case] for case in both) / len(both), sum(now[case] for case in both) / len(both))
    return means


def _differences(who: str, found: Mapping[str, Difference], means: Mapping[str, tuple[float, float]]) -> Markup | None:
    """Every measure of a model or a search mode that changed for any case."""
    body, same = [], []
    for name, difference in found.items():
        if not difference.better and not difference.worse:
            same.append(label(name))
            continue
        both = [number(written(name, mean)) for mean in means[name]] if name in means else None
        ways = f"{difference.better} up, {difference.worse} down"
        body.append(row(line(label(name)), both, _difference(name, difference), element("td", ways, class_="whole")))
    names = ("Before", "After", "Difference") if means else ("Difference",)
    head = [row(column("Measure"), [column(name, number=True) for name in names], column("Cases"))]
    caption = (
        f"{who}: paired differences over the same cases, of shares in points, with 95 % intervals; a word where zero is outside."
    )
    rest = element("p", f"The same as before, case by case: {', '.join(same)}.", class_="note") if same else None
    return element("div", element("h3", who), table(caption, head, body) if body else None, rest)


def _difference(name: str, found: Difference) -> Markup:
    """A difference with its sign and interval; whether it is a gain or a loss is said where it is certain."""
    said, between = _signed(name, found.mean), f"from {_signed(name, found.low)} to {_signed(name, found.high)}"
    if not found.certain:
        return number(said, between)
    gained = (found.mean > 0) != (name in BY_NAME and BY_NAME[name].less)
    word = element("span", "▲ better" if gained else "▼ worse", class_="right" if gained else "wrong")
    return element("td", element("strong", said), " ", word, element("small", between), class_="number")


def _signed(name: str, change: float) -> str:
    """A change with its sign; one of per cents is in points."""
    text = written(name, abs(change)).removesuffix("\N{NO-BREAK SPACE}%")
    # What is written like no change has no sign.
    return text if not change or text == _signed(name, 0.0) else f"{'−' if change < 0 else '+'}{text}"


def _cases(changed: Sequence[Change], results: Sequence[Result]) -> Markup:
    """What fell, then what rose, by model or search mode and case, each with a link to its case."""
    places = {case.results[0].case: case.place for case in by_case(results)}
    found: dict[tuple[str, str], list[Change]] = {}
    for change in changed:
        found.setdefault((change.who, change.case), []).append(change)
    fell = [_row(these, places) for these in found.values() if any(one.worse for one in these)]
    rose = [_row(these, places) for these in found.values() if not any(one.worse for one in these)]
    if not found:
        return element("p", "No case came out otherwise than before.")
    return join([_changed("Fell", fell), _changed("Rose", rose)])


def _row(these: Sequence[Change], places: Mapping[str, str]) -> Markup:
    first = these[0]
    name = cut(first.case, 80)
    link: Child = element("a", name, href=f"#{places[first.case]}") if first.case in places else name
    lines = []
    for one in these:
        said = f"{label(one.measure)} {written(one.measure, one.before)} → {written(one.measure, one.after)}"
        lines.append(element("li", "▼ " if one.worse else "▲ ", said, class_="wrong" if one.worse else "right"))
    calls = f"{cut(first.was, _CALLS)} → {cut(first.now, _CALLS)}" if first.was != first.now else cut(first.now, _CALLS)
    asked = element("td", element("bdi", cut(first.question, 120)), element("small", calls) if calls else None, class_="asked")
    return row(line(link), element("td", first.who), element("td", element("ul", lines, class_="plain")), asked)


def _changed(title: str, rows: Sequence[Markup]) -> Markup | None:
    if not rows:
        return None
    head = [row(*map(column, ("Case", "Model or search", "Measures", "Question and calls")))]
    more = f" The first {_MOST_ROWS} are shown." if len(rows) > _MOST_ROWS else ""
    caption = f"{counted(len(rows), 'case')} {title.lower()} since the earlier run, counted by model or search mode.{more}"
    return subsection(f"{title}: {len(rows)}", table(caption, head, rows[:_MOST_ROWS]))


__all__ = ["changes"]
