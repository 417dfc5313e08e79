"""Files of a few records, and of values far apart, end in a verdict or a sentence and never in an error of Python."""

import contextlib
import hashlib

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import mask

SECRET = hashlib.sha256(b"a few records").digest()


def few(n: int, incomes: list[float]) -> rt.Data:
    draw = np.random.default_rng(n)
    frame = pl.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "age": draw.integers(0, 90, n),
            "income": [incomes[at % len(incomes)] for at in range(n)],
        }
    )
    return rt.load(frame, keys=["sex"], sensitive=["income"])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("incomes", [[7777.77], [44.0, 38.0, 1.0], [1e15 + 1, -1e15, 7.0]])
def test_few_records_get_a_verdict(n: int, incomes: list[float]) -> None:
    data = few(n, incomes)
    steps = [
        mask.Noise(("age", "income"), k=0.1, kind="correlated"), mask.Noise(("age", "income"), k=1e-6),
        mask.RoundValues(("income",), base=100, how="random"), mask.RankSwap(("income",), window=100),
    ]  # fmt: skip
    for step in steps:
        with contextlib.suppress(rt.ReticentError):  # so few records may be refused, in a sentence
            assert data.protect([step], secret=SECRET, most=0.5).verdict["linkage"].state in ("held", "not held")


def test_an_attack_that_was_not_made_is_named_in_a_sentence() -> None:
    verdict = few(8, [1.0]).protect([], secret=SECRET, most=0.5).verdict
    with pytest.raises(rt.ParameterError, match="the verdict has no attack 'weights'; it has recount, linkage"):
        verdict["weights"]
