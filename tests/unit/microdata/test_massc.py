"""MASSC: strata, substitution, subsample and calibration, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.perturb_files import file_of, run
from reticent.base.errors import DataError, InfeasibleError, ParameterError
from reticent.data.schema import Role
from reticent.microdata.mask.massc import Massc, fixed_share
from reticent.microdata.perturb.calibration import calibrate


def survey(n: int = 1500, seed: int = 0, *, households: bool = False):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(0, 40, n).astype(str),
        "region": rng.integers(0, 9, n).astype(str),
        "sex": rng.integers(0, 2, n).astype(str),
        "income": rng.exponential(size=n),
        "w": rng.uniform(5, 15, n),
    }
    roles = {"w": Role.WEIGHT}
    if households:
        columns["hh"] = (np.arange(n) // 3).astype(str)
        roles["hh"] = Role.HOUSEHOLD_ID
    return file_of(columns, roles=roles)


@pytest.mark.parametrize("households", [False, True])
def test_massc_keeps_totals_and_its_rates(households) -> None:
    data = survey(households=households)
    method = Massc(("age", "region", "sex"), limits=(1, 3), calibrate=("sex", "region", "income"))
    applied = run(method, data)
    strata, substituted = applied.facts["strata"], applied.facts["substituted"]
    assert sum(strata) == 1500
    assert substituted == [round(s * r / 100) for s, r in zip(strata, method.substitute)]
    assert applied.data.n_records == applied.facts["kept_records"] < 1500
    weights = applied.data.weights()
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(data.weights().sum(), rel=1e-8)
    assert weights @ applied.data.numbers(("income",))[:, 0] == pytest.approx(
        data.weights() @ data.numbers(("income",))[:, 0]
    )
    if households:
        sizes = np.bincount(np.unique(applied.data.household(), return_inverse=True)[1])
        assert (sizes == 3).all()


def test_substitution_takes_whole_combinations_that_exist() -> None:
    data = survey()
    applied = run(Massc(("age", "region"), substitute=(100.0, 100.0, 100.0), sample=(100.0, 100.0, 100.0)), data)
    seen = set(map(tuple, data.codes(("age", "region")).tolist()))
    after = applied.data.codes(("age", "region"))
    assert set(map(tuple, after.tolist())) <= seen
    assert (after != data.codes(("age", "region"))).any(axis=1).all()
    assert np.array_equal(applied.data.numbers(("w",)), data.numbers(("w",)))


def test_identity_parameters_change_nothing() -> None:
    data = survey(300)
    applied = run(
        Massc(("age", "region"), substitute=(0.0, 0.0, 0.0), sample=(100.0, 100.0, 100.0), calibrate=("sex",)), data
    )
    assert np.array_equal(applied.data.codes(("age", "region")), data.codes(("age", "region")))
    assert applied.data.weights() == pytest.approx(data.weights())


def test_every_unit_is_equally_likely() -> None:
    stratum = np.repeat([0, 1], [10, 30])
    rng = np.random.default_rng(0)
    hits = sum(fixed_share(stratum, (50.0, 20.0), rng.random(40)).astype(int) for _ in range(3000))
    assert np.abs(hits[:10] / 3000 - 0.5).max() < 0.04
    assert np.abs(hits[10:] / 3000 - 0.2).max() < 0.035


@given(seed=st.integers(0, 10_000), p=st.integers(1, 4))
def test_calibration_hits_totals_that_positive_weights_have(seed, p) -> None:
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(60), rng.normal(size=(60, p))])
    totals = rng.uniform(0.5, 2, 60) @ design
    weights = calibrate(np.ones(60), design, totals, owner="test")
    assert (weights > 0).all()
    assert weights @ design == pytest.approx(totals, rel=1e-6, abs=1e-6)


def test_impossible_totals_are_refused() -> None:
    with pytest.raises(InfeasibleError, match="no positive weights"):
        calibrate(np.ones(5), np.ones((5, 1)), np.array([-3.0]), owner="massc")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"limits": (3, 2)}, "increase"),
        ({"limits": (0, 2)}, "increase"),
        ({"substitute": (10.0,)}, "needs 3 rates"),
        ({"sample": (10.0, 20.0, 120.0)}, "between 0 and 100"),
        ({"sample": (0.0, 0.0, 0.0)}, "keeps nobody"),
    ],
)
def test_bad_rates_are_refused(options, message) -> None:
    with pytest.raises(ParameterError, match=message):
        Massc(("age",), **options)


def test_data_without_weight_or_variation_are_refused() -> None:
    with pytest.raises(DataError, match="needs a weight"):
        run(Massc(("a",)), file_of({"a": np.array(["x", "y"])}))
    with pytest.raises(DataError, match="same keys"):
        run(Massc(("a",)), file_of({"a": np.array(["x", "x"]), "w": np.ones(2)}, roles={"w": Role.WEIGHT}))
