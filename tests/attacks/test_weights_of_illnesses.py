"""Weights tell an illness that is no key, where a sample was drawn by it: it is left out or changed afterwards.

The attacker has the published file: records with one weight have one illness, and most of them still show it, or show nothing.
`PYTHONPATH=src:tests python -m attacks.test_weights_of_illnesses 20` counts 20 files of each kind.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

from reticent.data.method import MaskingMethod
from reticent.data.microdata import Microdata
from reticent.data.plan import RiskSection
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.data.verdict import State
from reticent.microdata.mask.identifiers import RemoveIdentifiers
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.sampling import Sample
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.weights_noise import NoiseOnWeights
from reticent.microdata.protect import protect_data
from reticent.microdata.result import ProtectedFile

SECRET = hashlib.sha256(b"weights of illnesses").digest()
ROLES = {
    "region": Role.KEY,
    "sex": Role.OTHER,
    "job": Role.OTHER,
    "ill": Role.OTHER,
    "pay": Role.OTHER,
    "w": Role.WEIGHT,
}
NUMBERS = ("pay", "w")
ILL = Sample(fraction=0.53, strata=("ill",))
TO_PAY = Massc(("region",), calibrate=("pay",), limits=(1,), substitute=(50.0, 5.0), sample=(70.0, 95.0))
CHANGED = Pram(("ill",))
NO_ILL = RemoveIdentifiers(("ill",))
ALL = Recode("ill", map=dict.fromkeys("abc", "yes"), other="no")


def people(seed: int, role: Role, *, n: int = 1003) -> Microdata:
    """People of whom one in ten has one of three illnesses; all weights are 10."""
    rng = np.random.default_rng(seed)
    frame = {name: rng.choice(list(of), n) for name, of in (("region", "NSEW"), ("sex", "fm"), ("job", "xyz"))}
    frame["ill"] = rng.choice(["no", "a", "b", "c"], n, p=[0.9, 0.05, 0.03, 0.02])
    numbers = {"pay": np.round(rng.lognormal(8, 0.7, n)), "w": np.full(n, 10.0)}
    roles = ROLES | {"ill": role}
    variables = [Variable(v, role=r, kind=Kind.NUMERIC if v in NUMBERS else Kind.NOMINAL) for v, r in roles.items()]
    return Microdata.of(pl.DataFrame({**frame, **numbers}), Schema(tuple(variables)))


def protect(data: Microdata, steps: Sequence[MaskingMethod]) -> ProtectedFile:
    risk = RiskSection(most=0.9, attacks=("weights",), accept_risk="a test of an attack")
    return protect_data(data, steps, risk=risk, secret=SECRET, keep_order=True)


TOLD: dict[str, Callable[[], list[MaskingMethod]]] = {
    "dropped": lambda: [ILL, NO_ILL],
    "pram": lambda: [ILL, CHANGED],
    "swap": lambda: [ILL, Swap(("ill",), rate=30.0)],
    "recode": lambda: [ILL, ALL],
    "noise on weights": lambda: [ILL, NoiseOnWeights(percent=0.05), NO_ILL],
    "by sex as well": lambda: [Sample(fraction=0.53, strata=("sex", "ill")), NO_ILL],
    "by sex and job as well": lambda: [Sample(fraction=0.53, strata=("sex", "job", "ill")), NO_ILL],
    "calibrated after": lambda: [ILL, TO_PAY, CHANGED],
    "calibrated before": lambda: [TO_PAY, ILL, CHANGED],
}
SAFE: dict[str, Callable[[], list[MaskingMethod]]] = {
    "changed before": lambda: [CHANGED, ILL],
    "recoded before": lambda: [ALL, ILL],
    "other strata": lambda: [Sample(fraction=0.5, strata=("region", "sex", "job")), NO_ILL],
    "stays": lambda: [Sample(fraction=0.53, strata=("sex", "job", "ill"))],
    "calibrated, no strata": lambda: [TO_PAY, Sample(fraction=0.5), CHANGED],
}


def left(run: ProtectedFile) -> list[tuple[object, ...]]:
    """What the attacker puts records together by: the weight, what pay makes of it divided out, and other strata."""
    table = run.after.frame.table
    weight = table["w"].to_numpy()
    if len(np.unique(weight)) > len(weight) // 2:
        size, pay = np.log(weight), table["pay"].to_numpy()
        first, second = np.triu_indices(len(pay), 1)
        other = pay[first] != pay[second]
        slopes = np.round((size[first] - size[second])[other] / (pay[first] - pay[second])[other], 12)
        found, counts = np.unique(slopes, return_counts=True)
        weight = np.exp(size - found[counts.argmax()] * pay)
    near = np.round(np.log(weight), 6 if len(np.unique(np.round(weight, 6))) < 100 else 3)
    return list(zip(near.tolist(), table["sex"], table["job"], strict=True))


def told(data: Microdata, run: ProtectedFile) -> int:
    """Records whose illness is that of everybody with this weight, sex and job (three or more), and that do not show it."""
    true = np.array(data.texts("ill"))[run.after.record_ids()]
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, group in enumerate(left(run)):
        groups.setdefault(group, []).append(at)
    shown = np.array(run.after.texts("ill")) if "ill" in run.after.schema else np.full(true.size, "")
    alike = [rows for rows in groups.values() if len(rows) > 2 and len(set(true[rows].tolist())) == 1]
    return sum(int((shown[rows] != true[rows]).sum()) for rows in alike)


@pytest.mark.parametrize("role", [Role.OTHER, Role.SENSITIVE])
@pytest.mark.parametrize("how", TOLD)
def test_weights_of_strata_tell_what_is_hidden_later(how: str, role: Role) -> None:
    data = people(1, role)
    run = protect(data, TOLD[how]())
    assert told(data, run) >= 5
    assert run.verdict["weights"].state is State.NOT_HELD
    assert " of ill, which the file shows less finely or changed" in run.verdict["weights"].text


@pytest.mark.parametrize("how", SAFE)
def test_weights_that_tell_nothing_that_is_hidden_are_held(how: str) -> None:
    for seed in range(3):
        run = protect(people(seed, Role.SENSITIVE), SAFE[how]())
        assert run.verdict["weights"].state is State.HELD


@pytest.mark.parametrize("later", [NO_ILL, Recode("ill", map={"rare": "no"}, keep=True)], ids=["dropped", "recoded"])
def test_one_person_with_an_illness_has_a_weight_alone(later: MaskingMethod) -> None:
    """Of a stratum of one, one is drawn: the weight of 10 beside weights of about 20 says who has the rare illness."""
    data = people(1, Role.OTHER)
    ill = ["rare" if at == 5 else "no" for at in range(data.n_records)]
    data = Microdata.of(data.frame.table.with_columns(pl.Series("ill", ill)), data.schema)
    run = protect(data, [ILL, later])
    weights = run.after.numbers(("w",))[:, 0]
    assert run.after.record_ids()[weights == weights.min()].tolist() == [5]
    assert run.verdict["weights"].state is State.NOT_HELD


def test_weights_of_the_source_tell_a_sensitive_variable() -> None:
    data = people(1, Role.SENSITIVE)
    data = data.with_numbers("w", np.where(np.array(data.texts("ill")) == "no", 20.0, 10.0))
    assert protect(data, [NO_ILL]).verdict["weights"].state is State.NOT_HELD
    assert protect(data, [CHANGED]).verdict["weights"].state is State.NOT_HELD
    assert protect(data, [RemoveIdentifiers(("w",))]).verdict["weights"].state is State.NOT_JUDGED


if __name__ == "__main__":
    for how in (*TOLD, *SAFE):
        total: Counter[str] = Counter()
        for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
            data = people(seed, Role.OTHER)
            run = protect(data, (TOLD | SAFE)[how]())
            total[str(run.verdict["weights"].state)] += 1
            total["records told"] += told(data, run)
            total["records"] += run.after.n_records
        sys.stdout.write(f"{how}: {dict(total)}\n")
