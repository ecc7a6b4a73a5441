"""From bytes to text: which encoding a file is in, said when it is not UTF-8.

The order: byte order marks, UTF-16 and UTF-32 by their zero bytes, the 7-bit codes that switch by escapes, strict UTF-8, what
the file declares, then `legacy.guess`. Bytes that are no text at all give None.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from search.readers import legacy

_MARKS = (  # UTF-32 little endian begins with the mark of UTF-16 little endian: longest first
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_ESCAPES = (
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
    (re.compile(rb"\x1b(?:\$[@B]|\([JI]|\$\(D)"), "iso2022_jp_2"),
    (re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e]){2,}~\}"), "hz"),
)
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\x0b\x0c\r\x1b\x08")
_BAD_UTF8 = re.compile("\ufffd+")
# Labels of the web name a smaller set than what files with that label hold (WHATWG Encoding Standard).
_WIDER = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "iso8859-8": "cp1255",
}
SAMPLE = 65_536


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text as decoded, not yet cleaned. encoding: its name; note: what to tell the person, "" for plain UTF-8."""

    text: str
    encoding: str
    note: str = ""


def decode(data: bytes, declared: str | None = None) -> Decoded | None:
    """Decode a file's bytes; None when they are binary data.

    declared: the encoding that the file itself names (HTML meta, XML declaration); used when it decodes without error and the
    bytes are not valid UTF-8 already. Never raises on any bytes: what cannot be decoded becomes U+FFFD and is noted.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (not encoding.startswith("utf-32") or len(data) % 4 == 0):
            marked = data[len(mark) :].decode(encoding, errors="replace")
            return _told(marked, encoding) if _is_text(marked) else None
    if 0 in data:
        # Few zeros in what else is UTF-8 are a fault of whoever wrote it; the other bytes of UTF-16 are hardly ever UTF-8.
        stray = _with_stray_zeros(data)
        return stray if stray and data.count(0) * 10 < len(data) else _wide(data) or stray
    for pattern, encoding in _ESCAPES:
        text = _strict(data, encoding) if pattern.search(data[:SAMPLE]) else None
        if text is not None:
            return _told(text, encoding)
    if _share_of_controls(data) > 0.02:
        return None
    text = _strict(data, "utf-8")
    if text is not None:
        return Decoded(text, "utf-8")
    return _declared(data, declared) or _damaged_utf8(data) or _guessed(data)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _told(text: str, encoding: str) -> Decoded:
    """UTF-8 is not worth a word unless characters were lost."""
    lost = text.count("\ufffd")
    notes = [] if encoding == "utf-8" else [f"decoded as {encoding}"]
    if lost:
        notes.append(f"{lost} unreadable character{'s' * (lost > 1)} replaced")
    return Decoded(text, encoding, "; ".join(notes))


def _share_of_controls(data: bytes) -> float:
    sample = data[:SAMPLE]
    return (len(sample) - len(sample.translate(None, _CONTROLS))) / max(1, len(sample))


def _is_text(text: str) -> bool:
    """Almost no unassigned, private, surrogate or control characters, judged on the beginning."""
    counts = Counter(text[:20_000])
    odd = sum(
        number
        for character, number in counts.items()
        if unicodedata.category(character) in {"Cn", "Co", "Cs", "Cc"} and character not in "\t\n\r\x0b\x0c\x1b"
    )
    return odd * 50 <= sum(counts.values())


def _wide(data: bytes) -> Decoded | None:
    """UTF-32 and UTF-16 without a mark: their zero bytes stand at certain positions modulo 4 or 2."""
    sample = data[:SAMPLE]
    zeros = [sample[position::4].count(0) * 4 / len(sample) for position in range(4)]
    if len(data) % 4 == 0:
        for encoding, quiet in (("utf-32-le", (2, 3)), ("utf-32-be", (0, 1))):
            text = _strict(data, encoding) if all(zeros[position] > 0.9 for position in quiet) else None
            if text and _is_text(text):
                return _told(text, encoding)
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if max(even, odd) < 20 * min(even, odd):
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = data[: len(data) // 2 * 2].decode(encoding, errors="replace")
    if _is_text(text) and text.count("\ufffd") * 100 <= len(text) and _reads_like_writing(text):
        return _told(text, encoding)
    return None


def _reads_like_writing(text: str) -> bool:
    """Letters, spaces and marks of few scripts: pairs of bytes taken from a binary file scatter over the whole plane."""
    sample = text[:5_000]
    spread = len({ord(character) >> 8 for character in sample if not "\u3400" <= character <= "\ud7a3"})
    letters = sum(character.isalnum() or character.isspace() for character in sample)
    return spread <= 4 + len(sample) // 200 and letters * 2 >= len(sample)


def _with_stray_zeros(data: bytes) -> Decoded | None:
    """A log that a crash left with a hole of NULs is still text, when all the rest is UTF-8."""
    rest = data.replace(b"\0", b"")
    text = _strict(rest, "utf-8")
    if text is None or len(rest) * 2 < len(data) or _share_of_controls(rest) > 0.005:
        return None
    dropped = len(data) - len(rest)
    return Decoded(text, "utf-8", f"{dropped} NUL byte{'s' * (dropped > 1)} dropped")


def _declared(data: bytes, label: str | None) -> Decoded | None:
    try:
        name = codecs.lookup(label or "").name
    except (LookupError, ValueError):  # ValueError: a label that holds NUL
        return None
    text = None if name.startswith(("utf-16", "utf-32")) else _strict(data, _WIDER.get(name, name))
    return None if text is None else _told(text, legacy.spoken_name(name, data))


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 in which a few bytes are broken: the good sequences outweigh the bad by far."""
    text = data.decode("utf-8", errors="replace")
    bad = len(_BAD_UTF8.findall(text))
    good = sum(character > "\x7f" for character in text) - text.count("\ufffd")
    return _told(text, "utf-8") if good >= 5 * bad else None


def _guessed(data: bytes) -> Decoded | None:
    encoding = legacy.guess(data)
    text = data.decode(encoding, errors="replace")
    if not _is_text(text) or text.count("\ufffd") * 10 > len(text):
        return None
    return _told(text, legacy.spoken_name(encoding, data))
