"""Rates for sole respondents of a cell: generated tables, with `insiders = "exact"` (as 0.1.0 at best) and `"protect"`.

PYTHONPATH=src:tests python tests/attacks/insider_families.py 40
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from attacks.insider_reader import alone_in, placed
from attacks.response_reader import Published, unsafe_cells
from reticent.base.errors import InfeasibleError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.data.table_plan import Insiders
from reticent.io.published import published_text
from reticent.jobs.protect_table import protect_table
from reticent.tables.request import Attacker
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression.optimal import Optimal

SCHEMA = Schema(
    (
        Variable("a", role=Role.KEY),
        Variable("b", role=Role.KEY),
        Variable("firm", role=Role.ENTITY),
        Variable("v", kind=Kind.NUMERIC),
    )
)
WAYS: tuple[Insiders, ...] = ("exact", "protect")


def records(rng: np.random.Generator, n: int = 60) -> pl.DataFrame:
    """Firms, some with several plants, in 4 × 4 cells of very different size."""
    a, b = rng.choice(list("pqrs"), n, p=[0.4, 0.3, 0.2, 0.1]), rng.choice(list("wxyz"), n, p=[0.4, 0.3, 0.2, 0.1])
    firm = [f"f{k}" for k in rng.integers(0, int(0.8 * n), n)]
    return pl.DataFrame({"a": a, "b": b, "firm": firm, "v": np.rint(rng.lognormal(5, 1.5, n)).astype(int) + 1})


def attack_both(table: pl.DataFrame) -> dict[str, tuple[int, int, int]]:
    """For both ways: pairs of a firm and an unsafe cell of others, how many are within the levels, hidden cells."""
    spec = TableSpec((DimensionSpec("a"), DimensionSpec("b")), response="v")
    found = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "records.csv"
        table.write_csv(path)
        pairs = len(alone_in(path, "v", ("a", "b"))) * len(unsafe_cells(path, ["v"], [("a", "b")]))
        for way in WAYS:
            rules = (PPercent(15), Threshold(3, protection=20))
            data = Microdata.of(table, SCHEMA)
            result = protect_table(
                data, spec, rules=rules, method=Optimal(), time_limit=5, attacker=Attacker(insiders=way)
            )
            out = Path(name) / "out.csv"
            out.write_text(published_text(result.published[0]))
            closely = list(placed(Published([("v", out)]), path, "v", ("a", "b")))
            assert way == "exact" or not closely
            assert not any(exact for *_, exact in closely)
            found[way] = (pairs, len(closely), result.counts()["secondary"])
    return found


def rates(tables: int) -> dict[str, tuple[int, int, int]]:
    """Sums over generated tables; tables that cannot be protected are drawn again."""
    total = {way: np.zeros(3, dtype=int) for way in WAYS}
    rng, done = np.random.default_rng(5), 0
    while done < tables:
        try:
            found = attack_both(records(rng))
        except InfeasibleError:
            continue
        done += 1
        for way, counts in found.items():
            total[way] += counts
    return {way: (int(p), int(c), int(s)) for way, (p, c, s) in total.items()}


if __name__ == "__main__":
    for way, (pairs, closely, secondaries) in rates(int(sys.argv[1])).items():
        line = f"{way}: {pairs} pairs of a firm and a cell, {closely} within the levels, {secondaries} secondaries"
        sys.stdout.write(line + "\n")
