"""/copy, /save, /eval: taking an answer elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assistant import answer_view, render, settings
from assistant.errors import UsageError, UserError
from assistant.repl import copying
from assistant.repl.commands.base import Next
from assistant.repl.state import Session

if TYPE_CHECKING:
    from assistant.conversation import Turn

_LONGEST = 200  # columns of a name in a message


def copy(session: Session, _: str) -> Next:
    """Put the last answer on the clipboard."""
    text = settings.redact(render.safe(session.answered("/copy").checked.text)).strip()
    way = copying.copy(text, terminal=session.rich)
    render.err().write(f"{len(text):,} characters copied by {way}")
    return None


def save(session: Session, typed: str) -> Next:
    """Write the last answer with its sources to a new file."""
    text = as_markdown(session.answered("/save"))
    path = new_file(typed, "/save", "answer.md")
    write_new(path, text)
    render.err().write(f"written to {render.quoted_path(path)}")
    return None


def make_case(session: Session, typed: str) -> Next:
    """Make a case for `archivist evaluate` of the last turn: added to a file, else shown."""
    from assistant import evaluate_command
    from assistant.evaluation.proposing import from_turn
    from assistant.history.records import as_kept
    from search import dates

    turn = session.answered("/eval")
    before = session.asked[:-1] if session.asked and session.asked[-1] == turn.question else session.asked
    kept = as_kept(turn, today=session.today or dates.today(), filters=session.filters, asked=before)
    evaluate_command.give([from_turn(kept)], place(typed, "/eval", "cases.jsonl") if typed else None)
    return None


def as_markdown(turn: Turn) -> str:
    """A question with its answer and its sources, as Markdown."""
    lines = [f"# {render.one_line(turn.question)}", "", render.safe(turn.checked.text).strip(), ""]
    for citation in turn.checked.sources:
        if citation.evidence is not None:
            from assistant.citations import source

            shown = f" `{render.one_line(citation.evidence.sql)}`" if citation.evidence.sql else ""
            lines.append(f"- [{citation.number}] {render.one_line(source(citation.evidence))} ({citation.key}){shown}")
    lines += ["", *(f"- {line}" for line in render.doubt_lines(turn.checked))]
    verdicts = answer_view.verdict_line(turn.checked)
    lines += [f"{turn.model}, {turn.at}{f'; {verdicts}' if verdicts else ''}"]
    return settings.redact("\n".join(lines)) + "\n"


def new_file(typed: str, command: str, example: str) -> Path:
    """The file that is named. Raises UsageError without one, UserError when it is there already."""
    path = place(typed, command, example)
    if path.exists():
        raise UserError(f"{command}: {_named(path)} is there already", "name a new file")
    return path


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, for its owner alone. Raises UserError."""
    try:
        settings.write_new(path, text)
    except OSError as error:
        raise UserError(f"{_named(path)} cannot be written: {error.strerror}", "name another file") from error


def place(typed: str, command: str, example: str) -> Path:
    """The path that is typed, in quotes or not. Raises UsageError for none, and for one that nothing can have."""
    named = typed.strip().strip("\"'")
    if not named or "\0" in named:
        raise UsageError(f"{command}: name a {'folder' if command == '/index' else 'file'}", f"{command} {example}")
    path = settings.from_home(named)
    try:
        path.exists()
    except OSError as error:
        raise UserError(f"{command}: {_named(path)} cannot be looked at: {error.strerror}", f"{command} {example}") from error
    return path


def _named(path: Path) -> str:
    return render.cut(render.quoted_path(path), _LONGEST)
