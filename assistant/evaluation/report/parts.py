"""Parts that several sections share: tables that scroll in a box of their own, numbers with intervals, texts cut to a size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assistant.evaluation.report.elements import Child, Markup, Value, element
from assistant.evaluation.report.measures import MISSING, written
from assistant.render import one_line

_JOINTS = re.compile(r"(?<=[:/_])(?=\w)")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


def section(name: str, title: str, *children: Child) -> Markup:
    """A section of the page that its contents can link to."""
    return element("section", element("h2", title, id=f"{name}-heading"), *children, id=name, aria_labelledby=f"{name}-heading")


def subsection(title: str, *children: Child) -> Markup:
    """A part of a section."""
    return element("section", element("h3", title), *children)


def table(caption: str, head: Iterable[Markup], rows: Iterable[Markup], *, kind: str | None = None) -> Markup:
    """A table in a box that scrolls by itself, also from the keyboard; its caption names both."""
    said = element("caption", element("span", caption))
    inner = element("table", said, element("thead", head), element("tbody", rows), class_=kind)
    return element("div", inner, class_="box", role="group", aria_label=one_line(caption), tabindex=0)


def row(*cells: Child) -> Markup:
    """A row of a table."""
    return element("tr", *cells)


def column(*label: Child, number: bool = False, **attributes: Value) -> Markup:
    """A head of a column."""
    kind = {"class_": "number"} if number else {}
    return element("th", *label, scope="col", **kind, **attributes)


def group(label: str, columns: int) -> Markup:
    """A head over several columns."""
    return element("th", label, scope="colgroup", colspan=columns, class_="group")


def line(*label: Child) -> Markup:
    """A head of a row; the name of a model or a tool breaks where it has a joint."""
    return element("th", [_jointed(one) if type(one) is str else one for one in label], scope="row")


def _jointed(name: str) -> list[Child]:
    pieces = _JOINTS.split(name)
    return [pieces[0], [[element("wbr"), piece] for piece in pieces[1:]]]


def number(text: str, *below: str, best: bool = False) -> Markup:
    """A cell with a number, its interval and the like below it; the best of its column is bold and says so."""
    main: Child = [element("strong", text), " ", element("span", "best", class_="best")] if best else text
    return element(
        "td", main, [element("small", one) for one in below if one], class_="number none" if text == MISSING else "number"
    )


def interval(name: str, low: float, high: float) -> str:
    """An interval of a measure, its unit said once."""
    first, last = written(name, low), written(name, high)
    if first == last:
        return "all alike"
    number, gap, unit = first.partition("\N{NO-BREAK SPACE}")
    if gap and last.endswith(f"{gap}{unit}"):
        first = number
    return f"{first}–{last}"


def cut(text: str, limit: int) -> str:
    """A text's first characters, with a note of how many are missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"


def prose(text: str, limit: int, language: str = "") -> Markup:
    """Text of a model or a person as it was written, in its own direction and language."""
    return element("div", cut(text, limit), class_="text", dir="auto", lang=spoken(language))


def spoken(language: str) -> str | None:
    """A language as the attribute wants it, None for what is no language code."""
    return language if _LANGUAGE.fullmatch(language) else None


def listing(items: Sequence[Child], most: int, more: str) -> Markup:
    """A list of at most `most` items; `more` says what the rest is, after its count."""
    shown = [element("li", item) for item in items[:most]]
    rest = len(items) - most
    return element("ul", shown, element("li", f"{rest:,} {more}") if rest > 0 else None)


__all__ = [
    "column",
    "cut",
    "group",
    "interval",
    "line",
    "listing",
    "number",
    "prose",
    "row",
    "section",
    "spoken",
    "subsection",
    "table",
]
