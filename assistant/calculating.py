"""`calculate`: arithmetic for models, exactly, and nothing but arithmetic.

An expression is parsed, never evaluated: a closed list of operators and functions over fractions, so that 0.1 + 0.2 is 0.3. Its
length, its nesting, and the size of every number on the way are bounded, so that no expression runs for long. What can be read in
two ways ("5 + 10%", "sum(1,234)") is refused with both of them.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, DecimalException
from fractions import Fraction

from assistant.errors import ToolError

MAX_LENGTH = 1000
_MAX_DEPTH = 40
_MAX_BITS = 20_000  # of a numerator or denominator on the way
_MAX_RESULT = 10**100
_MAX_EXPONENT = 1000
_DIGITS = 30  # of roots and broken powers; everything else is exact
_ALLOWED = "numbers, + - * / // % **, parentheses, and min max sum avg round abs sqrt"
_CONTEXT = Context(prec=_DIGITS, Emax=10_000, Emin=-10_000)
_SHOWN = Context(prec=_DIGITS - 5, Emax=10_000, Emin=-10_000)  # fewer: the digits of a root do not end

_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "\u00a0": " ", "\u202f": " ", "\n": " ", "\t": " ", "\r": " "}
)
_FUNCTION_NAMES = "min|max|sum|avg|round|abs|sqrt"
_TOKEN = re.compile(
    rf"\s+|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d{{1,3}})?(?![\w.])|(?:{_FUNCTION_NAMES})(?=\s*\()|\*\*|//|[-+*/%(),\[\]]",
    re.IGNORECASE | re.ASCII,
)
_PIECE = re.compile(r"[\w.]+|.", re.DOTALL)
_COMMA_OR_BRACKET = re.compile(r"[()]|(?<![\d.,_])[1-9]\d{0,2}(?:,\d{3})+(?![\d_])")
_CALL = re.compile(r"[A-Za-z]\s*\($")
_PLAIN = r"(?:\d+(?:\.\d*)?|\.\d+)"
_PERCENT = re.compile(rf"(?<![\w.])({_PLAIN})\s*%(?=\s*(?:$|[),*/\]]))")
_UNSURE_PERCENT = re.compile(rf"(?<![\w.]){_PLAIN}\s*%\s*[+-]|(?<=[\d).%])\s*[+-]\s*{_PLAIN}\s*%\s*(?:$|[),\]])")

Number = Fraction


def calculate(expression: str) -> int | float | str:
    """The value of an expression; a text where JSON's numbers would lose digits of it. Raises ToolError."""
    text = _plain(expression)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _refusal(f"got {_shown(expression)}, which is not arithmetic") from None
    try:
        return _presented(_Evaluation(text).value(tree.body))
    except ZeroDivisionError:
        raise _refusal(f"got {_shown(expression)}, which divides by zero") from None
    except DecimalException:
        raise _too_large() from None


class _Evaluation:
    """The evaluation of one expression; `text` is what its nodes stand in."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, node: ast.AST, depth: int = 0) -> Number:
        """The value of a node. Long sums lean to the left and are walked in a loop; what leans otherwise is nesting."""
        if depth > _MAX_DEPTH:
            raise _refusal(f"nested more than {_MAX_DEPTH} deep; calculate the parts one after the other")
        above: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp):
            above.append(node)
            node = node.left
        found = self._single(node, depth)
        for binary in reversed(above):
            operate = _OPERATORS.get(type(binary.op))
            if operate is None:
                raise _refusal(f"an operator in {_shown(self._text)} is not known here")
            found = _bounded(operate(found, self.value(binary.right, depth + 1)))
        return found

    def _single(self, node: ast.AST, depth: int) -> Number:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return self._literal(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            found = self.value(node.operand, depth + 1)
            return -found if isinstance(node.op, ast.USub) else found
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            function = _FUNCTIONS.get(node.func.id.lower())
            if function is not None:
                return _bounded(function(self._arguments(node.args, depth)))
        raise _refusal(f"{_shown(ast.get_source_segment(self._text, node) or self._text)} is not arithmetic")

    def _arguments(self, nodes: Sequence[ast.expr], depth: int) -> list[Number]:
        """The arguments of a function, also when they were put into a list."""
        if len(nodes) == 1 and isinstance(nodes[0], ast.List | ast.Tuple):
            nodes = nodes[0].elts
        return [self.value(node, depth + 1) for node in nodes]

    def _literal(self, node: ast.Constant) -> Number:
        # The text of the number: Python's own float has lost how it was written.
        return _bounded(Fraction(self._text[node.col_offset : node.end_col_offset].replace("_", "")))


def _plain(expression: str) -> str:
    """The expression as Python writes it: signs of mathematics, percentages and thousands separators replaced."""
    text = expression.translate(_SIGNS).replace("^", "**").strip()
    if not text or len(text) > MAX_LENGTH:
        raise _refusal(f"got {len(text)} characters, want 1 to {MAX_LENGTH}")
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            piece = _PIECE.match(text, at)
            raise _refusal(f"{_shown(piece[0] if piece else text[at:])} in {_shown(expression)} is not arithmetic")
        at = token.end()
    text = _without_separators(text)
    if unsure := _UNSURE_PERCENT.search(text):
        raise _refusal(
            f"{_shown(unsure[0].strip())} can be read in two ways: write 0.10 for 10% of one, or multiply, such as 200 * 1.10"
        )
    return _PERCENT.sub(r"(\1/100)", text)


def _without_separators(text: str) -> str:
    """1,234.5 as 1234.5. Between the parentheses of a function a comma parts arguments, and "1,234" could be either."""
    parts: list[str] = []
    inside: list[bool] = []
    at = 0
    for match in _COMMA_OR_BRACKET.finditer(text):
        if match[0] == "(":
            inside.append(bool(_CALL.search(text[: match.end()])) or any(inside))
        elif match[0] == ")":
            if inside:
                inside.pop()
        elif any(inside):
            raise _refusal(
                f"{_shown(match[0])} can be one number or several: write numbers without separators, and a space after the comma "
                "between two of them"
            )
        else:
            parts += (text[at : match.start()], match[0].replace(",", ""))
            at = match.end()
    return "".join((*parts, text[at:]))


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > _MAX_EXPONENT:
        raise _refusal(f"got an exponent of {_presented(exponent)}, want -{_MAX_EXPONENT} to {_MAX_EXPONENT}")
    if exponent.denominator == 1:
        if max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(exponent.numerator) > _MAX_BITS:
            raise _too_large()
        return Fraction(base) ** exponent.numerator
    if base < 0:
        raise _refusal("a negative number has no power with a broken exponent")
    if not base and exponent < 0:
        raise ZeroDivisionError
    return Fraction(_CONTEXT.power(_decimal(base), _decimal(exponent)))


def _root(values: Sequence[Number]) -> Number:
    value = _one(values, "sqrt")
    if value < 0:
        raise _refusal("a negative number has no square root")
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above**2 == value.numerator and below**2 == value.denominator:
        return Fraction(above, below)
    return Fraction(_CONTEXT.sqrt(_decimal(value)))


def _round(values: Sequence[Number]) -> Number:
    """To the nearest, halves away from zero, as SQL does."""
    places = values[1] if len(values) == 2 else Fraction(0)
    if not 1 <= len(values) <= 2 or places.denominator != 1 or abs(places) > _DIGITS:
        raise _refusal(f"round takes a number and, if any, decimal places from -{_DIGITS} to {_DIGITS}")
    scale = Fraction(10) ** places.numerator
    scaled = abs(values[0]) * scale
    rounded = math.floor(scaled + Fraction(1, 2)) / scale
    return rounded if values[0] >= 0 else -rounded


def _one(values: Sequence[Number], name: str) -> Number:
    if len(values) != 1:
        raise _refusal(f"{name} takes one number, got {len(values)}")
    return values[0]


def _several(function: Callable[[Sequence[Number]], Number], name: str) -> Callable[[Sequence[Number]], Number]:
    def checked(values: Sequence[Number]) -> Number:
        if not values:
            raise _refusal(f"{name} takes numbers, got none")
        return function(values)

    return checked


def _sum(values: Sequence[Number]) -> Number:
    total = Fraction(0)
    for value in values:
        total = _bounded(total + value)
    return total


_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: Fraction(left // right),
    ast.Mod: lambda left, right: left % right,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, Callable[[Sequence[Number]], Number]] = {
    "min": _several(min, "min"),
    "max": _several(max, "max"),
    "sum": _several(_sum, "sum"),
    "avg": _several(lambda values: _sum(values) / len(values), "avg"),
    "round": _round,
    "abs": lambda values: abs(_one(values, "abs")),
    "sqrt": _root,
}


def _bounded(value: Number) -> Number:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise _too_large()
    return value


def _presented(value: Number) -> int | float | str:
    """An integer, the nearest float where it says the same, else a text of up to 25 digits."""
    if abs(value) >= _MAX_RESULT:
        raise _too_large()
    if value.denominator == 1:
        return value.numerator
    near = float(value)
    exact = _SHOWN.divide(Decimal(value.numerator), Decimal(value.denominator))
    if near and (Fraction(exact) != value or Fraction(repr(near)) == value):  # no end of digits, or all of them
        return near
    return f"{exact:f}" if near else str(exact)  # what is too small for a float is not zero


def _decimal(value: Number) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _too_large() -> ToolError:
    return _refusal("a number becomes too large or too long; round on the way, or calculate in a larger unit")


def _refusal(problem: str) -> ToolError:
    return ToolError(f'"expression": {problem}; allowed are {_ALLOWED}, e.g. "(129 + 87.5) / 2"')


__all__ = ["MAX_LENGTH", "calculate"]
