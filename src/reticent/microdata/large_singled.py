# SPDX-License-Identifier: Apache-2.0
"""Codes that single records out, where records stay in an engine: counted there, by the limits of `risk/known`.

Linkage in an engine goes by keys and numbers. A code that is no key may still be a telephone number; what such codes single
out counts for linkage as it does in memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.arrays import Ints
from reticent.data.schema import Kind, Role
from reticent.microdata.large_steps import LargeSteps
from reticent.microdata.risk.known import FEW, MOSTLY, NEVER


@dataclass(frozen=True)
class Singled:
    """The share of the records that some codes single out; `identifier`: one of them works like an identifier."""

    names: tuple[str, ...]
    share: float
    identifier: bool = False

    @property
    def text(self) -> str:
        """What an attacker who knows these codes has."""
        return f"{self.share:.2%} of the records are singled out by {' with '.join(self.names)}: drop or recode it"


def singled_out(ready: LargeSteps, known: Sequence[str]) -> Singled | None:
    """The codes beside `known` that single out most records, each alone, and those without a role together.

    A code that a later step changes by chance counts as if it stayed: how often it does is not looked up here.
    """
    schema, n = ready.file.schema, ready.file.n_records
    names = [
        v.name
        for v in schema.variables
        if v.kind is not Kind.NUMERIC and not v.is_key and v.role not in NEVER and v.name not in known
    ]
    found = [_alone(_sizes_of_one(ready, name), (name,), n) for name in names]
    free = [name for name in names if schema[name].role is Role.OTHER]
    if len(free) > 1:
        looked_up = [ready.file.code_map(name) for name in free if name in ready.looked_up]
        sizes, groups = ready.file.view.group_sizes(looked_up, [name for name in free if name not in ready.looked_up])
        found.append(_alone((sizes, groups), tuple(free), n))
    best = max(found, key=lambda one: one.share, default=None)
    return best if best is not None and best.share > 0 else None


def _alone(counted: tuple[Ints, Ints], names: tuple[str, ...], n: int) -> Singled:
    """Records that are alone; those of a few where half of the file is among them, as for a number on each record of a person."""
    sizes, groups = counted
    few = int((sizes * groups)[sizes <= FEW].sum())
    if len(names) == 1 and few >= max(MOSTLY * n, 2):
        return Singled(names, few / n, identifier=True)
    return Singled(names, int(groups[sizes == 1].sum()) / n)


def _sizes_of_one(ready: LargeSteps, name: str) -> tuple[Ints, Ints]:
    """How many values of a published variable this many records have; missing ones are no value."""
    if name not in ready.looked_up:
        return ready.file.view.group_sizes([], [name])
    column = ready.file.column(name)
    codes = column.encoded(name).codes
    there = codes >= 0
    records = np.bincount(codes[there], weights=column.multiplicity[there]).astype(np.int64)
    sizes, groups = np.unique(records[records > 0], return_counts=True)
    return sizes, groups
