"""A passage as sentences that can be quoted: verbatim stretches of it, without the marks of lists and headings around them.

In: the text of a passage. Out: Sentences with their places. Lines that were wrapped are one sentence; code and tables stay lines.
Works for any script: where no full stop is in use, a line is a sentence, cut at a space when it is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

LONGEST = 320  # characters of a quotation
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARK = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|>\s?|#{1,6}\s+|\[[ xX]\]\s+)+")
_HEADING = re.compile(r"\s*#{1,6}\s+|\s*(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$|\s*(?:={3,}|-{3,})\s*$")
_RULE = re.compile(r"\s*(?:\|?\s*:?-{3,}|={3,})[\s|:=-]*$")
_COMMENT = re.compile(r"\s*(?://|#(?!!)|--|\*|/\*|;|%)")
_ROW = re.compile(r"\s*\|.*\|\s*$|[^\t]+\t[^\t]+\t")
_END = re.compile(r"[.!?…]+[\"'”’)\]*_`]*(?=\s)|[。！？]+[」』）]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nr|dr|mr|mrs|ms|st|p|pp|fig|approx|incl|z\.\s?b|d\.\s?h|bzw|ca|usw|vgl|s|ggf|abs|art|p\.\s?ej|ej|sr|sra)"
    r"|\b[A-Z]|\b\d{1,2})\.$",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(r"\s{4,}\S|\t\S|.*[{}]\s*$")

Kind = Literal["prose", "heading", "code", "row"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters `start` to `end` of a passage."""

    start: int
    end: int
    kind: Kind = "prose"


def sentences(text: str, *, code: bool = False) -> list[Sentence]:
    """The sentences of a text in order. code: it is the text of a program, where comments alone run over several lines."""
    blocks = _code(text) if code else _blocks(text)
    found: list[Sentence] = []
    for start, end, kind in blocks:
        found.extend(_divided(text, start, end) if kind == "prose" else [Sentence(start, end, kind)])
    return [sentence for sentence in found if re.search(r"\w", text[sentence.start : sentence.end])]


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Each line with where it begins and where it ends, spaces at its end left out."""
    place = 0
    for line in text.splitlines(keepends=True):
        yield place, place + len(line.rstrip()), line.rstrip()
        place += len(line)


def _code(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Lines of a program; comments that follow each other are one."""
    opened: tuple[int, int] | None = None
    for start, end, line in _lines(text):
        begin = start + len(line) - len(line.lstrip())
        comment = bool(_COMMENT.match(line))
        if opened and not comment:
            yield (*opened, "code")
            opened = None
        if comment:
            opened = (opened[0] if opened else begin, end)
        elif end > begin:
            yield begin, end, "code"
    if opened:
        yield (*opened, "code")


def _blocks(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Paragraphs, list items, headings, rows and lines of code, without their marks."""
    lines = list(_lines(text))
    width = max((end - start for start, end, _ in lines), default=0)
    opened: tuple[int, int] | None = None
    fenced = False
    for number, (start, end, line) in enumerate(lines):
        following = lines[number + 1][2] if number + 1 < len(lines) else ""
        fence = bool(_FENCE.match(line))
        kind = "code" if fenced else _kind_of(line, following, width, begins=opened is None)
        fenced = fenced != fence
        mark = _MARK.match(line)
        if opened and (fence or kind != "prose" or mark or end == start):
            yield (*opened, "prose")
            opened = None
        if fence or end == start:
            continue
        begin = min(start + (mark.end() if mark and kind != "code" else len(line) - len(line.lstrip())), end)
        if kind != "prose":
            yield begin, end, kind
        else:
            opened = (opened[0] if opened else begin, end)
    if opened:
        yield (*opened, "prose")


def _kind_of(line: str, following: str, width: int, *, begins: bool) -> Kind:
    """What a line outside of fences is. begins: no paragraph is open."""
    if _HEADING.match(line) or (_RULE.match(following) and not _ROW.match(line)):
        return "heading"
    if _ROW.match(line):
        return "heading" if _RULE.match(following) else "row"
    if begins and not _MARK.match(line) and _CODE_LINE.match(line):
        return "code"
    # Without markup a heading or a byline is a short line before a longer one that begins anew.
    short = len(line) < 0.6 * width and not re.search(r"[.!?,;:。！？、]$", line)
    letters = [char for char in line if char.isalpha()]
    if begins and letters and ((short and following[:1].isupper()) or all(char.isupper() for char in letters)):
        return "heading"
    return "prose"


def _divided(text: str, start: int, end: int) -> Iterator[Sentence]:
    begin = start
    for match in _END.finditer(text, start, end):
        if match[0] == "." and _ABBREVIATION.search(text[max(begin, match.end() - 12) : match.end()]):
            continue
        yield Sentence(begin, match.end())
        begin = match.end()
        while begin < end and text[begin].isspace():
            begin += 1
    if begin < end:
        yield Sentence(begin, end)


def cut(text: str, sentence: Sentence, places: list[tuple[int, int]]) -> str:
    """What to quote of a sentence: all of it, or of a long one the stretch where the most of `places` stand, cut at spaces."""
    if sentence.end - sentence.start <= LONGEST:
        return text[sentence.start : sentence.end]
    inside = [place for place in places if sentence.start <= place[0] < sentence.end]
    begin = sentence.start
    if inside:
        densest = max(inside, key=lambda place: sum(place[0] <= other[0] < place[0] + LONGEST for other in inside))
        begin = max(sentence.start, min(densest[0] - LONGEST // 4, sentence.end - LONGEST))
    finish = min(begin + LONGEST, sentence.end)
    if begin > sentence.start:
        begin = _next_space(text, begin, finish)
    if finish < sentence.end:
        finish = max(text.rfind(" ", begin, finish), text.rfind("\n", begin, finish), begin + LONGEST // 2)
    return text[begin:finish].strip()


def _next_space(text: str, begin: int, finish: int) -> int:
    match = re.compile(r"\s+").search(text, begin, min(begin + 60, finish))
    return match.end() if match else begin
