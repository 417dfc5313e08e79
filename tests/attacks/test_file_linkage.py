"""Attacks on a released file by one who has a register with the true values: incomes, weights, household ids, order.

Fixtures: `people.csv` are the first 1,000 records of the demonstration file; `people.safe.csv` and `people.public.html` are
what version 0.1.0 wrote for them with its demonstration plan (recoding, top coding of income at the 99th percentile, local
suppression), records in the order of the source. The attacks read CSV files and nothing else.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent
from reticent.base.errors import NotProtectedError
from reticent.jobs.protect_file import run_file_plan
from reticent.microdata.result import ProtectedFile

FIXTURES = Path(__file__).parent / "fixtures" / "v010" / "files"
PLAN = Path(reticent.__file__).parent / "demo_data" / "people.plan.toml"


def linked_back(released: pl.DataFrame, register: pl.DataFrame, names: list[str], *, turned: bool = False) -> float:
    """Share of records whose nearest partner is their own and nobody else's; row i of both files is the same person."""
    known = [name for name in names if name in released.columns]
    if not known:
        return 0.0
    distance = np.zeros((released.height, register.height))
    for name in known:
        shown, true = (frame[name].cast(pl.Float64, strict=False).to_numpy() for frame in (released, register))
        gap = (shown[:, None] - true[None, :]) / np.nanstd(true)
        distance += np.nan_to_num(gap, nan=0.0) ** 2
    if turned:
        distance = distance.T
    nearest = distance.min(axis=1)
    alone = (distance <= nearest[:, None] * (1 + 1e-9)).sum(axis=1) == 1
    return float((alone & (distance.argmin(axis=1) == np.arange(len(distance)))).mean())


def rows_that_fit(released: pl.DataFrame, register: pl.DataFrame) -> float:
    """Share of rows i of the release that fit row i of the register on sex and household-free keys: what order reveals."""
    fits = (released["sex"].cast(str) == register["sex"].cast(str)).fill_null(True)
    fits &= (released["region"].cast(str).str.slice(0, 1) == register["region"].str.slice(0, 1)).fill_null(True)
    return float(fits.mean())


def households_found(released: pl.DataFrame, register: pl.DataFrame) -> float:
    """Share of records whose published household number is that of a register household in their region and of their sex."""
    if "household" not in released.columns:
        return 0.0
    lived = {
        (str(home), region[:1], sex) for home, region, sex in register.select("household", "region", "sex").iter_rows()
    }
    rows = released.select("household", "region", "sex").iter_rows()
    return float(np.mean([(str(home).lstrip("0"), region, sex) in lived for home, region, sex in rows]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("people.csv", "people.schema.toml"):
        shutil.copy(FIXTURES / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the plan of today writes, for those who only look at it."""
    made = tmp_path_factory.mktemp("plain")
    for name in ("people.csv", "people.schema.toml"):
        shutil.copy(FIXTURES / name, made / name)
    released_today(made)
    return made


def run_today(folder: Path, *changes: tuple[str, str]) -> ProtectedFile:
    """The demonstration plan of today; a file of 1,000 needs a larger k than one of 3,522."""
    text = PLAN.read_text(encoding="utf-8").replace("k = 3", "k = 6")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return run_file_plan(folder / "plan.toml")


def released_today(folder: Path, *changes: tuple[str, str]) -> pl.DataFrame:
    """What it writes."""
    run_today(folder, *changes)
    return pl.read_csv(folder / "people.safe.csv")


def test_incomes_and_weights_lead_back_to_nobody(folder: Path) -> None:
    register = pl.read_csv(FIXTURES / "people.csv")
    old, names = pl.read_csv(FIXTURES / "people.safe.csv"), ["income", "weight"]
    # row i is person i, which a release does not grant: the order is kept so that the attack can be marked
    today = released_today(folder, ("[output]", "[output]\nkeep_order = true"))
    for turned in (False, True):
        assert linked_back(old, register, names, turned=turned) > 0.98
        assert linked_back(today, register, names, turned=turned) <= 0.05
        assert linked_back(today, register, ["income"], turned=turned) <= 0.05


def test_the_order_of_the_records_says_nothing(plain: Path) -> None:
    register = pl.read_csv(FIXTURES / "people.csv")
    assert rows_that_fit(pl.read_csv(FIXTURES / "people.safe.csv"), register) == 1.0
    today = pl.read_csv(plain / "people.safe.csv")
    by_chance = rows_that_fit(today.sample(fraction=1.0, shuffle=True, seed=1), register)
    assert abs(rows_that_fit(today, register) - by_chance) < 0.06


def test_household_numbers_are_not_those_of_the_source(folder: Path) -> None:
    register = pl.read_csv(FIXTURES / "people.csv")
    old = households_found(pl.read_csv(FIXTURES / "people.safe.csv"), register)
    assert old > 0.9
    kept = ('variables = ["person", "household"]', 'variables = ["person"]')
    run = run_today(folder, kept, ("[risk]", '[risk]\naccept_risk = "the attack needs a file to attack"'))
    with pytest.raises(NotProtectedError, match="households is not held"):
        replace(run.verdict, accepted="").require()
    assert households_found(pl.read_csv(folder / "people.safe.csv"), register) < 0.5


def test_the_plan_of_version_0_1_0_is_refused(folder: Path) -> None:
    steps = PLAN.read_text(encoding="utf-8")
    old = steps[: steps.index("[[step]]")] + (
        '[[step]]\nmethod = "recode"\nvariable = "age"\nbands = [16, 25, 35, 45, 55, 65, 75]\n'
        '[[step]]\nmethod = "recode"\nvariable = "occupation"\nlevel = 1\n'
        '[[step]]\nmethod = "recode"\nvariable = "region"\nlevel = 1\n'
        '[[step]]\nmethod = "local-suppression"\ncombinations = { dimension = 3, threshold = 1 }\n'
        '[output]\npath = "people.safe.csv"\nreport = "report.html"\n'
    )
    (folder / "plan.toml").write_text(old, encoding="utf-8")
    with pytest.raises(NotProtectedError, match="linkage is not held: 100.00%"):
        run_file_plan(folder / "plan.toml")
    assert not (folder / "people.safe.csv").exists()
    assert not (folder / "report.html").exists()


def test_the_public_page_claims_nothing_absolute(plain: Path) -> None:
    assert "cannot be recognised" in (FIXTURES / "people.public.html").read_text(encoding="utf-8")
    page = (plain / "people.public.html").read_text(encoding="utf-8")
    assert "cannot be recognised" not in page
    assert "No file of single records can rule that out" in page
