"""Reading values as models write them: JSON, Python literals, and what lies between.

Accepted beyond JSON: single quotes, typographic quotes, the quote tokens of Gemma, keys without quotes, True/False/None, NaN and
Infinity (as null), leading zeros, trailing commas, comments, line breaks within strings. What is cut off is never completed.
"""

from __future__ import annotations

import json
import re
from typing import Any

_DEEPEST = 60
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "<escape>": "<escape>", '<|"|>': '<|"|>', "<![CDATA[": "]]>"}
_OPENING = re.compile("|".join(map(re.escape, sorted(_QUOTES, key=len, reverse=True))))
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d][\w.\-$]*")
_WORDS: dict[str, Any] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "undefined": None,
    "NaN": None,
    "nan": None,
    "Infinity": None,
    "inf": None,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_STRICT = json.JSONDecoder(strict=False, parse_constant=lambda _: None)


class Unreadable(ValueError):  # noqa: N818 - ends an attempt, nobody is told
    """There is no whole value here."""


def value_at(text: str, position: int) -> tuple[Any, int]:
    """The value that begins at a position (white space skipped) and where it ends. Raises Unreadable."""
    start = _skip(text, position)
    try:
        return _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _Reader(text).value(start, 0)


def arguments_at(text: str, position: int) -> tuple[dict[str, Any], list[Any], int]:
    """What stands between the parentheses of a call, `position` being after the "(": named and other arguments, and the end
    after the ")". Raises Unreadable.
    """
    return _Reader(text).arguments(position)


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, position: int, depth: int) -> tuple[Any, int]:
        position = _skip(self._text, position)
        if depth > _DEEPEST or position >= len(self._text):
            raise Unreadable
        character = self._text[position]
        if character == "{":
            return self._object(position + 1, depth)
        if character in "[(":
            return self._list(position + 1, depth, "]" if character == "[" else ")")
        quote = _OPENING.match(self._text, position)
        if quote:
            return self._string(quote.end(), _QUOTES[quote[0]])
        number = _NUMBER.match(self._text, position)
        if number:
            return _number(number[0]), number.end()
        if self._text.startswith(("-Infinity", "-inf"), position):
            return None, position + (9 if self._text.startswith("-Infinity", position) else 4)
        word = _WORD.match(self._text, position)
        if word and word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        raise Unreadable

    def arguments(self, position: int) -> tuple[dict[str, Any], list[Any], int]:
        named: dict[str, Any] = {}
        others: list[Any] = []
        while True:
            position = _skip(self._text, position)
            if position >= len(self._text):
                raise Unreadable
            if self._text[position] == ")":
                return named, others, position + 1
            word = _WORD.match(self._text, position)
            equals = _skip(self._text, word.end()) if word else position
            if word and self._text.startswith("=", equals) and not self._text.startswith("==", equals):
                named[word[0]], position = self._loose_value(equals + 1)
            else:
                other, position = self._loose_value(position)
                others.append(other)
            position = _skip(self._text, position)
            if self._text.startswith(",", position):
                position += 1
            elif not self._text.startswith(")", position):
                raise Unreadable

    def _loose_value(self, position: int) -> tuple[Any, int]:
        """A value; what is none (an expression, a bare word) is taken as the text that it is."""
        position = _skip(self._text, position)
        try:
            value, end = self.value(position, 1)
            if self._next(end) in {",", ")"}:
                return value, end
        except Unreadable:
            pass
        return self._as_written(position, ",)")

    def _as_written(self, position: int, stops: str) -> tuple[str, int]:
        """The text up to one of the stops outside brackets and quotes."""
        depth, end = 0, position
        while end < len(self._text):
            character = self._text[end]
            quote = _OPENING.match(self._text, end)
            if quote:
                _, end = self._string(quote.end(), _QUOTES[quote[0]])
                continue
            if depth == 0 and character in stops:
                written = self._text[position:end].strip()
                if not written:
                    raise Unreadable
                return written, end
            depth += (character in "([{") - (character in ")]}")
            end += 1
        raise Unreadable

    def _next(self, position: int) -> str:
        position = _skip(self._text, position)
        return self._text[position : position + 1]

    def _object(self, position: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        while True:
            position = _skip(self._text, position)
            if self._text.startswith("}", position):
                return found, position + 1
            key, position = self._key(position, depth)
            position = _skip(self._text, position)
            if not self._text.startswith((":", "="), position):
                raise Unreadable
            found[key], position = self._member(position + 1, depth)
            position = _skip(self._text, position)
            if self._text.startswith(",", position):
                position += 1
            elif not self._text.startswith("}", position):
                raise Unreadable

    def _member(self, position: int, depth: int) -> tuple[Any, int]:
        """A member's value; a bare word or an expression (`unit: celsius`, `name: user["name"]`) is the text that it is."""
        try:
            return self.value(position, depth + 1)
        except Unreadable:
            word = _WORD.match(self._text, _skip(self._text, position))
            if word is None:
                raise
            return self._as_written(word.start(), ",}")

    def _key(self, position: int, depth: int) -> tuple[str, int]:
        quote = _OPENING.match(self._text, position)
        if quote:
            return self._string(quote.end(), _QUOTES[quote[0]])
        word = _WORD.match(self._text, position)
        if word is None or depth > _DEEPEST:
            raise Unreadable
        return word[0], word.end()

    def _list(self, position: int, depth: int, closing: str) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            position = _skip(self._text, position)
            if self._text.startswith(closing, position):
                return found, position + 1
            item, position = self.value(position, depth + 1)
            found.append(item)
            position = _skip(self._text, position)
            if self._text.startswith(",", position):
                position += 1
            elif not self._text.startswith(closing, position):
                raise Unreadable

    def _string(self, position: int, closing: str) -> tuple[str, int]:
        if len(closing) > 1:
            end = self._text.find(closing, position)
            if end < 0:
                raise Unreadable
            return self._text[position:end], end + len(closing)
        parts: list[str] = []
        while True:
            end, slash = self._text.find(closing, position), self._text.find("\\", position)
            if end < 0:
                raise Unreadable
            if slash < 0 or slash > end:
                parts.append(self._text[position:end])
                return "".join(parts), end + 1
            parts.append(self._text[position:slash])
            escaped, position = self._escape(slash + 1)
            parts.append(escaped)

    def _escape(self, position: int) -> tuple[str, int]:
        character = self._text[position : position + 1]
        if character == "u":
            digits = self._text[position + 1 : position + 5]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                return chr(int(digits, 16)), position + 5
        return _ESCAPES.get(character, character), position + 1


def _number(written: str) -> int | float | None:
    plain = written.replace("_", "")
    if re.fullmatch(r"[-+]?\d+", plain):
        return int(plain) if len(plain) < 400 else None
    return float(plain)
