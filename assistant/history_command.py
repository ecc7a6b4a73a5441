"""`archivist history`: the kept conversations, listed, searched, shown, named, exported and deleted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from assistant import answer_view, render, settings
from assistant.errors import UsageError, UserError
from assistant.history import History, Kept, Session, export, place
from assistant.history.searching import units
from search.counting import counted

_UNITS = {"d": 1, "w": 7, "m": 30, "y": 365}
_LISTED = 5
_LONGEST_AGE = 36500  # days


def show_list(library: Path | None, limit: int, *, as_json: bool) -> None:
    """List the conversations, the last ones in front."""
    found: list[Session] = []
    if place().exists():
        with History.open() as history:
            found = history.sessions(limit, library)
    if as_json:
        render.out().write(render.as_json({"conversations": [_object(session) for session in found]}))
    elif found:
        _write_list(found)
    else:
        render.err().write('no conversation is kept; archivist ask "how do we rotate keys?" begins one')


def search(text: str, library: Path | None, limit: int, *, as_json: bool) -> None:
    """List the turns that have all words of a text, the newest first."""
    words = units(text)
    with _history() as history:
        found = history.search(text, limit, library)
    out = render.out()
    if as_json:
        rows = [{**_object(one.session), **{n: v for n, v in asdict(one).items() if n != "session"}} for one in found]
        out.write(settings.redact(render.as_json({"turns": rows})))
        return
    if not found:
        render.err().write(render.one_line(f"no kept turn has {' and '.join(words)}"))
    for one in found:
        name = f"  {one.session.name}" if one.session.name else ""
        out.write(out.style(render.one_line(f"{one.session.id}{name}"), "1") + f"  turn {one.number}, {export.moment(one.at)}")
        out.write(f"  {render.mark(render.cut(render.one_line(one.question), out.width - 2), words, out)}")
        for line in render.snippet(one.answer, words, out.width - 2):
            out.write(f"  {render.mark(line, words, out)}")


def show(which: str, *, as_json: bool) -> None:
    """Show a conversation: each question with its answer, its sources, and how it came to be."""
    kept = _loaded(which)
    out = render.out()
    if as_json:
        told = {**_object(kept.session), "turns": [dict(one.record) for one in kept.turns]}
        out.write(settings.redact(render.as_json(told)))
        return
    for one in kept.turns:
        out.write(out.style(f"> {render.one_line(one.turn.question)}", "1"))
        out.write()
        answer_view.Answer(out, live=False).finish(one.turn)
        answer_view.footer(one.turn, out)
        out.write(out.style(export.moment(one.turn.at), "2"))
        out.write()


def name(which: str, given: str) -> None:
    """Give a conversation a name."""
    with _history() as history:
        session = history.find(which)
        named = history.rename(session.id, given)
    render.err().write(render.one_line(f"conversation {session.id} is named {named}"))


def write_export(which: str, form: str, output: Path | None, *, force: bool) -> None:
    """Write a conversation as Markdown or JSON lines, to standard output or to a file."""
    kept = _loaded(which)
    text = export.markdown(kept) if form == "markdown" else "".join(f"{line}\n" for line in export.jsonl(kept))
    if output is None:
        for line in text.removesuffix("\n").split("\n"):
            render.out().write(line)
        return
    shown = render.quoted_path(output)
    try:
        if force and output.exists():
            settings.write_private(output, text)
        else:
            settings.write_new(output, text)
    except FileExistsError:
        raise UserError(f"{shown} is there already", "--force writes over it") from None
    except OSError as error:
        raise UserError(
            f"{shown} cannot be written: {error.strerror}", "name a file in a folder that is there and yours"
        ) from error
    render.err().write(f"{counted(len(kept.turns), 'turn')} written to {shown}")


def delete(which: Sequence[str], older_than: str | None, *, yes: bool) -> None:
    """Delete conversations that are named, or those that nobody has gone on with for long; asks before on a terminal."""
    if bool(which) == (older_than is not None):
        raise UsageError("give the ids or names of conversations, or --older-than", "archivist history delete --older-than 90d")
    days = _days(older_than) if older_than is not None else 0
    with _history() as history:
        found = history.older(days) if older_than is not None else [history.find(one) for one in which]
        found = list({session.id: session for session in found}.values())
        if not found:
            render.err().write(f"no conversation is older than {older_than}")
            return
        if not yes and not _confirmed(found):
            render.err().write("nothing was deleted")
            return
        emptied = history.delete(session.id for session in found)
    notes = render.err()
    notes.write(f"{counted(len(found), 'conversation')} deleted")
    if not emptied:
        log = f"{place()}-wal"
        notes.write(render.one_line(f"another program is using the file: {log} may hold what was deleted until it has ended"))


def _confirmed(found: Sequence[Session]) -> bool:
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise UsageError(
            f"{counted(len(found), 'conversation')} would be deleted, and nobody can be asked", "--yes deletes without asking"
        )
    notes = render.err()
    for session in found[:_LISTED]:
        notes.write(render.cut(render.one_line(f"{session.id}  {export.moment(session.last)}  {session.title}"), notes.width))
    if len(found) > _LISTED:
        notes.write(f"and {len(found) - _LISTED} more")
    return click.confirm(f"delete {counted(len(found), 'conversation')}?", err=True)


def _days(text: str) -> int:
    """A stretch of time such as 30d, 4w, 6m or 1y in days. Raises UsageError."""
    number, unit = text[:-1].strip(), text[-1:].lower()
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) < 6 and int(number) * _UNITS[unit] <= _LONGEST_AGE:
        return int(number) * _UNITS[unit]
    raise UsageError(
        f"--older-than: got {text!r}, want a number of days, weeks, months or years up to 100 years", "30d, 4w, 6m, 1y"
    )


def _history() -> History:
    """The file. Raises UserError when there is none: looking into it does not make one."""
    if not place().exists():
        raise UserError("no conversation is kept yet", 'archivist ask "how do we rotate keys?" begins one')
    return History.open()


def _loaded(which: str) -> Kept:
    with _history() as history:
        return history.load(history.find(which).id)


def _write_list(found: Sequence[Session]) -> None:
    out = render.out()
    rows = [("id", "last", "turns", "model", "library", "name or first question")]
    rows += [
        (str(one.id), export.moment(one.last), str(one.turns), one.model, one.library.stem, f"{one.name}: {one.first_question}")
        if one.name
        else (str(one.id), export.moment(one.last), str(one.turns), one.model, one.library.stem, one.first_question)
        for one in found
    ]
    cells = [[render.one_line(cell) for cell in row] for row in rows]
    widths = [max(render.columns(row[column]) for row in cells) for column in range(5)]
    for number, row in enumerate(cells):
        fixed = "  ".join(cell + " " * (width - render.columns(cell)) for cell, width in zip(row, widths, strict=False))
        line = render.cut(f"{fixed}  {row[-1]}", out.width) if out.interactive else f"{fixed}  {row[-1]}"
        out.write(out.style(line, "2") if number == 0 else line)


def _object(session: Session) -> dict[str, Any]:
    return {**asdict(session), "library": str(session.library), "base_url": session.base_url or None}


__all__ = ["delete", "name", "search", "show", "show_list", "write_export"]
