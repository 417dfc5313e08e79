# SPDX-License-Identifier: Apache-2.0
"""k-anonymity with local suppression (sdcMicro: localSuppression)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import mask

people = pd.read_csv(files("reticent") / "demo_data" / "people.csv", dtype={"occupation": str})
data = rt.load(people[["region", "sex", "age", "marital"]], keys=["region", "sex", "age", "marital"])
steps = [mask.Recode("age", bands=(16, 35, 50, 65)), mask.LocalSuppression(k=3)]
run = data.protect(steps, most=0.34)
safe = run.release().to_frame()
print(run.verdict, safe.isna().sum().sum())
