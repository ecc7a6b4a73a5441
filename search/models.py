"""What passes between the rooms of the library: frozen records, no behaviour that touches files or SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from search.errors import FilterError

if TYPE_CHECKING:
    from search.tables.models import TableDraft

BlockKind = Literal["heading", "paragraph", "code", "table", "list", "quote"]
DateField = Literal["date", "modified", "created"]
DateSource = Literal["front matter", "file name", "properties", "content", "modified time"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in"]
Mode = Literal["keyword", "vector", "hybrid"]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document's text that has a role: characters `start` to `end` (exclusive).

    level: 1 to 6 for headings, else 0. text: a heading's words without its markup, else "".
    """

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Extract:
    """What a reader makes of one file.

    text: what is stored, searched and shown; never holds NUL. blocks: in order, without overlap; a gap between two is plain
    paragraphs. page_starts: offset in `text` of each page's first character, empty where the format has no pages.
    first_line: the number that `text`'s first line has in the file (front matter lies above it); 1 for converted formats.
    title, author, ... : as the document itself states them, None where it does not; never derived from the file's name.
    date: the front matter's date as written; created and modified: ISO dates from the document's own properties.
    encoding: how the bytes were decoded ("utf-8", "shift_jis"), "" for formats that carry their own.
    notes: remarks worth telling ("decoded as latin-1"). no_text: why `text` is empty, else None. tables: what the file holds as
    typed tables, beside its text.
    """

    text: str
    format: str
    title: str | None = None
    author: str | None = None
    language: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    date: str | None = None
    created: str | None = None
    modified: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    page_starts: tuple[int, ...] = ()
    first_line: int = 1
    encoding: str = ""
    notes: tuple[str, ...] = ()
    no_text: str | None = None
    tables: tuple[TableDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the library, without its text. Dates are ISO days; `date_source` says where `date` came from.

    text_status: "ok", else the reason why there is no text ("scanned: no text layer", "no reader for .docx yet").
    """

    id: int
    root: str
    path: str
    title: str
    format: str
    category: str | None
    author: str | None
    language: str | None
    tags: tuple[str, ...]
    date: str | None
    date_source: str | None
    created: str | None
    modified: str | None
    size: int
    pages: int | None
    text_status: str
    metadata: Mapping[str, Any]
    indexed_at: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document's stored text: characters `start` to `end`, lines `first_line` to `last_line` inclusive.

    key: the citation key, 10 base32 characters, the same in every clone. headings: the path of headings it stands under.
    """

    id: int
    key: str
    document_id: int
    ordinal: int
    headings: tuple[str, ...]
    page: int | None
    first_line: int
    last_line: int
    start: int
    end: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search found, with what explains its place.

    score: what the list is ordered by. keyword_score: BM25, higher is better; vector_score: cosine, -1 to 1; ranks count from
    1; None where the passage is not in that list. matched: the query's words that the passage holds, as they stand in it.
    reranked_from: the place before a reranking model ordered the hits anew; then score is that model's.
    """

    document: Document
    passage: Passage
    score: float
    keyword_score: float | None = None
    keyword_rank: int | None = None
    vector_score: float | None = None
    vector_rank: int | None = None
    matched: tuple[str, ...] = ()
    reranked_from: int | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of a metadata value: `key operator value`; for "in" the value is a tuple."""

    key: str
    operator: Operator
    value: str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a document must satisfy; everything given must hold (AND).

    category, format, author, language: any of the values, without regard to case. tags: all of them. source: any of the globs,
    on the path relative to its root. title: a part of it. after, before, during: an ISO date or a phrase ("last month").
    date_field: which date these test. metadata: conditions on front matter values. documents: ids to stay within, None for all.
    within: filters that must hold as well, whatever stands beside them; explanations of an empty result do not look outside them.
    hidden: folders and globs (see `search.hiding`) whose documents are out of reach as if they were not in the library; no
    explanation counts or names them.
    """

    category: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    title: str | None = None
    after: str | None = None
    before: str | None = None
    during: str | None = None
    date_field: DateField = "date"
    metadata: tuple[Condition, ...] = ()
    documents: frozenset[int] | None = None
    within: Filters | None = None
    hidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse one text in place of several, whose letters would be the values. Raises FilterError."""
        for name in ("category", "tags", "source", "format", "author", "language", "hidden"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise FilterError(f"{name}: got the text {value!r}, want a tuple of texts", f"({value!r},)")


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days from `start` to `end`, both inclusive; None is open."""

    start: str | None
    end: str | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the library a search can see: shown under results, never buried."""

    documents: int
    without_text: int
    passages: int
    embedded: int
    indexed_at: str | None
