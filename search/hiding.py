"""Documents that are hidden from a search by where they lie: patterns of paths compiled to SQL over `documents d`.

In: patterns as people write them in settings. Out: a condition that no hidden document passes, with its parameters. Where a pattern
could be read in two ways it hides what either of them names, since the other mistake would give away what was to be kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from search.errors import FilterError
from search.folding import folded
from search.models import Filters
from search.sources import typed

_MOST_PATTERNS = 500
_LONGEST = 1000  # characters
_WILD = re.compile(r"[*?\[]")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")  # SQLite's GLOB ends at NUL
_ROOT = "rtrim(r.path, '/')"
_PARENT = f"rtrim({_ROOT}, replace({_ROOT}, '/', ''))"  # a path without the signs at its end that are no slash
_NAME = f"substr({_ROOT}, length({_PARENT}) + 1)"
# Both end in a slash, so that one glob means a folder with all in it, and a file.
_IN_FULL = f"folded({_ROOT} || '/' || d.path || '/')"
_IN_ROOT = f"folded('/' || {_NAME} || '/' || d.path || '/')"


def hiding_sql(patterns: Sequence[str]) -> tuple[str, tuple[str, str]]:
    """The condition that a document is hidden by none of the patterns, and its parameters.

    A pattern that begins with "/" is compared with the whole path, any other with the path from the root's own name on, at any
    depth; "*" also stands for "/"; a folder hides what lies below it; upper and lower case are the same. Raises FilterError for
    a pattern that cannot be what the person means.
    """
    if len(patterns) > _MOST_PATTERNS:
        raise FilterError(f"local_only: got {len(patterns)} patterns, want {_MOST_PATTERNS} at most")
    in_full: list[str] = []
    in_root: list[str] = []
    for pattern in patterns:
        for text in typed(_checked(pattern)):
            place = in_full if text.startswith("/") else in_root
            before = "" if text.startswith("/") else "*/"
            place += [f"{before}{folded(form)}/*" for form in dict.fromkeys((text, _literal(text)))]
    tests = [
        f"NOT EXISTS (SELECT 1 FROM _roots r, json_each(?) g WHERE r.id = d.root AND {place} GLOB g.value)"
        for place in (_IN_FULL, _IN_ROOT)
    ]
    return f"({' AND '.join(tests)})", (json.dumps(in_full), json.dumps(in_root))


def revealed(filters: Filters) -> Filters:
    """The same filters with nothing hidden, at any depth."""
    within = revealed(filters.within) if filters.within is not None else None
    return replace(filters, hidden=(), within=within)


def _checked(pattern: str) -> str:
    """A pattern without what says nothing: "./" and "**/" in front, slashes at the end or doubled."""
    text = re.sub(r"/{2,}", "/", pattern.strip())
    text = re.sub(r"^(?:\./|\*\*/)+", "", text)
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
    elif _WILD.search(text.replace("[", "")) and re.search(r"\[(?!\^?[^/]+\])", text):
        problem = "want a ] behind the ["
    if problem:
        raise FilterError(f"local_only: got {pattern[:80]!r}, {problem}")
    return text


def _literal(text: str) -> str:
    """The glob that means just these characters: a folder may be called [work]."""
    return re.sub(r"[*?\[]", r"[\g<0>]", text)


__all__ = ["hiding_sql", "revealed"]
