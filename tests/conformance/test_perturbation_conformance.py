"""Variants of perturbative methods beyond the examples of the registry (`test_masking_methods.py` holds for all): same secret
same bytes, order does not matter, edit rules, words."""

import numpy as np
import pytest

from reference.perturb_files import file_of, run
from reticent.base.errors import NotProtectedError, ReticentError
from reticent.data.schema import Role
from reticent.jobs.protect_file import protect_file
from reticent.microdata.mask.massc import Massc
from reticent.microdata.mask.multiplicative import MultiplicativeNoise, Zone
from reticent.microdata.mask.noise import Noise
from reticent.microdata.mask.pram import Pram
from reticent.microdata.mask.rank_swap import RankSwap
from reticent.microdata.mask.record_swap import RecordSwap
from reticent.microdata.mask.resample import Resample
from reticent.microdata.mask.round_values import RoundValues
from reticent.microdata.mask.shuffle import Shuffle
from reticent.microdata.mask.swap import Swap
from reticent.microdata.mask.synthesize import Synthesize

N = 300
RANDOM = (
    Noise(("income", "tax"), k=0.2),
    Noise(("income", "tax"), k=0.2, kind="nonlinear", strata=("sex",)),
    Noise(("income",), exact=True),
    MultiplicativeNoise(("income", "tax"), chains=(("income", "tax"),), nearest_psd=True),
    MultiplicativeNoise(("income",), zones=(Zone(k=0.2, up_to=3.0), Zone(k=0.05)), keep_zeros=True),
    RankSwap(("income", "age"), window=10.0),
    Swap(("region", "job"), rate=20.0, within=("sex",), keys=("age", "job")),
    RecordSwap(("region",), (("sex",),), keys=("age", "job"), k=3, rate=10.0),
    Pram(("job", "region"), keep=0.6, strata=("sex",)),
    Pram(("age",), keep=0.6, controlled=False, bandwidth=2),
    RoundValues(("income",), base=0.5, how="random"),
    Resample(("income", "tax"), t=2, strata=("sex",)),
    Shuffle(("income", "tax"), predictors=("age", "job")),
    Massc(("age", "job", "region"), calibrate=("sex", "tax")),
    Synthesize(("job", "income"), rules=("income >= 0",)),
    Synthesize(("income", "job"), model="parametric", keys=("age", "region"), threshold=3),
)
IDS = [f"{i}-{m.name}" for i, m in enumerate(RANDOM)]


def columns(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    tax = rng.exponential(size=N)
    return {
        "id": np.array([f"p{i:04d}" for i in range(N)]),
        "sex": rng.integers(0, 2, N).astype(str),
        "age": rng.integers(10, 19, N).astype(str),
        "job": np.array(list("abcde"))[rng.integers(0, 5, N)],
        "region": rng.integers(0, 7, N).astype(str),
        "tax": tax,
        "income": tax + rng.exponential(size=N),
        "w": rng.uniform(1, 3, N),
    }


def people(order: np.ndarray | None = None):
    chosen = {name: values if order is None else values[order] for name, values in columns().items()}
    return file_of(chosen, roles={"id": Role.IDENTIFIER, "w": Role.WEIGHT}, ordinal=("age",))


def table(data) -> dict[str, tuple]:
    """Records by identifier."""
    frame = data.frame.table
    return {row[0]: row[1:] for row in frame.iter_rows()}


@pytest.mark.parametrize("method", RANDOM, ids=IDS)
def test_same_secret_same_bytes_and_another_secret_differs(method) -> None:
    data = people()
    first, again, other = (run(method, data, secret=s).data.frame.table for s in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize("method", RANDOM, ids=IDS)
def test_the_order_of_records_does_not_matter(method) -> None:
    straight, mixed = (
        table(run(method, people(order)).data) for order in (None, np.random.default_rng(5).permutation(N))
    )
    assert straight.keys() == mixed.keys()
    for key, row in straight.items():
        for left, right in zip(row, mixed[key], strict=True):
            assert left == right if isinstance(left, str) else left == pytest.approx(right, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("method", RANDOM, ids=IDS)
def test_edit_rules_hold_or_the_method_refuses(method) -> None:
    """Whatever comes out of a job with rules satisfies them; else nothing comes out."""
    rules = ("tax <= income", "income >= 0", "age in {'10','11','12','13','14','15','16','17','18'}")
    try:
        result = protect_file(
            people(), (method,), edits=rules, secret=3, test_secret=True, most=1.0, accept_risk="only rules count here"
        )
    except NotProtectedError as err:
        assert "breaks the edit rule" in str(err)  # noqa: PT017
        return
    frame = result.file.frame.table
    assert bool((frame["tax"] <= frame["income"] * (1 + 1e-9)).all())
    assert bool((frame["income"] >= 0).all())


def test_some_methods_keep_the_rules_and_some_refuse() -> None:
    """So that the test above cannot pass by refusing everything."""
    rules = ("tax <= income",)
    protect_file(
        people(), (RANDOM[3],), edits=rules, secret=3, test_secret=True, most=1.0, accept_risk="only rules count here"
    )
    with pytest.raises(NotProtectedError):
        protect_file(
            people(),
            (RANDOM[0],),
            edits=rules,
            secret=3,
            test_secret=True,
            most=1.0,
            accept_risk="only rules count here",
        )


def test_refusals_are_single_sentences_without_values() -> None:
    data = people()
    secret_value = str(columns()["income"][0])
    wrong = (
        Noise(("job",)), Noise(("incom",)), RankSwap(("job",)), Pram(("income",)), Swap(("id",)),
        Shuffle(("income",), predictors=("jobs",)), Synthesize(("w",)), RecordSwap(("id",), (("sex",),)),
    )  # fmt: skip
    for method in wrong:
        with pytest.raises(ReticentError) as caught:
            run(method, data)
        text = str(caught.value)
        assert text.startswith((method.name, "Variable"))
        assert secret_value not in text
        assert "\n" not in text
