"""What a search finds of a table: a short text that names its columns, their ranges and few values, and rows that hold prose.

In: drafts. Out: Markdown. It depends on nothing but the file, neither on the name that the table gets nor on other files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.readers.cleaning import one_line
from search.tables.models import Column, TableDraft, Value

PROSE = 40  # mean length from which a column of texts is prose, if
PROSE_WORDS = 6  # it has as many words on average: references and hashes are long, too
MAX_ROWS = 500
MAX_CHARACTERS = 200_000
_SCRIPTS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff"  # without spaces: Thai to Khmer, kana, Chinese
_LETTERS = rf"[^\W\d_{_SCRIPTS}]+"
_WORD = re.compile(rf"(?<!\S)[^\w\s]*{_LETTERS}(?:[-'’]{_LETTERS})*[^\w\s]*(?!\S)")
_UNSPACED = re.compile(f"[{_SCRIPTS}]")
_MAX_COLUMNS = 300
_MAX_VALUE = 2_000


def described(drafts: Sequence[TableDraft]) -> str:
    """The tables of one file, each with its columns and, where a column holds prose, its rows as paragraphs.

    At most 500 rows and 200,000 characters of rows altogether; the text says how many rows it leaves out. "" without tables.
    """
    parts = []
    rows, characters = MAX_ROWS, MAX_CHARACTERS
    for draft in drafts:
        parts.append(_outline(draft))
        paragraphs = _paragraphs(draft, rows, characters) if _has_prose(draft) else []
        parts += paragraphs
        rows -= len(paragraphs)
        characters -= sum(map(len, paragraphs))
        if _has_prose(draft) and len(paragraphs) < len(draft.rows):
            parts.append(f"({len(draft.rows) - len(paragraphs)} more rows are in the table alone.)")
    return "\n\n".join(parts) + "\n" if parts else ""


def left_out(drafts: Sequence[TableDraft]) -> tuple[str, ...]:
    """A note for the document when rows of prose are not all in its text; () otherwise."""
    prose = [draft for draft in drafts if _has_prose(draft)]
    rows, characters, missing = MAX_ROWS, MAX_CHARACTERS, 0
    for draft in prose:
        paragraphs = _paragraphs(draft, rows, characters)
        rows -= len(paragraphs)
        characters -= sum(map(len, paragraphs))
        missing += len(draft.rows) - len(paragraphs)
    return (f"{missing} rows are found by table queries alone, not by their words",) if missing else ()


def _outline(draft: TableDraft) -> str:
    size = f"{_counted(len(draft.rows), 'row')}, {_counted(len(draft.columns), 'column')}"
    label = one_line(draft.label, 100)
    lines = [f"# {label}\n\nTable: {size}." if label else f"Table: {size}."]
    lines += [one_line(note, 500) for note in draft.notes]
    columns = [f"- {_column(column)}" for column in draft.columns[:_MAX_COLUMNS]]
    if len(draft.columns) > _MAX_COLUMNS:
        columns.append(f"- {len(draft.columns) - _MAX_COLUMNS} more")
    return "\n".join(lines) + "\n\n" + "\n".join(columns)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _column(column: Column) -> str:
    """One column on one line: name, header where it reads otherwise, type, unit, values or range, and what the source says."""
    header = one_line(column.header, 200)
    name = one_line(column.name, 100)
    shown = f'{name} ("{header}")' if header and header.lower() != name else name
    told = f"{shown}, {column.type}" + (f" in {column.unit}" if column.unit else "")
    if column.values:
        told += ": " + "; ".join(one_line(value) for value in column.values)
    elif column.minimum is not None and column.type != "boolean":
        same = column.minimum == column.maximum
        told += ": " + (_bound(column.minimum) if same else f"{_bound(column.minimum)} to {_bound(column.maximum)}")
    return f"{told} ({one_line(column.comment, 300)})" if column.comment else told


def _bound(value: Value) -> str:
    return one_line(str(value), 60)


def _has_prose(draft: TableDraft) -> bool:
    return any(_is_prose(draft, place) for place, column in enumerate(draft.columns) if column.type == "text")


def _is_prose(draft: TableDraft, place: int) -> bool:
    texts = [value for row in draft.rows if isinstance(value := row[place], str)]
    if not texts or sum(map(len, texts)) < PROSE * len(texts):
        return False
    return sum(map(_words, texts)) >= PROSE_WORDS * len(texts)


def _words(text: str) -> float:
    """How many words of letters alone a text has; in scripts without spaces two letters count as one."""
    return len(_WORD.findall(text)) + len(_UNSPACED.findall(text)) / 2


def _paragraphs(draft: TableDraft, rows: int, characters: int) -> list[str]:
    """The first rows, one paragraph each, as many as the limits allow."""
    paragraphs: list[str] = []
    for row in draft.rows[: max(0, rows)]:
        pairs = zip(draft.columns[:_MAX_COLUMNS], row, strict=False)
        cells = [f"{column.name}: {one_line(str(value), _MAX_VALUE)}" for column, value in pairs if _is_shown(value)]
        paragraph = "; ".join(cells) or "(nothing)"
        characters -= len(paragraph)
        if characters < 0:
            break
        paragraphs.append(paragraph)
    return paragraphs


def _is_shown(value: Value) -> bool:
    return value is not None and not isinstance(value, bytes)
