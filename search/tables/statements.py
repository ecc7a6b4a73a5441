"""SQL as text: its tokens as SQLite takes them, and what is refused before any of it runs.

Not a parser: SQLite has one, which judges what this lets through. What is decided here is what SQLite would take without a word: a
second statement, a word in double quotes that names nothing and so becomes a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from search.errors import QueryError

LONGEST = 100_000  # bytes of a statement
ONLY_READS = "SQL here only reads: one SELECT, which may begin with WITH or be VALUES"

Kind = Literal["word", "name", "quoted", "text", "blob", "number", "parameter", "sign"]

# As SQLite's tokenizer has it: every character beyond ASCII belongs to a word, "$" too, but none begins with it.
_TOKEN = re.compile(
    r"""
    (?P<space>  [ \t\n\f\r\ufeff]+ | --[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<text>   '[^']*(?:''[^']*)*' )
  | (?P<name>   "[^"]*(?:""[^"]*)*" )
  | (?P<quoted> `[^`]*(?:``[^`]*)*` | \[[^\]]*\] )
  | (?P<blob>   [xX]'[^']*' )
  | (?P<parameter> \?[0-9]* | [:@$](?:[0-9A-Za-z_$\x80-\U0010ffff]|::)+(?:\([^\s)]*\))? )
  | (?P<number> 0[xX][0-9a-fA-F]+ | (?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)? )
  | (?P<word>   [A-Za-z_\x80-\U0010ffff][0-9A-Za-z_$\x80-\U0010ffff]* )
  | (?P<sign>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
_LIKE_A_SPACE = re.compile(r"[^\S \t\n\f\r]|[\u200b-\u200f\u2060]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INSTEAD = {
    "EXPLAIN": "EXPLAIN shows no data; send the SELECT itself",
    "PRAGMA": ONLY_READS,
    "SHOW": "SQLite has no SHOW",
    "DESCRIBE": "SQLite has no DESCRIBE",
    "DESC": "SQLite has no DESC",
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of SQL. text: as it stands there. start: its place. name: "..." in double quotes; quoted: `...` or [...]."""

    kind: Kind
    text: str
    start: int

    @property
    def value(self) -> str:
        """What a quoted name or text says; the token itself where it is neither."""
        if self.kind in {"text", "name"} or (self.kind == "quoted" and self.text[0] == "`"):
            quote = self.text[0]
            return self.text[1:-1].replace(quote * 2, quote)
        return self.text[1:-1] if self.kind == "quoted" else self.text


@dataclass(frozen=True, slots=True)
class Statement:
    """One SELECT as text, without what follows it, and as tokens, without comments."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def strict(self) -> str | None:
        """The statement with its names in another kind of quotes, None where it has none in double quotes.

        SQLite takes "x" for the text 'x' where nothing is called x, but `x` for a name only: this one is compiled first.
        """
        pieces, end = [], 0
        for token in self.tokens:
            if token.kind == "name":
                pieces += [self.text[end : token.start], "`", token.value.replace("`", "``"), "`"]
                end = token.start + len(token.text)
        return "".join([*pieces, self.text[end:]]) if pieces else None

    @property
    def loose_names(self) -> set[str]:
        """The words in double quotes that SQLite might take for texts: those that no dot joins to another name."""
        dotted = {
            place
            for place, token in enumerate(self.tokens)
            if token.text == "." and token.kind == "sign"
            for place in (place - 1, place + 1)
        }
        return {token.value for place, token in enumerate(self.tokens) if token.kind == "name" and place not in dotted}

    @property
    def words(self) -> set[str]:
        """All names and keywords, in lower case."""
        return {token.value.lower() for token in self.tokens if token.kind in {"word", "name", "quoted"}}

    def aliases(self) -> Iterator[tuple[str, str]]:
        """(alias, name) wherever two names stand side by side, or with AS between them: tables and what they are called."""
        names = [token if token.kind in {"word", "name", "quoted"} else None for token in self.tokens]
        for place, first in enumerate(names[:-1]):
            follows = names[place + 1]
            if follows is not None and follows.text.upper() == "AS":
                follows = names[place + 2] if place + 2 < len(names) else None
            if first is not None and follows is not None:
                yield follows.value.lower(), first.value.lower()

    def unknown_source(self, known: Iterable[str]) -> str | None:
        """The first name behind FROM or JOIN that is neither known nor a common table expression; None without one."""
        texts = [token.text.upper() for token in self.tokens]
        named = [token.value.lower() if token.kind in {"word", "name", "quoted"} else "" for token in self.tokens]
        followed = [" ".join(texts[place + 1 : place + 3]) for place in range(len(texts))]
        before_select = ("(", "AS (", "AS NOT", "AS MATERIALIZED")
        made = {name for name, after in zip(named, followed, strict=True) if after.startswith(before_select)}
        found = {name.lower() for name in known} | made | {""}
        for place in range(1, len(texts)):
            behind = texts[place - 1] in {"FROM", "JOIN"} and texts[max(0, place - 2)] != "DISTINCT"
            if behind and named[place] not in found and not followed[place].startswith("."):
                return self.tokens[place].value
        return None


def read_statement(sql: str) -> Statement:
    """The one SELECT that a text is. Raises QueryError for anything else, and for what no statement can hold."""
    _check_text(sql)
    tokens = tuple(_tokens(sql))
    while tokens and tokens[-1].text == ";":
        tokens = tokens[:-1]
    if not tokens:
        raise QueryError("sql: got no statement, want a SELECT")
    first = tokens[0].text.upper()
    second = next((place for place, token in enumerate(tokens) if token.text == ";"), None)
    if second is not None:
        after = tokens[second + 1].text[:40]
        raise QueryError(f"refused: a second statement, which begins with {after}: {ONLY_READS}")
    if first not in {"SELECT", "WITH", "VALUES"}:
        shown = f"{first} {tokens[1].text.upper()}" if first in {"CREATE", "DROP", "ALTER"} and len(tokens) > 1 else first
        raise QueryError(f"refused: {shown[:40]}: {_INSTEAD.get(first, ONLY_READS)}")
    unseen = next(
        (match for token in tokens if token.kind in {"word", "sign"} for match in _LIKE_A_SPACE.finditer(token.text)), None
    )
    if unseen is not None:
        raise QueryError(f"sql: got the character U+{ord(unseen[0]):04X} outside of quotes, want a plain space or none")
    return Statement(sql[: tokens[-1].start + len(tokens[-1].text)], tokens)


def _check_text(sql: str) -> None:
    if "\0" in sql:
        raise QueryError("sql: got a NUL character, want text; parameters can hold one")
    if _SURROGATE.search(sql):
        raise QueryError("sql: got half a character (a surrogate), want text in Unicode")
    size = len(sql.encode("utf-8"))
    if size > LONGEST:
        raise QueryError(f"sql: got {size:,} bytes, want {LONGEST:,} at most; long lists go in a parameter: json_each(?)")


def _tokens(sql: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup
        text = match[0]
        if kind == "space":
            continue
        if kind == "sign" and text in "'\"`[":
            what = "a text" if text == "'" else "a name"
            raise QueryError(f"sql: {what} that begins with {sql[match.start() :][:20]!r} is not closed")
        if kind == "sign" and text == ":":
            raise QueryError('sql: got ":" before no name; CAST(x AS type) in place of x::type')
        yield Token(kind, text, match.start())  # type: ignore[arg-type] # the groups are the kinds
