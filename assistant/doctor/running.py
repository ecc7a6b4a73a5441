"""All checks in order, family by family. A check that breaks says so, and the others go on."""

from __future__ import annotations

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
        yield Group(name, tuple(_all(name, checks(scene))))


def _all(family: str, named: Iterator[Named]) -> Iterator[Check]:
    """The checks of a family; what keeps it from naming any more of them is a failed check of its own."""
    while True:
        try:
            following = next(named, None)
        except Exception as error:  # noqa: BLE001 - the other families are to be heard whatever happened here
            yield _broken(family.lower(), error)
            return
        if following is None:
            return
        yield _guarded(*following)


def _guarded(name: str, ask: Ask) -> Check:
    try:
        check = ask()
    except Exception as error:  # noqa: BLE001 - the same for the other checks
        check = _broken(name, error)
    # What servers and files say may hold anything, a key included.
    return Check(check.name, check.state, settings.redact(check.finding), settings.redact(check.fix))


def _broken(name: str, error: Exception) -> Check:
    if isinstance(error, UserError | ProviderError):
        return Check(name, "failed", str(error), error.hint)
    if isinstance(error, ArchivistError):
        return Check(name, "failed", str(error))
    return Check(name, "failed", f"the check itself broke: {type(error).__name__}: {error}")


__all__ = ["Group", "examine"]
