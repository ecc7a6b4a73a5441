"""The plots of a report as inline SVG, each with a title and a description, drawn for a window of any width.

In: labelled values. Out: Markup. Series differ by dash and by the shape of their marks, not by colour alone; they are named where
they end. Drawings are 400 units wide, so that their text stays readable on a phone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.evaluation.report.elements import Child, Markup, element
from assistant.evaluation.report.scales import Scale, spanning

WIDTH = 400
_COLOURS = 6
_LEFT, _TOP = 46, 30
_EDGE = 24  # half of the longest text below a tick
_LINE = 15  # of text, in units of the drawing
_CORNERS: Sequence[Sequence[tuple[float, float]]] = (
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
)
_DOTS = 240  # a strip of more values shows every n-th of the sorted ones

Format = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line through (x, y)."""

    label: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Spot:
    """A named point; low and high: its interval along y."""

    label: str
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Strip:
    """A named sample with what is marked in it."""

    label: str
    values: Sequence[float]
    median: float
    p95: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A named bar of parts that follow one another: (name of the part, how many)."""

    label: str
    parts: Sequence[tuple[str, int]]


def curves(name: str, title: str, lines: Sequence[Curve], *, x: str, y: str) -> Markup:
    """Lines over a logarithmic x, y from 0 to 1; each is named at its right end. name: begins the ids, unique in the page."""
    across = [place for line in lines for place, _ in line.points]
    right, bottom = WIDTH - 76, 224
    horizontal = Scale(min(across), max(*across, min(across) * 1.01), _LEFT, right, logarithmic=True)
    vertical = Scale(0.0, 1.0, bottom, _TOP)
    drawn = [_frame(horizontal, vertical, x=x, y=y, x_format=_plain, y_format=_plain)]
    ends = _apart([vertical(line.points[-1][1]) for line in lines])
    for number, (line, end) in enumerate(zip(lines, ends, strict=True), 1):
        path = " ".join(f"{horizontal(a):.1f},{vertical(b):.1f}" for a, b in line.points)
        drawn.append(element("polyline", points=path, class_=f"series s{_colour(number)}"))
        drawn += [_mark(number, horizontal(a), vertical(b), 3.0) for a, b in line.points]
        drawn.append(element("text", line.label, x=right + 9, y=end + 4, class_="label"))
    said = "; ".join(f"{line.label}: " + ", ".join(f"{b:.2f} at {_plain(a)}" for a, b in line.points) for line in lines)
    return _drawing(name, title, f"{y} against {x}. {said}.", bottom + 46, drawn)


def spots(name: str, title: str, points: Sequence[Spot], *, x: str, y: str, x_format: Format, y_format: Format) -> Markup:
    """Points with their intervals along y, 0 to 1, each with its name beside it."""
    bottom = 232
    horizontal = spanning([point.x for point in points], _LEFT + 10, WIDTH - 26)
    vertical = Scale(0.0, 1.0, bottom, _TOP)
    drawn = [_frame(horizontal, vertical, x=x, y=y, x_format=x_format, y_format=y_format)]
    heights = _apart([min(vertical(point.y), bottom - 10) for point in points])
    for number, (point, height) in enumerate(zip(points, heights, strict=True), 1):
        place = horizontal(point.x)
        whisker = f"M{place:.1f} {vertical(point.low):.1f}V{vertical(point.high):.1f}"
        drawn.append(element("path", d=whisker, class_=f"whisker s{_colour(number)}"))
        drawn.append(_mark(number, place, vertical(point.y), 6.0))
        before = place > WIDTH * 0.55
        anchor = "end" if before else "start"
        drawn.append(
            element(
                "text", _short(point.label, 26), x=place + (-11 if before else 11), y=height + 4, text_anchor=anchor, class_="label"
            )
        )
    said = "; ".join(
        f"{point.label}: {y_format(point.y)} ({y_format(point.low)} to {y_format(point.high)}) at {x_format(point.x)}"
        for point in points
    )
    return _drawing(name, title, f"{y} against {x}. {said}.", bottom + 46, drawn)


def strips(name: str, title: str, samples: Sequence[Strip], *, x: str, x_format: Format) -> Markup:
    """One row a sample: a dot for each value, a thick line at the median, a dashed one at the 95th percentile."""
    row, above = 50, 8
    bottom = above + row * len(samples)
    horizontal = spanning([value for sample in samples for value in sample.values], 14, WIDTH - 20)
    drawn = [_under(horizontal, above, bottom, x, x_format)]
    for number, sample in enumerate(samples, 1):
        top = above + row * (number - 1)
        middle = top + 32
        shown = sorted(sample.values)
        shown = shown[:: max(1, -(-len(shown) // _DOTS))]
        drawn.append(element("text", _short(sample.label, 44), x=14, y=top + 14, class_="label"))
        drawn += [
            element("circle", cx=horizontal(value), cy=float(middle + (index % 3 - 1) * 4), r=3.2, class_=f"dot f{_colour(number)}")
            for index, value in enumerate(shown)
        ]
        for value, kind in ((sample.median, "midline"), (sample.p95, "tail")):
            drawn.append(element("path", d=f"M{horizontal(value):.1f} {middle - 11}V{middle + 11}", class_=kind))
    said = "; ".join(f"{sample.label}: median {x_format(sample.median)}, 95 % within {x_format(sample.p95)}" for sample in samples)
    return _drawing(name, title, f"{x}. {said}.", bottom + 42, drawn)


def shares(name: str, title: str, bars: Sequence[Bar]) -> Markup:
    """Bars of one length whose parts are shares of their sum, with the counts within; parts are numbered q1, q2 … in the style."""
    row, above = 46, 10
    drawn: list[Child] = []
    for number, bar in enumerate(bars):
        top = above + row * number
        whole = sum(count for _, count in bar.parts)
        drawn.append(element("text", _short(bar.label, 44), x=1, y=top + 8, class_="label"))
        place = 1.0
        for part, (_, count) in enumerate(bar.parts, 1):
            width = (WIDTH - 2) * count / whole if whole else 0.0
            if count:
                drawn.append(element("rect", x=place, y=top + 15, width=width, height=20, class_=f"q{part}"))
                if width > 8 * len(str(count)):
                    drawn.append(element("text", count, x=place + width / 2, y=top + 29, text_anchor="middle", class_="label"))
            place += width
    said = "; ".join(f"{bar.label}: " + ", ".join(f"{count} {part}" for part, count in bar.parts) for bar in bars)
    return _drawing(name, title, f"{said}.", row * len(bars), drawn)


def _drawing(name: str, title: str, described: str, height: int, parts: Sequence[Child]) -> Markup:
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", _short(described, 2000), id=f"{name}-desc"),
        *parts,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{name}-title",
        aria_describedby=f"{name}-desc",
    )


def _frame(across: Scale, up: Scale, *, x: str, y: str, x_format: Format, y_format: Format) -> Markup:
    """Both axes with their ticks and names, lines across at each tick of y."""
    left, right = _LEFT, int(max(across.start, across.end))
    rows = [
        [
            element("line", x1=left, x2=right, y1=up(value), y2=up(value), class_="grid"),
            element("text", y_format(value), x=left - 7, y=up(value) + 4, text_anchor="end"),
        ]
        for value in up.ticks()
    ]
    named = element("text", y, x=1, y=12)
    return element("g", rows, named, _under(across, _TOP, int(up.start), x, x_format, left=left))


def _under(across: Scale, top: int, bottom: int, name: str, shown: Format, *, left: int | None = None) -> Markup:
    """The x axis at the bottom with its ticks and its name."""
    start, end = across.start if left is None else left, across.end
    ticks = [
        [
            element("line", x1=across(value), x2=across(value), y1=bottom, y2=bottom + 5, class_="axis"),
            element("line", x1=across(value), x2=across(value), y1=top, y2=bottom, class_="grid") if left is None else None,
            _below(shown(value), across(value), bottom + 19),
        ]
        for value in across.ticks(apart=46.0 if left is None else 32.0)
    ]
    axis = element("line", x1=start, x2=end, y1=bottom, y2=bottom, class_="axis")
    return element("g", ticks, axis, element("text", name, x=(start + end) / 2, y=bottom + 37, text_anchor="middle"))


def _below(text: str, x: float, y: float) -> Markup:
    """The text of a tick, in its middle, at an edge of the drawing inside it."""
    anchor = "end" if x > WIDTH - _EDGE else "start" if x < _EDGE else "middle"
    return element("text", text, x={"end": WIDTH - 1.0, "start": 1.0, "middle": x}[anchor], y=y, text_anchor=anchor)


def _mark(number: int, x: float, y: float, size: float) -> Markup:
    """The mark of a series: circle, square, triangle or rhombus."""
    kind = f"mark f{_colour(number)}"
    shape = (number - 1) % 4
    if shape == 0:
        return element("circle", cx=x, cy=y, r=size, class_=kind)
    points = " ".join(f"{x + a * size:.1f},{y + b * size:.1f}" for a, b in _CORNERS[shape - 1])
    return element("polygon", points=points, class_=kind)


def _colour(number: int) -> int:
    return (number - 1) % _COLOURS + 1


def _apart(heights: Sequence[float]) -> list[float]:
    """Heights of labels, moved so that none stands on another; their order stays."""
    placed: dict[int, float] = {}
    last = 0.0
    for index in sorted(range(len(heights)), key=lambda index: heights[index]):
        last = max(heights[index], last + _LINE) if placed else heights[index]
        placed[index] = last
    return [placed[index] for index in range(len(heights))]


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def _plain(value: float) -> str:
    return f"{value:g}"


__all__ = ["WIDTH", "Bar", "Curve", "Spot", "Strip", "curves", "shares", "spots", "strips"]
