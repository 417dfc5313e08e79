"""Records without a value of the response: they add nothing to a sum, so they hide nobody in it.

Until November 2026 they counted as respondents with 0: under a threshold alone a cell with one turnover and four missing ones
was published, and its sum was that turnover.
"""

import polars as pl
import pytest

import reticent as rt
from reticent import methods, rules
from reticent.data.published_table import EMPTY, HIDDEN

ONE, NOBODY = ("lone", "Total"), ("none", "Total")


def _records(*, firms: bool) -> pl.DataFrame:
    """A region with one turnover among five records, one without any, and two with six each."""
    amounts = {"lone": [977.0, *[None] * 4], "none": [None] * 3}
    amounts |= {name: [20.0 + at for at in range(6)] for name in ("full", "more")}
    rows = [(region, value) for region, values in amounts.items() for value in values]
    return pl.DataFrame(
        {
            "id": [f"p{at // 2 if firms else at}" for at in range(len(rows))],
            "region": [region for region, _ in rows],
            "sector": ["x"] * len(rows),
            "turnover": [value for _, value in rows],
        }
    )


@pytest.mark.parametrize("firms", [False, True], ids=["records", "respondents"])
@pytest.mark.parametrize("minimum", [2, 3])
def test_a_missing_response_hides_nobody(firms: bool, minimum: int) -> None:
    who = {"respondent": "id"} if firms else {"identifiers": ["id"]}
    data = rt.load(_records(firms=firms), keys=["region", "sector"], kinds={"turnover": "numeric"}, **who)
    table = data.tabulate("region", "sector", response="turnover")
    found = table.protect(rules=[rules.Threshold(minimum)], method=methods.Heuristic()).release()
    assert 977.0 not in found.values
    status = dict(zip(found.codes, found.status, strict=True))
    assert status[ONE] == HIDDEN
    assert status[NOBODY] == EMPTY
