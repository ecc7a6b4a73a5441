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
from assistant.recognising import Pieces, plain
from assistant.search_tools import build
from assistant.table_tools import build_table_tools
from assistant.tools import Toolbox
from search import Document, FilterError, Filters, Library

_PAGE = 1000
_SHORTEST_NAME = 3
_SET = re.compile(r'"set":"set_([0-9]{1,9})"')


class Reach:
    """What the tools of a conversation reach, for models here and for models elsewhere."""

    def __init__(self, library: Library, scope: Filters, today: date | None, patterns: Sequence[str], *, sets: int = 0) -> None:
        """Reach what the scope lets through. patterns: what is withheld; sets: how many sets the conversation has named before.

        Raises FilterError for a scope or a pattern that is not understood, and for one text in place of several.
        """
        if isinstance(patterns, str):  # its letters would be patterns, and hide nothing
            raise FilterError(f"local_only: got the text {patterns[:80]!r}, want a list of texts")
        self.patterns = tuple(patterns)
        self.scope = scope
        self._library = library
        self._today = today
        self._sets = sets
        self._hidden = Filters(hidden=spellings(patterns)) if patterns else Filters()
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
        texts = {settings.from_home(place): text for place, text in said.items()}
        found = {}
        for root in map(Path, roots):
            named = (root, Path(os.path.realpath(root)), Path(root.name))
            found[root.name] = next((texts[place] for place in named if texts.get(place)), "")
        return {name: text for name, text in found.items() if text}

    def refuse(self, attached: str) -> None:
        """Raise UserError for a text that holds lines of withheld documents."""
        if self.patterns and attached and self._secret(attached):
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
        open_turns = {number: _said(turn) for number, (turn, guard) in enumerate(turns) if not set(self.patterns) <= set(guard)}
        secret = self._secret(*open_turns.values())
        found: set[int] = set()
        box = self._fresh(0, guarded=True)
        for number, said in open_turns.items():
            messages = turns[number][0]
            if found or not self._answers_alike(messages, box) or self._names_hidden(messages) or secret & Pieces.of(said).known:
                found.add(number)
        return found

    def _fresh(self, sets: int, *, guarded: bool) -> Toolbox:
        scope = self._inside(guarded=guarded)
        tools = build(self._library, scope, self._today, sets=sets)
        return Toolbox((*tools, *build_table_tools(self._library, scope, self._today)))

    def _inside(self, *, guarded: bool) -> Filters:
        return replace(self.scope, hidden=self._hidden.hidden) if guarded else self.scope

    def _answers_alike(self, messages: Sequence[Message], box: Toolbox) -> bool:
        """Whether the calls of a turn that was made with everything in reach give the same without what is withheld."""
        if prompts.holds_passages(prompts.split_attached(messages[0].text)[0]):
            return False
        results = {result.call_id: result for message in messages for result in message.results}
        for call in (call for message in messages for call in message.calls):
            again, before = box.run(call).result, results.get(call.id)
            if before is None or (again.content, again.is_error) != (before.content, before.is_error):
                return False
        return True

    def _names_hidden(self, messages: Sequence[Message]) -> bool:
        words = f" {plain(_words(messages))} "
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
        names = {plain(name) for name in secret} - {plain(name) for name in shown}
        return frozenset(name for name in names if len(name) >= _SHORTEST_NAME)

    def _secret(self, *texts: str) -> frozenset[str]:
        """The pieces of some texts that stand in withheld documents and in no others."""
        pieces = Pieces.of(*texts)
        common = Pieces.just(pieces.within_any(self._library, self._hidden_documents()) if pieces.known else ())
        return common.known - common.within_any(self._library, self._pages(self._hidden)) if common.known else common.known

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


def spellings(patterns: Sequence[str]) -> tuple[str, ...]:
    """Patterns with ~ for the home folder, and full paths also as they are without links."""
    found = []
    for pattern in patterns:
        text = str(settings.from_home(pattern)) if pattern.startswith("~") else pattern
        found.append(text)
        if text.startswith("/"):
            found.append(os.path.realpath(text))
    return tuple(dict.fromkeys(found))


def _names(document: Document) -> set[str]:
    """All that a result or a declaration can call a document by."""
    path = Path(document.path)
    labels = (str(value) for value in document.metadata.values() if isinstance(value, str | int | float))
    some = (document.title, document.path, path.name, path.stem, document.category, document.author, *document.tags, *labels)
    return {name for name in some if name} | {parent.name for parent in path.parents if parent.name} | {*document.metadata}


def _words(messages: Sequence[Message]) -> str:
    """What a model has said and sent in a turn."""
    return "\n".join(message.text + "".join(call.arguments for call in message.calls) for message in messages[1:])


def _said(messages: Sequence[Message]) -> str:
    """The same, and what was attached to the question."""
    return f"{_words(messages)}\n{prompts.split_attached(messages[0].text)[1]}"


__all__ = ["Reach", "sets_named", "spellings", "without_origin"]
