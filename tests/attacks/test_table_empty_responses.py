"""Empty cells that are hidden, in tables of several responses: what one tells says who is in the hidden cells of another."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import PlanError
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table, run_table_plans
from reticent.tables.rules import PPercent, Threshold
from reticent.tables.suppression.optimal import Optimal
from samples import numbers

CODES = ("r0", "r1", "r2"), ("c0", "c1", "c2")
SCHEMA = Schema(
    (
        Variable("a", role=Role.KEY, codes=CODES[0]),
        Variable("b", role=Role.KEY, codes=CODES[1]),
        Variable("firm", role=Role.IDENTIFIER),
        Variable("v", kind=Kind.NUMERIC),
        Variable("w", kind=Kind.NUMERIC),
    )
)
BY = (DimensionSpec("a"), DimensionSpec("b"))


def drawn(seed: int) -> pl.DataFrame:
    """Firms in three by three cells, some of them empty, with two numbers that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    cells = [(a, b) for a in CODES[0] for b in CODES[1] for _ in range(int(rng.choice([0, 0, 1, 2, 3, 5, 8])))]
    numbers = {name: [int(x) + 1 for x in rng.lognormal(4, 1.5, len(cells))] for name in "vw"}
    codes = {"a": [a for a, _ in cells], "b": [b for _, b in cells]}
    return pl.DataFrame({**codes, "firm": [f"f{at}" for at in range(len(cells))], **numbers})


def test_counts_beside_sums_do_not_hide_empty_cells() -> None:
    tables = [TableSpec(BY, response="v"), TableSpec(BY)]
    with pytest.raises(PlanError, match="hide_empty: counts beside another response"):
        protect_table(Microdata.of(drawn(1), SCHEMA), tables, rules=[Threshold(3, protection=20)], hide_empty=True)


@pytest.mark.parametrize("seed", numbers(1, 12))
def test_sums_hide_the_same_cells(seed: int) -> None:
    tables = [TableSpec(BY, response=name) for name in "vw"]
    found = protect_table(
        Microdata.of(drawn(seed), SCHEMA),
        tables,
        rules=[PPercent(15)],
        method=Optimal(),
        hide_empty=True,
        time_limit=60,
    )
    assert found.state == "held"
    one, other = found.published
    assert one.codes == other.codes
    assert [state == "hidden" for state in one.status] == [state == "hidden" for state in other.status]
    assert one.hides_empty
    assert other.hides_empty


@pytest.mark.parametrize("responses", ['["v", "w"]', '["v", "count"]'])
def test_a_plan_does_the_same(tmp_path: Path, responses: str) -> None:
    drawn(3).write_csv(tmp_path / "data.csv")
    kinds = {"a": 'role = "key"', "b": 'role = "key"', "firm": 'role = "identifier"'}
    kinds |= dict.fromkeys("vw", 'kind = "numeric"')
    schema = "".join(f'[[variable]]\nname = "{name}"\n{kind}\n' for name, kind in kinds.items())
    (tmp_path / "schema.toml").write_text(schema)
    (tmp_path / "plan.toml").write_text(
        '[data]\npath = "data.csv"\nschema = "schema.toml"\n[table]\ndimensions = ["a", "b"]\n'
        f'responses = {responses}\nrules = [{{ rule = "p-percent", p = 15 }}]\n'
        '[protect]\nmethod = "optimal"\nhide_empty = true\n[output]\npath = "table.csv"\n'
    )
    if "count" in responses:
        with pytest.raises(PlanError, match="hide_empty: counts beside another response"):
            run_table_plans(tmp_path / "plan.toml")
        assert not list(tmp_path.glob("table*"))
        return
    one, other = (result.published[0] for result in run_table_plans(tmp_path / "plan.toml"))
    assert [state == "hidden" for state in one.status] == [state == "hidden" for state in other.status]
