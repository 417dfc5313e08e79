"""Linked tables by two codings of one thing: a region is the sum of its districts, also where no table crosses both.

Until November 2026 a plan knew only cells with the same records. A region of two districts was published beside one of them, so
that the other, hidden because it is unsafe, was the difference.
"""

from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import methods, rules
from reticent.base.errors import NotProtectedError

PARTS = ["x"] * 2 + ["y"] * 18 + ["z"] * 5 + ["u"] * 15 + ["v"] * 12
GROUPS = {"x": "xy", "y": "xy", "z": "zu", "u": "zu", "v": "v"}


def run_of(parts: list[str], method: Any) -> Any:
    names = [f"16p{n}" for n in range(len(parts))]
    frame = pl.DataFrame({"id": names, "part": parts, "group": [GROUPS[part] for part in parts]})
    data = rt.load(frame, keys=["part", "group"], identifiers=["id"])
    return (
        data.tabulate("group")
        .linked(data.tabulate("part"))
        .protect(rules=[rules.Threshold(3)], method=method, secret=1016, test_secret=True)
    )


def test_a_hidden_district_is_not_its_region_less_the_others() -> None:
    group, part = run_of(PARTS, methods.Optimal()).release_all()
    shown = {
        codes[0]: value
        for table in (group, part)
        for codes, value, status in zip(table.codes, table.values, table.status, strict=True)
        if status == "published"
    }
    assert "x" not in shown
    assert not {"xy", "y"} <= set(shown), "x would be the difference"


def test_a_region_rounded_unlike_a_district_is_refused() -> None:
    """xy would be published as 4, x as 2 and y as 0 (base 2): somebody is in y, and that is one person."""
    run = run_of(["x"] * 2 + ["y"] + ["u"] * 15 + ["v"] * 12, methods.RandomRounding(base=2))
    with pytest.raises(NotProtectedError):
        run.release_all()
