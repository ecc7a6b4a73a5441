"""From a file's bytes to a draft: a document with its passages, complete but for the vectors.

In: a path relative to its root, the bytes, their time of change. Out: a DocumentRecord and, for each passage, the text that is
to be embedded. Reading, dating, language and chunking meet here; nothing here touches the library file or a model's weights.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from search import dates, languages, readers, terms
from search.chunking import Chunk, Tokenizer, chunk, embedded_text
from search.errors import ArchivistError, ReadError
from search.folding import composed
from search.models import Extract
from search.readers.cleaning import one_line
from search.store import DocumentRecord, PassageRecord
from search.tables.fitting import fitted


@dataclass(frozen=True, slots=True)
class File:
    """What is known of a file before it is read: its root's id, its path below that root, size in bytes, times of change."""

    root: int
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A document whose passages still lack their vectors; inputs[i] is what is to be embedded for passages[i]."""

    record: DocumentRecord
    inputs: tuple[str, ...] = ()

    def with_vectors(self, vectors: Mapping[str, bytes]) -> DocumentRecord:
        """The complete record; `vectors` holds the packed vector of every input."""
        passages = (replace(passage, vector=vectors[text]) for passage, text in zip(self.record.passages, self.inputs, strict=True))
        return replace(self.record, passages=tuple(passages))


def input_hash(text: str) -> bytes:
    """What tells whether a text was embedded before: the first 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def now() -> str:
    """The time in UTC, as stored."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def draft_file(file: File, data: bytes, content_hash: str, tokenizer: Tokenizer, max_tokens: int) -> Draft:
    """Read a file's bytes into a draft. A file that a reader refuses, or fails on, gives a document without text that says why."""
    try:
        return draft(file, readers.read(Path(file.path), data), content_hash, tokenizer, max_tokens)
    except ReadError as error:
        return without_text(file, str(error), content_hash)
    except ArchivistError:
        raise  # nothing that is wrong with the file: the model, the day that was set
    except Exception as error:  # noqa: BLE001 - whatever a parser trips over in one file, the others are still to be read
        # When memory ran out, the next run may have more.
        kept_hash = None if isinstance(error, MemoryError) else content_hash
        reason = one_line(f"{type(error).__name__}: {error}", 150).removesuffix(":")
        return without_text(file, f"could not be read: {reason}", kept_hash)


def draft(file: File, extract: Extract, content_hash: str, tokenizer: Tokenizer, max_tokens: int) -> Draft:
    """Cut an extract into passages and gather what the library keeps of the document."""
    chunks = chunk(extract, tokenizer, max_tokens=max_tokens) if extract.text.strip() else []
    title = composed(" ".join((extract.title or PurePosixPath(file.path).stem).split())[:500])
    stated = [value for value in (extract.created, extract.modified) if value]
    day, source = dates.document_date(
        front_matter=extract.date, path=file.path, properties=stated, text=extract.text, modified=file.mtime_ns / 1e9
    )
    notes = extract.notes
    if extract.date and source != "front matter":
        notes = (*notes, f"its date {extract.date[:40]!r} was not understood; {day} is from the {source}")
    record = DocumentRecord(
        root=file.root,
        path=file.path,
        title=title,
        format=extract.format,
        category=composed(extract.category) if extract.category else _first_folder(file.path),
        author=composed(extract.author) if extract.author else None,
        language=extract.language or languages.detect(extract.text),
        created=_day(extract.created),
        modified=_day(extract.modified) or local_day(file.mtime_ns),
        date=day,
        date_source=source,
        content_hash=content_hash,
        size=file.size,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        pages=len(extract.page_starts) or None,
        text_status="ok" if chunks else extract.no_text or "empty: no text in it",
        encoding=extract.encoding,
        indexed_at=now(),
        first_line=extract.first_line,
        notes=notes,
        metadata=extract.metadata,
        tags=tuple(dict.fromkeys(map(composed, extract.tags))),
        text=extract.text if chunks else "",
        passages=tuple(_passage(extract, title, piece) for piece in chunks),
        tables=fitted(extract.tables),
    )
    return Draft(record, tuple(embedded_text(piece.context, extract.text[piece.start : piece.end]) for piece in chunks))


def without_text(file: File, reason: str, content_hash: str | None) -> Draft:
    """A document that could not be read: only its existence is known, and why.

    Without a hash it is looked at again at the next run.
    """
    day, source = dates.document_date(front_matter=None, path=file.path, properties=(), text="", modified=file.mtime_ns / 1e9)
    record = DocumentRecord(
        root=file.root,
        path=file.path,
        title=composed(PurePosixPath(file.path).stem),
        format=readers.format_by_name(Path(file.path)) or "unknown",
        category=_first_folder(file.path),
        author=None,
        language=None,
        created=None,
        modified=local_day(file.mtime_ns),
        date=day,
        date_source=source,
        content_hash=content_hash,
        size=file.size,
        mtime_ns=file.mtime_ns if content_hash else None,
        ctime_ns=file.ctime_ns,
        pages=None,
        text_status=reason,
        encoding="",
        indexed_at=now(),
        failed=True,
    )
    return Draft(record)


def _passage(extract: Extract, title: str, piece: Chunk) -> PassageRecord:
    text = extract.text[piece.start : piece.end]
    return PassageRecord(
        headings=piece.headings,
        page=piece.page,
        first_line=piece.first_line,
        last_line=piece.last_line,
        start=piece.start,
        end=piece.end,
        text=text,
        terms=terms.derived(text, title=title, headings=piece.headings),
        tokens=piece.tokens,
        input=input_hash(embedded_text(piece.context, text)),
        vector=b"",
    )


def _first_folder(path: str) -> str | None:
    folder, found, _ = path.partition("/")
    return composed(folder) if found else None


def _day(written: str | None) -> str | None:
    return dates.parse_day(written) if written else None


def local_day(mtime_ns: int) -> str:
    """The local day of a file's time of change."""
    return dates.local_day(mtime_ns / 1e9).isoformat()
