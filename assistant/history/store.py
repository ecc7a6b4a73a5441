"""History: the file of kept conversations. A turn is written in one transaction, with its messages and all that it may cite.

    with History.open() as history:
        for session in history.sessions(10):
            print(session.id, session.title)
        kept = history.load(history.find("gateway").id)
        conversation.restore(kept.snapshot)

Several programs may work on the file. A conversation that another one has changed meanwhile is not written over: it goes on under
a new id. One that was deleted meanwhile is not kept any more.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assistant import settings
from assistant.cleaning import clean
from assistant.conversation import Snapshot, Turn
from assistant.errors import HistoryError, UsageError
from assistant.history import file, records, searching, serial
from assistant.history.models import FoundTurn, Kept, KeptTurn, Session
from assistant.history.serial import Said
from assistant.wording import nearest
from search import Filters, dates
from search.folding import folded
from search.sources import to_os, to_text

LONGEST_NAME = 80
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
_TURN = "place, at, model, question, answer, words, filters, record"
_COLUMNS = """s.id, s.name, s.library, s.model, s.base_url, s.started, s.last,
    (SELECT count(*) FROM turns c WHERE c.session = s.id),
    (SELECT c.question FROM turns c WHERE c.session = s.id ORDER BY c.id LIMIT 1)"""


@dataclass(frozen=True, slots=True)
class _Known:
    """What of a conversation is in the file, as far as this program knows. newest: the highest id of its turns."""

    revision: int = 0
    newest: int = 0
    said: tuple[Said, ...] = ()
    items: tuple[str, ...] = ()  # evidence as it was written


class History:
    """The open file; a context that closes it. Its methods raise HistoryError where the file fails them."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._libraries: dict[int, Path] = {}
        self._names: dict[int, str] = {}  # of conversations without a turn
        self._known: dict[int, _Known] = {}

    @classmethod
    def open(cls, path: Path | None = None) -> Self:
        """Open the file, the usual one when none is named; it is made where there is none."""
        path = path or file.place()
        return cls(path, file.opened(path))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # Keeping

    def begin(self, library: Path, name: str | None = None) -> int:
        """The id of a new conversation, which is in the file as soon as it has a turn. Raises UsageError for a name in use."""
        named = self._checked_name(name, None) if name else ""
        with file.writing(self._connection, self.path):
            new = self._next_id()
        self._libraries[new], self._names[new] = library, named
        return new

    def add(
        self,
        session_id: int,
        turn: Turn,
        snapshot: Snapshot,
        filters: Filters,
        *,
        today: date | None = None,
        base_url: str = "",
    ) -> int:
        """Keep a turn that was just answered. snapshot: of its conversation, this turn included; what it does not have any more
        of what is kept, because it was taken back, is removed.

        Returns the id under which the conversation is kept from now on: another than before when another program has gone on with
        it meanwhile. Raises HistoryError when it was deleted meanwhile, ValueError when it was neither begun nor loaded here.
        """
        said = serial.turns_of(snapshot)
        items = tuple(settings.redact(serial.evidence_as_json(one)) for one in snapshot.evidence)
        asked = [one.question for one in said[: -1 if said and said[-1].question == turn.question else None]]
        record = records.as_kept(turn, today=today or dates.today(), filters=filters, asked=asked)
        known = self._known.get(session_id, _Known())
        same = _same_turns(known.said, said)
        with file.writing(self._connection, self.path):
            kept = self._place(session_id, known, same, turn)
            if kept == session_id:
                self._connection.execute("DELETE FROM turns WHERE session = ? AND place > ?", (kept, same))
            else:
                known, same = _Known(), 0
            self._write_said(kept, said, same)
            self._write_items(kept, items, _same_items(known.items, items))
            newest = self._insert_turn(kept, len(said), turn, filters, record)
            sql = "UPDATE sessions SET model = ?, base_url = ?, last = ?, revision = revision + 1 WHERE id = ? RETURNING revision"
            about = (settings.redact(turn.model), settings.redact(base_url))
            revision = self._connection.execute(sql, (*about, _utc(turn.at), kept)).fetchone()[0]
        self._libraries[kept] = self._libraries[session_id]
        self._known[kept] = _Known(revision, newest, said, items)
        return kept

    # Finding

    def sessions(self, limit: int = 20, library: Path | None = None) -> list[Session]:
        """The conversations, of one library or of all, those that were gone on with last in front."""
        where, parameters = ("WHERE s.library = ?", (_library(library),)) if library else ("", ())
        newest = "(SELECT max(c.id) FROM turns c WHERE c.session = s.id)"
        sql = f"SELECT {_COLUMNS} FROM sessions s {where} ORDER BY {newest} DESC LIMIT ?"
        return [self._session(row) for row in self._rows(sql, (*parameters, limit))]

    def older(self, days: int) -> list[Session]:
        """The conversations that nobody has gone on with for so many days, the oldest first."""
        before = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
        return [
            self._session(row)
            for row in self._rows(f"SELECT {_COLUMNS} FROM sessions s WHERE s.last < ? ORDER BY s.last, s.id", (before,))
        ]

    def search(self, text: str, limit: int = 20, library: Path | None = None) -> list[FoundTurn]:
        """The turns whose question or answer has all words of a text, the newest first. Raises UsageError for an empty text."""
        test, parameters = searching.condition(searching.units(text))
        if library is not None:
            test, parameters = f"s.library = ? AND {test}", (_library(library), *parameters)
        number = "(SELECT count(*) FROM turns c WHERE c.session = t.session AND c.id <= t.id)"
        rows = self._rows(
            f"SELECT {_COLUMNS}, {number}, t.question, t.answer, t.model, t.at "
            f"FROM turns t JOIN sessions s ON s.id = t.session WHERE {test} ORDER BY t.id DESC LIMIT ?",
            (*parameters, limit),
        )
        return [FoundTurn(self._session(row[:-5]), *row[-5:]) for row in rows]

    def find(self, which: str) -> Session:
        """The conversation with an id, a name or the beginning of a name. Raises HistoryError, which names the nearest."""
        wish = folded(clean(which).strip())  # as names are kept; what a shell could not decode is in none of them
        if wish.isascii() and wish.isdigit():
            rows = self._rows(
                f"SELECT {_COLUMNS} FROM sessions s WHERE s.id = ?", (min(int(wish.lstrip("0")[:19] or 0), 2**63 - 1),)
            )
        else:
            rows = self._rows(f"SELECT {_COLUMNS} FROM sessions s WHERE s.folded_name = ?", (wish,))
            begins = "substr(s.folded_name, 1, length(?1)) = ?1 AND ?1 != ''"
            rows = rows or self._rows(f"SELECT {_COLUMNS} FROM sessions s WHERE {begins} ORDER BY s.id", (wish,))
        if len(rows) == 1:
            return self._session(rows[0])
        if rows:
            listed = ", ".join(f"{row[1]} ({row[0]})" for row in rows[:5])
            raise HistoryError(
                f"{len(rows)} names of conversations begin with {which!r}: {listed}", "type more of the name, or the id"
            )
        names = [name for (name,) in self._rows("SELECT name FROM sessions WHERE name IS NOT NULL")]
        near = nearest(which, names)
        raise HistoryError(
            f"no conversation {which[:LONGEST_NAME]!r}" + (f"; did you mean {near!r}?" if near else ""),
            "archivist history lists their ids and names",
        )

    def narrow(self, session_id: int, filters: Filters) -> None:
        """Keep the person's own filters as they are now, after the last turn. Raises HistoryError."""
        with file.writing(self._connection, self.path):
            self._connection.execute(
                "UPDATE turns SET filters = ? WHERE id = (SELECT max(id) FROM turns WHERE session = ?)",
                (settings.redact(serial.filters_as_json(filters)), session_id),
            )

    def load(self, session_id: int) -> Kept:
        """A whole conversation, to be shown, exported or gone on with. Raises HistoryError when it is not there, or unreadable."""
        with file.translated(self.path):
            self._connection.execute("BEGIN")
            try:
                rows = self._rows(f"SELECT {_COLUMNS}, s.revision FROM sessions s WHERE s.id = ?", (session_id,))
                if not rows:
                    raise HistoryError(f"no conversation {session_id}", "archivist history lists their ids and names")
                of_session = (session_id,)
                said = self._rows("SELECT said FROM messages WHERE session = ? ORDER BY place", of_session)
                items = self._rows("SELECT item FROM evidence WHERE session = ? ORDER BY place", of_session)
                turns = self._rows("SELECT id, filters, record FROM turns WHERE session = ? ORDER BY id", of_session)
            finally:
                self._connection.execute("ROLLBACK")
        session = self._session(rows[0][:-1])
        try:
            spoken = tuple(serial.said_from_json(text) for (text,) in said)
            evidence = tuple(serial.evidence_from_json(text) for (text,) in items)
            by_key = {one.key: one for one in evidence}
            answered = tuple(_kept_turn(n, filters, record, by_key) for n, (_, filters, record) in enumerate(turns, 1))
        except _UNREADABLE as error:
            raise HistoryError(
                f"conversation {session_id} in {self.path} cannot be read ({type(error).__name__}: {error})",
                f"archivist history delete {session_id}",
            ) from error
        self._known[session_id] = _Known(rows[0][-1], max((row[0] for row in turns), default=0), spoken, tuple(i for (i,) in items))
        self._libraries[session_id] = session.library
        return Kept(session, answered, serial.snapshot_of(spoken, evidence))

    def last(self) -> Mapping[str, Any] | None:
        """The record of the turn that was answered last, in whatever conversation; None without any."""
        rows = self._rows("SELECT record FROM turns ORDER BY id DESC LIMIT 1")
        try:
            record = json.loads(rows[0][0]) if rows else None
            if record is not None and not str(record["question"]).strip():
                raise ValueError("no question")
        except _UNREADABLE as error:
            raise HistoryError(f"the last turn in {self.path} cannot be read ({type(error).__name__})", "ask it anew") from error
        return record if isinstance(record, dict) else None

    # Changing

    def rename(self, session_id: int, name: str) -> str:
        """Give a conversation a name, and return it as it is kept. Raises UsageError for one that is in use or is none."""
        named = self._checked_name(name, session_id)
        if session_id in self._names:
            self._names[session_id] = named
        with file.writing(self._connection, self.path):
            self._connection.execute(
                "UPDATE sessions SET name = ?, folded_name = ? WHERE id = ?", (named, folded(named), session_id)
            )
        return named

    def delete(self, ids: Iterable[int]) -> bool:
        """Delete conversations: nothing of them stays in the file, nor in the log beside it.

        Returns whether the log could be emptied: False when another program is using the file just now, with which it goes.
        """
        with file.writing(self._connection, self.path):
            self._connection.executemany("DELETE FROM sessions WHERE id = ?", [(each,) for each in ids])
            # The index would keep the words until it happens to be merged.
            self._connection.execute("INSERT INTO found (found) VALUES ('optimize')")
        with file.translated(self.path):
            try:
                self._connection.execute("VACUUM")
                busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.OperationalError as error:
                if not file.is_busy(error):
                    raise
                busy = True
        return not busy

    def delete_older(self, days: int) -> int:
        """Delete the conversations that nobody has gone on with for so many days, and return how many they were."""
        ids = [session.id for session in self.older(days)]
        self.delete(ids)
        return len(ids)

    # What writes

    def _next_id(self) -> int:
        self._connection.execute("UPDATE counter SET last = last + 1")
        new: int = self._connection.execute("SELECT last FROM counter").fetchone()[0]
        return new

    def _place(self, session_id: int, known: _Known, same: int, turn: Turn) -> int:
        """The id of the row that a turn belongs to; made where there is none yet, or where another program has written to it."""
        row = self._connection.execute("SELECT revision FROM sessions WHERE id = ?", (session_id,)).fetchone()
        if row is not None and row[0] == known.revision:
            return session_id
        if session_id not in self._libraries:
            raise ValueError(f"conversation {session_id} was neither begun nor loaded")
        if known.revision == 0:
            self._insert(session_id, self._libraries[session_id], self._names.get(session_id, ""), turn)
            return session_id
        if row is None:
            raise HistoryError(f"conversation {session_id} was deleted meanwhile", "begin a new one")
        # What this program knows of it and goes on from; the other one keeps the name.
        new = self._next_id()
        self._insert(new, self._libraries[session_id], "", turn)
        self._connection.execute(
            "UPDATE sessions SET started = (SELECT started FROM sessions WHERE id = ?) WHERE id = ?", (session_id, new)
        )
        self._connection.execute(
            f"INSERT INTO turns (session, {_TURN}) SELECT ?, {_TURN} FROM turns "
            "WHERE session = ? AND id <= ? AND place <= ? ORDER BY id",
            (new, session_id, known.newest, same),
        )
        return new

    def _insert(self, session_id: int, library: Path, name: str, turn: Turn) -> None:
        taken = self._rows("SELECT 1 FROM sessions WHERE folded_name = ?", (folded(name),))
        named = (name, folded(name)) if name and not taken else (None, None)
        moment = _utc(turn.at)
        self._connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, '', ?, ?, 0)",
            (session_id, *named, _library(library), settings.redact(turn.model), moment, moment),
        )

    def _write_said(self, session_id: int, said: Sequence[Said], same: int) -> None:
        self._connection.execute("DELETE FROM messages WHERE session = ? AND place > ?", (session_id, same))
        texts = [settings.redact(serial.said_as_json(one)) for one in said[same:]]
        rows = [(session_id, place, text) for place, text in enumerate(texts, same + 1)]
        self._connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)

    def _write_items(self, session_id: int, items: Sequence[str], same: int) -> None:
        self._connection.execute("DELETE FROM evidence WHERE session = ? AND place > ?", (session_id, same))
        rows = [(session_id, place, item) for place, item in enumerate(items[same:], same + 1)]
        self._connection.executemany("INSERT INTO evidence VALUES (?, ?, ?)", rows)

    def _insert_turn(self, session_id: int, place: int, turn: Turn, filters: Filters, record: Mapping[str, Any]) -> int:
        question, answer = (settings.redact(clean(text)) for text in (turn.question, turn.checked.text))
        texts = [settings.redact(text) for text in (serial.filters_as_json(filters), serial.as_text(record))]
        model = settings.redact(turn.model)
        row = (session_id, place, _utc(turn.at), model, question, answer, searching.searchable(question, answer), *texts)
        sql = f"INSERT INTO turns (session, {_TURN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        with closing(self._connection.execute(sql, row)) as cursor:
            return cursor.lastrowid or 0

    def _checked_name(self, name: str, own: int | None) -> str:
        """A name as it is kept. Raises UsageError for one that is in use, is taken for an id, or is too long."""
        named = settings.redact(" ".join(clean(name).split()))
        if not named or len(named) > LONGEST_NAME or named.startswith("-") or (named.isascii() and named.isdigit()):
            raise UsageError(
                f"name: got {named[:LONGEST_NAME]!r}, want 1 to {LONGEST_NAME} characters, not digits alone and no '-' in front"
            )
        for (other,) in self._rows("SELECT id FROM sessions WHERE folded_name = ?", (folded(named),)):
            if other != own:
                raise UsageError(f"name: {named!r} is the name of conversation {other}", "choose another, or rename that one first")
        return named

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with file.translated(self.path):
            return self._connection.execute(sql, parameters).fetchall()

    def _session(self, row: Sequence[Any]) -> Session:
        identifier, name, library, model, base_url, started, last, turns, question = row
        texts = (name or "", library, model, base_url, started, last, question or "")
        if not all(isinstance(text, str) for text in texts) or not (_is_moment(started) and _is_moment(last)):
            raise file.damaged(self.path, f"conversation {identifier} is not as it was written")
        return Session(identifier, name, Path(to_os(library)), model, base_url, started, last, turns, question or "")


def _kept_turn(number: int, filters: str, record: str, evidence: Mapping[str, Any]) -> KeptTurn:
    known = json.loads(record)
    return KeptTurn(number, records.turn_from(known, evidence), serial.filters_from_json(filters), known)


def _same_turns(before: Sequence[Said], now: Sequence[Said]) -> int:
    """How many turns are the same from the beginning on. Objects are compared, not words: a question that is asked anew may well be
    answered in the same ones.
    """
    pairs = zip(before, now, strict=False)
    return _agreeing(one.messages[0] is other.messages[0] for one, other in pairs)


def _same_items(before: Sequence[str], now: Sequence[str]) -> int:
    return _agreeing(one == other for one, other in zip(before, now, strict=False))


def _agreeing(compared: Iterable[bool]) -> int:
    return sum(1 for _ in takewhile(bool, compared))


def _library(path: Path) -> str:
    return to_text(str(settings.from_home(path).resolve()))


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _utc(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone(UTC).isoformat(timespec="seconds")


__all__ = ["LONGEST_NAME", "History"]
