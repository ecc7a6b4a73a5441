"""`archivist show`, `status` and `roots`: what is stored, as text or JSON."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from assistant import render
from assistant.errors import UsageError
from search.counting import counted

if TYPE_CHECKING:
    from search import Document, Library, Passage
    from search.documents import Reading
    from search.status import RootStatus

_KEY = re.compile(r"#?[a-z2-7]{4,10}")
_LISTED = 20
_MOST = 1000  # characters of metadata


def show(library: Library, what: str, *, lines: str | None, context: int, as_json: bool) -> None:
    """Show a passage by its key, or a document by its path, with line numbers."""
    from search.errors import NotFoundError

    first, last = _line_range(lines)
    passage: Passage | None = None
    notes = render.err()
    try:
        document = library.document(what)
    except NotFoundError:
        if not _KEY.fullmatch(what.strip().lower()):
            raise
        document, passage, moved_from = library.passage(what)
        if moved_from:
            notes.write(f"{moved_from} has moved to {passage.key} in {render.one_line(document.path)}")
    if passage is not None and first is None:
        first, last = max(1, passage.first_line - context), passage.last_line + context
    if document.text_status != "ok":
        notes.write(f"{render.one_line(document.path)} has no text: {render.one_line(document.text_status)}")
    reading = library.read(document, first, last)
    if as_json:
        render.out().write(render.as_json(_object(document, passage, reading)))
    else:
        _print(document, passage, reading)
    if stale := library.stale(document):
        notes.write(f"{stale} since it was indexed {render.age(document.indexed_at)}: archivist index brings it up to date")


def status(library: Library, *, name: str | None = None, as_json: bool) -> None:
    """Show documents, passages, coverage, age, model, size, folders and the files without text. name: as the settings have it."""
    known = library.status()
    out = render.out()
    if as_json:
        out.write(render.as_json({"name": name, **asdict(known)}))
        return
    coverage = known.coverage
    named = f"{render.one_line(name)}: " if name else ""
    out.write(f"library    {named}{render.safe(known.path)} ({render.bytes_in_words(known.size)})")
    formats = ", ".join(f"{count} {name}" for name, count in known.formats.items())
    out.write(f"documents  {coverage.documents} ({render.one_line(formats)})" if formats else "documents  0")
    out.write(f"passages   {coverage.passages}, {coverage.embedded} with an embedding")
    if known.tables:
        out.write(f"tables     {known.tables}, {counted(known.rows, 'row')}")
    if known.model:
        out.write(f"model      {render.one_line(known.model)} ({(known.revision or '')[:12]}, {known.dimension or '?'} dimensions)")
    for root in known.roots:
        when = f"indexed {render.age(root.indexed_at)}" if root.indexed_at else "not indexed yet"
        out.write(f"folder     {render.one_line(root.path)}: {counted(root.documents, 'document')}, {when}")
        for line in _forgotten(root):
            out.write(f"           {line}")
    if coverage.without_text:
        out.write(f"no text    {coverage.without_text} of {counted(coverage.documents, 'file')}:")
        for path, reason in known.without_text[:_LISTED]:
            out.write(f"           {render.one_line(path)}: {render.one_line(reason)}")
        if len(known.without_text) > _LISTED:
            out.write(f"           … and {len(known.without_text) - _LISTED} more (--json lists them)")


def roots(library: Library, *, as_json: bool) -> None:
    """List the folders, and the single files, that the library follows."""
    from search.sources import to_os

    known = library.status().roots
    out = render.out()
    if as_json:
        out.write(render.as_json({"roots": [asdict(root) for root in known]}))
        return
    for root in known:
        folder = Path(to_os(root.path))
        there = "" if not folder.is_absolute() or os.path.isdir(folder) else "; the folder is not there"  # noqa: PTH112 - Path.is_dir raises below a locked folder
        when = f"indexed {render.age(root.indexed_at)}" if root.indexed_at else "not indexed yet"
        only = f"; only {', '.join(map(render.one_line, root.named))}" if root.named and not root.whole else ""
        out.write(f"{render.one_line(root.path)}: {counted(root.documents, 'document')}, {when}{only}{there}")
        for line in (*_rules(root), *_forgotten(root)):
            out.write(f"    {line}")


def _rules(root: RootStatus) -> list[str]:
    """What was given with an earlier run and is kept for the next ones."""
    from search.sources import MAX_BYTES

    kept = [("only files that fit", root.include), ("no files that fit", root.exclude)]
    lines = [f"{what} {', '.join(map(render.one_line, globs))}" for what, globs in kept if globs]
    return [*lines, f"files up to {root.max_bytes / 1e6:g} MB"] if root.max_bytes != MAX_BYTES else lines


def _forgotten(root: RootStatus) -> list[str]:
    if not root.forgotten:
        return []
    names = ", ".join(map(render.one_line, root.forgotten[:_LISTED]))
    more = f" and {len(root.forgotten) - _LISTED} more" if len(root.forgotten) > _LISTED else ""
    return [f"{len(root.forgotten)} left out by forget: {names}{more}"]


def _line_range(lines: str | None) -> tuple[int | None, int | None]:
    if lines is None:
        return None, None
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", lines.strip())
    if match is None:
        raise UsageError(f"--lines: got {lines!r}, want FROM-TO such as 10-40")
    return int(match[1]), int(match[2] or match[1])


def _object(document: Document, passage: Passage | None, reading: Reading) -> dict[str, object]:
    return {
        "document": asdict(document),
        "passage": asdict(passage) if passage else None,
        "first_line": reading.first_line,
        "last_line": reading.last_line,
        "total_lines": reading.total,
        "text": render.safe("\n".join(reading.lines)),
    }


def _print(document: Document, passage: Passage | None, reading: Reading) -> None:
    out = render.out()
    where = render.place(document, passage.first_line if passage else None, passage.page if passage else None)
    full = render.full_path(document)
    out.write(out.link(out.style(where, "1"), full, reading.first_line) + (f"  {passage.key}" if passage else ""))
    out.write(out.style(render.one_line(document.title), "2"))
    for name, value in _facts(document):
        out.write(out.style(f"{name}: {render.one_line(value)}", "2"))
    width = len(str(reading.last_line))
    for number, line in enumerate(reading.lines, reading.first_line):
        inside = passage is None or passage.first_line <= number <= passage.last_line
        text = f"{number:>{width}}  {render.safe(line)}".rstrip()
        out.write(text if inside else out.style(text, "2"))


def _facts(document: Document) -> list[tuple[str, str]]:
    """What is known of a document, under the names that the filters have."""
    dated = f"{document.date} ({document.date_source})" if document.date else None
    named = {"date": dated, "category": document.category, "author": document.author, "language": document.language}
    named["tags"] = ", ".join(document.tags)
    metadata = ", ".join(f"{key}={_written(value)}" for key, value in document.metadata.items())
    named["metadata"] = metadata if len(metadata) <= _MOST else f"{metadata[:_MOST]}… (--json shows all)"
    return [(name, value) for name, value in named.items() if value]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
