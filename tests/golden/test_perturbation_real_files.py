"""The peers' property tests of perturbation (microdata-peers, end of section 3) on their own files."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reference.perturb_files import run
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.multiplicative import MultiplicativeNoise
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.shuffle import Shuffle
from reticent.microdata.mask.synthesize import Synthesize


def load(
    path: Path, *, numeric: tuple[str, ...], roles: dict[str, Role] | None = None, drop: tuple[str, ...] = ()
) -> Microdata:
    frame = pl.read_csv(path, infer_schema_length=None, null_values=["", "NA"]).drop(list(drop))
    roles = roles or {}
    return Microdata.of(frame, Schema(tuple(
        Variable(name, kind=Kind.NUMERIC if name in numeric else Kind.NOMINAL, role=roles.get(name, Role.OTHER))
        for name in frame.columns
    )))  # fmt: skip


@pytest.fixture
def census(shared_data):
    frame = pl.read_csv(shared_data / "microdata" / "CASCrefmicrodata.csv")
    return load(shared_data / "microdata" / "CASCrefmicrodata.csv", numeric=tuple(frame.columns))


@pytest.fixture
def survey(shared_data):
    return load(
        shared_data / "microdata" / "testdata.csv", numeric=("age", "expend", "income", "savings", "sampling_weight"),
        roles={"sampling_weight": Role.WEIGHT, "ori_hid": Role.HOUSEHOLD_ID}, drop=("household_weights",),
    )  # fmt: skip


def test_noise_ratios_on_census(census) -> None:
    """Additive noise: variance ratio 1 + (noise/100)²; correlated noise: covariance ratio 1 + k."""
    names = census.schema.names
    before = census.numbers(names)
    additive = np.mean([run(Noise(names, k=0.5**2, kind="uncorrelated"), census, secret=s).data.numbers(names).var(axis=0)
                        for s in range(12)], axis=0)  # fmt: skip
    assert additive / before.var(axis=0) == pytest.approx(1.25, abs=0.06)
    correlated = np.mean([np.cov(run(Noise(names, k=0.3, kind="correlated"), census, secret=s).data.numbers(names).T)
                          for s in range(12)], axis=0)  # fmt: skip
    deviation = before.std(axis=0)
    assert (correlated - 1.3 * np.cov(before.T)) / np.outer(deviation, deviation) == pytest.approx(0.0, abs=0.09)
    exact = run(Noise(names, k=0.3, exact=True), census).data.numbers(names)
    assert np.corrcoef(exact.T) == pytest.approx(np.corrcoef(before.T), abs=1e-8)


def test_shuffling_and_rank_swapping_census(census) -> None:
    """Every marginal is exact (promised, and checked by `run`), rank correlations survive shuffling."""
    names = census.schema.names
    run(RankSwap(names, window=15.0), census)
    shuffled = run(Shuffle(names[:4], predictors=names[4:]), census).data.numbers(names)
    before = np.corrcoef(np.argsort(np.argsort(census.numbers(names), axis=0), axis=0).T)
    after = np.corrcoef(np.argsort(np.argsort(shuffled, axis=0), axis=0).T)
    assert np.abs(after - before).max() < 0.15


def test_multiplicative_noise_takes_a_file_of_both_signs(shared_data) -> None:
    path = shared_data / "microdata" / "Tarragona.csv"
    names = tuple(pl.read_csv(path).columns)
    data = load(path, numeric=names)
    masked = run(MultiplicativeNoise(names, nearest_psd=True), data).data.numbers(names)
    before = data.numbers(names)
    assert masked.mean(axis=0) == pytest.approx(before.mean(axis=0), abs=0.25 * before.std(axis=0).max())
    assert (masked[:, before.min(axis=0) >= 0] >= 0).all()


def test_pram_of_the_survey_is_invariant_within_strata(survey) -> None:
    applied = run(Pram(("roof", "walls", "water"), keep=0.7, strata=("urbrur",)), survey)
    assert all(count > 0 for count in applied.changed.values())
    for entry in applied.facts["matrices"]:
        inside = survey.encoded("urbrur").codes == survey.categories("urbrur").index(entry["stratum"][0])
        codes = survey.encoded(entry["variable"]).codes[inside]
        shares = np.bincount(codes[codes >= 0], minlength=len(entry["codes"])) / (codes >= 0).sum()
        assert np.abs(shares @ np.array(entry["matrix"]) - shares).max() < 1e-12
        assert entry["smallest_diagonal"] >= 0.7 - 1e-12


def test_households_of_eusilc_are_swapped_whole(shared_data) -> None:
    income = ("netIncome", "py010n", "py050n", "py090n", "py100n", "py110n", "py120n", "py130n", "py140n")
    data = load(shared_data / "microdata" / "simPop_eusilcS.csv", numeric=("age", *income, "db090", "rb050"),
                roles={"db030": Role.HOUSEHOLD_ID, "rb050": Role.WEIGHT}, drop=("db090",))  # fmt: skip
    method = RecordSwap(("db040",), (("hsize",),), keys=("age", "rb090", "pb220a"), k=3, rate=5.0)
    applied = run(method, data)
    assert applied.facts["swapped"] >= 0.05 * applied.facts["households"] - 1
    persons = [np.bincount(d.encoded("db040").codes) for d in (data, applied.data)]
    assert np.array_equal(*persons)


def test_synthesis_of_a_file_with_missing_values(shared_data) -> None:
    numeric = ("age", "income", "nofriend", "height", "weight", "bmi")
    path = shared_data / "microdata" / "synthpop_SD2011.csv"
    keep = ("sex", "age", "edu", "marital", "income", "ls", "height", "weight", "nofriend")
    frame = pl.read_csv(path, infer_schema_length=None, null_values=["", "NA"])
    data = load(path, numeric=numeric, drop=tuple(name for name in frame.columns if name not in keep))
    synthetic = run(Synthesize(keep, rules=("marital == 'SINGLE' or age >= 16",)), data).data
    for name in keep:
        assert synthetic.missing(name).mean() == pytest.approx(data.missing(name).mean(), abs=0.03)
    for name in ("income", "height", "age"):
        old, new = (np.nanmean(d.numbers((name,))) for d in (data, synthetic))
        assert new == pytest.approx(old, rel=0.04)


def test_massc_of_the_survey_keeps_totals(survey) -> None:
    applied = run(Massc(("relat", "sex", "age"), calibrate=("sex", "urbrur", "income")), survey)
    assert 0.6 * survey.n_records < applied.data.n_records < survey.n_records
