"""The names of tools as models write them, brought back to the names that were declared."""

from __future__ import annotations

import re
from collections.abc import Collection

# What models put around a name, in the order in which it is taken off.
_PREFIX = re.compile(r"^(?:functions?[.:]|default_api[.:]|tools?[.:]|tool_(?=.)|mcp__(?:[^_]+__)?|call:)", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:<\|.*|:\d+|\(\))$", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w.\-:/]{0,127}")
# Said in place of a call by models that want to make none.
_NO_CALL = frozenset({"no_function", "none", "no_tool", "null", "directly_answer", "final_answer"})


class Names:
    """The declared names, found again whatever case, dots, hyphens and prefixes a model writes."""

    def __init__(self, declared: Collection[str]) -> None:
        self._exact = frozenset(declared)
        folded: dict[str, set[str]] = {}
        for name in declared:
            folded.setdefault(fold(name), set()).add(name)
        self._folded = {key: next(iter(names)) for key, names in folded.items() if len(names) == 1}

    def declared(self, written: str) -> str | None:
        """The declared name that is meant, None when none is, or when two could be."""
        for candidate in _candidates(written):
            if candidate in self._exact:
                return candidate
            if fold(candidate) in self._folded:
                return self._folded[fold(candidate)]
        return None


def undeclared(written: str) -> str | None:
    """The name of a well-formed call to a tool that was not declared; None for placeholders and for words that mean no call."""
    *_, bare = _candidates(written)
    return bare if _NAME.fullmatch(bare) and fold(bare) not in _NO_CALL else None


def fold(name: str) -> str:
    """A name without regard to case and to the sign between its words."""
    return name.casefold().replace(".", "_").replace("-", "_")


def _candidates(written: str) -> list[str]:
    name = written.strip().strip("`\"'").strip()
    found = [name]
    name = _SUFFIX.sub("", name).strip()
    found.append(name)
    while True:
        shorter = _PREFIX.sub("", name, count=1)
        if shorter == name or not shorter:
            return found
        name = shorter
        found.append(name)
