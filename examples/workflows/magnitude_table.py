# SPDX-License-Identifier: Apache-2.0
"""A hierarchical magnitude table, protected by cell suppression (tau-ARGUS: a table with hierarchies, modular or optimal)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import methods, rules

firms = pd.read_csv(files("reticent") / "demo_data" / "firms.csv")
tree = [(code, code[0], "Total") for code in sorted(set(firms["industry"]))]
data = rt.load(firms, respondent="group", identifiers=["firm"], hierarchies={"industry": tree})
table = data.tabulate("industry", "size", response="turnover")
run = table.protect(rules=[rules.PPercent(15), rules.Threshold(3)], method=methods.Heuristic(), time_limit=20)
print(run, run.release().to_frame().head())
