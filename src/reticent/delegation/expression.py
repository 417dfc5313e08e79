# SPDX-License-Identifier: Apache-2.0
"""Declared expressions: text becomes polynomials over columns, totals over rows, and fractions of totals; never code.

`sum(e)` adds up a polynomial of the columns over all rows, `mean(e)` and `var(e)` follow from sums, `count()` is the number
of rows. The handler computes the totals; what is done with totals (products, ratios) costs nothing and stays with the owner.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from reticent.base.checks import did_you_mean
from reticent.base.errors import ParameterError

MAX_TEXT = 500
MAX_DEGREE = 4
"""Factors of a product of columns: encrypted products of more are wrong without any sign of it, so they are refused."""

MAX_TERMS = 64
MAX_FACTOR = 1_000_000

Monomial = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A polynomial of the columns of one row: (columns, coefficient), in canonical order."""

    terms: tuple[tuple[Monomial, int], ...]

    @property
    def degree(self) -> int:
        """The largest number of factors."""
        return max((len(names) for names, _ in self.terms), default=0)

    @property
    def columns(self) -> frozenset[str]:
        """Columns in use."""
        return frozenset(name for names, _ in self.terms for name in names)

    def text(self) -> str:
        """The polynomial as it is claimed in messages."""
        parts = [f"{factor}*{'*'.join(names)}" if names else str(factor) for names, factor in self.terms]
        return " + ".join(parts) or "0"


def row(terms: Mapping[Monomial, int]) -> Row:
    """A polynomial in canonical form: sorted, without zeros."""
    kept = {tuple(sorted(names)): 0 for names in terms}
    for names, factor in terms.items():
        kept[tuple(sorted(names))] += factor
    return Row(tuple(sorted((names, factor) for names, factor in kept.items() if factor)))


def plus(first: Row, second: Row, sign: int = 1) -> Row:
    """Sum (or difference) of two polynomials."""
    terms = dict(first.terms)
    for names, factor in second.terms:
        terms[names] = terms.get(names, 0) + sign * factor
    return row(terms)


def times(first: Row, second: Row) -> Row:
    """Product of two polynomials."""
    terms: dict[Monomial, int] = {}
    for mine, a in first.terms:
        for theirs, b in second.terms:
            names = tuple(sorted((*mine, *theirs)))
            terms[names] = terms.get(names, 0) + a * b
    return row(terms)


Totals = dict[tuple[Row, ...], Fraction]
"""A polynomial of totals: products of totals (a sorted tuple) with their coefficients; the empty product is 1."""


@dataclass(frozen=True, eq=False)
class Value:
    """A fraction of two polynomials of totals."""

    top: Totals
    bottom: Totals = field(default_factory=lambda: {(): Fraction(1)})


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression as declared: its name, its text, its value, or (for ==) the total that must be zero."""

    name: str
    text: str
    value: Value | None
    zero: Row | None = None

    @property
    def totals(self) -> tuple[Row, ...]:
        """The totals that the handler must compute, each once."""
        if self.value is None:
            return ()
        found = {total for part in (self.value.top, self.value.bottom) for product in part for total in product}
        return tuple(sorted(found, key=Row.text))


def parse(name: str, text: str, columns: tuple[str, ...]) -> Expression:
    """An expression from its text; whatever is not in the language is refused by name."""
    where = f"expression {name!r}"
    if len(text) > MAX_TEXT:
        raise ParameterError(f"{where}: has {len(text)} characters, at most {MAX_TEXT} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ParameterError(f"{where}: cannot be read; write for instance sum(x*y) or mean(x).") from None
    reader = _Reader(where, columns)
    if isinstance(tree, ast.Compare):
        return Expression(name, text, None, reader.equality(tree))
    value = reader.value(tree)
    found = Expression(name, text, value)
    if not found.totals:
        raise ParameterError(f"{where}: has no sum over rows; nothing would be delegated.")
    return found


class _Reader:
    """Reads the tree of one expression."""

    def __init__(self, where: str, columns: tuple[str, ...]) -> None:
        self.where, self.columns = where, columns

    def _no(self, what: str) -> ParameterError:
        return ParameterError(
            f"{self.where}: {what}; allowed are + - * /, whole numbers, sum(), mean(), var(), count() and ==."
        )

    # --- one row ---------------------------------------------------------------------------------------------------
    def row(self, node: ast.AST) -> Row:
        """A polynomial of columns; its degree is checked here, before anything is encrypted."""
        found = self._row(node)
        if found.degree > MAX_DEGREE:
            raise ParameterError(
                f"{self.where}: multiplies {found.degree} columns with one another, at most {MAX_DEGREE} are computed exactly."
            )
        if len(found.terms) > MAX_TERMS:
            raise ParameterError(f"{self.where}: has {len(found.terms)} terms, at most {MAX_TERMS} are computed.")
        return found

    def _row(self, node: ast.AST) -> Row:
        if isinstance(node, ast.Name):
            if node.id not in self.columns:
                raise ParameterError(
                    f"{self.where}: there is no column {node.id!r}; known are {', '.join(self.columns)}."
                    f"{did_you_mean(node.id, self.columns)}"
                )
            return Row((((node.id,), 1),))
        if isinstance(node, ast.Constant):
            return row({(): self._whole(node)})
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return times(row({(): -1}), self._row(node.operand))
        if isinstance(node, ast.BinOp):
            return self._row_operation(node)
        raise self._no("only columns and whole numbers may be inside a sum")

    def _row_operation(self, node: ast.BinOp) -> Row:
        if isinstance(node.op, ast.Pow):
            base = self._row(node.left)
            if not isinstance(node.right, ast.Constant) or not 1 <= self._whole(node.right) <= MAX_DEGREE:
                raise self._no(f"powers must be whole numbers from 1 to {MAX_DEGREE}")
            found = base
            for _ in range(self._whole(node.right) - 1):
                found = self._limited(times(found, base))
            return found
        first, second = self._row(node.left), self._row(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return plus(first, second, 1 if isinstance(node.op, ast.Add) else -1)
        if isinstance(node.op, ast.Mult):
            return self._limited(times(first, second))
        raise self._no("inside a sum there is no division")

    def _limited(self, found: Row) -> Row:
        """Stop before a product of sums grows beyond every limit."""
        if len(found.terms) > MAX_TERMS:
            raise ParameterError(f"{self.where}: has more than {MAX_TERMS} terms when multiplied out.")
        return found

    def _whole(self, node: ast.Constant) -> int:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_FACTOR:
            raise self._no(f"numbers must be whole and at most {MAX_FACTOR}")
        return value

    # --- totals ----------------------------------------------------------------------------------------------------
    def value(self, node: ast.AST) -> Value:
        """A fraction of totals."""
        if isinstance(node, ast.Constant):
            return Value({(): Fraction(self._whole(node))})
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self.value(node.operand)
            return Value({product: -factor for product, factor in inner.top.items()}, inner.bottom)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Name):
            raise self._no(f"the column {node.id!r} must be inside sum(), mean() or var()")
        raise self._no("this is not in the language")

    def _operation(self, node: ast.BinOp) -> Value:
        first, second = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Mult):
            return Value(_multiply(first.top, second.top), _multiply(first.bottom, second.bottom))
        if isinstance(node.op, ast.Div):
            return Value(_multiply(first.top, second.bottom), _multiply(first.bottom, second.top))
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = 1 if isinstance(node.op, ast.Add) else -1
            top = _add(_multiply(first.top, second.bottom), _multiply(second.top, first.bottom), sign)
            return Value(top, _multiply(first.bottom, second.bottom))
        raise self._no("this operation is not in the language")

    def _call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if node.keywords or name not in ("sum", "mean", "var", "count"):
            raise self._no(f"there is no function {name or 'of that kind'!r}")
        if len(node.args) != (0 if name == "count" else 1):
            raise self._no(f"{name}() takes {'nothing' if name == 'count' else 'one expression'}")
        count: Totals = {(row({(): 1}),): Fraction(1)}
        if name == "count":
            return Value(count)
        inner = self.row(node.args[0])
        total: Totals = {(inner,): Fraction(1)}
        if name == "sum":
            return Value(total)
        if name == "mean":
            return Value(total, count)
        square = self.row(ast.BinOp(node.args[0], ast.Mult(), node.args[0]))
        top = _add(_multiply(count, {(square,): Fraction(1)}), _multiply(total, total), -1)
        return Value(top, _multiply(count, count))

    def equality(self, node: ast.Compare) -> Row:
        """a == b as one total that is zero; both sides must be sums, differences or multiples of totals."""
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
            raise self._no("the only comparison is ==")
        first, second = self.value(node.left), self.value(node.comparators[0])
        one: Totals = {(): Fraction(1)}
        if first.bottom != one or second.bottom != one:
            raise self._no("== compares sums, not ratios")
        found = row({})
        for product, factor in _add(first.top, second.top, -1).items():
            if len(product) != 1 or factor.denominator != 1:
                raise self._no("== compares sums and whole multiples of sums")
            found = plus(found, times(row({(): int(factor)}), product[0]))
        if not found.columns or any(not names for names, _ in found.terms):
            raise self._no("== compares two different sums of columns, without numbers added")
        return found


def _add(first: Totals, second: Totals, sign: int) -> Totals:
    found = dict(first)
    for product, factor in second.items():
        found[product] = found.get(product, Fraction(0)) + sign * factor
    return {product: factor for product, factor in found.items() if factor}


def _multiply(first: Totals, second: Totals) -> Totals:
    found: Totals = {}
    for mine, a in first.items():
        for theirs, b in second.items():
            product = tuple(sorted((*mine, *theirs), key=Row.text))
            found[product] = found.get(product, Fraction(0)) + a * b
    if len(found) > MAX_TERMS:
        raise ParameterError(f"expression: has more than {MAX_TERMS} products of sums when multiplied out.")
    return {product: factor for product, factor in found.items() if factor}


def evaluate(value: Value, totals: Mapping[Row, Fraction]) -> Fraction | None:
    """The value from its totals; None where it is divided by 0."""
    top, bottom = (_polynomial(part, totals) for part in (value.top, value.bottom))
    return None if bottom == 0 else top / bottom


def _polynomial(part: Totals, totals: Mapping[Row, Fraction]) -> Fraction:
    found = Fraction(0)
    for product, factor in part.items():
        term = factor
        for total in product:
            term *= totals[total]
        found += term
    return found
