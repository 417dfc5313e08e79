# SPDX-License-Identifier: Apache-2.0
"""Re-check a certificate: integers only, nothing shared with the attack or the methods, readable in one sitting.

A pattern is proved when every movement (1) touches hidden cells only, (2) changes no relation, (3) keeps every cell
within the attacker's bounds (which start where the published table lets hidden cells start), and when the movements
together take every primary as far as it must go: down, up, in width, and by at least one step. Both ends are attainable
tables for the attacker, so the interval contains them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent.base.errors import DataError

FORMAT = "reticent-certificate-1"


@dataclass(frozen=True)
class Verification:
    """Primaries proved and not proved, and what is wrong with the certificate itself (nothing, if it is sound)."""

    proved: tuple[int, ...]
    unproved: tuple[int, ...]
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether all primaries are proved by a faultless certificate."""
        return not self.faults and not self.unproved


def verify_file(path: Path) -> Verification:
    """Verify a certificate file."""
    try:
        return verify(json.loads(Path(path).read_text(encoding="ascii")))
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as err:
        raise DataError(
            f"verify: {Path(path).name} is not a certificate, or it is damaged. `reticent audit FILE --certificate PROOF.json` "
            "writes one."
        ) from err


def verify(certificate: Mapping[str, Any]) -> Verification:
    """Verify a certificate given as plain data."""
    if certificate.get("format") != FORMAT:
        return Verification((), (), (f"the format must be {FORMAT}",))
    values = [int(v) for v in certificate["values"]]
    lower = [int(v) for v in certificate["lower"]]
    upper = [int(v) for v in certificate["upper"]]
    hidden = {int(c) for c in certificate["hidden"]}
    rows = _rows(certificate["relations"], len(values))
    faults = _table_faults(values, lower, upper, hidden)
    least = certificate.get("least")
    of_tables = int(certificate.get("cells", len(values)))
    if not faults and least is not None and any(lower[cell] < int(least) for cell in hidden if cell < of_tables):
        faults.append("a hidden cell may be lower than everybody knows it to be")
    furthest_up: dict[int, int] = {}
    furthest_down: dict[int, int] = {}
    for number, movement in enumerate(certificate["movements"]):
        steps = dict(zip((int(c) for c in movement["cells"]), (int(s) for s in movement["steps"]), strict=True))
        wrong = _movement_fault(steps, values, lower, upper, hidden, rows)
        if wrong:
            faults.append(f"movement {number} {wrong}")
            continue
        for cell, step in steps.items():
            furthest_up[cell] = max(furthest_up.get(cell, 0), step)
            furthest_down[cell] = max(furthest_down.get(cell, 0), -step)
    proved: list[int] = []
    unproved: list[int] = []
    for name, need in certificate["needs"].items():
        cell = int(name)
        enough = _enough(furthest_down.get(cell, 0), furthest_up.get(cell, 0), need)
        (proved if enough and cell in hidden else unproved).append(cell)
    return Verification(tuple(proved), tuple(unproved), tuple(faults))


Rows = tuple[list[list[tuple[int, int]]], list[list[int]]]


def _rows(relations: Mapping[str, Sequence[int]], n_cells: int) -> Rows:
    """The relations as (cell, coefficient) lists, and for each cell the relations it is in."""
    rows: list[list[tuple[int, int]]] = []
    of_cell: list[list[int]] = [[] for _ in range(n_cells)]
    indptr = relations["indptr"]
    for number in range(len(indptr) - 1):
        span = range(int(indptr[number]), int(indptr[number + 1]))
        row = [(int(relations["cells"][k]), int(relations["coefs"][k])) for k in span]
        for cell, _ in row:
            of_cell[cell].append(number)
        rows.append(row)
    return rows, of_cell


def _table_faults(values: list[int], lower: list[int], upper: list[int], hidden: set[int]) -> list[str]:
    faults = []
    if not len(values) == len(lower) == len(upper):
        faults.append("values and bounds differ in length")
    elif any(not low <= value <= high for value, low, high in zip(values, lower, upper, strict=True)):
        faults.append("a value lies outside its bounds")
    if hidden and not 0 <= min(hidden) <= max(hidden) < len(values):
        faults.append("a hidden cell does not exist")
    return faults


def _movement_fault(
    steps: Mapping[int, int],
    values: list[int],
    lower: list[int],
    upper: list[int],
    hidden: set[int],
    rows: Rows,
) -> str:
    """What is wrong with a movement, or an empty text."""
    if not set(steps) <= hidden:
        return "moves a published cell"
    for cell, step in steps.items():
        if not lower[cell] <= values[cell] + step <= upper[cell]:
            return "leaves the attacker's bounds"
    relations, of_cell = rows
    for number in {r for cell in steps for r in of_cell[cell]}:
        if sum(coefficient * steps.get(cell, 0) for cell, coefficient in relations[number]):
            return "breaks a relation"
    return ""


def _enough(down: int, up: int, need: Sequence[int]) -> bool:
    """Levels are met, the width is met, and the cell is not known exactly."""
    lower_level, upper_level, width = (int(n) for n in need)
    return down >= lower_level and up >= upper_level and down + up >= max(width, 1)
