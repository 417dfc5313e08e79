"""What the transparent attacker determines on all small tables is no more than the manual says."""

import pytest

from attacks.transparent import rates

SAID = {"heuristic": 4, "elimination": 4, "hypercube": 4, "small-counts": 6}
"""Of 150 unsafe counts, as in `docs/explanation/what-we-got-wrong/tables-noise.md`."""


@pytest.mark.deep
@pytest.mark.parametrize("method", list(SAID))
def test_no_more_is_determined_than_the_manual_says(method: str) -> None:
    unsafe, determined, refused = rates(method)
    assert unsafe + refused >= 150
    assert determined <= SAID[method]
