"""Random rounding in plans: the same cell is rounded alike in every table and every run with the same secret."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import NotProtectedError, ParameterError, PlanError
from reticent.data.microdata import Microdata
from reticent.data.published_table import PublishedTable
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table, run_table_plan
from reticent.report.table_report import public_table_report
from reticent.tables.methods import RandomRounding
from reticent.tables.result import ProtectedTable
from reticent.tables.rules import Threshold
from reticent.tabulation.tabulate import tabulate

RNG = np.random.default_rng(11)
N = 400
FRAME = pl.DataFrame({
    "id": [f"p{i}" for i in range(N)], "sex": RNG.choice(["f", "m"], N), "age": RNG.choice(["1", "2", "3"], N),
    "town": RNG.choice(["a", "b", "c", "d", "e"], N), "pay": RNG.integers(0, 400, N), "key": np.round(RNG.random(N), 8),
})  # fmt: skip
SCHEMA = Schema((
    Variable("id", role=Role.IDENTIFIER), Variable("sex", codes=("f", "m")), Variable("age", codes=("1", "2", "3")),
    Variable("town", codes=("a", "b", "c", "d", "e")), Variable("pay", role=Role.SENSITIVE, kind=Kind.NUMERIC),
    Variable("key", kind=Kind.NUMERIC, decimals=8),
))  # fmt: skip
DATA = Microdata.of(FRAME, SCHEMA)
Cells = dict[frozenset[tuple[str, str]], float]


def spec(*names: str, response: str | None = None) -> TableSpec:
    return TableSpec(tuple(DimensionSpec(name) for name in names), response=response)


def cells(table: PublishedTable) -> Cells:
    """Values by codes; a total is left out, so that cells of different tables can be compared."""
    return {
        frozenset((name, code) for name, code in zip(table.dimensions, codes, strict=True) if code != "Total"): value
        for codes, value in zip(table.codes, table.values.tolist(), strict=True)
    }


def rounded(*names: str, data: Microdata = DATA, secret: int = 5, base: float = 5, key: str = "") -> ProtectedTable:
    return protect_table(
        data, spec(*names), method=RandomRounding(base=base, record_key=key), secret=secret, test_secret=True
    )


@pytest.mark.parametrize("key", ["", "key"])
def test_a_cell_is_rounded_alike_in_every_table_and_run(key: str) -> None:
    wide = cells(rounded("age", "town", "sex", key=key).published[0])
    other = cells(rounded("sex", "town", key=key).published[0])
    common = wide.keys() & other.keys()
    assert len(common) == 18
    assert all(wide[cell] == other[cell] for cell in common)
    mixed = DATA.rows(np.random.default_rng(1).permutation(N))
    assert cells(rounded("town", "sex", data=mixed, key=key).published[0]) == other
    assert cells(rounded("sex", "town", key=key, secret=6).published[0]) != other


def test_records_that_change_change_the_draw() -> None:
    """The draw belongs to the records, not to the codes: with one record less the grand total is drawn again."""
    before = [cells(rounded("town", secret=s, base=1000).published[0])[frozenset()] for s in range(20)]
    without = DATA.rows(np.arange(1, N))
    after = [cells(rounded("town", secret=s, base=1000, data=without).published[0])[frozenset()] for s in range(20)]
    assert before != after


@pytest.mark.slow
@pytest.mark.parametrize("draws", [30, pytest.param(60, marks=pytest.mark.deep)])
def test_rounding_is_unbiased_and_never_a_base_away(draws: int) -> None:
    true = rounded("age", "town").table.values
    found = np.array([rounded("age", "town", secret=s, base=10).outcome.values for s in range(draws)])
    assert set(np.unique(found % 10)) == {0.0}
    assert np.abs(found - true).max() < 10
    error = found.mean(axis=0) - true
    assert np.abs(error).max() < 4.5 * 5 / np.sqrt(draws)  # the standard deviation of one draw is at most base / 2


def test_finished_tables_are_keyed_by_their_codes() -> None:
    method = RandomRounding(base=7)
    wide = protect_table(
        tabulate(DATA, spec("age", "town", "sex")), method=method, secret=5, test_secret=True
    ).published[0]
    other = protect_table(tabulate(DATA, spec("sex", "age")), method=method, secret=5, test_secret=True).published[0]
    assert wide.method == "random-rounding"
    assert all(cells(wide)[cell] == value for cell, value in cells(other).items())


def test_responses_have_draws_of_their_own() -> None:
    method = RandomRounding(base=10)
    doubled = Microdata.of(FRAME.with_columns(twice=pl.col("pay")), Schema((
        *SCHEMA.variables, Variable("twice", kind=Kind.NUMERIC),
    )))  # fmt: skip
    one, other = (
        protect_table(doubled, spec("age", "town", response=name), method=method, secret=5, test_secret=True)
        for name in ("pay", "twice")
    )
    assert one.table.values.tolist() == other.table.values.tolist()
    assert one.published[0].values.tolist() != other.published[0].values.tolist()


def test_the_result_is_attacked() -> None:
    """With base 2 an odd count between even ones is found where the margins leave one solution."""
    rules = [Threshold(minimum=40)]
    found = [
        protect_table(
            DATA,
            spec("age", "sex"),
            rules=rules,
            method=RandomRounding(base=2),
            secret=s,
            test_secret=True,
            accept_exposed=True,
        )
        for s in range(8)
    ]
    for result in found:
        assert ((result.audit.low <= result.table.values) & (result.table.values <= result.audit.high)).all()
        assert any("do not add up" in note for note in result.notes)
    sums = {"rules": [Threshold(minimum=40)], "method": RandomRounding(base=2), "secret": 5, "test_secret": True}
    with pytest.raises(NotProtectedError):
        protect_table(DATA, spec("age", "town", response="pay"), **sums)  # type: ignore[arg-type]


def test_a_secret_and_a_fitting_base_are_needed() -> None:
    with pytest.raises(PlanError, match="needs a secret that is kept"):
        protect_table(DATA, spec("age"), method=RandomRounding())
    with pytest.raises(ParameterError, match="base must be a multiple of the values' step 1, got 2.5"):
        rounded("age", base=2.5)


def test_a_plan(tmp_path: Path) -> None:
    FRAME.drop("pay", "key").write_csv(tmp_path / "d.csv")
    names = "".join(f'[[variable]]\nname = "{name}"\n' for name in ("sex", "age", "town"))
    (tmp_path / "s.toml").write_text(names + '[[variable]]\nname = "id"\nrole = "identifier"\n')
    plan = tmp_path / "plan.toml"
    text = (
        '[data]\npath = "d.csv"\nschema = "s.toml"\nsecret = 5\ntest_secret = true\n[[table]]\ndimensions = ["sex", "town"]\n'
        '[[table]]\ndimensions = ["age", "town"]\n[protect]\nmethod = "random-rounding"\nbase = 5\n[output]\npath = "out.csv"\n'
    )
    plan.write_text(text)
    first, second = (cells(table) for table in run_table_plan(plan).published)
    assert all(first[cell] == second[cell] for cell in first.keys() & second.keys())
    assert all(value % 5 == 0 for value in (first | second).values())
    plan.write_text(text.replace("secret = 5\n", ""))
    with pytest.raises(PlanError, match="under \\[data\\]"):
        run_table_plan(plan)


def test_the_public_report_does_not_say_that_totals_add_up() -> None:
    assert "totals need not add up" in public_table_report(rounded("sex", "age").published[0])
