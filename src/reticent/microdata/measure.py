# SPDX-License-Identifier: Apache-2.0
"""Risk and loss as runs report them: the same measures before and after, as one frozen value each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind
from reticent.microdata.pipeline import Masked, StepRecord
from reticent.microdata.risk.attacked import attacked_combinations
from reticent.microdata.risk.combinations import CombinationTable, KeyCombinations, unsafe_combinations
from reticent.microdata.risk.household import HouseholdRisk, household_risk
from reticent.microdata.risk.individual import IndividualRisk
from reticent.microdata.risk.recount import inverse, recount, recount_as_it_is
from reticent.microdata.risk.semantics import SemanticsTable, compare_semantics
from reticent.microdata.risk.shapley import KeyShares, key_shares
from reticent.microdata.risk.suda import Suda, suda
from reticent.microdata.trace import positions

LISTED = 50
SEMANTICS_K = 3
MOST_KEYS = 10
MOST_COMBINATIONS = 1_000_000
"""Rows that stand for several records up to which all sets of keys are looked at."""


@dataclass(frozen=True)
class FileRisk:
    """How identifiable a file is: combinations of keys, every reading of missing values, individual and household risk."""

    keys: tuple[str, ...]
    n_records: int
    combinations: CombinationTable | None = None
    semantics: SemanticsTable | None = None
    individual: IndividualRisk | None = None
    households: HouseholdRisk | None = None
    shares: KeyShares | None = None
    suda: Suda | None = None

    def summary(self) -> dict[str, Any]:
        """Plain numbers; `combinations` lists the worst ones."""
        facts: dict[str, Any] = {"records": self.n_records, "keys": list(self.keys)}
        table = self.combinations
        # None reads as "not judged": without keys nothing was counted, which is no all-clear
        facts["unsafe combinations"] = None if table is None else table.unsafe_cells
        facts["records in unsafe combinations"] = None if table is None else table.unsafe_records
        if self.individual is not None:
            facts["expected re-identifications"] = round(self.individual.expected_reidentifications, 3)
            facts["highest record risk"] = float(self.individual.risk.max(initial=0.0))
            facts["highest record risk in the sample"] = float(inverse(self.individual.sample_counts).max(initial=0.0))
        if self.households is not None:
            facts["expected households re-identified"] = round(self.households.expected_households, 3)
        if self.shares is not None:
            facts["share of the risk by key"] = dict(self.shares.shares)
        if self.suda is not None:
            facts["suda contribution by key"] = self.suda.key_contributions
        if table is not None and self.suda is None:
            facts["not measured"] = "the share of each key and SUDA: there are too many keys or combinations"
        if self.semantics is not None:
            facts["semantics"] = {
                str(row.semantics): {
                    "smallest": row.smallest,
                    "below k": row.violating_records,
                    "unique": row.unique_records,
                }
                for row in self.semantics.rows
            }
        if table is not None:
            facts["combinations"] = [
                {"keys": list(row.variables), "unsafe": row.unsafe_cells, "records": row.unsafe_records}
                for row in table.rows[:LISTED]
            ]
        return facts


def measure_risk(
    data: Microdata, settings: RiskSection, *, masked: Masked | None = None, source: bool = False
) -> FileRisk:
    """Measure a file; without keys there is nothing to count by, and only the size is known.

    For a masked file give what masking made of it: the attacker counts by true keys at the published detail. `source` says
    that nothing was blanked before, so that a missing value is not that of anybody else.
    """
    wanted = settings.keys or data.schema.keys
    if settings.keys:
        data.schema.require(settings.keys, owner="[risk] keys")
    if not wanted:
        return FileRisk((), data.n_records)
    shown = data if masked is None else masked.data
    keys = tuple(name for name in wanted if name in shown.schema)
    if masked is not None and any(masked.trace.covers[name].unknown for name in keys):
        return FileRisk(keys, shown.n_records)
    if masked is None:
        individual = recount_as_it_is(shown, keys, blanks=not source).individual()
    else:
        individual = recount(masked.trace, shown, keys).individual()
    household = data.household()
    homes = None if household is None else household_risk(individual.risk, household)
    if not keys:
        return FileRisk(keys, shown.n_records, individual=individual, households=homes)
    chosen = KeyCombinations(dimension=min(settings.dimension, len(keys)), threshold=settings.threshold, keys=keys)
    few = len(keys) <= MOST_KEYS and (
        shown.copies is None or shown.n_rows <= MOST_COMBINATIONS
    )  # both look at all sets
    truth = None if masked is None else masked.trace.truth(shown)
    table = unsafe_combinations(data, chosen) if truth is None else attacked_combinations(shown, truth, chosen)
    return FileRisk(
        keys,
        shown.n_records,
        table,
        compare_semantics(shown, keys, k=SEMANTICS_K, truth=truth),
        individual,
        homes,
        key_shares(shown, keys) if few else None,
        suda(shown, keys) if few else None,
    )


def measure_loss(before: Microdata, after: Microdata, records: Sequence[StepRecord]) -> dict[str, Any]:
    """What the protection cost: values changed and suppressed per variable, and how numbers moved."""
    changed: dict[str, int] = {}
    for record in records:
        for name, count in record.changed.items():
            changed[name] = changed.get(name, 0) + int(count)
    facts: dict[str, Any] = {"changed values": changed}
    facts["suppressed values"] = _suppressed(before, after)
    numeric = [
        name
        for name in after.schema.names
        if name in before.schema and _is_number(before, name) and _is_number(after, name)
    ]
    moved = {name: _moments(before, after, name) for name in numeric}
    if moved:
        facts["numbers"] = moved
    return facts


def _suppressed(before: Microdata, after: Microdata) -> dict[str, int]:
    """Values that are blank now and were not, record by record (whatever the order of the records)."""
    own = positions(before, after)
    here = np.flatnonzero(own >= 0)
    found = {}
    for name in after.schema.names:
        if name in before.schema:
            new = int((after.missing(name)[here] & ~before.missing(name)[own[here]]).sum())
            if new:
                found[name] = new
    return found


def _is_number(data: Microdata, name: str) -> bool:
    return data.schema[name].kind is Kind.NUMERIC


def _moments(before: Microdata, after: Microdata, name: str) -> dict[str, float]:
    old, new = before.numbers((name,))[:, 0], after.numbers((name,))[:, 0]
    if np.isnan(old).all() or np.isnan(new).all():
        return {}
    return {
        "mean before": float(np.nanmean(old)),
        "mean after": float(np.nanmean(new)),
        "deviation before": float(np.nanstd(old)),
        "deviation after": float(np.nanstd(new)),
    }
