"""Bringing a library in step with a folder: sources, readers, chunking, embedding, store, incrementally.

A run over a root walks it once and compares sizes and times with what is stored; only files that differ are read, only passages
whose text is new are embedded, and each document is replaced in a transaction that many small documents share. What the walk
found waits in temporary tables on disk, so memory does not grow with the number of files. What is gone is removed last.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from search import connections, sources, store
from search.changes import Change, Progress, Report, Summary
from search.counting import counted
from search.drafts import Draft, File, draft_file, input_hash, local_day, now, without_text
from search.embedding import Embedder
from search.errors import EmbedderError, ReadError
from search.faults import REBUILD
from search.roots import Root, roots_below, walk_root
from search.sources import Skipped, SourceFile
from search.store import DocumentRecord
from search.tables.catalogue import same_tables
from search.tables.fitting import in_words, remarks
from search.vector import pack

_BATCH_PASSAGES = 256
_BATCH_DOCUMENTS = 64
_BATCH_VALUES = 500_000  # of tables: some 50 MB of memory
_SLICE = 64  # passages embedded at a time: what an interrupted batch has finished is kept
_PAGE = 500
# A file that changes twice within one tick of the file system's clock keeps its times: a file this young is looked at again.
_CLOCK_TICK_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A draft of a batch; instead_of: a document to remove in the same transaction; change: what to tell once it is stored."""

    draft: Draft
    instead_of: int | None
    change: Change | None


class Indexer:
    """One run of indexing on an open connection; `index_root` may be called for several roots.

    A change is reported once its transaction is committed, never before.
    """

    def __init__(
        self, connection: sqlite3.Connection, embedder: Embedder, *, max_tokens: int, report: Report, dry_run: bool = False
    ) -> None:
        self._connection = connection
        self._embedder = embedder
        self._max_tokens = max_tokens
        self._report = report
        self._dry_run = dry_run
        self._waiting: list[_Waiting] = []
        self._waiting_passages = 0
        self._waiting_values = 0
        self._dimension: int | None = store.get_meta(connection, "dimension")
        self.summary = Summary()

    def index_root(self, root: Root, *, below: str = "", prune: bool = False) -> None:
        """Bring the library in step with a root, or with the part of it below a relative path.

        Raises SourceError when the root is missing or unreadable: nothing is removed then.
        """
        started = time.monotonic()
        self._walk(root, below)
        total = self._connection.execute("SELECT count(*) FROM temp.candidates").fetchone()[0]
        for done, file in enumerate(self._candidates(root)):
            self._report(Progress(done, total, self.summary.embedded))
            self._take(root, file)
        self._flush()
        self._report(Progress(total, total, self.summary.embedded))
        self._remove_gone(root, prune)
        if not self._dry_run:
            self._close_run(root, whole=not below or not root.whole)
        self.summary.seconds += time.monotonic() - started

    def add(self, draft: Draft) -> None:
        """Queue a draft that does not come from a root's folder; `flush` stores what is still queued."""
        self._queue(draft, None, None)

    def flush(self) -> None:
        """Embed and store everything that is queued."""
        self._flush()

    def _walk(self, root: Root, below: str) -> None:
        """Fill the temporary tables: `gone` with what is known and not found, `candidates` with what is new or differs."""
        db = self._connection
        with connections.staging(db):
            db.execute("DROP TABLE IF EXISTS temp.gone")
            db.execute("DROP TABLE IF EXISTS temp.candidates")
            db.execute("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY, path TEXT NOT NULL, content_hash TEXT)")
            db.execute(
                "CREATE TEMP TABLE candidates (known INTEGER, path TEXT, size INTEGER, mtime_ns INTEGER, ctime_ns INTEGER, "
                "PRIMARY KEY (known, path)) WITHOUT ROWID"
            )
            db.execute(
                "INSERT INTO temp.gone SELECT id, path, content_hash FROM documents WHERE root = ? AND (? = '' OR path = ? "
                "OR substr(path, 1, length(?) + 1) = ? || '/')",
                (root.id, below, below, below, below),
            )
            db.execute(
                "INSERT OR IGNORE INTO temp.gone SELECT d.id, d.path, d.content_hash FROM documents d JOIN _roots r "
                "ON r.id = d.root WHERE r.id <> ? AND r.id IN (SELECT value FROM json_each(?))",
                (root.id, json.dumps([] if below else roots_below(db, root))),
            )
            self._known = db.execute("SELECT count(*) FROM temp.gone").fetchone()[0]
            db.execute("CREATE INDEX temp.gone_by_hash ON gone(content_hash)")
            db.execute("CREATE INDEX temp.gone_by_path ON gone(path)")
            is_own = connections.own_files(db)
            for found in walk_root(root, below):
                if isinstance(found, Skipped):
                    self._skip(found)
                elif not is_own(found.full):
                    self._compare(root, found)

    def _compare(self, root: Root, found: SourceFile) -> None:
        db = self._connection
        row = db.execute(
            "SELECT id, size, mtime_ns, ctime_ns FROM documents WHERE root = ? AND path = ?", (root.id, found.path)
        ).fetchone()
        if row is not None:
            db.execute("DELETE FROM temp.gone WHERE id = ?", (row[0],))
        if row is not None and row[1:] == (found.size, found.mtime_ns, found.ctime_ns):
            self._as_before(row[0])
        else:
            candidate = (row is not None, found.path, found.size, found.mtime_ns, found.ctime_ns)
            db.execute("INSERT OR REPLACE INTO temp.candidates VALUES (?, ?, ?, ?, ?)", candidate)

    def _as_before(self, document: int) -> None:
        """Count a document whose file has not changed; one that could not be read is told of again, without being read again."""
        path, failed, reason = self._connection.execute(
            "SELECT path, failed, text_status FROM documents WHERE id = ?", (document,)
        ).fetchone()
        if failed:
            self._tell(Change("failed", path, reason))
        else:
            self.summary.unchanged += 1

    def _skip(self, skipped: Skipped) -> None:
        """Tell of a place that was passed over; what is known from below an unreadable one is not taken for gone."""
        self._tell(Change("skipped", skipped.path, skipped.reason))
        if skipped.blind:
            self._connection.execute(
                "DELETE FROM temp.gone WHERE path = ? OR substr(path, 1, length(?) + 1) = ? || '/'", (skipped.path,) * 3
            )

    def _candidates(self, root: Root) -> Iterator[File]:
        """What needs a look, new paths first: the vectors of a file that was renamed are still stored then."""
        last: tuple[int, str] = (-1, "")
        while rows := self._connection.execute(
            "SELECT known, path, size, mtime_ns, ctime_ns FROM temp.candidates WHERE (known, path) > (?, ?) "
            "ORDER BY known, path LIMIT ?",
            (*last, _PAGE),
        ).fetchall():
            for _, path, size, mtime_ns, ctime_ns in rows:
                yield File(root.id, path, size, mtime_ns, ctime_ns)
            last = (rows[-1][0], rows[-1][1])

    def _take(self, root: Root, file: File) -> None:
        """Read one file that is new or differs, and queue, move or just note it."""
        full = root.path / sources.to_os(file.path)
        # A link that was named by itself is meant to be followed; any other that took a file's place meanwhile is not.
        opened = full.resolve() if file.path in root.named else full
        source = SourceFile(file.path, opened, file.size, file.mtime_ns, file.ctime_ns)
        started = time.time_ns()
        self.summary.read += 1
        try:
            data = sources.read_bytes(source, root.max_bytes)
        except ReadError as error:
            self._unreadable(file, str(error))
            return
        settled = min(abs(started - file.mtime_ns), abs(started - file.ctime_ns)) > _CLOCK_TICK_NS
        digest = sources.content_hash(data)
        known = self._connection.execute(
            "SELECT id, content_hash, modified FROM documents WHERE root = ? AND path = ?", (root.id, file.path)
        ).fetchone()
        same = known is not None and known[1] == digest
        if same and known[2] == local_day(file.mtime_ns):
            self._touch(known[0], file.mtime_ns if settled else None, file.ctime_ns)
            return
        draft = draft_file(file, data, digest, self._embedder, self._max_tokens)
        if not settled:
            draft = replace(draft, record=replace(draft.record, mtime_ns=None))
        if same and self._same_content(known[0], draft.record):
            self._redate(known[0], draft.record)
            return
        gone = None if known is not None else self._gone_with(digest)
        if gone is not None and self._same_content(gone[0], draft.record):
            self._move(gone, draft.record)
            return
        self._queue(draft, gone[0] if gone else None, _change(draft, known is not None))

    def _unreadable(self, file: File, reason: str) -> None:
        """A file that cannot be opened: what is known of it stays, else it is recorded with the reason."""
        known = self._connection.execute(
            "SELECT text_status FROM documents WHERE root = ? AND path = ?", (file.root, file.path)
        ).fetchone()
        if known == ("ok",):
            self._tell(Change("kept", file.path, f"{reason}; what the library holds of it stays"))
            return
        draft = without_text(file, reason, None)
        if known == (reason,):
            self._tell(_change(draft, True))
        else:
            self._queue(draft, None, _change(draft, False))

    def _touch(self, document: int, mtime_ns: int | None, ctime_ns: int) -> None:
        """Only the times of change differ, within a day: nothing is read into passages or embedded anew."""
        self._as_before(document)
        if not self._dry_run:
            with connections.writing(self._connection):
                self._connection.execute(
                    "UPDATE documents SET mtime_ns = ?, ctime_ns = ? WHERE id = ?", (mtime_ns, ctime_ns, document)
                )

    def _redate(self, document: int, record: DocumentRecord) -> None:
        """The same content with a time of change on another day: dates may follow from it, passages and vectors stay."""
        self._as_before(document)
        if not self._dry_run:
            with connections.writing(self._connection):
                store.move_document(self._connection, document, record)

    def _gone_with(self, digest: str) -> tuple[int, str] | None:
        row = self._connection.execute(
            "SELECT id, path FROM temp.gone WHERE content_hash = ? ORDER BY path LIMIT 1", (digest,)
        ).fetchone()
        return (row[0], row[1]) if row else None

    def _same_content(self, document: int, record: DocumentRecord) -> bool:
        """Whether a document has these passages and these tables; another reader may make other ones of the same bytes."""
        rows = self._connection.execute(
            "SELECT p.headings, p.page, p.first_line, p.start_offset, p.end_offset, p.text, e.input FROM passages p "
            "JOIN _embeddings e ON e.passage_id = p.id WHERE p.document_id = ? ORDER BY p.ordinal",
            (document,),
        ).fetchall()
        passages = [
            (json.dumps(p.headings, ensure_ascii=False), p.page, p.first_line, p.start, p.end, p.text, p.input)
            for p in record.passages
        ]
        return rows == passages and same_tables(self._connection, document, record.tables)

    def _move(self, gone: tuple[int, str], record: DocumentRecord) -> None:
        self._connection.execute("DELETE FROM temp.gone WHERE id = ?", (gone[0],))
        if not self._dry_run:
            with connections.writing(self._connection):
                store.move_document(self._connection, gone[0], record)
        self._tell(Change("moved", record.path, gone[1]))
        if record.failed:
            self._tell(_change(Draft(record), True))

    def _queue(self, draft: Draft, instead_of: int | None, change: Change | None) -> None:
        """Hold a draft until a batch is full; see `_Waiting`. A dry run tells of it at once."""
        if instead_of is not None:
            self._connection.execute("DELETE FROM temp.gone WHERE id = ?", (instead_of,))
        if self._dry_run:
            self._tell(change)
            return
        self._waiting.append(_Waiting(draft, instead_of, change))
        self._waiting_passages += len(draft.inputs)
        self._waiting_values += sum(len(table.rows) * len(table.columns) for table in draft.record.tables)
        enough = self._waiting_passages >= _BATCH_PASSAGES or self._waiting_values >= _BATCH_VALUES
        if enough or len(self._waiting) >= _BATCH_DOCUMENTS:
            self._flush()

    def _flush(self) -> None:
        """Embed and store the batch. Interrupted while it is embedded, the documents that are complete by then are stored."""
        vectors: dict[str, bytes] = {}
        try:
            for some in self._vectors([text for waiting in self._waiting for text in waiting.draft.inputs]):
                vectors |= some
        except KeyboardInterrupt:
            self._waiting = [waiting for waiting in self._waiting if vectors.keys() >= set(waiting.draft.inputs)]
            self._store(vectors)
            raise
        self._store(vectors)

    def _store(self, vectors: Mapping[str, bytes]) -> None:
        """Store all that waits in one transaction, then tell of it."""
        stored, self._waiting, self._waiting_passages, self._waiting_values = self._waiting, [], 0, 0
        if not stored:
            return
        records = [(waiting.draft.with_vectors(vectors), waiting.instead_of) for waiting in stored]
        with connections.writing(self._connection):
            if self._dimension is not None:
                store.set_meta(self._connection, "dimension", self._dimension)
            for record, instead_of in records:
                if instead_of is not None:
                    store.remove_documents(self._connection, [instead_of])
                store.replace_document(self._connection, record)
        for waiting in stored:
            self._tell(waiting.change)

    def _vectors(self, inputs: Sequence[str]) -> Iterator[dict[str, bytes]]:
        """The packed vector of every input, some at a time: from the library where it was embedded before, else from the model."""
        new: list[str] = []
        for text in dict.fromkeys(inputs):
            stored = store.stored_vector(self._connection, input_hash(text))
            if stored is None:
                new.append(text)
            else:
                yield {text: stored}
        for start in range(0, len(new), _SLICE):
            batch = new[start : start + _SLICE]
            rows = self._embedder.embed_passages(batch)
            self._dimension = self._dimension or rows.shape[1]
            if rows.shape != (len(batch), self._dimension):
                raise EmbedderError(
                    f"the embedding model gave {rows.shape[1]} dimensions, the library has {self._dimension}", REBUILD
                )
            self.summary.embedded += len(batch)
            yield {text: pack(row) for text, row in zip(batch, rows, strict=True)}

    def _remove_gone(self, root: Root, prune: bool) -> None:
        """Remove what is gone, unless that is more than half (and more than 20) of what the root held: then say so."""
        gone = self._connection.execute("SELECT count(*) FROM temp.gone").fetchone()[0]
        if gone > 20 and gone * 2 > self._known and not prune:
            self.summary.refused += gone
            self.summary.messages.append(
                f"{gone} of {counted(self._known, 'document')} of {root.path} would be removed: nothing was; --prune removes them"
            )
            return
        while rows := self._connection.execute("SELECT id, path FROM temp.gone ORDER BY path LIMIT ?", (_PAGE,)).fetchall():
            ids = [row[0] for row in rows]
            if not self._dry_run:
                with connections.writing(self._connection):
                    store.remove_documents(self._connection, ids)
            self._connection.executemany("DELETE FROM temp.gone WHERE id = ?", ((i,) for i in ids))
            for _, path in rows:
                self._tell(Change("removed", path))

    def _close_run(self, root: Root, *, whole: bool) -> None:
        """Note the time if the whole root was looked at, drop roots that it has taken over, forget moved keys that lead nowhere."""
        with connections.writing(self._connection):
            if whole:
                self._connection.execute("UPDATE _roots SET indexed_at = ? WHERE id = ?", (now(), root.id))
            for other in roots_below(self._connection, root):
                self._connection.execute(
                    "DELETE FROM _roots WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM documents WHERE root = ?1)", (other,)
                )
            store.drop_lost_keys(self._connection)

    def _tell(self, change: Change | None) -> None:
        if change is not None:
            self.summary.count(change)
            self._report(change)


def _change(draft: Draft, known: bool) -> Change:
    """What a draft is to its reader once it is stored."""
    record = draft.record
    if record.text_status != "ok":
        return Change("failed" if record.failed else "no text", record.path, record.text_status)
    # Those of the tables can be looked up afterwards; the others are told now or never.
    worth_telling = tuple(dict.fromkeys([*record.notes, *remarks(record.tables)]))
    return Change("changed" if known else "added", record.path, in_words(record.tables), len(record.tables), worth_telling)
