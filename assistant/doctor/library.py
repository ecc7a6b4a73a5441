"""The library: whether it is there, sound, complete and up to date."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from assistant import render
from assistant.doctor.machine import megabytes
from assistant.doctor.models import Check, Named, Scene, State
from search import connections, health
from search.counting import counted
from search.errors import LibraryError
from search.health import Examination

_OLD_DAYS = 30
_SHOWN = 3
_MANY_WITHOUT_TEXT = 0.2


def checks(scene: Scene) -> Iterator[Named]:
    """Of a library that cannot be opened only that, else everything."""
    try:
        there = connections.is_there(scene.library)
        if not there:
            yield "file", lambda: _missing(scene)
            return
        with health.examine(scene.library) as found:
            yield "file", partial(_file, found)
            for name, ask in _CHECKS:
                yield name, partial(ask, found, scene)
    except LibraryError as error:
        damaged = Check("file", "failed", str(error), _mend(scene, error))
        yield "file", lambda: damaged


def _missing(scene: Scene) -> Check:
    state: State = "failed" if scene.named else "warning"
    return Check("file", state, f"there is no library at {scene.library} yet", scene.command("index ~/notes"))


def _mend(scene: Scene, error: LibraryError) -> str:
    """The command for a file that cannot be opened: an older library is brought up to date, a newer one wants a newer program."""
    if "older schema" in str(error):
        return scene.command("index")
    if "damaged" in str(error):
        return scene.command("index --rebuild ~/notes")
    return error.hint


def _file(found: Examination) -> Check:
    now, known = found.status, found.coverage
    held = f"{counted(known.documents, 'document')}, {counted(known.passages, 'passage')}, {counted(now.tables, 'table')}"
    return Check("file", "ok", f"{held}, {megabytes(now.size)}, schema {now.schema_version}")


def _integrity(found: Examination, scene: Scene) -> Check:
    damage = found.damage()
    if damage:
        return Check("integrity", "failed", f"SQLite finds damage: {'; '.join(damage)}", _rebuild(found, scene))
    dangling = found.dangling()
    if dangling:
        return Check("integrity", "failed", f"{counted(dangling, 'row')} without what they belong to", _rebuild(found, scene))
    return Check("integrity", "ok", "nothing is damaged, every row belongs to something")


def _keywords(found: Examination, scene: Scene) -> Check:
    index = found.keyword_index()
    if index.agrees:
        return Check("keyword index", "ok", "holds every passage")
    parts = [
        f"lacks {counted(index.lacking, 'passage')}" if index.lacking else "",
        f"still holds {counted(index.left_over, 'passage')} that are gone" if index.left_over else "",
        f"does not find {counted(index.unfound, 'passage')} by their own words" if index.unfound else "",
    ]
    return Check("keyword index", "failed", "; ".join(part for part in parts if part), _rebuild(found, scene))


def _vectors(found: Examination, scene: Scene) -> Check:
    known, wrong = found.coverage, found.foreign_vectors()
    if wrong:
        return Check("embeddings", "failed", f"{counted(wrong, 'vector')} of another size", _rebuild(found, scene))
    missing = known.passages - known.embedded
    if missing:
        fix = scene.command("index")
        return Check("embeddings", "warning", f"{counted(missing, 'passage')} of {known.passages} without one", fix)
    return Check("embeddings", "ok", f"every passage has one, made with {found.status.model or 'no model yet'}")


def _age(found: Examination, scene: Scene) -> Check:
    moment = found.coverage.indexed_at
    if moment is None:
        return Check("age", "warning", "nothing was indexed yet", scene.command("index ~/notes"))
    days = (datetime.now(UTC) - datetime.fromisoformat(moment)).days
    return Check("age", "warning" if days > _OLD_DAYS else "ok", f"indexed {render.age(moment)}", scene.command("index"))


def _roots(found: Examination, scene: Scene) -> Check:
    lost = found.lost_roots()
    if lost:
        finding = f"{counted(len(lost), 'folder')} of {len(found.status.roots)} not there: {_some(lost)}"
        fix = scene.command(f"forget {shlex.quote(render.one_line(lost[0]))}")
        return Check("folders", "warning", finding, f"{fix}  # or connect its drive")
    count = len(found.status.roots)
    return Check("folders", "ok" if count else "warning", f"{counted(count, 'folder')} followed", scene.command("index ~/notes"))


def _texts(found: Examination, scene: Scene) -> Check:
    known, failed = found.coverage, found.unreadable()
    if not known.without_text:
        return Check("text", "ok", "every file gave text")
    finding = f"{known.without_text} of {counted(known.documents, 'file')} gave no text"
    finding += f", {failed} could not be read" if failed else ""
    many = failed or known.without_text > _MANY_WITHOUT_TEXT * known.documents
    return Check("text", "warning" if many else "ok", finding, scene.command("status"))


def _changes(found: Examination, scene: Scene) -> Check:
    standing = found.standing()
    if not (standing.changed or standing.gone):
        return Check("changes", "ok", f"none in {counted(standing.looked_at, 'file')}; new ones are not looked for")
    parts = [f"{len(standing.changed)} changed ({_some(standing.changed)})"] if standing.changed else []
    parts += [f"{len(standing.gone)} gone ({_some(standing.gone)})"] if standing.gone else []
    return Check("changes", "warning", f"{' and '.join(parts)} since they were indexed", scene.command("index"))


_CHECKS = (
    ("integrity", _integrity),
    ("keyword index", _keywords),
    ("embeddings", _vectors),
    ("age", _age),
    ("folders", _roots),
    ("text", _texts),
    ("changes", _changes),
)


def _rebuild(found: Examination, scene: Scene) -> str:
    """The command that makes the library anew from the folders that it follows."""
    try:
        lost = set(found.lost_roots())
        there = [root.path for root in found.status.roots if root.path not in lost]
    except LibraryError:
        there = []  # the damage reaches so far that it does not even tell its folders
    return scene.command(" ".join(["index --rebuild", *(shlex.quote(render.one_line(path)) for path in there or ["~/notes"])]))


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(render.one_line(name) for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


__all__ = ["checks"]
