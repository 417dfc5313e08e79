# SPDX-License-Identifier: Apache-2.0
"""Post-randomisation of categories (sdcMicro: pram)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import mask

people = pd.read_csv(files("reticent") / "demo_data" / "people.csv", dtype={"occupation": str})
data = rt.load(people[["region", "sex", "marital"]], keys=["region", "sex"], sensitive=["marital"])
run = data.protect([mask.Pram(("marital",), keep=0.8)], most=0.05)
safe = run.release().to_frame()
print(safe["marital"].value_counts())
