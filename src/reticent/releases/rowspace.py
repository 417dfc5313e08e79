# SPDX-License-Identifier: Apache-2.0
"""The row space of all released linear statistics of one response, exactly.

Columns are grouped into classes (columns that every released row treats alike). Membership is first screened with random
vectors of the null space modulo 2^61 − 1: a row that is implied is orthogonal to all of them, so nothing implied is ever
missed, whatever the random numbers. What passes the screen is confirmed by a certificate: the rational combination of
released rows, recovered from its residues and multiplied out in integers. So no verdict depends on rounding, and none
depends on luck.
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Ints, Mask
from reticent.kernels import echelon
from reticent.kernels.echelon import PRIME, Residues
from reticent.releases.rational import LIMB_BITS, PIECE_BITS, all_zero, lift, limbs, reconstruct
from reticent.releases.rows import Certificate, LinearRow, Partition, Proposal, Undecided

N_NULL = 3
ROOM_BITS = 62 - LIMB_BITS - 1


class RowSpace:
    """All released rows of one response over `n_columns` columns."""

    def __init__(self, n_columns: int, *, rng: np.random.Generator) -> None:
        self.n_columns, self._rng = n_columns, rng
        self.partition = Partition(
            np.zeros(n_columns, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([n_columns], dtype=np.int64)
        )
        self.rank = 0
        self.pivots: list[int] = []
        self._words = (n_columns + 63) // 64
        self._bits = np.zeros((8, self._words), dtype=np.uint64)
        self._exact = np.zeros(8, dtype=np.int64)
        self._residues = np.zeros(8, dtype=np.uint64)
        self._starts = np.zeros(1, dtype=np.int64)
        self._largest: list[int] = []
        self._inverse = np.zeros((8, 8), dtype=np.uint64)
        self._null = self._random((N_NULL, 1))

    def propose(self, row: LinearRow) -> Proposal | Certificate:
        """What would follow from releasing a row: a certificate if it is implied already, else a proposal."""
        partition, null, first = self.partition, self._null, self.partition.n_classes
        origin = []
        for _, mask in row.terms:
            partition, parents = partition.split(mask)
            null = self._extend(null, parents)
            origin.append(parents)
        values = residues(row.coefficients(partition.representative))
        products = [int(echelon.dot(values, vector)) for vector in null]
        used = next((k for k, product in enumerate(products) if product), None)
        if used is None:
            certificate = self._certify(values, row.coefficients(partition.representative), partition, None)
            if certificate is None:
                raise Undecided("The audit cannot prove whether a query is implied.")
            return certificate
        inverse = pow(products[used], PRIME - 2, PRIME)
        kept = np.delete(null, used, axis=0)
        for position, k in enumerate(k for k in range(len(null)) if k != used):
            factor = (PRIME - products[k] * inverse % PRIME) % PRIME
            echelon.add_multiple(kept[position], null[used], np.uint64(factor))
        fresh = np.arange(first, partition.n_classes)
        parents = np.concatenate((*origin, np.zeros(0, dtype=np.int64)))
        return Proposal(row, partition, fresh, parents, values, kept, null[used], inverse)

    def implied(self, members: Mask, proposal: Proposal) -> Certificate | None:
        """Whether the joint total of some classes follows from the released rows and the proposed one."""
        return self.implied_combination(members.astype(np.int64), proposal)

    def implied_combination(self, weights: Ints, proposal: Proposal) -> Certificate | None:
        """Whether a weighted sum of class totals follows from the released rows and the proposed one."""
        return self._certify(residues(weights), weights, proposal.partition, proposal)

    def agreeing(self, values: Residues) -> Residues:
        """The factors of the combination of released rows that has these values at the pivots."""
        factors: Residues = echelon.left_product(values, self._inverse, self.rank)
        return factors

    def at_one_pivot(self, place: int, columns: Ints) -> Residues:
        """The combination of the released rows that is 1 at a pivot and 0 at the others, at some columns."""
        return self.combined(self._inverse[place, : self.rank].copy(), columns)

    def accept(self, proposal: Proposal, *, prefer: Mask | None = None) -> int:
        """Release the proposed row; returns its number. Pivots are taken from the preferred classes if possible."""
        partition, rank = proposal.partition, self.rank
        values = proposal.values
        if prefer is not None:
            self.pivots = self.moved_pivots(proposal, prefer).tolist()
        left = echelon.left_product(values[np.array(self.pivots, dtype=np.int64)], self._inverse, rank)
        pivot, schur = self._pivot(proposal, left, prefer)
        column = self._column(partition, pivot)
        right = echelon.right_product(self._inverse, column, rank)
        self._reserve(rank + 1, len(proposal.row.terms))
        echelon.border_inverse(self._inverse, rank, left, right, np.uint64(pow(schur, PRIME - 2, PRIME)))
        self._append(proposal.row)
        self.pivots.append(pivot)
        self.partition, self.rank = partition, rank + 1
        self._null = np.vstack((proposal.null, self._fresh_null()[None, :]))
        return rank

    def back_to(self, rank: int, partition: Partition, null: Residues, pivots: list[int]) -> None:
        """Take the rows released after this many back; `partition`, `null` and `pivots` are those from before them."""
        for last in range(self.rank - 1, rank - 1, -1):
            corner = np.uint64(pow(int(self._inverse[last, last]), PRIME - 2, PRIME))
            echelon.shrink_inverse(self._inverse, last, corner)
            self._largest.pop()
        self._starts = self._starts[: rank + 1]
        self.rank, self.partition, self._null, self.pivots = rank, partition, null, pivots

    @property
    def null_vectors(self) -> Residues:
        """Random vectors orthogonal to all released rows."""
        return self._null

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that `restore` needs."""
        terms = int(self._starts[-1])
        return {
            "class_of": self.partition.class_of,
            "representative": self.partition.representative,
            "size": self.partition.size,
            "pivots": np.array(self.pivots, dtype=np.int64),
            "bits": self._bits[:terms],
            "exact": self._exact[:terms],
            "starts": self._starts,
            "inverse": self._inverse[: self.rank, : self.rank],
            "null": self._null,
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Become the row space whose state this is."""
        self.partition = Partition(state["class_of"], state["representative"], state["size"])
        self.rank, self.pivots = len(state["pivots"]), state["pivots"].tolist()
        self._bits, self._exact, self._starts = state["bits"], state["exact"], state["starts"]
        self._residues = residues(self._exact)
        self._inverse, self._null = state["inverse"], state["null"]
        sizes, starts = [abs(value) for value in self._exact.tolist()], self._starts.tolist()
        self._largest = [sum(sizes[a:b]) for a, b in pairwise(starts)]

    @property
    def inverse(self) -> Residues:
        """The inverse of the released rows at the pivots: a row for each pivot, a column for each released row."""
        return self._inverse

    def row(self, number: int) -> LinearRow:
        """One released row."""
        return self._row(number)

    def column_at(self, place: int) -> Residues:
        """The coefficients of all released rows at a column."""
        column: Residues = echelon.column_of(self._bits, self._residues, self._starts, self.rank, place)
        return column

    def combined(self, factors: Residues, columns: Ints) -> Residues:
        """A combination of the released rows at some columns."""
        made: Residues = echelon.combine_rows(
            self._bits, self._residues, self._starts, factors, self._relevant(columns), self.n_columns
        )
        return made[columns]

    def _extend(self, null: Residues, parents: Ints) -> Residues:
        """Null vectors after a split: a random share of each parent's entry goes to its new class."""
        if len(parents) == 0:
            return null
        shares = self._random((len(null), len(parents)))
        kept = null.copy()
        kept[:, parents] = (kept[:, parents] + (np.uint64(PRIME) - shares)) % np.uint64(PRIME)
        return np.concatenate((kept, shares), axis=1)

    def _random(self, shape: tuple[int, int]) -> Residues:
        return self._rng.integers(1, PRIME, size=shape, dtype=np.uint64)

    def _relevant(self, columns: Ints) -> Residues:
        mask = np.zeros(self.n_columns, dtype=bool)
        mask[columns] = True
        return self._pack(mask)

    def _certify(
        self, target: Residues, exact: Ints, partition: Partition, proposal: Proposal | None
    ) -> Certificate | None:
        """The combination that gives the target, proved exactly; None if there is none."""
        share, rest = 0, target
        if proposal is not None:
            share = int(echelon.dot(target, proposal.removed)) * proposal.scale % PRIME
            rest = target.copy()
            echelon.add_multiple(rest, proposal.values, np.uint64((PRIME - share) % PRIME))
        pivots = np.array(self.pivots, dtype=np.int64)
        factors = echelon.left_product(rest[pivots], self._inverse, self.rank)
        relevant = self._relevant(partition.representative)
        made = echelon.combine_rows(self._bits, self._residues, self._starts, factors, relevant, self.n_columns)
        if not bool((made[partition.representative] == rest).all()):
            return None
        used = [(int(row), reconstruct(int(factors[row]), PRIME)) for row in np.flatnonzero(factors)]
        if share:
            used.append((-1, reconstruct(share, PRIME)))
        return self._prove(used, exact, partition, proposal)

    def _prove(
        self,
        used: list[tuple[int, Fraction | None]],
        exact: Ints,
        partition: Partition,
        proposal: Proposal | None,
    ) -> Certificate | None:
        """Multiply a combination out in integers; where its coefficients are too large for one prime, lift them."""
        factors = [(row, factor) for row, factor in used if factor is not None]
        if len(factors) == len(used) and self._holds(dict(factors), exact, partition, proposal):
            return Certificate(tuple(sorted(factors)))
        if proposal is not None:
            wider = self._copy()
            number = wider.accept(proposal)
            found = wider._lift(exact, partition)
            if found is None:
                return None
            return Certificate(tuple((-1 if row == number else row, factor) for row, factor in found.combination))
        return self._lift(exact, partition)

    def _holds(
        self, factors: dict[int, Fraction], exact: Ints, partition: Partition, proposal: Proposal | None
    ) -> bool:
        """Whether Σ factor · row = exact, in integers: by digits, so that no partial sum can leave 64 bits."""
        if sum(self._largest[row] for row in factors if row >= 0) >= 2**ROOM_BITS:
            return False
        common = lcm(1, *(factor.denominator for factor in factors.values()))
        rows = [int(factors.get(row, 0) * common) for row in range(self.rank)]
        columns = partition.representative
        relevant = self._relevant(columns)
        own = proposal.row.coefficients(columns) if proposal is not None else np.zeros_like(exact)
        if max(int(np.abs(own).max(initial=0)), int(np.abs(exact).max(initial=0))) >= 2**ROOM_BITS:
            return False
        parts = limbs([*rows, int(factors.get(-1, 0) * common), common])
        digits = []
        for part in parts:
            made = echelon.combine_exactly(
                self._bits, self._exact, self._starts, part[: self.rank], relevant, self.n_columns
            )[columns]
            digits.append(made + part[self.rank] * own - part[self.rank + 1] * exact)
        return all_zero(digits)

    def _lift(self, exact: Ints, partition: Partition) -> Certificate | None:
        """Solve exactly for the pivot classes, then see whether the solution holds for all classes."""
        places = partition.representative[np.array(self.pivots, dtype=np.int64)]
        relevant = self._relevant(places)

        def solve(rest: list[int]) -> list[int]:
            made = echelon.left_product(np.array(rest, dtype=np.uint64), self._inverse, self.rank)
            return [int(value) for value in made]

        def apply(small: Ints) -> Ints:
            made = echelon.combine_exactly(self._bits, self._exact, self._starts, small, relevant, self.n_columns)
            return np.asarray(made[places], dtype=np.int64)

        if sum(self._largest) >= 2 ** (62 - PIECE_BITS):
            raise Undecided("The audit cannot prove whether a query is implied.")
        last: list[Fraction] = []
        for found in lift(exact[np.array(self.pivots, dtype=np.int64)], PRIME, solve, apply):
            if self._holds(dict(enumerate(found)), exact, partition, None):
                return Certificate(tuple((row, factor) for row, factor in enumerate(found) if factor))
            if found == last:  # the exact solution for the pivots, and it fails elsewhere: not implied
                return None
            last = found
        raise Undecided("The audit cannot prove whether a query is implied.")

    def _copy(self) -> "RowSpace":
        other = RowSpace(self.n_columns, rng=self._rng)
        other.__dict__.update(self.__dict__)
        other.pivots, other._largest = list(self.pivots), list(self._largest)
        for name in ("_inverse", "_bits", "_exact", "_residues"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def _row(self, number: int) -> LinearRow:
        terms = range(int(self._starts[number]), int(self._starts[number + 1]))
        return LinearRow(tuple((int(self._exact[t]), self._unpack(self._bits[t])) for t in terms))

    def rows(self) -> list[LinearRow]:
        """The released rows."""
        return [self._row(number) for number in range(self.rank)]

    def near(self, mask: Mask, most: int) -> list[int]:
        """The numbers of the released rows whose columns differ from some columns in at most this many, the nearest first."""
        apart = np.bitwise_count(self._touched() ^ self._pack(mask)).sum(axis=1, dtype=np.int64)
        order = np.argsort(apart, kind="stable")
        return [int(number) for number in order[apart[order] <= most]]

    def around(self, mask: Mask, counted: Mask, most: tuple[int, int]) -> list[int]:
        """The numbers of released rows that hang together with some columns, at most this many rows over this many columns.

        Only counted columns count. Rows that share some come first, then those that share some with these, and so on; among
        them, those that need the fewest further columns.
        """
        touched, inside = self._touched() & self._pack(counted), self._pack(mask & counted)
        found: list[int] = []
        free = np.ones(self.rank, dtype=bool)
        while len(found) < most[0]:
            near = np.flatnonzero(free & (touched & inside).any(axis=1))
            free[near] = False
            further = np.bitwise_count(touched[near] & ~inside).sum(axis=1, dtype=np.int64)
            before = len(found)
            for number in near[np.argsort(further, kind="stable")][: most[0] - len(found)].tolist():
                wider = inside | touched[number]
                if int(np.bitwise_count(wider).sum()) <= most[1]:
                    inside = wider
                    found.append(number)
            if len(found) == before:
                break
        return found

    def _touched(self) -> Residues:
        """The columns of each released row."""
        if self.rank == 0:
            return np.zeros((0, self._words), dtype=np.uint64)
        return np.bitwise_or.reduceat(self._bits[: int(self._starts[-1])], self._starts[:-1], axis=0)

    def _unpack(self, words: Residues) -> Mask:
        packed = words.astype("<u8").view(np.uint8)
        return np.unpackbits(packed, bitorder="little")[: self.n_columns].astype(bool)

    def _pack(self, mask: Mask) -> Residues:
        packed = np.zeros(self._words * 8, dtype=np.uint8)
        short = np.packbits(mask, bitorder="little")
        packed[: len(short)] = short
        return np.asarray(packed.view("<u8"), dtype=np.uint64)

    def _column(self, partition: Partition, chosen: int) -> Residues:
        place = int(partition.representative[chosen])
        column: Residues = echelon.column_of(self._bits, self._residues, self._starts, self.rank, place)
        return column

    def moved_pivots(self, proposal: Proposal, prefer: Mask) -> Ints:
        """The pivots, each exchanged for a preferred class split off from it: it has the same column so far."""
        pivots = np.array(self.pivots, dtype=np.int64)
        heir = np.arange(proposal.partition.n_classes)
        for child, parent in zip(proposal.new_classes[::-1].tolist(), proposal.parents[::-1].tolist()):
            if not prefer[heir[parent]]:
                heir[parent] = heir[child]
        return np.where(prefer[pivots], pivots, heir[pivots])

    def _differs(self, proposal: Proposal, left: Residues) -> Mask:
        """The classes where the proposed row differs from the combination of rows that agrees with it at the pivots."""
        places = proposal.partition.representative
        made = echelon.combine_rows(
            self._bits, self._residues, self._starts, left, self._relevant(places), self.n_columns
        )
        return np.asarray(made[places] != proposal.values, dtype=bool)

    def _pivot(self, proposal: Proposal, left: Residues, prefer: Mask | None) -> tuple[int, int]:
        """A class where the new row differs from every combination of the others: one it has just split, if possible."""
        quick = proposal.new_classes if prefer is None else proposal.new_classes[prefer[proposal.new_classes]]
        for chosen in quick[:8].tolist():
            schur = self._schur(proposal, left, chosen)
            if schur:
                return chosen, schur
        differs = self._differs(proposal, left)
        differs[np.array(self.pivots, dtype=np.int64)] = False
        liked = differs if prefer is None or not bool((differs & prefer).any()) else differs & prefer
        chosen = int(np.argmax(liked))
        return chosen, self._schur(proposal, left, chosen)

    def _schur(self, proposal: Proposal, left: Residues, chosen: int) -> int:
        column = self._column(proposal.partition, chosen)
        return (int(proposal.values[chosen]) - int(echelon.dot(left, column))) % PRIME

    def _append(self, row: LinearRow) -> None:
        start = int(self._starts[-1])
        for position, (coefficient, mask) in enumerate(row.terms, start=start):
            self._bits[position] = self._pack(mask)
            self._exact[position] = coefficient
            self._residues[position] = coefficient % PRIME
        self._starts = np.append(self._starts, start + len(row.terms))
        self._largest.append(sum(abs(coefficient) for coefficient, _ in row.terms))

    def _reserve(self, rank: int, n_terms: int) -> None:
        """Room for one more row: storage doubles when it is full."""
        if rank > len(self._inverse):
            larger = np.zeros((max(8, 2 * len(self._inverse)),) * 2, dtype=np.uint64)
            larger[: self.rank, : self.rank] = self._inverse[: self.rank, : self.rank]
            self._inverse = larger
        needed = int(self._starts[-1]) + n_terms
        if needed > len(self._bits):
            size = max(2 * len(self._bits), needed)
            self._bits = np.concatenate((self._bits, np.zeros((size - len(self._bits), self._words), dtype=np.uint64)))
            self._exact = np.concatenate((self._exact, np.zeros(size - len(self._exact), dtype=np.int64)))
            self._residues = np.concatenate((self._residues, np.zeros(size - len(self._residues), dtype=np.uint64)))

    def _fresh_null(self) -> Residues:
        """A random vector orthogonal to all released rows."""
        vector: Residues = self._random((1, self.partition.n_classes))[0]
        pivots = np.array(self.pivots, dtype=np.int64)
        vector[pivots] = 0
        spread = np.zeros(self.n_columns, dtype=np.uint64)
        spread[self.partition.representative] = vector
        relevant = self._relevant(self.partition.representative)
        sums = echelon.rows_times(self._bits, self._residues, self._starts, self.rank, spread, relevant)
        solved = echelon.right_product(self._inverse, sums, self.rank)
        vector[pivots] = np.where(solved == 0, np.uint64(0), np.uint64(PRIME) - solved)
        return vector


def residues(values: Ints) -> Residues:
    """Whole numbers modulo the prime that rows are first reduced by."""
    return np.asarray(values % PRIME, dtype=np.uint64)
