"""Where an answer quotes: pairs of quotation marks of all common kinds, and Markdown's quoted lines.

In: the answer's text. Out: Quotation spans, the outermost ones, in order. Every step is linear in the length of the text.
Marks inside code open and close nothing. A pair lies within a paragraph as a rule; where one reaches over an empty line, the
outermost pairs inside it are quotations as well, because a stray mark may have made it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.citations.normalising import UNSPACED

# Opening marks and what closes each. »German« and ”Swedish” use marks that close elsewhere: the characters around them decide.
_CLOSERS = {
    '"': '"',
    "“": "”",
    "„": "“”",
    "‟": "”",
    "”": "”",
    "«": "»",
    "»": "«»",
    "‹": "›",
    "›": "‹›",
    "「": "」",
    "『": "』",
    "｢": "｣",
    "﹁": "﹂",
    "﹃": "﹄",
    "〝": "〞〟",
    "＂": "＂",
    "'": "'",
    "‘": "’",
    "‚": "‘’",
}
_MARK = re.compile("[" + "".join(sorted({*_CLOSERS, *"".join(_CLOSERS.values())})) + "]")
_ONLY_OPEN = frozenset("„‟‚「『｢﹁﹃〝")
_ONLY_CLOSE = frozenset("」』｣﹂﹄〞〟")
_SINGLE = frozenset("'‘’‚")
_STRAY = _SINGLE | {'"', "”", "»", "›"}  # inches, feet, apostrophes, and what opens in few languages
_GUILLEMETS = frozenset("«»‹›")
_BEFORE_OPENING = frozenset("([{<-–—/:=,;*_>|~…，、。：；（［【「『") | set("\"“„«»‹›'‘‚")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_EMPTY_LINE = re.compile(r"\n[ \t]*(?=\n)")
_FENCE = re.compile(r"^[ \t]{0,8}(?:>[ \t]*)?(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^\s`]*+)[^\n`]*+$", re.MULTILINE)
_PROSE = frozenset({"markdown", "md", "text", "txt", "quote"})
_TICKS = re.compile(r"`+")
_QUOTED_LINES = re.compile(r"^[ \t]{0,8}>[^\n]*(?:\n[ \t]{0,8}>[^\n]*)*", re.MULTILINE)
_QUOTED_PREFIX = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Characters `start` to `end` of an answer, marks included; `text` is what is quoted. is_block: quoted lines."""

    start: int
    end: int
    text: str
    is_block: bool = False


def find_quotations(answer: str) -> list[Quotation]:
    """All quotations of an answer, by position."""
    code = code_spans(answer)
    lines = (match for match in _QUOTED_LINES.finditer(answer) if not covered(code, match.start()))
    paragraphs = [match.start() for match in _EMPTY_LINE.finditer(answer)]
    spans = [(match.start(), -match.end(), True) for match in lines]
    spans += [(start, -end, False) for start, end in _pairs(answer, code, paragraphs)]
    found: list[Quotation] = []
    reach = reach_across = reach_of_marks = 0
    for start, negative_end, is_block in sorted(set(spans)):
        begin, end = max(start, reach_of_marks) if is_block else start, -negative_end  # quoted lines go on where a pair ends
        crosses = not is_block and bisect_left(paragraphs, start) != bisect_left(paragraphs, end)
        if end <= (reach_across if crosses else reach) or begin >= end:
            continue
        if crosses:
            reach_across = end
        else:
            reach = end
        if not is_block and not (crosses and answer[start] == '"'):
            reach_of_marks = max(reach_of_marks, end)
        text = _QUOTED_PREFIX.sub("", answer[begin:end]) if is_block else answer[start + 1 : end - 1]
        found.append(Quotation(begin, end, text, is_block))
    return found


def code_spans(answer: str) -> list[tuple[int, int]]:
    """Code, fenced and within lines, by position; fences of Markdown or plain text are prose."""
    spans: list[tuple[int, int]] = []
    fenced: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(answer):
        if opened is None:
            opened = match
        elif match["fence"].startswith(opened["fence"]) and not match["info"]:
            fenced.append((opened.start(), match.end()))
            if opened["info"].lower() not in _PROSE:
                spans.append((opened.start(), match.end()))
            opened = None
    paragraphs = [match.start() for match in _EMPTY_LINE.finditer(answer)]
    begun = -1
    pending: dict[int, int] = {}  # where a run of so many ticks stands that nothing has closed yet
    for run in _TICKS.finditer(answer):
        if covered(fenced, run.start()):
            continue
        paragraph = bisect_left(paragraphs, run.start())
        if paragraph != begun:
            begun, pending = paragraph, {}
        size = run.end() - run.start()
        if size in pending:
            spans.append((pending[size], run.end()))
            pending = {}
        else:
            pending[size] = run.start()
    return sorted(spans)


def covered(spans: Sequence[tuple[int, int]], at: int) -> bool:
    """Whether a character lies in one of the spans, which are in order."""
    number = bisect_left(spans, (at + 1,)) - 1
    return number >= 0 and at < spans[number][1]


@dataclass(frozen=True, slots=True)
class _Mark:
    at: int
    sign: str
    opens: bool
    closes: bool
    paragraph: int


def _marks(answer: str, code: Sequence[tuple[int, int]], paragraphs: Sequence[int]) -> list[_Mark]:
    marks = []
    for match in _MARK.finditer(answer):
        at, sign = match.start(), match[0]
        if covered(code, at):
            continue
        before, after = answer[at - 1 : at], answer[at + 1 : at + 2]
        apart = not before or before.isspace()
        joined = not after or after.isspace()
        opens = not joined and (apart or before in _BEFORE_OPENING or _is_unspaced(before))
        closes = not apart and (joined or not (after.isalnum() or after == "_") or _is_unspaced(after))
        if sign in _SINGLE and sign not in _ONLY_OPEN:
            opens = opens and not _is_unspaced(before) and not after.isdigit()
            if not opens and not closes:
                continue  # an apostrophe
        elif apart and joined:
            opens = closes = True
        elif sign in _GUILLEMETS:  # French sets them off by spaces
            opens = opens or apart or before in _BEFORE_OPENING
            closes = closes or not after.isalnum()
        marks.append(_Mark(at, sign, opens, closes, bisect_left(paragraphs, at)))
    return marks


def _is_unspaced(character: str) -> bool:
    return character != "" and (bool(_UNSPACED.match(character)) or character in "。、，！？：；（）")


def _pairs(answer: str, code: Sequence[tuple[int, int]], paragraphs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Spans between an opening mark and the one that closes it. Straight marks that nothing closes are passed over.

    Of other opening marks that are left over the quotation reaches to the last mark in the paragraph that can close it, else to
    the first one beyond: a stray mark inside took the one that was its own.
    """
    stack: list[_Mark] = []
    waiting: dict[str, int] = {}  # how many open marks each closing one could close
    unclosed: list[_Mark] = []
    closings: dict[str, list[int]] = {}
    marks = _marks(answer, code, paragraphs)
    for number, mark in enumerate(marks):
        if mark.closes:
            closings.setdefault(mark.sign, []).append(mark.at)
        closes = mark.sign not in _ONLY_OPEN and mark.closes and waiting.get(mark.sign, 0) > 0
        if mark.sign in _SINGLE and closes and _is_possessive(answer, mark, marks[number + 1 : number + 2]):
            continue
        if closes:
            opening = _popped(stack, waiting)
            while mark.sign not in _CLOSERS[opening.sign]:
                unclosed.append(opening)
                opening = _popped(stack, waiting)
            if mark.sign not in _SINGLE or _is_clear(answer, opening, mark):
                yield opening.at, mark.at + 1
        elif mark.sign in _CLOSERS and mark.sign not in _ONLY_CLOSE and (mark.opens or mark.sign in _ONLY_OPEN):
            stack.append(mark)
            for sign in _CLOSERS[mark.sign]:
                waiting[sign] = waiting.get(sign, 0) + 1
    for opening in (*unclosed, *stack):
        if opening.sign not in _STRAY:
            paragraph_end = paragraphs[opening.paragraph] if opening.paragraph < len(paragraphs) else len(answer)
            end = _end_of_unclosed(opening, paragraph_end, [closings.get(sign, []) for sign in _CLOSERS[opening.sign]])
            if end is not None:
                yield opening.at, end + 1


def _end_of_unclosed(opening: _Mark, paragraph_end: int, closings: Sequence[Sequence[int]]) -> int | None:
    """Where a quotation ends whose own closing mark went to another one; `closings`: places of the marks that can close it."""
    within: list[int] = []
    beyond: list[int] = []
    for places in closings:
        first, last = bisect_right(places, opening.at), bisect_left(places, paragraph_end)
        within += places[last - 1 : last] if last > first else []
        beyond += places[last : last + 1]
    return max(within) if within else min(beyond, default=None)


def _is_clear(answer: str, opening: _Mark, closing: _Mark) -> bool:
    """Whether single marks quote: words in a row, in one paragraph. A single 'word' is set off for many reasons."""
    inside = answer[opening.at + 1 : closing.at]
    return opening.paragraph == closing.paragraph and (len(inside.split()) >= 3 or len(_UNSPACED.findall(inside)) >= 6)


def _popped(stack: list[_Mark], waiting: dict[str, int]) -> _Mark:
    """The last open mark, which waits no longer."""
    opening = stack.pop()
    for sign in _CLOSERS[opening.sign]:
        waiting[sign] -= 1
    return opening


def _is_possessive(answer: str, mark: _Mark, following: Sequence[_Mark]) -> bool:
    """Whether a single mark after an s is an apostrophe: the quotation goes on to another mark in the same paragraph."""
    after = answer[mark.at + 1 : mark.at + 3]
    if answer[mark.at - 1] not in "sS" or not (after[:1] == " " and after[1:].isalpha()) or not following:
        return False
    further = following[0]
    return further.sign == mark.sign and further.closes and not further.opens and further.paragraph == mark.paragraph
