"""Pins before and after additivity for three real tables (`python -m reference.noise_pins` in `tests` prints all of them)."""

from pathlib import Path

import pytest

from reference.noise_pins import DESIGNS, TABLES, pins, table_of

BEFORE = {
    "Adult: education × occupation × sex": {"D = 2": (2, 3), "D = 3, no 1 and 2": (0, 5)},
    "Adult: native-country × race × salary-class": {"D = 2": (0, 10), "D = 3, no 1 and 2": (2, 16)},
    "SD2011: region × edu × marital": {"D = 2": (0, 10), "D = 3, no 1 and 2": (0, 8)},
}
"""Counts that are determined, and cells published as 0 that are shown to have somebody in them."""
FASTEST = "Adult: native-country × race × salary-class"


@pytest.mark.parametrize(
    "name", [name if name == FASTEST else pytest.param(name, marks=pytest.mark.deep) for name in TABLES]
)
def test_additivity_takes_the_pins_away(name: str, shared_data: Path) -> None:
    assert shared_data.is_dir()
    table = table_of(name)
    for design, (pinned, presence) in BEFORE[name].items():
        before = pins(table, DESIGNS[design], "no")
        after = pins(table, DESIGNS[design], "kernel")
        assert (before.pinned, before.presence) == (pinned, presence)
        assert (after.pinned, after.presence) == (0, 0)
        assert before.width < before.width_alone
        assert before.certain == before.right
