"""The preview of a plan: what it counts after the last step is what a run reports, and detail is only given up."""

from pathlib import Path

import numpy as np
import pytest

import reticent
from reticent import mask
from reticent.base.randomness import as_secret
from reticent.data.plan import RiskSection
from reticent.io.read import read_microdata
from reticent.microdata.along import along_steps
from reticent.microdata.protect import protect_data

BUNDLED = Path(reticent.__file__).parent / "demo_data"
KEYS = ("region", "sex", "age", "marital")


def test_the_preview_counts_what_the_run_reports() -> None:
    data = read_microdata(BUNDLED / "people.csv", BUNDLED / "people.schema.toml").rows(np.arange(300))
    steps = [
        mask.RemoveIdentifiers(("person", "household")),
        mask.Recode("age", bands=(16, 40, 65)),
        mask.Recode("region", level=1),
        mask.LocalSuppression(k=3, keys=KEYS),
    ]
    risk = RiskSection(dimension=2, threshold=1, keys=KEYS, most=1.0)
    found = along_steps(data, steps, risk, secret=as_secret(7))
    run = protect_data(data, steps, risk=risk, secret=7, test_secret=True)
    assert [one.steps for one in found] == [0, 1, 2, 3, 4]
    for one, facts in ((found[0], run.result.risk_before), (found[-1], run.result.risk_after)):
        assert one.unsafe_combinations == facts["unsafe combinations"]
        assert one.unsafe_records == facts["records in unsafe combinations"]
    lost = [one.detail_lost for one in found]
    assert lost[0] == lost[1] == 0
    assert lost == sorted(lost)
    assert found[-1].unsafe_combinations == 0


def test_without_keys_nothing_is_judged() -> None:
    data = read_microdata(BUNDLED / "people.csv")
    assert along_steps(data, [], RiskSection(), secret=as_secret(7))[0].unsafe_combinations is None
    assert pytest.approx(0) == along_steps(data, [], RiskSection(), secret=as_secret(7))[0].detail_lost
