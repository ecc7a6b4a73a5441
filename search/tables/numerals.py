"""Numbers as people and programs write them, read in both conventions: "1.234,50 €", "1,234.50", "(1,234)", "12 %", "35 ms".

In: one text. Out: what it is with a decimal point and with a decimal comma, or None where it is no number. Which of the two
holds is decided over a whole column (`search.tables.deciding`): "1.234" alone does not tell.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from search.tables.units import currency, unit

MAX_DIGITS = 15  # longer ones are codes: a double holds 15 digits exactly, and account numbers begin there
_MAX_CHARACTERS = 48
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_SURE = re.compile(r"-?(?:0|[1-9][0-9]{0,8})\.(?:[0-9]{1,2}|[0-9]{4,7})")  # no group of thousands has as many digits
_DIGIT = re.compile(r"[0-9]")
_WRITTEN = re.compile(
    r"(?P<open>\()?\s?(?P<sign>[-+])?\s?(?:(?P<before>[^\d\s.,'()+-]{1,5}(?:\.(?=\s))?)\s?)?(?P<inner>[-+])?\s?(?P<opened>\()?"
    r"(?P<core>[.,]?[0-9][0-9.,' ]*(?:[eE][-+]?[0-9]{1,3})?)(?P<dash>(?<=,)[-–—]{1,2})?"
    r"(?P<trailing>-)?(?P<space>\s?)(?P<after>[^\d\s()+-][^\s()+-]{0,11})?(?P<last>-)?\s?(?P<close>\))?"
)
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2009\u202f\u2007\t"), " ") | {0x2212: "-", 0x2019: "'"}
_CODE = re.compile(r"[-+]?0[0-9]+")
_BARE_EXPONENT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)[eE][0-9]{1,3}")
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_GROUPED = {
    ",": re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"),  # the second: 12,34,567 as in India
    ".": re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"),
    " ": re.compile(r"[1-9][0-9]{0,2}(?: [0-9]{3})+"),
    "'": re.compile(r"[1-9][0-9]{0,2}(?:'[0-9]{3})+"),
}

Number = int | float


class Numeral(NamedTuple):
    """A number as read: point and comma are its value with the decimal point and with the decimal comma, None where it is none.

    unit: what stands beside it, "" without. rounded: more digits were written than a number holds.
    """

    point: Number | None
    comma: Number | None
    unit: str = ""
    rounded: bool = False


def numeral(text: str) -> Numeral | None:
    """Read a text as a number; None for codes with leading zeros, phone numbers, addresses, more than 15 digits, other text."""
    text = text.strip()
    if _PLAIN.fullmatch(text):
        value = int(text)
        return Numeral(value, value)
    if _SURE.fullmatch(text):
        return Numeral(float(text), None)
    if len(text) > _MAX_CHARACTERS or not _DIGIT.search(text):
        return None
    match = _WRITTEN.fullmatch(text if text.isascii() else text.translate(_SPACES))
    return _read(match) if match else None


def _read(match: re.Match[str]) -> Numeral | None:
    told = _unit(match)
    negative = _negative(match)
    core = match["core"].rstrip(" ")
    if match["dash"]:
        core = core[:-1]  # "12,-": whole euros
    phone = "+" in (match["sign"], match["inner"]) and _like_a_phone(core)
    if told is None or negative is None or phone or _ADDRESS.fullmatch(core):
        return None
    read = [_value(core, decimal=".", group=","), _value(core, decimal=",", group=".")]
    if read == [None, None]:
        return None
    point, comma = (value if value is None or not negative else -value for value in read)
    return Numeral(point, comma, told, sum(character.isdigit() for character in core) > 17)


def bare_exponent(text: str) -> Numeral | None:
    """Read 1e3, which is as likely the number of a part as 1000; None for anything else."""
    text = text.strip()
    value = float(text) if len(text) <= MAX_DIGITS and _BARE_EXPONENT.fullmatch(text) else math.inf
    return Numeral(value, value) if math.isfinite(value) else None


def is_code(text: str) -> bool:
    """Whether a text of digits begins with a zero that a number would lose, or has more of them than a number keeps."""
    digits = text.strip()
    return bool(_CODE.fullmatch(digits)) or (len(digits) > MAX_DIGITS and digits.isdecimal())


def _unit(match: re.Match[str]) -> str | None:
    """The unit beside a number, "" without; None when what stands there is no unit, or stands on both sides."""
    before, after = match["before"], match["after"]
    if before and after:
        return None
    if before:
        money = currency(before)
        return None if money in {"%", "‰"} else money
    if not after:
        return ""
    return unit(after, apart=bool(match["space"]) or match["core"].endswith(" "))


def _negative(match: re.Match[str]) -> bool | None:
    """Whether a number is negative: a minus before or behind it, or brackets around it. None when the signs contradict."""
    signs = [match[name] for name in ("sign", "inner", "trailing", "last") if match[name]]
    brackets = match["open"] or match["opened"]
    if bool(brackets) != bool(match["close"]) or (match["open"] and match["opened"]) or len(signs) + bool(brackets) > 1:
        return None
    return bool(brackets) or "-" in signs


def _like_a_phone(core: str) -> bool:
    return " " in core or len(re.split(r"[.,eE]", core, maxsplit=1)[0]) > 6


def _value(core: str, *, decimal: str, group: str) -> Number | None:
    """The value of digits and separators in one convention, None where they break it."""
    mantissa, _, exponent = core.replace("E", "e").partition("e")
    whole, point, fraction = mantissa.partition(decimal)
    if point and not fraction.isdecimal():
        return None
    if exponent and not (point or exponent[0] in "+-"):
        return None  # 12E4 is as likely the number of a part
    digits = _ungrouped(whole, group) if whole else ("0" if point else None)
    if digits is None or (exponent and digits != whole and whole):
        return None
    if not point and not exponent:
        return int(digits) if len(digits) <= MAX_DIGITS else None
    value = float(f"{digits}.{fraction or 0}e{exponent or 0}")
    if not math.isfinite(value) or (len(digits) > MAX_DIGITS and int(value) != int(digits)):
        return None
    return value


def _ungrouped(whole: str, group: str) -> str | None:
    """The digits before the decimal sign without what separates thousands; None for leading zeros and uneven groups."""
    if whole.isdecimal():
        return whole if whole == "0" or whole[0] != "0" else None
    separators = {character for character in whole if not character.isdecimal()}
    if len(separators) != 1:
        return None
    separator = separators.pop()
    if separator not in {group, " ", "'"} or not _GROUPED[separator].fullmatch(whole):
        return None
    return whole.replace(separator, "")
