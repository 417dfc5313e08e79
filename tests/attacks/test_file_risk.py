"""The risk of a record after masking. Version 0.1.0 took a blank for a code of its own and counted the published file.

`measures.json` has what 0.1.0 reported for `people.csv` (recoded ages, occupations, regions): a run that kept every record at
or below 0.02 was reported with 0.069, as much as without any suppression.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.io.read import load_microdata
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.recode import Recode
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.protect import protect_data
from reticent.microdata.risk.recount import recount

FIXTURES = Path(__file__).parent / "fixtures" / "v010" / "files"
SECRET = hashlib.sha256(b"risk").digest()
BASE = (Recode("age", bands=(16, 25, 35, 45, 55, 65, 75)), Recode("occupation", level=1), Recode("region", level=1))


def people() -> Microdata:
    return load_microdata(FIXTURES / "people.csv", FIXTURES / "people.schema.toml").data


def test_a_run_that_keeps_a_risk_is_reported_with_it() -> None:
    then = json.loads((FIXTURES / "measures.json").read_text())["highest record risk by risk_threshold"]
    data = people()
    for threshold in (0.05, 0.02):
        assert then[str(threshold)] == then["None"] > threshold  # protection made no difference to the report
        steps = (*BASE, LocalSuppression(risk_threshold=threshold))
        run = protect_data(data, steps, secret=SECRET, accept_risk="only the risk of records counts here")
        assert run.result.risk_after["highest record risk"] <= threshold
        assert run.verdict["recount"].value == run.result.risk_after["highest record risk"]


def test_more_blanks_and_coarser_codes_never_read_as_riskier() -> None:
    """Record by record, over rising protection."""
    data, keys = people(), ("region", "sex", "age", "education", "occupation")
    before = np.ones(data.n_records)
    ladders: list[tuple[object, ...]] = [(), BASE[:1], BASE, (*BASE, Recode("region", level=0))]
    ladders += [(*BASE, LocalSuppression(k=k, keys=keys)) for k in (2, 3, 5)]
    for number, steps in enumerate(ladders):
        masked = apply_steps(data, steps, secret=as_secret(b"risk"))  # type: ignore[arg-type]
        found = recount(masked.trace, masked.data, keys).sample_risk
        if number < 4:
            assert (found <= before + 1e-12).all()
            before = found if number < 3 else before
        else:
            assert (found <= before + 1e-12).all()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_any_further_blank_lowers_the_risk_of_everybody_or_leaves_it(share: float) -> None:
    data = people()
    keys = ("region", "sex", "age", "education")
    masked = apply_steps(data, BASE, secret=as_secret(b"risk"))
    before = recount(masked.trace, masked.data, keys)
    rng = np.random.default_rng(1)
    shown = masked.data
    for name in keys:
        codes = np.where(rng.random(data.n_records) < share, -1, shown.encoded(name).codes).astype(np.int32)
        shown = shown.with_codes(name, codes, shown.categories(name))
    after = recount(masked.trace, shown, keys)
    assert (after.sample_risk <= before.sample_risk + 1e-12).all()
    assert (after.individual().risk <= before.individual().risk + 1e-12).all()
    assert after.sample_risk.mean() < before.sample_risk.mean()
