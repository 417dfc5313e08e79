# SPDX-License-Identifier: Apache-2.0
"""Individual risk from sampling weights (sdcMicro: freqCalc, indivRisk, measure_risk)."""

from importlib.resources import files

import pandas as pd

import reticent as rt

people = pd.read_csv(files("reticent") / "demo_data" / "people.csv", dtype={"occupation": str})
data = rt.load(people, keys=["region", "sex", "age"], weight="weight", household="household", identifiers=["person"])
risk = data.risk()
print(risk)
print(risk.k_anonymity(ks=(2, 3)))
