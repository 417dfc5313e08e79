# SPDX-License-Identifier: Apache-2.0
"""Published tables as SDMX-CSV 2.0: OBS_VALUE, OBS_STATUS and CONF_STATUS beside the dimensions.

Codes are those of the cross-domain code lists of SDMX. All hidden cells have one status: which of them the rules call unsafe
is nothing that a published file may say.
"""

import csv
import io
import re
from itertools import count

from reticent.data.published_table import EMPTY, HIDDEN, PUBLISHED, PublishedTable
from reticent.frames.marks import Marks
from reticent.io.formulas import defused
from reticent.io.table_format import TableFormat

OBSERVATION = {PUBLISHED: "A", HIDDEN: "Q", EMPTY: "O"}
"""CL_OBS_STATUS: normal value; missing value, suppressed; missing value."""
CONFIDENTIALITY = {PUBLISHED: "F", HIDDEN: "C", EMPTY: "F"}
"""CL_CONF_STATUS: free for publication; confidential statistical information."""

ATTRIBUTES = ("OBS_STATUS", "CONF_STATUS")
OWN = {"STRUCTURE", "STRUCTURE_ID", "ACTION", "OBS_VALUE", "MEASURE", *ATTRIBUTES}
"""Columns that a dimension may not be called."""


def _make(table: PublishedTable, marks: Marks) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    names = _distinct([_identifier(name) for name in table.dimensions])
    measured = [] if table.measure is None else ["MEASURE"]
    flow = f"RETICENT:{_identifier(table.response)}_BY_{'_'.join(names)}(1.0)"
    writer.writerow(["STRUCTURE", "STRUCTURE_ID", "ACTION", *names, "OBS_VALUE", *ATTRIBUTES, *measured])
    for row, codes in enumerate(table.codes):
        status = table.status[row]
        told = [table.measure_text(row)] if measured else []
        attributes = [OBSERVATION[status], CONFIDENTIALITY[status], *told]
        shown = codes if marks.keep_formulas else map(defused, codes)
        writer.writerow(["dataflow", flow, "I", *shown, table.text(row), *attributes])
    return file.getvalue()


def _identifier(name: str) -> str:
    """A name as SDMX allows it: letters, digits and underscores, in capitals."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").upper() or "X"


def _distinct(names: list[str]) -> list[str]:
    """The same names, numbered where two are one or one is a column of the format itself."""
    found: list[str] = []
    for name in names:
        candidates = (name if not number else f"{name}_{number}" for number in count())
        found.append(next(text for text in candidates if text not in found and text not in OWN))
    return found


SDMX_CSV = TableFormat("sdmx-csv", "SDMX-CSV 2.0 with OBS_STATUS and CONF_STATUS", ".sdmx.csv", _make)
