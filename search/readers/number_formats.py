"""What the number formats of spreadsheets say beyond the number: a unit, leading zeros, hours that are no time of day.

Source of the notation: ECMA-376 part 1, 18.8.30. Only the first section of a format counts; the others are for negative numbers,
zero and text.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

_SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*', re.DOTALL)
_PIECE = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.|([^"\\\[])', re.DOTALL)
_SCALED = re.compile(r"[0#?],+(?![0#?,])")
_ZEROS = re.compile(r"0(?:[ /-]?0)+")
_PLAIN = frozenset("0#?.,/ +-()E%‰")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """unit: what stands beside the number, as written there, "%" for per cent. zeros: a format of zeros alone such as "00000"."""

    unit: str = ""
    zeros: str = ""

    def code(self, number: int) -> str:
        """An integer as the format shows it, leading zeros and separators included; the digits alone where it has no zeros."""
        digits = str(number)
        if not self.zeros or number < 0 or len(digits) > self.zeros.count("0"):
            return digits
        remaining = list(digits.zfill(self.zeros.count("0")))
        return "".join(remaining.pop(0) if sign == "0" else sign for sign in self.zeros)


@functools.lru_cache(maxsize=4096)
def number_format(code: str) -> NumberFormat:
    """Read the code of a number format, as it stands in the file ("#,##0.00 [$€-407]")."""
    found = _SECTION.match(code[:300])
    section = found[0] if found else ""
    literals: list[str] = []
    shown: list[str] = []
    for quoted, escaped, currency, plain in _PIECE.findall(section):
        if plain and plain in _PLAIN:
            shown.append(plain)
            literals.append(" ")
        elif plain:
            literals.append(plain)
        else:
            literals.append(quoted or escaped or currency)
            shown.append(quoted or escaped)
    text = "".join(shown).strip()
    if _ZEROS.fullmatch(text):
        return NumberFormat(zeros=text)
    if "%" in shown or "‰" in shown:
        return NumberFormat(unit="%" if "%" in shown else "‰")
    if _SCALED.search(section):  # shown in thousands: what stands beside belongs to another number than the cell's
        return NumberFormat()
    return NumberFormat(unit=" ".join("".join(literals).split()).strip("-/ "))
