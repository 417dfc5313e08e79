"""Two releases of the same counts with noise: what the first shows of cells with the same records counts beside the second, too.

Until November 2026 the attack on several releases forgot it, and looked at relations one by one: of 20 second releases that were
made to add up and held, 3 gave a count of 1 or 2 away.
"""

from dataclasses import replace

import pytest

from attacks.test_noise_together import (
    WORLDS,
    by_noise,
    determined,
    different,
    exposed,
    people,
    protected,
    shown,
)
from reticent import methods

METHOD = methods.CellKey(largest=1, variance=0.5, skip=0)


@pytest.mark.parametrize("seed", [16, 24, 28])
def test_a_second_release_forgets_nothing_of_the_first(seed: int) -> None:
    data = people(seed, 1.2)
    first = protected(data, METHOD, seed)
    (before,) = first.published
    second = protected(data, replace(METHOD, add_up="yes"), seed, releases=[before])
    seen, later = shown(before), shown(second.published[0])
    fits = by_noise(seen, 1) & different(seen) & ~((WORLDS == 0) & (later > 0)).any(axis=1)
    assert determined(fits)
    assert determined(fits) <= exposed(second)


def test_measures_of_an_earlier_release_count_beside_the_next() -> None:
    """A measure says how far the first value may be off; the attack on both releases took the value alone."""
    method = methods.CellKey(measure=True)
    narrower = 0
    for seed in range(2):
        data = people(seed, 3.0)
        (before,) = protected(data, method, seed).published
        silent, told = (
            protected(data, replace(method, measure=False, add_up="exact"), seed, releases=[one]).audit
            for one in (replace(before, measure=None), before)
        )
        assert ((silent.low <= told.low) & (told.high <= silent.high)).all()
        assert ((told.low <= told.required_low) & (told.required_high <= told.high)).all()
        narrower += int((told.high - told.low < silent.high - silent.low).sum())
    assert narrower
