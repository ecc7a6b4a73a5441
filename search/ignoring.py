"""Ignore rules: what .gitignore and .archivistignore say of a path, in a folder and those above it.

In: folders and the ignore files in them. Out: Rules, which answer whether a path is ignored. Each line is asked about a path
itself and never about the folders above it, so whoever walks asks for each folder first and enters none that is ignored, as
git does. `sources` walks and says which rules there are and why.
"""

# Plain strings and os functions: this runs for every folder of a tree, beside those of `sources`.
# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import os
import re
import stat
import warnings
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

OWN_FILE = ".archivistignore"
GIT_FILE = ".gitignore"
JUNK = ("node_modules/", "__pycache__/")
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of an ignore file. regex: on the path from that file's folder. ignore: False for a line with "!"."""

    regex: re.Pattern[str]
    ignore: bool
    folders_only: bool


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """base: the folder that it speaks for, "" or "a/b/" from the top. rules: the last line first, as that one decides."""

    base: str
    rules: tuple[Rule, ...]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        """True: ignored. False: taken back. None: no line speaks of `path` (from the top)."""
        tail = path.removeprefix(self.base)
        for rule in self.rules:
            if is_folder or not rule.folders_only:
                found = rule.regex.search(tail)
                # The expression's one group is a "/" after what matched: then the line speaks of a folder above `path`,
                # which has had its own verdict, and that was "not ignored", or this path would not be asked about.
                if found and found.lastindex is None:
                    return rule.ignore
        return None


@dataclass(frozen=True, slots=True)
class Rules:
    """All that has a say in one folder, the deepest file first. own: .archivistignore files, which outrank the rest (git)."""

    own: tuple[IgnoreFile, ...]
    git: tuple[IgnoreFile, ...]

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether `path`, from the top and without a "/" at its end, is ignored, given that no folder above it is."""
        for file in chain(self.own, self.git):
            verdict = file.verdict(path, is_folder)
            if verdict is not None:
                return verdict
        return False

    def within(self, folder: str, base: str) -> tuple[Rules, list[tuple[str, str]]]:
        """The rules inside `folder`, which is `base` from the top, and (path, reason) of ignore files that cannot be read."""
        problems: list[tuple[str, str]] = []

        def add(name: str, outer: tuple[IgnoreFile, ...]) -> tuple[IgnoreFile, ...]:
            path = os.path.join(folder, name)
            try:
                return (IgnoreFile(base, _parse(_read(path))), *outer)
            except FileNotFoundError:
                return outer
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                problems.append((path, f"its rules are not applied: {reason}"))
                return outer

        return Rules(add(OWN_FILE, self.own), add(GIT_FILE, self.git)), problems


def rules_above(root: str) -> tuple[Rules, str, list[tuple[str, str]]]:
    """The rules from a git repository's top down to the folder above `root`, and `root` as seen from there: "" or "a/b/".

    root: absolute, links resolved. Rules that ignore `root` itself are dropped, as it was asked for by name. The third value is
    that of `Rules.within`.
    """
    bare = Rules((), (IgnoreFile("", _parse("\n".join(JUNK))),))
    top = root
    while not os.path.lexists(os.path.join(top, ".git")):
        parent = os.path.dirname(top)
        if parent == top:
            return bare, "", []
        top = parent
    rules, base = bare, ""
    problems: list[tuple[str, str]] = []
    for part in root.removeprefix(top).strip("/").split("/") if root != top else ():
        rules, unread = rules.within(os.path.join(top, base), base)
        problems += unread
        if rules.ignores(base + part, is_folder=True):
            return bare, "", []
        base = f"{base}{part}/"
    return rules, base, problems


@lru_cache(maxsize=4096)
def compile_rule(line: str) -> Rule | None:
    """A line of an ignore file; None when it says nothing: blank, a comment, or not understood by git either."""
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    pattern = line if line.endswith("\\ ") else line.rstrip()
    folders_only = pattern.endswith("/")
    try:
        # The last "/" is left to `folders_only`: with it the expression would ask for what lies inside the folder.
        regex, ignore = GitIgnoreSpecPattern.pattern_to_regex(pattern[:-1] if folders_only else pattern)
        if regex is None or ignore is None:
            return None
        # "[[]" is plain to git, while Python warns that it may one day mean something else.
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return Rule(re.compile(regex, re.DOTALL), ignore, folders_only)
    except (GitIgnorePatternError, re.error):  # such as "[z-a]"
        return None


def _parse(text: str) -> tuple[Rule, ...]:
    """The last line first. Lines end at newlines only: the other separators of Unicode can stand in a name."""
    return tuple(rule for line in reversed(text.split("\n")) if (rule := compile_rule(line)) is not None)


def _read(path: str) -> str:
    """An ignore file's text; a link is followed, for what it leads to is only ever matched against names."""
    # O_NONBLOCK: opening a pipe without a writer would wait for one.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(_MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"larger than {_MAX_BYTES} bytes")
    return os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
