"""Counts of firms with several plants, attacked by each firm: `PYTHONPATH=src:tests python -m attacks.holding_families 60`.

A firm knows every cell in which nobody else has a plant. It subtracts these from what the file shows.
"""

import csv
import sys

import numpy as np
import polars as pl

from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import Insiders
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.methods import TableMethod
from reticent.tables.request import Attacker
from reticent.tables.rules import Threshold
from reticent.tables.suppression.heuristic import Heuristic

CODES = tuple("ABCDEF")
Plants = list[tuple[str, str]]
"""The firm and the code of each plant."""


def plants_of(number: int) -> Plants:
    """Generated plants: three or four codes with one or two of a few firms, the others with many firms."""
    rng = np.random.default_rng(number)
    small = int(rng.integers(3, 5))
    plants = [(f"f{rng.integers(0, 3)}", code) for code in CODES[:small] for _ in range(rng.integers(1, 4))]
    return plants + [(f"{code}{n}", code) for code in CODES[small:] for n in range(rng.integers(3, 9))]


def publish(plants: Plants, insiders: Insiders = "exact", method: TableMethod | None = None) -> str:
    """The count of plants by code, as it is written."""
    schema = Schema((Variable("firm", role=Role.ENTITY), Variable("a", role=Role.KEY, codes=CODES)))
    data = Microdata.of(pl.DataFrame(plants, schema=["firm", "a"], orient="row"), schema)
    done = protect_table(
        data, TableSpec((DimensionSpec("a"),)), rules=(Threshold(3, protection=20),), method=method or Heuristic(),
        attacker=Attacker(insiders=insiders), time_limit=10,
    )  # fmt: skip
    return published_text(done.published[0])


def found_by_firms(text: str, plants: Plants) -> list[tuple[str, str]]:
    """Firms, and the codes of others with fewer than three firms whose count they work out."""
    rows = {row["a"]: row for row in csv.DictReader(text.splitlines())}
    total = rows.pop("Total")
    if total["status"] == "hidden":
        return []
    hidden = {code for code, row in rows.items() if row["status"] == "hidden"}
    firms = {code: {firm for firm, own in plants if own == code} for code in hidden}
    rest = int(total["value"]) - sum(int(row["value"]) for row in rows.values() if row["status"] == "published")
    found = []
    for who in sorted({firm for firm, _ in plants}):
        left = sorted(code for code in hidden if firms[code] != {who})
        open_ = rest - sum(code in hidden and firms[code] == {who} for _, code in plants)
        # a hidden count is at least 1: as many plants as codes are left, or one code
        if len(left) < len(hidden) and (len(left) == 1 or open_ == len(left)):
            found += [(who, code) for code in left if who not in firms[code] and len(firms[code]) < 3]
    return found


def rates(tables: int, insiders: Insiders) -> tuple[int, int, int]:
    """Tables that were written, those in which some firm works out another's count, and such counts."""
    written = leaky = counts = 0
    for number in range(tables):
        plants = plants_of(number)
        try:
            found = found_by_firms(publish(plants, insiders), plants)
        except InfeasibleError:
            continue
        written, leaky, counts = written + 1, leaky + bool(found), counts + len({code for _, code in found})
    return written, leaky, counts


if __name__ == "__main__":
    for way in ("exact", "protect"):
        shown, broken, known = rates(int(sys.argv[1]), way)  # type: ignore[arg-type]
        sys.stdout.write(f"{way}: {shown} tables written, {broken} leak, {known} counts known to a firm\n")
