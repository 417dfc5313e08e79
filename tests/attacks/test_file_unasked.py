"""A file whose weights give regions back, or that is linked as it stands, was called held where nobody asked for that attack."""

import numpy as np
import polars as pl

from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask import Recode, Reorder
from reticent.microdata.protect import protect_data
from reticent.report.file_report import confidential_report

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
RECODE = Recode("town", map={f"{at:02d}": "N" if at < 12 else "S" for at in range(24)})


def _file() -> Microdata:
    rng = np.random.default_rng(6)
    town = np.repeat(np.arange(24), 50)
    frame = pl.DataFrame(
        {
            "town": [f"{at:02d}" for at in town],
            "sex": rng.choice(["f", "m"], town.size),
            "income": rng.normal(0, 1, town.size),
            "w": 50.0 + 13 * town,
        }
    )
    schema = Schema(
        (
            Variable("town", role="key"),
            Variable("sex", role="key"),
            Variable("income", role="sensitive", kind="numeric"),
            Variable("w", role="weight", kind="numeric"),
        )
    )
    return Microdata.of(frame, schema)


def test_weights_that_give_a_region_back_are_judged_by_default() -> None:
    run = protect_data(_file(), [RECODE], secret=SECRET)
    town = run.after.frame.table["w"].to_numpy()
    assert (((town - 50) / 13).astype(int) == np.repeat(np.arange(24), 50)).all()
    assert run.verdict["weights"].asked
    assert run.verdict["weights"].state == "not held"


def test_what_is_not_asked_for_and_not_held_is_named_and_not_green() -> None:
    run = protect_data(_file(), [Reorder()], risk=RiskSection(attacks=("order",)), secret=SECRET)
    assert run.verdict["linkage"].state == "not held"
    assert run.verdict.held
    assert not run.verdict.clear
    assert "not asked for and not held: linkage" in run.verdict.headline
    assert "not asked for and not held: linkage" in confidential_report(run)
