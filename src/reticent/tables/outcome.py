# SPDX-License-Identifier: Apache-2.0
"""What a table method did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np

from reticent.base.arrays import Floats, Mask
from reticent.tables.perturb.movements import Candidates
from reticent.tables.perturb.origins import Drawn, Origins
from reticent.tables.perturb.ptable import PerturbationTable
from reticent.tables.perturb.quota_rule import QuotaRule


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a method did: which cells are hidden, which values are published instead of the true ones (None: true).

    `cost` is what was lost, `bound` a proven lower bound of the least possible (None: there is none). For methods
    that publish other values, `low` and `high` are what the method says about each true value by itself; the attacker
    combines all of them by the relations, also where the published values do not add up (`additive` is False). With
    `keeps_distance` the method promises that unsafe cells are published as far from the truth as their levels.
    With `candidates` the true value of an unsafe cell lies in one of two ranges, which are judged together.
    Without `levels` unsafe cells need no protection interval: they must only not be known exactly. `noise` says that values
    were drawn: then every cell is attacked, whether the values add up or not. Of noisy counts `origins` has which true
    ones are possible, and `measure` what is published of the size of each change (NaN: nothing). `kept` cells are published as
    they are by the rules of the method: everybody knows them, and only where they are unsafe that exposes them. `drawn` says how
    the noise of counts came about, for further attacks, and `quotas` how cells were selected, where that reveals more. Of
    several responses with noise of their own, `single` has the outcome of each, which is attacked by itself as well. `changes` is
    the p-table by which the numbers of respondents behind weighted counts were changed.
    """

    hidden: Mask
    cost: float
    bound: float | None = None
    status: str = "done"
    values: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    additive: bool = True
    keeps_distance: bool = False
    levels: bool = True
    candidates: Candidates | None = None
    noise: bool = False
    origins: Origins | None = None
    measure: Floats | None = None
    kept: Mask | None = None
    drawn: Drawn | None = None
    quotas: QuotaRule | None = None
    single: tuple["Outcome", ...] = ()
    changes: PerturbationTable | None = None


class Behind(TypedDict, total=False):
    """Which true counts are possible behind changed ones; see `Outcome`."""

    origins: Origins


class _Told(Behind, total=False):
    """What else an outcome of changed values says; see `Outcome`."""

    low: Floats
    high: Floats
    levels: bool
    noise: bool
    changes: PerturbationTable | None


def changed_values(
    true: Floats, values: Floats, *, status: str, facts: Mapping[str, Any] | None = None, **told: Unpack[_Told]
) -> Outcome:
    """The outcome of a method that hides nothing and changes cell by cell, so that values need not add up."""
    said = {**(facts or {}), **change_facts(true, values)}
    hidden = np.zeros(len(true), dtype=bool)
    cost = float(np.abs(values - true).sum())
    return Outcome(hidden, cost, status=status, values=values, facts=said, additive=False, **told)


def change_facts(true: Floats, values: Floats) -> dict[str, Any]:
    """How many values were changed, and how far."""
    change = np.abs(values - true)
    return {
        "changed": int((change > 0).sum()),
        "largest change": float(change.max(initial=0.0)),
        "mean change": float(change.mean()) if len(change) else 0.0,
    }
