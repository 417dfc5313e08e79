"""Attack on values that a step hides after an ellipse: the points on it follow from all values, the hidden one included.

The attacker tries values in place of the hidden one until the ellipse of the file has the published points.
`PYTHONPATH=src:tests python -m attacks.test_hidden_after_ellipse` prints the rates of the page "What we got wrong".
"""

import hashlib
import sys
from collections.abc import Callable
from typing import Literal

import numpy as np
import polars as pl
import pytest

from attacks.test_pulled_back import people
from reticent.base.arrays import Floats, Mask
from reticent.base.errors import DataError, NotProtectedError
from reticent.base.randomness import as_secret
from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.ellipse import winsorize
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.reorder import Reorder
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.top_code import MultivariateTopCode, TopCode
from reticent.microdata.pipeline import apply_steps

SHARE, N = 0.025, 120
SECRET = hashlib.sha256(b"hidden after an ellipse").digest()


def restored(shown: Floats, outside: Mask, target: int, *, robust: bool) -> float | None:
    """The income in place of a blank for which the ellipse of the published file has its points; None where none fits.

    Records that were pulled back are known by their decimals; farther out they have the same points.
    """

    def miss(income: float) -> float:
        tried = shown.copy()
        tried[target, 1] = income
        middle = np.median(tried, axis=0)
        tried[outside] = middle + (tried[outside] - middle) * 1.3
        try:
            points, _ = winsorize(tried, share=SHARE, robust=robust)
        except DataError:
            return np.inf
        return float(np.abs(points[outside] - shown[outside]).max())

    incomes = np.linspace(shown[~outside, 1].min(), shown[~outside, 1].max(), 40)
    misses = np.array([miss(income) for income in incomes])
    if misses.min() < 1e-6:
        return None  # the ellipse does not depend on it
    best = int(misses.argmin())
    low, high = incomes[max(best - 1, 0)], incomes[min(best + 1, 39)]
    for _ in range(30):
        first, second = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, second) if miss(first) < miss(second) else (first, high)
    found = float(np.round((low + high) / 2))
    return found if miss(found) < 1e-5 else None


def found(seed: int, *, robust: bool) -> tuple[int, int]:
    """People inside whose income is blanked, one at a time, and those whose income is known exactly."""
    values = people(seed)[:N]
    shown, outside = winsorize(values, share=SHARE, robust=robust)
    inside = np.flatnonzero(~outside)
    targets = np.random.default_rng(seed).choice(inside, 3, replace=False) if outside.any() else []
    hits = [restored(shown, outside, target, robust=robust) == values[target, 1] for target in targets]
    return len(hits), sum(hits)


@pytest.mark.parametrize(("robust", "least"), [(True, 3), (False, 8)])
def test_points_on_an_ellipse_tell_a_value_that_is_hidden_later(robust: bool, least: int) -> None:
    asked, right = np.sum([found(seed, robust=robust) for seed in range(5)], axis=0)
    assert asked == 15
    assert right >= least


LATER: dict[str, Callable[[], list[MaskingMethod]]] = {
    "sample": lambda: [Sample(fraction=0.97)],
    "top code": lambda: [TopCode("income", quantile=0.6)],
    "top code with a label": lambda: [TopCode("income", quantile=0.6, label="much")],
    "local suppression": lambda: [LocalSuppression(k=4)],
    "rounded a little, then a sample": lambda: [RoundValues(("age", "income"), base=0.01), Sample(fraction=0.97)],
    "one left out, the other coded": lambda: [RemoveIdentifiers(("income",)), TopCode("age", value=80)],
    "exchanged by few": lambda: [Swap(("income",), rate=3)],
}
SAFE: dict[str, Callable[[], list[MaskingMethod]]] = {
    "rounded": lambda: [RoundValues(("age", "income"), base=10)],
    "noise": lambda: [Noise(("age", "income"), k=0.1)],
    "noise, then a sample": lambda: [Noise(("age", "income"), k=0.5), Sample(fraction=0.97)],
    "exchanged": lambda: [Swap(("income",), rate=80)],
    "left out": lambda: [RemoveIdentifiers(("age",)), Reorder()],
    "bands": lambda: [Recode("age", bands=(30, 50, 70)), Recode("income", bands=(1000, 2000, 4000))],
    "another variable": lambda: [Recode("sex", map={"f": "x", "m": "x"})],
    "most of the file": lambda: [Sample(fraction=0.4)],
}
BEFORE = ("sample", "top code", "exchanged by few", "local suppression")


def file(seed: int) -> Microdata:
    """Ages in tens beside incomes, so that local suppression blanks some."""
    values = people(seed)[:N]
    sex = np.random.default_rng(seed).choice(["f", "m"], N)
    table = pl.DataFrame({"age": np.round(values[:, 0], -1), "income": values[:, 1], "sex": sex})
    keys = [Variable("age", role=Role.KEY, kind=Kind.NUMERIC), Variable("sex", role=Role.KEY)]
    return Microdata.of(table, Schema((*keys, Variable("income", kind=Kind.NUMERIC))))


@pytest.mark.parametrize("estimate", ["robust", "classical"])
@pytest.mark.parametrize("how", [*LATER, *SAFE])
def test_few_values_hidden_after_an_ellipse_are_refused(how: str, estimate: Literal["robust", "classical"]) -> None:
    ellipse = MultivariateTopCode(("age", "income"), estimate=estimate, share=0.05)
    if how in SAFE:
        apply_steps(file(3), [ellipse, *SAFE[how]()], secret=as_secret(SECRET))
        return
    with pytest.raises(NotProtectedError, match=r"hides or leaves out of '(age|income)'. Put that step before"):
        apply_steps(file(3), [ellipse, *LATER[how]()], secret=as_secret(SECRET))


@pytest.mark.parametrize("estimate", ["robust", "classical"])
@pytest.mark.parametrize("how", BEFORE)
def test_the_same_steps_may_come_before(how: str, estimate: Literal["robust", "classical"]) -> None:
    ellipse = MultivariateTopCode(("age", "income"), estimate=estimate, share=0.05)
    apply_steps(file(3), [*LATER[how](), ellipse], secret=as_secret(SECRET))


if __name__ == "__main__":
    for name, robust in (("robust", True), ("classical", False)):
        asked, right = np.sum([found(seed, robust=robust) for seed in range(20)], axis=0)
        sys.stdout.write(f"{name}: {asked} incomes blanked, {right} known exactly\n")
