# SPDX-License-Identifier: Apache-2.0
"""Small factors of codes of any number of variables that add up to 0 in every record, from counts of pairs of codes alone.

Factors add up to 0 in every record just where the squares of what they add up to are 0 in all records together, and these squares
need only the numbers of records that have two codes. Floats propose vectors, whole numbers decide.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from math import prod

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from reticent.base.arrays import Floats, Ints

TOTAL = -1
"""Stands for all records in place of a variable."""
MOST_CODES = 600
"""Codes of variables that are looked at together, those with the fewest codes first."""
MOST_TERMS = 12
"""Of sums of which it is not asked whether chance made them."""
Place = tuple[int, int]
Factors = dict[Place, int]
_ZERO = 1e-9  # eigenvalues of a matrix with 1 in its diagonal
_NEAR = 1e-6
_LARGEST = 3  # factors that somebody thinks of
_MOST_FORMS = 600  # ways to say the same that are compared
_MOST_SHORTENED = 120  # vectors of which it is looked for shorter ones
_LONGER = 1  # terms of further ways to say the same, beyond those of the shortest


@dataclass(frozen=True, eq=False)
class PairCounts:
    """How many records have each two codes of some variables: `both` by two variables in rising order, as codes and counts."""

    n_variables: int
    n_records: int
    both: Mapping[tuple[int, int], tuple[Ints, Ints]] = field(repr=False)

    @cached_property
    def sizes(self) -> list[dict[int, int]]:
        """The codes of each variable that occur, with the numbers of their records."""
        found: list[dict[int, int]] = [{} for _ in range(self.n_variables)]
        for (one, other), (codes, counts) in self.both.items():
            for side, at in enumerate((one, other)):
                if not found[at]:
                    many = np.bincount(codes[:, side], weights=counts)
                    found[at] = {int(code): int(many[code]) for code in np.flatnonzero(many)}
        return found

    @cached_property
    def places(self) -> list[Place]:
        """All records, and the codes of each variable but its most frequent one, which follows from the others."""
        kept = [(TOTAL, 0)]
        for at, sizes in enumerate(self.sizes):
            most = max(sizes, key=lambda code: (sizes[code], -code))
            kept += [(at, code) for code in sorted(sizes) if code != most]
        return kept

    @cached_property
    def matrix(self) -> Ints:
        """The records that two places have in common."""
        number = {place: n for n, place in enumerate(self.places)}
        out = np.zeros((len(number), len(number)), dtype=np.int64)
        for at, sizes in enumerate(self.sizes):
            for code, many in sizes.items():
                if (own := number.get((at, code))) is not None:
                    out[own, own] = out[0, own] = out[own, 0] = many
        out[0, 0] = self.n_records
        for (one, other), (codes, counts) in self.both.items():
            for (a, b), many in zip(codes.tolist(), counts.tolist(), strict=True):
                left, right = number.get((one, a)), number.get((other, b))
                if left is not None and right is not None:
                    out[left, right] = out[right, left] = many
        return out

    def vector(self, factors: Mapping[Place, int]) -> Ints:
        """Factors of any codes as those of the places."""
        number = {place: n for n, place in enumerate(self.places)}
        out = np.zeros(len(number), dtype=np.int64)
        for (at, code), factor in factors.items():
            if (own := number.get((at, code) if at != TOTAL else (TOTAL, 0))) is not None:
                out[own] += factor
            else:  # the most frequent code: everybody without the others
                out[0] += factor
                out[[number[at, one] for one in self.sizes[at] if (at, one) in number]] -= factor
        return out

    def classes(self, one: int, other: int) -> Iterator[Factors]:
        """What two variables say: the codes of each class of one are, added up, those of the other."""
        codes = self.both[one, other][0]
        start = int(codes[:, 0].max()) + 1
        size = start + int(codes[:, 1].max()) + 1
        graph = sparse.coo_array((np.ones(len(codes)), (codes[:, 0], start + codes[:, 1])), shape=(size, size))
        label = np.asarray(connected_components(graph, directed=False)[1])
        for own in np.unique(label[codes[:, 0]]).tolist():
            left = {(one, code): 1 for code in np.unique(codes[:, 0]).tolist() if label[code] == own}
            yield left | {(other, c): -1 for c in np.unique(codes[:, 1]).tolist() if label[start + c] == own}


@dataclass(eq=False)
class Span:
    """What is known already: vectors are taken in where they are independent of the others."""

    rows: list[Floats] = field(default_factory=list)

    def grows(self, vector: Ints) -> bool:
        """Whether a vector is independent of those taken in; it is then one of them."""
        rest = vector / max(float(np.linalg.norm(vector)), 1.0)
        for _ in range(2):  # once more, so that rounding leaves nothing
            if self.rows:
                basis = np.array(self.rows)
                rest = rest - (basis @ rest) @ basis
        size = float(np.linalg.norm(rest))
        if size < _NEAR:
            return False
        self.rows.append(rest / size)
        return True


def sums_beyond(counts: PairCounts, known: Sequence[Mapping[Place, int]]) -> Iterator[Factors]:
    """Independent vectors of small factors that add up to 0 in every record, beyond what is known."""
    matrix = counts.matrix
    scale = 1 / np.sqrt(np.maximum(np.diag(matrix), 1).astype(np.float64))
    values, vectors = np.linalg.eigh(matrix * scale[:, None] * scale[None, :])
    empty = vectors[:, values < _ZERO].T * scale[None, :]
    span = Span()
    for factors in known if len(empty) else ():
        span.grows(counts.vector(factors))
    rare_first = np.argsort(np.diag(matrix), kind="stable")
    found: list[Ints] = []
    for order in (rare_first, rare_first[::-1]):
        for row in _reduced(empty, order) if len(span.rows) < len(empty) else ():
            whole = _small(row)
            if whole is not None and not (matrix @ whole).any() and span.grows(whole):
                found.append(whole)
    for whole in _shortened(found, counts) if len(found) <= _MOST_SHORTENED else found:
        yield {place: int(f) for place, f in zip(counts.places, whole, strict=True) if f}


def _shortened(found: list[Ints], counts: PairCounts) -> list[Ints]:
    """Vectors with the same span, of which none is shorter with another added or taken away: parts of one code are one sum."""
    found = list(found)
    start = np.flatnonzero(np.diff([at for at, _ in counts.places], prepend=TOTAL - 1))
    sizes = [_length(one, start) for one in found]
    changed = True
    while changed:
        changed = False
        for at, other in product(range(len(found)), repeat=2):
            if at == other or not bool((found[at] * found[other]).any()):
                continue
            for new in (found[at] - found[other], found[at] + found[other]):
                size = _length(new, start)
                if size < sizes[at] and int(np.abs(new).max()) <= _LARGEST:
                    found[at], sizes[at], changed = new, size, True
    return found


def _length(vector: Ints, start: Ints) -> int:
    """The terms of the shortest way to say that a vector is 0; `start` has the first place of each variable."""
    total, *parts = np.split(vector, start[1:])
    moved, length = int(total[0]), 0
    for part in parts:
        # the most frequent code, which is left out, has 0
        values, many = np.unique(np.append(part, 0), return_counts=True)
        off = int(values[np.argmax(many)])
        moved, length = moved + off, length + len(part) + 1 - int(many.max())
    return length + bool(moved)


def _reduced(rows: Floats, order: Ints) -> Floats:
    """The same span by rows of which each has 1 at a place where the others have 0, such places by the order."""
    rows = rows.copy()
    done = 0
    for at in order.tolist():
        if done == len(rows):
            break
        best = done + int(np.argmax(np.abs(rows[done:, at])))
        if abs(rows[best, at]) < _NEAR * float(np.abs(rows[best]).max(initial=1e-300)):
            continue
        rows[[done, best]] = rows[[best, done]]
        rows[done] /= rows[done, at]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, at], rows[done])
        done += 1
    return rows[:done]


def _small(row: Floats) -> Ints | None:
    """A vector in whole numbers none of which is large; None where there is no such."""
    for factor in range(1, _LARGEST + 1):
        whole = np.rint(row * factor)
        if float(np.abs(row * factor - whole).max()) < _NEAR * factor:
            return whole.astype(np.int64) if float(np.abs(whole).max()) <= _LARGEST else None
    return None


def forms_of(factors: Factors, counts: PairCounts) -> list[Factors]:
    """The shortest way to say it, and others that say that one code is the sum of others: their bounds follow from its parts."""
    own = sorted({at for at, _ in factors if at != TOTAL})
    full = {at: {code: factors.get((at, code), 0) for code in counts.sizes[at]} for at in own}
    choices = [sorted({0, *full[at].values()}) for at in own]
    if prod(len(one) for one in choices) > _MOST_FORMS:  # the most frequent factor of each variable goes
        choices = [[_most(list(full[at].values()))] for at in own]
    found: dict[tuple[tuple[Place, int], ...], Factors] = {}
    for moved, sign in product(islice(product(*choices), _MOST_FORMS), (1, -1)):
        form = {
            (at, code): sign * (f - off)
            for at, off in zip(own, moved, strict=True)
            for code, f in full[at].items()
            if f != off
        }
        total = sign * (factors.get((TOTAL, 0), 0) + sum(moved))
        form |= {(TOTAL, 0): total} if total else {}
        found.setdefault(tuple(sorted(form.items())), form)
    forms = sorted(found.values(), key=lambda one: (len(one), sum(f < 0 for f in one.values()), sorted(one.items())))
    others = (one for one in forms[1:] if len(one) <= len(forms[0]) + _LONGER)
    return [forms[0], *(one for one in others if sorted(one.values())[:2] == [-1, 1] and max(one.values()) == 1)]


def _most(values: Sequence[int]) -> int:
    return max(sorted(set(values)), key=values.count)


def is_short(factors: Mapping[Place, int]) -> bool:
    """Whether somebody who knows what codes mean may know a sum, however few records there are."""
    return len(factors) <= MOST_TERMS and max(map(abs, factors.values())) == 1


def chance(factors: Mapping[Place, int], counts: PairCounts) -> float:
    """How likely independent codes add up to 0 in one record."""
    spread: dict[int, float] = {factors.get((TOTAL, 0), 0): 1.0}
    for at in sorted({at for at, _ in factors if at != TOTAL}):
        grown: dict[int, float] = {}
        for (total, likely), (code, many) in product(spread.items(), counts.sizes[at].items()):
            key = total + factors.get((at, code), 0)
            grown[key] = grown.get(key, 0.0) + likely * many / counts.n_records
        spread = grown
    return spread.get(0, 0.0)
