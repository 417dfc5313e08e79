# SPDX-License-Identifier: Apache-2.0
"""Two linked tables of counts, protected as one system (tau-ARGUS: linked tables)."""

from importlib.resources import files

import pandas as pd

import reticent as rt
from reticent import rules

firms = pd.read_csv(files("reticent") / "demo_data" / "firms.csv")
data = rt.load(firms, respondent="group", identifiers=["firm"])
tables = data.tabulate("industry").linked(data.tabulate("industry", "region"))
run = tables.protect(rules=[rules.Threshold(3)], time_limit=20)
for table in run.release_all():
    print(table)
