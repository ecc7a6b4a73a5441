"""Which files of a folder are to be indexed, their bytes, and when they change.

In: a folder, or a file named by itself. Out: a SourceFile or a Skipped with its reason, one at a time, folder by folder in the
order of names; memory grows with the largest folder's names, not with the tree. What is left out without a word:

- names that begin with "." (`.git` among them), and `node_modules` and `__pycache__` (an ignore file can bring these two back);
- what .gitignore and .archivistignore say, matched as git does: each file speaks for its own folder, the deepest one that has
  a say decides, "!" takes back, and nothing inside an ignored folder is looked at. Any .archivistignore outranks every
  .gitignore. Inside a git repository those of the folders above, up to its top, count too, unless they ignore the very folder
  that was asked for. Git's private lists (info/exclude, core.excludesFile) are not read;
- what the globs `exclude` name, or `include` does not. A glob without "/" matches a name anywhere, one with "/" the path from
  the root; a folder that matches stands for all it holds. `include` narrows, it brings nothing back;
- links to what lies in the folder anyway.

A file that is named by itself is always taken.
"""

# Plain strings and os functions: this runs for every file of a tree, and Path objects would cost several times as much.
# ruff: noqa: PTH112, PTH116, PTH118, PTH208

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from search import ignoring
from search.errors import ReadError, SourceError

if TYPE_CHECKING:
    import threading

    from pathspec import GitIgnoreSpec

MAX_BYTES = 50_000_000
_CHUNK = 1 << 20

_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
_MARK = "\N{REPLACEMENT CHARACTER}"
_ESCAPED = re.compile(_MARK + "([89A-F][0-9A-F])")
_UNDECODED = re.compile("[\udc80-\udcff]")
_TO_ESCAPE = re.compile(f"[\udc80-\udcff]|{_MARK}(?=[89A-F][0-9A-F])")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A regular file to be read.

    path: from the root, "/" between the parts, as `to_text` writes it. full: where to open it. size: bytes. mtime_ns: modified,
    in nanoseconds since 1970. ctime_ns: when anything about it changed last, its name and mtime included; nobody can set it.
    """

    path: str
    full: Path
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not taken, and why.

    path: from the root. blind: what lies at or below `path` could not be looked at, so that it not being listed is no sign that
    it is gone.
    """

    path: str
    reason: str
    blind: bool = False


def to_text(name: str) -> str:
    """A file name or path from the operating system as text that SQLite and terminals can hold; `to_os` undoes it.

    Each byte that cannot be decoded becomes U+FFFD and its two hexadecimal digits ("caf\N{REPLACEMENT CHARACTER}E9.md"). Every
    other name is left alone, composed or decomposed as it is, save one that holds just such a sequence: its U+FFFD is written
    as its three bytes, so that no two names share a text. Works part by part: joining and converting can be swapped.
    """
    return _TO_ESCAPE.sub(lambda found: "".join(f"{_MARK}{byte:02X}" for byte in os.fsencode(found[0])), name)


def to_os(path: str) -> str:
    """The name or path that `to_text` made `path` from."""
    if _MARK not in path:
        return path
    # re.split with one group: text, digits, text, digits, ..., text
    pieces = _ESCAPED.split(path)
    return os.fsdecode(b"".join(bytes.fromhex(p) if i % 2 else os.fsencode(p) for i, p in enumerate(pieces)))


def shown(text: str) -> str:
    """Text for people and programs: what the operating system could not decode stands as `to_text` writes it.

    Unlike `to_text` it leaves alone what that has made already.
    """
    return _UNDECODED.sub(lambda found: f"{_MARK}{ord(found[0]) - 0xDC00:02X}", text)


def typed(path: str) -> tuple[str, ...]:
    """What `to_text` may have made of a path as a person gives it: copied from what we print, or as the system names it."""
    return tuple(dict.fromkeys((to_text(to_os(path)), to_text(path))))


def exact_glob(path: str) -> str:
    """The glob for `walk` that means this one path (text, from the root) and what lies below it, whatever its characters."""
    escaped = re.sub(r"[\\*?\[\]]", r"\\\g<0>", path)
    # White space at the end of a glob is dropped, unless it stands in brackets.
    return f"/{escaped[:-1]}[{escaped[-1]}]" if escaped[-1:].isspace() else f"/{escaped}"


def check_globs(*, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
    """Raise SourceError for a glob that `walk` would refuse: to be asked before globs are kept for later runs."""
    _globs("--include", include)
    _globs("--exclude", exclude)


def locate(path: Path) -> tuple[Path, str | None]:
    """The root that `path` stands for, and the one name in it to take: None for a folder, which is its own root.

    The root is absolute, its parents are resolved; its own last part may be a link and stays one, so that a link that is
    pointed elsewhere is followed at the next run. Raises SourceError when there is no such file or folder.
    """
    shown = to_text(str(path))
    try:
        absolute = path.resolve() if path.name in {"", ".."} else path.parent.resolve() / path.name
        mode = absolute.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = "check the spelling; if it lies on a drive that is not there now, connect it"
        raise SourceError(f"no such file or folder: {shown}", hint) from error
    except (OSError, RuntimeError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise SourceError(f"cannot look at {shown}: {reason}", "check the path and who may read it") from error
    if stat.S_ISDIR(mode):
        return absolute, None
    if stat.S_ISREG(mode):
        return absolute.parent, absolute.name
    raise SourceError(f"neither a file nor a folder but {_kind(mode)}: {shown}", "name a regular file or a folder")


def walk(
    root: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = (), max_bytes: int = MAX_BYTES
) -> Iterator[SourceFile | Skipped]:
    """The files below `root`, lazily and in a fixed order; of a file named by itself, that file alone.

    max_bytes: larger files are skipped. Raises SourceError at once when the root is missing or unreadable or a glob is empty or
    malformed; whatever cannot be read further down is yielded as Skipped.
    """
    folder, only = locate(root)
    chosen = _Choice(os.path.realpath(folder), _globs("--include", include), _globs("--exclude", exclude), max_bytes)
    try:
        if only is None:
            return _walk(str(folder), _names(str(folder)), chosen)
        # When a link is named, what it leads to is read, under the link's name.
        full = os.path.realpath(folder / only)
        return iter([_regular(only, full, os.stat(full), max_bytes)])
    except OSError as error:
        hint = "check that you may read it; a folder must be entered too (chmod u+rx)"
        raise SourceError(f"cannot read {to_text(str(root))}: {error.strerror}", hint) from error


def read_bytes(source: SourceFile, max_bytes: int = MAX_BYTES) -> bytes:
    """The file's content as it is now.

    What took its place since it was listed is not followed (a link) and not waited for (a pipe). Raises ReadError with the
    reason, also when it has grown beyond `max_bytes`.
    """
    try:
        # O_NONBLOCK: opening a pipe without a writer would wait for one.
        descriptor = os.open(source.full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return _read(descriptor, max_bytes)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ReadError("became a link while the folder was read; not followed") from error
        raise ReadError(f"cannot be read: {error.strerror}") from error
    except MemoryError as error:
        raise ReadError("larger than the memory that is free") from error


def content_hash(data: bytes) -> str:
    """SHA-256 of `data` in 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def watch(roots: Sequence[Path], stop: threading.Event | None = None, *, besides: Sequence[Path] = ()) -> Iterator[set[Path]]:
    """Sets of roots to index again: first all of them, once changes are being noted, then those in which something changed.

    Changes that come while the caller indexes are kept for the next set; a burst gives one set, after a pause of 200 ms, at the
    latest after 1.6 s. Changes to hidden files say nothing, save to ignore files. besides: files whose changes say nothing
    either, with those whose names begin alike (the library, its -wal and -shm, when it lies in a root). Ends when `stop` is
    set. Raises SourceError when a root cannot be watched.
    """
    if not roots:
        raise SourceError("there is no folder to watch", "name one: archivist index DIR --watch")
    for root in roots:
        locate(root)
    quiet = tuple(place for path in besides for place in {str(path.absolute()), os.path.realpath(path)})
    places = {place: root for root in roots for place in (os.path.realpath(root), str(root.absolute()))}
    # A locked folder below a root ends the first try. It is not forgiven from the start, because watchfiles then forgives
    # everything, a used-up limit of watches too, and never reports a change.
    for forgiving in (False, True):
        try:
            for changes in _changes(roots, stop, forgiving):
                if changes is None:
                    yield set(roots)
                    continue
                loud = [path for path in changes if not path.startswith(quiet)]
                changed = {root for place, root in places.items() if any(_speaks(place, path) for path in loud)}
                if changed:
                    yield changed
        except OSError as error:
            if forgiving or not isinstance(error, PermissionError):
                hint = "check that every root is there and, on Linux, raise fs.inotify.max_user_watches"
                raise SourceError(f"cannot watch for changes: {error}", hint) from error
        else:
            return


def _changes(roots: Sequence[Path], stop: threading.Event | None, forgiving: bool) -> Iterator[set[str] | None]:
    """None as soon as changes are being noted, then the paths of each burst of them."""
    import watchfiles

    bursts = watchfiles.watch(
        *dict.fromkeys(str(root.absolute()) for root in roots),
        watch_filter=None,
        stop_event=stop,
        step=200,
        rust_timeout=500,
        yield_on_timeout=True,
        ignore_permission_denied=forgiving,
    )
    for number, burst in enumerate(bursts):
        if number == 0:
            yield None
        elif burst:
            yield {path for _, path in burst}


def _speaks(place: str, path: str) -> bool:
    """Whether a change at `path` can change what `walk(place)` gives."""
    if path == place:
        return True
    if not path.startswith(_slash(place)):
        return False
    *folders, name = path.removeprefix(_slash(place)).split("/")
    if any(folder.startswith(".") or f"{folder}/" in ignoring.JUNK for folder in folders):
        return False
    return not name.startswith(".") or name in {ignoring.OWN_FILE, ignoring.GIT_FILE}


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the caller asked for. real_root: the root with links resolved, against which links are judged."""

    real_root: str
    include: GitIgnoreSpec | None
    exclude: GitIgnoreSpec | None
    max_bytes: int

    def excludes(self, path: str, is_folder: bool) -> bool:
        return self.exclude is not None and self.exclude.match_file(to_text(f"{path}/" if is_folder else path))

    def examine(self, path: str, full: str, info: os.stat_result) -> SourceFile | Skipped | None:
        """What to say of an entry that is no folder: None when it is left out without a word."""
        is_link = stat.S_ISLNK(info.st_mode)
        leads_to_folder = is_link and os.path.isdir(full)
        if self.include is not None and not leads_to_folder and not self.include.match_file(to_text(path)):
            return None
        if is_link:
            reason = self._why_not_followed(full)
            return Skipped(to_text(path), reason) if reason else None
        return _regular(path, full, info, self.max_bytes)

    def _why_not_followed(self, link: str) -> str | None:
        """Why what a link leads to is missed; None when it is in the folder and so judged under its own name."""
        try:
            target = os.path.realpath(link, strict=True)
        except (FileNotFoundError, NotADirectoryError):
            return "broken link"
        except OSError as error:
            return "link that leads to itself" if error.errno == errno.ELOOP else f"link cannot be followed: {error.strerror}"
        if target != self.real_root and not target.startswith(_slash(self.real_root)):
            return "link leaves the folder"
        hidden = any(part.startswith(".") for part in target.removeprefix(self.real_root).split("/"))
        return "link to something hidden" if hidden else None


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that is being walked. prefix: "" or "a/b/", from the root. names: those that are still to come."""

    prefix: str
    names: Iterator[str]
    rules: ignoring.Rules


def _walk(root: str, names: list[str], choice: _Choice) -> Iterator[SourceFile | Skipped]:
    """The walk itself, with a stack of its own: trees are deeper than Python's recursion goes."""
    above, base, unread = ignoring.rules_above(choice.real_root)
    rules, unread_here = above.within(choice.real_root, base)
    yield from _unapplied(unread + unread_here, choice.real_root)
    stack = [_Folder("", iter(names), rules)]
    while stack:
        here = stack[-1]
        name = next(here.names, None)
        if name is None:
            stack.pop()
            continue
        if name.startswith("."):
            continue
        path = here.prefix + name
        full = os.path.join(root, path)
        try:
            info = os.lstat(full)
            is_folder = stat.S_ISDIR(info.st_mode)
            if here.rules.ignores(base + path, is_folder) or choice.excludes(path, is_folder):
                continue
            inner = _names(full) if is_folder else None
        except FileNotFoundError:
            continue  # gone since its folder was listed
        except OSError as error:
            yield Skipped(to_text(path), f"cannot be read: {error.strerror}", blind=True)
            continue
        if inner is None:
            found = choice.examine(path, full, info)
            if found is not None:
                yield found
        else:
            rules, unread = here.rules.within(full, f"{base}{path}/")
            yield from _unapplied(unread, root)
            stack.append(_Folder(f"{path}/", iter(inner), rules))


def _unapplied(unread: list[tuple[str, str]], root: str) -> Iterator[Skipped]:
    """A word about each ignore file that could not be read."""
    return (Skipped(to_text(os.path.relpath(path, root)), reason) for path, reason in unread)


def _names(folder: str) -> list[str]:
    """The sorted names in a folder that can be listed and entered; names alone, as entries would keep their stat results."""
    names = sorted(os.listdir(folder))
    os.stat(os.path.join(folder, "."))  # listing needs the right to read, everything else the one to enter
    return names


def _regular(path: str, full: str, info: os.stat_result, max_bytes: int) -> SourceFile | Skipped:
    if not stat.S_ISREG(info.st_mode):
        return Skipped(to_text(path), f"not a regular file but {_kind(info.st_mode)}")
    if info.st_size > max_bytes:
        return Skipped(to_text(path), _too_large(max_bytes))
    return SourceFile(to_text(path), Path(full), info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _read(descriptor: int, max_bytes: int) -> bytes:
    """All of an open regular file; raises ReadError when it is something else or longer than `max_bytes`."""
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise ReadError(f"not a regular file but {_kind(info.st_mode)}")
    if info.st_size > max_bytes:
        raise ReadError(_too_large(max_bytes))
    pieces: list[bytes] = []
    left = max_bytes
    while piece := os.read(descriptor, _CHUNK):
        left -= len(piece)
        if left < 0:  # it grew
            raise ReadError(_too_large(max_bytes))
        pieces.append(piece)
    return b"".join(pieces)


def _globs(option: str, patterns: Sequence[str]) -> GitIgnoreSpec | None:
    """Globs of the person's own, None when there are none. "!" and "#" at their beginning are ordinary characters."""
    from pathspec import GitIgnoreSpec

    plain = (to_text(to_os(pattern)).removeprefix("./") for pattern in patterns)  # typed as text or as the name itself
    lines = [f"\\{line}" if line.startswith(("!", "#")) else line for line in plain]
    for pattern, line in zip(patterns, lines, strict=True):
        if ignoring.compile_rule(line) is None:
            raise SourceError(f"{option}: cannot understand the glob {pattern!r}", "for example '*.md' or 'drafts/**'")
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # as in `compile_rule`
        return GitIgnoreSpec.from_lines(lines, backend="simple") if lines else None


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a folder" if stat.S_ISDIR(mode) else "something else")


def _too_large(max_bytes: int) -> str:
    units = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("bytes", 1))
    unit, factor = next((unit for unit in units if max_bytes >= unit[1]), units[-1])
    return f"larger than {max_bytes / factor:g} {unit}; --max-size raises the limit"


def _slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"
