"""/retry, /edit, /trace, /cost, /tokens, /clear: the turns of this session."""

from __future__ import annotations

import tempfile
from pathlib import Path

from assistant import editor, render
from assistant.answer_view import cost_in_words
from assistant.errors import UsageError, UserError
from assistant.repl.commands.base import Ask, Fill, Next
from assistant.repl.commands.models import use
from assistant.repl.state import Session
from search.counting import counted


def retry(session: Session, typed: str) -> Next:
    """Ask the last question again, with another model where one is named."""
    question = _last_question(session, "/retry")
    if typed:
        use(session, typed)
    render.err().write(render.err().style(render.cut(render.one_line(f"> {question}"), render.err().width), "2"))
    return Ask(question, instead=True)


def edit(session: Session, typed: str) -> Next:
    """Put the last question into the prompt again, or into the editor."""
    question = _last_question(session, "/edit")
    if not typed:
        return Fill(question)
    if typed not in {"editor", "-e"}:
        raise UsageError(f"/edit: got {typed!r}, want nothing or editor", "/edit editor")
    with tempfile.TemporaryDirectory() as folder:  # for its owner alone
        file = Path(folder) / "question.md"
        file.write_text(question, encoding="utf-8")
        code = editor.start(editor.command(editor.words(session.editor), file))
        text = file.read_text(encoding="utf-8", errors="replace").strip()
    if code or not text:
        raise UserError("/edit: nothing is asked: the editor gave no question", "/edit puts the question into the prompt")
    return Fill(text)


def trace(session: Session, typed: str) -> Next:
    """Show the whole trace of the last turn, or choose what is shown while a turn runs."""
    from assistant.repl.view import trace_lines

    out = render.out()
    if typed in {"on", "off"}:
        session.trace = typed == "on"
        out.write("every step is shown with its arguments" if session.trace else "one line a call is shown; /trace shows the rest")
        return None
    if typed:
        raise UsageError(f"/trace: got {typed!r}, want on, off or nothing", "/trace on")
    lines = [line for event in session.happened for line in trace_lines(event)]
    if not lines:
        raise UserError("/trace: the last turn had no steps, or there was none", "ask a question first")
    for line in lines:
        out.write(line)
    return None


def cost(session: Session, _: str) -> Next:
    """What this session has used, by model."""
    out = render.out()
    if not session.spent:
        out.write("nothing was asked yet")
    for model, spent in session.spent.items():
        usage = spent.usage
        price = cost_in_words(usage.cost)
        out.write(out.style(render.one_line(model), "1"))
        for line in render.wrapped(
            f"{counted(spent.questions, 'question')}, {counted(spent.steps, 'step')}, {counted(spent.calls, 'call')}, "
            f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, {price}, {spent.seconds:.1f} s",
            out.width - 2,
        ):
            out.write(f"  {line}")
    return None


def tokens(session: Session, _: str) -> Next:
    """How full the model's window is."""
    size = session.conversation.size()
    used = f"about {size.tokens:,} tokens for the next question, before its searches"
    window = f"{size.tokens * 100 // size.window} % of the model's {size.window:,}" if size.window else "its window is not known"
    for line in render.wrapped(f"{used}; {window}", render.out().width):
        render.out().write(line)
    return None


def clear(session: Session, _: str) -> Next:
    """Begin a new conversation."""
    session.clear()
    render.out().write("a new conversation; model and filters stay")
    return None


def _last_question(session: Session, command: str) -> str:
    if session.question is None:
        raise UserError(f"{command}: nothing was asked yet", "ask a question first")
    return session.question
