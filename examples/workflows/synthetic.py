# SPDX-License-Identifier: Apache-2.0
"""Synthetic data (synthpop: syn)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import mask

people = pd.read_csv(files("reticent") / "demo_data" / "people.csv", dtype={"occupation": str})
data = rt.load(people[["region", "sex", "age", "income"]], keys=["region", "sex"], sensitive=["income"])
run = data.protect(
    [mask.Synthesize(("region", "sex", "age", "income"))], risk=rt.RiskSection(most=0.05, attacks=("linkage",))
)
safe = run.release().to_frame()
print(run.verdict, safe.head())
