"""Attacks on tables whose values were changed: repeated runs, a known level, a code that only records have.

The fixtures were written by version 0.1.0 from the inputs of `noise_inputs.py`: `NAME-60-runs.csv` has 60 runs of one
plan without a secret, a row per run; `adjust.csv` and `rare.csv` are tables as published.
"""

import csv
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from attacks.noise_inputs import firms, true_values, write_plan
from reticent.base.errors import PlanError
from reticent.base.progress import silent
from reticent.jobs.jj import AdjustNumbers, RoundNumbers, change_jj
from reticent.jobs.protect_table import protect_table, run_table_plan
from reticent.tables.methods import TABLE_METHODS, Adjust, Round, adjusted, attack
from reticent.tables.nearest_rounding import NearestRounding
from reticent.tables.perturb.adjustment import adjust, largest_total
from reticent.tables.perturb.secrets import draws, secret_for
from reticent.tables.problem import SuppressionProblem
from table_makers import with_totals

OLD = Path(__file__).parent / "fixtures" / "v010" / "tables-noise"
PLANS = {
    "cell-key": ('method = "cell-key"', ""),
    "round": ('method = "round"\nbase = 5', ""),
    "adjust": ('method = "adjust"\nsigns = "random"', 'response = "turnover"'),
}
RARE = "f999,rare,s,40\n"
Cell = tuple[str, str]


def shown(path: Path) -> dict[Cell, float]:
    """The published values of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["area"], row["size"]): float(row["value"]) for row in csv.DictReader(file)}


def runs(path: Path) -> dict[Cell, np.ndarray]:
    """What each cell was published as in every run."""
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = list(csv.reader(file))
    table = np.array(rows, dtype=float)
    return {(name.split(" x ")[0], name.split(" x ")[1]): table[:, at] for at, name in enumerate(names)}


# ------------------------------------------------------------------ repeated runs


def mean_of_runs(seen: np.ndarray) -> float:
    """Noise without bias goes away in the mean."""
    return float(seen.mean())


def middle_of_runs(seen: np.ndarray) -> float:
    """A value that goes up or down by the same share is in the middle of what is seen most."""
    values, times = np.unique(seen, return_counts=True)
    return float(values[np.argsort(times)[-2:]].mean())


ATTACKS: dict[str, Callable[[np.ndarray], float]] = {
    "cell-key": mean_of_runs, "round": mean_of_runs, "adjust": middle_of_runs,
}  # fmt: skip


def found_by(name: str, seen: dict[Cell, np.ndarray]) -> float:
    """The share of unsafe cells that the attack places within a half (counts) or 2 % (sums)."""
    rows = [(cell, *truth) for cell, truth in true_values().items() if truth[1] < 3]
    close = [
        abs(ATTACKS[name](seen[cell]) - value) <= 0.02 * value
        if name == "adjust"
        else abs(ATTACKS[name](seen[cell]) - count) < 0.5
        for cell, value, count in rows
    ]
    return sum(close) / len(close)


@pytest.mark.parametrize("name", list(PLANS))
def test_repeated_runs_do_not_average_out(name: str, tmp_path: Path) -> None:
    assert found_by(name, runs(OLD / f"{name}-60-runs.csv")) >= 0.8
    protect, table = PLANS[name]
    with pytest.raises(PlanError, match="needs a secret that is kept"):
        run_table_plan(write_plan(tmp_path, protect, table=table))
    assert not (tmp_path / "table.csv").exists()
    again = []
    for _ in range(3):
        run_table_plan(write_plan(tmp_path, protect, table=table, secret="one"))
        again.append(shown(tmp_path / "table.csv"))
    assert again[0] == again[1] == again[2]
    today = {cell: np.array([one[cell] for one in again]) for cell in again[0]}
    assert found_by(name, today) < 0.5


def as_published(cells: dict[Cell, float]) -> float:
    """The share of sole respondents of a cell whose turnover stands there within 1 %."""
    alone = {cell: value for cell, (value, count) in true_values().items() if count == 1}
    return sum(abs(cells[cell] - value) <= 0.01 * value for cell, value in alone.items()) / len(alone)


def test_a_firm_alone_has_noise_although_it_has_no_range(tmp_path: Path) -> None:
    """`range.csv` was written by 0.1.0 from the plan below, without a secret."""
    assert as_published(shown(OLD / "range.csv")) == 1.0
    protect = 'method = "cell-key"\nnoise = { magnifier = "range" }'
    run_table_plan(write_plan(tmp_path, protect, table='response = "turnover"', secret="one"))
    assert as_published(shown(tmp_path / "table.csv")) < 0.5


def records() -> object:
    import polars as pl

    from reticent.data.microdata import Microdata
    from reticent.data.schema import Kind, Role, Schema, Variable

    frame = pl.DataFrame(firms(), schema=["area", "size", "turnover"], orient="row")
    kinds = [Variable(name, role=Role.KEY) for name in ("area", "size")]
    return Microdata.of(frame, Schema((*kinds, Variable("turnover", kind=Kind.NUMERIC))))


@pytest.mark.parametrize("name", list(TABLE_METHODS))
def test_every_method_of_the_registry_that_draws_says_so(name: str) -> None:
    """A method gives the same with and without a secret, or refuses to run without one."""
    from reticent.data.table import DimensionSpec, TableSpec

    spec = TableSpec((DimensionSpec("area"), DimensionSpec("size")))
    method = TABLE_METHODS[name]()
    options = {"method": method, "accept_exposed": True, "time_limit": 10}
    made = [
        protect_table(records(), spec, secret=hashlib.sha256(bytes([key])).digest(), **options).published[0]  # type: ignore[arg-type]
        for key in range(4)
    ]
    differ = len({tuple(np.nan_to_num(table.values, nan=-1.0).tolist()) for table in made}) > 1
    assert not differ or draws(method), f"{name} draws and does not say so"
    if draws(method):
        with pytest.raises(PlanError, match="needs a secret that is kept"):
            protect_table(records(), spec, **options)  # type: ignore[arg-type]
    else:
        assert secret_for(method, None) is secret_for(method, None)


def test_files_of_numbers_need_a_secret_too(tmp_path: Path) -> None:
    path = tmp_path / "small.jj"
    path.write_text("0\n3\n0 10 10 s 0 99 0 0 0\n1 4 4 u 0 99 1 1 0\n2 6 6 s 0 99 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n")
    for how in (AdjustNumbers(), RoundNumbers(base=5, kind="random")):
        with pytest.raises(PlanError, match="needs a secret that is kept"):
            change_jj(path, how)
    assert "secret" not in inspect.signature(NearestRounding).parameters
    assert not draws(NearestRounding(5.0))


# ------------------------------------------------------------------ a known level


def two_candidates(published: dict[Cell, float]) -> float:
    """The share of unsafe cells whose true value is one of v/1.2 and v/0.8, to somebody who knows the level of 20 %."""
    unsafe = {cell: value for cell, (value, count) in true_values().items() if count < 3}
    hits = [
        min(abs(published[cell] / 1.2 - value), abs(published[cell] / 0.8 - value)) <= 1.0
        for cell, value in unsafe.items()
    ]
    return sum(hits) / len(hits)


def test_a_known_level_leaves_more_than_two_candidates(tmp_path: Path) -> None:
    assert two_candidates(shown(OLD / "adjust.csv")) >= 0.7
    rates = []
    for seed in ("one", "two", "three", "four"):
        result = run_table_plan(write_plan(tmp_path, 'method = "adjust"', table='response = "turnover"', secret=seed))
        assert result.exposed == ()
        rates.append(two_candidates(shown(tmp_path / "table.csv")))
    assert np.mean(rates) < 0.1


def test_candidates_are_as_wide_as_the_two_levels() -> None:
    """Also where a fixed total and a largest change of the other cells reveal more; else the cell is exposed."""
    rng = np.random.default_rng(5)
    for seed in range(10):
        values, relations, _ = with_totals(rng.integers(50, 900, (3, 3)))
        primary = np.zeros(len(values), dtype=bool)
        primary[[0, 5]] = True
        problem = SuppressionProblem.from_values(
            values,
            relations,
            primary=primary,
            lower_protection=0.2 * values,
            upper_protection=0.2 * values,
            upper_bound=1e4,
        )
        secret = secret_for(Adjust(), hashlib.sha256(bytes([seed])).digest())
        outcome = Adjust(fix_total=True).protect(problem, secret=secret, time_limit=10, progress=silent)
        assert outcome.candidates is not None
        found = outcome.candidates
        width = np.maximum(found.below - found.low, 0) + np.maximum(found.high - found.above, 0)
        assert (width[primary] >= 0.4 * values[primary]).all()
        assert attack(problem, outcome, progress=silent).n_exposed == 0
        textbook = adjust(problem, secret=None, fixed=largest_total(problem))
        told = attack(problem, adjusted(problem, textbook, largest_total(problem), None), progress=silent)
        moved = np.abs(np.abs(textbook.values - values) - 0.2 * values) < 1e-6
        assert set(np.flatnonzero(primary & moved)) <= set(told.exposed_cells.tolist()), (
            "by exactly the level, as in 0.1.0"
        )


# ------------------------------------------------------------------ a code that only records have


def proved_codes(path: Path) -> set[str]:
    """Codes that nobody declared, with nothing but zeros: only a record can have brought them into the table."""
    found = shown(path)
    codes = {area for area, _ in found} - {"Total"}
    return {code for code in codes if not any(value for (area, _), value in found.items() if area == code)}


@pytest.mark.parametrize(
    "protect",
    [
        'method = "cell-key"',
        'method = "random-rounding"\nbase = 5',
        'method = "round"\nbase = 5',
        'method = "small-counts"',
    ],
)
@pytest.mark.parametrize("seeds", [4, pytest.param(8, marks=pytest.mark.deep)])
def test_zeros_prove_no_code(protect: str, seeds: int, tmp_path: Path) -> None:
    assert proved_codes(OLD / "rare.csv") == {"rare"}
    gone = 0
    for seed in range(seeds):
        run_table_plan(write_plan(tmp_path, protect, secret=f"rare {seed}", extra=RARE))
        assert proved_codes(tmp_path / "table.csv") == set()
        text = (tmp_path / "table.csv").read_text()
        gone += "rare" not in text
        assert ("rare" in (tmp_path / "table.html").read_text()) == ("rare" in text)
    assert gone > 0


def test_a_declared_code_stays_whatever_its_values(tmp_path: Path) -> None:
    listed = ", ".join(f'"{area}"' for area in [*"abcdefg", "rare", "never"])
    for seed in range(3):
        plan = write_plan(tmp_path, 'method = "cell-key"', secret=f"rare {seed}", extra=RARE)
        schema = (tmp_path / "schema.toml").read_text()
        (tmp_path / "schema.toml").write_text(schema.replace('name = "area"\n', f'name = "area"\ncodes = [{listed}]\n'))
        run_table_plan(plan)
        assert {"rare", "never"} <= {area for area, _ in shown(tmp_path / "table.csv")}


def test_what_stands_above_such_a_code_goes_with_it(tmp_path: Path) -> None:
    """With levels by digits the parent of a code comes from the records as well."""
    seen = set()
    for seed in range(8):
        plan = write_plan(tmp_path, 'method = "cell-key"', secret=f"deep {seed}", extra="f999,zz,s,40\n")
        text = plan.read_text().replace('"area", "size"', '{ variable = "area", digits = [1, 1] }, "size"')
        plan.write_text(text)
        data = (tmp_path / "firms.csv").read_text()
        for area in "abcdefg":
            data = data.replace(f",{area},", f",{area}1,")
        (tmp_path / "firms.csv").write_text(data)
        run_table_plan(plan)
        assert proved_codes(tmp_path / "table.csv") == set()
        seen.add("z," in (tmp_path / "table.csv").read_text())
    assert False in seen


def test_rounding_with_levels_is_judged_by_base_and_step() -> None:
    """0 + 0 = 6 with base 3 leaves 2 + 2 = 4 only: what multiples that stay say is part of the attack."""
    values, relations, _ = with_totals(np.array([[2.0, 2.0]]))
    primary = np.zeros(len(values), dtype=bool)
    primary[0] = True
    problem = SuppressionProblem.from_values(values, relations, primary=primary, integral=True, upper_protection=1.0)
    for seed in range(6):
        secret = secret_for(Round(), hashlib.sha256(bytes([seed])).digest())
        outcome = Round(base=3, steps=1).protect(problem, secret=secret, time_limit=10, progress=silent)
        found = attack(problem, outcome, progress=silent)
        assert outcome.values is not None
        assert found.low[0] <= 2 <= found.high[0]
        if outcome.values.tolist()[:3] == [0.0, 0.0, 6.0]:
            assert found.n_exposed
