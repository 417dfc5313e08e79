# SPDX-License-Identifier: Apache-2.0
"""How many bits sums of whole values tell about some of them, counted without a value.

Each value is one of r whole numbers, all equally likely, so there are log2 r bits to find out. A sum of many such values is
nearly normal: it tells ½·log2(2πe·variance) bits, which is what a measurement with noise of variance 1/(2πe) would tell. So
rows are measurements with that noise, values outside of a set S are noise too, and what rows tell about S is
−½·log2 det(I − P_SS), where P is the projection on the rows (scaled to unit variance, with the noise). Linear algebra calls
a value free until a row gives it away; here many rows together reveal more than there is to know.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Floats, Ints, Mask
from reticent.kernels.elimination import reduce_modulo

NOISE = 1 / (2 * math.pi * math.e)
# one measurement is kept within this many times the noise, so that I − P keeps digits in floating-point numbers
FINEST = 2.0**30
NOTHING_NEW = 1e-9
# of the bits of any set at most this many may be told
SHARE = 0.5
ROUNDS = 60
LARGEST = 2**52


def spread_of(values: float) -> float:
    """The variance of one of this many whole numbers in a row, all equally likely."""
    return (values * values - 1) / 12


def squared_spread(values: float) -> float:
    """The variance that their squares have beside a linear function of them: that of (x − mean)²."""
    return (values * values - 1) * (values * values - 4) / 180


def total_bits(units: Floats, bits: float, spread: float) -> Floats:
    """How many bits the total of this many values has, which have this many bits and such a variance each."""
    return np.asarray(np.minimum(0.5 * np.log2(1 + units * spread / NOISE), units * bits), dtype=np.float64)


@dataclass
class Measured:
    """Rows over columns as measurements, made orthogonal one after another (Gram and Schmidt)."""

    units: Floats
    spread: float
    rows: Floats = field(init=False)
    known: Floats = field(init=False)
    length: int = 0
    finest: float = 1.0
    # the rows that were taken in, and each of `rows` as a combination of these
    _taken: list[Ints] = field(default_factory=list)
    _made: Floats = field(init=False)
    _last: tuple[int, Ints, tuple[Floats, Floats] | None] | None = None

    def __post_init__(self) -> None:
        self.rows = np.zeros((8, len(self.units)))
        self.known = np.zeros(len(self.units))
        self._made = np.zeros((8, 8))

    def excess(self, row: Ints) -> float:
        """How many bits of a row with large weights are finer than what is kept of it."""
        return 0.5 * math.log2(self._noise(row) / NOISE)

    def fineness(self, row: Ints) -> float:
        """How many times the noise one value moves a row, squared."""
        return self.spread * float(np.abs(row).max(initial=0)) ** 2 / self._noise(row)

    def lighter(self, row: Ints) -> Ints:
        """The row less whole multiples of rows that were taken in, with weights as small as that makes them.

        Whoever knows all sums knows this one as exactly. Measured with its large weights it would seem hidden behind the noise of
        the others: with weights of 10,000 and 10,001 a sum of all values hides which are counted once more. Multiples are
        rounded projections (Babai 1986), again and again until none is left.
        """
        if self.length == 0 or int(np.abs(row).max(initial=0)) >= LARGEST:
            return row
        scale = np.sqrt(self.units)
        size = float(np.linalg.norm(row * scale))
        for _ in range(ROUNDS):
            factors = np.rint(self._factors(row))
            used = np.flatnonzero(factors)
            less = row - sum(
                (int(factors[i]) * self._taken[i].astype(np.int64) for i in used), start=np.zeros_like(row)
            )
            length = float(np.linalg.norm(less * scale))
            if len(used) == 0 or length >= size:
                break
            row, size = less, length
        return row // (math.gcd(*np.unique(np.abs(row)).tolist()) or 1)

    def shrinks(self, row: Ints, by: Ints) -> bool:
        """Whether a row would be lighter once another one is taken in, too."""
        found = self._next(by)
        if found is None:
            return False
        along = float(found[0] @ (row * np.sqrt(self.units * self.spread)))
        return abs(along * float(found[1][-1])) > 0.5

    def next(self, row: Ints) -> Floats | None:
        """The part of a row that earlier ones do not tell, in units of its length; None if there is none."""
        found = self._next(row)
        return None if found is None else found[0]

    def add(self, row: Ints) -> None:
        """Take a row in."""
        found = self._next(row)
        if found is None:
            return
        if self.length == len(self.rows):
            more = max(self.length // 4, 8)
            self.rows = np.concatenate((self.rows, np.zeros((more, len(self.units)))))
            self._made = np.pad(self._made, (0, more))
        self.rows[self.length] = found[0]
        self._made[self.length, : self.length + 1] = found[1]
        self._taken.append(row.astype(np.min_scalar_type(-int(np.abs(row).max(initial=1)))))
        self.known += found[0] ** 2
        self.length += 1
        self.finest = max(self.finest, self.fineness(row))

    def _factors(self, row: Ints) -> Floats:
        """How many times each row that was taken in is in the nearest combination of them."""
        along = self.rows[: self.length] @ (row * np.sqrt(self.units * self.spread))
        return np.asarray(along @ self._made[: self.length, : self.length], dtype=np.float64)

    def _next(self, row: Ints) -> tuple[Floats, Floats] | None:
        """The part that is new, and what combination of the rows that were taken in and this one it is.

        A row is looked at before it is taken in, so the last one is kept.
        """
        if self._last is None or self._last[0] != self.length or not np.array_equal(self._last[1], row):
            self._last = self.length, row, self._found(row)
        return self._last[2]

    def _found(self, row: Ints) -> tuple[Floats, Floats] | None:
        scaled = row * np.sqrt(self.units * self.spread)
        done = self.rows[: self.length]
        along = done @ scaled
        rest = scaled - along @ done
        again = done @ rest
        rest -= again @ done if self.length else 0.0
        left, whole = float(rest @ rest), float(scaled @ scaled)
        if left <= NOTHING_NEW * whole or whole == 0:
            return None
        noise = self._noise(row)
        length = math.sqrt(max(whole + noise - float(along @ along), left + noise))
        made = np.append(-(along + again) @ self._made[: self.length, : self.length], 1.0)
        return np.asarray(rest / length), np.asarray(made / length)

    def back_to(self, length: int) -> None:
        """Forget the rows after this many."""
        if length < self.length:
            self.length, self._last = length, None
            del self._taken[length:]
            self.known = np.asarray((self.rows[:length] ** 2).sum(axis=0))

    def _noise(self, row: Ints) -> float:
        largest = float(np.abs(row).max(initial=0))
        return max(NOISE, self.spread * largest * largest / FINEST)


@dataclass(frozen=True)
class Group:
    """A set of unknowns, the bits that it has and the bits that rows reveal of it."""

    members: Ints
    unknown: float
    told: float

    @property
    def beyond(self) -> float:
        """By how many bits the rows reveal more than they may."""
        return self.told - SHARE * self.unknown


def told_of(shares: Sequence[Floats]) -> float:
    """How many bits independent systems of rows tell about unknowns, given their parts of the projections."""
    found = [np.linalg.slogdet(np.eye(len(share)) - share) for share in shares]
    return sum(math.inf if sign <= 0 else max(0.0, -0.5 * float(size) / math.log(2)) for sign, size in found)


def in_doubt(shares: Sequence[Floats], unknown: Floats) -> Ints:
    """The unknowns that a set may have of which rows reveal too much; if there are none, there is no such set.

    What rows tell of a set grows faster than the set (it is supermodular). So one of which all rows, beside all others, tell
    no more than they may can be left out of any set of which they tell too much, and they still do.
    """
    left = np.arange(len(unknown))
    while len(left):
        inverses = [np.linalg.inv(np.eye(len(left)) - share[np.ix_(left, left)]) for share in shares]
        if any(float(np.diag(inverse).min()) < 1 - NOTHING_NEW for inverse in inverses):
            break  # digits are lost
        own = np.sum([0.5 * np.log2(np.maximum(np.diag(inverse), 1.0)) for inverse in inverses], axis=0)
        kept = left[own > SHARE * unknown[left]]
        if len(kept) == len(left):
            break
        left = kept
    return left


def worst_group(shares: Sequence[Floats], unknown: Floats) -> Group:
    """The set of which rows reveal most, among those that are left when the least revealed unknown goes first.

    What rows tell of a set grows faster than the set (it is supermodular), and for such functions this order finds a set
    nearly as dense as the densest (Charikar 2000 for graphs).
    """
    n = len(unknown)
    inverses = [np.linalg.inv(np.eye(n) - share) for share in shares]
    told, bits, here = told_of(shares), float(unknown.sum()), np.ones(n, dtype=bool)
    worst = Group(np.arange(n), bits, told)
    for _ in range(n - 1):
        own = np.sum([0.5 * np.log2(np.maximum(np.diag(inverse), 1.0)) for inverse in inverses], axis=0)
        i = int(np.argmin(np.where(here, own / unknown, np.inf)))
        told, bits = told - float(own[i]), bits - float(unknown[i])
        for inverse in inverses:
            inverse -= np.outer(inverse[:, i], inverse[i] / inverse[i, i])
        here[i] = False
        if told - SHARE * bits > worst.beyond:
            worst = Group(np.flatnonzero(here), bits, told)
    return worst


def by_lattice(coefficients: Floats, units: Floats, chosen: Mask, each: tuple[float, float]) -> float:
    """What rows tell about the chosen unknowns where the others are no smooth noise: multiples of 2, say, tell a parity.

    No noise has more bits than the unknowns that it is made of: H(all) − H(others), each at most its own bits. `each` is the
    bits and the variance of one value.
    """

    def bits(there: Mask) -> float:
        scaled = coefficients[:, there] * np.sqrt(units[there] * each[1] / NOISE)
        rows = np.eye(len(scaled)) + scaled @ scaled.T
        return min(float(total_bits(units[there], *each).sum()), 0.5 * float(np.linalg.slogdet(rows)[1]) / math.log(2))

    touched = np.asarray(coefficients.any(axis=0), dtype=bool)
    return max(0.0, bits(touched) - bits(touched & ~chosen))


def rests_on_few(rows: Ints, respondents: Ints, minimum: int, prime: int) -> bool:
    """Whether the remainder by a prime of a sum of few respondents follows: a combination that vanishes modulo it elsewhere.

    Classes with enough respondents are eliminated first. What is left is looked at row by row and two by two.
    """
    order = np.argsort(respondents < minimum, kind="stable")
    table, crowded = rows[:, order] % prime, int((respondents >= minimum).sum())
    done = reduce_modulo(table, prime)
    left = table[:done][~table[:done, :crowded].any(axis=1), crowded:]
    people = respondents[order][crowded:]
    pairs = [(a - c * b) % prime for i, a in enumerate(left) for b in left[:i] for c in range(1, prime)]
    return any(int(people[own != 0].sum()) < minimum for own in (*left, *pairs))
