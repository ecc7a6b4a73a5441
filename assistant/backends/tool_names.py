"""Names of tools on wires that allow fewer letters than we do: letters, digits, `_` and `-`, at most 64."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

LONGEST = 64
ALLOWED = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


class ToolNames:
    """The declared names and what they are called on the wire, both ways.

    A name that the wire allows stays. Any other has its letters replaced and six digits of its hash added, so that the same name
    is called the same in every request, and two names never the same.
    """

    def __init__(self, declared: Iterable[str]) -> None:
        self._declared = {wire_name(name): name for name in declared}

    def wire(self, name: str) -> str:
        """A name as the wire allows it, declared or not (a conversation may hold calls of tools that are gone)."""
        return wire_name(name)

    def declared(self, wire: str) -> str:
        """The declared name; a name that was never declared as it came. `default_api:` before a name is left out."""
        if wire in self._declared:
            return self._declared[wire]
        # Gemini shows functions to its models as members of `default_api`, and the prefix leaks into calls.
        bare = re.sub(r"^default_api[.:]", "", wire)
        return self._declared.get(bare, wire)


def wire_name(name: str) -> str:
    """A name of letters, digits, `_` and `-` that begins with a letter or `_` and has at most 64."""
    if ALLOWED.fullmatch(name):
        return name
    mark = "_" + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    safe = safe if re.match(r"[A-Za-z_]", safe) else f"_{safe}"
    return safe[: LONGEST - len(mark)] + mark


__all__ = ["ToolNames", "wire_name"]
