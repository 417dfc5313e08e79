"""The generalize step: plan in, safe file out, proof and facts; wrong demands in one sentence."""

import numpy as np
import polars as pl
import pytest

from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.hierarchy import Hierarchy
from reticent.data.microdata import Microdata
from reticent.data.parameters import build
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask import METHODS
from reticent.microdata.mask.generalize import Generalize

REGIONS = Hierarchy.from_children({"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1", "S2"]})
AGES = Hierarchy.from_paths([["0-49" if a < 50 else "50+", f"{a // 10}x", str(a)] for a in range(20, 80)])


def file(n: int = 300, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2"], n),
            "age": rng.integers(20, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "illness": rng.choice(list("abcdef"), n),
            "w": rng.uniform(1, 50, n),
        }
    )
    schema = Schema(
        (
            Variable("region", role=Role.KEY, hierarchy=REGIONS),
            Variable("age", role=Role.KEY, kind=Kind.NUMERIC, hierarchy=AGES),
            Variable("sex", role=Role.KEY),
            Variable("illness", role=Role.SENSITIVE),
            Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
        )
    )
    return Microdata.of(frame, schema)


def run(step: Generalize, data: Microdata | None = None):  # type: ignore[no-untyped-def]
    data = data or file()
    applied = step.apply(data, secret=as_secret(1), progress=silent)
    assert [promise.broken(data, applied.data) for promise in step.promises()] == [0]
    return applied


def test_plan_step() -> None:
    options = {"k": 5, "importance": {"age": 3.0}, "time-limit": 10.0}
    applied = run(build(METHODS["generalize"], options, owner="plan"))
    assert applied.facts["optimal"]
    assert applied.facts["suppressed"] == 0
    assert applied.data.patterns(("region", "age", "sex")).counts.min() >= 5
    assert set(applied.facts["levels"]) == {"region", "age", "sex"}


def test_suppression_keeps_finer_codes() -> None:
    none, some = run(Generalize(k=3)), run(Generalize(k=3, suppression=0.1))
    assert some.facts["loss"] < none.facts["loss"]
    gone = np.array([text is None for text in some.data.texts("region")])
    assert gone.sum() == some.facts["suppressed"] <= 30


@pytest.mark.parametrize(
    "step",
    [
        Generalize(k=2, l=3.0, sensitive=("illness",)),
        Generalize(k=2, l=3.0, diversity="entropy", sensitive=("illness",), suppression=0.05),
        Generalize(k=2, l=2.0, diversity="recursive", sensitive=("illness",)),
        Generalize(k=2, t=0.3, sensitive=("illness",)),
        Generalize(k=2, risk=0.02),
        Generalize(k=2, population_k=200.0),
        Generalize(k=4, loss="discernibility"),
        Generalize(k=4, valuation={"region": (0.0, 5.0, 9.0)}, loss="precision"),
    ],
    ids=lambda step: f"{step.loss}-{step.l}-{step.t}-{step.risk}",
)
def test_every_model_is_met_by_the_output(step: Generalize) -> None:
    assert run(step).facts["optimal"]


def test_local_recoding_loses_less() -> None:
    whole, local = run(Generalize(k=5)), run(Generalize(k=5, local=True))
    assert local.facts["loss"] < whole.facts["loss"]
    assert local.facts["codings"] > 1


def test_valuation_decides() -> None:
    """The same file, once with region precious, once with age precious."""
    region = run(Generalize(k=5, importance={"region": 100.0})).facts["levels"]
    age = run(Generalize(k=5, importance={"age": 100.0})).facts["levels"]
    assert region["region"] <= age["region"]
    assert age["age"] <= region["age"]
    assert region != age


def households(n: int = 300) -> Microdata:
    rng = np.random.default_rng(3)
    house = np.arange(n) // 3
    frame = pl.DataFrame(
        {"house": house, "region": rng.choice(["N1", "N2", "S1", "S2"], n)[house * 3], "age": rng.integers(20, 80, n)}
    )
    variables = (
        Variable("house", role=Role.HOUSEHOLD_ID),
        Variable("region", role=Role.KEY, hierarchy=REGIONS, household=True),
        Variable("age", role=Role.KEY, kind=Kind.NUMERIC, hierarchy=AGES),
    )
    return Microdata.of(frame, Schema(variables))


def test_household_variables_stay_equal_within_households() -> None:
    """A suppressed record takes its household along; otherwise another member would give its region away."""
    data = households()
    applied = run(Generalize(k=3, suppression=0.4), data)
    assert applied.facts["suppressed"] > 0
    assert len({*zip(applied.data.texts("house"), applied.data.texts("region"))}) == 100
    with pytest.raises(InfeasibleError, match="with whole households"):
        run(Generalize(k=3, suppression=0.07), data)
    with pytest.raises(DataError, match="local = true could give members"):
        run(Generalize(k=3, local=True), data)


def test_wrong_demands() -> None:
    schema = file().schema
    with pytest.raises(InfeasibleError, match="the coarsest leaves 300 of 300 records unsafe"):
        run(Generalize(k=301))
    with pytest.raises(ParameterError, match="need sensitive variables"):
        Generalize(l=2.0)
    with pytest.raises(DataError, match="key and a sensitive variable at once"):
        Generalize(keys=("sex",), sensitive=("sex",), l=2.0).check(schema)
    with pytest.raises(DataError, match="'job', which is not one of the keys"):
        Generalize(importance={"job": 1.0}).check(schema)
    with pytest.raises(DataError, match="needs 3 rising costs"):
        run(Generalize(valuation={"region": (0.0, 1.0)}))
    bad = Microdata.of(
        pl.DataFrame({"region": ["N1", "X"]}), Schema((Variable("region", role=Role.KEY, hierarchy=REGIONS),))
    )
    with pytest.raises(DataError, match="does not cover 1 of its 2 codes"):
        run(Generalize(k=1), bad)
