# SPDX-License-Identifier: Apache-2.0
"""Full-domain generalisation with hierarchies as ARX writes them (leaf first)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import mask

people = pd.read_csv(files("reticent") / "demo_data" / "people.csv", dtype={"occupation": str})
ages = [(str(a), f"{a // 10 * 10}-{a // 10 * 10 + 9}", "*") for a in range(120)]
regions = [(code, code[0], "*") for code in sorted(set(people["region"]))]
trees = {"age": ages, "region": regions}
data = rt.load(
    people[["age", "region", "sex"]], keys=["age", "region", "sex"], hierarchies=trees, kinds={"age": "nominal"}
)
run = data.protect([mask.Generalize(k=5, keys=("age", "region"), suppression=0.02)], most=0.2)
print(run.release().to_frame().head())
