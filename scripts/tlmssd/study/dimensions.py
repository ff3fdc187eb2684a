"""Units of expressions: what may be added to, or compared with, what.

The four that scenarios write as such are s, B, B/s and C; a rate, in Hz or per second, is a number
of times per second. Counts, shares and everything else are plain numbers. What has a unit that has
no way of writing, as 'iops' or 'bytes / iops', may stand beside a plain number.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tlmssd.study.expressions import Expression, constant

BASES: dict[str, dict[str, float]] = {
    "s": {"s": 1},
    "B": {"B": 1},
    "B/s": {"B": 1, "s": -1},
    "C": {"C": 1},
    "1/s": {"s": -1},
    "Hz": {"s": -1},
    "W": {"W": 1},
    "J": {"W": 1, "s": 1},
}
"""Base units by powers of the simplest; others are plain numbers."""
EXAMPLES = {"s": "2 ms", "B": "4 GiB", "B/s": "500 MB/s", "C": "40 C"}
"""A quantity of each unit that must be written."""
VERBS = {ast.Add: "adds", ast.Sub: "subtracts"}


class UnitsError(ValueError):
    """Of an expression that adds or compares what has different units; without its place."""


@dataclass(frozen=True)
class Dimension:
    """Powers of units, none of a plain number; `is_zero`: of 0, which is so much of any unit."""

    powers: tuple[tuple[str, float], ...] = ()
    is_zero: bool = False

    @staticmethod
    def of(unit: str) -> "Dimension":
        """That of a base unit (tlmssd.units)."""
        return _of(BASES.get(unit, {}))

    @property
    def unit(self) -> str:
        """'s', 'B/s', 's^2 W'; '' of a plain number."""
        for unit, powers in BASES.items():
            if self == _of(powers):
                return unit
        return " ".join(f"{unit}^{power:g}" for unit, power in self.powers)

    @property
    def words(self) -> str:
        """'a quantity in s'."""
        return f"a quantity in {self.unit}" if self.unit else "a number without unit"

    def times(self, other: "Dimension", power: float = 1.0) -> "Dimension":
        """Of the product with another's power."""
        found = dict(self.powers)
        for unit, exponent in other.powers:
            found[unit] = found.get(unit, 0.0) + power * exponent
        return _of(found)

    def beside(self, other: "Dimension", verb: str) -> "Dimension":
        """Of both where they may be added or compared; raises UnitsError where they may not."""
        if self.is_zero or self.powers == other.powers:
            return other
        if other.is_zero:
            return self
        plain = next((one for one in (self, other) if not one.powers), None)
        unit = (other if plain is self else self).unit
        if plain and unit not in EXAMPLES:
            return self if plain is other else other
        joint = "from" if verb == "subtracts" else "with" if verb == "compares" else "and"
        first, second = (other, self) if verb == "subtracts" else (self, other)
        hint = f"; write the number with its unit, such as {EXAMPLES[unit]}" if plain else ""
        raise UnitsError(f"{verb} {first.words} {joint} {second.words}{hint}")


def _of(powers: Mapping[str, float]) -> Dimension:
    return Dimension(tuple(sorted((unit, power) for unit, power in powers.items() if power)))


def dimension(expression: Expression, of_name: Callable[[str], Dimension]) -> Dimension:
    """Of an expression's value, `of_name` of each of its names; raises UnitsError.

    Of a comparison, which has a truth value, that of its sides.
    """
    names = {f"_{i}": of_name(name) for i, name in enumerate(expression.names)}

    def of(node: ast.expr) -> Dimension:
        match node:
            case ast.Constant(value=value):
                unit = expression.units.get(node.col_offset, "")
                return Dimension.of(unit) if unit or value else Dimension(is_zero=True)
            case ast.Name(id=name):
                return names[name]
            case ast.UnaryOp(operand=operand):
                return of(operand)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return of(left).times(of(right))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return of(left).times(of(right), -1.0)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return _power(of(left), of(right), right)
            case ast.BinOp(left=left, op=op, right=right):
                return of(left).beside(of(right), VERBS[type(op)])
            case ast.Compare(left=left, comparators=[right]):
                return of(left).beside(of(right), "compares")
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return _call(name, [of(argument) for argument in arguments])
        raise AssertionError(ast.dump(node))

    return of(expression.tree)


def _power(base: Dimension, exponent: Dimension, node: ast.expr) -> Dimension:
    """Raises UnitsError where the result's unit would depend on a figure."""
    if exponent.unit in EXAMPLES:
        raise UnitsError(f"has {exponent.words} as an exponent")
    if not base.powers:
        return Dimension()
    try:
        return Dimension().times(base, constant(node))
    except (ArithmeticError, ValueError) as error:
        raise UnitsError(f"raises {base.words} to a power that is no plain number") from error


def _call(name: str, arguments: list[Dimension]) -> Dimension:
    """Logarithms and exponentials are plain numbers, of base units."""
    if name == "sqrt":
        return Dimension().times(arguments[0], 0.5)
    if name in ("log", "log2", "exp"):
        return Dimension()
    if name == "round":
        return arguments[0]
    found = arguments[0]
    for other in arguments[1:]:
        found = found.beside(other, "compares")
    return found
