"""A SAFE file whose counts are within a stated bound, beside a table that hides small counts: both together gave these away.

The attacker has the file, the table and the bound. A hidden count is not 0, and the file shows that it is at most 2.
"""

import csv
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from attacks.test_safe import truth
from reticent.base.errors import NotProtectedError
from reticent.jobs.release import release_plan
from samples import numbers

DATA = '[data]\npath = "people.csv"\nschema = "schema.toml"\nsecret = 12345\ntest_secret = true\n'
SAFE = """{data}[risk]
most = 1.0
[[step]]
method = "safe"
variables = ["region", "sex", "job"]
tables = [["region", "job"]]
ways = 1
crossed_bound = {bound}
[output]
path = "safe.csv"
[ledger]
path = "l.ledger"
name = "safe"
accept_uncertified = "a test of an attack"
"""
TABLE = """{data}[table]
dimensions = ["region", "job"]
rules = [{{ rule = "threshold", minimum = 3, protection = 20 }}]
[output]
path = "table.csv"
[ledger]
path = "l.ledger"
name = "table"
"""


def released(folder: Path, seed: int, bound: int, order: tuple[str, str]) -> None:
    columns = {name: [f"{name[0]}{code}" for code in codes] for name, codes in truth(seed).items()}
    pl.DataFrame(columns).write_csv(folder / "people.csv")
    (folder / "schema.toml").write_text("".join(f'[[variable]]\nname = "{one}"\nrole = "key"\n' for one in columns))
    (folder / "safe.toml").write_text(SAFE.format(data=DATA, bound=bound))
    (folder / "table.toml").write_text(TABLE.format(data=DATA))
    for name in order:
        release_plan(folder / f"{name}.toml")


def known_small(folder: Path, bound: int) -> int:
    """How many hidden counts are 1 or 2 beyond doubt."""
    safe = pl.read_csv(folder / "safe.csv")
    counts = Counter(zip(safe["region"].to_list(), safe["job"].to_list(), strict=True))
    with (folder / "table.csv").open() as file:
        hidden = [(row["region"], row["job"]) for row in csv.DictReader(file) if row["status"] == "hidden"]
    return sum(counts[cell] + bound < 3 for cell in hidden if "Total" not in cell)


@pytest.mark.parametrize("order", [("safe", "table"), ("table", "safe")])
@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.parametrize("seed", numbers(1, 4))
def test_a_bound_beside_a_table_is_judged(seed: int, bound: int, order: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(NotProtectedError, match="would be known too well"):
        released(tmp_path, seed, bound, order)
    assert not (tmp_path / f"{order[1]}.csv").exists()


@pytest.mark.parametrize("seed", numbers(1, 4))
def test_a_wide_bound_is_released_beside_the_table(seed: int, tmp_path: Path) -> None:
    released(tmp_path, seed, 4, ("safe", "table"))
    assert known_small(tmp_path, 4) == 0
