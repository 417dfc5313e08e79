# SPDX-License-Identifier: Apache-2.0
"""Linkage by one who knows how often codes were changed: agreement on a rare code that mostly stays says much.

For each code the attacker takes the probability that it stays (from the run, drawn towards the rate of its variable where a
code has few records) and what changed codes become, and pairs records by likelihood (Fellegi and Sunter 1969); numbers
count in units of their disturbance. Pairs of codes that are exchanged more often than others are not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reticent.base.arrays import Floats, Ints
from reticent.data.schema import Kind
from reticent.kernels.likelihood import alone_by_likelihood
from reticent.microdata.risk.linkage_attackers import Column, as_codes, moved_numbers, whitened
from reticent.microdata.risk.respondents import respondents_shown

BUDGET = 150_000_000
"""Pairs of records that one attacker compares; where there are more, evenly chosen records ask."""
PULL = 20.0
"""This many records of its variable are added to what is known of one code."""
NEVER = 1e-9
"""The probability of a change that never happened."""


@dataclass(frozen=True)
class Tables:
    """Costs by variable and code: of agreement, of a true code that was changed, and of what it became."""

    agree: Floats
    differ: Floats
    into: Floats

    def least(self, *, turned: bool) -> Floats:
        """The least that an asker with each code can cost in any pair."""
        asking, other = (self.differ, self.into) if turned else (self.into, self.differ)
        return np.asarray(np.minimum(np.minimum(self.agree, asking + other.min(axis=1, keepdims=True)), 0.0))


def codes_changed(columns: Sequence[Column]) -> bool:
    """Whether chance has changed a code, so that agreement and disagreement weigh differently from code to code."""
    codes = [column for column in columns if column.kind is not Kind.NUMERIC]
    return any(bool((np.nan_to_num(column.gap) != 0).any()) for column in codes)


def likelihood_linked(
    columns: Sequence[Column], here: Ints, who: Ints | None, *, turned: bool
) -> tuple[Ints, NDArray[np.bool_]]:
    """The published records that were tried, of those `here`, and whether each leads to its own and to nobody else."""
    own = columns[0].own
    asking = evenly_chosen(here, max(columns[0].true.size, own.size))
    true, shown, tables = _codes(columns)
    far, near = _numbers(columns)
    units = np.arange(columns[0].true.size) if who is None else who
    if turned:
        seen = np.arange(own.size) if who is None else respondents_shown(who, own)
        found = alone_by_likelihood(
            true[own[asking]], far[own[asking]], asking, seen[asking], shown, near, seen,
            tables.agree, tables.differ, tables.into, tables.least(turned=True), True,
        )  # fmt: skip
    else:
        found = alone_by_likelihood(
            shown[asking], near[asking], own[asking], units[own[asking]], true, far, units,
            tables.agree, tables.differ, tables.into, tables.least(turned=False), False,
        )  # fmt: skip
    return asking, found


def evenly_chosen(here: Ints, candidates: int) -> Ints:
    """All published records that have an original, or as many as the budget allows, evenly over the file."""
    most = max(BUDGET // max(candidates, 1), 1)
    if here.size <= most:
        return here
    return here[np.unique(np.linspace(0, here.size - 1, most).astype(np.int64))]


def _codes(columns: Sequence[Column]) -> tuple[Ints, Ints, Tables]:
    """Codes of both files (−1: missing), numbers that were left alone included, and what pairs of them cost."""
    moved = {id(column) for column in moved_numbers(columns)}
    kept = [column for column in columns if id(column) not in moved]
    true, shown = (
        np.full((size, len(kept)), -1, dtype=np.int64) for size in (columns[0].true.size, columns[0].own.size)
    )
    for at, column in enumerate(kept):
        for target, codes in zip((true, shown), as_codes(column), strict=True):
            target[:, at] = np.where(np.isnan(codes), -1, np.nan_to_num(codes))
    wide = int(max(true.max(initial=0), shown.max(initial=0))) + 1
    rows = [code_costs(true[:, at], shown[:, at], column.own, wide) for at, column in enumerate(kept)]
    made = [np.array([row[kind] for row in rows]).reshape(len(kept), wide) for kind in range(3)]
    return true, shown, Tables(*made)


def code_costs(true: Ints, shown: Ints, own: Ints, wide: int) -> tuple[Floats, Floats, Floats]:
    """Costs of one variable: minus the logarithm of P(shown | true) / P(shown), in three parts."""
    here = own >= 0
    before, after = true[own[here]], shown[here]
    both = (before >= 0) & (after >= 0)
    before, after = before[both], after[both]
    same, n = before == after, max(before.size, 1)
    many, stay = np.bincount(before, minlength=wide), np.bincount(before[same], minlength=wide)
    rate = float(same.mean()) if same.size else 1.0
    stays = np.clip((stay + PULL * rate) / (many + PULL), NEVER, 1.0 - NEVER)
    published = (np.bincount(after, minlength=wide) + 1.0) / (n + wide)
    became = (np.bincount(after[~same], minlength=wide) + published) / ((~same).sum() + 1.0)
    return (
        np.asarray(-np.log(stays / published)),
        np.asarray(-np.log((1.0 - stays) / np.maximum(1.0 - became, NEVER))),
        np.asarray(-np.log(became / published)),
    )


def _numbers(columns: Sequence[Column]) -> tuple[Floats, Floats]:
    """Disturbed numbers of both files, in directions and units of the disturbance."""
    moved = moved_numbers(columns)
    parts = whitened(moved) if moved else []
    if not parts:
        return np.zeros((columns[0].true.size, 0)), np.zeros((columns[0].own.size, 0))
    true, shown = np.column_stack([part.true for part in parts]), np.column_stack([part.shown for part in parts])
    return np.ascontiguousarray(true), np.ascontiguousarray(shown)
