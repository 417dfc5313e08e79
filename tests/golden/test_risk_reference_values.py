"""Reference values of peers for risk models, on their own data."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.risk.file_models import risk_models, uniqueness_of_files
from reticent.microdata.risk.individual import individual_risk, record_risk

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


def survey(path: Path) -> Microdata:
    frame = pl.read_csv(path).select([*KEYS, "sampling_weight", "ori_hid"])
    variables = (
        *(Variable(key, role=Role.KEY) for key in KEYS),
        Variable("sampling_weight", role=Role.WEIGHT, kind=Kind.NUMERIC),
        Variable("ori_hid", role=Role.HOUSEHOLD_ID),
    )
    return Microdata.of(frame, Schema(variables))


def test_testdata2(shared_data: Path) -> None:
    """Row 34: sdcMicro's measure_risk on testdata2, 7 keys, weighted: 4.326069 expected re-identifications.

    Most of the file is unique on these keys; there the default formula of sdcMicro is exact.
    """
    data = survey(shared_data / "microdata" / "testdata2.csv")
    patterns = data.patterns(KEYS)
    peer = individual_risk(patterns.group, data.weights(), model="sdcmicro-approx")
    ours = individual_risk(patterns.group, data.weights())
    assert peer.expected_reidentifications == pytest.approx(4.326069, abs=5e-4)
    assert ours.expected_reidentifications == pytest.approx(4.326069, rel=2e-3)


def test_adult_prosecutor_risk(shared_data: Path) -> None:
    """Row 53: ARX on Adult, nine keys: average risk .64657…, 51.4 % unique, 19,502 groups, 2,098 pairs."""
    frame = pl.read_csv(shared_data / "microdata" / "adult" / "adult.csv", separator=";")
    data = Microdata.of(frame, Schema(tuple(Variable(name, role=Role.KEY) for name in frame.columns)))
    patterns = data.patterns(data.schema.keys)
    assert individual_risk(patterns.group).file_risk == pytest.approx(0.6465751607983555, rel=1e-14)
    assert len(patterns) == 19_502
    assert (patterns.counts == 1).sum() / data.n_records == pytest.approx(0.5142895033485844, rel=1e-14)
    assert (patterns.counts == 2).sum() == 2_098


def test_calc_risks_without_weights() -> None:
    """Row 66: counts 2,1,2,1,1,2,1,2,1,1 in a census: global risk .8, expected 8."""
    counts = [2, 1, 2, 1, 1, 2, 1, 2, 1, 1]
    risk = record_risk(counts, counts)
    assert risk.sum() == pytest.approx(8.0)
    assert risk.mean() == pytest.approx(0.8)


def test_all_models_on_a_survey(shared_data: Path) -> None:
    """testdata: 4,580 records, 7 keys, weights, households; every model has its row."""
    data = survey(shared_data / "microdata" / "testdata.csv")
    result = risk_models(data, secret=as_secret(1))
    rows = {(row["model"], row["quantity"]): row["value"] for row in result.rows()}
    assert rows["negative binomial", "expected matches"] == pytest.approx(result.individual.risk.sum())
    assert result.log_linear is not None
    assert 0 < result.log_linear.model.tau1 <= result.log_linear.model.tau2 <= result.log_linear.sample_uniques
    assert result.population is not None
    assert len(result.population.rows()) == 4
    assert result.households is not None
    assert result.households.expected_households <= result.individual.expected_reidentifications
    assert 0 < rows["Skinner and Elliot", "share of unique matches that are correct"] < 1
    assert set(result.summary()) == {"keys", "individual", "households", "population", "log_linear"}


def test_uniqueness_with_the_population_file(shared_data: Path) -> None:
    population = survey(shared_data / "microdata" / "testdata.csv")
    sample = population.rows(np.arange(0, population.n_records, 5))
    result = uniqueness_of_files(sample, population)
    texts = list(zip(*(population.texts(key) for key in KEYS)))
    drawn = list(zip(*(sample.texts(key) for key in KEYS)))
    unique = [row for row in drawn if drawn.count(row) == 1]
    assert result.sample_uniques == len(unique)
    assert result.both == sum(texts.count(row) == 1 for row in unique)
    assert result.correct_given_unique_match == pytest.approx(len(unique) / sum(texts.count(row) for row in unique))
