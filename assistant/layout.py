"""Rows in a terminal: a table where it fits, else one record below another; nothing but long prose is shortened in a table.

In: a ResultSet, whose values nobody has cleaned. Out: lines without anything that a terminal would obey.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assistant import render

if TYPE_CHECKING:
    from search.tables.models import ResultSet, Value

_WIDEST = 200  # columns of a cell where the output is no terminal
_PROSE = 40  # columns from which on a text with spaces is taken for prose: an IBAN or a name is shorter
_LEAST_PROSE = 24  # columns that are left of it
_MOST_NAME = 32  # columns that the names take before the values of a record
_LEAST_VALUE = 20


def lines(result: ResultSet, terminal: render.Terminal) -> list[str]:
    """A result as a table, numbers to the right, NULL dim; as records where it does not fit a terminal."""
    header = [render.one_line(name) for name in result.columns]
    cells = [[written(value) for value in row] for row in result.rows]
    columns = list(zip(header, *cells, strict=True))
    widths = _widths(columns, terminal.width) if terminal.interactive else [min(_widest(column), _WIDEST) for column in columns]
    if widths is None and result.rows:
        return records(result, terminal)
    widths = widths or list(map(_widest, columns))
    right = [_is_number(column) for column in zip(*result.rows, strict=True)] or [False] * len(header)

    def line(texts: Sequence[str], styles: Sequence[str]) -> str:
        parts = []
        for text, style, width, to_the_right in zip(texts, styles, widths, right, strict=True):
            cut = render.cut(text, width)
            space = " " * (width - render.columns(cut))
            styled = terminal.style(cut, style) if style else cut
            parts.append(space + styled if to_the_right else styled + space)
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    body = [line(texts, ["2" if value is None else "" for value in row]) for texts, row in zip(cells, result.rows, strict=True)]
    return [line(header, ["1"] * len(header)), terminal.style(rule, "2"), *body]


def records(result: ResultSet, terminal: render.Terminal) -> list[str]:
    """Each row as lines of "name: value" below a rule with its number; nothing is left out, a terminal's lines are broken."""
    names = [render.one_line(name) + ":" for name in result.columns]
    room = min(_MOST_NAME, max(terminal.width - _LEAST_VALUE, 0))
    wide = max((width for width in map(render.columns, names) if width <= room), default=0)
    shown = []
    for number, row in enumerate(result.rows, 1):
        rule = f"-- {number} "
        shown.append(terminal.style(rule + "-" * (min(terminal.width, 80) - len(rule)), "2"))
        for name, value in zip(names, row, strict=True):
            shown += _member(name, value, wide, terminal)
    return shown


def written(value: Value) -> str:
    """A value on one line, as people read it; a number of more than twelve characters with ten digits."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        exact = repr(value)
        return exact if len(exact) <= 12 else f"{value:.10g}"
    return render.one_line(str(value))


def _member(name: str, value: Value, wide: int, terminal: render.Terminal) -> list[str]:
    """A name and its value; a name that is longer than the others' room stands on a line of its own."""
    text = written(value)
    pieces = render.wrapped(text, terminal.width - wide - 1) if terminal.interactive else [text]
    first, *others = [terminal.style(piece, "2") if value is None else piece for piece in pieces]
    space, indent = wide - render.columns(name), " " * (wide + 1)
    styled = terminal.style(name, "1")
    if space < 0 and terminal.interactive:
        return [*render.wrapped(name, terminal.width), indent + first, *(indent + other for other in others)]
    head = f"{styled}{' ' * max(space, 0)} {first}".rstrip()
    return [head, *(indent + other for other in others)]


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide each column is in so much room: as it wants to be, the longest prose less; None where that is not enough."""
    widths = list(map(_widest, columns))
    least = [
        max(render.columns(column[0]), _LEAST_PROSE) if _is_prose(column) else width
        for column, width in zip(columns, widths, strict=True)
    ]
    excess = sum(widths) + 2 * (len(widths) - 1) - room
    while excess > 0:
        spare = [width - low for width, low in zip(widths, least, strict=True)]
        if max(spare) <= 0:
            return None
        widest = max((width, place) for place, width in enumerate(widths) if spare[place] > 0)[1]
        second = max([width for width in widths if width < widths[widest]], default=0)
        less = min(excess, widths[widest] - max(second, least[widest]))
        widths[widest] -= less
        excess -= less
    return widths


def _widest(column: Sequence[str]) -> int:
    return max(map(render.columns, column), default=0)


def _is_prose(column: Sequence[str]) -> bool:
    """Whether a column, its name first, holds texts whose beginning tells what they are about."""
    return any(render.columns(text) > _PROSE and " " in text[:_PROSE] for text in column[1:])


def _is_number(column: Sequence[Value]) -> bool:
    values = [value for value in column if value is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)
