"""Public files and the defaults of `synthesize`: records that were used are met hardly more often, at a fair price."""

from pathlib import Path

import pytest

from attacks.synthesis_files import FILES, figures, read
from attacks.test_synthesize import REPLICATES, means_and_errors

BEFORE = {
    "eusilc": {"pmse": 1.931, "two_way": 0.086},
    "adult": {"pmse": 1.980, "two_way": 0.080},
    "sd2011": {"pmse": 1.932, "two_way": 0.071},
    "testdata": {"pmse": 1.860, "two_way": 0.061},
}
"""What 0.1.0 gave on the same samples with listed codes; it met records that were used 0.07 to 0.16 more often."""


@pytest.mark.deep
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("name", list(FILES))
def test_records_of_public_files_are_met_hardly_more_often_at_a_fair_price(
    name: str, listed: bool, shared_data: Path
) -> None:
    """Codes of fewer than five people were not drawn unless listed: a regression saw what is not there (up to 1.95 times)."""
    assert shared_data.is_dir()
    everybody = read(FILES[name])
    rows = [figures(FILES[name], everybody, number, listed=listed) for number in range(REPLICATES)]
    today = means_and_errors(rows)
    assert today["excess"][0] <= 0.02 + 3 * today["excess"][1]
    assert today["uniques"][0] <= 0.05 + 3 * today["uniques"][1]
    assert today["two_way"][0] <= 1.25 * BEFORE[name]["two_way"]
    assert today["pmse"][0] <= 1.25 * BEFORE[name]["pmse"]
