"""/search, /keyword, /vector, /similar, /tables, /sql, /read: looking things up without a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assistant.errors import UsageError
from assistant.repl import filtering
from assistant.repl.commands.base import Next
from assistant.repl.state import Session

if TYPE_CHECKING:
    from search import Filters, Mode

_OPTIONS = re.compile(rf"(?:^|\s)--(?={'|'.join(filtering.NAMES)})")
_LIMIT = re.compile(r"(?:^|\s)(?:-n|--limit)[ =]?(\d{1,6})(?=\s|$)")
_LINES = re.compile(r"\d{1,9}(?:-\d{1,9})?")
_USUAL = 10
_READ = 200  # lines of a document that are shown at once


def search(session: Session, typed: str) -> Next:
    """Search by words and by meaning."""
    return _search(session, typed, "/search", "hybrid")


def keyword(session: Session, typed: str) -> Next:
    """Search by words alone."""
    return _search(session, typed, "/keyword", "keyword")


def vector(session: Session, typed: str) -> Next:
    """Search by meaning alone."""
    return _search(session, typed, "/vector", "vector")


def similar(session: Session, typed: str) -> Next:
    """Find passages similar to one of the list, to the one with a key, or to a text."""
    from assistant.repl import numbered
    from search import NotFoundError, QueryError

    text, filters, limit = _parts(session, typed)
    if not text:
        raise UsageError("/similar: name a number, a key or a text", "/similar 2")
    if re.fullmatch(r"\[?\d{1,4}\]?", text):
        key: str | None = numbered.chosen(text, session.numbered, "/similar").key
    else:
        try:
            key = session.catalogue.passage(text)[1].key
        except (NotFoundError, QueryError):
            key = None
    _run(session, filters, limit, f"/similar {text}", like=key, like_text=None if key else text, mode="vector")
    return None


def tables(session: Session, typed: str) -> Next:
    """List the tables, or describe one."""
    from assistant.tables_command import Question, run

    run(session.catalogue, session.filters, Question(typed or None, session.today), as_json=False, quiet=session.how.quiet)
    return None


def sql(session: Session, typed: str) -> Next:
    """Run one SELECT in the sandbox."""
    from assistant.sql_command import Question, run

    records = typed.startswith("--records")
    statement = typed.removeprefix("--records").strip()
    if not statement:
        raise UsageError("/sql: give a SELECT", "/sql SELECT category, count(*) FROM documents GROUP BY 1")
    question = Question(statement, (), None, 5.0, session.today)
    run(session.catalogue, session.filters, question, form="records" if records else "text", quiet=session.how.quiet)
    return None


def read(session: Session, typed: str) -> Next:
    """Show a passage or a document as it is stored."""
    from assistant import render, show_command
    from assistant.repl import numbered
    from search import NotFoundError

    what, _, lines = typed.rpartition(" ")
    if not what or not _LINES.fullmatch(lines):
        what, lines = typed, ""
    what = what.strip().strip("\"'")
    if not what:
        raise UsageError("/read: name a number, a key or a file", "/read 2, or /read runbooks/gateway.md 10-40")
    if re.fullmatch(r"\[?\d{1,4}\]?", what):
        what = numbered.chosen(what, session.numbered, "/read").key
    more = ""
    if not lines:
        try:
            total = session.catalogue.read(session.catalogue.document(what)).total
        except NotFoundError:
            total = 0  # a key: its passage is short
        if total > _READ:
            lines = f"1-{_READ}"
            more = f"{total} lines; /read {filtering.quoted(what)} {_READ + 1}-{min(total, 2 * _READ)} reads on"
    show_command.show(session.catalogue, what, lines=lines or None, context=0, as_json=False)
    if more:
        render.err().write(render.one_line(more))
    return None


def _search(session: Session, typed: str, command: str, mode: Mode) -> Next:
    query, filters, limit = _parts(session, typed)
    if not query:
        raise UsageError(f"{command}: give some words", f"{command} gateway timeout")
    _run(session, filters, limit, f"{command} {query}", query=query, mode=mode)
    return None


def _parts(session: Session, typed: str) -> tuple[str, Filters, int]:
    """The words, the filters that hold for this search, and how many hits: options stand behind the words."""
    found = _LIMIT.search(typed)
    limit = int(found[1]) if found else _USUAL
    rest = _LIMIT.sub("", typed)
    options = _OPTIONS.search(rest)
    if options is None:
        return rest.strip(), session.filters, limit
    return rest[: options.start()].strip(), filtering.read(rest[options.start() :], session.filters), limit


def _run(
    session: Session,
    filters: Filters,
    limit: int,
    by: str,
    *,
    mode: Mode,
    query: str | None = None,
    like: str | None = None,
    like_text: str | None = None,
) -> None:
    from assistant.repl import numbered
    from assistant.search_command import Question, run

    if mode != "keyword":
        session.await_model()
    question = Question(query, like, like_text, mode, limit, by_document=False, today=session.today)
    hits = run(session.library, filters, question, form="text", explain=False, quiet=session.how.quiet)
    if hits:
        session.numbered = numbered.of_hits(hits, by, filtering.written(filters))
