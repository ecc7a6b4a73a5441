"""HTML and SVG elements as values: what is text is escaped and cleaned, whoever wrote it.

In: names, attributes and children. Out: `Markup`, the one kind of text that goes into a page as it is. Nothing else makes Markup,
so text of a model or a document cannot become an element, an attribute or an address. Elements and attributes that would load,
run or send anything are refused here already; the page's content security policy forbids them again.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from assistant.render import safe

_HTML = """
    a article bdi body br caption code dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 head header html li main meta
    nav ol p section small span strong summary table tbody td th thead title tr ul wbr
"""
_SVG = "circle desc g line path polygon polyline rect svg text"
_ELEMENTS = frozenset(f"{_HTML} {_SVG}".split())
_VOID = frozenset({"br", "meta", "wbr"})
_NAMES = """
    charset class colspan content cx cy d dir height href http-equiv id lang name points r role rowspan scope tabindex text-anchor
    viewBox width x x1 x2 y y1 y2
"""
_ATTRIBUTES = frozenset(_NAMES.split())


class Markup(str):
    """Text that is HTML already: what `element` and `style` give back."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | int | Iterable[Child] | None"
Value: TypeAlias = str | int | float | None


def element(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """An element: `element("td", "3 < 4", class_="number", aria_label="three")`.

    A name of an attribute ends in _ where Python has the word, and has _ for -. None leaves an attribute out. Raises ValueError for
    elements and attributes that a report has no use for, and for addresses outside it.
    """
    if name not in _ELEMENTS:
        raise ValueError(f"a report has no <{name}>")
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Markup:
    """Children one after another, as Markup."""
    return Markup("".join(map(_child, children)))


def style(sheet: str) -> Markup:
    """A style sheet of ours, as it is: the content security policy holds its hash. Raises ValueError for one that ends early."""
    if "<" in sheet:
        raise ValueError("a style sheet holds no <")
    return Markup(f"<style>{sheet}</style>")


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return escape(safe(str(child)))
    return join(child)


def _attribute(key: str, value: Value) -> str:
    # SVG has names with capitals, which stay; http_equiv and text_anchor are written with a hyphen.
    name = key.rstrip("_").replace("_", "-")
    if name not in _ATTRIBUTES and not name.startswith("aria-"):
        raise ValueError(f"a report has no attribute {name!r}")
    if value is None:
        return ""
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else safe(str(value))
    if name == "href" and not text.startswith("#"):
        raise ValueError(f"a report links to itself only: got {text[:80]!r}")
    return f' {name}="{escape(text)}"'


__all__ = ["Child", "Markup", "Value", "element", "join", "style"]
