"""Documents that are hidden from a search by where they lie: patterns of paths compiled to SQL over `documents d`.

In: patterns as people write them in settings. Out: a condition that no hidden document passes, with its parameters. Where a pattern
could be read in two ways it hides what either of them names, since the other mistake would give away what was to be kept.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from search.errors import FilterError
from search.folding import folded
from search.models import Filters
from search.sources import typed

_MOST_PATTERNS = 500
_LONGEST = 1000  # characters
_WILD = re.compile(r"[*?\[]")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")  # SQLite's GLOB ends at NUL
_MOST_DEEP = 4  # of "/**/" in a pattern: each of them doubles the globs
# Links are followed once for a root, and not for each of its documents: OFFSET keeps SQLite from taking this apart.
_ROOTS = "(SELECT id, path, named, real_path(path) AS real FROM _roots LIMIT -1 OFFSET 0)"
_IS_NAMED = "r.named <> '[]' AND EXISTS (SELECT 1 FROM json_each(r.named) n WHERE n.value = d.path)"
_FULL, _REAL = (f"rtrim(r.{path}, '/') || '/' || d.path" for path in ("path", "real"))
_PLACES = (  # of a document, and when each of them counts
    (_FULL, "1"),
    ("'/' || d.path", "1"),
    (_REAL, "r.real <> r.path"),
    (f"real_path({_FULL})", _IS_NAMED),
)
# Both sides end in a slash, so that one glob means a folder with all in it, and a file.
_IS_THERE = " OR ".join(f"({counts} AND folded({place} || '/') GLOB g.value)" for place, counts in _PLACES)


def hiding_sql(patterns: Sequence[str]) -> tuple[str, tuple[str]]:
    """The condition that a document is hidden by none of the patterns, and its parameter.

    A pattern that begins with "/" is compared with the whole path and with that from the root on, any other is looked for in
    the whole path at any depth; "*" also stands for "/", and "/**/" for no folder as well; a folder hides what lies below it;
    upper and lower case are the same. Where a root, or a file that was indexed by name, is a link, the place that it leads to
    counts beside its own. Raises FilterError for a pattern that cannot be what the person means.
    """
    if len(patterns) > _MOST_PATTERNS:
        raise FilterError(f"local_only: got {len(patterns)} patterns, want {_MOST_PATTERNS} at most")
    globs: list[str] = []
    for pattern in patterns:
        for text in typed(_checked(pattern)):
            before = "" if text.startswith("/") else "*/"
            globs += [f"{before}{folded(form)}/*" for form in dict.fromkeys((*_deep(text), _literal(text)))]
    test = f"NOT EXISTS (SELECT 1 FROM {_ROOTS} r, json_each(?) g WHERE r.id = d.root AND ({_IS_THERE}))"
    return test, (json.dumps(globs),)


def revealed(filters: Filters) -> Filters:
    """The same filters with nothing hidden, at any depth."""
    within = revealed(filters.within) if filters.within is not None else None
    return replace(filters, hidden=(), within=within)


def _checked(pattern: str) -> str:
    """A pattern without what says nothing: "." as a folder, "**/" in front, slashes at the end or doubled."""
    text = re.sub(r"/(?:\.?/)+", "/", f"{pattern.strip()}/")
    text = re.sub(r"^(?:\./|\*\*/)+(?=.)", "", re.sub(r"(?:/\*\*)+/", "/**/", text))
    text = text.rstrip("/") or text[:1]
    problem = ""
    if not text or text in {".", "/"}:
        problem = "which names nothing; * is everything"
    elif len(text) > _LONGEST or _UNREADABLE.search(text):
        problem = f"want {_LONGEST} characters of readable text at most"
    elif "\\" in text or re.search(r"\{[^}]*,", text) or text.startswith("!"):
        problem = "want a folder or a glob of * ? [abc]: \\, {a,b} and ! are not understood here"
    elif ".." in text.split("/"):
        problem = "want a path without .."
    elif text.count("/**/") > _MOST_DEEP:
        problem = f"want {_MOST_DEEP} of /**/ at most"
    elif _WILD.search(text.replace("[", "")) and re.search(r"\[(?!\^?[^/]+\])", text):
        problem = "want a ] behind the ["
    if problem:
        raise FilterError(f"local_only: got {pattern[:80]!r}, {problem}")
    return text


def _deep(text: str) -> Iterator[str]:
    """The pattern with each "/**/" as it stands, which GLOB takes for one folder at least, and as none."""
    first, *others = text.split("/**/")
    for joints in itertools.product(("/**/", "/"), repeat=len(others)):
        yield first + "".join(joint + other for joint, other in zip(joints, others, strict=True))


def _literal(text: str) -> str:
    """The glob that means just these characters: a folder may be called [work]."""
    return re.sub(r"[*?\[]", r"[\g<0>]", text)


__all__ = ["hiding_sql", "revealed"]
