"""/sessions, /resume, /name, /export: the conversations that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant import answer_view, render, settings
from assistant.errors import HistoryError, UsageError, UserError
from assistant.repl.commands import keeping
from assistant.repl.commands.base import Next
from assistant.repl.state import Session
from search.counting import counted

if TYPE_CHECKING:
    from assistant.conversation import Turn
    from assistant.history import Keeper
    from assistant.history import Session as Conversation

_LISTED = 20


def sessions(session: Session, typed: str) -> Next:
    """List the conversations that are kept, or those in which some words were said."""
    from assistant.history import History

    _keeper(session, "/sessions")
    out = render.out()
    with History.open() as history:
        found = [(one.session, one.question) for one in history.search(typed, _LISTED)] if typed else []
        found = found or [(one, one.first_question) for one in ([] if typed else history.sessions(_LISTED))]
    if not found:
        out.write("nothing was found in what is kept" if typed else "no conversation is kept yet")
        return None
    width = max(len(str(one.id)) for one, _ in found)
    for one, question in found:
        out.write(_listed(one, question, width, out))
    render.err().write("/resume ID or NAME goes on with one")
    return None


def resume(session: Session, typed: str) -> Next:
    """Go on with a conversation that is kept: the one named, else the last one about this library."""
    from assistant.history import History

    keeper = _keeper(session, "/resume")
    with History.open() as history:
        if typed:
            wanted = history.find(typed)
        else:
            others = [one for one in history.sessions(2, session.path) if one.id != keeper.id]
            if not others:
                raise UserError("/resume: no other conversation about this library is kept", "/sessions lists all of them")
            wanted = others[0]
    if wanted.library != settings.from_home(session.path).resolve():
        library = render.one_line(str(wanted.library))
        hint = f"archivist chat -l {library} --resume {wanted.id}"
        raise UserError(f"/resume: conversation {wanted.id} is about {library}", hint)
    go_on(session, wanted.id)
    return None


def go_on(session: Session, identifier: int, *, own_filters: bool = False) -> None:
    """Go on with a conversation, and show where it stood. own_filters: those of now stay, else its own hold."""
    for note in session.resume(identifier, own_filters=own_filters):
        for line in render.wrapped(render.one_line(note), render.err().width):
            render.err().write(render.err().style(line, "2"))
    if session.last is not None:
        _show(session.last, session)


def name(session: Session, typed: str) -> Next:
    """Give this conversation a name."""
    if not typed:
        raise UsageError("/name: give a name", "/name gateway timeouts")
    kept = _keeper(session, "/name").rename(typed)
    render.err().write(f"this conversation is {kept!r}; /resume {kept} goes on with it later")
    return None


def export(session: Session, typed: str) -> Next:
    """Write the whole conversation with its sources to a new file: Markdown, or JSON lines where its name ends in .jsonl."""
    from assistant.history import History, export

    keeper = _keeper(session, "/export")
    if keeper.id is None or session.last is None:
        raise UserError("/export: nothing was answered yet", "ask a question first")
    path = keeping.new_file(typed, "/export", "conversation.md")
    with History.open() as history:  # a connection of its own: what the keeper knows of the file stays as it is
        try:
            kept = history.load(keeper.id)
        except HistoryError:
            if keeper.missed:
                raise UserError(
                    "/export: this conversation could not be kept", "/save FILE writes the last answer to a file"
                ) from None
            raise
    as_lines = path.suffix.casefold() in {".jsonl", ".ndjson"}
    keeping.write_new(path, "".join(f"{line}\n" for line in export.jsonl(kept)) if as_lines else export.markdown(kept))
    render.err().write(f"written to {render.quoted_path(path)}")
    if keeper.missed:
        render.err().write(f"without {counted(keeper.missed, 'turn')} that could not be kept")
    return None


def _keeper(session: Session, command: str) -> Keeper:
    if session.keeper is None:
        raise UserError(f"{command}: conversations are not kept (--no-history)", "/save FILE writes the last answer to a file")
    return session.keeper


def _listed(one: Conversation, question: str, width: int, terminal: render.Terminal) -> str:
    head = f"{one.id:>{width}}  {render.age(one.last):>14}  {one.turns:>3}  "
    named = f"{render.one_line(one.name)}: " if one.name else ""
    return head + render.cut(f"{named}{render.one_line(question)}", terminal.width - len(head))


def _show(turn: Turn, session: Session) -> None:
    """The last question and answer of a conversation that goes on."""
    from assistant.markdown import write_markdown

    out = render.out()
    out.write()
    out.write(out.style(render.cut(render.one_line(settings.redact(f"> {turn.question}")), out.width), "2"))
    out.write()
    writer = write_markdown if session.rich else answer_view.write_text
    answer_view.Answer(out, live=False, writer=writer).finish(turn)
