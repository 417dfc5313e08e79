"""Firms as attackers of written tables: each knows the cells in which it is alone, or a few firms together know theirs.

Works on published files and the attackers' own numbers; the truth is used to judge only.
"""

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from attacks.response_reader import Cell, Published, truth, unsafe_cells

Codes = tuple[tuple[str, str], ...]


def alone_in(records: Path, response: str, names: Sequence[str]) -> dict[str, dict[Cell, float]]:
    """For each firm the cells that have no other firm, with their values: what it knows."""
    with records.open(newline="") as file:
        rows = list(csv.DictReader(file))
    firms: dict[Codes, set[str]] = {}
    for row in rows:
        for mask in range(2 ** len(names)):
            codes = tuple(sorted((n, row[n]) for at, n in enumerate(names) if mask >> at & 1))
            firms.setdefault(codes, set()).add(row["firm"])
    found: dict[str, dict[Cell, float]] = {}
    for codes, who in firms.items():
        if len(who) == 1:
            cell = (response, codes)
            found.setdefault(next(iter(who)), {})[cell] = truth(records, cell)
    return found


def _meet(one: Codes, other: Codes) -> bool:
    """Whether two cells may have records in common."""
    first, second = dict(one), dict(other)
    return all(first[name] == second[name] for name in first.keys() & second.keys())


def placed(
    published: Published, records: Path, response: str, names: Sequence[str], *, coalition: int = 1
) -> Iterator[tuple[tuple[str, ...], Cell, float, bool]]:
    """Unsafe cells of others that firms place within their levels: who, the cell, how far above it is open, if it is exact.

    Cells in which an attacker takes part itself are left out: of those it knows something whatever is published.
    """
    unsafe = unsafe_cells(records, [response], [names])
    own = alone_in(records, response, names)
    for size in range(1, coalition + 1):
        for members in itertools.combinations(sorted(own), size):
            known = {cell: value for firm in members for cell, value in own[firm].items()}
            for cell, level in unsafe.items():
                if any(_meet(cell[1], mine[1]) for mine in known):
                    continue
                low, high = published.ends(cell, also_known=known)
                value = truth(records, cell)
                noise = 1e-6 * max(1.0, value)
                if high < value + level - noise or low > max(value - level, 0.0) + noise:
                    yield members, cell, (high - value) / value, high - low < noise
