"""Counts beside sums by other variables: cells of a sum that are not empty say that somebody is there."""

import numpy as np
import pytest

from attacks.presence_families import attacked, drawn

BROKEN = {"finer": (0, 1), "crossed": (0, 2), "levels": (23,), "variables": (38,)}
"""Cases that gave counts away before tables of counts knew what sums show."""


@pytest.mark.parametrize(("family", "number"), [(family, n) for family, own in BROKEN.items() for n in own])
def test_sums_do_not_tell_how_many_people_there_are(family: str, number: int) -> None:
    found = attacked(family, drawn(np.random.default_rng([number, 41])))
    assert found["unsafe"] > 0
    assert (found["exactly"], found["below"]) == (0, 0)
