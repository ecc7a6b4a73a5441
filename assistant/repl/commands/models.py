"""/model, /models, /filter, /index, /status: what is asked, and what of the library it sees."""

from __future__ import annotations

from assistant import render, settings
from assistant.repl import filtering
from assistant.repl.commands import keeping
from assistant.repl.commands.base import Next
from assistant.repl.state import Session


def model(session: Session, typed: str) -> Next:
    """Show the model, or go on with another one."""
    if typed:
        use(session, typed)
        return None
    with session.spinner.over(lambda: "looking for a model"):
        _ = session.conversation
    assert session.choice is not None
    render.out().write(render.one_line(f"{session.choice.spec} ({session.choice.why})"))
    return None


def use(session: Session, spec: str) -> None:
    """Go on with another model and say so."""
    with session.spinner.over(lambda: f"asking for {render.one_line(spec)}"[:32]):
        notices = session.use(spec)
    for notice in (f"the answers come from {session.model} now", *notices):
        render.err().write(render.one_line(notice))


def models(_: Session, __: str) -> Next:
    """List the models that can be used now."""
    from assistant import models_command

    models_command.models(base_url=None, online=False, as_json=False)
    return None


def role(session: Session, typed: str) -> Next:
    """Show the roles, or give the model the instructions of one."""
    out = render.out()
    if typed:
        named = None if typed.casefold() == "none" else typed
        session.instruct(named)
        out.write(f"the instructions of {render.one_line(named)} hold from now on" if named else "no own instructions from now on")
        return None
    text = render.one_line(session.how.instructions)
    out.write(render.cut(f"the model is told: {text}" if text else "the model has no own instructions", out.width))
    for name, instructions in sorted(settings.own().roles.items()):
        shown = render.one_line(name)
        out.write(f"{out.style(shown, '1')}  {render.cut(render.one_line(instructions), max(out.width - len(shown) - 2, 10))}")
    return None


def filter_documents(session: Session, typed: str) -> Next:
    """Show, set or clear the filters that stay."""
    out = render.out()
    word, _, rest = typed.partition(" ")
    if word == "clear":
        session.narrow(filtering.without(rest.split(), session.filters))
    elif typed:
        session.narrow(filtering.read(typed, session.filters))
    if not session.scope:
        out.write("no filters: every document is seen")
        return None
    count = session.catalogue.count_documents(session.filters, today=session.today)["total"]
    seen = f"{count} of {session.catalogue.coverage().documents} documents"
    for line in render.wrapped(f"{session.scope}: {seen} seen; /filter clear ends it", out.width):
        out.write(line)
    if not count:
        for reason in session.catalogue.why_empty("", session.filters, today=session.today):
            for line in render.wrapped(render.one_line(reason), render.err().width):
                render.err().write(line)
    return None


def index(session: Session, typed: str) -> Next:
    """Bring the library in step with its folders, or with one that is named."""
    from assistant import index_command

    places = [keeping.place(typed, "/index", "~/notes")] if typed else []
    session.await_model()
    index_command.run(
        places,
        session.path,
        embedder=session.warming,
        include=(),
        exclude=(),
        max_size=None,
        prune=False,
        dry_run=False,
        rebuild=False,
        watch=False,
        strict=False,
        verbose=False,
        quiet=session.how.quiet,
        as_json=False,
    )
    session.refresh()
    return None


def status(session: Session, _: str) -> Next:
    """Show what the library holds."""
    from assistant import show_command

    show_command.status(session.catalogue, as_json=False)
    return None
