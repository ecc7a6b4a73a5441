"""What tables are called: a pure function of the set of tables, so that any order of edits gives the names that a rebuild gives.

A table is named after its file ("2026-09-30-carrier-codes.csv" is carrier_codes_2026_09_30), one of several in a file after file
and sheet; tables of a SQLite file keep their names. Who wishes for a name that is free has it, the first by path where several
do. The others become stem_table, then folder_stem, and in the end get a number.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import PurePosixPath

LONGEST = 60  # characters of a name

# Ours, with our indexes, which share one space of names with tables; and the functions that stand where tables do: a table of
# that name would hide them from every query.
RESERVED = frozenset(
    {
        *("documents", "document_tags", "passages"),
        *("documents_by_path", "documents_by_hash", "documents_by_date", "documents_by_category"),
        *("document_tags_by_tag", "passages_by_key", "idx__sqlite_migrations_migration_set_name"),
        *("json_each", "json_tree", "generate_series", "fts5vocab", "fts4aux", "dbstat", "bytecode", "tables_used"),
    }
)
_OURS = re.compile(r"_|sqlite_|pragma_", re.IGNORECASE)  # no name begins so: SQLite's, and our own internal ones
_DIGITS_FIRST = re.compile(r"([0-9][0-9_]*)([a-z].*)")
_LONGEST_TAIL = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A table that wants a name. root, path: of its file; label, keeps_name: as in TableDraft; alone: the only one in its file."""

    root: str
    path: str
    ordinal: int
    label: str = ""
    keeps_name: bool = False
    alone: bool = True


def wished(entry: Entry) -> str:
    """The name that a table has unless it is reserved or another one's. It may be one that is reserved."""
    if entry.keeps_name and (kept := _kept(entry.label)):
        return kept
    stem = _stem(entry.path)
    return stem if entry.alone else _joined(stem, folded_name(entry.label) or str(entry.ordinal + 1))


def wishes(entry: Entry) -> Iterator[str]:
    """The names that a table takes, the one it likes best first; without end, and with some that are reserved."""
    first = wished(entry)
    yield first
    base = _joined(_stem(entry.path), folded_name(entry.label)) if entry.keeps_name else first
    yield base if entry.keeps_name else _joined(first, "table")
    for folder in reversed(PurePosixPath(entry.path).parts[:-1]):
        room = LONGEST - 1 - len(base)
        if (name := folded_name(folder)) and room > 0:
            base = _begun(f"{name[:room].strip('_')}_{base}".lstrip("_"))
            yield base
    for number in count(2):
        yield _joined(first, str(number))


def settled(entries: Iterable[Entry]) -> dict[Entry, str]:
    """The name of every table: no two alike, without regard to case, none reserved, at most 60 characters."""
    names: dict[Entry, str] = {}
    taken: set[str] = set()
    late = []
    # Everyone's first wish goes before anyone's second: a.csv never loses its name to the second wish of b.csv.
    for entry in sorted(entries, key=lambda entry: (entry.root, entry.path, entry.ordinal)):
        name = wished(entry)
        if is_valid(name) and _key(name) not in taken:
            names[entry] = name
            taken.add(_key(name))
        else:
            late.append(entry)
    for entry in late:
        names[entry] = next(name for name in wishes(entry) if is_valid(name) and _key(name) not in taken)
        taken.add(_key(names[entry]))
    return names


def is_valid(name: str) -> bool:
    """Whether a table may have this name."""
    return 0 < len(name) <= LONGEST and _key(name) not in RESERVED and not _OURS.match(name)


def folded_name(text: str) -> str:
    """Text as the part of a name: lower case a to z, digits, "_"; accents are dropped, and so are other letters."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = "".join(
        character if character.isascii() and character.isalnum() else "" if unicodedata.category(character)[0] in "LM" else "_"
        for character in plain
    )
    return re.sub("_+", "_", kept).strip("_")


@lru_cache(maxsize=10_000)  # all tables are named again whenever one comes or goes
def _stem(path: str) -> str:
    """A file's name as a table's."""
    written = PurePosixPath(path).stem
    name = folded_name(written)
    return _begun(name) if name else f"table_{hashlib.sha256(written.encode('utf-8', 'surrogatepass')).hexdigest()[:4]}"


def _begun(name: str) -> str:
    """A folded name with leading digits at its end, and with another beginning where none begins like it."""
    if match := _DIGITS_FIRST.fullmatch(name):
        name = _joined(match[2], match[1])
    return f"table_{name}"[:LONGEST].rstrip("_") if name[0].isdigit() or _OURS.match(name) else name[:LONGEST].rstrip("_")


def _kept(label: str) -> str:
    """The name that a table has in its own file, in as far as it can be one here; "" where nothing of it can."""
    shown = " ".join("".join(character if character.isprintable() else " " for character in label).split())
    if _OURS.match(shown) and shown.strip("_"):
        shown = f"table_{shown.lstrip('_')}"
    return shown.strip("_ ") and shown[:LONGEST].strip()


def _joined(head: str, tail: str) -> str:
    """Two parts of a name; the tail, which tells tables of one head apart, is kept as long as it is short."""
    tail = tail[:_LONGEST_TAIL].strip("_")
    return f"{head[: LONGEST - 1 - len(tail)].rstrip('_')}_{tail}" if tail else head[:LONGEST].rstrip("_")


def _key(name: str) -> str:
    """What two names may not share: SQLite looks at A to Z alone, people at every letter."""
    return name.casefold()
