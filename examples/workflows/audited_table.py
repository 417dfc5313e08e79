# SPDX-License-Identifier: Apache-2.0
"""Attack a table that somebody else protected (tau-ARGUS: audit)."""

import pandas as pd

import reticent as rt

codes = ["Total", "Total", "Total", "north", "north", "north", "south", "south", "south"]
sizes = ["Total", "small", "large"] * 3
values = [100, 60, 40, 70, None, None, 30, None, None]
found = rt.audit(pd.DataFrame({"region": codes, "size": sizes, "value": values}))
print(found, found.rows()[0])
