"""The numbered list that /open, /why, /read and /similar point into: sources of the last answer, or hits of the last search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant import render, settings
from assistant.errors import UsageError, UserError
from assistant.repl.view import asked_of

if TYPE_CHECKING:
    from assistant.conversation import Turn
    from assistant.events import CallFinished
    from assistant.tools import Evidence
    from search import Hit


@dataclass(frozen=True, slots=True)
class Found:
    """How a passage was found once. by: the search in words; place: its number there, from 1, of so many; hit: ranks and scores;
    filters: as they were understood.
    """

    by: str
    place: int
    of: int
    hit: Hit | None = None
    filters: str = ""


@dataclass(frozen=True, slots=True)
class Numbered:
    """One entry. key: citation key. sql, expression: of a result that is no passage. found: how, none where that is not known."""

    number: int
    key: str
    path: str
    place: str
    sql: str = ""
    found: tuple[Found, ...] = ()


def of_turn(turn: Turn) -> tuple[Numbered, ...]:
    """The numbered sources of an answer."""
    from assistant.citations import source

    return tuple(
        Numbered(
            citation.number or 0,
            citation.key,
            citation.evidence.path,
            source(citation.evidence),
            sql=_computed(citation.evidence),
            found=tuple(found for call in turn.calls for found in _in_call(citation.key, call, turn.scope)),
        )
        for citation in turn.checked.sources
        if citation.evidence is not None
    )


def of_hits(hits: Sequence[Hit], by: str, filters: str) -> tuple[Numbered, ...]:
    """The hits of a search."""
    return tuple(
        Numbered(
            number,
            hit.passage.key,
            hit.document.path,
            render.place(hit.document, hit.passage.first_line, hit.passage.page),
            found=(Found(by, number, len(hits), hit, filters),),
        )
        for number, hit in enumerate(hits, 1)
    )


def chosen(typed: str, listed: Sequence[Numbered], command: str) -> Numbered:
    """The entry with the number that is typed, "2" or "[2]". Raises UserError where there is no list, UsageError for no number."""
    if not listed:
        raise UserError(f"{command}: there is nothing numbered yet", "ask a question, or /search some words, first")
    word = typed.strip().strip("[]")
    if not word.isascii() or not word.isdigit():
        raise UsageError(f"{command}: got {typed.strip()!r}, want a number from {_range(listed)}", f"{command} {listed[0].number}")
    for entry in listed:
        if entry.number == int(word):
            return entry
    raise UsageError(f"{command}: there is no [{word}], the numbers are {_range(listed)}", "/sources lists them")


def why_lines(entry: Numbered) -> list[str]:
    """How an entry was found, a line each."""
    lines = [f"[{entry.number}] {render.one_line(entry.place)}  {entry.key}"]
    if entry.sql:
        return [*lines, f"    computed by {render.one_line(settings.redact(entry.sql))}"]
    for found in entry.found:
        place = f": number {found.place} of {found.of}" if found.of > 1 else ""
        lines.append(f"    found by {render.one_line(settings.redact(found.by))}{place}")
        if found.hit is not None:
            lines.append(f"      {render.explained(found.hit)}")
        if found.filters:
            lines.append(f"      filters: {render.one_line(found.filters)}")
    if not entry.found:
        lines.append("    cited from an earlier turn; how it was found is told by /why right after that turn")
    return lines


def _in_call(key: str, call: CallFinished, scope: str) -> list[Found]:
    output = call.ran.output
    if output is None or call.repeated:
        return []
    keys = [evidence.key for evidence in output.evidence]
    if key not in keys:
        return []
    hit = next((hit for hit in output.hits if hit.passage.key == key), None)
    narrowed = [f"{name} {value}" for name, value in output.resolved.items()]
    filters = "; ".join([*narrowed, *([f"{scope} (your own filters)"] if scope else [])])
    return [Found(f"{call.call.name} {asked_of(call)}".strip(), keys.index(key) + 1, len(keys), hit, filters)]


def _computed(evidence: Evidence) -> str:
    return evidence.sql or (f"{evidence.expression} = {evidence.text}" if evidence.expression else "")


def _range(listed: Sequence[Numbered]) -> str:
    return f"{listed[0].number} to {listed[-1].number}" if len(listed) > 1 else f"{listed[0].number}"
