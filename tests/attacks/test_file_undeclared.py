"""Identifiers that nobody declared: a panel number on each record of a person, codes that are unique together or sensitive."""

import numpy as np
import polars as pl
import pytest

from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask import Reorder
from reticent.microdata.protect import protect_data

SECRET = bytes.fromhex("8f3a1c77e2b94d0561fa3e9d2c7b8805d4e1f6a3907b5c2d18e4f9a0b6c3d752")
N = 600
RNG = np.random.default_rng(7)
SEX = np.repeat(RNG.choice(["f", "m"], N // 2), 2)
PANEL = np.repeat(RNG.permutation(10**7)[: N // 2], 2)
CASES: dict[str, dict[Variable, object]] = {
    "number on both records of a person": {Variable("panel"): PANEL.astype(str)},
    "numeric, on both records": {Variable("panel", kind="numeric"): PANEL},
    "called sensitive": {Variable("panel", role="sensitive"): RNG.permutation(10**6)[:N].astype(str)},
    "unique together": {Variable(name): RNG.integers(0, 60, N).astype(str) for name in ("a", "b")},
}


@pytest.mark.parametrize("case", list(CASES))
def test_undeclared_identifiers_link_records_and_are_named(case: str) -> None:
    columns = CASES[case]
    frame = pl.DataFrame({"sex": SEX, **{variable.name: values for variable, values in columns.items()}})
    schema = Schema((Variable("sex", role="key"), *columns))
    run = protect_data(Microdata.of(frame, schema), [Reorder()], most=0.05, secret=SECRET)
    names = [variable.name for variable in columns]
    by_hand = run.after.frame.table.group_by(["sex", *names]).len().filter(pl.col("len") <= 2)["len"].sum() / N
    assert by_hand > 0.5
    assert run.verdict["linkage"].state == "not held"
    assert any("counted as known" in note and all(name in note for name in names) for note in run.result.notes)


def test_codes_that_many_share_stay_unknown() -> None:
    frame = pl.DataFrame({"sex": SEX, "a": RNG.integers(0, 4, N).astype(str), "b": RNG.integers(0, 4, N).astype(str)})
    schema = Schema((Variable("sex", role="key"), Variable("a"), Variable("b")))
    run = protect_data(Microdata.of(frame, schema), [Reorder()], most=0.05, secret=SECRET)
    assert run.verdict.held
    assert not any("counted as known" in note for note in run.result.notes)


def test_a_sensitive_code_that_the_plan_calls_known_is_linked_by() -> None:
    """A code in `known` that is neither key nor number was left out without a word."""
    frame = pl.DataFrame({"sex": SEX, "job": np.repeat(np.arange(N // 5), 5).astype(str)})
    schema = Schema((Variable("sex", role="key"), Variable("job", role="sensitive")))
    risk = RiskSection(most=0.05, known=("sex", "job"))
    run = protect_data(Microdata.of(frame, schema), [Reorder()], risk=risk, secret=SECRET)
    assert run.attacks.linkage is not None
    assert run.attacks.linkage.variables == ("sex", "job")
