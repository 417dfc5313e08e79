"""`audit` of a published table with decimals: intervals are those of the values as they stand, and hold what was true."""

import numpy as np
import polars as pl
import pytest

from reticent import audit
from reticent.base.errors import DataError


def test_a_value_that_follows_is_the_one_that_follows() -> None:
    """The attack once started from values that rounding allows, and said 2.4 where 2.5 less nothing is 2.5."""
    cells = pl.DataFrame(
        [
            ("Total", "Total", 25.1, "published"), ("Total", "c1", 5.6, "published"), ("Total", "c2", None, "hidden"),
            ("r1", "Total", None, "hidden"), ("r1", "c1", 3.1, "published"), ("r1", "c2", None, "hidden"),
            ("r2", "Total", None, "hidden"), ("r2", "c1", 2.5, "published"), ("r2", "c2", None, "empty"),
        ],
        schema=["a", "b", "value", "status"], orient="row",
    )  # fmt: skip
    found = {tuple(row["cell"]): row for row in audit(cells, kind="weighted count").rows()}
    row = found["r2", "Total"]
    assert (row["low"], row["high"], row["exposed"]) == (pytest.approx(2.5), pytest.approx(2.5), True)


@pytest.mark.parametrize("seed", range(40))
def test_the_truth_is_in_every_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inner = np.round(rng.choice([0, 1, 2, 3, 5, 9], (3, 3)) * rng.random((3, 3)) * 7, 1)
    full = np.block([[inner.sum(), inner.sum(axis=0)], [inner.sum(axis=1)[:, None], inner]])
    names = [["Total", "x1", "x2", "x3"], ["Total", "y1", "y2", "y3"]]
    codes = [(a, b) for a in names[0] for b in names[1]]
    truth = dict(zip(codes, full.ravel().tolist(), strict=True))
    shown = dict(zip(codes, (rng.random(16) < 0.45).tolist(), strict=True)) | {("Total", "Total"): True}
    values = [round(truth[code], 1) if shown[code] else None for code in codes]
    cells = pl.DataFrame({"a": [a for a, _ in codes], "b": [b for _, b in codes], "value": values})
    for row in audit(cells, kind="magnitude").rows():
        assert row["low"] - 1e-6 <= truth[tuple(row["cell"])] <= row["high"] + 1e-6


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([2.5, None, None], "counts are whole and not negative"),
        ([7.0, 1.25, None], "counts are whole and not negative"),
        ([float("inf"), None, None], "row 1 is published and has no finite value"),
    ],
)
def test_counts_that_are_none_are_refused_and_not_rounded(values: list[float | None], words: str) -> None:
    with pytest.raises(DataError, match=words):
        audit(pl.DataFrame({"town": ["Total", "a", "b"], "value": values}))
