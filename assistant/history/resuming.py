"""Going on with a kept conversation, honestly: what of it the library has no more, or has otherwise, is marked and said."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from assistant import render, settings
from assistant.errors import UsageError, UserError
from assistant.history import file
from assistant.history.models import Kept, Session
from assistant.history.store import History
from assistant.tools import Evidence
from assistant.turn import Snapshot
from search import Library, NotFoundError
from search.counting import counted

CHANGED = "its text has changed"
GONE = "removed from the library"
_NAMED = 5


def meant(which: str | None, library: Path | None, usual: Path) -> Session:
    """The conversation to go on with: by id or name, else the last one of the library. library: as given, None for the usual one.

    Raises HistoryError when there is none, UsageError for one about another library than the one given.
    """
    if not file.place().exists():
        raise UserError("no conversation is kept yet", 'archivist ask "how do we rotate keys?" begins one')
    with History.open() as history:
        if which is not None:
            session = history.find(which)
            if library is not None and settings.at_home(library).resolve() != session.library:
                raise UsageError(
                    f"conversation {session.id} is about {session.library}, not {library}", f"--library {session.library}"
                )
            return session
        found = history.sessions(1, library or usual)
    if not found:
        raise UserError(f"no conversation about {library or usual} is kept yet", "archivist history lists those about others")
    return found[0]


def opened(library: Library, kept: Kept) -> tuple[Snapshot, tuple[str, ...]]:
    """What to restore of a conversation, and what the person should know: how far it is, and what has changed in the library.

    Passages that moved stand where they are now; those whose text is not in the library any more say so wherever they are cited.
    """
    with library.snapshot():
        evidence = tuple(_as_now(library, one) for one in kept.snapshot.evidence)
        indexed = library.coverage().indexed_at
    session = kept.session
    named = f' "{session.name}"' if session.name else ""
    told = [
        f"going on with conversation {session.id}{named}: {counted(len(kept.turns), 'turn')}, the last {render.age(session.last)}"
    ]
    told += _differences(session.id, evidence)
    if indexed and indexed > session.last and any(not one.is_passage for one in evidence):
        told.append(f"the library was indexed {render.age(indexed)}: results of queries in this conversation are older than that")
    return replace(kept.snapshot, evidence=evidence), tuple(told)


def _differences(session_id: int, evidence: tuple[Evidence, ...]) -> list[str]:
    """What of the passages of a conversation the library has no more."""
    told = []
    for state, words in ((CHANGED, "have another text now"), (GONE, "are not in the library any more")):
        paths = Counter(one.path for one in evidence if one.stale == state)
        if not paths:
            continue
        listed = ", ".join([*paths][:_NAMED]) + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")
        told.append(f"{counted(paths.total(), 'passage')} of this conversation {_agreeing(words, paths.total())}: {listed}")
        if state == GONE:
            told.append(f"the conversation itself still holds their text; archivist history delete {session_id} removes it")
    return told


def _agreeing(words: str, count: int) -> str:
    return words.replace("have", "has", 1).replace("are", "is", 1) if count == 1 else words


def _as_now(library: Library, one: Evidence) -> Evidence:
    """A passage as the library has it now, by its key, which is made of its path and its text."""
    if not one.is_passage:
        return one
    try:
        document, passage, _ = library.passage(one.key)
    except UserError:
        return replace(one, stale=CHANGED if _is_there(library, one) else GONE)
    return replace(
        one,
        path=document.path,
        root=document.root,
        page=passage.page,
        first_line=passage.first_line,
        last_line=passage.last_line,
        stale=library.stale(document),
    )


def _is_there(library: Library, one: Evidence) -> bool:
    """Whether the document of a passage is still in the library."""
    try:
        library.document(f"{one.root.rstrip('/')}/{one.path}")
    except NotFoundError:
        return False
    return True


__all__ = ["CHANGED", "GONE", "meant", "opened"]
