"""Tables of one response beside those of others that show more variables together, or others: who may be where bears on both."""

import pytest

from attacks.crossed_families import attacked

BROKEN = {"chain": (5, 9), "chain-responses": (5,), "lacking": (12,), "triangle": (25,), "alone": (21,)}
"""Cases that gave unsafe cells away when only counts were crossed, and only by variables of their own tables."""


@pytest.mark.parametrize(("family", "number"), [(family, n) for family, own in BROKEN.items() for n in own])
def test_cells_of_other_responses_do_not_tell_unsafe_ones(family: str, number: int) -> None:
    found = attacked(family, number)
    assert found["unsafe"] > 0
    assert (found["exactly"], found["closely"]) == (0, 0)


def test_sums_that_some_have_nothing_of_are_written() -> None:
    # the program takes for known who has nothing of a response, which no table shows: the plan is written all the same
    found = attacked("some-missing", 3)
    assert found["unsafe"] > 0
    assert (found["exactly"], found["closely"]) == (0, 0)
