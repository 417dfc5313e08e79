"""Attack on calibrated weights: they follow from the values that they were calibrated to, which later steps hide.

Raking makes each weight an exponential function of the number that it is calibrated to. The numbers that a top code leaves
alone tell which function, and it gives those beyond the limit.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from reticent.base.arrays import Floats
from reticent.base.errors import NotProtectedError
from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.top_code import TopCode
from reticent.microdata.pipeline import apply_steps
from reticent.microdata.protect import protect_data

SECRET = hashlib.sha256(b"calibrated weights").digest()
SCHEMA = Schema(
    (
        Variable("region", role=Role.KEY),
        Variable("sex", role=Role.KEY),
        Variable("job"),
        Variable("pay", kind=Kind.NUMERIC),
        Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)
CALIBRATED = Massc(("region", "sex"), calibrate=("pay", "job", "sex"))
TO_PAY = Massc(("region", "sex"), calibrate=("pay",))


def people(seed: int, n: int = 400) -> Microdata:
    rng = np.random.default_rng(seed)
    codes = {name: rng.choice(list(of), n) for name, of in (("region", "NSEW"), ("sex", "fm"), ("job", "abc"))}
    return Microdata.of(
        pl.DataFrame({**codes, "pay": np.round(rng.lognormal(8, 0.7, n)), "w": np.full(n, 10.0)}), SCHEMA
    )


def masked(data: Microdata, steps: Sequence[MaskingMethod]) -> Microdata:
    return apply_steps(data, steps, secret=as_secret(SECRET)).data


def beyond(pay: Floats, weights: Floats) -> Floats:
    """What those at the limit earn, from the published file alone."""
    coded = pay == pay.max()
    sides = np.column_stack([np.ones(len(pay)), np.log(weights)])
    found: Floats = sides[coded] @ np.linalg.lstsq(sides[~coded], pay[~coded], rcond=None)[0]
    return found


def test_weights_gave_what_a_later_top_code_hides() -> None:
    for seed in range(3):
        calibrated = masked(people(seed), [TO_PAY])
        coded = TopCode("pay", quantile=0.9).apply(calibrated, secret=as_secret(SECRET), progress=silent).data
        true, shown, weights = (data.numbers((name,))[:, 0] for data, name in
                                ((calibrated, "pay"), (coded, "pay"), (coded, "w")))  # fmt: skip
        found = beyond(shown, weights)
        assert len(found) > 30
        np.testing.assert_allclose(found, true[shown == shown.max()], atol=1e-3)
        with pytest.raises(NotProtectedError, match="calibrated to 'pay'"):
            masked(people(seed), [TO_PAY, TopCode("pay", quantile=0.9)])


@pytest.mark.parametrize(
    ("later", "name"),
    [(Noise(("pay",), k=1.0), "pay"), (RemoveIdentifiers(("pay",)), "pay"), (Pram(("job",)), "job")],
    ids=["noise", "left out", "another code"],
)
def test_no_later_step_changes_what_weights_follow(later: MaskingMethod, name: str) -> None:
    with pytest.raises(NotProtectedError, match=f"calibrated to {name!r}"):
        masked(people(1), [CALIBRATED, later])


def without_pay(pay: Floats, weights: Floats) -> Floats:
    """Weights less what pay makes of them: the slope that most pairs have, all from the published file."""
    first, second = np.triu_indices(len(pay), 1)
    other = pay[first] != pay[second]
    size = np.log(weights)
    slopes, counts = np.unique(
        np.round((size[first] - size[second])[other] / (pay[first] - pay[second])[other], 12), return_counts=True
    )
    return np.round(size - slopes[counts.argmax()] * pay, 6)


@pytest.mark.parametrize(
    "later",
    [Pram(("sex",)), Swap(("sex",), rate=30.0), Recode("sex", map={"f": "all", "m": "all"})],
    ids=lambda s: s.name,
)
def test_weights_beside_pay_gave_the_sex_that_a_later_step_hides(later: MaskingMethod) -> None:
    to_both = Massc(("region", "sex"), calibrate=("pay", "sex"))
    calibrated = masked(people(1), [to_both])
    hidden = later.apply(calibrated, secret=as_secret(SECRET), progress=silent).data
    pay, weights = (hidden.numbers((name,))[:, 0] for name in ("pay", "w"))
    left = without_pay(pay, weights)
    true = np.array(calibrated.texts("sex"))
    assert len(np.unique(left)) == 2
    assert all(len(np.unique(true[left == one])) == 1 for one in np.unique(left))
    assert (true != np.array(hidden.texts("sex"))).sum() > 30
    with pytest.raises(NotProtectedError, match="calibrated to 'sex'"):
        masked(people(1), [to_both, later])


@pytest.mark.parametrize("later", [(), (Pram(("region",)),)], ids=["massc alone", "pram"])
def test_weights_beside_pay_give_regions_where_the_source_had_them_by_region(later: tuple[MaskingMethod, ...]) -> None:
    for seed in range(3):
        data = people(seed)
        regions = np.array(data.texts("region"))
        data = data.with_numbers("w", 10 + 0.05 * np.searchsorted(list("ENSW"), regions))
        risk = RiskSection(most=0.9, attacks=("weights",), accept_risk="a test of an attack")
        run = protect_data(data, [TO_PAY, *later], risk=risk, secret=SECRET, keep_order=True)
        left = without_pay(*(run.after.numbers((name,))[:, 0] for name in ("pay", "w")))
        true = regions[run.after.record_ids()]
        told = np.array([len(np.unique(true[left == one])) == 1 for one in left])
        assert (told & (true != np.array(run.after.texts("region")))).sum() >= 5
        assert run.verdict["weights"].state is State.NOT_HELD


def test_other_steps_may_follow_and_the_same_may_come_before() -> None:
    to_codes = Massc(("region", "sex"), calibrate=("job", "sex"))
    masked(people(1), [to_codes, Recode("sex", map={"f": "all", "m": "all"}), Sample(fraction=0.5), Reorder()])
    masked(people(1), [CALIBRATED, Recode("region", map={"N": "NS", "S": "NS"}, keep=True), Pram(("region",))])
    masked(people(1), [TopCode("pay", quantile=0.9), Noise(("pay",), k=1.0), Pram(("job",)), CALIBRATED])
    masked(people(1), [CALIBRATED, TopCode("pay", quantile=0.9), RemoveIdentifiers(("w",))])
