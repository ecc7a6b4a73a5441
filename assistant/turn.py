"""What becomes of a question: the Turn with its checked answer, and what of a conversation can be kept and gone on with.

In: how the loop ended and what was found. Out: frozen records, which histories, renderers and programs read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant import prompts, render, settings
from assistant.citations import Checked
from assistant.events import CallFinished, Ended
from assistant.messages import Message, Outcome, Usage
from assistant.tools import Evidence
from search import Coverage

NEAREST = 3
_PARTIAL_CHARACTERS = 300
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|\n\s*\n")


@dataclass(frozen=True, slots=True)
class Withheld:
    """What was kept from a model elsewhere. documents: how many of those in scope; patterns: what they are withheld by.

    hits: how many of them the searches and filters of the turn would have found.
    """

    documents: int
    patterns: tuple[str, ...]
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its checked answer.

    model: as named; answered_by: as the provider names it. checked: the answer with its citations, quotations and numbers.
    outcome: answer, question (back to the person), absent (not in the documents) or partial (a limit or an error ended it, told
    by `stopped`). unprinted: what of checked.text no BlockFinished has given out. nearest: for an absent answer, the passages
    that came nearest. queries: those of the turn that the answer does not cite, each once. coverage: beside answers that count or
    list. withheld: what a model elsewhere was not given, None where nothing was kept from it.
    """

    question: str
    model: str
    answered_by: str
    answer: str
    outcome: Outcome
    stopped: str
    checked: Checked
    unprinted: str
    calls: tuple[CallFinished, ...]
    nearest: tuple[Evidence, ...]
    queries: tuple[Evidence, ...]
    coverage: Coverage | None
    scope: str
    usage: Usage
    steps: int
    seconds: float
    notices: tuple[str, ...]
    at: str
    withheld: Withheld | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The last event of a turn."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A conversation as it can be kept and gone on with, whatever the model.

    messages: of all turns; each turn begins with its question, the only message of role "user" in it. questions: as they were
    typed, without what was attached. guards: for each turn the patterns that were withheld while it was made, () when it was
    made with everything in reach. Both may be left out of what is kept: the questions are then read from the messages, and the
    turns count as made with everything in reach.
    """

    messages: tuple[Message, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    questions: tuple[str, ...] = ()
    guards: tuple[tuple[str, ...], ...] = ()

    @property
    def turns(self) -> int:
        """How many questions were asked."""
        return sum(message.role == "user" for message in self.messages)


@dataclass(frozen=True, slots=True)
class Size:
    """About how many tokens the next request has before its question, and how many the model takes, None where nobody knows."""

    tokens: int
    window: int | None


def question_of(turn: Sequence[Message]) -> str:
    """The question of a turn, without what was attached to it."""
    return prompts.split_attached(turn[0].text)[0]


def evidence_of(calls: list[CallFinished]) -> tuple[Evidence, ...]:
    """The passages and results of a turn, each once, those found first in front."""
    found = (item for call in calls if call.ran.output is not None for item in call.ran.output.evidence)
    return tuple({item.key: item for item in found}.values())


def outcome(answer: str, ended: Ended, checked: Checked) -> Outcome:
    """What an answer is: by the backend that knows, by the limit that ended it, else by its words."""
    if ended.stop.outcome is not None:
        return ended.stop.outcome
    if ended.stop.reason != "answered":
        return "partial"
    if answer.lstrip("*_# ").casefold().startswith(prompts.NOT_FOUND.casefold()):
        return "absent"
    if not checked.citations and answer.rstrip("*_ \n").endswith(("?", "？", "؟")):
        return "question"
    return "answer"


def composed(found: tuple[Evidence, ...], why: str) -> str:
    """An answer from what was found alone, when the model gave none: the last results, then the first passages."""
    computed = [item for item in reversed(found) if not item.is_passage and item.text]
    shown = [*computed, *(item for item in found if item.is_passage)][:NEAREST]
    if not shown:
        return f"No answer: {why or 'the model gave none'}. Nothing was found before that."
    what = "This was found" if computed else "These passages were found"
    lines = [f"No full answer: {why or 'the model gave none'}. {what}:"]
    lines += [f"> {_opening(item.text)} [{item.key}]" for item in shown]
    return "\n\n".join(lines)


def presentable(text: str) -> str:
    """What a model wrote, without keys and without what a terminal would obey: both before it is checked, so that no mark gets into
    the middle of either.
    """
    return render.safe(settings.redact(text))


def _opening(text: str) -> str:
    """The first whole sentences of a passage, on one line, without its headings."""
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip() or text.strip()
    ends = [match.end() for match in _SENTENCE_END.finditer(prose[:_PARTIAL_CHARACTERS])]
    if ends or len(prose) <= _PARTIAL_CHARACTERS:
        return " ".join(prose[: ends[-1] if ends else None].split())
    return " ".join(prose[:_PARTIAL_CHARACTERS].rsplit(None, 1)[0].split()) + " …"


__all__ = [
    "NEAREST",
    "Answered",
    "Size",
    "Snapshot",
    "Turn",
    "Withheld",
    "composed",
    "evidence_of",
    "outcome",
    "presentable",
    "question_of",
]
