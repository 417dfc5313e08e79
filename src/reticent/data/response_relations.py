# SPDX-License-Identifier: Apache-2.0
"""Relations between responses: `tot = dom + exp`, `exp <= tot`, `value = 2.5 count`. Text in, integers out."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from reticent.base.errors import PlanError

COUNT = "count"
"""The number of records, as a response and in a relation (unless the data have a variable of that name)."""
MOST_TERMS = 50
LARGEST = 10**6
_SIDES = re.compile(r"(<=|>=|==|=)")
_NAME = r"[^\W\d][\w.]*"
_TERM = re.compile(rf"\s*([+-])?\s*(?:(\d+(?:\.\d+)?)\s*\*?\s*)?(?:({_NAME})|'([^']+)'|\"([^\"]+)\")?\s*")


@dataclass(frozen=True)
class ResponseRelation:
    """Σ coefficient · response = 0, or ≥ 0 where it is `inequality`; coefficients are whole and have no common factor.

    `declared` says that somebody stated it; otherwise it was found in the data.
    """

    names: tuple[str, ...]
    coefs: tuple[int, ...]
    inequality: bool = False
    declared: bool = True

    def __str__(self) -> str:
        left = [(n, c) for n, c in zip(self.names, self.coefs, strict=True) if c > 0]
        right = [(n, -c) for n, c in zip(self.names, self.coefs, strict=True) if c < 0]
        if self.inequality:
            return f"{_side(right)} <= {_side(left)}"
        left, right = (left, right) if len(left) <= len(right) else (right, left)
        return f"{_side(left)} = {_side(right)}"

    @property
    def key(self) -> tuple[frozenset[tuple[str, int]], bool]:
        """The same for relations that say the same."""
        terms = tuple(zip(self.names, self.coefs, strict=True))
        first = min(terms)[1]
        sign = -1 if not self.inequality and first < 0 else 1
        return frozenset((name, sign * coef) for name, coef in terms), self.inequality


def relation_of(
    terms: Sequence[tuple[str, Fraction]], *, inequality: bool = False, declared: bool = True
) -> ResponseRelation:
    """The relation with whole coefficients; terms of the same name are added up, and zeros left out."""
    total: dict[str, Fraction] = {}
    for name, coef in terms:
        total[name] = total.get(name, Fraction(0)) + coef
    kept = {name: coef for name, coef in total.items() if coef}
    scale = math.lcm(*(c.denominator for c in kept.values())) if kept else 1
    whole = {name: int(coef * scale) for name, coef in kept.items()}
    common = math.gcd(*whole.values()) if whole else 1
    coefs = tuple(c // common for c in whole.values())
    return ResponseRelation(tuple(whole), coefs, inequality, declared)


def parse_relation(text: str) -> ResponseRelation:
    """Read `total = part + part`, `part <= whole` or `value = 2.5 count`; names of other signs are in quotes.

    >>> str(parse_relation("tot = dom + exp"))
    'tot = dom + exp'
    >>> parse_relation("exp <= tot").coefs
    (-1, 1)
    """
    if not isinstance(text, str):
        raise PlanError('relations: each must be a text such as "tot = dom + exp".')
    pieces = _SIDES.split(text)
    if len(pieces) != 3:
        raise _malformed(text, "it needs exactly one of =, <= and >=")
    left, sign, right = (piece.strip() for piece in pieces)
    terms = [*_terms(left, text), *((name, -coef) for name, coef in _terms(right, text))]
    inequality = sign in ("<=", ">=")
    if sign == "<=":
        terms = [(name, -coef) for name, coef in terms]
    found = relation_of(terms, inequality=inequality)
    if len(found.names) < 2:
        raise _malformed(text, "it must relate at least two different responses")
    if len(found.names) > MOST_TERMS or max(abs(c) for c in found.coefs) > LARGEST:
        raise _malformed(text, f"at most {MOST_TERMS} responses and factors of six digits are possible")
    return found


def _terms(side: str, text: str) -> list[tuple[str, Fraction]]:
    found: list[tuple[str, Fraction]] = []
    at = 0
    while at < len(side):
        match = _TERM.match(side, at)
        assert match is not None  # every part of the pattern is optional
        sign, factor, *names = match.groups()
        name = next((n for n in names if n is not None), None)
        if name is None or (found and sign is None):
            raise _malformed(text, "each side is a sum of responses, each with a number before it if need be")
        coef = Fraction(factor) if factor is not None else Fraction(1)
        found.append((name, -coef if sign == "-" else coef))
        at = match.end()
    if not found:
        raise _malformed(text, "a side is empty")
    return found


def _malformed(text: str, why: str) -> PlanError:
    return PlanError(
        f'relations: {text!r} is not understood: {why}. Write for example "tot = dom + exp" or "exp <= tot".'
    )


def _side(terms: Sequence[tuple[str, int]]) -> str:
    return " + ".join(name if coef == 1 else f"{coef} {name}" for name, coef in terms) or "0"
