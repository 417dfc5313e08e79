"""Pins before and after additivity on real tables: `python -m reference.noise_pins` in `tests` prints them."""

import sys
from pathlib import Path

import numpy as np
import polars as pl

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.data.table import DimensionSpec, Table, TableSpec
from reticent.kernels.draws import uniforms
from reticent.tables.attack.noise import NoiseFindings, noise_findings
from reticent.tables.methods import attack
from reticent.tables.perturb.additivity import Way
from reticent.tables.perturb.cell_key import perturb_counts
from reticent.tables.perturb.cell_numbers import cell_numbers
from reticent.tables.perturb.noisy import CountNoise, noisy_outcome
from reticent.tables.perturb.ptable_design import Design, design_ptable
from reticent.tables.problem import SuppressionProblem
from reticent.tabulation.equations import relations_of
from reticent.tabulation.tabulate import tabulate, with_empty_cells

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "microdata"
DESIGNS = {"D = 2": Design(2, 1.5, 0), "D = 3, no 1 and 2": Design(3, 2.0, 2), "D = 5, no 1 and 2": Design(5, 3.0, 2)}
TABLES = {
    "Adult: education × occupation × sex": ("adult/adult.csv", ";", ("education", "occupation", "sex")),
    "Adult: native-country × race × salary-class": ("adult/adult.csv", ";", ("native-country", "race", "salary-class")),
    "SD2011: region × edu × marital": ("synthpop_SD2011.csv", ",", ("region", "edu", "marital")),
}


def table_of(name: str) -> Table:
    """One of the real tables, with all empty cells."""
    path, separator, names = TABLES[name]
    frame = pl.read_csv(DATA / path, separator=separator, infer_schema_length=0).select(names).fill_null("none")
    data = Microdata.of(frame, Schema(tuple(Variable(one) for one in names)))
    return with_empty_cells(tabulate(data, TableSpec(tuple(DimensionSpec(one) for one in names))))


def pins(table: Table, design: Design, add_up: Way, seed: int = 1) -> NoiseFindings:
    """What the attacker of the noisy table determines."""
    secret, ptable = as_secret(seed), design_ptable(design)
    keys = uniforms(*secret.words("cells"), cell_numbers(table))
    true = table.values
    primary = (true > 0) & (true < 3)
    problem = SuppressionProblem.from_values(true, relations_of(table), primary=primary, integral=True)
    values = perturb_counts(true.astype(np.int64), keys, ptable).values
    noise = CountNoise(ptable, values, keys, design.skip, add_up, False, "noise", "noise")
    outcome = noisy_outcome(problem, noise, secret=secret, time_limit=60.0)
    found = noise_findings(problem, outcome, attack(problem, outcome, progress=silent))
    assert found is not None
    return found


if __name__ == "__main__":
    for real in TABLES:
        made = table_of(real)
        for words, wanted in DESIGNS.items():
            for way in ("no", "kernel"):
                got = pins(made, wanted, way)  # type: ignore[arg-type]
                sys.stdout.write(
                    f"{real}, {words}, add_up {way}: {got.pinned} of {got.cells} pinned ({got.small_pinned} of 1 or 2), "
                    f"{got.presence} present under 0, {got.certain} above 0.95 ({got.right} right), "
                    f"width {got.width_alone:.2f} -> {got.width:.2f}\n"
                )
                sys.stdout.flush()
