"""Tools: how well they were chosen and called; which was called first against the one expected, a matrix per model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assistant.evaluation.report.elements import Child, Markup, element
from assistant.evaluation.report.measures import TOOLS, percent
from assistant.evaluation.report.overview import measured
from assistant.evaluation.report.parts import column, group, line, row, section, subsection, table
from assistant.evaluation.runs import Result

NONE = "no tool"
REFUSED = "none valid"


def choices(results: Sequence[Result], models: Sequence[str]) -> Markup | None:
    """The section, or None when nothing is known of tools."""
    counted = {model: confusion([result for result in results if result.model == model]) for model in models}
    scored = measured("Means over cases, with 95 % intervals.", results, models, ("Tools", TOOLS))
    if not any(counted.values()):
        return section("tools", "Tools", scored) if scored else None
    explained = (
        "The diagonal, in green, is right; what stands beside it was called instead. Where several tools are right, a case counts "
        "under the one that was called, or else under the first that is named. Calls that were refused are passed over."
    )
    matrices = subsection("First tool: expected and called", element("p", explained), map(_matrix, counted, counted.values()))
    return section("tools", "Tools", scored, matrices)


def confusion(results: Sequence[Result]) -> Counter[tuple[str, str]]:
    """How often each pair of expected and called first tool came up; results that expect no tool in particular are left out."""
    pairs: Counter[tuple[str, str]] = Counter()
    for result in results:
        expected = _expected(result)
        if expected and result.failed is None:
            called = _called(result)
            pairs[called if called in expected else expected[0], called] += 1
    return pairs


def _expected(result: Result) -> list[str]:
    """The first tools of the right chains, in their order; an empty chain expects no call."""
    chains = result.expected.get("tools") or ()
    return [name for chain in chains for name in (chain[0].split("|") if chain else [NONE])]


def _called(result: Result) -> str:
    """The first tool whose call was valid."""
    if not result.calls:
        return NONE
    return next((str(call["name"]) for call in result.calls if call.get("ok")), REFUSED)


def _matrix(model: str, pairs: Counter[tuple[str, str]]) -> Markup | None:
    if not pairs:
        return None
    expected = sorted({name for name, _ in pairs}, key=_place)
    called = sorted({name for pair in pairs for name in pair}, key=_place)
    whole = sum(pairs.values())
    right = sum(count for (wanted, got), count in pairs.items() if wanted == got)
    head = [
        row(column("Expected first", rowspan=2), group("Called first", len(called)), column("Right", rowspan=2, number=True)),
        row(*map(column, called)),
    ]
    body = []
    for wanted in expected:
        total = sum(pairs[wanted, got] for got in called)
        cells = [_cell(pairs[wanted, got], total, right=wanted == got) for got in called]
        body.append(row(line(wanted), *cells, element("td", percent(pairs[wanted, wanted] / total), class_="number")))
    caption = f"{model}: {right} of {whole} first calls were right ({percent(right / whole)}). Rows: expected; columns: called."
    return table(caption, head, body, kind="matrix")


def _cell(count: int, total: int, *, right: bool) -> Markup:
    """A count and its share of the row; the more, the stronger its background."""
    if not count:
        return element("td", "0" if right else "·", class_="heat none")
    share = count / total
    strength = 1 + min(3, int(share * 4))
    inside: tuple[Child, ...] = (element("strong", count), element("small", percent(share)))
    return element("td", *inside, class_=f"heat {'good' if right else 'bad'}-{strength}")


def _place(name: str) -> tuple[bool, str]:
    """Tools by name, what is no tool at the end."""
    return name in {NONE, REFUSED}, name


__all__ = ["choices", "confusion"]
