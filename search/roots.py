"""The folders that a library follows, and what is to be indexed of each.

In: a root as it is stored. Out: the files and the passed-over places below it, one at a time; `search.sources` walks the folder.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from search import sources
from search.errors import SourceError
from search.sources import Skipped, SourceFile


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that the library follows: the whole of it, or only the files named; id 0 while it is not stored.

    named: paths below it, taken in any case. forgotten: paths below it, left out with all that they hold.
    """

    id: int
    path: Path
    whole: bool
    named: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    max_bytes: int = sources.MAX_BYTES


def walk_root(root: Root, below: str) -> Iterator[SourceFile | Skipped]:
    """What a root's rules let through, and the files that were named, each once; `below` narrows it to a part of the root."""
    if sources.locate(root.path)[1] is not None:
        raise SourceError(f"{sources.to_text(str(root.path))} is no folder any more", "archivist forget DIR removes its documents")
    if root.whole:
        exclude = (*root.exclude, *map(sources.exact_glob, root.forgotten))
        for each in sources.walk(root.path, include=root.include, exclude=exclude, max_bytes=root.max_bytes):
            if each.path not in root.named and _is_below(each.path, below):
                yield each
    for name in root.named:
        if _is_below(name, below):
            yield from _named(root, name)


def _named(root: Root, name: str) -> Iterator[SourceFile | Skipped]:
    """A file that was named, unless it is gone."""
    full = root.path / sources.to_os(name)
    try:
        regular = stat.S_ISREG(full.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Skipped(name, f"cannot be read: {error.strerror}", blind=True)
        return
    if regular:
        for each in sources.walk(full, max_bytes=root.max_bytes):
            yield replace(each, path=name)


def _is_below(path: str, below: str) -> bool:
    return not below or path == below or path.startswith(f"{below}/")


def roots_below(db: sqlite3.Connection, root: Root) -> list[int]:
    """The roots that lie inside a root which follows its whole folder: their documents are moved into it."""
    if not root.whole:
        return []
    rows = db.execute("SELECT id, path FROM _roots WHERE id <> ?", (root.id,)).fetchall()
    return [other for other, path in rows if Path(sources.to_os(path)).is_relative_to(root.path)]
