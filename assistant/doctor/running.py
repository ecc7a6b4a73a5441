"""All checks in order, family by family. A check that breaks says so, and the others go on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from assistant import settings
from assistant.doctor import library, machine, model, private, providers, terminal
from assistant.doctor.models import Ask, Check, Named, Scene
from assistant.errors import ArchivistError, ProviderError, UserError

_FAMILIES: tuple[tuple[str, Callable[[Scene], Iterator[Named]]], ...] = (
    ("Machine", machine.checks),
    ("Library", library.checks),
    ("Embedding model", model.checks),
    ("Models", providers.checks),
    ("Keys and private files", private.checks),
    ("Terminal", terminal.checks),
    ("Places", machine.places),
)


@dataclass(frozen=True, slots=True)
class Group:
    """The checks of a family."""

    name: str
    checks: tuple[Check, ...]


def examine(scene: Scene) -> Iterator[Group]:
    """Every family, each as soon as its checks are done. Raises nothing that a check can cause."""
    for name, checks in _FAMILIES:
        yield Group(name, tuple(_all(name, checks, scene)))


def _all(family: str, checks: Callable[[Scene], Iterator[Named]], scene: Scene) -> Iterator[Check]:
    """The checks of a family; what keeps it from naming any more of them is a failed check of its own."""
    named: Iterator[Named] | None = None
    while True:
        try:
            named = checks(scene) if named is None else named
            following = next(named, None)
        except Exception as error:  # noqa: BLE001 - the other families are to be heard whatever happened here
            yield _masked(_broken(family.lower(), error))
            return
        if following is None:
            return
        yield _guarded(*following)


def _guarded(name: str, ask: Ask) -> Check:
    try:
        check = ask()
    except Exception as error:  # noqa: BLE001 - the same for the other checks
        check = _broken(name, error)
    return _masked(check)


def _masked(check: Check) -> Check:
    return Check(check.name, check.state, _redacted(check.finding), _redacted(check.fix))


def _redacted(text: str) -> str:
    """A text without keys: what servers and files say may hold anything."""
    try:
        return settings.redact(text)
    except UserError:  # keys.json cannot be read, which its own check says; the environment's keys are left to be masked
        for name in (name for names in settings.KEY_NAMES.values() for name in names):
            text = text.replace(os.environ.get(name, "").strip() or "\0", "[key]")
        return text


def _broken(name: str, error: Exception) -> Check:
    if isinstance(error, UserError | ProviderError):
        return Check(name, "failed", str(error), error.hint)
    if isinstance(error, ArchivistError):
        return Check(name, "failed", str(error))
    return Check(name, "failed", f"the check itself broke: {type(error).__name__}: {error}")


__all__ = ["Group", "examine"]
