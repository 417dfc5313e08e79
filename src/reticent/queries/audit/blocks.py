# SPDX-License-Identifier: Apache-2.0
"""A quick proof that every combination of answers rests on enough respondents.

The columns are dealt out to blocks so that no respondent has columns in two of them; columns that hold enough respondents
by themselves belong to every block. If a new row restricted to a block's columns is no combination of the released rows
restricted to them, then whatever is added to it keeps something there: a crowded column, or a respondent of the block.
So, where that holds for as many blocks as the policy wants respondents, no combination rests on fewer. A block keeps the
inverse of its own pivot columns, and works through the released rows only when it is asked.
"""

from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Ints
from reticent.kernels import echelon
from reticent.kernels.echelon import PRIME, Residues
from reticent.queries.columns import Columns
from reticent.releases.rows import LinearRow
from reticent.releases.rowspace import RowSpace, residues

LOOKED_AT = 48
MOST_BLOCKS = 16


@dataclass
class Block:
    """Some columns, and the inverse of the released rows at its pivots among them."""

    columns: Ints
    pivots: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    seen: int = 0
    _inverse: Residues = field(default_factory=lambda: np.zeros((8, 8), dtype=np.uint64))

    def separates(self, space: RowSpace, row: LinearRow) -> bool:
        """Whether the row is no combination of the released ones on these columns."""
        self._catch_up(space)
        return self._place(space, row) is not None

    def separated(self, space: RowSpace) -> set[int]:
        """The released rows that are no combination of those before them on these columns."""
        self._catch_up(space)
        return set(self.rows)

    def back_to(self, rank: int) -> None:
        """Forget the rows that were released after the rank was this."""
        while self.rows and self.rows[-1] >= rank:
            self._drop_last()
        self.seen = min(self.seen, rank)

    def _catch_up(self, space: RowSpace) -> None:
        for number in range(self.seen, space.rank):
            row = space.row(number)
            found = self._place(space, row)
            if found is not None:
                self._take(space, number, *found)
        self.seen = space.rank

    def _place(self, space: RowSpace, row: LinearRow) -> tuple[int, Residues, int] | None:
        """A column where the row differs from the combination that agrees with it at the pivots."""
        rank = len(self.pivots)
        at_pivots = residues(row.coefficients(np.array(self.pivots, dtype=np.int64)))
        left = echelon.left_product(at_pivots, self._inverse, rank)
        values = row.coefficients(self.columns)
        touched = np.flatnonzero(values)
        for at in touched[:: max(1, len(touched) // LOOKED_AT)].tolist():
            place = int(self.columns[at])
            schur = (int(values[at]) - int(echelon.dot(left, self._column(space, place)))) % PRIME
            if schur:
                return place, left, schur
        factors = np.zeros(space.rank, dtype=np.uint64)
        factors[self.rows] = left
        differs = (space.combined(factors, self.columns) != residues(values)).nonzero()[0]
        if len(differs) == 0:
            return None
        place = int(self.columns[differs[0]])
        value = int(values[differs[0]]) - int(echelon.dot(left, self._column(space, place)))
        return place, left, value % PRIME

    def _take(self, space: RowSpace, number: int, place: int, left: Residues, schur: int) -> None:
        rank = len(self.pivots)
        right = echelon.right_product(self._inverse, self._column(space, place), rank)
        if rank == len(self._inverse):
            larger = np.zeros((2 * rank, 2 * rank), dtype=np.uint64)
            larger[:rank, :rank] = self._inverse
            self._inverse = larger
        echelon.border_inverse(self._inverse, rank, left, right, np.uint64(pow(schur, PRIME - 2, PRIME)))
        self.pivots.append(place)
        self.rows.append(number)

    def _drop_last(self) -> None:
        last = len(self.pivots) - 1
        corner = np.uint64(pow(int(self._inverse[last, last]), PRIME - 2, PRIME))
        echelon.shrink_inverse(self._inverse, last, corner)
        self.pivots.pop()
        self.rows.pop()

    def _column(self, space: RowSpace, place: int) -> Residues:
        return space.column_at(place)[self.rows]


def deal(columns: Columns, minimum: int, rng: np.random.Generator) -> list[Block]:
    """The crowded columns alone, then `minimum` blocks that share no respondent but in crowded columns."""
    crowded = columns.n_respondents >= minimum
    everywhere = np.flatnonzero(crowded)
    if minimum > MOST_BLOCKS:
        return [Block(everywhere.astype(np.int64))]
    hands: list[list[int]] = [[] for _ in range(minimum)]
    owner: dict[int, int] = {}
    sizes = np.zeros(minimum, dtype=np.int64)
    for c in rng.permutation(np.flatnonzero(~crowded)).tolist():
        people = columns.entity[columns.start[c] : columns.start[c + 1]].tolist()
        if not people:
            continue  # nobody to rest on
        hands_of = {owner[p] for p in people if p in owner}
        if len(hands_of) > 1:
            continue  # its respondents are in several blocks, so it can serve none
        hand = hands_of.pop() if hands_of else int(np.argmin(sizes))
        owner.update(dict.fromkeys(people, hand))
        hands[hand].append(c)
        sizes[hand] += 1
    blocks = [np.sort(np.array([*everywhere, *hand], dtype=np.int64)) for hand in hands]
    return [Block(everywhere.astype(np.int64)), *(Block(block) for block in blocks)]


def rests_on_enough(blocks: list[Block], space: RowSpace, row: LinearRow) -> bool:
    """Whether the blocks prove that every combination with the row rests on enough respondents."""
    crowded, *others = blocks
    if len(crowded.columns) and crowded.separates(space, row):
        return True
    return bool(others) and all(len(block.columns) and block.separates(space, row) for block in others)
