"""New cases: one made of the last turn, and questions proposed from the person's own documents without a model.

Both are for people to edit: what a turn did is not yet what it should have done.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from assistant.cleaning import clean
from assistant.errors import UserError
from search import Document, Library

_WORDS = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])|\n\s*\n")
_NUMBERED = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")
_MARKUP = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_LONGEST = 200  # characters of a question
_SENTENCE_CHARACTERS = (40, 180)
_PAGE = 200
_OPENINGS = {
    "en": ("What do the documents say about {}?", "Which document says: {}?"),
    "de": ("Was steht in den Dokumenten über {}?", "In welchem Dokument steht: {}?"),
}
_SEARCHES = "hybrid_search|keyword_search|vector_search"
_TABLES = "query_table|run_sql"


def from_turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """A case of a turn as `archivist ask` keeps it: what it cited, called and said to be absent is what is expected.

    Raises UserError for a turn without a question.
    """
    question = turn.get("question")
    if not isinstance(question, str) or not question.strip():
        raise UserError("there is no last turn to make a case of", 'archivist ask "how do we rotate keys?"')
    calls = [call for call in turn.get("calls", ()) if isinstance(call, dict) and call.get("ok")]
    cited = [one for one in turn.get("citations", ()) if isinstance(one, dict) and one.get("verdict") == "retrieved"]
    paths = dict.fromkeys(
        _path(str(one["source"])) for one in cited if one.get("source") and not {"sql", "expression"} & one.keys()
    )
    outcome = turn.get("outcome")
    expect: dict[str, Any] = {}
    if calls:
        expect["tools"] = [[str(call["name"]) for call in calls]]
    if paths and outcome == "answer":
        expect["documents"] = list(paths)
    expect |= {"absent": outcome == "absent"} | ({"asks_back": True} if outcome == "question" else {})
    tables = dict.fromkeys(_tables_asked(calls))
    if tables:
        expect["tables"] = list(tables)
    row: dict[str, Any] = {"id": f"own-{_digest(question)}", "question": question, "kind": "own", "language": ""}
    day = str(turn.get("today") or turn.get("at") or "")[:10]
    row |= {"today": day} if _is_day(day) else {}
    row |= {"scope": turn["filters"]} if turn.get("filters") else {}
    row |= {"turns": list(turn["turns"])} if turn.get("turns") else {}
    return {**row, "expect": expect}


def _tables_asked(calls: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for call in calls:
        arguments = call.get("arguments")
        if call.get("name") == "query_table" and isinstance(arguments, dict) and isinstance(arguments.get("table"), str):
            yield arguments["table"]


def _path(source: str) -> str:
    """The path of a source such as notes/plan.md:12-30 or paper.pdf p. 3."""
    return re.sub(r"(?::\d+(?:-\d+)?| p\. \d+)$", "", source)


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:8]


def from_library(library: Library, count: int, today: date | None = None) -> list[dict[str, Any]]:
    """So many proposed cases: in turns from headings, first sentences and columns of tables, spread over the documents.

    The same library gives the same cases. Raises UserError where nothing can be asked of it.
    """
    holding_tables = {table.document_id for table in library.tables.describe()}  # their text is a description of our own
    documents = [document for document in _documents(library) if document.id not in holding_tables]
    ways = [list(_of_headings(library, documents)), list(_of_sentences(library, documents)), list(_of_tables(library))]
    asked = Counter(row["question"] for found in ways for row in found)
    ways = [[row for row in found if asked[row["question"]] == 1] for found in ways]  # else one document is right of several
    for found in ways:
        found.sort(key=lambda row: str(row["id"]))  # a digest: no folder comes before another
    mixed = [found[place] for place in range(max(map(len, ways))) for found in ways if place < len(found)]
    chosen = mixed[:count]
    if not chosen:
        raise UserError("the library holds no heading, sentence or table to ask about", "archivist index DIR adds documents")
    return [{**row, **({"today": today.isoformat()} if today else {})} for row in chosen]


def _documents(library: Library) -> Iterator[Document]:
    offset = 0
    while True:
        page = library.filter_documents(limit=_PAGE, offset=offset)
        yield from (document for document in page.items if document.text_status == "ok")
        offset += _PAGE
        if offset >= page.total:
            return


def _of_headings(library: Library, documents: Sequence[Document]) -> Iterator[dict[str, Any]]:
    """A heading of each document, with the document's title."""
    for document in documents:
        passages = library.passages(document, limit=30)
        headings = [passage.headings for passage in passages if len(passage.headings) > 1]
        if headings:
            chosen = headings[int(_digest(document.path), 16) % len(headings)]
            heading = _NUMBERED.sub("", chosen[-1])
            yield _search_case(document, 0, f"{heading} ({document.title})" if document.title else heading, "heading")


def _of_sentences(library: Library, documents: Sequence[Document]) -> Iterator[dict[str, Any]]:
    """The first whole sentence of each document."""
    openings = library.openings(documents)
    for document in documents:
        opening = openings.get(document.id)
        prose = (
            "\n".join(line for line in opening.text.splitlines() if not line.lstrip().startswith(("#", "|", ">")))
            if opening
            else ""
        )
        sentences = (" ".join(part.split()) for part in _SENTENCE.split(prose))
        least, most = _SENTENCE_CHARACTERS
        found = next((one for one in sentences if least <= len(one) <= most and len(_WORDS.findall(one)) >= 6), None)
        if found:
            yield _search_case(document, 1, found.rstrip(".!?:;"), "sentence")


def _search_case(document: Document, form: int, about: str, kind: str) -> dict[str, Any]:
    language = document.language if document.language in _OPENINGS else "en"
    question = _OPENINGS[language][form].format(_MARKUP.sub("", _plain(about)))
    return {
        "id": f"{kind}-{_digest(document.path, question)}",
        "question": question,
        "kind": kind,
        "language": language,
        "expect": {
            "documents": [document.path],
            "tools": [[_SEARCHES], [_SEARCHES, "read_document"]],
            "filters": {},
            "absent": False,
        },
    }


def _of_tables(library: Library) -> Iterator[dict[str, Any]]:
    """For each table: how many rows it has, and the highest value of its first column of numbers."""
    for table in library.tables.describe():
        name = _plain(table.name)
        asked: list[tuple[str, float]] = [(f"How many rows does the table {name} have?", float(table.rows))]
        highest = next(((one.name, one.maximum) for one in table.columns if _is_number(one.maximum)), None)
        if highest is not None and highest[1] is not None:
            asked.append((f"What is the highest {_plain(highest[0])} in {name}?", float(highest[1])))
        for question, value in asked:
            yield {
                "id": f"table-{_digest(table.name, question)}",
                "question": question,
                "kind": "table",
                "language": "en",
                "expect": {"numbers": [value], "tables": [table.name], "tools": [[_TABLES], ["describe_tables", _TABLES]]},
            }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(text: str) -> str:
    return " ".join(clean(text).split())[:_LONGEST]


def write(rows: Sequence[Mapping[str, Any]], path: Path) -> int:
    """Add cases to a file of cases; those whose id it has already are left out. How many were added.

    Raises UserError, and adds nothing, where the file holds something else.
    """
    there: set[str] = set()
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except (UnicodeDecodeError, OSError) as error:
        raise UserError(f"{path}: cannot be read as cases: {error}", "name another file") from None
    if text.strip():
        from assistant.evaluation.cases import cases_from

        there = {case.id for case in cases_from(text, str(path))}
    new = [row for row in rows if row["id"] not in there]
    lines = ["\n"] if text and not text.endswith("\n") else []
    lines += [json.dumps(row, ensure_ascii=False) + "\n" for row in new]
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}", "name another file") from None
    return len(new)
