"""How an answer, its sources, its footer and its trace look: in a terminal, in a pipe and as JSON.

Everything that a model or a document wrote is stripped of control characters, escapes and direction overrides before it is
written; links are shown as text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from assistant import render, settings
from assistant.citations import Checked, origin, source
from assistant.conversation import Turn, Withheld
from assistant.errors import ArchivistError
from assistant.events import CallFinished, Event, StepFinished, StepStarted
from search.counting import counted

_ARGUMENTS_SHOWN = 300


def write_text(text: str, terminal: render.Terminal) -> None:
    """Write text of a model, line by line, harmless and without keys."""
    for line in settings.redact(text).split("\n"):
        terminal.write(render.safe(line.rstrip()))


class Answer:
    """An answer on its way to a stream. live: finished blocks are written while the rest is still being made.

    writer: how the text of the answer is written; what comes behind it is the same for all.
    """

    def __init__(
        self, terminal: render.Terminal, *, live: bool, writer: Callable[[str, render.Terminal], None] = write_text
    ) -> None:
        self._terminal = terminal
        self._live = live
        self._writer = writer
        self._begun = False

    def block(self, text: str) -> None:
        """Write a finished block, once."""
        if self._live:
            self._write(text)

    def finish(self, turn: Turn) -> None:
        """Write what is still missing of the answer, then the sources, what failed in it, the queries, and what came nearest."""
        self._write(turn.unprinted if self._begun else turn.checked.text)
        out = self._terminal
        doubts = [line for doubt in render.doubt_lines(turn.checked) for line in _fitted(settings.redact(doubt), out)]
        for lines in (render.source_lines(turn.checked, out), doubts):
            if lines:
                out.write()
            for line in lines:
                out.write(line)
        if turn.queries:
            out.write()
            out.write("Queries:")
            for query in turn.queries:
                for line in render.origin_lines(query, "  ", out):
                    out.write(settings.redact(line))
        if turn.nearest:
            out.write()
            out.write("Nearest:")
            for passage in turn.nearest:
                out.write(f"  {render.one_line(source(passage))}  {passage.key}  {render.one_line(passage.title)}")

    def _write(self, text: str) -> None:
        self._writer(text.strip("\n") if not self._begun else text.rstrip("\n").removeprefix("\n"), self._terminal)
        self._begun = True


def footer(turn: Turn, terminal: render.Terminal) -> None:
    """How the answer came to be: the coverage where it counts or lists, then model, scope, steps, calls, tokens, cost, seconds."""
    calls = len([call for call in turn.calls if not call.repeated])
    parts = [turn.model if turn.answered_by in {turn.model, ""} else f"{turn.model} ({turn.answered_by})"]
    if turn.scope:
        parts.append(f"scope: {turn.scope}")
    if turn.outcome != "answer":
        parts.append({"question": "a question back", "absent": "not found", "partial": "partial"}[turn.outcome])
    parts += [counted(turn.steps, "step"), counted(calls, "call")]
    if turn.usage.total_tokens:
        parts.append(f"{turn.usage.total_tokens:,} tokens")
        parts.append(cost_in_words(turn.usage.cost))
    parts.append(f"{turn.seconds:.1f} s")
    terminal.write()
    said = [verdict_line(turn.checked)]
    said += [render.coverage_note(turn.coverage)] if turn.coverage is not None else []
    said += [render.one_line(withheld_line(turn.withheld))] if turn.withheld is not None else []
    for line in (line for text in said if text for line in _fitted(text, terminal)):
        terminal.write(line)
    for line in _fitted(render.one_line(settings.redact(" · ".join(parts))), terminal):
        terminal.write(terminal.style(line, "2"))


def _fitted(text: str, terminal: render.Terminal) -> list[str]:
    """A line, broken between words where a terminal is too narrow for it."""
    return render.wrapped(text, terminal.width) if terminal.interactive else [text]


def withheld_line(withheld: Withheld) -> str:
    """What the model was not given: "withheld from this model: 4 documents (private), 2 of them among what was looked for"."""
    line = f"withheld from this model: {counted(withheld.documents, 'document')} ({', '.join(withheld.patterns)})"
    return f"{line}, {withheld.hits} of them among what was looked for" if withheld.hits else line


def verdict_line(checked: Checked) -> str:
    """What the check of an answer found: "checked: 3 citations retrieved, 2 quotations verified, 1 number not found"."""
    kinds = (("citation", checked.citations), ("quotation", checked.quotes), ("number", checked.numbers))
    counts = Counter((noun, one.verdict) for noun, found in kinds for one in found)
    told = ", ".join(f"{counted(count, noun)} {verdict}" for (noun, verdict), count in counts.items())
    return f"checked: {told}" if told else ""


def trace(event: Event, terminal: render.Terminal) -> None:
    """One line for a step or a call: tool, arguments, filters as understood, hits, milliseconds, tokens, cost."""
    if isinstance(event, StepStarted):
        return
    if isinstance(event, StepFinished):
        terminal.write(terminal.style(render.one_line(settings.redact(step_line(event))), "2"))
    elif isinstance(event, CallFinished):
        for indent, line in zip(("  → ", "    "), call_lines(event), strict=True):
            terminal.write(indent + terminal.style(render.one_line(settings.redact(line)), "2"))


def step_line(event: StepFinished) -> str:
    """A request to the model on one line: tokens, cost, milliseconds."""
    spent = f"{event.usage.input_tokens:,}+{event.usage.output_tokens:,} tokens, {cost_in_words(event.usage.cost)}, "
    return f"step {event.step}  {event.model}  {spent if event.usage.total_tokens else ''}{event.seconds * 1000:.0f} ms"


def call_lines(event: CallFinished) -> list[str]:
    """Two lines: a call, and what it gave."""
    ran = event.ran
    arguments = event.call.arguments if ran.arguments is None else json.dumps(ran.arguments, ensure_ascii=False)
    shown = arguments if len(arguments) <= _ARGUMENTS_SHOWN else arguments[:_ARGUMENTS_SHOWN] + "…"
    lines = [f"{event.call.name}({shown})"]
    time = f"{ran.seconds * 1000:.0f} ms"
    if event.repeated:
        lines.append("the same call as before: answered from memory")
    elif ran.result.is_error:
        lines.append(f"refused or failed: {ran.result.content}")
    else:
        resolved = "; ".join(f"{name} {value}" for name, value in (ran.output.resolved.items() if ran.output else ()))
        lines.append("  ".join(filter(None, (ran.output.summary if ran.output else "", resolved, time))))
    return lines


def as_object(turn: Turn) -> dict[str, Any]:
    """A turn as JSON shows it; without times, so that a replay gives the same bytes."""
    return {
        "question": turn.question,
        "answer": render.safe(turn.checked.text),
        "outcome": turn.outcome,
        "stopped": turn.stopped or None,
        **turn.checked.as_objects(),
        "calls": [
            {
                "name": call.call.name,
                "arguments": call.ran.arguments if call.ran.arguments is not None else call.call.arguments,
                "ok": not call.ran.result.is_error,
            }
            for call in turn.calls
        ],
        "nearest": [{"key": passage.key, "source": source(passage)} for passage in turn.nearest],
        "queries": [{"key": query.key, "source": source(query), **origin(query)} for query in turn.queries],
        "coverage": asdict(turn.coverage) if turn.coverage else None,
        "scope": turn.scope or None,
        "withheld": asdict(turn.withheld) if turn.withheld else None,
        "usage": {
            "input_tokens": turn.usage.input_tokens,
            "output_tokens": turn.usage.output_tokens,
            "cached_tokens": turn.usage.cached_tokens,
        },
        "cost": turn.usage.cost,
        "model": turn.model,
        "answered_by": turn.answered_by,
        "steps": turn.steps,
        "notices": list(turn.notices),
    }


def error_lines(problem: ArchivistError) -> list[str]:
    """An error and its hint, without keys that a server sent back."""
    hint = getattr(problem, "hint", "")
    lines = [f"archivist: {problem}", *([f"  {hint}"] if hint else [])]
    return [render.safe(settings.redact(line)) for line in lines]


def cost_in_words(cost: float | None) -> str:
    """What was paid, in US dollars, as far as it is known."""
    if cost is None:
        return "cost unknown"
    return "$0" if cost == 0 else f"${cost:.4f}"
