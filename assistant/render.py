"""What people see in a terminal: hits, passages, status, changes, as text without anything that a terminal would obey.

Text that comes from documents goes through `cleaning.clean` here, whatever it went through before. Colour and links appear only
on a terminal, and never with NO_COLOR or TERM=dumb.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import socket
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import quote

from assistant.cleaning import clean, escaped
from search.counting import counted

if TYPE_CHECKING:
    from assistant.citations import Checked
    from assistant.tools import Evidence
    from search.models import Coverage, DateRange, Document, Hit

_UNDECODED = re.compile("[\udc80-\udcff]")
_NEEDS_QUOTES = re.compile(r'\A"|[\n\t]')
_SNIPPET_LINES = 3
_VALUES = 400  # columns that the parameters of a query may take
_TABLE_RULE = re.compile(r"^(?=.*---)[ \t|:-]+$", re.MULTILINE)  # the line under a Markdown table's head
_OPENING_HEADINGS = re.compile(r"\A(?:#{1,6} [^\n]*\n\s*)+")  # shown above the snippet already


def safe(text: str) -> str:
    """Text that a terminal only shows: no control characters, no escapes, no invisible or direction-changing ones."""
    return clean(_shown(text))


def as_json(value: object) -> str:
    """A value as JSON on one line; what a terminal would obey is escaped as JSON escapes it, so nothing is lost."""
    return escaped(_shown(json.dumps(value, ensure_ascii=False)))


def _shown(text: str) -> str:
    """Text in which names that the operating system could not decode stand as they do everywhere."""
    if not _UNDECODED.search(text):
        return text
    from search.sources import shown

    return shown(text)


def one_line(text: str) -> str:
    """The same on one line, white space reduced."""
    return " ".join(safe(text).split())


class Terminal:
    """How to write to a stream: with styles and links on a capable terminal, plainly elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        tty = stream.isatty()
        dumb = os.environ.get("TERM", "") in {"", "dumb"}
        self.interactive = tty and not dumb
        self.plain = bool(os.environ.get("NO_COLOR"))
        self.styled = (self.interactive or bool(os.environ.get("FORCE_COLOR"))) and not self.plain
        self._linked = self.interactive and not self.plain
        self.width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 140)) if tty else 100

    def style(self, text: str, code: str) -> str:
        """Text in an SGR style, "1" for bold, where styles are shown."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.styled and text else text

    def link(self, text: str, path: Path, line: int) -> str:
        """Text that opens a file at a line when clicked (OSC 8), where links are shown.

        EDITOR_URI is a template for editors that open by address, such as vscode://file/{path}:{line}:{col}.
        """
        if not self._linked or not path.is_absolute():
            return text
        place = quote(os.fsencode(path))
        template = os.environ.get("EDITOR_URI")
        if template:
            target = template.replace("{path}", place).replace("{line}", str(line)).replace("{col}", "1")
        else:
            target = f"file://{quote(socket.gethostname())}{place}"
        return f"\x1b]8;;{clean(target)}\x1b\\{text}\x1b]8;;\x1b\\"

    def write(self, line: str = "") -> None:
        """One line; what the stream's encoding cannot show becomes "?"."""
        encoding = self.stream.encoding or "utf-8"
        self.stream.write(line.encode(encoding, "replace").decode(encoding) + "\n")


def out() -> Terminal:
    """Standard output: results. Raises OSError when it was closed before we started."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    return Terminal(sys.stdout)


def err() -> Terminal:
    """Standard error: progress, notes, ranges; nobody reads them when it is closed."""
    return Terminal(sys.stderr if sys.stderr is not None else io.StringIO())


def place(document: Document, line: int | None = None, page: int | None = None) -> str:
    """Where something stands: path:line, or path p. 3 for documents with pages."""
    if page is not None:
        return f"{one_line(document.path)} p. {page}"
    return one_line(document.path) + (f":{line}" if line else "")


def full_path(document: Document) -> Path:
    """Where a document's file lies; relative for texts that a program added."""
    from search.sources import to_os

    return Path(to_os(document.root)) / to_os(document.path)


def quoted_path(path: Path) -> str:
    r"""A path on one line: as it is, or as git quotes it when it holds what a line or a terminal cannot.

    Such a path stands in double quotes, with \n, \t, \" and \\; each other byte that cannot be shown is \ and three octal digits.
    """
    name = os.fspath(path)
    if clean(name) == name and not _NEEDS_QUOTES.search(name):
        return name
    return f'"{"".join(map(_quoted_character, name))}"'


def _quoted_character(character: str) -> str:
    escape = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}.get(character)
    return escape or clean(character) or "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def hits(found: Sequence[Hit], terminal: Terminal, *, explain: bool) -> None:
    """Numbered hits with place, key, date, heading path and a snippet whose matched words are marked."""
    width = len(str(len(found)))
    for number, hit in enumerate(found, 1):
        document, passage = hit.document, hit.passage
        where = terminal.style(place(document, passage.first_line, passage.page), "1")
        full = full_path(document)
        dated = f"  {document.date}" if document.date else ""
        terminal.write(f"{number:>{width}}  {terminal.link(where, full, passage.first_line)}  {passage.key}{dated}")
        indent = " " * (width + 2)
        above = " > ".join(dict.fromkeys([document.title, *passage.headings]))
        terminal.write(indent + terminal.style(cut(one_line(above), terminal.width - len(indent)), "2"))
        for line in snippet(passage.text, hit.matched, terminal.width - len(indent)):
            terminal.write(indent + mark(line, hit.matched, terminal))
        if explain:
            terminal.write(indent + terminal.style(explained(hit), "36"))


def explained(hit: Hit) -> str:
    """Score and rank of a hit in each list, and the words that matched."""
    parts = [f"score {hit.score:.3f}"]
    if hit.reranked_from is not None:
        parts.append(f"reranked from #{hit.reranked_from}")
    for name, rank, score in (
        ("keyword", hit.keyword_rank, hit.keyword_score),
        ("vector", hit.vector_rank, hit.vector_score),
    ):
        if score is None:
            parts.append(f"{name} -")
        else:
            parts.append(f"{name} {f'#{rank}' if rank else 'beyond the list'} ({score:.3f})")
    parts.append("matched " + (", ".join(one_line(word) for word in hit.matched) or "no word"))
    return "; ".join(parts)


def snippet(text: str, matched: Sequence[str], width: int) -> list[str]:
    """A few lines of a passage around its first matched words, each at most `width` columns wide."""
    flat = one_line(_TABLE_RULE.sub("", _OPENING_HEADINGS.sub("", text) or text))
    pattern = _any_of(matched)
    found = pattern.search(flat) if pattern else None
    first = found.start() if found else 0
    budget = width * _SNIPPET_LINES // (2 if columns(flat) > 1.5 * len(flat) else 1)  # in characters
    start = 0
    if len(flat) > budget and first >= budget // 2:
        start = first - budget // 3
        start = flat.find(" ", start, first) + 1 or start  # scripts without spaces may be cut anywhere
    lines: list[str] = []
    current = "…" if start else ""
    for spaced, word in _words(flat[start:], width - 1):
        glue = " " if spaced else ""
        if columns(current) + columns(glue) + columns(word) > width and current:
            lines.append(current)
            current = ""
            if len(lines) == _SNIPPET_LINES:
                lines[-1] = cut(lines[-1] + " …", width)
                return lines
        current += glue + word if current else word
    return [*lines, current] if current else lines


def mark(line: str, matched: Iterable[str], terminal: Terminal) -> str:
    """A line with the matched words in bold."""
    pattern = _any_of(matched)
    return pattern.sub(lambda match: terminal.style(match[0], "1;33"), line) if pattern else line


def _any_of(matched: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of the matched words, the longest first; None without any."""
    words = sorted({one_line(word) for word in matched if one_line(word)}, key=len, reverse=True)
    # ASCII words stand out within scripts that do without spaces, too.
    parts = (rf"(?<![0-9A-Za-z_]){re.escape(w)}(?![0-9A-Za-z_])" if w.isascii() and w.isalnum() else re.escape(w) for w in words)
    return re.compile("|".join(parts), re.IGNORECASE) if words else None


def date_range(resolved: DateRange | None, field: str) -> str | None:
    """A resolved range as shown under a query, None when no date was asked for."""
    if resolved is None:
        return None
    name = {"date": "dated", "modified": "changed", "created": "created"}[field]
    if resolved.start == resolved.end:
        return f"{name} {resolved.start}"
    if resolved.start and resolved.end:
        return f"{name} {resolved.start} to {resolved.end}"
    return f"{name} {resolved.start} or later" if resolved.start else f"{name} {resolved.end} or earlier"


def coverage(known: Coverage) -> str:
    """How much could be searched: "60 documents, 3 without text, indexed 2 days ago"."""
    parts = [counted(known.documents, "document")]
    if known.without_text:
        parts.append(f"{known.without_text} without text")
    if known.passages != known.embedded:
        parts.append(f"{counted(known.passages - known.embedded, 'passage')} not embedded")
    if known.indexed_at:
        parts.append(f"indexed {age(known.indexed_at)}")
    return ", ".join(parts)


def coverage_note(known: Coverage, now: datetime | None = None) -> str:
    """What stands beside an answer that counts or lists: "3 of 412 files had no text; the index is 2 days old"."""
    if not known.indexed_at:
        return "nothing was indexed yet"
    count = counted(known.documents, "file")
    texts = f"{known.without_text} of {count} had no text" if known.without_text else f"all {count} had text"
    missing = known.passages - known.embedded
    unseen = f"; {missing} of {counted(known.passages, 'passage')} without embedding" if missing else ""
    elapsed = _elapsed(known.indexed_at, now)
    return f"{texts}{unseen}; the index is {f'{elapsed} old' if elapsed else 'up to the minute'}"


def age(moment: str, now: datetime | None = None) -> str:
    """How long ago a stored moment was, in words."""
    elapsed = _elapsed(moment, now)
    return f"{elapsed} ago" if elapsed else "just now"


def _elapsed(moment: str, now: datetime | None) -> str | None:
    """The time since a stored moment in its largest unit, None for less than a minute."""
    then = datetime.fromisoformat(moment)
    seconds = int(((now or datetime.now(UTC)) - then).total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return None


def source_lines(checked: Checked, terminal: Terminal) -> list[str]:
    """The numbered sources under an answer: place (a link on a terminal), key, date, a changed file's mark; below it headings. Of
    the result of a query its files and its SQL.
    """
    from search.sources import to_os

    lines = []
    width = len(f"[{len(checked.sources)}]")
    for citation in checked.sources:
        found = citation.evidence
        if found is None:
            continue
        if not found.is_passage:
            lines += origin_lines(found, f"{f'[{citation.number}]':>{width}} ", terminal)
            continue
        where = terminal.style(_passage_place(found), "1")
        full = Path(to_os(found.root)) / to_os(found.path)
        facts = [terminal.link(where, full, found.first_line), one_line(found.key)]
        facts += [one_line(found.date)] if found.date else []
        facts += [terminal.style(f"({one_line(found.stale)} since it was indexed)", "33")] if found.stale else []
        lines.append(f"{f'[{citation.number}]':>{width}} " + "  ".join(facts))
        above = one_line(" > ".join(dict.fromkeys([found.title, *found.headings])))
        if above:
            lines.append(" " * (width + 1) + terminal.style(cut(above, terminal.width - width - 1), "2"))
    return lines


def origin_lines(found: Evidence, head: str, terminal: Terminal) -> list[str]:
    """A query, or a calculation, on a line behind its files; SQL that does not fit there stands whole below."""
    values = cut(", ".join(as_json(value) for value in found.parameters), _VALUES)
    bound = f" -- ? = {values}" if found.parameters else ""
    shown = one_line(f"{found.sql}{bound}" if found.sql else f"{found.expression} = {found.text}")
    first = [terminal.style(one_line(found.path), "1")]
    taken = columns(f"{head}{one_line(found.path)}  ")
    if found.stale:
        stale = f"({one_line(found.stale)} since it was indexed)"
        first.append(terminal.style(stale, "33"))
        taken += columns(f"{stale}  ")
    if taken + columns(shown) <= terminal.width:
        return [head + "  ".join([*first, shown])]
    indent = " " * len(head)
    whole = (indent + terminal.style(line, "2") for line in wrapped(shown, terminal.width - len(indent)))
    return [head + "  ".join(first), *whole]


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines, broken at spaces where there are any; nothing is left out."""
    lines = [""]
    for spaced, word in _words(text, width):
        glue = " " if spaced and lines[-1] else ""
        if columns(lines[-1]) + columns(glue) + columns(word) > width:
            lines.append(word)
        else:
            lines[-1] += glue + word
    return lines


def doubt_lines(checked: Checked) -> list[str]:
    """What failed in an answer and what is known of it, a line each: unknown citations, quotations, numbers."""
    keys = [one_line(citation.key) for citation in checked.citations if citation.number is None]
    lines = [f"cited, but not retrieved in this conversation: {', '.join(keys)}"] if keys else []
    places = {citation.key: f"[{citation.number}]" for citation in checked.sources}
    for found in checked.quotes:
        said, cited = f'"{one_line(found.text)}"', places.get(found.key or "", "any source")
        if found.verdict == "altered":
            lines.append(f'{said} is altered; {cited if found.key else "a source"} has "{one_line(found.nearest or "")}"')
        elif found.verdict == "elsewhere":
            other = places.get(found.other_key or "", one_line(found.other_key or ""))
            lines.append(f"{said} stands in {other}" + (f", not in {cited}" if found.key else ", which is not cited for it"))
        elif found.verdict == "not found":
            lines.append(f"{said} does not stand in {cited}")
    numbers = [one_line(number.text) for number in checked.numbers if number.verdict == "not found"]
    return [*lines, f"in no result and no cited passage: {', '.join(numbers)}"] if numbers else lines


def _passage_place(passage: Evidence) -> str:
    if passage.page is not None:
        return f"{one_line(passage.path)} p. {passage.page}"
    return f"{one_line(passage.path)}:{passage.first_line}"


def bytes_in_words(size: int) -> str:
    """A number of bytes in kB or MB."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def _words(text: str, width: int) -> Iterator[tuple[bool, str]]:
    """What lines may be broken between, each with whether a space stands before it: words, pieces of those that are longer than a
    line, and single characters of scripts whose lines break anywhere.
    """
    for word in text.split():
        spaced = True
        for piece in re.findall(
            r"[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]+",
            word,
        ):
            begun = taken = 0
            for end, character in enumerate(piece):
                wide = columns(character)
                if taken + wide > width:
                    yield spaced, piece[begun:end]
                    begun, taken, spaced = end, 0, False
                taken += wide
            yield spaced, piece[begun:]
            spaced = False


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if _is_wide(c) else 1 for c in text)


def cut(text: str, width: int) -> str:
    """A text in at most so many columns, with "…" at its end where it was longer."""
    if columns(text) <= width:
        return text
    taken = 0
    for end, character in enumerate(text):
        taken += columns(character)
        if taken > width - 1:
            return text[:end] + "…"
    return text
