# SPDX-License-Identifier: Apache-2.0
"""Attack a masked file with the original at hand: linkage by distance and by agreement, and interval disclosure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind
from reticent.microdata.risk.interval import IntervalDisclosure, deviation_intervals, rank_intervals
from reticent.microdata.risk.linkage_coordinates import from_files
from reticent.microdata.risk.linkage_distance import LinkageGrowth, linkage_growth
from reticent.microdata.risk.linkage_probabilistic import ProbabilisticLinkage, probabilistic_linkage, shared_codes

MOST_AGREEMENT = 12
RANK_PERCENT = 5.0


@dataclass(frozen=True)
class FileLinkage:
    """What an intruder who holds the original values of some variables finds in the masked file."""

    variables: tuple[str, ...]
    records: int
    growth: LinkageGrowth
    agreement: ProbabilisticLinkage | None
    intervals: tuple[IntervalDisclosure, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()
    """Variables that are numbers in one file and codes in the other, which this attack cannot compare."""

    def rows(self) -> tuple[tuple[str, float], ...]:
        """Shares of records, one line per attack."""
        last = self.growth.rows()[-1]
        found = [("linked by distance, all variables known", last["mean"])]
        if self.agreement is not None:
            found.append(("linked by agreement, best match", self.agreement.share))
            if self.agreement.one_to_one is not None:
                found.append(("linked by agreement, one to one", self.agreement.one_to_one))
        for one in self.intervals:
            reach = f"{one.width:g} % of the ranks" if one.kind == "rank" else f"±{one.width:g} standard deviations"
            found.append((f"true values within {reach}", one.share))
        return (*found, ("blind guess", self.growth.by_chance))

    def summary(self) -> dict[str, Any]:
        """Plain numbers."""
        facts: dict[str, Any] = {"records": self.records, "variables": list(self.variables), **dict(self.rows())}
        facts["growth"] = list(self.growth.rows())
        facts["left out"] = list(self.left_out)
        return facts


def link_files(
    original: Microdata,
    masked: Microdata,
    variables: Sequence[str] = (),
    *,
    secret: Secret,
    sets: int = 5,
    progress: Progress = silent,
) -> FileLinkage:
    """Link the masked file to the original on `variables` (default: keys and sensitive variables in both).

    Record i of the masked file must be record i of the original: attack before the file is reordered or sampled.
    """
    wanted = tuple(variables) or _known(original, masked)
    names = tuple(name for name in wanted if variables or _is_number(original, name) == _is_number(masked, name))
    if not names:
        raise DataError(
            "linkage: each shared variable is a number in one file and a code in the other; declare it alike in both schemas."
        )
    if original.n_records != masked.n_records:
        raise DataError(
            f"linkage: the files have {original.n_records} and {masked.n_records} records; record i of one must be record i "
            "of the other. Attack before sampling and reordering."
        )
    coordinates = from_files(original, masked, names)
    growth = linkage_growth(coordinates, secret=secret, sets=sets)
    progress(0.5, "linkage by agreement")
    coded = [name for name in names if original.schema[name].kind is not Kind.NUMERIC][:MOST_AGREEMENT]
    numeric = [name for name in names if _is_number(original, name) and _is_number(masked, name)]
    agreement = None
    if coded:
        codes = shared_codes(original, masked, coded)
        agreement = probabilistic_linkage(*codes, coded, secret=secret, assign="none")
    intervals: tuple[IntervalDisclosure, ...] = ()
    if numeric:
        true, seen = original.numbers(numeric), masked.numbers(numeric)
        intervals = rank_intervals(true, seen, percent=RANK_PERCENT), deviation_intervals(true, seen)
    left_out = tuple(name for name in wanted if name not in names)
    return FileLinkage(names, masked.n_records, growth, agreement, intervals, left_out)


def _known(original: Microdata, masked: Microdata) -> tuple[str, ...]:
    wanted = [v.name for v in original.schema.variables if v.is_key or v.role.value == "sensitive"]
    names = tuple(name for name in wanted if name in masked.schema)
    if not names:
        raise DataError("linkage: the files share no keys or sensitive variables; name the variables.")
    return names


def _is_number(data: Microdata, name: str) -> bool:
    return data.schema[name].kind is Kind.NUMERIC
