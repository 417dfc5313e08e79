# SPDX-License-Identifier: Apache-2.0
"""pyCANON beside ours, where it does the same job on the same data in the same process.

It is not a dependency: install it beside the project (`pip install --no-deps pycanon`) before running this area; without it
there are no entries. (ANJANA 1.x refuses the text columns of pandas 3, so it cannot be run in the same process.)
Data are generated keys of a census-like file with a sensitive code.
"""

import importlib.util
from typing import Any

import numpy as np
import polars as pl

from benchmarks.census_keys import KEYS, census_frame
from benchmarks.harness import Entry
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.microdata.risk.anonymity import k_anonymity
from reticent.microdata.risk.diversity import attribute_risk

FIVE = KEYS[:5]


def _frame(n: int) -> pl.DataFrame:
    codes = np.random.default_rng(5).integers(0, 6, n)
    return census_frame(n, 5).cast(pl.String).with_columns(disease=pl.Series([f"d{c}" for c in codes]))


def _both(n: int) -> tuple[Microdata, Any]:
    frame = _frame(n)
    schema = Schema((*(Variable(name, role=Role.KEY) for name in FIVE), Variable("disease", role=Role.SENSITIVE)))
    return Microdata.of(frame, schema), frame.to_pandas().astype(object)


def _k_ours(inputs: tuple[Microdata, Any]) -> int:
    return int(k_anonymity(inputs[0].with_schema(inputs[0].schema), FIVE).k)


def _k_pycanon(inputs: tuple[Microdata, Any]) -> int:
    from pycanon import anonymity

    return int(anonymity.k_anonymity(inputs[1], list(FIVE)))


def _t_ours(inputs: tuple[Microdata, Any]) -> float:
    return float(attribute_risk(inputs[0].with_schema(inputs[0].schema), "disease", FIVE).t_equal)


def _t_pycanon(inputs: tuple[Microdata, Any]) -> float:
    from pycanon import anonymity

    return float(anonymity.t_closeness(inputs[1], list(FIVE), ["disease"]))


def _same(reference: Any) -> Any:
    def check(inputs: tuple[Microdata, Any], found: float) -> str:
        return "equal" if abs(reference(inputs) - found) < 1e-9 else "DIFFERENT"

    return check


def entries() -> list[Entry]:
    """What the peers that are installed can do."""
    found = []
    if importlib.util.find_spec("pycanon"):
        found += [
            Entry("k-anonymity, 5 keys", (1_000, 10_000), _both, _k_ours, _k_pycanon, "pyCANON", quality=_same(_k_pycanon),
                  repeat=1),
            Entry("t-closeness, 5 keys (ours: all measures)", (1_000, 3_000), _both, _t_ours, _t_pycanon, "pyCANON",
                  quality=_same(_t_pycanon), repeat=1),
        ]  # fmt: skip
    return found
