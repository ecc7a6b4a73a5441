"""A kept conversation for elsewhere: as Markdown with its sources, the SQL of its queries and what failed the check; as JSON lines.

What a model wrote is not trusted here either: pages and pictures of other hosts, which a reader of Markdown might fetch, stand in
it as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assistant import answer_view, render, settings
from assistant.citations import source
from assistant.conversation import Turn
from assistant.history.models import Kept
from assistant.tools import Evidence
from search.counting import counted

if TYPE_CHECKING:
    from markdown_it.token import Token

_FETCHED = frozenset({"image", "html_inline", "html_block"})
_RISKY = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")
_ENTITIES = {"!": "&#33;", "<": "&lt;"}
_BACKTICKS = re.compile(r"`+")


def markdown(kept: Kept) -> str:
    """A conversation as Markdown, without keys."""
    session = kept.session
    models = dict.fromkeys(one.turn.model for one in kept.turns)
    lines = [
        f"# {_plain(session.title)}",
        "",
        f"- conversation {session.id} about {_code(str(session.library))}",
        f"- {moment(session.started)} to {moment(session.last)}, {counted(len(kept.turns), 'turn')}",
        f"- {'models' if len(models) > 1 else 'model'}: {', '.join(map(_code, models))}",
    ]
    for one in kept.turns:
        lines += ["", f"## {one.number}. {_plain(one.turn.question)}", "", *answer(one.turn)]
    return settings.redact(harmless("\n".join(lines))) + "\n"


def jsonl(kept: Kept) -> Iterator[str]:
    """A conversation as JSON, a line for each turn, without keys."""
    session = kept.session
    for one in kept.turns:
        about = {"conversation": session.id, "name": session.name, "library": str(session.library), "turn": one.number}
        yield settings.redact(render.as_json(about | dict(one.record)))


def answer(turn: Turn) -> list[str]:
    """An answer as lines of Markdown: its text, its sources, what failed in it, its queries, and how it came to be."""
    lines = harmless(render.safe(turn.checked.text).strip()).split("\n")
    sources = [(f"[{one.number}] ", one.evidence) for one in turn.checked.sources if one.evidence is not None]
    lines += _listed("Sources", [_of_evidence(head, found) for head, found in sources])
    lines += _listed("Failed the check", [[_plain(line)] for line in render.doubt_lines(turn.checked)])
    lines += _listed("Queries that are not cited", [_of_evidence("", found) for found in turn.queries])
    lines += _listed("Nearest", [_of_evidence("", found) for found in turn.nearest])
    told = [answer_view.verdict_line(turn.checked)]
    told += [answer_view.withheld_line(turn.withheld)] if turn.withheld else []
    told += [turn.stopped, f"scope: {turn.scope}" if turn.scope else "", f"{turn.model}, {moment(turn.at)}"]
    return [*lines, "", f"*{_plain('; '.join(filter(None, told)))}*"]


def harmless(text: str) -> str:
    """Markdown in which no picture and no HTML is left, nor a block of code without an end; other code stays as it is."""
    lines = text.split("\n")
    tokens = _parsed(lines)
    # What is escaped may have hidden the beginning of a block: until nothing is found any more.
    while risky := [token for token in tokens if token.map and _fetches(token)]:
        for token in risky:
            for number in range(*token.map or ()):
                lines[number] = _RISKY.sub(lambda found: _ENTITIES[found[0]], lines[number])
        tokens = _parsed(lines)
    last = tokens[-1] if tokens else None
    if last is not None and last.type == "fence" and last.map:
        ending = lines[last.map[1] - 1].strip() if last.map[1] - last.map[0] > 1 else ""
        if set(ending) != set(last.markup) or len(ending) < len(last.markup):
            lines.append(last.markup)
    return "\n".join(lines)


def moment(text: str) -> str:
    """A stored moment as a clock here shows it."""
    from datetime import datetime

    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")


def _parsed(lines: Sequence[str]) -> list[Token]:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").parse("\n".join(lines))


def _fetches(token: Token) -> bool:
    return token.type in _FETCHED or any(map(_fetches, token.children or ()))


def _listed(head: str, items: Sequence[Sequence[str]]) -> list[str]:
    """A heading with a list; the lines of an item after its first belong to it. Nothing without items."""
    if not items:
        return []
    lines = ["", f"**{head}**", ""]
    for first, *more in items:
        lines += [f"- {first}", *(f"  {line}" if line else "" for line in more)]
    return lines


def _of_evidence(head: str, found: Evidence) -> list[str]:
    place = _code(render.one_line(source(found)))
    if found.expression:
        return [f"{head}{_code(render.one_line(f'{found.expression} = {found.text}'))}"]
    stale = f" ({_plain(found.stale)} since it was indexed)" if found.stale else ""
    if found.sql:
        bound = [f"-- ? = {render.one_line(', '.join(map(render.as_json, found.parameters)))}"] if found.parameters else []
        sql = render.safe(found.sql).strip().split("\n")
        fence = _fence("\n".join(sql))
        return [f"{head}{place}{stale}", "", f"{fence}sql", *sql, *bound, fence]
    dated = f", {found.date}" if found.date else ""
    above = " > ".join(dict.fromkeys([found.title, *found.headings]))
    return [f"{head}{place} · {found.key}{dated} · {_plain(above)}{stale}"]


def _plain(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    return re.sub(r"[\\`*_\[\]<>#|!~&]", r"\\\g<0>", render.one_line(text))


def _code(text: str) -> str:
    """Text on one line as code, whatever backticks it holds."""
    ticks = "`" * (1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _fence(text: str) -> str:
    return "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))


__all__ = ["answer", "harmless", "jsonl", "markdown", "moment"]
