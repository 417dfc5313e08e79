# SPDX-License-Identifier: Apache-2.0
"""The risk of a file as pages show it, in plain data: combinations, histogram, keys, households, models, codes. Confidential."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reticent.base.errors import DataError
from reticent.base.progress import Progress, silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.plan import DataSection, RiskSection
from reticent.io.read import load_source
from reticent.microdata.measure import measure_risk
from reticent.microdata.risk.file_models import risk_models

__all__ = ["LOWEST", "N_BARS", "models_of", "risk_of", "unsafe_codes"]

LOWEST = -4.0
"""Risks of 10^-4 and less are in the first bar."""
N_BARS, N_STEPS = 24, 40
MOST_CODES = 200


def _records(source: DataSection, folder: Path, progress: Progress) -> Microdata:
    progress(0.0, "reading")
    data = load_source(source, folder).data
    progress(0.4, "counting")
    return data


def risk_of(
    source: DataSection, folder: Path, *, dimension: int, threshold: int, progress: Progress = silent
) -> dict[str, Any]:
    """Everything that the page of risk shows of a file as it is; without keys that is an error, never an all-clear."""
    data = _records(source, folder, progress)
    if not data.schema.keys:
        raise DataError("risk: no variable is a key, so nothing can be judged; give variables the role key.")
    found = measure_risk(data, RiskSection(dimension=dimension, threshold=threshold))
    facts: dict[str, Any] = {
        "keys": list(found.keys), "records": found.n_records, "weighted": data.schema.weight is not None,
    }  # fmt: skip
    if found.combinations is not None:
        facts["combinations"] = [
            {"keys": list(row.variables), "cells": row.cells, "unsafe": row.unsafe_cells, "records": row.unsafe_records}
            for row in found.combinations.rows
        ]
        facts["unsafe_cells"], facts["unsafe_records"] = (
            found.combinations.unsafe_cells,
            found.combinations.unsafe_records,
        )
    if found.individual is not None:
        risks = found.individual.risk
        logs = np.log10(np.clip(risks, 10.0**LOWEST, 1.0))
        limits = 10.0 ** np.linspace(LOWEST, 0.0, N_STEPS + 1)
        facts["histogram"] = [int(n) for n in np.histogram(logs, bins=N_BARS, range=(LOWEST, 0.0))[0]]
        facts["above"] = [int((risks > limit * (1 + 1e-9)).sum()) for limit in limits]
        facts["limits"] = limits.tolist()
        facts["expected"] = found.individual.expected_reidentifications
        facts["highest"] = float(risks.max(initial=0.0))
    facts["shares_total"] = None if found.shares is None else found.shares.total
    facts["shares"] = [] if found.shares is None else [list(row) for row in found.shares.rows()]
    facts["suda"] = {} if found.suda is None else dict(found.suda.key_contributions)
    if found.households is not None:
        homes = found.households
        facts["households"] = {
            "number": len(homes.sizes), "expected": homes.expected_households, "people": homes.expected_records,
            "highest": float(homes.household_risk.max(initial=0.0)),
        }  # fmt: skip
    return facts


def models_of(source: DataSection, folder: Path, *, progress: Progress = silent) -> list[dict[str, Any]]:
    """What every model of the population says."""
    data = _records(source, folder, progress)
    return [dict(row) for row in risk_models(data, (), secret=as_secret(None), progress=progress).rows()]


def unsafe_codes(
    source: DataSection, folder: Path, variables: Sequence[str], threshold: int, *, progress: Progress = silent
) -> list[tuple[list[str], int]]:
    """The codes of the unsafe cells of one combination with their numbers of records: values, to be shown only when asked for."""
    data = _records(source, folder, progress)
    data.schema.require(variables, owner="risk")
    counts = Counter(
        codes for codes in zip(*(data.texts(name) for name in variables), strict=True) if None not in codes
    )
    unsafe = sorted((n, [str(code) for code in codes]) for codes, n in counts.items() if n <= threshold)
    return [(codes, n) for n, codes in unsafe[:MOST_CODES]]
