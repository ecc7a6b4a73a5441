"""Two spellings of a text that are alike however it was typed, and where words stand in one.

`raw` evens out what a keyboard, a font or a line break changes: Unicode forms, quotation marks, dashes, white space, invisible
characters. `plain` also leaves out markup. Neither ever drops or changes a letter or a digit of a quotation: whoever replaces one
has written other words. Of a document `plain` leaves out the addresses of links as well.
"""

from __future__ import annotations

import re
import unicodedata

# Han, kana, Thai, Lao, Khmer, Burmese: words are not set apart there, so a quotation may begin and end between any two letters.
UNSPACED = (
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    "\u0e01-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1780-\u17d3\u17d7\u17dc\u17dd\u1000-\u103f\u1050-\u109d\ua9e0-\ua9ef\uaa60-\uaa7f"
)
_SINGLE_QUOTES = "'‘’‚‛‹›′‵´ˊʼʻʹ❛❜＇`"
_DOUBLE_QUOTES = '"“”„‟«»″‶❝❞〝〞〟「」『』﹁﹂﹃﹄＂｢｣'
_DASHES = "-‐‑‒–—―−⁃﹘﹣－⸺⸻"
_INVISIBLE = (
    *range(9),
    *range(14, 28),
    *range(0x7F, 0x85),
    *range(0x86, 0xA0),
    *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10),
    *range(0xE0000, 0xE0200),
)
_SIGNS: dict[int, str | None] = {
    **dict.fromkeys(_INVISIBLE),
    **dict.fromkeys(map(ord, _SINGLE_QUOTES + _DOUBLE_QUOTES), "'"),
    **dict.fromkeys(map(ord, _DASHES), "-"),
}
# What compatibility forms must not touch: 10² is not 102, ½ is not 1/2 behind a 3, ① and ™ are no part of the word before them.
_COMPATIBLE = re.compile(
    "[^\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u209c\u2120\u2122\u2150-\u215f\u2189\u2460-\u24ff\u2776-\u2793\u3251-\u325f\u32b1-\u32bf"
    "\U0001f100-\U0001f1ff]+"
)

_LETTER = f"[^\\W_{UNSPACED}]"
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|>~-])")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{0,500}(?: \"[^\"\n]{0,200}\")?\)")
_LINE_START = re.compile(r"^[ \t]*(?:(?:>|#{1,6}(?=[ \t])|[-*+•](?=[ \t]))[ \t]*)+", re.MULTILINE)
_RULE = re.compile(r"^[ \t|:+=_*~-]{3,}$", re.MULTILINE)
# Markup has a word on one side at most: 2*3 and foo_bar stay what they are.
_EMPHASIS = re.compile(rf"(?<!{_LETTER})(?<![*_`~])(?:[*_`]|~~)++|(?:[*_`]|~~)++(?!{_LETTER})")
_QUOTE_MARK = re.compile(rf"(?<!{_LETTER})'+|'+(?!{_LETTER})")
_SPACED_DASH = re.compile(r" ?-+ | -+(?=[^\W\d_])|--+")
_UNSPACED_GAP = re.compile(rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u2010]\r?\n[ \t]*(?=[^\W\d_])")

_LOOSE_BEFORE = " .,;:?¡¿'()[]{}-…。、！？；：·"
_LOOSE_AFTER = _LOOSE_BEFORE + "!"


def raw(text: str) -> str:
    """Text on one line in NFKC (but for raised, fractional and circled digits), with one kind of quotes, dashes and spaces."""
    text = text.translate(_SIGNS)
    if not text.isascii():
        text = _COMPATIBLE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text).translate(_SIGNS)
    return " ".join(text.split())


def plain(text: str, *, document: bool = False) -> str:
    """The same without Markdown's and quotation marks, spaces around dashes and between letters of scripts without spaces.

    document: also without the addresses of links, whose letters a quotation would have to hold.
    """
    text = _ESCAPED.sub(r"\1", text)
    if document:
        text = _LINK.sub(r"\1", text)
    text = _RULE.sub("", _LINE_START.sub("", text)).replace("|", " ")
    text = _QUOTE_MARK.sub("", raw(_EMPHASIS.sub("", text)))
    return _UNSPACED_GAP.sub("", _SPACED_DASH.sub("-", text))


def joined_lines(text: str) -> str:
    """Text whose words are no longer broken at the ends of lines; a true hyphen at the end of a line is lost, too."""
    return _BROKEN_WORD.sub("", text)


def trimmed(text: str) -> str:
    """Evened text without punctuation around it; the sign or the point of a number at its start stays."""
    stripped = text.lstrip(_LOOSE_BEFORE)
    before = text[len(text) - len(stripped) - 1 : len(text) - len(stripped)]
    if before and before in "-." and stripped[:1].isdigit():
        stripped = before + stripped
    return stripped.rstrip(_LOOSE_AFTER)


def find(words: str, text: str, start: int = 0) -> int:
    """Where words end that stand in a text, not before `start`, with a word's boundary on both sides; -1 if nowhere."""
    at = text.find(words, start)
    while at >= 0:
        end = at + len(words)
        if not _within_word(text, at) and not _within_word(text, end):
            return end
        at = text.find(words, at + 1)
    return -1


def _within_word(text: str, at: int) -> bool:
    """Whether a cut before this character would cut a word, a number or its sign."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after.isdigit():
        further = text[at - 2 : at - 1]
        if before in ".,:":
            return further.isdigit()
        if before == "-":
            return not further.isalnum()
    if before.isdigit() and after in ".,:":
        return text[at + 1 : at + 2].isdigit()
    if _is_mark(after):
        return before.isalnum() or _is_mark(before)
    return _in_spaced_word(before) and _in_spaced_word(after)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")


def _in_spaced_word(character: str) -> bool:
    if _UNSPACED_CHARACTER.match(character):
        return False
    return character.isalnum() or character == "_" or _is_mark(character)


def unspaced_letters(text: str) -> int:
    """How many letters of scripts without spaces there are."""
    return len(_UNSPACED_CHARACTER.findall(text))
