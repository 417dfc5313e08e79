"""That sums are whole numbers gives no unsafe sum away in small tables, though programs for suppression do not use it."""

from pathlib import Path

import numpy as np
import pytest

from attacks.whole_sum_families import FAMILIES, attacked

CASES = [("2x2x3", 0), ("2x3x3", 1), ("linked", 0)]
MORE = [pytest.param(family, number, marks=pytest.mark.deep) for family in FAMILIES for number in range(2, 12)]


@pytest.mark.parametrize(("family", "number"), [*CASES, *MORE])
def test_whole_numbers_bring_nobody_within_levels(family: str, number: int, tmp_path: Path) -> None:
    found = attacked(family, np.random.default_rng([number, 29]), tmp_path)
    assert found["unsafe"]
    assert found["exactly"] == found["closely"] == 0
