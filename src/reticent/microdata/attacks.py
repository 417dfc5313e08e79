# SPDX-License-Identifier: Apache-2.0
"""All attacks on a masked file by one who has the true values. Each is reported; the plan says which ones count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from reticent.base.progress import Progress, silent
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role
from reticent.microdata.pipeline import Masked
from reticent.microdata.risk.household_recount import HouseholdRecount, household_recount
from reticent.microdata.risk.interval import rank_intervals
from reticent.microdata.risk.known import known_variables
from reticent.microdata.risk.known_linkage import KnownLinkage, known_linkage
from reticent.microdata.risk.linkage_causes import Cause
from reticent.microdata.risk.recount import Recount, recount
from reticent.microdata.risk.restored import Restored, restore
from reticent.microdata.risk.told_outside import Outside, told_outside, with_outside
from reticent.microdata.risk.traces_left import OrderLeft, WeightsLeft, order_left, weights_left
from reticent.microdata.trace import Trace


@dataclass(frozen=True)
class FileAttacks:
    """What each attack found; None where it could not be tried, with the reason in `not_tried`.

    `restored` has what published variables tell of hidden keys; recount, linkage and households use it. `causes` are the
    variables that make linkage succeed, where that was looked for; `outside` names what tells a key to somebody who knows more,
    and what ends in `_outside` is what somebody finds who does.
    """

    restored: Restored | None = field(default=None, repr=False)
    recount: Recount | None = None
    linkage: KnownLinkage | None = None
    causes: tuple[Cause, ...] = ()
    households: HouseholdRecount | None = None
    intervals: Mapping[str, float] | None = None
    weights: WeightsLeft | None = None
    order: OrderLeft | None = None
    outside: Outside = field(default_factory=Outside)
    recount_outside: Recount | None = None
    linkage_outside: KnownLinkage | None = None
    households_outside: HouseholdRecount | None = None
    not_tried: Mapping[str, str] = field(default_factory=dict)

    def seen(self, masked: Masked) -> Masked:
        """The masked file as the attacker reads it, with what is restored."""
        return masked if self.restored is None else replace(masked, data=self.restored.data)


def recount_keys(original: Microdata, settings: RiskSection) -> tuple[str, ...]:
    """The keys that the recount goes by: those named, or those of the schema."""
    if settings.keys:
        original.schema.require(settings.keys, owner="[risk] keys")
    return settings.keys or original.schema.keys


def attack_file(
    masked: Masked, released: Microdata, settings: RiskSection, *, shuffled: bool, progress: Progress = silent
) -> FileAttacks:
    """Try every attack; `released` is the masked file as it would be written, `shuffled` says that its order is drawn."""
    original, trace = masked.trace.original, masked.trace
    reasons: dict[str, str] = {}
    wanted = recount_keys(original, settings)
    keys = tuple(name for name in wanted if name in masked.data.schema)
    restored = restore(trace, masked.data, keys)
    data = restored.data
    unknown = [name for name in keys if trace.covers[name].unknown]
    if not wanted:
        reasons["recount"] = "the schema has no keys, so there is nothing to count by; give variables the role key"
    elif unknown:
        reasons["recount"] = f"a step wrote codes of {unknown[0]} and does not say what they stand for"
    counted = None if "recount" in reasons else recount(trace, data, keys)
    known = settings.known or tuple(dict.fromkeys((*wanted, *known_variables(original))))
    original.schema.require(known, owner="[risk] known")
    progress(0.3, "households")
    homes = None
    if original.household() is None:
        reasons["households"] = "no variable has the role household-id"
    elif counted is None:
        reasons["households"] = reasons["recount"]
    else:
        divided = trace.without_numbers(data)
        each = [household_recount(trace, file, keys, known) for file in (data, divided) if file is not None]
        homes = max(each, key=lambda one: 0.0 if one.linkage is None else one.linkage.share)
    progress(0.4, "what others know")
    outside = Outside() if counted is None else told_outside(trace, data, wanted)
    known_outside = with_outside(trace, data, outside.told) if outside.told else None
    progress(0.5, "linkage")
    if not known:
        reasons["linkage"] = "no key and no number is declared, so there is nothing to link by"
    return FileAttacks(
        restored=restored,
        recount=counted,
        linkage=known_linkage(trace, data, known) if known else None,
        households=homes,
        intervals=_intervals(masked, settings),
        weights=weights_left(trace, masked.data),
        order=order_left(original, released, shuffled=shuffled),
        outside=outside,
        recount_outside=_recount_outside(known_outside, wanted),
        linkage_outside=known_linkage(*known_outside, known) if known and known_outside else None,
        households_outside=None if homes is None else _households_outside(known_outside, wanted, known),
        not_tried=reasons,
    )


def _recount_outside(known: tuple[Trace, Microdata] | None, keys: Sequence[str]) -> Recount | None:
    """The recount by somebody who knows how published variables and keys go together."""
    return None if known is None else recount(*known, [name for name in keys if name in known[1].schema])


def _households_outside(
    known: tuple[Trace, Microdata] | None, keys: Sequence[str], names: Sequence[str]
) -> HouseholdRecount | None:
    """The recount and linkage of households by the same."""
    return None if known is None else household_recount(*known, [n for n in keys if n in known[1].schema], names)


def _intervals(masked: Masked, settings: RiskSection) -> dict[str, float] | None:
    """For each number the share of true values inside the rank interval around the published one."""
    original, data = masked.trace.original, masked.data
    names = [
        v.name
        for v in data.schema.variables
        if v.kind is Kind.NUMERIC
        and v.role not in (Role.WEIGHT, Role.IDENTIFIER, Role.ENTITY, Role.HOUSEHOLD_ID)
        and v.name in original.schema
        and original.schema[v.name].kind is Kind.NUMERIC
    ]
    own = masked.trace.own(data)
    here = np.flatnonzero(own >= 0)
    if not names or not here.size:
        return None
    true, shown = original.numbers(names)[own[here]], data.numbers(names)[here]
    found = rank_intervals(true, shown, percent=settings.interval_percent)
    return dict(zip(names, found.by_variable, strict=True))
