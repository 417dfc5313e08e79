"""How many examples and how many records a test takes where one of them takes long."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ENOUGH = 300
"""Households of the bundled survey that show all that there is to show."""
INDUSTRIES, REGIONS = ("A01", "A02", "C29", "F41", "M69"), ("N4", "S1", "S2")


def examples(few: int) -> settings:
    """So few generated examples in the normal run; `make deep` takes as many as ever."""
    usual = settings.default
    assert usual is not None
    return settings(usual, max_examples=few) if usual.max_examples < 100 else usual


def numbers(few: int, many: int) -> list[Any]:
    """Numbers of generated cases: so few in the normal run, this many in `make deep`."""
    return [*range(few), *(pytest.param(number, marks=pytest.mark.deep) for number in range(few, many))]


def cut_survey(path: Path, households: int = ENOUGH) -> None:
    """Leave the first households of a copy of the bundled survey."""
    rows = path.read_text(encoding="utf-8").splitlines()
    kept = [rows[0], *(row for row in rows[1:] if int(row.split(",")[1]) <= households)]
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")


def cut_firms(path: Path) -> None:
    """Leave this many of the bundled firms that tables by region and by industry still give each other away."""
    rows = [row.split(",") for row in path.read_text(encoding="utf-8").splitlines()]
    kept = [rows[0], *(row for row in rows[1:] if row[2] in INDUSTRIES and row[3] in REGIONS)]
    path.write_text("".join(",".join(row) + "\n" for row in kept), encoding="utf-8")
