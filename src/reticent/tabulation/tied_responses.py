# SPDX-License-Identifier: Apache-2.0
"""Which relations hold between responses: declared ones are checked, others are looked for in the data.

The numbers are those of the records, one row each, or of the inner cells where there are no records. A relation that holds
up to rounding counts; how far a single number may be off is half a unit of each of its terms.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Mask
from reticent.base.errors import DataError
from reticent.data.response_relations import COUNT, ResponseRelation, relation_of
from reticent.tabulation.few_values import believed_by_records
from reticent.tabulation.ratios import ratios

MOST_SEARCHED = 12
"""Up to this many responses relations are looked for; with more, those declared count."""
EVIDENCE = 3  # further rows, beyond those that determine a relation, that must satisfy it
ROWS_FOR_ORDER = 8
"""Rows from which on `part <= whole` everywhere is not an accident."""
_CLOSE = 0.1  # a part somewhere reaches this share of its whole; a tax is a part, though never half of the income
OFTEN = 0.05
"""The share of records with the largest (or least) number from which on it is a limit."""
_SAMPLE = 400  # rows that propose linear relations; all rows decide
LARGE = 50.0  # how many times its rounding a number is, typically, before relations up to rounding are looked for
LARGEST_FACTOR = 10_000


@dataclass(frozen=True, eq=False)
class Numbers:
    """What is known of several responses: a column each, the smallest step of its numbers, and where they are missing.

    A missing number counts as 0, as it does in sums, so that a relation need not hold in its row.
    """

    columns: Mapping[str, Floats]
    steps: Mapping[str, float]
    of_records: bool = True
    absent: Mapping[str, Mask] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of records or cells."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def complete(self, names: Sequence[str]) -> Mask:
        """The rows in which none of these numbers is missing."""
        there = np.ones(self.n_rows, dtype=bool)
        for name in names:
            if name in self.absent:
                there &= ~self.absent[name]
        return there

    def residuals(self, relation: ResponseRelation, rows: slice | NDArray[np.int64] = slice(None)) -> Floats:
        """Σ coefficient · number of every row."""
        total = np.zeros(len(next(iter(self.columns.values()))[rows]))
        for name, coef in zip(relation.names, relation.coefs, strict=True):
            total += coef * self.columns[name][rows]
        return total

    def rounding(self, relation: ResponseRelation) -> float:
        """How far rounding alone may take one row from the relation."""
        terms = zip(relation.names, relation.coefs, strict=True)
        return sum(0.5 * abs(coef) * self.steps[name] for name, coef in terms)

    def noise(self, relation: ResponseRelation) -> float:
        """What floating point may add up to: far below a step."""
        terms = zip(relation.names, relation.coefs, strict=True)
        sizes = [abs(coef) * float(np.abs(self.columns[name]).max(initial=0.0)) for name, coef in terms]
        return 1e-6 * min(self.steps[name] for name in relation.names) + 1e-12 * sum(sizes)


@dataclass(frozen=True)
class Within:
    """Some codes of a variable: a relation holds for the records that have one of them."""

    variable: str
    codes: frozenset[str]
    name: str

    def __str__(self) -> str:
        return f"where {self.variable} is {self.name}"


@dataclass(frozen=True)
class Tie:
    """A relation that holds, and how far rounding takes a single record, or cell, from it (0: it is exact).

    Where it does not hold in all rows (not `everywhere`), it is used for those cells in which it does; `within` says which
    records it is about, where these are not all, and `together` whose records it is about only when they are added up.
    """

    relation: ResponseRelation
    rounding: float = 0.0
    of_records: bool = True
    everywhere: bool = True
    within: Within | None = None
    together: str = ""

    def __str__(self) -> str:
        if self.together:
            return f"{self.relation} (for the records of a {self.together} together)"
        if self.within is not None:
            return f"{self.relation} {self.within}"
        return str(self.relation) if self.everywhere else f"{self.relation} (except for a few records)"


def check_declared(relation: ResponseRelation, numbers: Numbers) -> Tie:
    """The relation as a tie; one that the data violate is an error. Rows with a missing number need not obey it."""
    there = numbers.complete(relation.names)
    off = np.where(there, numbers.residuals(relation), 0.0)
    noise, rounding = numbers.noise(relation), numbers.rounding(relation)
    wrong = int((off < -rounding - noise).sum() if relation.inequality else (np.abs(off) > rounding + noise).sum())
    if wrong:
        rows = "records" if numbers.of_records else "cells"
        raise DataError(
            f"relations: {str(relation)!r} does not hold in {wrong} of {numbers.n_rows} {rows}; correct the relation or the "
            "data.",
            variables=relation.names,
        )
    exact = bool((off >= -noise).all() if relation.inequality else (np.abs(off) <= noise).all())
    return Tie(relation, 0.0 if exact else rounding, numbers.of_records, everywhere=bool(there.all()))


def find_ties(numbers: Numbers, declared: Sequence[ResponseRelation] = ()) -> list[Tie]:
    """Relations that the data show by themselves: linear ones, exact or up to rounding, and `part <= whole`.

    What is declared, or follows from it, is not repeated.
    """
    if not 2 <= len(numbers.columns) <= MOST_SEARCHED or numbers.n_rows == 0:
        return []
    found = [Tie(relation, of_records=numbers.of_records) for relation in _exact(numbers)]
    found += _rounded(numbers, [tie.relation for tie in found])
    known = [*declared, *(tie.relation for tie in found)]
    ordered = (*_ordered(numbers, known), *_for_each_record(numbers, known), *_rates(numbers, known))
    found += [Tie(relation, of_records=numbers.of_records) for relation in ordered]
    stated = {relation.key for relation in declared}
    return [tie for tie in found if tie.relation.key not in stated]


def _exact(numbers: Numbers) -> list[ResponseRelation]:
    """Every linear relation between the columns, from an echelon form in integers."""
    names = [name for name, column in numbers.columns.items() if column.any()]
    whole = {name: np.rint(numbers.columns[name] / numbers.steps[name]) for name in names}
    if any(float(np.abs(column).max(initial=0.0)) >= 2.0**53 for column in whole.values()):
        return []
    rows = np.unique(np.column_stack([whole[name] for name in names]), axis=0) if names else np.zeros((0, 0))
    rows = rows[rows.any(axis=1)]
    chosen = np.random.default_rng(0).permutation(len(rows))[:_SAMPLE]
    while True:
        vectors, rank = null_space(rows[chosen])
        wrong = [int(np.flatnonzero(off)[0]) for off in (rows @ np.array(v, dtype=float) for v in vectors) if off.any()]
        if not wrong:
            break
        chosen = np.append(chosen, wrong)
    steps = [Fraction(numbers.steps[name]).limit_denominator(10**6) for name in names]
    made = [
        relation_of([(n, Fraction(c) / step) for n, c, step in zip(names, v, steps, strict=True)], declared=False)
        for v in vectors
    ]
    usable = [one for one in made if len(one.names) > 1 and max(abs(c) for c in one.coefs) <= LARGEST_FACTOR]
    return usable if len(rows) >= rank + EVIDENCE else [one for one in usable if _often(numbers, one)]


def _often(numbers: Numbers, relation: ResponseRelation) -> bool:
    """Whether so many records obey a relation between few different numbers that chance has not made it."""
    columns = [numbers.columns[name] for name in relation.names]
    return numbers.of_records and believed_by_records(columns, relation.coefs)


def null_space(rows: Floats) -> tuple[list[list[int]], int]:
    """Whole vectors that are orthogonal to all rows, and the rank of the rows."""
    width = rows.shape[1]
    pivots: dict[int, list[Fraction]] = {}
    for row in rows.astype(np.int64).tolist():
        rest = [Fraction(x) for x in row]
        for column, other in pivots.items():
            if rest[column]:
                factor = rest[column]
                rest = [x - factor * y for x, y in zip(rest, other, strict=True)]
        lead = next((j for j, x in enumerate(rest) if x), None)
        if lead is None:
            continue
        rest = [x / rest[lead] for x in rest]
        for column, other in pivots.items():
            pivots[column] = [x - other[lead] * y for x, y in zip(other, rest, strict=True)]
        pivots[lead] = rest
        if len(pivots) == width:
            break
    vectors = []
    for free in (j for j in range(width) if j not in pivots):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for column, row_of in pivots.items():
            vector[column] = -row_of[free]
        scale = math.lcm(*(x.denominator for x in vector))
        vectors.append([int(x * scale) for x in vector])
    return vectors, len(pivots)


def _rounded(numbers: Numbers, known: Sequence[ResponseRelation]) -> list[Tie]:
    """Totals that are sums of two to four parts, and proportional responses, where rounding hides it from algebra."""
    tied = {name for relation in known for name in relation.names}
    found: list[Tie] = []
    names = [name for name in numbers.columns if name not in tied]
    for total in names:
        others = [name for name in names if name != total]
        for relation, rounding in (*_proportional(numbers, total, others), *_sums(numbers, total, others)):
            if _new(relation, found) and _holds(numbers, relation, rounding):
                found.append(Tie(relation, rounding, numbers.of_records))
    return found


def _new(relation: ResponseRelation, found: Sequence[Tie]) -> bool:
    """Whether nothing was found yet between the same responses."""
    return all(set(tie.relation.names) != set(relation.names) for tie in found)


def _holds(numbers: Numbers, relation: ResponseRelation, rounding: float) -> bool:
    """Whether a relation holds up to its rounding in all rows, and is not an accident of small numbers."""
    limit = rounding + numbers.noise(relation)
    few = slice(0, 1000)
    if (np.abs(numbers.residuals(relation, few)) > limit).any():
        return False
    terms = zip(relation.names, relation.coefs, strict=True)
    sizes = [np.abs(coef * numbers.columns[name]) for name, coef in terms]
    some = np.sum(sizes, axis=0) > 0
    if int(some.sum()) < len(relation.names) - 1 + EVIDENCE:
        return False
    typical = min(float(np.median(size[size > 0])) if (size > 0).any() else 0.0 for size in sizes)
    return typical > LARGE * limit and bool((np.abs(numbers.residuals(relation)) <= limit).all())


def _sums(numbers: Numbers, total: str, others: Sequence[str]) -> list[tuple[ResponseRelation, float]]:
    """Sums of others whose grand total comes near enough."""
    sums = {name: float(column.sum()) for name, column in numbers.columns.items()}
    made = []
    for size in (2, 3, 4):
        for parts in itertools.combinations(others, size):
            near = numbers.n_rows * 0.5 * sum(numbers.steps[name] for name in (total, *parts))
            if abs(sums[total] - sum(sums[name] for name in parts)) <= near:
                terms = [(total, Fraction(1)), *((name, Fraction(-1)) for name in parts)]
                relation = relation_of(terms, declared=False)
                made.append((relation, numbers.rounding(relation)))
    return made


def _proportional(numbers: Numbers, one: str, others: Sequence[str]) -> Iterator[tuple[ResponseRelation, float]]:
    """Responses with the same ratio everywhere, as far as their rounding shows it."""
    for other in (other for other in others if one < other):
        there = numbers.complete((one, other))
        columns = numbers.columns[one][there], numbers.columns[other][there]
        yield from ratios((numbers.steps[one], numbers.steps[other]), (one, other), columns, share=1.0)


def _ordered(numbers: Numbers, known: Sequence[ResponseRelation]) -> list[ResponseRelation]:
    """`part <= whole` in every row, where no equality says it already; what follows from two others is left out."""
    if numbers.n_rows < ROWS_FOR_ORDER:
        return []
    implied = {pair for relation in known for pair in _parts_of(relation)}
    names = [name for name, column in numbers.columns.items() if name != COUNT and not (column < 0).any()]
    below = {
        (part, whole)
        for part, whole in itertools.permutations(names, 2)
        if (part, whole) not in implied and _is_part(numbers.columns[part], numbers.columns[whole])
    }
    kept = [
        (part, whole)
        for part, whole in sorted(below)
        if not any((part, middle) in below and (middle, whole) in below for middle in names)
    ]
    return [
        relation_of([(whole, Fraction(1)), (part, Fraction(-1))], inequality=True, declared=False)
        for part, whole in kept
    ]


def _for_each_record(numbers: Numbers, known: Sequence[ResponseRelation]) -> list[ResponseRelation]:
    """`part <= 80 count` and `2 count <= part`, where many records have the largest or the least number that there is.

    So everybody takes it for a limit: a response of 0 and 1 is never more than the number of records.
    """
    if COUNT not in numbers.columns or not numbers.of_records or numbers.n_rows < ROWS_FOR_ORDER:
        return []
    tied = {
        name for relation in known if COUNT in relation.names and len(relation.names) == 2 for name in relation.names
    }
    found = []
    for name in (name for name in numbers.columns if name not in {*tied, COUNT}):
        column = numbers.columns[name]  # a missing number is 0 in sums, which is never above the largest
        for sign, end in ((1, column.max(initial=0.0)), (-1, column.min(initial=np.inf))):
            limit = Fraction(float(end)).limit_denominator(10**6)
            if limit > 0 and int((column == end).sum()) >= max(ROWS_FOR_ORDER, OFTEN * len(column)):
                terms = [(COUNT, sign * limit), (name, Fraction(-sign))]
                found.append(relation_of(terms, inequality=True, declared=False))
    return [one for one in found if max(abs(c) for c in one.coefs) <= LARGEST_FACTOR]


def _rates(numbers: Numbers, known: Sequence[ResponseRelation]) -> list[ResponseRelation]:
    """`100 tax <= 19 sales` and `7 sales <= 100 tax`, where many records have the largest or the least ratio that there is."""
    if not numbers.of_records or numbers.n_rows < ROWS_FOR_ORDER:
        return []
    tied = {frozenset(relation.names) for relation in known}
    names = [name for name in numbers.columns if name != COUNT and not (numbers.columns[name] < 0).any()]
    found = []
    for pair in itertools.combinations(names, 2):
        whole = [np.rint(numbers.columns[name] / numbers.steps[name]) for name in pair]
        for one, other in ((0, 1), (1, 0)) if frozenset(pair) not in tied else ():
            limit = _often_the_largest(whole[one], whole[other])
            steps = [Fraction(numbers.steps[pair[at]]).limit_denominator(10**6) for at in (one, other)]
            # that a part is no more than its whole is known where parts are large
            if limit is not None and limit * steps[0] != steps[1]:
                terms = [(pair[other], limit / steps[1]), (pair[one], -1 / steps[0])]
                found.append(relation_of(terms, inequality=True, declared=False))
    return [one for one in found if max(abs(c) for c in one.coefs) <= LARGEST_FACTOR]


def _often_the_largest(one: Floats, other: Floats) -> Fraction | None:
    """The largest ratio of two columns in whole numbers, if it is that of many rows with different numbers."""
    there = other > 0
    if not there.any() or (one[~there] > 0).any() or max(one.max(), other.max()) >= 2.0**53:
        return None
    most = int((one[there] / other[there]).argmax())
    top, bottom = int(one[there][most]), int(other[there][most])
    same = there & (np.abs(one * bottom - other * top) <= 1e-12 * other * top) & (one > 0)
    different = len(np.unique(other[same]))
    enough = int(same.sum()) >= max(ROWS_FOR_ORDER, OFTEN * len(one)) and different >= 1 + EVIDENCE
    return Fraction(top, bottom) if enough else None


def _parts_of(relation: ResponseRelation) -> list[tuple[str, str]]:
    """Each part with its whole, where a relation of terms not below zero says which is which."""
    terms = list(zip(relation.names, relation.coefs, strict=True))
    found = []
    for sign in (1, -1):
        wholes = [(name, abs(coef)) for name, coef in terms if coef * sign > 0]
        if len(wholes) == 1 and (sign > 0 or not relation.inequality):
            whole, size = wholes[0]
            found += [(name, whole) for name, coef in terms if coef * sign < 0 and abs(coef) >= size]
    return found


def _is_part(part: Floats, whole: Floats) -> bool:
    there = part > 0
    if int(there.sum()) < ROWS_FOR_ORDER or (part > whole).any():
        return False
    return bool((part[there] >= _CLOSE * whole[there]).any())
