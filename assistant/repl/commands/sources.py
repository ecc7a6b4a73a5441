"""/sources, /open, /why: what an answer stands on."""

from __future__ import annotations

from assistant import editor, render
from assistant.errors import UserError
from assistant.repl import numbered, opening
from assistant.repl.commands.base import Next
from assistant.repl.state import Session


def sources(session: Session, _: str) -> Next:
    """List the sources of the last answer again, or the hits of the last search."""
    out = render.out()
    if not session.numbered:
        raise UserError("/sources: there is nothing numbered yet", "ask a question, or /search some words, first")
    lines: list[str] = []
    if session.last is not None and session.numbered == numbered.of_turn(session.last):
        lines = render.source_lines(session.last.checked, out)
    for line in lines or [
        f"[{entry.number}] {out.style(render.one_line(entry.place), '1')}  {entry.key}" for entry in session.numbered
    ]:
        out.write(line)
    return None


def open_source(session: Session, typed: str) -> Next:
    """Start the editor at the line of a source."""
    entry = numbered.chosen(typed, session.numbered, "/open")
    library = session.catalogue
    if entry.sql:
        document, stored, line = library.document(entry.path.partition(", ")[0]), [], 1
    else:
        document, passage, moved_from = library.passage(entry.key)
        if moved_from:
            render.err().write(f"{moved_from} has moved to {passage.key} in {render.one_line(document.path)}")
        stored, line = list(library.read(passage).lines), passage.first_line
    file = opening.file_of(library, document)
    line = opening.line_in_file(file, stored, line)
    words = editor.command(editor.words(session.editor), file, line)
    code = editor.start(words)
    if code:
        render.err().write(render.one_line(f"{words[0]} ended with {code}"))
    elif stale := library.stale(document):
        render.err().write(f"{stale} since it was indexed: /index brings the library in step")
    return None


def why(session: Session, typed: str) -> Next:
    """Tell how a source was found."""
    entry = numbered.chosen(typed, session.numbered, "/why")
    out = render.out()
    first, *rest = numbered.why_lines(entry)
    out.write(out.style(first, "1"))
    for line in rest:
        indent = len(line) - len(line.lstrip())
        for part in render.wrapped(line.strip(), out.width - indent):
            out.write(" " * indent + part)
    return None
