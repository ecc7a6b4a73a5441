"""What changes a library: indexing folders, forgetting them, making the library anew.

Every function here takes the index lock, opens the file for writing, and ends with a truncating checkpoint.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from search import connections, faults, schema, sources, store
from search.changes import Change, Progress, Report, Summary
from search.chunking import CHUNKING_VERSION, MAX_TOKENS
from search.documents import find_document
from search.drafts import File, draft
from search.embedding import Embedder
from search.errors import LibraryError, NotFoundError, QueryError, SourceError
from search.faults import REBUILD
from search.indexing import Indexer
from search.models import Extract
from search.roots import Root
from search.tables.catalogue import Names

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Rules:
    """Which files of a root are taken; None keeps what the root was indexed with before. max_bytes: per file."""

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    max_bytes: int | None = None


_KEEP = Rules()
_SELECT_ROOTS = "SELECT id, path, whole, named, include, exclude, forgotten, max_bytes FROM _roots"


def _quiet(_: Change | Progress) -> None:
    """Report nothing."""


def index(
    path: Path,
    places: Sequence[Path],
    embedder: Embedder,
    *,
    rules: Rules = _KEEP,
    prune: bool = False,
    dry_run: bool = False,
    report: Report = _quiet,
    say: Say = lambda _: None,
) -> Summary:
    """Bring the library in step with folders and single files, or with every known root when `places` is empty.

    Raises SourceError for a missing or unreadable place (nothing is removed then), LibraryError for a file that cannot be used
    or was made with another model. dry_run: nothing is written; the library's older schema is refused instead of
    migrated, and one that is not there is taken for an empty one.
    """
    for place in places:
        try:
            sources.locate(place)
        except SourceError as error:
            raise _nothing_removed(error) from error
    sources.check_globs(include=rules.include or (), exclude=rules.exclude or ())
    with _open(path, say, dry_run=dry_run) as connection:
        max_tokens = _agree(connection, embedder, path, dry_run=dry_run)
        indexer = Indexer(connection, embedder, max_tokens=max_tokens, report=report, dry_run=dry_run)
        jobs = [_job(connection, place, rules, dry_run=dry_run) for place in places]
        # A root without an absolute path holds texts that a program added: there is no folder to compare them with.
        jobs = jobs or [(root, "") for root in _roots(connection) if root.path.is_absolute()]
        if not jobs:
            raise SourceError(f"{path} follows no folder yet", "archivist index DIR")
        names = Names.now(connection)
        for root, below in jobs:
            try:
                indexer.index_root(root, below=below, prune=prune)
            except SourceError as error:
                if places:
                    raise _nothing_removed(error) from error
                # One root that is gone (an unplugged disk) keeps its documents and does not stop the others.
                indexer.summary.refused += 1
                indexer.summary.messages.append(f"{error}: its documents stay; archivist forget {root.path} removes them")
        indexer.summary.messages += names.changed(connection)
    return indexer.summary


def add_texts(
    path: Path, name: str, texts: Iterator[tuple[str, Extract]], embedder: Embedder, *, report: Report = _quiet
) -> Summary:
    """Add documents that are not files, as (path, extract), under a root called `name`: for corpora and for other programs."""
    with _open(path, lambda _: None) as connection:
        max_tokens = _agree(connection, embedder, path)
        root = _keep(connection, _planned(connection, Path(name), whole=False, rules=_KEEP))
        indexer = Indexer(connection, embedder, max_tokens=max_tokens, report=report)
        for document, extract in texts:
            file = File(root.id, document, len(extract.text), 0, 0)
            content_hash = sources.content_hash(extract.text.encode("utf-8", "surrogatepass"))
            indexer.add(draft(file, extract, content_hash, embedder, max_tokens))
        indexer.flush()
    return indexer.summary


def forget(path: Path, what: Path, *, say: Say = lambda _: None) -> int:
    """Remove a root with its documents, or the documents at or below a path; returns how many were removed.

    A path inside a root is also kept from coming back, until it is indexed by name again.
    """
    named = [Path(sources.to_os(text)) for text in sources.typed(str(what))]
    absolute = [Path(os.path.abspath(name)) for name in named]  # noqa: PTH100 - resolve() would follow links, and it may be gone
    spellings = tuple(dict.fromkeys((*absolute, *map(_resolved, absolute))))
    with _open(path, say, create=False) as connection, connections.writing(connection):
        roots = [(row[0], Path(sources.to_os(row[1]))) for row in connection.execute("SELECT id, path FROM _roots")]
        inside = [root for root, place in roots if any(place.is_relative_to(full) for full in spellings)]
        if inside:
            removed = 0
            for root in inside:
                removed += _remove(connection, "root = ?", (root,))
                connection.execute("DELETE FROM _roots WHERE id = ?", (root,))
            return removed
        return _forget_inside(connection, what, spellings, roots)


def rebuild(
    path: Path,
    places: Sequence[Path],
    embedder: Embedder,
    *,
    report: Report = _quiet,
    say: Say = lambda _: None,
) -> Summary:
    """Make the library anew from its roots and `places`: into a new file beside it, swapped in when it is complete.

    A library that can still be read is overwritten in one transaction: readers that have it open see the old or the new state;
    a damaged one is set aside under another name. Raises SourceError when no root is known and none is given.
    """
    connections.is_there(path)
    with connections.index_lock(path, say):
        with faults.translated(path):
            roots = _known_roots(path)
        fresh = _beside(path)
        _remove_file(fresh)
        try:
            with closing(connections.open_for_writing(fresh)) as connection, faults.translated(fresh):
                max_tokens = _agree(connection, embedder, fresh)
                indexer = Indexer(connection, embedder, max_tokens=max_tokens, report=report)
                jobs = [(_keep(connection, root), "") for root in roots]
                jobs += [_job(connection, place, _KEEP) for place in places]
                if not jobs:
                    raise SourceError(f"it is not known which folders {path} follows", "archivist index --rebuild DIR")
                for root, below in jobs:
                    indexer.index_root(root, below=below)
                connections.checkpoint(connection)
            with faults.translated(path):
                _swap_in(fresh, path, say)
        finally:
            _remove_file(fresh)
    return indexer.summary


def _nothing_removed(error: SourceError) -> SourceError:
    """A place that cannot be read is not an empty one: what the library holds of it stays, and that is said."""
    return SourceError(f"{error}; nothing of it was removed", error.hint)


@contextmanager
def _open(path: Path, say: Say, *, create: bool = True, dry_run: bool = False) -> Iterator[sqlite3.Connection]:
    """The library, locked against other indexers and open for writing; folded into one file again at the end."""
    there = connections.is_there(path)
    if dry_run and not there:
        with TemporaryDirectory() as folder, closing(connections.open_for_writing(Path(folder) / path.name)) as connection:
            yield connection
        return
    if not create and not there:
        raise LibraryError(f"there is no library at {path}", "archivist index DIR makes one")
    with connections.index_lock(path, say), faults.translated(path):
        if dry_run:
            with closing(connections.open_for_reading(path)) as connection:
                connection.execute("PRAGMA query_only = OFF")  # it would forbid temporary tables, too
                yield connection
            return
        _remove_file(_beside(path))
        with closing(connections.open_for_writing(path)) as connection:
            yield connection
            connections.checkpoint(connection)


def _agree(connection: sqlite3.Connection, embedder: Embedder, path: Path, *, dry_run: bool = False) -> int:
    """Check model and chunking against what the library was made with, or record them in a new one. Returns the token limit."""
    identity = asdict(embedder.identity)
    max_tokens = min(MAX_TOKENS, embedder.max_tokens)
    chunking = {"version": CHUNKING_VERSION, "max_tokens": max_tokens}
    known, cut = store.get_meta(connection, "embedder"), store.get_meta(connection, "chunking")
    if known is not None:
        store.check_identity(known, identity, path)
    if cut is not None and cut != chunking:
        raise LibraryError(f"{path} was cut into passages as {cut}, this Archivist does it as {chunking}", REBUILD)
    if known is None and not dry_run:
        with connections.writing(connection):
            store.set_meta(connection, "embedder", identity)
            store.set_meta(connection, "chunking", chunking)
    return max_tokens


def _job(connection: sqlite3.Connection, place: Path, rules: Rules, *, dry_run: bool = False) -> tuple[Root, str]:
    """The root that a place belongs to, stored when new, and the part of it that is meant ("" for all)."""
    folder, name = sources.locate(place)
    for root in _roots(connection):
        if root.whole and folder.is_relative_to(root.path) and (folder != root.path or name is not None):
            if rules != _KEEP:
                message = f"{place} lies in {root.path}, and --include, --exclude and --max-size are kept for the whole of it"
                raise SourceError(message, f"archivist index {root.path} with these options")
            planned, below = root, sources.to_text((folder / (name or "")).relative_to(root.path).as_posix())
            break
    else:
        planned, below = _planned(connection, folder, whole=name is None, rules=rules), sources.to_text(name or "")
    if below:
        planned = _taken_up(planned, below, named=name is not None)
    return planned if dry_run else _keep(connection, planned), below


def _planned(connection: sqlite3.Connection, path: Path, *, whole: bool, rules: Rules) -> Root:
    """The root at a path as it will be: what is known of it, the rules given, and the wishes of the roots it takes over."""
    known = next((root for root in _roots(connection) if root.path == path), Root(0, path, whole))
    given = {name: value for name, value in asdict(rules).items() if value is not None}
    root = replace(known, whole=known.whole or whole, **given)
    inner = [other for other in _roots(connection) if other.path != path and other.path.is_relative_to(path)] if root.whole else []
    for other in inner:
        below = sources.to_text(other.path.relative_to(path).as_posix())
        root = replace(
            root,
            named=_joined(root.named, (f"{below}/{name}" for name in other.named)),
            exclude=_joined(root.exclude, (_glob_below(below, glob) for glob in other.exclude)),
            forgotten=_joined(root.forgotten, (f"{below}/{name}" for name in other.forgotten)),
        )
    return root


def _joined(some: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *more)))


def _glob_below(folder: str, glob: str) -> str:
    """A glob of a root as a glob of a root above it: one without "/" matches anywhere, one with "/" from its root on."""
    anywhere = "/" not in glob.rstrip("/")
    return f"{sources.exact_glob(folder)}/{'**/' if anywhere else ''}{glob.removeprefix('./').removeprefix('/')}"


def _keep(connection: sqlite3.Connection, root: Root) -> Root:
    """Store a root, in place of what is known of it."""
    lists = {name: json.dumps(getattr(root, name)) for name in ("named", "include", "exclude", "forgotten")}
    values = {"path": sources.to_text(str(root.path)), "whole": root.whole, **lists, "max_bytes": root.max_bytes}
    updates = ", ".join(f"{name} = excluded.{name}" for name in values)
    with connections.writing(connection):
        connection.execute(
            f"INSERT INTO _roots({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "
            f"ON CONFLICT(path) DO UPDATE SET {updates}",
            tuple(values.values()),
        )
    return _read_root(connection, sources.to_text(str(root.path)))


def _read_root(connection: sqlite3.Connection, stored: str) -> Root:
    return _root(connection.execute(f"{_SELECT_ROOTS} WHERE path = ?", (stored,)).fetchone())


def _roots(connection: sqlite3.Connection) -> list[Root]:
    return [_root(row) for row in connection.execute(f"{_SELECT_ROOTS} ORDER BY path")]


def _root(row: Sequence[Any]) -> Root:
    identifier, path, whole, *lists, max_bytes = row
    named, include, exclude, forgotten = (tuple(json.loads(column)) for column in lists)
    return Root(identifier, Path(sources.to_os(path)), bool(whole), named, include, exclude, forgotten, max_bytes)


def _taken_up(root: Root, below: str, *, named: bool) -> Root:
    """The root with a file that is indexed by name, and with a place that was forgotten before let in again."""
    forgotten = tuple(place for place in root.forgotten if place != below)
    above = next((place for place in forgotten if below.startswith(f"{place}/")), None)
    if above is not None and not named:
        again = root.path / sources.to_os(above)
        raise SourceError(f"{root.path / sources.to_os(below)} lies in {again}, which was forgotten", f"archivist index {again}")
    return replace(root, forgotten=forgotten, named=tuple(sorted({*root.named, below})) if named else root.named)


def _forget_inside(connection: sqlite3.Connection, what: Path, spellings: Sequence[Path], roots: Sequence[tuple[int, Path]]) -> int:
    for root, place in roots:
        for spelling in spellings:
            if not spelling.is_relative_to(place):
                continue
            below = sources.to_text(spelling.relative_to(place).as_posix())
            condition = "root = ? AND (path = ? OR substr(path, 1, length(?) + 1) = ? || '/')"
            removed = _remove(connection, condition, (root, below, below, below))
            if removed:
                _keep_out(connection, root, below)
                return removed
    try:
        document = find_document(connection, str(what))
    except NotFoundError:
        removed = _forget_folder(connection, what, roots)
        if removed:
            return removed
        raise
    root = connection.execute("SELECT root FROM documents WHERE id = ?", (document.id,)).fetchone()[0]
    _keep_out(connection, root, document.path)
    return _remove(connection, "id = ?", (document.id,))


def _forget_folder(connection: sqlite3.Connection, what: Path, roots: Sequence[tuple[int, Path]]) -> int:
    """Remove the documents below a folder that is named from its root on; 0 where no root has it."""
    condition = "root = ? AND substr(path, 1, length(?) + 1) = ? || '/'"
    having = f"SELECT 1 FROM documents WHERE {condition} LIMIT 1"
    for below in sources.typed(what.as_posix()):
        found = [(root, place) for root, place in roots if connection.execute(having, (root, below, below)).fetchone()]
        if len(found) > 1:
            listed = ", ".join(str(place / sources.to_os(below)) for _, place in found[:5])
            raise QueryError(f"{below!r} fits {len(found)} folders: {listed}", "give one of these paths, from / on")
        if found:
            _keep_out(connection, found[0][0], below)
            return _remove(connection, condition, (found[0][0], below, below))
    return 0


def _keep_out(connection: sqlite3.Connection, root: int, below: str) -> None:
    forgotten, named = connection.execute("SELECT forgotten, named FROM _roots WHERE id = ?", (root,)).fetchone()
    kept = [name for name in json.loads(named) if name != below and not name.startswith(f"{below}/")]
    connection.execute(
        "UPDATE _roots SET forgotten = ?, named = ? WHERE id = ?",
        (json.dumps([*json.loads(forgotten), below]), json.dumps(kept), root),
    )


def _remove(connection: sqlite3.Connection, condition: str, parameters: Sequence[object]) -> int:
    ids = [row[0] for row in connection.execute(f"SELECT id FROM documents WHERE {condition}", tuple(parameters))]
    store.remove_documents(connection, ids)
    store.drop_lost_keys(connection)
    return len(ids)


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve() raises where links lead in a circle


def _known_roots(path: Path) -> list[Root]:
    """The roots that a library knows, as far as they can still be read from it. Raises LibraryError for what is no library."""
    if not path.exists():
        return []
    try:
        # mode=rw: a connection that may only read would leave its -wal and -shm files behind.
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as connection:
            if schema.version(connection) is None and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise LibraryError(f"{path} is not an Archivist library", "name another file with --library")
            roots = _roots(connection)
    except sqlite3.DatabaseError as error:
        if not faults.tells_of_damage(error):
            raise
        return []  # too damaged to tell: the caller then asks for the folders
    texts = next((root.path for root in roots if not root.path.is_absolute()), None)
    if texts is not None:
        message = f"{path} holds texts that a program added as {str(texts)!r}: they cannot be read anew from files"
        raise LibraryError(message, "have that program add them to a new library file")
    return roots


def _swap_in(fresh: Path, path: Path, say: Say) -> None:
    if not path.exists():
        fresh.replace(path)
        return
    try:
        with closing(connections.open_for_replacing(path)) as old, closing(sqlite3.connect(fresh)) as new:
            new.backup(old)
            connections.checkpoint(old)
        return
    except sqlite3.DatabaseError as error:
        if not faults.tells_of_damage(error):
            raise
        aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}")
        say(f"{path} is damaged and was set aside as {aside.name}")
    for end in ("-wal", "-shm"):
        journal = path.with_name(path.name + end)
        if journal.exists():
            journal.replace(aside.with_name(aside.name + end))
    path.replace(aside)
    fresh.replace(path)


def _beside(path: Path) -> Path:
    """Where a library is made anew; what a killed run has left there goes with the next one."""
    return path.with_name(path.name + ".rebuild")


def _remove_file(path: Path) -> None:
    for end in ("", "-wal", "-shm", ".lock"):
        path.with_name(path.name + end).unlink(missing_ok=True)


__all__ = ["Rules", "add_texts", "forget", "index", "rebuild"]
