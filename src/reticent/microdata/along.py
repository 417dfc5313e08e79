# SPDX-License-Identifier: Apache-2.0
"""What each step of a plan changes: unsafe combinations and the detail of the keys, after none of the steps, one, two, …

A preview counts; it is not a verdict. The attack itself comes after the last step, in `protect`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.base.progress import Progress, silent
from reticent.base.randomness import Secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.microdata.pipeline import Masked, apply_steps
from reticent.microdata.risk.attacked import attacked_combinations
from reticent.microdata.risk.combinations import KeyCombinations, unsafe_combinations


@dataclass(frozen=True)
class Along:
    """The file after some steps: unsafe combinations, records in one, and the share of the keys' entropy given up.

    None reads as "not judged": without keys, or where a step leaves no true value to count by.
    """

    steps: int
    unsafe_combinations: int | None
    unsafe_records: int | None
    detail_lost: float


def along_steps(
    data: Microdata,
    steps: Sequence[MaskingMethod],
    settings: RiskSection,
    *,
    secret: Secret,
    progress: Progress = silent,
) -> tuple[Along, ...]:
    """Count after each step; every step is applied as `protect` applies it, with the same draws."""
    wanted = tuple(settings.keys or data.schema.keys)
    whole = _entropy(data, wanted)
    found = []
    for number in range(len(steps) + 1):
        progress(number / (len(steps) + 1), steps[number - 1].name if number else "counting")
        masked = apply_steps(data, steps[:number], secret=secret, keys=wanted) if number else None
        shown = data if masked is None else masked.data
        combinations, records = _unsafe(data, masked, wanted, settings)
        lost = 1.0 - _entropy(shown, wanted) / whole if whole else 0.0
        found.append(Along(number, combinations, records, min(max(lost, 0.0), 1.0)))
    return tuple(found)


def _unsafe(
    data: Microdata, masked: Masked | None, wanted: Sequence[str], settings: RiskSection
) -> tuple[int | None, int | None]:
    shown = data if masked is None else masked.data
    keys = tuple(name for name in wanted if name in shown.schema)
    if not wanted or (masked is not None and any(masked.trace.covers[name].unknown for name in keys)):
        return None, None
    if not keys:
        return 0, 0
    chosen = KeyCombinations(dimension=min(settings.dimension, len(keys)), threshold=settings.threshold, keys=keys)
    if masked is None:
        table = unsafe_combinations(data, chosen)
    else:
        table = attacked_combinations(shown, masked.trace.truth(shown), chosen)
    return table.unsafe_cells, table.unsafe_records


def _entropy(data: Microdata, keys: Sequence[str]) -> float:
    """Σ of the entropies of the keys; a removed key has none, and a blank reveals nothing."""
    total = 0.0
    for name in keys:
        if name not in data.schema:
            continue
        codes = data.codes((name,))[:, 0]
        present = codes[codes >= 0]
        if not len(present):
            continue
        shares = np.bincount(present) / len(present)
        shares = shares[shares > 0]
        total += float(-(shares * np.log2(shares)).sum()) * len(present) / len(codes)
    return total
