"""A part that is never half of its whole: who pays tax has at least that income.

The attacker reads two published tables, of income and of tax, and knows that nobody's tax is above the income. Such parts were
found only where one of them was half of its whole: 1 of 100 of these pairs of tables had an unsafe sum within its levels.
"""

from pathlib import Path

import numpy as np
import polars as pl

import reticent as rt
from attacks.response_reader import Published, found_too_closely, unsafe_cells
from reticent import rules


def records(seed: int) -> pl.DataFrame:
    """Tax is a fifth to under a half of the income."""
    rng = np.random.default_rng(seed)
    codes = [(a, b) for a in "pqrs" for b in "xyz" for _ in range(int(rng.integers(1, 6)))]
    tax = (rng.lognormal(3, 1.2, len(codes)) + 1).astype(int)
    rest = (rng.lognormal(3, 1.2, len(codes)) + 1).astype(int)
    frame = pl.DataFrame(codes, schema=["a", "b"], orient="row")
    return frame.with_columns(tax=tax, income=2 * tax + np.minimum(rest, 3 * tax))


def test_a_part_that_is_never_half_of_its_whole_is_used(tmp_path: Path) -> None:
    frame = records(39)
    frame.write_csv(tmp_path / "records.csv")
    data = rt.load(frame)
    income, tax = (data.tabulate("a", "b", response=name) for name in ("income", "tax"))
    run = income.linked(tax).protect(rules=[rules.PPercent(15), rules.Threshold(3, protection=20)])
    for table in run.release_all():
        table.write(tmp_path / f"{table.response}.csv")
    seen = Published([(name, tmp_path / f"{name}.csv") for name in ("income", "tax")])
    seen.relate({"tax": 1.0, "income": -1.0}, inequality=True)
    unsafe = unsafe_cells(tmp_path / "records.csv", ("income", "tax"), [("a", "b")])
    assert found_too_closely(seen, tmp_path / "records.csv", unsafe) == (0, 0)
    assert any("tax <= income" in note for note in run.notes)
