"""Published tables as SDMX-CSV 2.0: OBS_VALUE, OBS_STATUS and CONF_STATUS beside the dimensions.

Codes are those of the cross-domain code lists of SDMX. All hidden cells have one status: which of them the rules call unsafe
is nothing that a published file may say.
"""

import csv
import io
import re

from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.io.table_format import TableFormat

OBSERVATION = {PUBLISHED: "A", HIDDEN: "Q", EMPTY: "O"}
"""CL_OBS_STATUS: normal value; missing value, suppressed; missing value."""
CONFIDENTIALITY = {PUBLISHED: "F", HIDDEN: "C", EMPTY: "F"}
"""CL_CONF_STATUS: free for publication; confidential statistical information."""


def _make(table: PublishedTable) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    names = [_identifier(name) for name in table.dimensions]
    flow = f"RETICENT:{_identifier(table.response)}_BY_{'_'.join(names)}(1.0)"
    writer.writerow(["STRUCTURE", "STRUCTURE_ID", "ACTION", *names, "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"])
    for row, codes in enumerate(table.codes):
        status = table.status[row]
        writer.writerow(["dataflow", flow, "I", *codes, table.text(row), OBSERVATION[status], CONFIDENTIALITY[status]])
    return file.getvalue()


def _identifier(name: str) -> str:
    """A name as SDMX allows it: letters, digits and underscores, in capitals."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper() or "X"


SDMX_CSV = TableFormat("sdmx-csv", "SDMX-CSV 2.0 with OBS_STATUS and CONF_STATUS", ".sdmx.csv", _make)
