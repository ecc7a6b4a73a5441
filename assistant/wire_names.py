"""Names of tools on wires that forbid some: mapped there and back."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ALLOWED = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


class WireNames:
    """The tools of a request by names of letters, digits, `_` and `-`, at most 64, beginning with a letter or `_`.

    That is what every provider takes. A name that is allowed stays as it is; the others are changed, and numbered where two would
    be the same. The mapping depends on the names and their order alone.
    """

    def __init__(self, names: Iterable[str]) -> None:
        names = list(dict.fromkeys(names))
        self._to_wire = {name: name for name in names if _ALLOWED.fullmatch(name)}
        taken = set(self._to_wire)
        for name in names:
            if name not in self._to_wire:
                self._to_wire[name] = wire = _free(_FORBIDDEN.sub("_", name), taken)
                taken.add(wire)
        self._from_wire = {wire: name for name, wire in self._to_wire.items()}

    def to_wire(self, name: str) -> str:
        """The name as the wire takes it; one that is not declared (in an old conversation) is only made fit."""
        return self._to_wire.get(name) or _free(_FORBIDDEN.sub("_", name), set())

    def from_wire(self, name: str) -> str:
        """The declared name; one that is unknown stays as it is, so that the call can be refused by its name."""
        return self._from_wire.get(name, name)


def _free(name: str, taken: set[str]) -> str:
    """The name with an allowed beginning and length, numbered when it is taken."""
    begun = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
    candidate, number = begun[:_LONGEST], 1
    while candidate in taken:
        number += 1
        candidate = f"{begun[: _LONGEST - len(str(number)) - 1]}_{number}"
    return candidate


__all__ = ["WireNames"]
