"""Weights, household ids and entities: no step may leave them missing, coarser or, as weights, at 0 or below."""

from collections.abc import Sequence

import polars as pl
import pytest

from reticent.base.errors import DataError
from reticent.base.randomness import as_secret
from reticent.data.method import Method
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Role, Schema, Variable
from reticent.microdata.mask.generalize import Generalize
from reticent.microdata.mask.local_suppression import LocalSuppression
from reticent.microdata.mask.top_code import BottomCode, TopCode
from reticent.microdata.pipeline import apply_steps

N = 24
DATA = Microdata.of(
    pl.DataFrame(
        {
            "home": [f"h{i // 2}" for i in range(N)],
            "visitor": [f"v{i}" for i in range(N)],
            "sex": ["f", "m"] * (N // 2),
            "job": [str(i % 5) for i in range(N)],
            "w": [1.0 + i % 4 for i in range(N)],
        }
    ),
    Schema(
        (
            Variable("home", role=Role.HOUSEHOLD_ID),
            Variable("visitor", role=Role.ENTITY),
            Variable("sex", role=Role.KEY),
            Variable("job", role=Role.KEY),
            Variable("w", role=Role.WEIGHT, kind=Kind.NUMERIC),
        )
    ),
)


def refused(steps: Sequence[Method]) -> str:
    with pytest.raises(DataError) as caught:
        apply_steps(DATA, steps, secret=as_secret(1))
    return str(caught.value)


@pytest.mark.parametrize("step", [TopCode("w", value=-1.0), TopCode("w", value=2.0, replacement=-3.0),
                                  BottomCode("w", value=3.0, replacement=0.0)])  # fmt: skip
def test_weights_stay_above_0(step: Method) -> None:
    assert "weights would be missing, 0 or negative" in refused([step])


def test_weights_may_be_coded_as_long_as_they_are_weights() -> None:
    coded = apply_steps(DATA, [TopCode("w", value=2.0), BottomCode("w", value=2.0)], secret=as_secret(1))
    assert set(coded.data.numbers(("w",))[:, 0].tolist()) == {2.0}


@pytest.mark.parametrize("name", ["home", "visitor", "w"])
def test_what_says_how_records_belong_together_is_neither_blanked_nor_raised(name: str) -> None:
    role = DATA.schema[name].role
    linked = LocalSuppression(k=3, keys=("sex", "job"), linked={"job": (name,)})
    assert f"{name} is the {role} of the file and cannot be blanked" in refused([linked])
    assert f"{name} is the {role} of the file and cannot be blanked" in refused(
        [LocalSuppression(k=3, keys=("sex", name))]
    )
    raised = refused([Generalize(keys=("sex", name), k=2)])
    assert f"{name} is the {role} of the file and cannot be raised to other levels" in raised
