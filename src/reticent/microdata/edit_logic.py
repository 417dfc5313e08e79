# SPDX-License-Identifier: Apache-2.0
"""Whether edit rules can hold together: branches of their alternatives, codes by sets, numbers by a linear program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from scipy import sparse

from reticent.data.schema import Kind, Schema
from reticent.microdata.edit_parser import (
    Arithmetic,
    Compare,
    Condition,
    Every,
    Expression,
    Member,
    Name,
    Not,
    Number,
    Some,
    Text,
)

# Alternatives multiply; beyond this many branches the rules count as consistent (they are still checked on records).
MAX_BRANCHES = 5000
_OPPOSITE = {"<=": ">", ">": "<=", ">=": "<", "<": ">=", "==": "!=", "!=": "=="}
_MIRROR = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "==": "==", "!=": "!="}


@dataclass
class _Linear:
    """constant + Σ coefficient · variable."""

    constant: float = 0.0
    terms: dict[str, float] = field(default_factory=dict)

    def plus(self, other: "_Linear", factor: float) -> "_Linear":
        terms = dict(self.terms)
        for name, coefficient in other.terms.items():
            terms[name] = terms.get(name, 0.0) + factor * coefficient
        return _Linear(self.constant + factor * other.constant, terms)

    def times(self, factor: float) -> "_Linear":
        return _Linear(self.constant * factor, {name: factor * c for name, c in self.terms.items()})


def contradiction(conditions: Sequence[Condition], schema: Schema) -> tuple[int, ...]:
    """Positions of a smallest set of rules that cannot hold together (dropped one by one); empty if all can."""
    if _possible(conditions, schema):
        return ()
    keep = list(range(len(conditions)))
    for candidate in range(len(conditions)):
        rest = [index for index in keep if index != candidate]
        if rest and not _possible([conditions[index] for index in rest], schema):
            keep = rest
    return tuple(keep)


def _possible(conditions: Sequence[Condition], schema: Schema) -> bool:
    branches = list(islice(_branches(Every(tuple(conditions)), schema, negated=False), MAX_BRANCHES + 1))
    if len(branches) > MAX_BRANCHES:
        return True
    return any(_branch_possible(branch, schema) for branch in branches)


def _branches(node: Condition, schema: Schema, *, negated: bool) -> Iterator[tuple[Compare | Member | Not, ...]]:
    """The ways to satisfy a condition, each a list of comparisons that must hold together."""
    match node:
        case Not(part):
            yield from _branches(part, schema, negated=not negated)
        case Compare(operator, left, right):
            literal = Compare(_OPPOSITE[operator] if negated else operator, left, right)
            if literal.operator == "!=" and _as_codes(literal, schema) is None:
                yield (Compare("<", left, right),)
                yield (Compare(">", left, right),)
            else:
                yield (literal,)
        case Member():
            yield (Not(node) if negated else node,)
        case Every(parts) | Some(parts):
            if isinstance(node, Every) != negated:
                yield from _product(parts, schema, negated=negated)
            else:
                for part in parts:
                    yield from _branches(part, schema, negated=negated)


def _product(
    parts: Sequence[Condition], schema: Schema, *, negated: bool
) -> Iterator[tuple[Compare | Member | Not, ...]]:
    if not parts:
        yield ()
        return
    for first in _branches(parts[0], schema, negated=negated):
        for rest in _product(parts[1:], schema, negated=negated):
            yield (*first, *rest)


def _branch_possible(branch: Sequence[Compare | Member | Not], schema: Schema) -> bool:
    allowed: dict[str, set[str]] = {}
    banned: dict[str, set[str]] = {}
    rows: list[tuple[_Linear, str]] = []
    for literal in branch:
        coded = _as_codes(literal, schema)
        if coded is not None:
            name, codes, inside = coded
            if inside:
                allowed[name] = allowed.get(name, codes) & codes
            else:
                banned.setdefault(name, set()).update(codes)
        elif isinstance(literal, Compare):
            row = _as_row(literal)
            if row is not None:
                rows.append(row)
    for name, codes in allowed.items():
        if not codes - banned.get(name, set()):
            return False
    for name, codes in banned.items():
        listed = set(schema[name].codes)
        if listed and not listed - codes:
            return False
    return _rows_possible(rows)


def _as_codes(literal: Compare | Member | Not, schema: Schema) -> tuple[str, set[str], bool] | None:
    """(variable, codes, whether it must be one of them) for statements about codes."""
    if isinstance(literal, Not):
        inner = literal.part
        return (inner.variable.name, set(inner.codes), False) if isinstance(inner, Member) else None
    if isinstance(literal, Member):
        return literal.variable.name, set(literal.codes), True
    for side, other in ((literal.left, literal.right), (literal.right, literal.left)):
        if isinstance(side, Name) and isinstance(other, Text | Number) and literal.operator in ("==", "!="):
            is_number = isinstance(other, Number) and schema[side.name].kind is Kind.NUMERIC
            if not is_number:
                return side.name, {other.text}, literal.operator == "=="
    return None


def _as_row(literal: Compare) -> tuple[_Linear, str] | None:
    """difference of the sides and how it compares with 0; None for what is not linear."""
    left, right = _as_linear(literal.left), _as_linear(literal.right)
    if left is None or right is None:
        return None
    difference = left.plus(right, -1.0)
    if literal.operator in (">", ">="):
        return difference.times(-1.0), _MIRROR[literal.operator]
    return difference, literal.operator


def _as_linear(node: Expression) -> _Linear | None:
    match node:
        case Name(name):
            return _Linear(0.0, {name: 1.0})
        case Number(value, _):
            return _Linear(value)
        case Text():
            return None
        case Arithmetic(operator, first, second):
            left, right = _as_linear(first), _as_linear(second)
            if left is None or right is None:
                return None
            if operator in ("+", "-"):
                return left.plus(right, 1.0 if operator == "+" else -1.0)
            if operator == "*" and not (left.terms and right.terms):
                return left.times(right.constant) if left.terms else right.times(left.constant)
            if operator == "/" and not right.terms and right.constant != 0:
                return left.times(1.0 / right.constant)
            return None


def _rows_possible(rows: Sequence[tuple[_Linear, str]]) -> bool:
    """Linear feasibility; strict comparisons leave a common slack that must be positive."""
    names = sorted({name for row, _ in rows for name, c in row.terms.items() if c})
    for row, operator in rows:
        if not any(row.terms.values()):
            holds = {"<=": row.constant <= 0, "<": row.constant < 0, "==": row.constant == 0}
            if not holds[operator]:
                return False
    if not names:
        return True
    from reticent.solve.highs import solve
    from reticent.solve.model import LinearModel, Status

    used = [(row, operator) for row, operator in rows if any(row.terms.values())]
    matrix = np.array([[row.terms.get(name, 0.0) for name in names] + [1.0 if op == "<" else 0.0] for row, op in used])
    upper = np.array([-row.constant for row, _ in used])
    lower = np.array([-row.constant if op == "==" else -np.inf for row, op in used])
    n = len(names)
    model = LinearModel(
        cost=np.append(np.zeros(n), 1.0),
        col_lower=np.append(np.full(n, -np.inf), 0.0),
        col_upper=np.append(np.full(n, np.inf), 1.0),
        matrix=sparse.csr_array(matrix),
        row_lower=lower,
        row_upper=upper,
        maximise=True,
    )
    solution = solve(model)
    if solution.status is Status.INFEASIBLE:
        return False
    strict = any(op == "<" for _, op in used)
    return not strict or not solution.feasible or solution.objective > 1e-9
