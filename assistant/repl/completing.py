"""What Tab offers: commands, models, and the names of the library: categories, files, tables.

The names are read from the catalogue in a thread, once, and kept until the library changes: while somebody types nothing is asked
of the library.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from assistant import render, settings
from assistant.errors import UserError
from assistant.repl import commands, filtering
from assistant.repl.commands.base import Completes

if TYPE_CHECKING:
    from assistant.repl.state import Session
    from search import Library

_FILES = 5000
_PAGE = 1000
_OFFERED = 50
_LEAST = 2  # characters of a word in a question before anything is offered for it
_LOOSE = 3  # the rank of names that only hold the letters
_WORD = re.compile(r"\S*\Z")
_FILTER_WORD = re.compile(r"(?:[a-z-]+:|--[a-z-]+[ =])?(?:\"[^\"]*|\S*)\Z")
_FIELDS = ("category", "tag", "format", "author", "language")


@dataclass(frozen=True, slots=True)
class Names:
    """Names to complete. files: paths, the first so many. conversations: those that have a name. values: of filters, by filter."""

    files: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Catalogue:
    """The names of a library, read behind."""

    def __init__(self, library: Library, *, history: bool) -> None:
        self._library = library
        self._history = history
        self.names = Names()

    def reload(self) -> threading.Thread:
        """Read the names anew, in a thread, which is returned."""
        thread = threading.Thread(target=self._read, name="names for completion", daemon=True)
        thread.start()
        return thread

    def _read(self) -> None:
        library = self._library
        values = {name: tuple(filter(None, library.count_documents(group_by=name))) for name in _FIELDS}  # type: ignore[arg-type]
        values["type"] = values.pop("format")
        files: list[str] = []
        while len(files) < _FILES:
            page = library.filter_documents(limit=_PAGE, offset=len(files))
            files += [document.path for document in page.items]
            if len(files) >= page.total or not page.items:
                break
        tables = tuple(table.name for table in library.tables.describe())
        self.names = Names(tuple(files), self._conversations(), tables, _roles(), values)

    def _conversations(self) -> tuple[str, ...]:
        """The names of the conversations that are kept."""
        from assistant.errors import HistoryError
        from assistant.history import History, place

        if not self._history or not place().exists():
            return ()
        try:
            with History.open() as history:
                return tuple(one.name for one in history.sessions(_PAGE) if one.name)
        except HistoryError:  # /sessions tells what is wrong with the file
            return ()


def _roles() -> tuple[str, ...]:
    try:
        return tuple(settings.own().roles)
    except UserError:  # /role tells what is wrong with the file
        return ()


class Completing(Completer):
    """Completions for the line that is being typed."""

    def __init__(self, session: Session, catalogue: Catalogue) -> None:
        self._session = session
        self._catalogue = catalogue

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """What fits before the cursor, best first."""
        text = document.text_before_cursor
        if "\n" in text and not text.startswith("/sql"):
            return
        if not text.startswith("/"):
            if complete_event.completion_requested:
                yield from self._in_question(text)
            return
        name, space, typed = text[1:].partition(" ")
        if not space:
            yield from _commands(name, slash=True)
            return
        found = next((one for one in commands.COMMANDS if name in {one.name, *one.aliases}), None)
        if found is not None:
            yield from self._arguments(found.completes, typed)

    def _in_question(self, text: str) -> Iterator[Completion]:
        word = _last(_WORD, text)
        if len(word) < _LEAST:
            return
        names = self._catalogue.names
        for kind, values in (("category", names.values.get("category", ())), ("table", names.tables), ("file", names.files)):
            yield from _fitting(word, values, kind)

    def _arguments(self, kind: Completes, typed: str) -> Iterator[Completion]:
        if kind == "filter":
            yield from self._filters(typed)
            return
        names, word = self._catalogue.names, _last(_WORD, typed)
        ways: Mapping[str, Callable[[], Iterable[Completion]]] = {
            "command": lambda: _commands(typed, slash=False),
            "model": lambda: _fitting(typed, self._models(), ""),
            "file": lambda: (*self._numbers(typed), *_fitting(typed, names.files, "")),
            "table": lambda: _fitting(word, names.tables, "table"),
            "number": lambda: self._numbers(typed),
            "conversation": lambda: _fitting(typed, names.conversations, ""),
            "role": lambda: _fitting(typed, (*names.roles, "none"), ""),
            "place": lambda: _places(typed),
        }
        if kind in ways:
            yield from ways[kind]()

    def _filters(self, typed: str) -> Iterator[Completion]:
        """The name of a filter, or behind it a value that the library has."""
        word = _last(_FILTER_WORD, typed)
        name, sign, value = _split(word)
        if not sign:
            yield from _fitting(word, [f"{one}:" for one in filtering.NAMES], "filter")
            if not typed.strip() or "clear".startswith(typed):
                yield Completion("clear", -len(typed))
            return
        for one in _fitting(value.lstrip('"'), self._catalogue.names.values.get(name, ()), name):
            yield Completion(filtering.quoted(one.text), -len(value), display=one.display, display_meta=one.display_meta)

    def _numbers(self, typed: str) -> Iterator[Completion]:
        for entry in self._session.numbered:
            if str(entry.number).startswith(typed.strip()):
                yield Completion(str(entry.number), -len(typed), display_meta=render.one_line(entry.place))

    def _models(self) -> list[str]:
        used = [self._session.model, *self._session.spent]
        return list(dict.fromkeys(filter(None, (*used, "offline", "ollama:", "gemini:", "openrouter:"))))


def _commands(name: str, *, slash: bool) -> Iterator[Completion]:
    by_name = {one.name: one for one in commands.COMMANDS}
    for found in _fitting(name, by_name, ""):
        command = by_name[found.text]
        text = f"/{command.name}" if slash else command.name
        yield Completion(text, -len(name) - slash, display=text, display_meta=command.help)


def _places(typed: str) -> Iterator[Completion]:
    from prompt_toolkit.completion import PathCompleter

    yield from PathCompleter(expanduser=True).get_completions(Document(typed), CompleteEvent())


def _fitting(word: str, names: Iterable[str], kind: str) -> Iterator[Completion]:
    """Names that begin with a word, then those that hold it; without any, those that hold its letters in order."""
    wanted = word.casefold()
    ranked = []
    for name in names:
        rank = _rank(wanted, name.casefold())
        if rank is not None:
            ranked.append((rank, len(name) if wanted else 0, name))
    if any(rank < _LOOSE for rank, _, _ in ranked):
        ranked = [one for one in ranked if one[0] < _LOOSE]
    for _, _, name in sorted(ranked, key=lambda one: one[:2])[:_OFFERED]:
        shown = render.one_line(name)
        if shown == name:  # a name that a terminal would obey is not typed for anybody
            yield Completion(name, -len(word), display=shown, display_meta=kind)


def _rank(wanted: str, name: str) -> int | None:
    if name.startswith(wanted):
        return 0
    if re.search(rf"[^\w]{re.escape(wanted)}", name):
        return 1
    if wanted in name:
        return 2
    letters = iter(name)
    return _LOOSE if len(wanted) >= _LEAST and all(sign in letters for sign in wanted) else None


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0] if found else ""


def _split(word: str) -> tuple[str, str, str]:
    """A filter word in its name, its sign and its value: category:run, --category run."""
    if word.startswith("--"):
        sign = next((sign for sign in word if sign in " ="), "")
        name, _, value = word[2:].partition(sign) if sign else (word[2:], "", "")
        return name, sign, value
    name, sign, value = word.partition(":")
    return name, sign, value
