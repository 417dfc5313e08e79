"""Steps that draw nothing, carried out again by one who has all values: groups of microaggregation, detail of local recoding,
records pulled back to an ellipse.

The attackers here read the published file and know the true values. The means of three people tell which three they are; a code
that is shown less finely for some records still rules out everybody outside it. Linkage compared values by distance, and codes
by their finest form, and said less than these attackers find.
"""

import hashlib
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.microaggregation import Microaggregate
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.top_code import MultivariateTopCode
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

SECRET = hashlib.sha256(b"repeated steps").digest()


def protect(data: Microdata, most: float, *steps: MaskingMethod) -> ProtectedFile:
    risk = RiskSection(most=most, attacks=("linkage",), accept_risk="a test of an attack")
    return protect_data(data, steps, risk=risk, secret=SECRET, keep_order=True)


def by_distance(run: ProtectedFile) -> float:
    """What linkage found before steps were carried out again."""
    assert run.attacks.linkage is not None
    return max(share for name, share in run.attacks.linkage.by_attacker if "not drawn" not in name)


def earners(seed: int, n: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": rng.choice(["N", "S"], n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(20, 80, n),
            "distance": rng.integers(0, 100, n),
            "pay": np.exp(rng.normal(10, 0.6, n)).astype(int),
            "tax": np.exp(rng.normal(8, 0.6, n)).astype(int),
        }
    )


def linked_by_sums(true: pl.DataFrame, published: pl.DataFrame) -> float:
    """Three people whose pay and tax add up to three times the means of a group are the group; region and sex do the rest."""
    values = true.select("pay", "tax").to_numpy().astype(np.int64)
    triples = np.array(list(combinations(range(len(true)), 3)))
    sums = values[triples].sum(axis=1) @ np.array([10**8, 1])
    order = np.argsort(sums)
    sums, triples = sums[order], triples[order]
    means = published.select("pay", "tax").to_numpy()
    wanted = np.round(3 * means).astype(np.int64) @ np.array([10**8, 1])
    keys, shown = true.select("region", "sex").rows(), published.select("region", "sex").rows()
    right = 0
    for at, total in enumerate(wanted.tolist()):
        first, last = np.searchsorted(sums, total), np.searchsorted(sums, total, "right")
        fitting = [who for who in triples[first].tolist() if keys[who] == shown[at]] if last == first + 1 else []
        right += fitting == [at]
    return right / len(true)


@pytest.mark.parametrize("seed", range(2))
def test_means_with_all_their_digits_tell_who_is_in_a_group(seed: int) -> None:
    true = earners(seed)
    keys = [Variable(name, role="key") for name in ("region", "sex")]  # type: ignore[arg-type]
    numbers = [Variable(name, kind="numeric") for name in ("age", "distance", "pay", "tax")]  # type: ignore[arg-type]
    data = Microdata.of(true, Schema((*keys, *numbers)))
    grouped = Microaggregate(("pay", "tax"), k=3, using=("age", "distance"))
    run = protect(data, 0.2, grouped, RemoveIdentifiers(("age", "distance")))
    found = linked_by_sums(true, run.result.masked.to_native())
    verdict = run.verdict["linkage"]
    assert by_distance(run) < 0.15
    assert found > 0.4
    assert verdict.value is not None
    assert verdict.value >= found
    assert verdict.state is State.NOT_HELD
    assert "carrying out what is not drawn" in verdict.text


def workers(seed: int, n: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    town, job = (rng.permutation(m)[np.minimum(rng.exponential(m / 4, n).astype(int), m - 1)] for m in (64, 27))
    return pl.DataFrame(
        {
            "town": [f"{code // 16}{code // 4 % 4}{code % 4}" for code in town],
            "job": [f"{code // 9}{code // 3 % 3}{code % 3}" for code in job],
            "pay": np.exp(rng.normal(10, 0.5, n)).round(),
        }
    )


def linked_by_detail(true: pl.DataFrame, published: pl.DataFrame) -> float:
    """For each published record the nearest pay among those whose codes begin as the published ones do."""
    fits = np.ones((len(true), len(true)), dtype=bool)
    for name in ("town", "job"):
        shown = ["" if code in (None, "Total") else code for code in published[name]]
        fits &= np.array([[code.startswith(part) for code in true[name]] for part in shown])
    gap = np.abs(published["pay"].to_numpy()[:, None] - true["pay"].to_numpy()[None, :])
    gap = np.where(fits, gap, np.inf)
    nearest = gap.min(axis=1)
    return float(((np.diag(gap) == nearest) & ((gap == nearest[:, None]).sum(axis=1) == 1)).mean())


@pytest.mark.parametrize("seed", range(2))
def test_detail_that_differs_by_record_rules_people_out(seed: int) -> None:
    true = workers(seed)
    keys = [Variable(name, role="key", digits=(1, 1, 1)) for name in ("town", "job")]  # type: ignore[arg-type]
    data = Microdata.of(true, Schema((*keys, Variable("pay", kind="numeric"))))  # type: ignore[arg-type]
    run = protect(data, 0.3, Generalize(("town", "job"), k=5, local=True, suppression=0.3), Noise(("pay",), k=0.5))
    found = linked_by_detail(true, run.result.masked.to_native())
    verdict = run.verdict["linkage"]
    assert found > by_distance(run)
    assert verdict.value is not None
    assert verdict.value >= found


def flats(seed: int, n: int = 2000) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    region, rooms = rng.choice(list("NSEW"), n), np.clip(np.round(rng.normal(4, 1.3, n)), 1, 8)
    return pl.DataFrame({"region": region, "rooms": rooms, "cars": np.clip(np.round(rng.normal(2, 0.9, n)), 0, 5)})


def test_whoever_is_pulled_back_alone_to_a_point_is_alone() -> None:
    """The attacker pulls the true records back, and looks for a point; the recount looked for what is near the true values."""
    names = ("rooms", "cars")
    keys = [Variable(name, role="key", kind="numeric") for name in names]  # type: ignore[arg-type]
    data = Microdata.of(flats(5), Schema((Variable("region", role="key"), *keys)))  # type: ignore[arg-type]
    risk = RiskSection(most=0.34, attacks=("recount",), accept_risk="a test of an attack")
    run = protect_data(data, [MultivariateTopCode(names, share=0.1)], risk=risk, secret=SECRET, keep_order=True)
    assert run.result.masked.to_native().group_by("region", *names).len()["len"].min() == 1
    assert run.verdict["recount"].value == 1.0
