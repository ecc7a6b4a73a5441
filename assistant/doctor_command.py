"""`archivist doctor`: the checks as lines, or as JSON. Each line says how a thing is, below it what mends it."""

from __future__ import annotations

from platformdirs import user_data_path

from assistant import backends, doctor, render, settings
from assistant.doctor import Check, Group, Scene
from assistant.errors import UserError
from search.counting import counted

_SIGNS = {"ok": ("ok", "32"), "warning": ("warning", "33"), "failed": ("FAILED", "31"), "skipped": ("-", "2")}
_WIDTH = 9  # of the column of states
_TROUBLE = frozenset({"warning", "failed"})


def run(*, library: str | None, embedder: str | None, base_url: str | None, online: bool, as_json: bool, quiet: bool) -> int:
    """Look at everything and show it; returns 1 when a check has failed. quiet: only what is not well is shown.

    Raises UsageError for a library by a name that is not known.
    """
    scene = _scene(library, embedder, base_url, online=online)
    groups, shown = [], False
    for group in doctor.examine(scene):
        groups.append(group)
        if not as_json:
            shown = _show(group, quiet=quiet, first=not shown) or shown
            render.out().stream.flush()
    checks = [check for group in groups for check in group.checks]
    if as_json:
        render.out().write(render.as_json(_as_object(groups)))
    elif not quiet:
        render.out().write()
        render.out().write(_sum(checks))
    return 1 if any(check.state == "failed" for check in checks) else 0


def _scene(library: str | None, embedder: str | None, base_url: str | None, *, online: bool) -> Scene:
    """What is to be looked at: as given, else as the settings say; the defaults where they cannot be read, which a check says."""
    choice = None
    try:
        own = settings.own()
    except UserError:
        own = settings.Settings()
        file = settings.at_home(library) if library else user_data_path("archivist") / "library.db"
    else:
        file = settings.library_file(library)
        choice = backends.chosen()
    named = library is not None or own.library is not None
    return Scene(file, named, embedder or own.embedder, base_url or own.base_url, choice, online)


def _show(group: Group, *, quiet: bool, first: bool) -> bool:
    """The lines of a family, none when nothing of it is to be shown; whether there were any."""
    out = render.out()
    checks = [check for check in group.checks if not quiet or check.state in _TROUBLE]
    if not checks:
        return False
    if not first:
        out.write()
    out.write(out.style(group.name, "1"))
    width = max(render.columns(render.one_line(check.name)) for check in group.checks)
    for check in checks:
        _line(check, width, out)
    return True


def _line(check: Check, width: int, out: render.Terminal) -> None:
    sign, style = _SIGNS[check.state]
    name = render.one_line(check.name)
    head = f"  {out.style(sign, style)}{' ' * (_WIDTH - len(sign))}{name}{' ' * (width - render.columns(name))}  "
    indent = " " * (2 + _WIDTH + width + 2)
    first, *others = _wrapped(render.one_line(check.finding), out, len(indent))
    out.write(head + first)
    for line in others:
        out.write(indent + line)
    if check.fix and check.state in _TROUBLE:
        out.write(f"{indent}{out.style('fix:', '1')} {render.one_line(check.fix)}")  # never broken: it is to be pasted


def _wrapped(text: str, out: render.Terminal, taken: int) -> list[str]:
    return render.wrapped(text, max(out.width - taken, 24)) if out.interactive else [text]


def _sum(checks: list[Check]) -> str:
    counts = {state: sum(check.state == state for check in checks) for state in doctor.STATES}
    if not counts["failed"] and not counts["warning"]:
        return f"all is well: {counted(counts['ok'], 'check')}, {counts['skipped']} skipped"
    return f"{counts['failed']} failed, {counted(counts['warning'], 'warning')}, {counts['ok']} ok, {counts['skipped']} skipped"


def _as_object(groups: list[Group]) -> dict[str, object]:
    checks = [
        {"family": group.name, "name": check.name, "state": check.state, "finding": check.finding, "fix": check.fix}
        for group in groups
        for check in group.checks
    ]
    return {"checks": checks, **{state: sum(check["state"] == state for check in checks) for state in doctor.STATES}}
