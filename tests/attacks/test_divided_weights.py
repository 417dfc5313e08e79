"""Attack on weights calibrated to a published number: whoever divides it out has the weights of the source, and links by them.

`PYTHONPATH=src:tests python -m attacks.test_divided_weights 10` counts ten files.
"""

import hashlib
import sys
from collections import Counter

import numpy as np
import polars as pl

from attacks.test_calibrated_weights import without_pay
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.noise import Noise
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

SECRET = hashlib.sha256(b"divided weights").digest()
SCHEMA = Schema(
    (
        Variable("region", role=Role.KEY),
        Variable("pay", kind=Kind.NUMERIC),
        Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
    )
)
TO_PAY = Massc(("region",), calibrate=("pay",), limits=(1,), substitute=(50.0, 40.0), sample=(60.0, 60.0))


def people(seed: int, n: int = 1000) -> Microdata:
    """People of four regions with weights from 10 to 12, of which hardly two are equal."""
    rng = np.random.default_rng(seed)
    pay = np.round(rng.lognormal(8, 0.7, n))
    table = {"region": rng.choice(list("NSEW"), n), "pay": pay, "w": np.round(rng.uniform(10, 12, n), 4)}
    return Microdata.of(pl.DataFrame(table), SCHEMA)


def protected(data: Microdata) -> ProtectedFile:
    risk = RiskSection(most=0.05, attacks=("linkage",), accept_risk="a test of an attack")
    steps = [Noise(("pay",), k=2.0), TO_PAY]
    return protect_data(data, steps, risk=risk, secret=SECRET, keep_order=True)


def linked(data: Microdata, run: ProtectedFile) -> float:
    """The share of published records whose weight, pay divided out, is nearest to that of their own person and of nobody else.

    All were raised by one factor, which is where the largest weights, and the smallest, agree with those of the source.
    """
    pay, weights = (run.after.numbers((name,))[:, 0] for name in ("pay", "w"))
    left, true = np.exp(without_pay(pay, weights)), data.weights()
    assert true is not None
    factors = np.median(left) / np.median(true) * np.linspace(0.98, 1.02, 4001)
    sample = left[:60]
    miss = [
        np.abs(np.sort(true)[np.searchsorted(np.sort(true), sample / f).clip(max=999)] - sample / f).mean()
        for f in factors
    ]
    order = np.argsort(true)
    middle = (true[order][1:] + true[order][:-1]) / 2
    nearest = order[np.searchsorted(middle, left / factors[int(np.argmin(miss))])]
    return float((nearest == run.after.record_ids()).mean())


def test_weights_of_the_source_link_where_pay_is_divided_out() -> None:
    data = people(1)
    run = protected(data)
    assert linked(data, run) > 0.5
    verdict = run.verdict["linkage"]
    assert verdict.state is State.NOT_HELD
    assert "numbers divided out of weights" in verdict.text


if __name__ == "__main__":
    total: Counter[str] = Counter()
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 10):
        data = people(seed)
        run = protected(data)
        total[str(run.verdict["linkage"].state)] += 1
        sys.stdout.write(f"linked {linked(data, run):.3f}, verdict {run.verdict['linkage'].value:.3f}\n")
    sys.stdout.write(f"{dict(total)}\n")
