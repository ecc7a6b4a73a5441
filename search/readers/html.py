"""HTML and XML: the main text of a page as paragraphs, with what its head says; the text content of XML.

Menus, page headers and footers are left out where the page marks them; when that would drop most of a page's text, the whole
body is kept. What a browser would not show is never text. Line numbers are those of the converted text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from search.errors import ReadError
from search.models import Block, Extract
from search.readers.cleaning import clean, one_line
from search.readers.encodings import Decoded, decode
from search.readers.page import Page, is_hidden, render, tag_names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_DEPTH = 4_000  # the parser's time grows with the square of the depth
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:.-]{2,40})|<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w:.-]{2,40})",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]*)[^<>]*?(/?)>")
_UNCOUNTED = tag_names(  # void elements, and those that the next of their kind closes
    "area base br col embed hr img input link meta param source track wbr",
    "a p li td th tr dt dd option thead tbody tfoot colgroup html head body",
)
_BOILERPLATE_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar"})
_CONTENT = frozenset({"main", "article"})
_DAY = re.compile(r"(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?!\d)")
_CREATED = (
    *("article:published_time", "og:article:published_time", "datepublished", "date", "dc.date", "dcterms.date"),
    *("dcterms.created", "dc.date.created", "pubdate", "publish_date", "created"),
)
_MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "last-modified",
    "dcterms.modified",
    "dc.date.modified",
    "revised",
)


def read(data: bytes, path: Path) -> Extract:  # noqa: ARG001 (one signature for all readers)
    """The main text of a page. Raises ReadError when its elements are nested too deeply to be a document."""
    from selectolax.lexbor import LexborHTMLParser

    decoded = _decoded(data)
    if decoded is None:
        return Extract(text="", format="html", no_text="binary: the content is not text")
    source = clean(decoded.text)
    if (depth := _depth(source)) > MAX_DEPTH:
        raise ReadError(f"HTML nested {depth} elements deep: at most {MAX_DEPTH} are read")
    tree = LexborHTMLParser(source)
    page = _main_text(tree)
    meta = _meta(tree)
    heading = next((block.text for block in page.blocks if block.kind == "heading" and block.level == 1), None)
    description = meta.get("description") or meta.get("og:description")
    return Extract(
        text=page.text,
        format="html",
        title=_title(tree) or heading or meta.get("og:title"),
        author=next((meta[name] for name in ("author", "dc.creator", "article:author") if _is_name(meta.get(name))), None),
        language=_language(tree, meta),
        tags=tuple(dict.fromkeys(tag.strip() for tag in meta.get("keywords", "").split(",") if tag.strip())),
        created=_first_day(meta, _CREATED) or _day_of_header(tree),
        modified=_first_day(meta, _MODIFIED),
        metadata={"description": description} if description else {},
        blocks=page.blocks,
        encoding=decoded.encoding,
        notes=(decoded.note,) if decoded.note else (),
        no_text=None if page.text else "empty: no visible text",
    )


def _decoded(data: bytes) -> Decoded | None:
    match = _CHARSET.search(data[:4096])
    label = (match[1] or match[2]).decode("ascii", errors="replace") if match else None
    return decode(data, declared=label)


def _depth(source: str) -> int:
    """How deep elements may nest at most, from the tags alone."""
    depth = deepest = 0
    for closing, name, empty in _TAG.findall(source):
        if name.lower() in _UNCOUNTED or empty:
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _main_text(tree: LexborHTMLParser) -> Page:
    """The marked main part where it holds most of the text, else the body without menus, else all of the body."""
    body = tree.body or tree.root
    if body is None:
        return Page("", ())
    structured = bool(tree.css_first("main, article, [role=main]"))
    page = render(body, _leave_out_boilerplate if structured else _leave_out_menus)
    main = _main_element(tree)
    if main is not None:
        inner = render(main, _leave_out_boilerplate)
        if len(inner.text) * 2 >= len(page.text):
            page = inner
    if tree.css_first("nav, [role=navigation]") is None:
        whole = render(body, _nothing_more)
        if len(page.text) * 2 < len(whole.text):
            return whole
    return page if page.text else render(body, _nothing_more)


def _main_element(tree: LexborHTMLParser) -> LexborNode | None:
    for selector in ("main", "[role=main]", "article"):
        found = [node for node in tree.css(selector) if not _in_hidden(node)]
        if len(found) == 1:
            return found[0]
    return None


def _in_hidden(node: LexborNode) -> bool:
    at: LexborNode | None = node
    while at is not None:
        if is_hidden(at):
            return True
        at = at.parent
    return False


def _nothing_more(node: LexborNode, ancestors: frozenset[str]) -> bool:  # noqa: ARG001 (a Skip)
    return False


def _leave_out_menus(node: LexborNode, ancestors: frozenset[str]) -> bool:
    """Without a marked main part only what is surely a menu goes, and page parts that consist of links."""
    if node.tag == "nav" or _role(node) in {"navigation", "menu", "menubar", "search"} or _is_skip_link(node):
        return True
    return node.tag in {"header", "footer", "aside"} and not ancestors & _CONTENT and _mostly_links(node)


def _leave_out_boilerplate(node: LexborNode, ancestors: frozenset[str]) -> bool:
    if node.tag == "nav" or _is_skip_link(node):
        return True
    inside = bool(ancestors & _CONTENT)
    return not inside and (node.tag in {"header", "footer", "aside"} or _role(node) in _BOILERPLATE_ROLES)


def _role(node: LexborNode) -> str:
    return (node.attributes.get("role") or "").strip().lower()


def _is_skip_link(node: LexborNode) -> bool:
    if node.tag != "a" or not (node.attributes.get("href") or "").startswith("#"):
        return False
    return (node.text(deep=True) or "").strip().lower().startswith("skip to ")


def _mostly_links(node: LexborNode) -> bool:
    words = len("".join(node.text(deep=True).split()))
    linked = sum(len("".join(link.text(deep=True).split())) for link in node.css("a"))
    return linked * 2 > words


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    """<meta> by name, property, itemprop or http-equiv in lower case; the first of each counts."""
    values: dict[str, str] = {}
    for node in tree.css("meta"):
        attributes = node.attributes
        name = next((attributes[key] for key in ("name", "property", "itemprop", "http-equiv") if attributes.get(key)), None)
        content = one_line(attributes.get("content") or "", 1000)
        if name and content:
            values.setdefault(name.strip().lower(), content)
    return values


def _is_name(author: str | None) -> bool:
    return bool(author) and "://" not in (author or "")


def _title(tree: LexborHTMLParser) -> str | None:
    node = tree.css_first("head > title")
    return one_line(node.text(deep=True)) or None if node is not None else None


def _language(tree: LexborHTMLParser, meta: Mapping[str, str]) -> str | None:
    root = tree.root
    attributes: Mapping[str, Any] = root.attributes if root is not None else {}
    return _primary(attributes.get("lang") or attributes.get("xml:lang") or meta.get("content-language"))


def _primary(tag: str | None) -> str | None:
    """The language of a tag such as "de-DE": "de"."""
    match = re.match(r"([A-Za-z]{2,3})(?:[-_,;\s]|$)", (tag or "").strip())
    return match[1].lower() if match else None


def _first_day(meta: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    days = (_DAY.match(meta.get(name, "")) for name in names)
    return next((day[1] for day in days if day), None)


def _day_of_header(tree: LexborHTMLParser) -> str | None:
    for node in tree.css("header time[datetime], article time[pubdate], time[itemprop=datePublished]"):
        day = _DAY.match(node.attributes.get("datetime") or "")
        if day:
            return day[1]
    return None


def read_xml(data: bytes, path: Path) -> Extract:  # noqa: ARG001 (one signature for all readers)
    """The text content of XML, a line for each stretch between tags; the source itself where all of it is in attributes.

    Entities that the document declares are not expanded. Raises ReadError when it is not well-formed.
    """
    decoded = _decoded(data)
    if decoded is None:
        return Extract(text="", format="xml", no_text="binary: the content is not text")
    source = clean(decoded.text)
    notes = [decoded.note] if decoded.note else []
    if not source.strip():
        return Extract(text="", format="xml", encoding=decoded.encoding, no_text="empty: only white space")
    content = _XmlText()
    try:
        content.parse(source)
    except expat.ExpatError as error:
        raise ReadError(f"broken XML: {one_line(str(error), 120)}") from error
    if content.entities:
        notes.append("entities declared in the document are not expanded")
    lines = [line for line in (" ".join(line.split()) for line in content.lines) if line]
    return Extract(
        text="\n".join(lines) or source,
        format="xml",
        title=one_line(content.title) or None,
        language=_primary(content.language),
        blocks=() if lines else (Block(0, len(source), "code"),),
        encoding=decoded.encoding,
        notes=tuple(notes),
    )


class _XmlText:
    """What an XML parser sees, kept as lines. It builds no tree, so depth costs nothing."""

    def __init__(self) -> None:
        self.lines: list[str] = [""]
        self.title = ""
        self.language: str | None = None
        self.entities = 0
        self._path: list[str] = []

    def parse(self, source: str) -> None:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        # With a default handler, and without expanding, references to declared entities are passed over.
        parser.DefaultHandler = lambda _: None
        parser.Parse(source.strip().encode("utf-8"), True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path:
            self.language = attributes.get("xml:lang") or attributes.get("lang")
        self._path.append(name.rsplit(":", 1)[-1].lower())
        self.lines.append("")

    def _end(self, name: str) -> None:  # noqa: ARG002 (expat's signature)
        if self._path[-1] == "title" and len(self._path) <= 3 and not self.title:
            self.title = self.lines[-1]
        self._path.pop()
        self.lines.append("")

    def _text(self, text: str) -> None:
        self.lines[-1] += text

    def _entity(self, *declaration: object) -> None:
        self.entities += bool(declaration)
