"""Units of measurement and currencies: as they stand beside numbers, and in the headers of columns.

Only what is listed here is a unit: letters behind a number are as often part of a code ("12A"), a size ("4K") or a date ("3 Mar").
"""

from __future__ import annotations

import re

_CODES = (
    "EUR USD GBP CHF JPY CNY RMB AUD CAD NZD SEK NOK DKK ISK PLN CZK HUF RON BGN RSD TRY RUB UAH INR PKR BRL MXN ARS CLP COP "
    "PEN ZAR NGN KES EGP MAD ILS AED SAR QAR THB VND IDR MYR SGD HKD TWD KRW PHP BTC KWD BHD OMR TND JOD IQD LYD"
)
_OF_THREE_DECIMALS = frozenset(["KWD", "BHD", "OMR", "TND", "JOD", "IQD", "LYD", "BTC", "%", "‰"])
_SIGNS = (
    "€ EUR, EURO EUR, £ GBP, ¥ ¥, $ $, US$ USD, CA$ CAD, C$ CAD, AU$ AUD, A$ AUD, NZ$ NZD, HK$ HKD, S$ SGD, NT$ TWD, R$ BRL, "
    "MX$ MXN, ₹ INR, RS Rs, ₽ RUB, ₩ KRW, ₺ TRY, ₴ UAH, ₪ ILS, ฿ THB, ₫ VND, ₦ NGN, ₱ PHP, ZŁ PLN, KČ CZK, FT HUF, SFR CHF, "
    "FR Fr., KR kr, % %, ‰ ‰"
)
_CURRENCIES = {code: code for code in _CODES.split()} | dict(pair.split(" ") for pair in _SIGNS.split(", "))
_AMOUNTS = frozenset(_CURRENCIES.values()) - _OF_THREE_DECIMALS
_WORDS = {  # several spellings of one unit
    **dict.fromkeys(("sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden"), "s"),
    **dict.fromkeys(("msec", "millisecond", "milliseconds", "millis"), "ms"),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours", "std", "stunde", "stunden"), "h"),
    **dict.fromkeys(("day", "days", "tag", "tage"), "days"),
    **dict.fromkeys(("week", "weeks", "woche", "wochen"), "weeks"),
    **dict.fromkeys(("month", "months", "monat", "monate"), "months"),
    **dict.fromkeys(("yr", "yrs", "year", "years", "jahr", "jahre"), "years"),
    **dict.fromkeys(("pc", "pcs", "piece", "pieces", "stk", "stück"), "pcs"),
    **dict.fromkeys(("kilogram", "kilograms", "kilo", "kilos"), "kg"),
    **dict.fromkeys(("gram", "grams", "gramm"), "g"),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes", "tonnen"), "t"),
    **dict.fromkeys(("lb", "lbs"), "lb"),
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("litre", "litres", "liter", "liters"), "l"),
    **dict.fromkeys(("byte", "bytes"), "bytes"),
    **dict.fromkeys(("percent", "pct", "prozent"), "%"),
    **dict.fromkeys(("dollar", "dollars"), "$"),
}
_LISTED = (
    "ns µs μs us ms s h d g mg µg μg kg t oz nm µm μm mm cm dm m km in ft yd mi mm² cm² m² km² m2 km2 ha m³ m3 cm³ l L ml mL "
    "cl dl hl °C °F ° Hz kHz MHz GHz W kW MW GW Wh kWh MWh GWh V mV kV mA Ah mAh Ω kΩ kJ MJ cal kcal kN Nm Pa hPa kPa MPa bar "
    "mbar psi dB dBm lm lx rpm kB KB MB GB TB PB KiB MiB GiB TiB bit kbit Mbit Gbit bps kbps Mbps Gbps km/h mph kn px pt dpi "
    "ppm ppb qps rps fps req St mol mmol"
)
_SYMBOLS = frozenset(_LISTED.split())
_ENDINGS = (
    "ns us ms s sec secs seconds msec millis minutes mins hours hrs days weeks months years kg mg cm mm km kWh MWh kW Hz kHz "
    "MHz GHz KB MB GB TB KiB MiB GiB bytes EUR USD GBP CHF JPY pct percent prozent euro px Mbps kbps Gbps km/h rpm ppm"
)
_BEHIND_NAMES = {ending.lower(): ending for ending in _ENDINGS.split()} | {"kmh": "km/h", "degc": "°C"}
_BRACKETED = re.compile(r"[(\[]\s*(?:in\s+)?([^()\[\]]{1,16}?)\s*[)\]]\s*$")
_IN_WORDS = re.compile(r"\s(?:in|/)\s+(\S{1,12})\s*$")
_TOKENS = re.compile(r"[\s_]+")


def currency(sign: str) -> str | None:
    """The currency that a sign or code before or after a number means ("€" gives "EUR"), or "%"; None for anything else."""
    return _CURRENCIES.get(sign.upper().rstrip("."))


def has_no_third_decimal(told: str) -> bool:
    """Whether a unit is a currency whose amounts are never written with three decimals (ISO 4217 has seven that are)."""
    return told in _AMOUNTS


def unit(text: str, *, apart: bool = True) -> str | None:
    """The unit that stands behind a number, in one spelling ("days" for "day"); None when it is no known one.

    apart: whether a space stands between; a single letter close behind a number counts only where it is a small one. Capitals
    that number houses and rooms as well ("12 A", "12 B") are no units at all.
    """
    money = currency(text)
    if money is not None:
        return money
    if "/" in text and len(text) <= 12:
        above, _, below = text.partition("/")
        parts = (unit(above), unit(below))
        if all(parts):
            return f"{parts[0]}/{parts[1]}"
    if text in _SYMBOLS and (apart or len(text) > 1 or text.islower() or not text.isalpha()):
        return text
    return _WORDS.get(text.rstrip(".").lower())


def unit_of_header(header: str) -> str:
    """The unit that a header says: "Weight (kg)", "Price in EUR", "Anteil %", "response_ms"; "" where it says none.

    A last word counts only where it can hardly be anything else, and not behind a number: orders_last_7_days are no days.
    """
    text = header.strip()
    for pattern in (_BRACKETED, _IN_WORDS):
        found = pattern.search(text)
        told = unit(found[1]) if found else None
        if told:
            return told
    tokens = [token for token in _TOKENS.split(text) if token]
    if len(tokens) < 2:
        return ""
    last, before = tokens[-1], tokens[-2]
    if last in {"%", "‰", "€", "$", "£", "¥"}:
        return currency(last) or ""
    word = _BEHIND_NAMES.get(last.lower())
    if word is None or before.isdigit() or (word == "us" and "_" not in text):
        return ""
    return unit(word) or word
