"""Attack on synthetic files: look for codes that only one person had, where the list of codes was made from the records."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from reticent.base.randomness import as_secret
from reticent.data.hierarchy import Hierarchy
from reticent.data.method import Method
from reticent.data.microdata import Microdata
from reticent.data.schema import Kind, Schema, Variable
from reticent.microdata.mask.recode import Recode
from reticent.microdata.mask.synthesize import Synthesize
from reticent.microdata.mask.top_code import TopCode
from reticent.microdata.pipeline import apply_steps

JOBS = ("11", "12", "21", "22")
OWN = tuple(str(job) for job in range(30, 50))
TOP = TopCode("job", value=48.0, label="49+")


def shown(seed: int, steps: Sequence[Method], **facts: Any) -> int:
    """Synthetic records with a job of one person, in a file of 400 people of whom 20 have a job of their own."""
    rng = np.random.default_rng(seed)
    jobs = [*OWN, *rng.choice(JOBS, 380)]
    frame = pl.DataFrame({"job": jobs, "sex": rng.choice(["f", "m"], 400)})
    data = Microdata.of(frame, Schema((Variable("job", **facts), Variable("sex"))))
    after = apply_steps(data, [*steps, Synthesize(("job", "sex"))], secret=as_secret(seed))
    return sum(job in OWN for job in after.data.texts("job"))


KEPT = Recode("job", map={"11": "12"}, keep=True)
TREE = Hierarchy.from_children({"Total": ("1", "3"), "1": JOBS, "3": OWN})


@pytest.mark.parametrize(
    ("steps", "facts"),
    [
        ((), {"digits": (1, 1)}),
        ((Recode("job", level=2),), {"digits": (1, 1)}),
        ((TOP,), {"kind": Kind.NUMERIC}),
        ((KEPT,), {}),
        ((KEPT,), {"codes": JOBS + OWN, "guessed": ("codes",)}),
        ((Recode("job", rules=("12: 11",), keep=True),), {}),
        ((Recode("job", level=2),), {"hierarchy": TREE, "guessed": ("hierarchy",)}),
    ],
    ids=["digits", "a level of digits", "a label beyond a limit", "others kept", "others of a guessed list kept",
         "others kept by rules", "a level of a guessed tree"],
)  # fmt: skip
def test_a_list_made_from_the_records_exempts_no_code(steps: Sequence[Method], facts: dict[str, Any]) -> None:
    assert [shown(seed, steps, **facts) for seed in range(3)] == [0, 0, 0]


def test_a_declared_list_does() -> None:
    assert min(shown(seed, (), codes=JOBS + OWN) for seed in range(3)) > 5
    assert min(shown(seed, [KEPT], codes=JOBS + OWN) for seed in range(3)) > 5
    assert min(shown(seed, [Recode("job", map={job: job for job in JOBS + OWN})]) for seed in range(3)) > 5
