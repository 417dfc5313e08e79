# SPDX-License-Identifier: Apache-2.0
"""Record linkage against a file that stays in an engine: a sample drawn by the secret, compared with all records in blocks.

Attackers know the true keys and numbers of everybody at the published detail (see `risk/linkage_attackers`): in standard
deviations, by ranks or logarithms, with or without codes, knowing what was left alone and how disturbances go together. A
sampled record is rightly and uniquely linked when no other record lies as near as its own; it is tried from published to
true records and back. Judged is the upper limit of confidence of what the best attacker links.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from reticent.base.arrays import Codes, Floats, Ints, Mask, Words
from reticent.data.schema import Kind
from reticent.kernels.rivals import (
    MOST_CODES,
    Candidates,
    Targets,
    check_pairs,
    find_rivals,
    matching_rows,
    own_distances,
)
from reticent.microdata.large_likelihood import ByLikelihood, codes_differ
from reticent.microdata.large_steps import Block
from reticent.microdata.large_turn import Side, Turn, above_zero, root_mean_square
from reticent.microdata.pipeline import Masked
from reticent.microdata.risk.linkage_attackers import FAR

SAMPLE = 2_000
"""Records that the attacker tries to link; all of them where the file has fewer."""
CONFIDENCE = 0.95
FIRST_ROWS, MOST_ROWS = 1_024, 65_536
"""Records that are compared at a time, at first and at most."""
MOST_PAIRS = 4_000_000
"""Pairs of a target and a record with fitting codes that are held at a time, about."""


@dataclass(frozen=True)
class SampledLinkage:
    """How many of the records tried are rightly and uniquely linked; `whole` says that all records were tried."""

    variables: tuple[str, ...]
    tried: int
    linked: int
    whole: bool
    attacker: str = ""

    @property
    def share(self) -> float:
        """The share of the records tried."""
        return self.linked / self.tried if self.tried else 0.0

    @property
    def upper(self) -> float:
        """The share of the file by its upper limit of confidence (Clopper and Pearson 1934); exact if all were tried."""
        if self.whole or not self.tried or self.linked == self.tried:
            return self.share
        return float(special.betaincinv(self.linked + 1, self.tried - self.linked, CONFIDENCE))


@dataclass(frozen=True)
class KeyCodes:
    """For each combination of keys: true codes at the published detail, and published codes, in one numbering."""

    names: tuple[str, ...]
    true: Codes = field(repr=False)
    shown: Codes = field(repr=False)

    @classmethod
    def of(cls, masked: Masked, names: Sequence[str]) -> "KeyCodes":
        """The codes of combinations as they are published."""
        truth = (masked.trace.repeating() or masked.trace).truth(masked.data)
        columns = []
        for file in (truth, masked.data):
            own = []
            for name in names:
                place = {
                    code: at
                    for at, code in enumerate(dict.fromkeys((*truth.categories(name), *masked.data.categories(name))))
                }
                number = np.array([*(place[code] for code in file.categories(name)), -1], dtype=np.int32)
                own.append(number[file.encoded(name).codes])
            columns.append(np.column_stack(own) if own else np.zeros((file.n_rows, 0), dtype=np.int32))
        return cls(tuple(names), *columns)


Pairs = tuple[Ints, Ints]
"""Targets and rows of a block that may fit each other."""
Scale = Callable[[Floats, int], Floats]
"""Numbers on another scale; 0 says that they are true, 1 that they are published."""


@dataclass(eq=False)
class Attacker:
    """One way to measure distances, with its targets: who of them has a rival yet, from published to true and back.

    Numbers that were left alone must agree where the attacker knows which these are (`exact`); the others are turned by
    `turn` into directions of unit length.
    """

    name: str
    use_codes: bool
    exact: Mask
    turn: Turn
    scale: Scale
    targets: list[Side] = field(default_factory=list, repr=False)
    own: list[Floats] = field(default_factory=list, repr=False)
    rivals: list[Mask] = field(default_factory=list, repr=False)

    def side(self, data: Side, which: int) -> Side:
        """Codes and coordinates of one side."""
        codes, numbers = data
        moved = self.turn(self.scale(numbers[:, ~self.exact], which))
        both = np.ascontiguousarray(np.hstack((numbers[:, self.exact], moved)))
        return (codes if self.use_codes else codes[:, :0]), both

    @property
    def _agree(self) -> Mask:
        return np.arange(len(self.exact)) < int(self.exact.sum())

    def begin(self, true: Side, shown: Side) -> "Attacker":
        """Take the targets: true and published records of the sample, in one order."""
        self.targets = [self.side(shown, 1), self.side(true, 0)]
        n = len(true[0])
        self.own, self.rivals = [np.zeros(n), np.zeros(n)], [np.zeros(n, np.bool_), np.zeros(n, np.bool_)]
        own_distances(*self.targets[1], *self.targets[0], self._agree, False, self.own[0])
        own_distances(*self.targets[0], *self.targets[1], self._agree, True, self.own[1])
        return self

    def near(self, way: int) -> Mask:
        """Targets without a rival whose rivals must have fitting codes: one that differs is farther than their own record."""
        q = self.targets[way][0].shape[1]
        return np.asarray(~self.rivals[way] & (self.own[way] < 1.0) & (0 < q <= MOST_CODES))

    def look(self, way: int, ids: Words, data: Side, block_ids: Words, pairs: Pairs) -> None:
        """Look for rivals in some records, for targets that have none; `pairs` have fitting codes."""
        near = self.near(way)
        far = np.flatnonzero(~self.rivals[way] & ~near)
        if not far.size and not near.any():
            return
        block = Candidates(*self.side(data, way), block_ids)
        targets = Targets(*self.targets[way], self.own[way], ids)
        agree, rivals = self._agree, self.rivals[way]
        if near.any():
            mine = near[pairs[0]]
            check_pairs(targets, block, agree, bool(way), (pairs[0][mine], pairs[1][mine]), rivals)
        if far.size:
            find_rivals(targets, block, agree, bool(way), far, rivals)

    @property
    def linked(self) -> int:
        """Targets without a rival, in the better of both directions."""
        return max(int((~rival).sum()) for rival in self.rivals)


def attackers_of(true: Side, shown: Side) -> list[Attacker | ByLikelihood]:
    """The attackers of a sample, as `linkage_attackers` has them for a file in memory; scales are those of the sample."""
    numbers, d = true[1], true[1].shape[1]
    none = np.zeros(d, dtype=np.bool_)
    found = [] if d else [Attacker("all variables", True, none, Turn.scaled(np.ones(0)), _plain)]
    for name, scale in _scales(true[1], shown[1]) if d else ():
        scaled, published = scale(numbers, 0), scale(shown[1], 1)
        usual = Turn.scaled(above_zero(_spread(scaled)))
        found.append(Attacker(f"all variables{name}", True, none, usual, scale))
        found.append(Attacker(f"numbers only{name}", False, none, usual, scale))
        gap = scaled - published
        error = root_mean_square(gap)
        exact = ~(error > 0)
        units = Turn.scaled(above_zero(error[~exact]) / FAR)
        own = _picked(scale, ~exact)
        found.append(Attacker(f"knows what was left alone{name}", True, exact, units, own))
        if int((~exact).sum()) > 1:
            together = Turn.whitening(gap[:, ~exact], unit=FAR)
            found.append(Attacker(f"knows how disturbances go together{name}", True, exact, together, own))
    begun: list[Attacker | ByLikelihood] = [one.begin(true, shown) for one in found]
    return [*begun, *_by_likelihood(true, shown)]


def _by_likelihood(true: Side, shown: Side) -> list[ByLikelihood]:
    """One more attacker where chance has changed codes."""
    if not codes_differ(true[0], shown[0]):
        return []
    gap = true[1] - shown[1]
    exact = ~(root_mean_square(gap) > 0)
    return [ByLikelihood.of(true, shown, exact, Turn.whitening(gap[:, ~exact]))]


def _plain(values: Floats, side: int) -> Floats:
    return values


def _picked(scale: Scale, columns: Mask) -> Scale:
    """A scale for some of the columns only; it gets these alone."""

    def own(values: Floats, side: int) -> Floats:
        wide = np.full((len(values), len(columns)), np.nan)
        wide[:, columns] = values
        return scale(wide, side)[:, columns]

    return own


def _scales(true: Floats, shown: Floats) -> list[tuple[str, Scale]]:
    """As they stand, by their ranks in the sample of each side, and by logarithms where all are positive."""
    sorted_sides = [[np.sort(column[np.isfinite(column)]) for column in side.T] for side in (true, shown)]

    def ranks(values: Floats, side: int) -> Floats:
        out = np.full(values.shape, np.nan)
        for at, known in enumerate(sorted_sides[side]):
            if known.size and not np.isnan(values[:, at]).all():
                # equal values share their middle rank
                different, many = np.unique(known, return_counts=True)
                out[:, at] = np.interp(values[:, at], different, (np.cumsum(many) - many / 2) / known.size)
        return out

    def logarithms(values: Floats, side: int) -> Floats:
        return np.log(np.where(values > 0, values, np.finfo(np.float64).tiny))

    scales: list[tuple[str, Scale]] = [("", _plain), (", by ranks", ranks)]
    both = np.vstack((true, shown))
    if both.size and bool((both[np.isfinite(both)] > 0).all()):
        scales.append((", by logarithms", logarithms))
    return scales


def _spread(values: Floats) -> Floats:
    return np.array([np.std(column[np.isfinite(column)]) if np.isfinite(column).any() else 0.0 for column in values.T])


@dataclass(eq=False)
class Linker:
    """The sample, and the attackers who try to link it against all records, block by block."""

    keys: KeyCodes
    codes: tuple[str, ...]
    numbers: tuple[str, ...]
    ids: Words
    attackers: list[Attacker | ByLikelihood]

    @classmethod
    def of(cls, masked: Masked, known: Sequence[str], sample: Sequence[Block]) -> "Linker":
        """Attackers who know some variables, and the records that are tried."""
        schema = sample[0].shown.schema
        names = [name for name in known if name in schema]
        numeric = tuple(n for n in names if schema[n].kind is Kind.NUMERIC)
        keys = KeyCodes.of(masked, [n for n in names if n in masked.data.schema and n not in numeric])
        codes = tuple(n for n in names if n not in numeric and n not in keys.names)
        ids = np.concatenate([block.truth.record_ids() for block in sample])
        made = cls(keys, codes, numeric, ids, [])
        sides = [made._sides(block) for block in sample]
        true, shown = (
            (np.vstack([side[at][0] for side in sides]), np.vstack([side[at][1] for side in sides])) for at in (0, 1)
        )
        made.attackers = attackers_of(true, shown)
        return made

    def _sides(self, block: Block) -> tuple[Side, Side]:
        sides = []
        for data, codes in ((block.truth, self.keys.true), (block.shown, self.keys.shown)):
            both = np.hstack((codes[block.place], data.codes(self.codes))).astype(np.int32)
            sides.append((np.ascontiguousarray(both), np.ascontiguousarray(data.numbers(self.numbers))))
        return sides[0], sides[1]

    def look(self, block: Block) -> None:
        """Look for rivals in a block; who has one is not looked for any more."""
        if not any(one.linked for one in self.attackers):
            return
        sides, ids = self._sides(block), block.truth.record_ids()
        for way in (0, 1):
            start, rows = 0, FIRST_ROWS
            while start < len(ids):
                part = slice(start, start + rows)
                found = self._look(way, (sides[way][0][part], sides[way][1][part]), ids[part])
                start += rows
                rows = int(min(4 * rows, MOST_ROWS, max(FIRST_ROWS, rows * MOST_PAIRS // max(found, 1))))

    def _look(self, way: int, data: Side, block_ids: Words) -> int:
        """Look for rivals in one direction; gives the number of pairs with fitting codes."""
        wanted = [one for one in self.attackers if not one.rivals[way].all()]
        near = np.zeros(len(self.ids), dtype=np.bool_)
        for one in wanted:
            near |= one.near(way)
        asked = next(
            (one.targets[way][0] for one in wanted if isinstance(one, Attacker) and one.use_codes), data[0][:0]
        )
        pairs = matching_rows(asked, np.flatnonzero(near), data[0], bool(way))
        for one in wanted:
            one.look(way, self.ids, data, block_ids, pairs)
        return int(pairs[0].size)

    def found(self, *, whole: bool) -> SampledLinkage:
        """What the best attacker links."""
        best = max(self.attackers, key=lambda one: one.linked)
        names = (*self.keys.names, *self.codes, *self.numbers)
        return SampledLinkage(names, len(self.ids), best.linked, whole, best.name)
