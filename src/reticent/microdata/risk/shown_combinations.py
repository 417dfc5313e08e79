# SPDX-License-Identifier: Apache-2.0
"""The attack on a file that SAFE made: who is shown to exist, and whose missing value can be read off.

SAFE makes no new combinations, so whatever is shown exists. Three attackers are tried, all with the published file:

- presence: they know all values of somebody; a combination that is shown has at least one true holder;
- uniqueness: they take a published count of 3 (the smallest) and guesses that it stands for one or two persons;
- attribute: they know all values of somebody except one; where those who fit show one value only, they take it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.base.arrays import Ints
from reticent.kernels.grouping import group_columns
from reticent.microdata.perturb.safe_tables import Combinations


@dataclass(frozen=True)
class Attribute:
    """Persons whose value of one variable is read off by those who know all others."""

    variable: str
    before: int
    right: int
    wrong: int

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "variable": self.variable,
            "read off before": self.before,
            "rightly after": self.right,
            "wrongly after": self.wrong,
        }


@dataclass(frozen=True)
class ShownAttack:
    """What the three attackers find."""

    records: int
    uniques: int
    uniques_shown: int
    threes: int
    threes_of_one: int
    threes_of_two: int
    attributes: tuple[Attribute, ...] = field(repr=False)

    def summary(self) -> dict[str, Any]:
        """As plain data, with what it means."""
        return {
            "presence": {
                "true uniques": self.uniques,
                "shown": self.uniques_shown,
                "meaning": "a combination that is shown exists; one that is not shown may exist",
            },
            "uniqueness": {
                "published counts of 3": self.threes,
                "that stand for one record": self.threes_of_one,
                "that stand for two records": self.threes_of_two,
            },
            "attribute": [one.plain() for one in self.attributes],
        }


def attack_shown(found: Combinations, new: Ints) -> ShownAttack:
    """Try all three attackers on true and new counts of the combinations."""
    x, three = found.counts, new == 3
    attributes = [_attribute(found, new, column) for column in range(len(found.names))] if len(found.names) > 1 else []
    return ShownAttack(
        records=int(x.sum()),
        uniques=int((x == 1).sum()),
        uniques_shown=int(((x == 1) & (new > 0)).sum()),
        threes=int(three.sum()),
        threes_of_one=int((three & (x == 1)).sum()),
        threes_of_two=int((three & (x == 2)).sum()),
        attributes=tuple(attributes),
    )


def _attribute(found: Combinations, new: Ints, column: int) -> Attribute:
    """Each person's group of equal other values: how many combinations it has in truth, how many are shown."""
    others = [np.ascontiguousarray(found.codes[:, at]) for at in range(len(found.names)) if at != column]
    group, count = group_columns(others, [int(codes.max(initial=0)) + 1 for codes in others])
    there = np.bincount(group, minlength=count)[group]
    shown = np.bincount(group, weights=new > 0, minlength=count)[group]
    x = found.counts
    return Attribute(
        found.names[column],
        before=int(x[there == 1].sum()),
        right=int(x[(shown == 1) & (new > 0)].sum()),
        wrong=int(x[(shown == 1) & (new == 0)].sum()),
    )
