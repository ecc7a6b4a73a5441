"""What `assistant.calculating` promises: exact arithmetic, bounded, and nothing but arithmetic."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculating import calculate
from assistant.errors import ToolError


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.1 + 0.2", 0.3),
        ("(262 + 263) / 2", 262.5),
        ("1/3", 1 / 3),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 % (3)", 1),
        ("2 ** 10", 1024),
        ("2^10", 1024),
        ("2 ** -2", 0.25),
        ("-2 ** 2", -4),
        ("2 ** 3 ** 2", 512),
        ("sqrt(2.25)", 1.5),
        ("sqrt(2)", math.sqrt(2)),
        ("8 ** (1/3)", 2),
        ("0 ** 0.5", 0),
        ("round(2.5)", 3),
        ("round(-2.345, 2)", -2.35),
        ("round(1234, -2)", 1200),
        ("min(3, 1, 2) + max(1, 2)", 3),
        ("SUM([1, 2, 3])", 6),
        ("avg(1, 2)", 1.5),
        ("abs(-3)", 3),
        ("3 × 4 ÷ 2 − 1", 5),
        ("1_000 + 1", 1001),
        ("1,234.5 + 1", 1235.5),
        ("1,234,567 * (2,000 - 1,999)", 1234567),
        ("sum(100, 200, 300)", 600),
        ("max(10,20)", 20),
        ("12%", 0.12),
        ("50 / 12.5 %", 400),
        ("200 + 10% * 200", 220),
        ("-10% * 5", -0.5),
        ("avg(10%, 20%)", 0.15),
        ("1e3 + 1.5E-1", 1000.15),
        (".5 + 5.", 5.5),
        ("12345678901234567890 + 0.12", "12345678901234567890.12"),
        ("10 ** 25", 10**25),
        ("(1 / 4) ** 900", "1.399612475193984968799478E-542"),
        ("sqrt(10 ** -900)", "1E-450"),
        ("1" + " + 1" * 240, 241),
    ],
)
def test_arithmetic(expression: str, value: object) -> None:
    found = calculate(expression)
    assert found == pytest.approx(value, rel=1e-14) if isinstance(value, float) else found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("", "got 0 characters, want 1 to 1000"),
        ("1" * 1001, "got 1001 characters, want 1 to 1000"),
        ("1 / 0", "which divides by zero"),
        ("1 % 0", "which divides by zero"),
        ("0 ** -1", "which divides by zero"),
        ("0 ** -0.5", "which divides by zero"),
        ("1 +", "which is not arithmetic"),
        ("latency / 2", "'latency' in 'latency / 2' is not arithmetic"),
        ("__import__('os')", "'__import__' in "),
        ("(1).real", "is not arithmetic"),
        ("1if 2else 3", "'1if' in "),
        ("0x10", "'0x10' in "),
        ("3j", "'3j' in "),
        ("1 < 2", "'<' in '1 < 2' is not arithmetic"),
        ("~1", "'~' in "),
        ("12 ms", "'ms' in "),
        ("５", "'５' in "),
        ("min", "'min' in 'min' is not arithmetic"),
        ("min()", "min takes numbers, got none"),
        ("2 (3)", "is not arithmetic"),
        ("[1, 2]", "is not arithmetic"),
        ("1, 2", "is not arithmetic"),
        ("0,5 + 1", "is not arithmetic"),
        ("1.234,5", "is not arithmetic"),
        ("sqrt(-1)", "a negative number has no square root"),
        ("(-8) ** (1/3)", "a negative number has no power"),
        ("sqrt(1, 2)", "sqrt takes one number, got 2"),
        ("round(1, 0.5)", "round takes a number"),
        ("round(1, 31)", "round takes a number"),
        ("2 ** 1001", "got an exponent of 1001, want -1000 to 1000"),
        ("9 ** 9 ** 9", "got an exponent of 387420489"),
        ("10 ** 100", "becomes too large or too long"),
        ("(10 ** 999) ** 999", "becomes too large or too long"),
        ("1e999 ** 999.5", "becomes too large or too long"),
        ("200 + 10%", "'+ 10%' can be read in two ways"),
        ("10% - 5", "'10% -' can be read in two ways"),
        ("sum(1,234, 5)", "'1,234' can be one number or several"),
        ("(" * 300 + "1" + ")" * 300, "is not arithmetic"),
        ("abs(" * 60 + "1" + ")" * 60, "nested more than 40 deep"),
        ("-" * 500 + "1", ""),
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(expression: str, problem: str) -> None:
    with pytest.raises(ToolError) as caught:
        calculate(expression)
    assert str(caught.value).startswith('"expression": ')
    assert problem in str(caught.value)
    assert "; allowed are numbers, + - * / // % **, parentheses, and min max sum avg round abs sqrt, e.g. " in str(caught.value)
    assert len(str(caught.value)) < 500


def numbers() -> st.SearchStrategy[str]:
    return st.integers(0, 10**12).map(str) | st.decimals(0, 10**6, places=3).map(str)


def trees(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    return pairs | inner.map(lambda e: f"(-{e})") | st.tuples(inner, st.integers(0, 3)).map(lambda t: f"({t[0]} ** {t[1]})")


def by_python(expression: str) -> Fraction:
    exact = re.sub(r"(?<!\*\* )(\d+(?:\.\d+)?)", r"F('\1')", expression)
    return Fraction(eval(exact, {"__builtins__": {}, "F": Fraction}))


@settings(deadline=None)
@given(st.recursive(numbers(), trees, max_leaves=12))
def test_results_are_those_of_exact_fractions(expression: str) -> None:
    try:
        expected = by_python(expression)
    except ZeroDivisionError:
        with pytest.raises(ToolError, match="divides by zero"):
            calculate(expression)
        return
    if abs(expected) >= 10**100 or len(expression) > 1000:
        with pytest.raises(ToolError):
            calculate(expression)
        return
    found = calculate(expression)
    if isinstance(found, float):
        assert found == float(expected)
    else:
        assert Fraction(found) == expected


TEXTS = st.text() | st.text("0123456789.,+-*/%^()[]eE_ ") | st.text("9*(). ", min_size=5)
WORDS = st.lists(
    st.sampled_from(["sum(", "sqrt(", "round(", ")", "9", "99", "0.5", "**", "^", "*", ",", ", ", "-", "%", "//"]), max_size=40
)


@settings(deadline=None)
@given(TEXTS | WORDS.map("".join))
def test_any_text_is_a_small_number_or_an_error(text: str) -> None:
    try:
        value: Any = calculate(text)
    except ToolError:
        return
    assert len(json.dumps(value, allow_nan=False)) < 150
