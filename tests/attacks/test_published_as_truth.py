"""Methods whose published counts are a possible truth: knowing method, parameters and every secret determines no unsafe count.

Files of SAFE, small counts that leave up and down, and rounded tables (also slice by slice) are taken for the truth and
protected again, with the same and with other secrets. If the same is published, the published counts are one of the true
tables that fit, and none of them is unsafe. What the attacker is left with is presence: what is shown exists.
"""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from attacks.test_safe import NAMES, both
from reference.perturb_files import file_of, run
from reticent.data.microdata import Microdata
from reticent.data.schema import Role, Schema, Variable
from reticent.data.table import DimensionSpec, TableSpec
from reticent.jobs.protect_table import protect_table
from reticent.microdata.mask.safe import Safe
from reticent.tables.methods import Round, SmallCounts
from reticent.tables.rules import Threshold

SHAPE = (2, 2, 2)


@pytest.mark.parametrize("seed", [0])
def test_a_file_of_safe_is_a_possible_truth(seed: int) -> None:
    before, after, _ = both(seed)
    assert Counter(before) != Counter(after)
    data = file_of({name: np.array([row[at] for row in after]) for at, name in enumerate(NAMES)})
    for secret in (seed + 50,):
        again = run(Safe(ways=2), data, secret=secret).data.frame.table.rows()
        assert Counter(again) == Counter(after)


def published(inner: np.ndarray, method: object, secret: int, n_dimensions: int) -> dict[tuple[str, ...], float]:
    """What is published of a cube of counts."""
    names = [f"v{at}" for at in range(n_dimensions)]
    places = [place for place, n in np.ndenumerate(inner) for _ in range(int(n))]
    columns = {name: [str(place[at]) for place in places] for at, name in enumerate(names)}
    schema = Schema((
        Variable("id", role=Role.IDENTIFIER), *(Variable(name, role=Role.KEY, codes=("0", "1")) for name in names),
    ))  # fmt: skip
    data = Microdata.of(pl.DataFrame({"id": [f"p{n}" for n in range(len(places))], **columns}), schema)
    result = protect_table(
        data, TableSpec(tuple(DimensionSpec(name) for name in names)), rules=[Threshold(minimum=3)], method=method,
        secret=secret, test_secret=True, accept_exposed=True,
    )  # type: ignore[arg-type]  # fmt: skip
    table = result.published[0]
    return {codes: value for codes, value in zip(table.codes, table.values.tolist(), strict=True) if value}


@pytest.mark.parametrize(
    ("method", "dimensions"),
    [
        (SmallCounts(base=3, choice="alternating"), 2),
        (SmallCounts(base=3), 2),
        (Round(base=3), 2),
        (Round(base=3, successive=True), 3),
    ],
    ids=["alternating", "nearest", "round", "successive"],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_rounded_table_is_a_possible_truth(method: object, dimensions: int, seed: int) -> None:
    shape = SHAPE[:dimensions]
    true = np.random.default_rng(seed).poisson(2.0, shape) + (np.indices(shape).sum(axis=0) == 0)
    shown = published(true, method, seed, dimensions)
    inner = np.array([shown.get(tuple(map(str, place)), 0.0) for place in np.ndindex(shape)]).reshape(shape)
    assert inner.sum() > 0
    assert not ((inner > 0) & (inner < 3)).any()
    assert not np.array_equal(inner, true)
    for secret in (seed, seed + 9):
        assert published(inner, method, secret, dimensions) == shown
