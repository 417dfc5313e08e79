# SPDX-License-Identifier: Apache-2.0
"""Microaggregation of numbers (sdcMicro: microaggregation)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import mask

people = pd.read_csv(files("reticent") / "demo_data" / "people.csv", dtype={"occupation": str})
data = rt.load(people[["income", "age"]], sensitive=["income"])
run = data.protect([mask.Microaggregate(("income", "age"), k=25)], risk=rt.RiskSection(most=0.05, attacks=("linkage",)))
safe = run.release().to_frame()
print(run.loss["il1s"], safe.describe())
