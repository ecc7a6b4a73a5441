"""What the author of a SQLite database wrote beside its columns: the comments in CREATE TABLE, which SQLite keeps.

In: the statement as `sqlite_master` holds it. Out: a comment for each column that has one, and one for the table. A comment
belongs to the column on whose line it ends, also behind the comma; one on a line of its own to the column that follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from search.readers.cleaning import one_line

LONGEST = 120
_MAX_STATEMENT = 200_000
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]"
    r"|[(),\n]|[^\s(),'\"`\[/-]+|\S",
    re.DOTALL,
)
_STARS = re.compile(r"^[ \t]*\*+", re.MULTILINE)


@dataclass(slots=True)
class Comments:
    """columns: comment by the column's name in lower case. table: what is said before the columns, "" where nothing is."""

    columns: dict[str, str] = field(default_factory=dict)
    table: str = ""


def comments_of(statement: str) -> Comments:
    """The comments of one CREATE TABLE, each on one line of at most LONGEST characters."""
    walk = _Walk()
    if "--" in statement or "/*" in statement:
        for match in _TOKEN.finditer(statement[:_MAX_STATEMENT]):
            walk.take(match[0])
    columns = {name: _joined(texts) for name, texts in walk.columns.items()}
    return Comments({name: text for name, text in columns.items() if text}, _joined(walk.table))


def words_of(statement: str) -> str:
    """The statement without its comments, in upper case, quoted parts left out: what may be searched for a keyword."""
    tokens = (match[0] for match in _TOKEN.finditer(statement))
    return " ".join(piece for piece in tokens if not piece.startswith(("--", "/*", "'", '"', "`", "["))).upper()


class _Walk:
    """A reading of the statement, word by word."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str]] = {}
        self.table: list[str] = []
        self._waiting: list[str] = []
        self._depth = 0
        self._within: str | None = None  # the definition that has begun and not ended
        self._last: str | None = None  # the definition that this line belongs to
        self._bare = True  # nothing but comments stands on the line so far

    def take(self, piece: str) -> None:
        if piece == "\n":
            self._bare = True
        elif piece.startswith(("--", "/*")):
            self._comment(_plain(piece))
        else:
            self._bare = False
            self._code(piece)

    def _comment(self, text: str) -> None:
        owner = self._within if self._bare else self._last
        if owner is not None:
            self.columns.setdefault(owner, []).append(text)
        elif self._bare and self._depth:
            self._waiting.append(text)
        else:
            self.table.append(text)

    def _code(self, piece: str) -> None:
        if piece == "(":
            self._depth += 1
        elif piece == ")":
            self._depth -= 1
        elif self._depth == 1 and piece == ",":
            self._within = None
        elif self._depth == 1 and self._within is None:
            self._within = self._last = _unquoted(piece).lower()
            self.columns.setdefault(self._within, []).extend(self._waiting)
            self._waiting.clear()


def _plain(piece: str) -> str:
    if piece.startswith("--"):
        return piece.lstrip("-")
    return _STARS.sub("", piece.removeprefix("/*").removesuffix("*/"))


def _unquoted(piece: str) -> str:
    for opening, closing in ('""', "``", "''", "[]"):
        if len(piece) > 1 and piece.startswith(opening) and piece.endswith(closing):
            return piece[1:-1].replace(closing * 2, closing)
    return piece


def _joined(texts: list[str]) -> str:
    return one_line("; ".join(filter(None, (one_line(text, 1_000) for text in texts))), LONGEST)
