# SPDX-License-Identifier: Apache-2.0
"""Which responses were answered about the same records in the same sample.

What they lost is the same, so that they tell together what none of them tells alone: a total less its base is an allowance that
few get. Responses of different samples do not, because each has lost others.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.microdata import Microdata
from reticent.queries.analysis.linked import Units
from reticent.queries.analysis.usual import allowed_share, reveals

Key = tuple[int, bytes]


@dataclass(frozen=True)
class Piece:
    """The rows of a set in one stratum, and what they are known by, together with their sample."""

    key: Key
    rows: Ints = field(repr=False)


@dataclass
class ToldTogether:
    """The responses that answers reveal of each piece of a universe, and of each category that a regression showed."""

    units: Units
    _told: dict[Key, frozenset[str]] = field(default_factory=dict, repr=False)

    def pieces(self, sets: Sequence[Ints], version: int, draw: int) -> list[list[Piece]]:
        """The pieces of a universe, the first of the sets, and of each category, which has one."""
        stratum = self.units.strata[0][self.units.of_rows[version]]
        found = [_split(rows, stratum[rows]) if at == 0 else [rows] for at, rows in enumerate(sets)]
        return [[Piece((draw, self._digest(part, version)), part) for part in parts] for parts in found]

    def shares(
        self, data: Microdata, pieces: Sequence[Sequence[Piece]], told: Collection[str], others: Collection[str]
    ) -> dict[str, list[float]]:
        """The responses that these tell of, alone or with earlier ones, with the share of the allowed pairs for each set.

        There is one share for the universe, the first of the sets, and one for each category that a regression shows.
        """
        beside = {piece.key: self._with(piece, told) for parts in pieces for piece in parts}
        names = sorted({*others, *chain.from_iterable(beside.values())} & set(data.schema.names))
        values = {name: data.numbers((name,))[:, 0] for name in names}

        def tells(piece: Piece, of: str, share: float) -> bool:
            columns = [values[name][piece.rows] for name in sorted(beside[piece.key] & set(names) - {of})]
            return reveals(np.column_stack(columns), values[of][piece.rows], share)

        found: dict[str, list[float]] = {}
        for name, own in values.items():
            shares = [min(allowed_share(own[piece.rows]) for piece in parts) for parts in pieces]
            rare = [(piece, share) for parts, share in zip(pieces, shares, strict=True) if share < 1 for piece in parts]
            if name in told or any(tells(piece, name, share) for piece, share in rare):
                found[name] = shares
        return found

    def answer(self, pieces: Sequence[Sequence[Piece]], names: Collection[str]) -> None:
        """Remember what was answered."""
        for piece in (piece for parts in pieces for piece in parts):
            self._told[piece.key] = self._with(piece, names)

    def _with(self, piece: Piece, names: Collection[str]) -> frozenset[str]:
        """The responses that answers about a piece would reveal: these, and those of earlier ones."""
        return self._told.get(piece.key, frozenset()).union(names)

    def _digest(self, rows: Ints, version: int) -> bytes:
        return hashlib.blake2b(np.sort(self.units.of_rows[version][rows]).tobytes(), digest_size=16).digest()


def _split(rows: Ints, stratum: Ints) -> list[Ints]:
    order = np.argsort(stratum, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(stratum[order])) + 1)
