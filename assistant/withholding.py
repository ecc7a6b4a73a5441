"""What a model may be given: everything in scope where nothing leaves the machine, else only what is not marked `local_only`.

One exclusion in the filters of the library (`Filters.hidden`) keeps withheld documents out of every tool and every declaration.
Beside the tools there are three other ways out, which are looked after here: turns that were made while everything was in reach,
texts that are attached to a question, and what is said of folders.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path

from assistant import prompts, settings
from assistant.errors import UserError
from assistant.messages import Message
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from assistant.tools import Toolbox
from search import Document, Filters, Library
from search.folding import folded

_PAGE = 1000
_SHORTEST_UNIT = 25  # characters of a line or sentence that is known again
_SHORTEST_NAME = 3
_UNIT_END = re.compile(r"\n|(?<=[.!?])\s|(?<=[。！？])|\s\|\s")
_SIGNS = re.compile(r"[\W_]+")
_SET = re.compile(r'"set":"set_([0-9]{1,9})"')


class Reach:
    """What the tools of a conversation reach, for models here and for models elsewhere."""

    def __init__(self, library: Library, scope: Filters, today: date | None, patterns: Sequence[str], *, sets: int = 0) -> None:
        """Reach what the scope lets through. patterns: what is withheld; sets: how many sets the conversation has named before.

        Raises FilterError for a scope or a pattern that is not understood.
        """
        self.patterns = tuple(patterns)
        self.scope = scope
        self._library = library
        self._today = today
        self._sets = sets
        self._hidden = Filters(hidden=_spellings(patterns, _roots(library))) if patterns else Filters()
        self._library.resolved_dates(self._inside(guarded=True), today=today)
        self._boxes: dict[bool, Toolbox] = {}

    def toolbox(self, *, guarded: bool) -> Toolbox:
        """The tools; guarded: over what is not withheld."""
        if guarded not in self._boxes:
            self._boxes[guarded] = self._fresh(self._sets, guarded=guarded)
        return self._boxes[guarded]

    def withheld(self) -> int:
        """How many documents of the scope are withheld."""
        return len(self._library.hidden(self._inside(guarded=True), today=self._today))

    def folders(self, said: Mapping[str, str], *, guarded: bool) -> dict[str, str]:
        """What is said of the roots that hold a document in reach, by their names. said: by a root's path or name."""
        if not said:
            return {}
        roots = self._library.count_documents(self._inside(guarded=guarded), "root", today=self._today)
        texts = {settings.at_home(place): text for place, text in said.items()}
        found = {}
        for root in map(Path, roots):
            named = (root, Path(os.path.realpath(root)), Path(root.name))
            found[root.name] = next((texts[place] for place in named if texts.get(place)), "")
        return {name: text for name, text in found.items() if text}

    def refuse(self, attached: str) -> None:
        """Raise UserError for a text that holds lines of withheld documents."""
        if self.patterns and attached and self._holds_hidden(attached):
            raise UserError(
                f"the attached text holds lines of documents that are withheld from this model ({', '.join(self.patterns)})",
                "ask a model on this machine, for example -m offline",
            )

    def unsafe(self, turns: Sequence[tuple[tuple[Message, ...], tuple[str, ...]]]) -> set[int]:
        """Which turns must not be sent to a model elsewhere, by their number. turns: messages, and what was withheld meanwhile.

        A turn made with everything in reach is safe when its calls give the same results without what is withheld, and when its
        words hold neither a text nor a name of that. What was said after an unsafe turn, with that turn in view, may repeat it.
        """
        if not self.patterns:
            return set()
        found: set[int] = set()
        box = self._fresh(0, guarded=True)
        for number, (messages, guard) in enumerate(turns):
            if set(self.patterns) <= set(guard):
                continue
            if found or not self._is_safe(messages, box):
                found.add(number)
        return found

    def _fresh(self, sets: int, *, guarded: bool) -> Toolbox:
        scope = self._inside(guarded=guarded)
        tools = build(self._library, scope, self._today, sets=sets)
        return Toolbox((*tools, *build_table_tools(self._library, scope, self._today)))

    def _inside(self, *, guarded: bool) -> Filters:
        return replace(self.scope, hidden=self._hidden.hidden) if guarded else self.scope

    def _is_safe(self, messages: Sequence[Message], box: Toolbox) -> bool:
        """Whether a turn that was made with everything in reach gives nothing away."""
        question, attached = prompts.split_attached(messages[0].text)
        if prompts.holds_passages(question):
            return False
        results = {result.call_id: result for message in messages for result in message.results}
        for call in (call for message in messages for call in message.calls):
            again, before = box.run(call).result, results.get(call.id)
            if before is None or (again.content, again.is_error) != (before.content, before.is_error):
                return False
        said = "\n".join(message.text + "".join(call.arguments for call in message.calls) for message in messages[1:])
        return not (self._names_hidden(said) or self._holds_hidden(f"{said}\n{attached}"))

    def _names_hidden(self, text: str) -> bool:
        words = f" {_plain(text)} "
        return any(f" {name} " in words for name in self._hidden_names)

    @cached_property
    def _hidden_names(self) -> frozenset[str]:
        """Names that withheld documents and tables have and no other."""
        secret = {name for document in self._hidden_documents() for name in _names(document)}
        everything, open_tables = (self._library.tables.describe(filters) for filters in (Filters(), self._hidden))
        shown = {table.name for table in open_tables} | {column.name for table in open_tables for column in table.columns}
        secret |= {name for table in everything for name in (table.name, *(column.name for column in table.columns))}
        for document in self._pages(self._hidden):
            shown |= _names(document)
        names = {_plain(name) for name in secret} - {_plain(name) for name in shown}
        return frozenset(name for name in names if len(name) >= _SHORTEST_NAME)

    def _holds_hidden(self, text: str) -> bool:
        """Whether a text holds a line or a sentence of withheld documents that stands in no other."""
        wanted = _units(text)
        if not wanted:
            return False
        common = {unit for document in self._hidden_documents() for unit in wanted & self._units_of(document)}
        if not common:
            return False
        for document in self._pages(self._hidden):
            common -= self._units_of(document)
        return bool(common)

    def _units_of(self, document: Document) -> set[str]:
        passages = self._library.passages(document, limit=1_000_000)
        return {unit for passage in passages for unit in _units(passage.text)}

    def _hidden_documents(self) -> Iterator[Document]:
        hidden = self._library.hidden(self._hidden)
        return self._pages(Filters(documents=hidden)) if hidden else iter(())

    def _pages(self, filters: Filters) -> Iterator[Document]:
        offset = 0
        while items := self._library.filter_documents(filters, limit=_PAGE, offset=offset).items:
            yield from items
            offset += len(items)


def sets_named(messages: Sequence[Message]) -> int:
    """The highest number of a set of documents that the results of a conversation name, 0 without any."""
    contents = (result.content for message in messages for result in message.results)
    return max((int(number) for content in contents for number in _SET.findall(content)), default=0)


def without_origin(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages without the providers' own forms of them, which may hold the thoughts of a model that saw more."""
    return tuple(replace(message, origin=None) for message in messages)


def _roots(library: Library) -> list[Path]:
    return [Path(root) for root in library.count_documents(group_by="root")]


def _spellings(patterns: Sequence[str], roots: Sequence[Path]) -> tuple[str, ...]:
    """Patterns with ~ for the home folder, and full paths also as they run through the roots, where links lead there."""
    found = []
    for pattern in patterns:
        text = str(settings.at_home(pattern)) if pattern.startswith("~") else pattern
        found.append(text)
        if not text.startswith("/"):
            continue
        real = os.path.realpath(text)
        found.append(real)
        for root in roots:
            real_root = os.path.realpath(root)
            if Path(real).is_relative_to(real_root):
                found.append(str(root / Path(real).relative_to(real_root)))
            elif Path(real_root).is_relative_to(real):
                found.append(str(root))
    return tuple(dict.fromkeys(found))


def _names(document: Document) -> set[str]:
    """All that a result or a declaration can call a document by."""
    path = Path(document.path)
    labels = (str(value) for value in document.metadata.values() if isinstance(value, str | int | float))
    some = (document.title, document.path, path.name, path.stem, document.category, document.author, *document.tags, *labels)
    return {name for name in some if name} | {parent.name for parent in path.parents if parent.name} | {*document.metadata}


def _plain(text: str) -> str:
    """Words in lower case with single spaces between them."""
    return _SIGNS.sub(" ", folded(text)).strip()


def _units(text: str) -> set[str]:
    """The lines and sentences of a text that are long enough to be known again."""
    units = (_plain(unit) for unit in _UNIT_END.split(text))
    return {unit for unit in units if len(unit) >= _SHORTEST_UNIT}


__all__ = ["Reach", "sets_named", "without_origin"]
