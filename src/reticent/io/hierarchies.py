# SPDX-License-Identifier: Apache-2.0
"""Hierarchy files: ARGUS `.hrc`, ARX CSV (leaf first, `;` between levels), own TOML (parent = [children])."""

import csv
from pathlib import Path

from reticent.base.errors import DataError
from reticent.data.hierarchy import TOTAL, Hierarchy
from reticent.data.plan import read_toml
from reticent.data.schema_files import tree_from_table
from reticent.io.argus_codes import read_hrc
from reticent.io.argus_text import Notes, read_text


def read_hierarchy(path: Path, *, lead: str = "@", total: str = TOTAL, notes: Notes | None = None) -> Hierarchy:
    """Read a hierarchy; the file name's ending says which kind it is."""
    notes = notes or Notes()
    ending = path.suffix.lower()
    if ending == ".hrc":
        return read_hrc(path, lead=lead, total=total, notes=notes)
    if ending in (".csv", ".txt"):
        return read_arx(path, total=total, notes=notes)
    if ending == ".toml":
        return _read_own(path, total)
    raise DataError(f"{path.name}: a hierarchy file ends in .hrc, .csv or .toml.")


def hierarchy_beside(data: Path, variable: str) -> Path | None:
    """The file that has the tree of a variable, by the names that ARX and tau-ARGUS users give them."""
    stems = (f"{data.stem}_hierarchy_{variable}", f"{data.stem}_{variable}", variable)
    wanted = [f"{stem}{ending}".lower() for stem in stems for ending in (".hrc", ".csv")]
    wanted.remove(f"{data.stem}_{variable}.csv".lower())  # likely other data
    wanted.remove(f"{variable}.csv".lower())
    beside = {path.name.lower(): path for path in sorted(data.parent.glob("*")) if path.is_file()}
    return next((beside[name] for name in wanted if name in beside), None)


def read_arx(path: Path, *, total: str = TOTAL, notes: Notes | None = None) -> Hierarchy:
    """An ARX hierarchy: one row per value, then its ancestors; a last column that is the same everywhere is the total."""
    rows = [
        [cell.strip() for cell in row]
        for row in csv.reader(read_text(path, notes or Notes()).split("\n"), delimiter=";")
        if row
    ]
    widths = {len(row) for row in rows}
    if not rows:
        raise DataError(f"{path.name}: the hierarchy has no rows.")
    if len(widths) != 1:
        number = next(i for i, row in enumerate(rows, start=1) if len(row) != len(rows[0]))
        raise DataError(
            f"{path.name}: row {number} has {len(rows[number - 1])} levels, the first has {len(rows[0])}; "
            "all need the same number."
        )
    try:
        return Hierarchy.from_paths(rows, total=total, leaf_first=True)
    except DataError as err:
        raise DataError(f"{path.name}: {err}") from None


def _read_own(path: Path, total: str) -> Hierarchy:
    table = read_toml(path)
    try:
        return tree_from_table(table, total=total, where=path.name)
    except DataError as err:
        raise DataError(f"{path.name}: {err}") from None
