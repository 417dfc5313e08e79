"""Rates for related responses: generated tables, protected each response by itself (as 0.1.0 did) and as one system.

PYTHONPATH=src:tests python tests/attacks/response_families.py 60
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from attacks.response_reader import Published, found_too_closely, unsafe_cells
from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression.optimal import Optimal

RULES = (PPercent(15), Threshold(3, protection=20))
FAMILIES = {
    "tot = dom + exp": ({"tot": 1.0, "dom": -1.0, "exp": -1.0}, False),
    "hours = 40 staff": ({"hours": 1.0, "staff": -40.0}, False),
    "exp <= tot": ({"exp": 1.0, "tot": -1.0}, True),
}


def records(rng: np.random.Generator, n: int = 36) -> pl.DataFrame:
    """Firms with turnover at home and abroad, staff and hours, in 3 × 3 cells."""
    dom = np.rint(rng.lognormal(5, 1.4, n)) * (rng.random(n) < 0.6)
    exp = np.rint(rng.lognormal(4.5, 1.4, n)) * (rng.random(n) < 0.8)
    dom = np.where(dom + exp == 0, 50.0, dom)
    staff = rng.integers(1, 40, n).astype(float)
    columns = {"dom": dom, "exp": exp, "tot": dom + exp, "staff": staff, "hours": 40 * staff}
    whole = {name: column.astype(int) for name, column in columns.items()}
    return pl.DataFrame({"a": rng.choice(list("pqr"), n), "b": rng.choice(list("xyz"), n), **whole})


def attack_both(table: pl.DataFrame, relation: str) -> dict[str, tuple[int, int, int]]:
    """For both ways: unsafe cells, those known exactly, those known more closely than their levels."""
    terms, inequality = FAMILIES[relation]
    numeric = [Variable(name, kind=Kind.NUMERIC) for name in terms]
    schema = Schema((Variable("a", role=Role.KEY), Variable("b", role=Role.KEY), *numeric))
    data = Microdata.of(table.select("a", "b", *terms), schema)
    # the parts of a relation are hidden at another price, as tables of other offices or years are
    specs = [TableSpec((DimensionSpec("a"), DimensionSpec("b")), response=name) for name in terms]
    ways = {
        "alone": [
            protect_table(data, spec, rules=RULES, method=Optimal(cost=cost), time_limit=5).published[0]
            for spec, cost in zip(specs, ("own", "unity", "own"), strict=False)
        ],
        "together": protect_table(
            data, specs, rules=RULES, relations=[relation], method=Optimal(), time_limit=5
        ).published,
    }
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table.write_csv(folder / "records.csv")
        unsafe = unsafe_cells(folder / "records.csv", list(terms), [("a", "b")])
        for way, tables in ways.items():
            for one in tables:
                (folder / f"{way}-{one.response}.csv").write_text(published_text(one))
            seen = Published([(one.response, folder / f"{way}-{one.response}.csv") for one in tables])
            seen.relate(terms, inequality=inequality)
            found[way] = (len(unsafe), *found_too_closely(seen, folder / "records.csv", unsafe))
    return found


def rates(relation: str, tables: int) -> dict[str, tuple[int, int, int]]:
    """Sums over generated tables; tables that cannot be protected are drawn again."""
    total = {"alone": np.zeros(3, dtype=int), "together": np.zeros(3, dtype=int)}
    rng, done = np.random.default_rng(11), 0
    while done < tables:
        try:
            for way, counts in attack_both(records(rng), relation).items():
                total[way] += counts
        except InfeasibleError:
            continue
        done += 1
    return {way: (int(u), int(e), int(c)) for way, (u, e, c) in total.items()}


if __name__ == "__main__":
    for name in FAMILIES:
        for way, (unsafe, exactly, closely) in rates(name, int(sys.argv[1])).items():
            line = f"{name}, {way}: {unsafe} unsafe cells, {exactly} known exactly, {closely} within their levels"
            sys.stdout.write(line + "\n")
