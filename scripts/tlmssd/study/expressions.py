"""Expressions over figures of a report: 'read.p99.9', 'iops / scenario.ssd.flash.channels < 5000'.

Figures go by the names of tlmssd.metrics and are in base units (s, B, B/s); `scenario.PATH` is a
parameter; quantities have units ('5 ms'). A name may have spaces ('read.ledger.map fetch.share',
'loads.load 2.iops'); with other characters it stands in quotes: '"read.ledger.die busy: gc"'.
Functions: min, max, abs, sqrt, log, log2, exp, round.
"""

import ast
import contextlib
import math
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tlmssd import units

TOKEN = re.compile(
    r"""\s*(?:
      (?P<quoted>"[^"]*"|'[^']*')
    | (?P<name>[A-Za-z_]\w*(?:\.\w+)*(?:\ (?:[A-Za-z_]\w*|\d+(?=\.[A-Za-z_]))(?:\.\w+)*)*)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      (?:\s*(?P<unit>%|[A-Za-z\u00b5\u03bc]+(?:/s)?))?
    | (?P<operator>\*\*|<=|>=|==|!=|[-+*/%(),<>])
    )""",
    re.VERBOSE,
)
FUNCTIONS: dict[str, Callable] = {
    "min": min,
    "max": max,
    "abs": abs,
    "sqrt": math.sqrt,
    "log": math.log,
    "log2": math.log2,
    "exp": math.exp,
    "round": round,
}
OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # no complex roots of negative numbers: ValueError
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


MOST = 1e100
"""Values beyond are none."""


class ExpressionError(ValueError):
    """What is wrong with an expression, without its place."""


@dataclass(frozen=True)
class Expression:
    """A checked expression: `names` are what it asks for, in order; `units` base units of the
    numbers that have one, by their columns in `tree`."""

    text: str
    names: tuple[str, ...]
    _code: str
    units: Mapping[int, str] = field(default_factory=dict, compare=False)

    @property
    def tree(self) -> ast.expr:
        """Parsed: names are '_0', '_1' and so on, numbers in base units."""
        return _parsed(self._code)

    @property
    def is_comparison(self) -> bool:
        """Whether its value is true or false."""
        return isinstance(_parsed(self._code), ast.Compare)

    @property
    def is_name(self) -> bool:
        """Whether it is one figure and nothing else."""
        return self._code == "_0"

    def limits(self) -> Iterator[tuple[str, str]]:
        """Figures that are compared with a plain quantity, each with the quantity's base unit."""
        sides = [
            [match for match in TOKEN.finditer(side) if match[0].strip()]
            for side in re.split("<=|>=|==|!=|<|>", self.text)
        ]
        if len(sides) == 2 and all(len(side) == 1 for side in sides):
            for (name,), (limit,) in (sides, sides[::-1]):
                if limit["number"] and (asked := name["name"] or (name["quoted"] or "")[1:-1]):
                    yield asked, units.in_base(1.0, limit["unit"] or "")[1]

    def value(self, look_up: Callable[[str], float]) -> float | bool:
        """The value with the figures that `look_up` gives; NaN where one of them is NaN, and beyond
        MOST, of which means and variances could not be worked out."""
        found = self._figures(look_up)
        if found is None:
            return math.nan
        try:
            value = _evaluate(_parsed(self._code), found)
        except (ArithmeticError, ValueError):
            return math.nan
        return value if abs(value) <= MOST else math.nan

    def violation(self, look_up: Callable[[str], float]) -> float:
        """By how much a comparison misses, relative to its right side; at most 0: it holds.

        Never NaN, which compares differently from either side: where a figure is, it misses by
        infinity.
        """
        found = self._figures(look_up)
        if found is None:
            return math.inf
        tree = _parsed(self._code)
        try:
            left, right = _evaluate(tree.left, found), _evaluate(tree.comparators[0], found)
            holds = OPERATORS[type(tree.ops[0])](left, right)
            miss = abs(left - right) / (abs(right) or 1.0)
        except (ArithmeticError, ValueError):
            return math.inf
        if math.isnan(miss):
            return math.inf
        return -miss if holds else max(miss, sys.float_info.min)

    def _figures(self, look_up: Callable[[str], float]) -> dict[str, float] | None:
        """What its names stand for; None where one is NaN, which max() and min() may lose."""
        found = {f"_{i}": look_up(name) for i, name in enumerate(self.names)}
        return None if any(math.isnan(value) for value in found.values()) else found


def parse(text: str) -> Expression:
    """Reads an expression; raises ExpressionError."""
    names: list[str] = []
    code = ""
    quantities: dict[int, str] = {}
    place = 0
    text = text.strip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if not match:
            raise ExpressionError(f"cannot be understood from '{text[place:].strip()}' on")
        if unit := units.in_base(1.0, match["unit"] or "")[1]:
            quantities[len(code)] = unit
        code += f"{_translated(match, text, names)} "
        place = match.end()
    try:
        tree = _parsed(code)
        _evaluate(tree, {f"_{i}": 1.0 for i in range(len(names))})
    except SyntaxError as error:
        raise ExpressionError("is no expression; for example: read.p99.9 / read.p50") from error
    except (ArithmeticError, ValueError) as error:
        if isinstance(error, ExpressionError):
            raise
    return Expression(text, tuple(names), code.strip(), quantities)


def as_name(name: str) -> str:
    """The name of a figure as it stands in an expression: in quotes where it needs them."""
    with contextlib.suppress(ExpressionError):
        if parse(name).names == (name,):
            return name
    return f'"{name}"'


def constant(node: ast.expr) -> float:
    """Value of a part of a tree that asks for no figure; raises ExpressionError where it does, and
    ArithmeticError or ValueError where it has no value."""
    return float(_evaluate(node, {}))


def _translated(match: re.Match, text: str, names: list[str]) -> str:
    if match["operator"]:
        return match["operator"]
    if match["number"]:
        unit = match["unit"] or ""
        if unit and unit not in units.BASES:
            raise ExpressionError(f"'{unit}' is no unit")
        return repr(units.in_base(float(match["number"]), unit)[0])
    if match["name"] in FUNCTIONS and text[match.end() :].lstrip().startswith("("):
        return match["name"]
    name = match["name"] or match["quoted"][1:-1]
    if name not in names:
        names.append(name)
    return f"_{names.index(name)}"


def _parsed(code: str) -> ast.expr:
    try:
        return ast.parse(code, mode="eval").body
    except (RecursionError, MemoryError, ValueError) as error:
        raise ExpressionError("is nested too deep") from error


def _evaluate(node: ast.expr, found: dict[str, float]) -> float | bool:
    def of(part: ast.expr) -> float | bool:
        return _evaluate(part, found)

    match node:
        case ast.Constant(value=float() | int()):
            return node.value
        case ast.Name(id=name) if name in found:
            return found[name]
        case ast.BinOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](of(node.left), of(node.right))
        case ast.UnaryOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](of(node.operand))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            return OPERATORS[type(op)](of(left), of(right))
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
            try:
                return FUNCTIONS[name](*[of(argument) for argument in node.args])
            except TypeError as error:
                raise ExpressionError(f"{name}() does not take these arguments") from error
    raise ExpressionError("may hold figures, numbers with units, + - * / ** ( ) and one comparison")
