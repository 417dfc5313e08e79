# SPDX-License-Identifier: Apache-2.0
"""Keys that are recoded or dropped while another published variable still has them, for whoever knows how the two go together.

A region is published as north or south, and the district stays. No record of the file says in which region a district lies, so
the file restores nothing; a map does. What people know from outside cannot be judged, so it is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.data.microdata import Microdata
from reticent.data.schema import Role
from reticent.microdata.risk.restored import Hidden
from reticent.microdata.risk.traces_left import coarser
from reticent.microdata.trace import Trace

_NOT_ASKED = (Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID, Role.WEIGHT)
"""Not published, or judged by attacks of their own."""


@dataclass(frozen=True)
class ToldOutside:
    """How many records have one true code of a key by the published variable that says most about it."""

    key: str
    by: str
    records: int

    @property
    def text(self) -> str:
        """What is known, to whom, and what to do."""
        return (
            f"{self.records} records have one code of {self.key} by {self.by}, finer than the file shows it, for whoever knows "
            f"how the two go together (not judged): declare {self.by} as a key and recode it, or drop it"
        )


def told_outside(trace: Trace, masked: Microdata, keys: Sequence[str]) -> tuple[ToldOutside, ...]:
    """For each key that is shown less finely, or not at all, the variable behind whose values lies one true code each."""
    others = [v.name for v in masked.schema.variables if v.name not in keys and v.role not in _NOT_ASKED]
    own, amounts = trace.own(masked), masked.multiplicity
    found = []
    for name in keys:
        hidden = coarser(trace, masked, name) & (own >= 0)
        if not hidden.any() or name not in trace.original.schema:
            continue
        codes = trace.original.encoded(name).codes.astype(np.int64)
        true = np.where(own >= 0, codes[own], -1)
        shares = np.bincount(true[true >= 0], minlength=1) / max(int((true >= 0).sum()), 1)
        key = Hidden(name, true, true, true >= 0, np.full(true.size, -1), 1.0, shares)
        told = {}
        for other in others:
            group = masked.patterns((other,)).group
            there = ~masked.missing(other)
            one = key.of_one_value(group, int(group.max(initial=-1)) + 1, amounts, trials=len(others) * len(keys))
            told[other] = int(amounts[one & hidden & there].sum())
        best = max(told, key=lambda other: told[other], default=None)
        if best is not None and told[best]:
            found.append(ToldOutside(name, best, told[best]))
    return tuple(found)
