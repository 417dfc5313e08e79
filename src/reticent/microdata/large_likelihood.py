# SPDX-License-Identifier: Apache-2.0
"""Linkage by likelihood against records that stay in an engine, where chance has changed codes that the attacker knows.

The costs of codes are those of `risk/linkage_likelihood`, learnt from the sample; records are compared by the same kernel.
"""

from dataclasses import dataclass, field

import numpy as np

from reticent.base.arrays import Codes, Floats, Ints, Mask, Words
from reticent.kernels.likelihood import alone_by_likelihood
from reticent.microdata.large_turn import Side, Turn
from reticent.microdata.risk.linkage_likelihood import Tables, code_costs


@dataclass(eq=False)
class ByLikelihood:
    """An attacker who knows how often codes were changed; `known` are the values of numbers left alone, in the sample."""

    name: str
    exact: Mask
    turn: Turn
    known: list[Floats]
    tables: Tables
    targets: list[tuple[Ints, Floats]] = field(default_factory=list, repr=False)
    rivals: list[Mask] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, true: Side, shown: Side, exact: Mask, turn: Turn) -> "ByLikelihood":
        """The attacker of a sample; `exact` are numbers left alone, `turn` is for the others."""
        known = [np.unique(column[np.isfinite(column)]) for column in shown[1][:, exact].T]
        made = cls("knows how often codes were changed", exact, turn, known, Tables(*(np.zeros((0, 0)),) * 3))
        sides = [made._codes(shown), made._codes(true)]
        n, variables = sides[0].shape
        wide = int(max(side.max(initial=0) for side in sides)) + 2  # the last code stands for all that the sample lacks
        rows = [code_costs(sides[1][:, at], sides[0][:, at], np.arange(n), wide) for at in range(variables)]
        made.tables = Tables(*(np.array([row[kind] for row in rows]).reshape(variables, wide) for kind in range(3)))
        made.targets = [made.side(shown), made.side(true)]
        made.rivals = [np.zeros(n, np.bool_), np.zeros(n, np.bool_)]
        return made

    def _codes(self, data: Side) -> Ints:
        """Codes, and numbers that were left alone by their place among those of the sample (after the last: not there)."""
        columns = [np.asarray(data[0], dtype=np.int64)]
        for values, known in zip(data[1][:, self.exact].T, self.known, strict=True):
            place = np.searchsorted(known, values).clip(max=max(known.size - 1, 0))
            there = np.isin(values, known)
            columns.append(np.where(np.isnan(values), -1, np.where(there, place, known.size))[:, None])
        return np.hstack(columns)

    def side(self, data: Side) -> tuple[Ints, Floats]:
        """Codes and coordinates of some records."""
        codes = np.minimum(self._codes(data), self.tables.agree.shape[1] - 1)
        return np.ascontiguousarray(codes), np.ascontiguousarray(self.turn(data[1][:, ~self.exact]))

    def near(self, way: int) -> Mask:
        """Nobody: any record may be as likely, whatever its codes."""
        return np.zeros(self.rivals[way].size, dtype=np.bool_)

    def look(self, way: int, ids: Words, data: Side, block_ids: Words, pairs: tuple[Ints, Ints]) -> None:
        """Look for rivals in some records, for targets that have none; each is compared with its own record first."""
        alive = np.flatnonzero(~self.rivals[way])
        if not alive.size:
            return
        asked, own = ([part[alive] for part in self.targets[at]] for at in (way, 1 - way))
        block, mine = self.side(data), ids[alive].view(np.int64)
        units = np.concatenate((mine, block_ids.view(np.int64)))
        alone = alone_by_likelihood(
            *asked, np.arange(alive.size), mine, np.vstack((own[0], block[0])), np.vstack((own[1], block[1])), units,
            self.tables.agree, self.tables.differ, self.tables.into, self.tables.least(turned=way == 1), way == 1,
        )  # fmt: skip
        self.rivals[way][alive[~alone]] = True

    @property
    def linked(self) -> int:
        """Targets without a rival, in the better of both directions."""
        return max(int((~rival).sum()) for rival in self.rivals)


def codes_differ(true: Codes, shown: Codes) -> bool:
    """Whether chance has changed a code of the sample; a blank is no change."""
    return bool(((true != shown) & (true >= 0) & (shown >= 0)).any())
