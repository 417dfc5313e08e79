"""One person with a rare code in one of two worlds: how often the synthetic file says in which.

`PYTHONPATH=src:tests python -m attacks.synthesis_worlds 200 tree` synthesises files of 200 people, of whom `few` − 1 or `few`
have a code that the schema does not list, and prints for `few` from 1 to 8 how often the code is seen in either world, and in how
many of 100 runs somebody is right who knows everybody else and goes by that (50 are by chance). With a third argument,
`missing`, the code is a missing value.
"""

import sys

import numpy as np
import polars as pl

from reticent.base.progress import silent
from reticent.base.randomness import as_secret
from reticent.data.microdata import Microdata
from reticent.data.schema import Schema, Variable
from reticent.microdata.mask.synthesize import Synthesize

RECORDS, MOST = 200, 8
RARE = "rare"


def world(few: int, *, missing: bool, seed: int) -> Microdata:
    """People of whom a few have the code."""
    draw = np.random.default_rng(seed)
    job: list[str | None] = [f"j{code}" for code in draw.integers(0, 4, RECORDS)]
    job[:few] = [None if missing else RARE] * few
    sex = draw.choice(["f", "m"], RECORDS)
    return Microdata.of(pl.DataFrame({"sex": sex, "job": job}), Schema((Variable("sex"), Variable("job"))))


def seen(few: int, runs: int, model: str, *, missing: bool) -> float:
    """Share of synthetic files that show the code."""
    found = 0
    for number in range(runs):
        data = world(few, missing=missing, seed=number)
        made = Synthesize(("sex", "job"), model=model).apply(data, secret=as_secret(number), progress=silent).data
        found += bool(made.missing("job").any()) if missing else RARE in set(made.texts("job"))
    return found / runs


def main(runs: int, model: str, *, missing: bool) -> None:
    before = seen(0, runs, model, missing=missing)
    for few in range(1, MOST + 1):
        now = seen(few, runs, model, missing=missing)
        print(f"{few}: seen {before:.2f} {now:.2f}, right {50 * (1 + now - before):.0f} of 100", flush=True)  # noqa: T201
        before = now


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], missing=sys.argv[3:] == ["missing"])
